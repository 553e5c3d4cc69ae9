import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Problems that a scan has found.
struct ScanFindings {
    /// Sidecars that belong to a file; each belongs to one file only.
    var sidecars: Set<String> = []
    var damaged: [(node: Node, damage: ExtentDamage)] = []
    /// Files and folders that may not be read, and whose modes must not be changed.
    var unreadable: [Node] = []
    /// Entries with an unknown value of fileProtection.
    var unprotected: [Node] = []
}

extension StoreScan {
    /// Returns the record of a file, and claims the record's sidecar for the file. Throws if another file has already claimed
    /// the sidecar, for example because one file is a copy of the other.
    func claimedRecord(of directory: Int32, _ name: CName) throws(ExtentDamage) -> ExtentRecord? {
        guard let record = try store.extentRecord(of: directory, name) else { return nil }
        guard let sidecar = record.sidecar else { return record }
        guard findings.withLock({ $0.sidecars.insert(sidecar).inserted }) else {
            throw ExtentDamage(what: "is in a sidecar of another file, extents/\(sidecar)", countsAsFull: false)
        }
        return record
    }

    /// Charges a file whose record cannot be used: as full, or by the data in the backing file.
    func chargeDamaged(
        _ node: Node, _ name: Name, _ facts: inout EntryFacts, _ size: Int64, _ damage: ExtentDamage,
        in directory: Int32
    ) throws(Errno) {
        findings.withLock { $0.damaged.append((node, damage)) }
        var charged = ExtentSet(0..<min(facts.blocks, ExtentRecord.largestBlock))
        if !damage.countsAsFull {
            let file = try name.withCName { (name) throws(Errno) in
                try FileDescriptor.openFile(name, O_RDONLY, in: directory)
            }
            charged = try charges.dataExtents(of: file.raw, in: 0..<facts.blocks)
        }
        (facts.blocks, facts.extents) = (charged.count, charged)
        let extents = StoredExtents(record: ExtentRecord(runs: charged), size: size)
        change { $0[node].io.extents = extents }
    }

    /// Returns the problems that the scan found, and, if every entry could be read, the sidecars that belong to no file. With
    /// `repairing`, replaces each damaged record with a record of the blocks that are charged now, and removes these sidecars.
    public func recordProblems(repairing: Bool) throws(StoreError) -> [StoreProblem] {
        let found = findings.withLock { $0 }
        var problems = found.unreadable.map(problem(ofUnreadable:))
        problems += found.unprotected.map(problem(ofUnprotected:))
        problems += found.damaged.map { problem(of: $0.node, $0.damage, repairing: repairing) }
        // Any sidecar may belong to an entry that could not be read.
        guard found.unreadable.isEmpty else { return problems }
        let needed = repairing ? neededSidecars(found) : found.sidecars
        problems += try store.straySidecars(needed: needed, removing: repairing)
        return problems
    }

    /// Returns warnings about the findings, for a mount. The findings are then cleared, so each is returned once.
    public func takeRecordWarnings() -> [String] {
        let found = findings.withLock { found in
            defer { found = ScanFindings() }
            return found
        }
        let damaged = found.damaged
        let told = damaged.prefix(Self.mostWarnings).map {
            problem(of: $0.node, $0.damage, repairing: false).description
        }
        let rest = damaged.count - told.count
        let warnings = warnings(ofUnreadable: found.unreadable) + warnings(ofUnprotected: found.unprotected) + told
        return warnings + self.rest(rest, "files have damaged records")
    }
    private static let mostWarnings = 20

    /// Returns warnings about unreadable entries, for commands that print numbers.
    public func unreadableWarnings() -> [String] { warnings(ofUnreadable: findings.withLock { $0.unreadable }) }

    private func warnings(ofUnreadable unreadable: [Node]) -> [String] {
        let told = unreadable.prefix(Self.mostWarnings).map { problem(ofUnreadable: $0).description }
        let rest = unreadable.count - told.count
        return told + self.rest(rest, "cannot be read")
    }

    private func problem(ofUnreadable node: Node) -> StoreProblem {
        StoreProblem(
            path: path(of: node),
            what: node.isDirectory
                ? "the folder cannot be read; its content is not counted"
                : "the file cannot be read; its size is counted, without its marks and holes",
            advice: "Commands that only read do not change permissions (a mount does, briefly). As its owner: chmod "
                + "u+rX",
            isRepairable: false)
    }

    private func warnings(ofUnprotected nodes: [Node]) -> [String] {
        let told = nodes.prefix(Self.mostWarnings).map { problem(ofUnprotected: $0).description }
        let rest = nodes.count - told.count
        return told + self.rest(rest, "have no known protection class")
    }

    /// Returns the warning about `count` further files; none if there are none.
    private func rest(_ count: Int, _ what: String) -> [String] {
        count > 0 ? ["\(count) more \(what): purgefs check \(ShellWord.of(store.path))"] : []
    }

    private func problem(ofUnprotected node: Node) -> StoreProblem {
        StoreProblem(
            path: path(of: node), what: "its fileProtection has an unknown value and is ignored",
            advice: "Set it again in a mount: purgefs mark --protection CLASS", isRepairable: false)
    }

    private func path(of node: Node) -> String { pathInStore(of: (node, nil)) }

    /// Returns the path of a directory, or of a name in it, for messages.
    func pathInStore(of place: (node: Node, name: Name?)) -> String {
        let names = read { $0[place.node].path() } + (place.name.map { [$0] } ?? [])
        return ([store.path + "/container"] + names.map { Self.visible($0.text) }).joined(separator: "/")
    }

    private func neededSidecars(_ found: ScanFindings) -> Set<String> {
        let written = read { state in found.damaged.compactMap { state[$0.node].io.extents?.record.sidecar } }
        return found.sidecars.union(written)
    }

    private func problem(of node: Node, _ damage: ExtentDamage, repairing: Bool) -> StoreProblem {
        let charged = damage.countsAsFull ? "it is charged as full" : "the blocks that have data are charged"
        var problem = StoreProblem(
            path: path(of: node), what: "its record of charged blocks \(damage.what); \(charged)",
            advice: "`purgefs check --repair \(ShellWord.of(store.path))` writes a new record; the "
                + "file itself is not touched.",
            isRepairable: true)
        guard repairing else { return problem }
        do throws(Errno) {
            try rewriteRecord(of: node)
            problem.repair = "A new record has been written."
        } catch { problem.advice = "A new record could not be written (\(error)): check the mode of the file." }
        return problem
    }

    private func rewriteRecord(of node: Node) throws(Errno) {
        guard var record = read({ $0[node].io.extents?.record }) else { return }
        try access.changing(node) { (location) throws(Errno) in
            try location.with { (directory, name) throws(Errno) in
                try store.setExtentRecord(&record, of: directory, name)
            }
        }
        let written = record
        change { $0[node].io.extents?.record = written }
    }

    /// Escapes control characters: an app's file names may contain any, and messages go to a terminal.
    private static func visible(_ name: String) -> String {
        guard name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return name }
        return name.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar.value == 0x7F ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }
}
