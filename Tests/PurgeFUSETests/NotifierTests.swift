import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeFUSE
@testable import PurgeVolume

struct NotifierTests {
    /// Eight threads announce at once, as workers, the reclaimer and commands do. Each announcement has up to three names, none
    /// of which can be reached here.
    @Test func announcementsFromManyThreadsAreEachAnsweredAfterTheirOwnNames() throws {
        let notifier = Notifier(mount: OwnMount(path: "/nonexistent/mount"))
        try notifier.start()
        let (threads, each) = (8, 400)
        let told = Mutex<Set<Int>>([])
        let (early, answers) = (Tally(), Tally())
        let announcers = try (0..<threads).map { thread in
            try WorkThread(name: "announcer") {
                for number in 0..<each {
                    let id = thread * each + number
                    notifier.announce(
                        Announcement(
                            removals: Self.removals(id % 4), whereabouts: { _ in nil },
                            told: { _ = told.withLock { $0.insert(id) } },
                            answer: { isLate in
                                if !isLate, !told.withLock({ $0.contains(id) }) { early.add() }
                                answers.add()
                            }))
                }
            }
        }
        for announcer in announcers { announcer.join() }
        notifier.end()
        #expect(answers.value == threads * each)
        #expect(told.withLock { $0.count } == threads * each)
        #expect(early.value == 0)
    }

    private static func removals(_ count: Int) -> [Removal] {
        let directory = Node(inode: 1, kind: .directory, name: Name(""))
        return (0..<count).map { number in
            let name = Name("f\(number)")
            let node = Node(inode: UInt64(number + 2), kind: .regular, name: name)
            var removal = Removal(directory: directory, node: node, path: [name])
            removal.concernsKernel = true
            return removal
        }
    }
}
