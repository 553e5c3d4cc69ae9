import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeBackup

/// Root creates an entry in an ordinary user's folder. The user exchanges this entry for another directory of root's, in each
/// attempt before a different one of root's calls.
@Suite(.enabled(if: geteuid() == 0, "only root makes things for others"))
struct ExchangedPlaceTests {
    private static let user: uid_t = 65534

    enum Work: String, CaseIterable {
        case restore, create, copy

        /// The temporary name of `target`.
        var hiddenName: String {
            switch self {
            case .restore: ".target.unfinished-restore"
            case .create: ".target.unfinished-backup"
            case .copy: ".target.unfinished-copy"
            }
        }
    }

    private static func progress() -> BackupProgress { BackupProgress(path: "test") { _ in } }

    private static func make(_ work: Work, from container: SampleContainer, at target: String) throws {
        switch work {
        case .create:
            _ = try BackupCreation(container.source, SampleContainer.header, progress()).run(to: target)
        case .restore: _ = try BackupRestoration("\(container.path)/../backup", progress()).run(to: target)
        case .copy: _ = try StoreCopy(of: .directory(container.path), progress()).make(at: target, start: "/nowhere")
        }
    }

    @Test(arguments: Work.allCases, [true, false]) func nothingOfOthersIsTouched(work: Work, hasFile: Bool) throws {
        try SampleContainer.with { container in
            try Files.write("content", to: container.pathOf("a"))
            try Self.make(.create, from: container, at: "\(container.path)/../backup")
            func makePlace(_ name: String) throws -> String {
                let place = "\(container.path)/../\(name)"
                for folder in [place, "\(place)/target"] {
                    try Files.makeDirectory(folder)
                    try #require(chown(folder, Self.user, Self.user) == 0)
                }
                return place
            }
            let alone = "\(try makePlace("alone"))/target"
            let calls = SystemCallFaults.none.during { try Self.make(work, from: container, at: alone) }.calls
            try #require(calls.contains(.mkdirat) && calls.contains(.renameat2))
            var completed = 0
            for (index, name) in calls.enumerated() {
                let place = try makePlace("place-\(index)")
                let decoy = try ExchangedDirectory("\(place)/decoy", hasFile: hasFile)
                let outcome = SystemCallFaults.running(
                    { decoy.exchange(with: "\(place)/\(work.hiddenName)") }, before: name,
                    after: calls[..<index].count { $0 == name }
                ) { try Self.make(work, from: container, at: "\(place)/target") }
                let harm = try decoy.harm(below: place)
                #expect(outcome.hits == 1 && harm == nil, "before \(name), call \(index): \(harm ?? "")")
                if case .success = outcome.result {
                    completed += 1
                    let (owner, names) = (
                        try Files.status("\(place)/target").st_uid, try Files.names(in: "\(place)/target")
                    )
                    #expect(owner == Self.user && !names.isEmpty)
                }
            }
            #expect(completed > 0)
        }
    }

    /// A directory under the temporary name is removed only if it belongs to root and has the mode of root's leftovers.
    @Test func remainsOfOthers() throws {
        try SampleContainer.with { container in
            try Self.make(.create, from: container, at: "\(container.path)/../backup")
            let hidden = "\(container.path)/../\(Work.restore.hiddenName)"
            for folder in ["", "/purgefs-unfinished", "/purgefs-unfinished/folder"] {
                try Files.makeDirectory(hidden + folder)
            }
            func restore() throws { try Self.make(.restore, from: container, at: "\(container.path)/../target") }
            for (mode, owner) in [(mode_t(0o755), uid_t(0)), (0o700, Self.user)] {
                try #require(chmod(hidden, mode) == 0 && chown(hidden, owner, owner) == 0)
                let error = #expect(throws: StoreError.self) { try restore() }
                #expect(error?.advice == "Move it away.")
                #expect(Files.exists("\(hidden)/purgefs-unfinished/folder"))
            }
            try #require(chown(hidden, 0, 0) == 0)
            try restore()
            #expect(!Files.exists(hidden))
        }
    }
}
