import ContainerTesting
import Foundation
import Testing

/// A fault at every call of a save that replaces the number 41 by 42.
@Suite struct SweepTests {
    static let device = Container.Settings(total: "64M", protection: .complete)

    /// Writes a new file, syncs it, renames it over the old one, and syncs the folder.
    private static func save(_ count: Int, in container: Container) throws {
        let new = container.documents.path + "/new"
        try with(new, O_CREAT | O_WRONLY | O_TRUNC) { file in
            var rest = Array("\(count)".utf8)[...]
            while !rest.isEmpty {
                rest = rest.dropFirst(try checked(rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }))
            }
            try checked(Int(fsync(file)))
        }
        try checked(Int(rename(new, path(in: container))))
        try with(container.documents.path, O_RDONLY) { try checked(Int(fsync($0))) }
    }

    /// The mistake: truncates the file and writes it anew.
    private static func overwrite(_ count: Int, in container: Container) throws {
        try with(path(in: container), O_CREAT | O_WRONLY | O_TRUNC) { file in
            guard write(file, "\(count)", 2) == 2 else { throw Refused(code: errno) }
        }
    }

    private static func with(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Void) throws {
        let file = Int32(try checked(Int(open(path, flags | O_CLOEXEC, 0o644))))
        defer { close(file) }
        try body(file)
    }

    @discardableResult
    private static func checked(_ result: Int) throws -> Int {
        guard result >= 0 else { throw Refused(code: errno) }
        return result
    }

    private static func path(in container: Container) -> String { container.documents.path + "/count" }

    /// Whether the save is as a user expects it: the new number, or the old one after an error.
    private static func isWell(_ error: (any Error)?, in container: Container) throws -> Bool {
        let saved = try String(contentsOfFile: path(in: container), encoding: .utf8)
        return saved == "42" || error != nil && saved == "41"
    }

    @Test(
        .container(device),
        arguments: try await sweep(in: device, prepare: { try save(41, in: $0) }) { try save(42, in: $0) })
    func rightSaveHolds(moment: Container.Moment) throws {
        let container = try #require(Container.current)
        try Self.save(41, in: container)
        let error = try moment.perform(in: container) { try Self.save(42, in: container) }
        #expect(moment.fault != nil || error == nil)
        #expect(moment.fault != .error || error != nil)
        #expect(try Self.isWell(error, in: container))
        #expect(try container.deviceState == .unlocked && container.read("faults") == "")
    }

    @Test func wrongSaveFails() async throws {
        let moments = try await Self.momentsOfMistake()
        #expect(
            moments.map(\.description) == [
                "no fault", "open#1=EIO Documents/count", "write#1=EIO Documents/count",
                "open#1+=EIO Documents/count", "write#1+=EIO Documents/count", "write#1=full Documents/count",
                "write#1=short Documents/count", "open#1=purge Documents/count", "write#1=purge Documents/count",
                "open#1=lock Documents/count", "write#1=lock Documents/count",
            ])
        #expect(moments.map(\.testDescription) == moments.map(\.description))
        var lost: [String] = []
        for moment in moments {
            try await withContainer(Self.device) { container in
                try Self.overwrite(41, in: container)
                let error = try await moment.perform(in: container) {
                    await Task.yield()
                    try Self.overwrite(42, in: container)
                }
                if try !Self.isWell(error, in: container) { lost += moment.rule.map { [$0] } ?? [] }
            }
        }
        #expect(lost == ["write#1=EIO", "write#1+=EIO", "write#1=full", "write#1=short", "write#1=lock"])
    }

    private static let allFaults = Container.Moment.Fault.allCases
    private static let script =
        "cd; mkdir tmp/a; dd if=/dev/zero of=tmp/a/b bs=1 count=4; cat tmp/a/b; mv tmp/a/b tmp/c; rm tmp/c; true"

    /// `purgefs sweep` tries the same faults at the same calls, in the same order.
    @Test(.container, arguments: [(allFaults, nil), ([.full, .short], 5)])
    func sameAsTheVerb(faults: [Container.Moment.Fault], most: Int?) async throws {
        struct Sweep: Decodable {
            struct Trial: Decodable, Equatable { var rule, path: String }
            var trials: [Trial]
        }
        let container = try #require(Container.current)
        let program = ["sh", "-c", Self.script]
        let names = faults.map(\.rawValue).joined(separator: ",")
        let options = ["--json", "--check", "true", "--moments", names] + (most.map { ["--most", "\($0)"] } ?? [])
        let outcome = try await container.run([container.binary, "sweep"] + options + ["--"] + program)
        try #require(outcome.status == 0, "\(outcome)")
        let expected = try JSONDecoder().decode(Sweep.self, from: Data(outcome.output.utf8)).trials
        let moments = try await sweep(moments: faults, most: most) { try await #require($0.run(program).status == 0) }
        #expect(moments.first?.description == "no fault")
        #expect(most == nil ? expected.count > 20 : expected.count == most)
        #expect(moments.dropFirst().map { Sweep.Trial(rule: $0.rule ?? "", path: $0.path ?? "") } == expected)
    }

    private static func momentsOfMistake() async throws -> [Container.Moment] {
        try await sweep(in: device, prepare: { try overwrite(41, in: $0) }) { try overwrite(42, in: $0) }
    }

    private static func moment(_ rule: String) async throws -> Container.Moment {
        try #require(try await momentsOfMistake().first { $0.rule == rule })
    }

    @Test(.container(device)) func deviceIsUnlockedAgain() async throws {
        let container = try #require(Container.current)
        try Self.overwrite(41, in: container)
        let moment = try await Self.moment("write#1=lock")
        let error = try moment.perform(in: container) {
            let result = Result { try Self.overwrite(42, in: container) }
            #expect(try container.deviceState == .locked)
            try result.get()
        }
        #expect(error is Refused)
        #expect(try container.deviceState == .unlocked)
    }

    /// In profile `device`, the purge terminates an app in the background. Afterwards the app runs again.
    @Test(.container(total: "64M", profile: .device)) func appRunsAgain() async throws {
        let container = try #require(Container.current)
        // Written by a program, because the test process may be copied meanwhile, and an open file is not purged.
        #expect(try await container.run(["sh", "-c", "echo > ~/Library/Caches/a"]).status == 0)
        try container.app(.background)
        let moment = try await Self.moment("open#1=purge")
        let error = try moment.perform(in: container) {
            try Self.overwrite(42, in: container)
            try Self.overwrite(43, in: container)
            #expect(try container.read("app.state") == "terminated")
        }
        #expect(try error == nil && container.read("app.state") == "foreground")
        try await container.expectPurge(of: "Library/Caches/a")
    }

    @Test(.container(device)) func errorsWithoutTheFault() async throws {
        let container = try #require(Container.current)
        let moment = try await Self.moment("write#1=EIO")
        #expect(throws: Refused(code: 1)) { _ = try moment.perform(in: container) { throw Refused(code: 1) } }
        #expect(try container.read("faults") == "")
        try Self.overwrite(42, in: container)
    }

    /// The sweeps run in tasks of their own, because an error in the task of a test leaves attachments.
    @Test func errorsOfTheSweep() async throws {
        for (prepare, work, code) in [(true, false, 1), (false, true, 2)] as [(Bool, Bool, Int32)] {
            let task = Task.detached {
                try await sweep(in: Self.device, prepare: { _ in if prepare { throw Refused(code: code) } }) { _ in
                    if work { throw Refused(code: code) }
                }
            }
            await #expect(throws: Refused(code: code)) { try await task.value }
        }
        let task = Task.detached { try await sweep(in: Self.device) { _ in } }
        let error = await #expect(throws: ContainerError.self) { try await task.value }
        #expect(error == .cannotSweep("it makes no calls in the container that these faults can meet"))
    }

    /// A fault that meets no call leaves a warning.
    @Test(.container(device)) func otherCalls() async throws {
        let container = try #require(Container.current)
        let moment = try await Self.moment("write#1=EIO")
        try withKnownIssue {
            let error = try moment.perform(in: container) {}
            #expect(error == nil)
        } matching: {
            $0.severity == .warning
                && $0.comments.map(\.rawValue) == ["no call met write#1=EIO: other calls were made than in the sweep"]
        }
    }
}

private struct Refused: Error, Hashable { var code: Int32 }
