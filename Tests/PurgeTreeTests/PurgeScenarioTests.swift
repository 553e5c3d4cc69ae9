import PurgeModel
import Support
import Testing

@testable import PurgeTree

/// The golden scenarios on a tree without a volume. The same ones are done on mounts.
struct PurgeScenarioTests {
    /// When the purge is.
    private static let now: Int64 = 1_000_000_000

    @Test(arguments: PurgeScenario.documented) func takes(scenario: PurgeScenario) {
        var run = Run(scenario)
        let gone = run.gone(scenario)
        #expect(gone == scenario.gone)
    }

    private struct Run: ~Copyable {
        private var fixture = TreeFixture()

        init(_ scenario: PurgeScenario) {
            for path in ["Library/Application Support", "Library/Preferences"] + scenario.directories {
                fixture.makeDirectory(path)
            }
            for folder in scenario.folders {
                if let mark = folder.mark { fixture.mark(folder.path, mark) }
                let behaviour = PurgeBehaviour(isGroup: folder.isGroup, leavesTombstones: folder.leavesTombstones)
                fixture.tree.set(.behaviour(behaviour), of: fixture.node(folder.path))
                guard folder.after != nil || folder.limit != nil else { continue }
                let policy = DirectoryPolicy(
                    purgeAfter: folder.after.map { TimeSpan(seconds: $0) },
                    sizeLimit: folder.limit.map { ByteCount(blocks: $0) })
                fixture.tree.set(.policy(policy), of: fixture.node(folder.path))
            }
            for file in scenario.files { make(file) }
            fixture.tree.accounts.change { device in
                (device.others, device.othersPurgeable) = (ByteCount(blocks: 100), ByteCount(blocks: scenario.others))
                device.othersShare = Int(scenario.share)
            }
            while fixture.tree.advance(to: Instant(seconds: now, nanoseconds: 0), limit: 2) {}
        }

        private mutating func make(_ file: PurgeScenario.File) {
            let node = fixture.make(
                file.path, blocks: file.blocks, lastUse: (now - file.used) * 1_000_000_000, creation: now - file.created
            )
            if let mark = file.mark { fixture.mark(file.path, mark) }
            if let link = file.link { fixture.link(file.path, link) }
            if file.isOpen { fixture.tree.open(node) }
        }

        mutating func gone(_ scenario: PurgeScenario) -> [PurgeScenario.Gone] {
            switch scenario.demand {
            case .room(let blocks): return plan(.bytes(ByteCount(blocks: blocks)))
            case .tmp: return plan(.step(.temporary))
            case .caches: return plan(.step(.caches))
            case .purgeable: return plan(.step(.marked))
            case .all: return plan(.all)
            case .launch:
                fixture.tree.policies.check()
                return takeByPolicy()
            case .write(let path, let blocks):
                let node = fixture.make(path, blocks: 0, creation: now)
                fixture.tree.open(node)
                fixture.tree.charge(node, 0..<blocks)
                return takeByPolicy()
            }
        }

        private mutating func plan(_ goal: PurgeGoal) -> [PurgeScenario.Gone] {
            let device = fixture.tree.device
            let plan = PurgePlan<Node>(
                goal: goal, othersPurgeable: device.othersPurgeable, share: OthersShare(percent: device.othersShare)
            ) { step in fixture.tree.popVictim(step: step) }
            let files = plan.items.map { gone($0.id, $0.reason) }
            return others(plan.fromOthers) + files + others(plan.restOfOthers)
        }

        private func others(_ bytes: ByteCount) -> [PurgeScenario.Gone] {
            bytes > .zero ? [PurgeScenario.Gone(nil, "others")] : []
        }

        private func gone(_ node: Node, _ reason: PurgeReason) -> PurgeScenario.Gone {
            PurgeScenario.Gone(node.path().text, reason.rawValue, isEmptied: node.standing.leavesTombstone)
        }

        private mutating func takeByPolicy() -> [PurgeScenario.Gone] {
            var gone: [PurgeScenario.Gone] = []
            while let victim = fixture.tree.policies.nextVictim() {
                gone.append(self.gone(victim.node, victim.breach.reason))
                fixture.tree.choose(victim.node)
            }
            fixture.tree.policies.settle()
            let isPending = fixture.tree.policies.isPending
            #expect(!isPending)
            return gone
        }
    }
}
