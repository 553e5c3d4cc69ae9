import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// No byte is lost when writes and stores through a shared mapping go into the same pages.
    @Suite struct SharedPageTests {
        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/shared_pages.py").path

        @Test(arguments: ["readwrite", "writeonly", "passed"])
        func nothingIsLost(writer: String) throws {
            try withMount { mount in
                let outcome = try Program.run(
                    [Program.python, Self.program, mount.path("Documents"), "\(Scale.of(40))", writer], timeout: 200)
                #expect(try outcome.succeeded() == "0\n")
            }
        }

        /// A write stores the bytes that fit, even through the page cache, and readers never see the rest.
        @Test(arguments: [O_RDWR, O_WRONLY, O_RDWR | System.openDirect]) func writeTakesWhatFits(access: Int32) throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 8192)
                try mount.turnThresholdsOff()
                try mount.takeAllFreeSpace()
                try mount.write("-1M", to: "storage.others")
                let file = try OpenFile(mount.path("Documents/f"), access)
                #expect(try file.write(3 << 20, at: 100) == (1 << 20) + 8192 - 100)
                #expect(throws: Errno.noSpace) { try file.write(4096, at: (1 << 20) + 8192) }
                #expect(try file.status().st_size == (1 << 20) + 8192)
                let content = try Files.content(mount.path("Documents/f"))
                #expect(content.count == (1 << 20) + 8192)
                #expect(content.allSatisfy { $0 == 0xA7 })
                #expect(try file.write([1, 2, 3], at: 4095) == 3)
                #expect(try OpenFile(mount.path("Documents/f"), O_RDONLY).read(3, at: 4095) == [1, 2, 3])
            }
        }
    }
}
