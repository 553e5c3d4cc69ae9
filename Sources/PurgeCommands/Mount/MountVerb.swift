import Glibc
import PurgeCommandLine
import PurgeFUSE
import PurgeStore
import PurgeSystem

extension OptionSpec {
    static let foreground = OptionSpec("foreground", "serve the mount in this process, until it is unmounted")
    static let trace = OptionSpec(
        "trace", .optionalChoice("FAMILY", Trace.Family.allCases.map(\.rawValue)),
        "with --foreground: print a line for each request and event on standard error")
}

extension Verb {
    static let mount = Verb(
        name: "mount", summary: "mount a store as a container",
        synopsis: "[options] STORE MOUNTPOINT",
        description: [
            "Mounts STORE, a directory that holds one simulated app container, at MOUNTPOINT, an existing empty "
                + "directory, and returns when the mount is ready. A store that does not exist is created. A daemon "
                + "serves the mount until `purgefs unmount`.",
            "Settings given here replace the settings in the store, and are saved there.",
        ],
        options: OptionSpec.mounting + [OptionSpec.foreground, OptionSpec.trace] + OptionSpec.daemon,
        operands: 2...2,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(ExitStatus.failed),
            ExitStatus.signalLine("signal N ended purgefs before the mount was ready"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs mount --total 64G --others 40G ./app.store ./app"]
    ) { (invocation) throws(CommandFailure) in try MountVerb.run(invocation) }
}

private enum MountVerb {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        let arguments = invocation.arguments
        let (store, mountpoint) = (arguments.operands[0], arguments.operands[1])
        if arguments.has(.trace), !arguments.has(.foreground) { throw .usage("--trace needs --foreground") }
        let request = try arguments.mountRequest(store: store, mountpoint: mountpoint)
        // A daemon skips the checks, which its parent has just made.
        if arguments.has(.readyDescriptor) {
            try MountDaemon(request, arguments, invocation.serviceManager, expected: nil).serve()
            return ExitStatus.done
        }
        let outputs = arguments.daemonOutputs(trace: .traceOutput)
        var known: KnownDirectory?
        try StoppedDaemonWatch.with(over: [mountpoint, store] + outputs.map(\.path)) { () throws(CommandFailure) in
            known = try MountChecks.run(
                store: store, mountpoint: mountpoint, outputs: outputs, allowsOther: request.allowsOther)
        }
        if arguments.has(.foreground) {
            try withExtendedLifetime(known) { () throws(CommandFailure) in
                try MountDaemon(request, arguments, invocation.serviceManager, expected: ExpectedStore(known)).serve()
            }
            return ExitStatus.done
        }
        return try start(invocation, store: store, known, mountpoint: mountpoint)
    }

    private static func start(
        _ invocation: Invocation, store: String, _ known: KnownDirectory?, mountpoint: String
    ) throws(CommandFailure) -> Int32 {
        do throws(Errno) {
            _ = try System.block(.ending)
        } catch { throw CommandFailure("cannot mount", path: mountpoint, error) }
        let daemon = try DaemonProcess.start(
            programName: invocation.programName, options: invocation.arguments.mountingWords(), store: store,
            known: known, mountpoint: mountpoint)
        try daemon.endTogether(
            mountpoint: mountpoint, on: .ending, message: "purgefs: \(MountDaemon.interrupted)\n")
        guard let end = try daemon.waitUntilReady() else { return ExitStatus.done }
        guard let cause = DaemonProcess.signalInWords(of: end) else {
            let status = end.exitStatus
            throw CommandFailure(status: status == ExitStatus.done ? ExitStatus.failed : status, message: "")
        }
        throw CommandFailure(
            "cannot mount", path: mountpoint, cause, advice: "To see its messages, run purgefs mount --foreground.")
    }
}
