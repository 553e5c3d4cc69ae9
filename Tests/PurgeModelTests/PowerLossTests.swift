import PurgeModel
import Testing

/// What survives a loss of power (docs/POWER.md), in tables that were written by hand.
@Suite struct PowerLossTests {
    /// Parses a call such as `create a`, `write a 0 4096`, `rename a b`, `fsync a` or `fsyncdir .`: its name, and then its
    /// arguments.
    private static func call(_ text: String) -> RecordedCall {
        let words = text.split(separator: " ").map(String.init)
        let hasFailed = words.last == "EIO"
        let other = ["fdatasync": RecordedCall.Name.fsync, "exchange": .rename][words[0]]
        guard let name = other ?? RecordedCall.Name(rawValue: words[0]) else { preconditionFailure(text) }
        var call = RecordedCall(name, path: words[1] == "." ? "" : words[1])
        if call.path.isEmpty { call.node = 1 }
        switch name {
        case .rename, .link: call.other = words[2]
        case .write:
            (call.offset, call.size) = (Int64(words[2]), Int64(words[3]))
            call.result = call.size
        case .fallocate: (call.offset, call.size, call.flags) = (Int64(words[2]), Int64(words[3]), 3)
        case .truncate: call.size = Int64(words[2])
        default: break
        }
        if name == .tmpfile { (call.node, call.path) = (UInt64(words[1]), "") }
        if words[0] == "fdatasync" { call.flags = 1 }
        if words[0] == "exchange" { call.flags = 2 }
        if hasFailed { call.error = "EIO" }
        return call
    }

    /// The survivors as `rename a b`, with the ranges of a write that is there only in part.
    private static func survivors(_ calls: [String], _ loss: PowerLoss, before end: Int? = nil) -> [String] {
        let record = PowerRecord(calls.map(call))
        return record.survivors(of: loss, before: end ?? calls.count).map { survivor in
            let words = ["\(record.calls[survivor.index].call.rawValue)", survivor.path, survivor.other]
            let ranges = (survivor.ranges ?? []).map { "\($0.lowerBound)+\($0.count)" }
            return (words.compactMap(\.self) + ranges).joined(separator: " ")
        }
    }

    /// A call on a file that gets another name while the call is served.
    @Test func renamedMeanwhile() {
        var calls = ["create a", "rename a b", "create a", "open a", "fsync a"].map(Self.call)
        for (index, node) in [(0, 7), (2, 8), (3, 7), (4, 8)] { calls[index].node = UInt64(node) }
        calls[3].flags = 0o1001
        let survivors = PowerRecord(calls).survivors(of: PowerLoss(.ordered), before: calls.count)
        #expect(survivors.map(\.path) == ["a", "a", "a", "b"])
        // The file with node 7 is gone, and another one has its node.
        calls[1] = Self.call("unlink a")
        #expect(PowerRecord(calls).survivors(of: PowerLoss(.ordered), before: 5).map(\.path) == ["a", "a", "a", "a"])
    }

    private static let save = ["create n", "write n 0 10", "fsync n", "rename n a", "fsyncdir ."]

    /// The state at each call of a save that is right: the old file, or the new one whole.
    @Test(arguments: [
        (0, []), (1, []), (2, []), (3, ["create n", "write n"]), (4, ["create n", "write n"]),
        (5, ["create n", "write n", "rename n a"]),
    ]) func aRightSave(end: Int, expected: [String]) {
        #expect(Self.survivors(Self.save, PowerLoss(.none), before: end) == expected)
    }

    /// Without fsync of the file, its name is there and its data is not.
    @Test func aSaveWithoutSync() {
        let calls = ["create n", "write n 0 10", "rename n a", "fsyncdir ."]
        #expect(Self.survivors(calls, PowerLoss(.none)) == ["create n", "rename n a"])
        #expect(Self.survivors(calls, PowerLoss(.torn)) == ["create n", "rename n a"])
        #expect(Self.survivors(calls, PowerLoss(.ordered)) == ["create n", "write n", "rename n a"])
        #expect(Self.survivors(calls, PowerLoss(.ordered), before: 2) == ["create n", "write n"])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let calls, expected: [String]
        var testDescription: String { rule }
    }

    /// Each rule of the page with what it keeps, by `none`.
    @Test(arguments: [
        Case(rule: "a file alone", calls: ["create a", "create b", "fsync a"], expected: ["create a"]),
        Case(
            rule: "its folders, too", calls: ["mkdir d", "mkdir d/e", "create d/e/a", "create d/b", "fsync d/e/a"],
            expected: ["mkdir d", "mkdir d/e", "create d/e/a"]),
        Case(
            rule: "a folder keeps no data", calls: ["create a", "write a 0 9", "fsyncdir ."], expected: ["create a"]),
        Case(
            rule: "a folder keeps only its own names", calls: ["mkdir d", "create d/a", "create b", "fsyncdir d"],
            expected: ["mkdir d", "create d/a"]),
        Case(
            rule: "a rename into another folder, synced there",
            calls: ["mkdir d", "create a", "rename a d/a", "fsyncdir d"],
            expected: ["mkdir d", "create a", "rename a d/a"]),
        Case(
            rule: "a rename out of a folder, synced there", calls: ["rename d/a a", "create d/b", "fsyncdir d"],
            expected: ["rename d/a a", "create d/b"]),
        Case(
            rule: "earlier changes of the same name", calls: ["unlink a", "create a", "fsync a"],
            expected: ["unlink a", "create a"]),
        Case(
            rule: "earlier changes of the same file", calls: ["link c a", "unlink a", "fsyncdir ."],
            expected: ["link c a", "unlink a"]),
        Case(
            rule: "both files of an exchange", calls: ["exchange a b", "fsync b"], expected: ["rename a b"]),
        Case(
            rule: "the file that a rename replaces", calls: ["link c a", "create b", "rename b a", "fsync a"],
            expected: ["link c a", "create b", "rename b a"]),
        Case(
            rule: "the folders above, where they were", calls: ["rename a/p p", "rename a p/b/a", "fsyncdir p/b"],
            expected: ["rename a/p p", "rename a p/b/a"]),
        Case(
            rule: "fdatasync", calls: ["create a", "setattr a", "write a 0 9", "rename a b", "fdatasync b"],
            expected: ["create a", "write a"]),
        Case(
            rule: "fdatasync of a file that was there", calls: ["rename a b", "truncate b 0", "fdatasync b"],
            expected: ["truncate a"]),
        Case(
            rule: "a folder that goes is empty", calls: ["unlink d/a", "rename d/b c", "rmdir d", "fsyncdir ."],
            expected: ["unlink d/a", "rename d/b c", "rmdir d"]),
        Case(
            rule: "the file has the path that its folders have", calls: ["rename d e", "write e/a 0 9", "fsync e/a"],
            expected: ["write d/a"]),
        Case(
            rule: "a sync that has failed", calls: ["write a 0 9", "fsync a EIO", "write a 9 9", "fsync a"],
            expected: ["write a"]),
        Case(
            rule: "a truncation before a sync that has failed",
            calls: ["truncate a 0", "write a 0 9", "fsync a EIO", "fsync a"], expected: ["truncate a"]),
        Case(
            rule: "names that are equal as strings",
            calls: ["create \u{E9}", "create e\u{301}", "write \u{E9} 0 9", "fsync e\u{301}"],
            expected: ["create e\u{301}"]),
        Case(
            rule: "a name that begins with a combining mark",
            calls: ["mkdir d", "create d/\u{301}x", "fsync d/\u{301}x"],
            expected: ["mkdir d", "create d/\u{301}x"]),
        Case(
            rule: "a file without a name", calls: ["tmpfile 7", "create x", "fsyncdir ."], expected: ["create x"]),
        Case(
            rule: "attributes with the file", calls: ["setxattr a", "setattr b", "fsync a"], expected: ["setxattr a"]),
        Case(
            rule: "an earlier truncation", calls: ["truncate a 0", "write a 0 9", "fsync a"],
            expected: ["truncate a", "write a"]),
    ]) func rules(_ example: Case) {
        #expect(Self.survivors(example.calls, PowerLoss(.none)) == example.expected)
    }

    /// A sync keeps only what was answered before it began.
    @Test func besideASync() {
        var calls = ["write a 0 1", "write a 1 1", "fsync a"].map(Self.call)
        calls[2].after = 1
        #expect(PowerRecord(calls).survivors(of: PowerLoss(.none), before: 3).map(\.index) == [0])
    }

    /// O_DSYNC and O_SYNC keep their own data, the size, and the name or all names.
    @Test func synchronousWrites() {
        var calls = ["create a", "setattr a", "write a 0 1", "truncate a 9", "write a 1 1", "write a 2 1"].map(
            Self.call)
        calls[4].flags = 0o10001
        #expect(PowerRecord(calls).survivors(of: PowerLoss(.none), before: 6).map(\.index) == [0, 3, 4])
        calls[4].flags = 0o4010001
        #expect(PowerRecord(calls).survivors(of: PowerLoss(.none), before: 6).map(\.index) == [0, 1, 3, 4])
    }

    /// Each block is there in a version of its own, and not beyond a truncation that is lost.
    @Test func tornBlocks() {
        let writes = ["write a 0 8192", "write a 4096 8192"]
        var states: Set<[String]> = []
        var sizes: Set<Int64> = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let loss = PowerLoss(.torn, seed: seed)
            let record = PowerRecord(writes.map(Self.call))
            let survivors = record.survivors(of: loss, before: 2)
            #expect(survivors.allSatisfy { $0.ranges?.isEmpty == false || $0.size != nil })
            sizes.formUnion(survivors.compactMap(\.size))
            states.insert(survivors.flatMap { survivor in (survivor.ranges ?? []).map { "\(survivor.index) \($0)" } })
            let cut = Self.survivors(
                ["write a 0 4096", "truncate a 0", "write a 0 4096", "write a 4096 4096"], loss)
            #expect(cut.contains("truncate a") || cut.count <= 1, "\(seed): \(cut)")
        }
        // Two versions of the blocks 0 and 2, and three of block 1.
        #expect(states.count == 12 && states.contains([]))
        #expect(
            states.contains(["0 0..<8192", "1 4096..<12288"]) && states.contains(["0 0..<4096", "1 8192..<12288"]))
        // The size that a write gives the file may be there without its data.
        #expect(sizes == [8192, 12288])
    }

    /// The size of a new file may stay behind its data, and a lost truncation may have zeroed the rest of a block.
    @Test func tornSizes() {
        let extended = ["create a", "write a 0 100", "fsync a", "write a 50 100"]
        let truncated = ["create a", "write a 0 10000", "fsync a", "truncate a 5000"]
        var ends: Set<Int64> = []
        var zeros: Set<[String]> = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let loss = PowerLoss(.torn, seed: seed)
            let survivor = PowerRecord(extended.map(Self.call)).survivors(of: loss, before: 4).dropFirst(2).first
            ends.insert(survivor?.ranges?.last?.upperBound ?? 0)
            zeros.insert(Array(Self.survivors(truncated, loss).dropFirst(2)))
        }
        #expect(ends == [0, 100, 150])
        // The last block that was there before, with zeros.
        let long = ["create a", "write a 0 10", "fsync a", "write a 0 13000"].map(Self.call)
        let sizes = (1...400 as ClosedRange<UInt64>).compactMap { seed in
            PowerRecord(long).survivors(of: PowerLoss(.torn, seed: seed), before: 4).last?.size
        }
        #expect(Set(sizes) == [4096, 13000])
        #expect(zeros == [[], ["truncate a"], ["truncate a 5000+3192"]])
    }

    /// A write before the end of a file whose later data is lost may give the file the end of its block.
    @Test func tornEndOfABlock() {
        let calls = ["create a", "fsync a", "write a 20000 100", "write a 4096 1"].map(Self.call)
        var sizes: Set<Int64?> = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let survivors = PowerRecord(calls).survivors(of: PowerLoss(.torn, seed: seed), before: 4)
            let isAlone = !survivors.contains { $0.index == 2 }
            if isAlone, let last = survivors.last, last.index == 3 { sizes.insert(last.size) }
        }
        #expect(sizes.isSuperset(of: [nil, 8192]))
    }

    /// A hole may give the file its own end, although the data beyond it is lost, and leave zeros although it is lost itself.
    @Test func tornHoles() {
        let beforeEnd = ["create a", "fsync a", "write a 0 20000", "fallocate a 4096 4000"].map(Self.call)
        let lost = ["create a", "write a 0 10000", "fsync a", "fallocate a 100 5000"]
        var sizes: Set<Int64?> = []
        var zeros: Set<[String]> = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let loss = PowerLoss(.torn, seed: seed)
            let hole = PowerRecord(beforeEnd).survivors(of: loss, before: 4).last { $0.index == 3 }
            if let hole { sizes.insert(hole.size) }
            #expect(hole?.ranges == nil)
            zeros.insert(Array(Self.survivors(lost, loss).dropFirst(2)))
        }
        #expect(sizes == [nil, 8096])
        #expect(zeros == [[], ["fallocate a"], ["fallocate a 100+3996"]])
    }

    /// A seed chooses the same point on every machine. The numbers were computed with another SplitMix64.
    @Test(arguments: [(1, 0), (10, 1), (7, 2), (3, 3), (17, 4)] as [(UInt64, Int)])
    func seededPoint(seed: UInt64, count: Int) {
        let calls = ["create a", "create b", "create c", "create d"]
        #expect(Self.survivors(calls, PowerLoss(.ordered, seed: seed)) == Array(calls.prefix(count)))
    }

    /// Wrong records and moments do not trap.
    @Test func hostileRecords() {
        var call = RecordedCall(.write, path: "../../x")
        (call.offset, call.size, call.result) = (.max, .max, .max)
        var unlink = RecordedCall(.unlink, path: "")
        unlink.node = .max
        let calls = [call, unlink, RecordedCall(.rename, path: "/"), RecordedCall(.fsyncdir, path: "//a//")]
        for rest in PowerLoss.Rest.allCases {
            for end in [Int.min, -1, 0, 3, .max] {
                _ = PowerRecord(calls).survivors(of: PowerLoss(rest, seed: 3), before: end)
            }
        }
    }
}
