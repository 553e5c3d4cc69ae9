import Glibc
import PurgeCommands

exit(Program.runCommandLine())
