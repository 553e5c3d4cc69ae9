import PurgeSystem

/// A mount that a random walk changes.
public struct MountSubject: LedgerSubject {
    private let mount: TestMount

    public init(_ mount: TestMount) { self.mount = mount }

    public func makeFolder(_ path: String) throws { try mount.makeDirectory(path) }
    public func remove(_ path: String) throws { try Files.unlink(mount.path(path)) }
    public func addName(_ path: String, _ new: String) throws { try Files.link(mount.path(path), mount.path(new)) }
    public func move(_ path: String, to new: String, flags: UInt32) throws {
        try Files.rename(mount.path(path), mount.path(new), flags: flags)
    }
    public func setMark(_ path: String, _ text: String?) throws {
        if let text { return try mount.mark(path, text) }
        do throws(Errno) { try Attributes.remove(mount.path(path), "user.purgefs.isPurgeable") } catch .noData {}
    }
    public func setOthers(_ bytes: Int64, purgeable: Bool) throws {
        try mount.write("\(bytes)", to: purgeable ? "storage.others.purgeable" : "storage.others")
    }
}
