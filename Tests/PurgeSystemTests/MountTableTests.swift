import Testing

@testable import PurgeSystem

struct MountTableTests {
    private static let table = """
        27 1 254:0 / / rw,relatime - ext4 /dev/root rw
        40 27 0:37 / /mnt/a\\040b rw,nosuid shared:7 - fuse.purgefs /data/st\\134re rw,user_id=1000,group_id=1000
        41 27 0:37 /Documents /mnt/part rw - fuse.purgefs /data/s rw,user_id=0,group_id=0
        42 27 0:38 / /mnt/other rw - fuse.bindfs /x rw,user_id=0
        not a line
        """

    @Test func findsContainers() {
        let entries = MountEntry.parse(Array(Self.table.utf8))
        #expect(entries.map(\.mountpoint) == ["/", "/mnt/a b", "/mnt/part", "/mnt/other"])
        #expect(entries.map(\.isContainer) == [false, true, false, false])
        #expect(entries[1].source == "/data/st\\re")
        #expect(entries[1].owner == 1000 && entries[0].owner == nil)
        #expect(entries.map(\.connection) == [nil, 37, 37, 38])
    }
}
