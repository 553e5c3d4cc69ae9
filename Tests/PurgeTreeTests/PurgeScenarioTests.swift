import PurgeModel
import Support
import Testing

@testable import PurgeTree

/// The golden scenarios on a tree without a volume. Mounts run the same scenarios.
struct PurgeScenarioTests {
    /// The time of the purge.
    private static let now: Int64 = 1_000_000_000

    @Test(arguments: PurgeScenario.documented + PurgeScenario.device) func takes(scenario: PurgeScenario) throws {
        var run = try Run(scenario)
        let gone = try run.gone(scenario)
        #expect(scenario.comparable(gone) == scenario.comparable(scenario.gone))
    }

    private struct Run: ~Copyable {
        private var fixture = TreeFixture()

        init(_ scenario: PurgeScenario) throws {
            var settings = SettingsChange()
            settings.profile = Profile(rawValue: scenario.profile)
            try fixture.tree.accounts.change { device in
                try device.take(settings)
                device.app = scenario.isRunning ? .foreground : .terminated
                device.use = AppUse(nanoseconds: scenario.leftForeground.map { (now - $0) * 1_000_000_000 })
                _ = device.proceed(to: Instant(seconds: now, nanoseconds: 0))
            }
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

        mutating func gone(_ scenario: PurgeScenario) throws -> [PurgeScenario.Gone] {
            switch scenario.demand {
            case .room(let blocks): return plan(.bytes(ByteCount(blocks: blocks)))
            case .tmp: return plan(.step(.temporary))
            case .caches: return plan(.step(.caches))
            case .purgeable: return plan(.step(.marked))
            case .all: return plan(.all)
            case .level(let level, let short): return try reach(level, short)
            case .refused(let blocks): return try refuse(blocks)
            case .taken(let blocks):
                try fill()
                return try apply(.others(.by(ByteCount(blocks: blocks))), .capacity)
            case .day: return overAge()
            case .reboot:
                let now = Instant(seconds: now, nanoseconds: 0)
                let effects = try fixture.tree.accounts.change { try $0.apply(.reboot, as: "", by: 0, at: now) }
                #expect(!effects.contains(.work(.reboot)))
                return []
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

        /// Changes the device, and returns the files that a purge for this trigger then takes.
        private mutating func apply(_ change: DeviceChange, _ trigger: PurgeTrigger) throws -> [PurgeScenario.Gone] {
            let now = Instant(seconds: now, nanoseconds: 0)
            return try fixture.tree.accounts.change { device in
                _ = try device.apply(change, as: "", by: 0, at: now)
                return device.goal(for: trigger)
            }.map { plan($0, trigger) } ?? []
        }

        private mutating func reach(_ level: PurgeScenario.Level, _ short: Int64) throws -> [PurgeScenario.Gone] {
            let text = level.thresholds(free: fixture.tree.device.capacity.free.wholeBlocks, short: short)
            return try apply(.thresholds(try #require(ThresholdChange(text: text))), .pressure)
        }

        private mutating func refuse(_ blocks: Int64) throws -> [PurgeScenario.Gone] {
            try fill()
            return fixture.tree.accounts.change { device in
                device.reclaiming.noteRefused(ByteCount(blocks: blocks), takesPart: false, on: device)
                _ = device.judgePressure()
                return device.goal(for: .pressure)
            }.map { plan($0, .pressure) } ?? []
        }

        /// Takes all free space, and switches the thresholds off.
        private mutating func fill() throws {
            _ = try apply(.thresholds(try #require(ThresholdChange(text: "off"))), .capacity)
            let free = fixture.tree.device.capacity.free
            _ = try apply(.total(.by(.zero - free)), .capacity)
        }

        /// Returns the files that the daily removal takes, by path; their order does not matter.
        private func overAge() -> [PurgeScenario.Gone] {
            let now = Instant(seconds: now, nanoseconds: 0)
            var pending = [fixture.node("tmp")]
            var paths: [String] = []
            while let node = pending.popLast() {
                pending += node.entries.values
                if node.isRegular, PurgeRule.isOver(node.purgeFacts, lastUse: node.lastUse, at: now) {
                    paths.append(node.path().text)
                }
            }
            return paths.sorted().map { PurgeScenario.Gone($0, "temporary") }
        }

        private mutating func plan(_ goal: PurgeGoal, _ trigger: PurgeTrigger = .command) -> [PurgeScenario.Gone] {
            let device = fixture.tree.device
            if let folder = goal.folder(in: device.profile) { return takeWhole(folder).gone }
            let order = device.order(for: goal, trigger)
            var share = OthersShare(percent: device.othersShare)
            var (rest, left, all) = (Optional(goal), device.othersPurgeable, [PurgeScenario.Gone]())
            while let goal = rest {
                let plan = PurgePlan<Node>(
                    goal, in: order, othersPurgeable: left, share: share,
                    nextFolder: { fixture.tree.nextFolder(in: order) }
                ) { step in fixture.tree.popVictim(step: step, in: order) }
                let victims = plan.victims.map { gone($0.file, $0.reason) }
                all += others(plan.fromOthers) + victims + others(plan.restOfOthers)
                guard let folder = plan.folder else { break }
                let (files, bytes) = takeWhole(folder)
                all += files.filter { file in !victims.contains { $0.path == file.path } }
                left -= plan.allFromOthers
                share = OthersShare(percent: device.othersShare, leftToFiles: max(.zero, plan.leftToFiles - bytes))
                rest = goal.rest(after: plan.freed + bytes)
            }
            return all
        }

        /// Takes everything in a folder. Returns it with the bytes that this frees.
        private mutating func takeWhole(_ folder: WholeFolder) -> (gone: [PurgeScenario.Gone], bytes: ByteCount) {
            var pending = [(fixture.node(folder.path), folder.path)]
            var (gone, bytes): ([PurgeScenario.Gone], ByteCount) = ([], .zero)
            while let (node, path) = pending.popLast() {
                pending += node.entries.map { ($0.value, "\(path)/\($0.key.text)") }
                if node.isDirectory { continue }
                gone.append(PurgeScenario.Gone(path, folder.reason.rawValue))
                guard node.verdict(for: .room).rank != nil else { continue }
                bytes += node.charged
                fixture.tree.choose(node)
            }
            return (gone, bytes)
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
