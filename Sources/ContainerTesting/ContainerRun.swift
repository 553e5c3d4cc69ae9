import Foundation
import Synchronization

/// The `purgefs run` process that serves a container. It ends when the pipe to it is closed, and so also when the process of
/// the tests is killed.
final class ContainerRun: Sendable {
    /// Writes the path of the container, and exits when it reads a line. End of input without a line means that nobody called
    /// `end`, because the last reference is gone or the process of the tests has ended. The script then also kills the
    /// processes that the tests started in the container.
    private static let script = #"""
        printf '%s\0' "$PURGEFS_MOUNT"
        read -r end && exit
        # One that is killed may just have started another.
        for round in 1 2 3 4 5 6 7 8 9; do
            found=
            for file in $(grep -lszxF "PURGEFS_MOUNT=$PURGEFS_MOUNT" /proc/[0-9]*/environ); do
                file=${file#/proc/}
                [ "${file%/environ}" = $$ ] || ! kill -s KILL "${file%/environ}" || found=yes
            done 2>/dev/null
            [ "$found" ] || exit
        done
        """#
    /// The time limits for mounting, and for each step of ending the run.
    private static let patience = Duration.seconds(60)
    private static let endPatience = Duration.seconds(20)

    let path: String
    private let child: Child
    private let hold: Descriptor
    /// The messages of purgefs.
    private let messages: Descriptor
    private let isOver = Mutex(false)

    init(binary: String, options: [String]) throws {
        let input = try Descriptor.pipe()
        let output = try Descriptor.pipe()
        let messages = try Descriptor.anonymousFile()
        self.messages = messages
        hold = input.write
        do {
            child = try Child(
                [binary, "run", "--quiet", "--signals", "off"] + options + ["--", "sh", "-c", Self.script],
                environment: ProcessInfo.processInfo.environment, files: [input.read, output.write, messages])
        } catch ContainerError.cannotRun(_, let reason) { throw ContainerError.noProgram(binary, reason) }
        input.read.close()
        output.write.close()
        guard let path = Self.path(from: output.read) else {
            hold.close()
            let status = Self.finish(child)
            let said = messages.text()
            throw ContainerError.noContainer(said.isEmpty ? "purgefs run has ended with \(status)" : said)
        }
        self.path = path
    }

    deinit {
        hold.close()
        // Another thread waits for the child, because ending takes as long as unmounting.
        if !isOver.withLock({ $0 }) { DispatchQueue.global().async { [child] in _ = Self.finish(child) } }
    }

    /// Ends the container, and waits until it is unmounted and its temporary store is removed. A second call does nothing.
    ///
    /// Throws `endedBadly`, `lost` or `stillInUse`.
    func end(isAnswering: Bool) throws {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return }
        let isThere = isAnswering ? isThere : nil
        hold.send("end\n")
        hold.close()
        child.signal(SIGCONT)  // in case it was stopped
        let status = Self.finish(child)
        let said = said
        messages.close()
        if status != 0 { throw ContainerError.endedBadly(status, said) }
        if isThere == false { throw ContainerError.lost(path, said) }
        // Other messages are no errors here: a test may want, for example, that others leave no room.
        if said.contains("still in use") { throw ContainerError.stillInUse(said) }
    }

    var hasEnded: Bool { isOver.withLock { $0 } }

    var said: String { messages.text() }

    /// Performs a call into the mount on another thread, because such a call does not return while the daemon is stopped.
    /// Returns nil if the daemon does not answer, or if the call takes more than about a minute.
    func asking<R: Sendable>(_ work: @escaping @Sendable () -> R) -> R? {
        let deadline = ContinuousClock.now + .seconds(60)
        return Threads.run(within: .seconds(1), while: { ContinuousClock.now < deadline && isThere != nil }, work)
    }

    /// Performs a call into the mount on another thread. Throws `silent` if `asking` returns nil.
    func asked<R: Sendable>(_ work: @escaping @Sendable () throws -> R) throws -> R {
        guard let answer = asking({ Result(catching: work) }) else { throw ContainerError.silent(path) }
        return try answer.get()
    }

    /// The error of a call that finds the container gone.
    var loss: ContainerError { .lost(path, said) }

    /// Whether the container is still mounted. False if its daemon was killed or somebody unmounted it; nil if the daemon does
    /// not answer within five seconds.
    var isThere: Bool? {
        Threads.run(within: .seconds(5)) { [path] in
            let status = try? Descriptor.open(path + "/.purgefs/status.json", O_RDONLY).content()
            return status?.isEmpty == false
        }
    }

    private static func finish(_ child: Child) -> Int32 {
        for number in [SIGTERM, SIGKILL] {
            if let status = child.wait(endPatience) { return status }
            child.signal(number)
        }
        return child.wait(endPatience) ?? -1
    }

    /// Reads the path up to the terminating zero. Returns nil if the output ends without a zero, or if the time runs out.
    private static func path(from pipe: Descriptor) -> String? {
        let deadline = ContinuousClock.now + patience
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        return pipe.with { number in
            while true {
                var ready = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                let left = (deadline - .now) / .milliseconds(1)
                guard left > 0 else { return nil }
                let count = poll(&ready, 1, Int32(left)) > 0 ? read(number, &buffer, buffer.count) : -1
                if count == 0 { return nil }
                if count < 0 { continue }
                bytes += buffer[..<count]
                if bytes.last == 0 { return String(decoding: bytes.dropLast(), as: UTF8.self) }
            }
        }
    }
}
