import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The entry at a path now: whether a purge would take it, and whether it can be opened.
struct PresentFile: Encodable {
    enum Kind: String, Encodable { case file, folder, link, special }

    /// The file's place in the order of purging.
    struct Turn: Encodable {
        /// The position among all victims, from 1.
        var position: Int
        var of: Int
        var bytesBefore: ByteCount
        /// The size beyond which a write to a persistent place takes this file; nil in profile `device`, and for a file that
        /// only commands take.
        var reachedBeyond: ByteCount?
        /// The low threshold. In profile `documented`, a background purge begins when less space than this is free.
        var lowThreshold: ByteCount
        var reason: String
        /// True if a purge would leave a tombstone.
        var tombstone: Bool?

        /// True if purging the file would free nothing, so that only commands take it.
        var isForCommandsOnly: Bool { reason == PurgeReason.command.rawValue }
    }

    /// The reason why no purge takes the file.
    struct Refusal: Encodable {
        var reason: PurgeRefusal
        /// The processes that have the file open.
        var users: [FileUser]?
    }

    struct Protection: Encodable {
        var fileProtection: FileProtection
        var state: LockState
        var canBeOpened: Bool
    }

    var kind: Kind
    /// The size of the data; `charged` is the cost.
    var size: ByteCount
    var charged: ByteCount?
    /// When the data was last written or the mtime was set, by the host's clock.
    var written: String?
    var names: Int
    var tier: Tier
    var isPurgeable: String?
    /// The folder that the mark is inherited from, or an empty string for the container; nil if the mark is the file's own.
    var isPurgeableFrom: String?
    var protection: Protection?
    var turn: Turn?
    var refusal: Refusal?

    /// Returns true if the file has data and was written clearly after a refused write. A tolerance of one second excludes the
    /// cleanup writes of the refused program.
    func isWritten(after refusal: Event) -> Bool {
        guard size != .zero, let written, let time = refusal.realTime,
            let end = Instant(iso8601: time)?.advanced(by: TimeSpan(seconds: 1)), let last = Instant(iso8601: written)
        else { return false }
        return last > end
    }
}

/// Reads the present state of a path.
struct PresentFileReader {
    let asked: AskedPath
    let control: any ControlEndpoint
    let report: StatusReport

    /// Returns nil if the path does not exist.
    static func status(_ path: [UInt8]) throws(CommandFailure) -> FileStatus? {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, path.map(CChar.init(bitPattern:)) + [0])
        } catch .noEntry { return nil } catch .notDirectory { return nil } catch .nameTooLong { return nil } catch {
            throw CommandFailure("cannot say why", path: String(decoding: path, as: UTF8.self), error)
        }
    }

    func read(_ status: FileStatus) throws(CommandFailure) -> PresentFile {
        let kind: PresentFile.Kind =
            switch status.kind {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .special
            }
        var file = PresentFile(
            kind: kind, size: ByteCount(Int64(status.st_size)), names: Int(status.st_nlink),
            tier: Self.tier(asked, control.isMounted))
        if control.isMounted { file.charged = ByteCount(Int64(status.st_blocks) * 512) }
        guard kind != .folder else { return file }
        (file.isPurgeable, file.isPurgeableFrom) = mark(names: file.names)
        if kind == .file {
            file.protection = try protection()
            file.written = StoredTimes.written(Array("\(report.store)/container/".utf8) + asked.inner)
        }
        try judge(&file)
        return file
    }

    private static func tier(_ asked: AskedPath, _ isMounted: Bool) -> Tier {
        let key = "user.purgefs.\(ComputedAttribute.tier.rawValue)"
        let told = isMounted ? attribute(asked.place, key).flatMap(Tier.init(rawValue:)) : nil
        return told ?? Place.at(path: asked.inner).tier
    }

    /// Returns the mark in effect and the folder that it comes from. A hard-linked file does not inherit marks. For a path that
    /// is not UTF-8, inherited marks are not looked up.
    private func mark(names: Int) -> (value: String?, from: String?) {
        let key = StorageAttribute.isPurgeable.storeKey
        if let own = Self.attribute(asked.place, key) { return (own, nil) }
        guard names == 1, asked.isUTF8 else { return (nil, nil) }
        for folder in asked.text.foldersAbove {
            if let value = Self.attribute(Array("\(asked.root)/\(folder)".utf8), key) { return (value, folder) }
        }
        guard let value = Self.attribute(Array(asked.root.utf8), key) else { return (nil, nil) }
        return (value, "")
    }

    private func protection() throws(CommandFailure) -> PresentFile.Protection? {
        let saved: Device?
        do throws(StoreError) { saved = try StoreAtRest.savedSettings(of: report.store) } catch {
            throw CommandFailure("cannot read the settings", error)
        }
        guard let saved, let state = report.device.lockState else { return nil }
        let rule = ProtectionRule(state: state, standard: saved.protection)
        let own = Self.attribute(asked.place, StorageAttribute.fileProtection.storeKey).flatMap {
            FileProtection(text: $0)
        }
        return PresentFile.Protection(
            fileProtection: rule.effective(own), state: state.shown, canBeOpened: rule.admits(.open, own: own))
    }

    /// Asks the plan whether a purge would take the file. A read-only mount gives no answer, because asking takes a write to
    /// a control file.
    private func judge(_ file: inout PresentFile) throws(CommandFailure) {
        do throws(Errno) {
            let named = try control.exchange(PurgeRequest.paths([asked.inner]).bytes, with: .storagePlan).text
            if let cause = Self.line(named)?.refused {
                file.refusal = PresentFile.Refusal(reason: cause, users: cause == .open ? users() : nil)
                return
            }
            let all = try control.exchange(PurgeRequest.byRule(.all).bytes, with: .storagePlan).text
            file.turn = PurgeTurn.of(asked.text, in: all, low: report.thresholds.low)
            if report.profile == Profile.documented.rawValue, let before = file.turn?.bytesBefore,
                file.turn?.isForCommandsOnly == false
            {
                file.turn?.reachedBeyond = report.storage.available + before
            }
            if file.charged == nil { file.charged = Self.line(named)?.bytes }
        } catch .readOnly {} catch {
            throw CommandFailure("cannot plan a purge", path: control.place, error)
        }
    }

    private func users() -> [FileUser] {
        let path = Array("\(control.place)/\(asked.text)".utf8)
        let users = ProcessTable.users(ofFiles: [path])[path] ?? []
        // This process has inherited the shell's open files.
        return users.filter { $0.pid != getpid() }
    }

    private static func line(_ text: String) -> PlanLine? {
        guard let first = text.split(separator: "\n").first else { return nil }
        do { return try JSONText.decode(PlanLine.self, from: String(first)) } catch { return nil }
    }

    /// Returns nil if the attribute is not set or cannot be read.
    static func attribute(_ path: [UInt8], _ key: String) -> String? {
        do throws(Errno) {
            let path = path.map(CChar.init(bitPattern:)) + [0]
            return String(path: try System.attribute(at: AT_FDCWD, path, key, limit: 256))
        } catch { return nil }
    }
}

/// Finds a file in the plan of a complete purge. The lines before it are not decoded, because there may be many.
enum PurgeTurn {
    static func of(_ path: String, in plan: String, low: ByteCount) -> PresentFile.Turn? {
        let beginning = Array(#"{"path":\#(JSONText.encode(path)),"#.utf8)
        var (position, count, before, found) = (0, 0, ByteCount.zero, Substring?.none)
        for line in plan.split(separator: "\n") {
            count += 1
            guard found == nil else { continue }
            if line.utf8.starts(with: beginning) {
                (found, position) = (line, count)
            } else {
                before += bytes(of: line)
            }
        }
        guard let found else { return nil }
        do {
            let line = try JSONText.decode(PlanLine.self, from: String(found))
            return PresentFile.Turn(
                position: position, of: count, bytesBefore: before, lowThreshold: low, reason: line.reason ?? "",
                tombstone: line.tombstone)
        } catch { return nil }
    }

    /// Returns the number after the last `"bytes":`. This key cannot be part of a name, because quotes in a name are escaped.
    private static func bytes(of line: Substring) -> ByteCount {
        let key = Array(#""bytes":"#.utf8)
        let text = Array(line.utf8)
        guard text.count > key.count else { return .zero }
        for start in stride(from: text.count - key.count, through: 0, by: -1)
        where text[start...].starts(with: key) && (start == 0 || text[start - 1] != UInt8(ascii: "\\")) {
            let digits = text[(start + key.count)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return ByteCount(Int64(String(decoding: digits, as: UTF8.self)) ?? 0)
        }
        return .zero
    }
}
