import PurgeModel
import Testing

@testable import PurgeTree

extension TreeRun {
    mutating func setPolicy() {
        let folder = anyFolder()
        var policy = table.folders[folder]?.policy ?? PolicyTable()
        if random.chance(30) {
            (policy.after, policy.limit) = (nil, nil)
        } else {
            if random.chance(50) { policy.after = [nil, 0, 2, 10, 1_000][random.below(5)] }
            if !isInSteps, random.chance(70) { policy.limit = [nil, 0, 1, 4, 9][random.below(5)] }
        }
        // Each change to a policy resets its state.
        (policy.isOver, policy.isTriggered, policy.isExhausted, policy.checked) = (false, false, false, nil)
        let isSet = policy.after != nil || policy.limit != nil
        table.folders[folder]?.policy = isSet ? policy : nil
        let real = DirectoryPolicy(
            purgeAfter: policy.after.map { TimeSpan(seconds: $0) },
            sizeLimit: policy.limit.map { ByteCount(blocks: $0) })
        fixture.tree.set(.policy(isSet ? real : nil), of: fixture.node(folder))
        done.insert(isSet ? "policy" : "no policy")
    }

    mutating func advance() {
        table.time += Int64(random.below(4))
        // Advances in parts, as the volume does between other work.
        while fixture.tree.advance(to: seconds(table.time), limit: 2) {}
        done.insert("advance")
    }

    mutating func settle() { while fixture.tree.advance(to: seconds(table.time), limit: 2) {} }

    /// Makes a directory a group, lets it leave tombstones, or takes either back.
    mutating func setBehaviour() {
        let folder = anyFolder()
        let values: [Bool?] = [nil, false, true, true]
        var behaviour = PurgeBehaviour(
            isGroup: table.folders[folder]?.isGroup, leavesTombstones: table.folders[folder]?.leavesTombstones)
        let value = values[random.below(4)]
        if random.chance(60) { behaviour.isGroup = value } else { behaviour.leavesTombstones = value }
        fixture.tree.set(.behaviour(behaviour), of: fixture.node(folder))
        // A group starts over when its value changes.
        if table.folders[folder]?.isGroup != behaviour.isGroup { table.folders[folder]?.uses = [:] }
        table.folders[folder]?.isGroup = behaviour.isGroup
        table.folders[folder]?.leavesTombstones = behaviour.leavesTombstones
        done.insert("behaviour")
    }

    private func seconds(_ time: Int64) -> Instant { Instant(seconds: time, nanoseconds: 0) }

    /// Advances the clock, sometimes checks the policies, and then lets them take up to three victims.
    mutating func checkPolicies() {
        advance()
        if !isInSteps, random.chance(30) {
            fixture.tree.policies.check()
            table.checkPolicies()
            table.settlePolicies()
            done.insert("check")
        }
        for _ in 0..<random.below(4) {
            let victim = fixture.tree.policies.nextVictim()
            let expected = table.nextPolicyVictim
            #expect(victim?.node.path().text == expected?.path)
            #expect(victim?.breach.rawValue == expected?.breach)
            guard let victim, let expected, let key = table.file(at: expected.path) else { return }
            fixture.tree.choose(victim.node)
            table.files[key]?.isGoing = true
            table.settlePolicies()
            done.insert("by \(expected.breach)")
        }
    }

    /// Compares use and file count of each policy, and the files that are over it.
    mutating func checkIndexes() -> Bool {
        fixture.tree.policies.settle()
        let isPending = fixture.tree.policies.isPending
        #expect(isPending == (table.nextPolicyVictim != nil))
        while fixture.tree.advance(to: seconds(table.time), limit: 3) {}
        let known = table.folders.filter { $0.value.policy != nil }.keys.sorted()
        let found = fixture.tree.policies.all
        #expect(Set(found.map { $0.directory.path().text }) == Set(known))
        for index in found {
            let folder = index.directory.path().text
            #expect(index.blocks == table.used(folder), "\(folder)")
            #expect(index.files == Int64(table.members(of: folder).count), "\(folder)")
        }
        var breaches: [String: String] = [:]
        for (key, file) in table.files where file.paths.count == 1 {
            if let breach = nodes[key]?.flags.policy.breach { breaches[file.paths[0]] = breach.rawValue }
        }
        #expect(breaches == table.breaches)
        return breaches == table.breaches
    }
}
