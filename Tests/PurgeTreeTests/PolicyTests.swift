import PurgeModel
import Support
import Testing

@testable import PurgeTree

/// Directory policies in a tree. TreeRun also compares them with a table.
struct PolicyTests {
    private func set(_ fixture: inout TreeFixture, _ path: String, after: Int64? = nil, limit: Int64? = nil) {
        let policy = DirectoryPolicy(
            purgeAfter: after.map { TimeSpan(seconds: $0) }, sizeLimit: limit.map { ByteCount(blocks: $0) })
        fixture.tree.set(.policy(policy), of: fixture.node(path))
    }

    private func seconds(_ time: Int64) -> Instant { Instant(seconds: time, nanoseconds: 0) }

    private func takeAll(_ fixture: inout TreeFixture) -> [String] {
        var paths: [String] = []
        while let victim = fixture.tree.policies.nextVictim() {
            paths.append(victim.node.path().text)
            fixture.tree.choose(victim.node)
        }
        return paths
    }

    @Test(.timeLimit(.minutes(1))) func manyFilesOfOneMomentGoInTheOrderOfTheirPaths() {
        var fixture = TreeFixture()
        fixture.makeDirectory("Documents/d")
        fixture.makeDirectory("Documents/d/sub")
        var paths: [String] = []
        for number in 0..<10_000 {
            let name = "f\(number &* 7919 % 10_000)"
            paths.append(number % 2 == 0 ? "Documents/d/\(name)" : "Documents/d/sub/\(name)")
        }
        for path in paths { fixture.make(path, creation: 100) }
        set(&fixture, "Documents/d", after: 10)
        while fixture.tree.advance(to: seconds(109), limit: 100) {}
        fixture.tree.policies.check()
        expect(takeAll(&fixture), are: [])
        // The order is by the paths at the time of the purge.
        fixture.rename("Documents/d/sub", "Documents/d/e")
        while fixture.tree.advance(to: seconds(110), limit: 100) {}
        fixture.tree.policies.check()
        let renamed = paths.map { $0.hasPrefix("Documents/d/sub/") ? "Documents/d/e/" + $0.dropFirst(16) : $0 }
        expect(takeAll(&fixture), are: renamed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(fixture.tiers == [0, 0, 0])
    }

    @Test func whatIsMovedBelongsToThePolicyOfItsPlace() {
        var fixture = TreeFixture()
        for path in ["Documents/a", "Documents/b", "Documents/a/sub", "Documents/a/own"] { fixture.makeDirectory(path) }
        for path in ["Documents/a/1", "Documents/a/sub/2", "Documents/a/own/3", "Documents/b/4"] {
            fixture.make(path, blocks: 2)
        }
        set(&fixture, "Documents/a", limit: 100)
        set(&fixture, "Documents/b", limit: 100)
        set(&fixture, "Documents/a/own", limit: 100)
        func numbers(_ fixture: borrowing TreeFixture) -> [String] {
            fixture.tree.policies.all.map { "\($0.directory.path().text) \($0.blocks) \($0.files)" }
        }
        expect(numbers(fixture), are: ["Documents/a 4 2", "Documents/a/own 2 1", "Documents/b 2 1"])
        fixture.rename("Documents/a/sub", "Documents/b/sub")
        expect(numbers(fixture), are: ["Documents/a 2 1", "Documents/a/own 2 1", "Documents/b 4 2"])
        fixture.rename("Documents/a/own", "Documents/b/own")
        expect(numbers(fixture), are: ["Documents/a 2 1", "Documents/b 4 2", "Documents/b/own 2 1"])
        fixture.rename("Documents/b", "tmp/b")
        expect(numbers(fixture), are: ["Documents/a 2 1", "tmp/b 4 2", "tmp/b/own 2 1"])
        fixture.tree.set(.policy(nil), of: fixture.node("tmp/b/own"))
        expect(numbers(fixture), are: ["Documents/a 2 1", "tmp/b 6 3"])
        fixture.link("tmp/b/4", "tmp/other")
        expect(numbers(fixture), are: ["Documents/a 2 1", "tmp/b 4 2"])
        fixture.unlink("tmp/other")
        expect(numbers(fixture), are: ["Documents/a 2 1", "tmp/b 6 3"])
        fixture.unlink("tmp/b/4")
        fixture.unlink("Documents/a/1")
        fixture.unlink("Documents/a")
        expect(numbers(fixture), are: ["tmp/b 4 2"])
        #expect(fixture.find("tmp/b")?.flags.isUnderPolicy == true)
    }

    @Test func theRootMayHaveOne() {
        var fixture = TreeFixture()
        fixture.make("Documents/f", creation: 5)
        set(&fixture, "", after: 10)
        fixture.make("tmp/g", creation: 7)
        while fixture.tree.advance(to: seconds(16)) {}
        fixture.tree.policies.check()
        expect(takeAll(&fixture), are: ["Documents/f"])
        fixture.tree.set(.policy(nil), of: fixture.root)
        #expect(fixture.tree.policies.isEmpty && !fixture.root.flags.isUnderPolicy)
    }

    /// A file under no policy carries no trace of one.
    @Test func afterItsRemovalNothingIsLeft() {
        var fixture = TreeFixture()
        fixture.makeDirectory("Library/Caches/d")
        let file = fixture.make("Library/Caches/d/f", creation: 1)
        set(&fixture, "Library/Caches", after: 1)
        while fixture.tree.advance(to: seconds(9)) {}
        #expect(file.flags.policy == .overAge)
        fixture.tree.set(.policy(DirectoryPolicy()), of: fixture.node("Library/Caches"))
        #expect(file.flags.policy == .none && fixture.node("Library/Caches/d").flags.policy == .none)
        let victim = fixture.tree.popVictim(step: nil)
        #expect(victim?.reason == .caches)
        fixture.tree.policies.settle()
        #expect(!fixture.tree.policies.isPending)
    }

    /// A removed directory gets no policy, although a program can hold the directory open and set attributes on it.
    @Test func aRemovedDirectoryGetsNone() {
        var fixture = TreeFixture()
        let directory = fixture.makeDirectory("Documents/d")
        fixture.unlink("Documents/d")
        fixture.tree.set(.policy(DirectoryPolicy(sizeLimit: .block)), of: directory)
        #expect(fixture.tree.policies.isEmpty && directory.policy == nil)
    }

    /// After the clock is set back, ages count by it again: the machine's clock may be a year ahead for a moment.
    @Test func theClockMayBeSetBack() {
        var fixture = TreeFixture()
        set(&fixture, "Library/Caches", after: 10)
        while fixture.tree.advance(to: seconds(1_000)) {}
        while fixture.tree.advance(to: seconds(5)) {}
        let file = fixture.make("Library/Caches/f", creation: 5)
        #expect(file.flags.policy == .under)
        while fixture.tree.advance(to: seconds(15)) {}
        #expect(file.flags.policy == .overAge)
    }

    /// An open file keeps use at the limit, so a file that is moved in stays until something triggers the policy again.
    @Test(arguments: ["alone", "in place of another", "with its folder", "exchanged"])
    func whatIsMovedIntoAFullDirectoryStays(way: String) {
        var fixture = TreeFixture()
        for path in ["Documents/d", "Documents/e"] { fixture.makeDirectory(path) }
        let open = fixture.make("Documents/d/open", blocks: 4, creation: 2)
        let other = fixture.make("Documents/d/other", blocks: 0)
        fixture.make("Documents/e/f", creation: 1)
        set(&fixture, "Documents/d", limit: 4)
        fixture.tree.open(open)
        fixture.tree.policies.check()
        expect(takeAll(&fixture), are: [])
        let file = fixture.node("Documents/e/f")
        for node in [file, other] { fixture.tree.hold(node) }
        switch way {
        case "alone": fixture.rename("Documents/e/f", "Documents/d/f")
        case "in place of another": fixture.rename("Documents/e/f", "Documents/d/other")
        case "with its folder": fixture.rename("Documents/e", "Documents/d/e")
        default: fixture.tree.exchange(fixture.dentry("Documents/e/f"), fixture.dentry("Documents/d/other"))
        }
        for node in [file, other] { _ = fixture.tree.unhold(node) }
        expect(takeAll(&fixture), are: [])
        // Closing the skipped file triggers the policy again, because use is still at the limit.
        _ = fixture.tree.close(open)
        expect(takeAll(&fixture), are: [file.path().text, "Documents/d/open"])
    }

    /// The policy looks again at a file that was being renamed when it looked first.
    @Test func whatIsRenamedWithinAFullDirectoryGoes() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f", blocks: 4)
        set(&fixture, "Documents", limit: 4)
        fixture.tree.hold(file)
        fixture.tree.policies.check()
        expect(takeAll(&fixture), are: [])
        fixture.rename("Documents/f", "Documents/g")
        _ = fixture.tree.unhold(file)
        expect(takeAll(&fixture), are: ["Documents/g"])
    }

    /// A new age or limit leaves the members of a policy as they are; only the files that are over it are determined anew.
    @Test func anotherPolicyOfTheSameDirectory() {
        var fixture = TreeFixture()
        let files = (1...4).map { fixture.make("Library/Caches/\($0)", creation: Int64($0)) }
        set(&fixture, "Library/Caches", after: 2, limit: 2)
        while fixture.tree.advance(to: seconds(4)) {}
        #expect(files.map(\.flags.policy) == [.overAge, .overAge, .overSize, .under])
        set(&fixture, "Library/Caches", after: 3, limit: 4)
        while fixture.tree.advance(to: seconds(4)) {}
        #expect(files.map(\.flags.policy) == [.overAge, .overSize, .under, .under])
        set(&fixture, "Library/Caches", limit: 9)
        #expect(files.map(\.flags.policy) == [.under, .under, .under, .under])
        #expect(fixture.tree.policies.all.map(\.blocks) == [4])
        fixture.tree.policies.check()
        expect(takeAll(&fixture), are: [])
    }
}
