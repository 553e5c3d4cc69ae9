import Glibc
import PurgeSystem

/// How requests come from the kernel (docs/PERFORMANCE.md, Requests by io_uring).
public enum Transport: String, CaseIterable, Sendable {
    case ring, device = "dev"

    /// The kernel's switch for requests by io_uring, which counts while a container is mounted.
    public static let ringSwitch = "/sys/module/fuse/parameters/enable_uring"
    /// Whether io_uring can be tried: Linux 6.14 and newer, and root.
    public static var ringsCanBeTried: Bool { access(ringSwitch, W_OK) == 0 }
    /// The transports that can be tried here.
    public static var available: [Transport] { ringsCanBeTried ? allCases : [.device] }

    /// Runs `body` while io_uring is switched on or off. Other test processes that do the same wait meanwhile.
    public static func withRings<Value>(_ areOn: Bool, _ body: () throws -> Value) throws -> Value {
        let file = try OpenFile(ringSwitch, O_RDONLY)
        guard flock(file.descriptor, LOCK_EX) == 0 else { throw TestFailure("the switch cannot be locked: \(errno)") }
        let before = Files.text(ringSwitch)
        try Files.write(areOn ? "Y" : "N", to: ringSwitch)
        let result = Result { try body() }
        try Files.write(before, to: ringSwitch)
        file.close()
        return try result.get()
    }
}

extension TestMount {
    /// Mounts with a transport, and checks that it is in force.
    public func mount(_ options: [String] = ["--total", "64M"], by transport: Transport) throws {
        let options = options + ["-o", "transport=\(transport.rawValue)"]
        if transport == .ring {
            try Transport.withRings(true) { try mount(options) }
        } else {
            try mount(options)
        }
        guard Files.text("\(root)/.purgefs/status.json").contains("\"transport\": \"\(transport.rawValue)\"") else {
            throw TestFailure("requests do not come by \(transport)")
        }
    }
}

/// Mounts a new store with a transport for `body`, as the other `withMount` does.
public func withMount<R>(by transport: Transport, deadline: Double = 240, _ body: (TestMount) throws -> R) throws -> R {
    try withMount(deadline: deadline, mounted: false) { mount in
        try mount.mount(by: transport)
        return try body(mount)
    }
}
