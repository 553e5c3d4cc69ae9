import Foundation
import Support
import Testing

extension Mounts {
    /// purgefs as a service of systemd.
    @Suite struct ServiceTests {
        /// The manager gets the messages of sd_notify(3), READY=1 once the mount answers. A mount also works if they cannot be
        /// delivered (Programs/service_manager.py).
        @Test(arguments: ["path", "abstract", "signals", "missing", "full"])
        func notifiesItsManager(kind: String) throws {
            try Scratch.with("service") { scratch in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/service_manager.py"
                try Program.run([Program.python, program, PurgefsBinary.path, kind], in: scratch.path).succeeded()
            }
        }
    }
}
