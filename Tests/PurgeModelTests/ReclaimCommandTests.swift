import PurgeModel
import Testing

@Suite struct ReclaimCommandTests {
    @Test(
        arguments: [
            ("tmp", .temporary), ("caches", .caches), ("purgeable", .purgeable), ("all", .all),
            ("64K", .bytes(ByteCount(65536))), ("0", .bytes(.zero)), ("1", .bytes(ByteCount(1))),
        ] as [(String, ReclaimCommand)])
    func readsCommands(text: String, command: ReclaimCommand) {
        #expect(ReclaimCommand(text: text) == command)
    }

    @Test(arguments: ["", "Tmp", "temporary", "tmp ", "cache", "marked", "all\n", "-1", "+1", "1%", "*"])
    func refusesTheRest(text: String) {
        #expect(ReclaimCommand(text: text) == nil)
    }

    @Test(
        arguments: [
            (.temporary, .step(.temporary)), (.caches, .step(.caches)), (.purgeable, .step(.marked)), (.all, .all),
            (.bytes(ByteCount(5)), .bytes(ByteCount(5))),
        ] as [(ReclaimCommand, PurgeGoal)])
    func says(command: ReclaimCommand, goal: PurgeGoal) {
        #expect(command.goal == goal)
    }

    @Test func onlyASizeLeavesEmptyFilesAlone() {
        let commands: [ReclaimCommand] = [.temporary, .caches, .purgeable, .all, .bytes(ByteCount(4096))]
        #expect(commands.map(\.takesEmptyFiles) == [true, true, true, true, false])
    }
}
