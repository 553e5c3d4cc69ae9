import PurgeSystem
import Testing

@testable import PurgeCommands
@testable import PurgeContainers

/// Which path contains which, according to the table of mounts alone.
struct SurroundingsTests {
    /// Bind mounts of a store, of its container and of a folder in the container; a mounted container, a bind mount of a folder
    /// in it, and another file system on a folder in it; and a mount that hides another.
    private static let surroundings = Surroundings(
        mounts: MountEntry.parse(
            Array(
                """
                27 1 254:0 / / rw - ext4 /dev/root rw
                28 27 254:1 / /srv rw - ext4 /dev/srv rw
                40 27 254:1 /apps/store /mnt/store rw - ext4 /dev/srv rw
                41 27 254:1 /apps/store/container /mnt/container rw - ext4 /dev/srv rw
                42 27 254:1 /apps/store/container/Documents /mnt/a\\040b rw - ext4 /dev/srv rw
                43 28 0:37 / /srv/app rw - fuse.purgefs /srv/apps/store rw,user_id=0
                44 27 0:37 /tmp /mnt/part rw - fuse.purgefs /srv/apps/store rw,user_id=0
                45 27 254:1 /apps /mnt/hidden/apps rw - ext4 /dev/srv rw
                46 27 0:40 / /mnt/hidden rw - tmpfs none rw
                47 43 0:41 / /srv/app/tmp/disk rw - tmpfs none rw
                """.utf8)))
    private static func isStore(_ path: String) -> Bool {
        ["/srv/apps/store", "/mnt/store"].contains(path)
    }

    @Test(arguments: [
        ("/srv/apps", nil), ("/srv/apps/store", "/srv/apps/store"),
        ("/srv/apps/store/container/tmp", "/srv/apps/store"),
        ("/srv/apps/store2/container", nil), ("/mnt/store", "/srv/apps/store"),
        ("/mnt/container/Documents/new", "/srv/apps/store"), ("/mnt/a b/c", "/srv/apps/store"), ("/mnt/a", nil),
        ("/mnt/hidden/apps/store", nil), ("/", nil),
    ])
    func storesByEveryName(path: String, store: String?) {
        #expect(Self.surroundings.store(holding: path, isStore: Self.isStore) == store)
    }

    /// A store is not inside itself, under any name.
    @Test(arguments: [
        ("/srv/apps/store", nil), ("/mnt/store", nil), ("/srv/apps/store/container", "/srv/apps/store"),
        ("/mnt/container", "/srv/apps/store"), ("/mnt/a b", "/srv/apps/store"), ("/", nil),
    ])
    func storesAbove(path: String, store: String?) {
        #expect(Self.surroundings.store(above: path, isStore: Self.isStore) == store)
    }

    @Test(arguments: [
        ("/srv/app", "/srv/app"), ("/srv/app/Documents", "/srv/app"), ("/srv/apple", nil), ("/mnt/part/x", "/mnt/part"),
        ("/srv/app/tmp/disk/x", "/srv/app"), ("/mnt", nil),
    ])
    func containers(path: String, mountpoint: String?) {
        #expect(Self.surroundings.container(holding: path)?.mountpoint == mountpoint)
    }

    @Test(arguments: [
        ("/mnt/container/x", "/srv/apps/store/container", true),
        ("/srv/apps/store/container/x", "/mnt/container", true),
        ("/mnt/container", "/mnt/store", true), ("/srv/app", "/srv/apps", false),
        ("/srv/apps", "/srv/apps/store", false),
        ("/anything", "/", true),
    ])
    func nesting(path: String, directory: String, lies: Bool) {
        #expect(Self.surroundings.lies(path, in: directory) == lies)
    }

    /// Without /proc there is no table, so the paths alone decide.
    @Test func withoutATable() {
        let bare = Surroundings(mounts: [])
        #expect(bare.store(holding: "/srv/apps/store/container", isStore: Self.isStore) == "/srv/apps/store")
        #expect(bare.store(above: "/srv/apps/store", isStore: Self.isStore) == nil)
        #expect(bare.container(holding: "/srv/app") == nil)
        #expect(bare.lies("/a/b", in: "/a"))
    }
}
