import Foundation
import Support
import Testing

extension Mounts {
    /// purgefs as a service of systemd.
    @Suite struct ServiceTests {
        /// Programs/service_manager.py: the messages of sd_notify(3) arrive, and READY=1 when the mount answers; a mount
        /// does not depend on them.
        @Test(arguments: ["path", "abstract", "missing", "full"]) func notifiesItsManager(kind: String) throws {
            try Scratch.with("service") { scratch in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/service_manager.py"
                try Program.run([Program.python, program, PurgefsBinary.path, kind], in: scratch.path).succeeded()
            }
        }
    }
}
