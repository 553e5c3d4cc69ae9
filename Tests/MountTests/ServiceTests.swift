import Foundation
import Support
import Testing

extension Mounts {
    /// purgefs as a service of systemd.
    @Suite struct ServiceTests {
        /// The messages of sd_notify(3) arrive, READY=1 when the mount answers, and a mount does not depend on them
        /// (Programs/service_manager.py).
        @Test(arguments: ["path", "abstract", "signals", "missing", "full"])
        func notifiesItsManager(kind: String) throws {
            try Scratch.with("service") { scratch in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/service_manager.py"
                try Program.run([Program.python, program, PurgefsBinary.path, kind], in: scratch.path).succeeded()
            }
        }
    }
}
