/// A member of an `IndexedHeap` that knows its own index.
protocol HeapMember {
    func goesBefore(_ other: Self) -> Bool
    /// Records the member's index. The heap calls it whenever it places the member, but not when it removes the member.
    func note(index: Int)
}

/// A binary heap from which any member can be removed, because each knows its index.
struct IndexedHeap<Member: HeapMember & Sendable>: Sendable {
    private(set) var members: [Member] = []

    var isEmpty: Bool { members.isEmpty }
    var first: Member? { members.first }

    mutating func insert(_ member: Member) {
        members.append(member)
        siftUp(members.count - 1, member)
    }

    mutating func remove(at index: Int) {
        let last = members.removeLast()
        if index < members.count { update(at: index, to: last) }
    }

    /// Replaces a member by another one, or by itself after a change.
    mutating func update(at index: Int, to member: Member) {
        if index > 0, member.goesBefore(members[(index - 1) / 2]) {
            siftUp(index, member)
        } else {
            siftDown(index, member)
        }
    }

    /// Restores the order among the members that satisfy `isAtTop`, which must be connected at the top of the heap.
    mutating func reorderTop(where isAtTop: (Member) -> Bool) {
        var found: [Int] = []
        var open = [0]
        while let at = open.popLast() {
            guard at < members.count, isAtTop(members[at]) else { continue }
            found.append(at)
            open += [2 * at + 1, 2 * at + 2]
        }
        guard found.count > 1 else { return }
        let ordered = found.map { members[$0] }.sorted { $0.goesBefore($1) }
        for (at, member) in zip(found.sorted(), ordered) { place(member, at: at) }
    }

    private mutating func place(_ member: Member, at index: Int) {
        members[index] = member
        member.note(index: index)
    }

    private mutating func siftUp(_ start: Int, _ member: Member) {
        var at = start
        while at > 0, member.goesBefore(members[(at - 1) / 2]) {
            place(members[(at - 1) / 2], at: at)
            at = (at - 1) / 2
        }
        place(member, at: at)
    }

    private mutating func siftDown(_ start: Int, _ member: Member) {
        var at = start
        while true {
            var child = 2 * at + 1
            guard child < members.count else { break }
            if child + 1 < members.count, members[child + 1].goesBefore(members[child]) { child += 1 }
            guard members[child].goesBefore(member) else { break }
            place(members[child], at: at)
            at = child
        }
        place(member, at: at)
    }
}
