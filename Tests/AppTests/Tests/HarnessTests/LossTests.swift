import ContainerTesting
import Foundation
import Testing

/// A container that goes away during a test is a failure of the test, even if nothing was asked of it afterwards.
@Suite struct LossTests {
    @Test(arguments: 0..<10) func daemonKilled(number: Int) throws {
        let error = #expect(throws: ContainerError.self) {
            try withContainer(total: "64M") { container in try killDaemon(of: container, isGone: number % 2 == 0) }
        }
        switch error {
        case .lost: break
        case .endedBadly(125, let said): #expect(said.contains("the container is gone"))
        default: #expect(error == nil)
        }
    }

    /// A `purgefs run` whose status says nothing.
    @Test func daemonKilledAndNoStatus() async throws {
        let folder = try Folder()
        let path = folder.path
        try "#!/bin/sh\n\"$REAL_PURGEFS\" \"$@\" 2>/dev/null\nexit 0\n".write(
            toFile: path + "/purgefs", atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + "/purgefs")
        await #expect(processExitsWith: .success) { [path = path as String] in
            setenv("REAL_PURGEFS", ProcessInfo.processInfo.environment["PURGEFS"] ?? "purgefs", 1)
            setenv("PURGEFS", path + "/purgefs", 1)
            try withContainer { _ in }
            let error = #expect(throws: ContainerError.self) {
                try withContainer { container in try killDaemon(of: container, isGone: true) }
            }
            guard case .lost(let place, "") = error else { return #expect(error == nil) }
            #expect(error?.description.contains("its daemon was killed or it was unmounted: \(place)") == true)
        }
    }

    @Test func unmounted() throws {
        #expect(throws: ContainerError.self) {
            try withContainer { container in
                _ = try container.run([container.binary, "unmount", "--force", container.path])
            }
        }
    }
}

/// Kills it, and waits until that is seen.
private func killDaemon(of container: Container, isGone: Bool) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
    for name in names {
        let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
        let words = String(decoding: data, as: UTF8.self).split(separator: "\0")
        if words.contains("--foreground"), words.last == container.path[...] { kill(pid_t(name) ?? 0, SIGKILL) }
    }
    while isGone, (try? container.status) != nil { usleep(1000) }
}
