import CSystemShims
import Glibc

/// Bytes with a zero at their end. Arguments and environment are handed on as they came, UTF-8 or not.
public typealias RawText = [CChar]

// Processes.
extension System {
    /// This process's environment, each entry `NAME=VALUE`.
    public static func environment() -> [RawText] {
        var entries: [RawText] = []
        guard var next = shim_environment() else { return entries }
        while let entry = next.pointee {
            entries.append(rawText(entry))
            next += 1
        }
        return entries
    }

    /// This process's command line, its own name first.
    public static func arguments() -> [RawText] {
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = shim_arguments(&words)
        guard let words else { return [] }
        return (0..<Int(count)).compactMap { words[$0].map { rawText($0) } }
    }

    /// A copy of a C string.
    public static func rawText(_ text: CName) -> RawText {
        Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
    }

    /// Starts a program, which is looked up in PATH unless its name has a slash, with the signal mask
    /// `mask` and everything else inherited from this process. Returns the pid.
    public static func spawn(
        _ arguments: [RawText], environment: [RawText], mask: SignalSet, directory: String? = nil
    ) throws(Errno) -> pid_t {
        guard let name = arguments.first else { throw .invalid }
        return try start(arguments, environment) { shim_spawn_command(name, $0, $1, mask.rawValue, directory) }
    }

    private typealias Pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private static func start(
        _ arguments: [RawText], _ environment: [RawText], _ call: (Pointers, Pointers) -> Int32
    ) throws(Errno) -> pid_t {
        try withPointers(arguments) { (arguments) throws(Errno) in
            try withPointers(environment) { (environment) throws(Errno) in
                try SystemCall.run(.posixSpawn) { call(arguments, environment) }
            }
        }
    }

    /// The number under which a detached process finds what was passed to it.
    public static let passedDescriptor: Int32 = 3

    /// Starts a program in a session of its own, with signals at their defaults, and with no descriptors
    /// but the standard ones (which are /dev/null, except for standard error with `keepsMessages`) and
    /// `passing`. Returns the pid.
    public static func spawnDetached(
        _ path: String, _ arguments: [String], passing: Int32? = nil, keepsMessages: Bool = true
    ) throws(Errno) -> pid_t {
        try start(arguments.map { Array($0.utf8CString) }, environment()) {
            shim_spawn_detached(path, $0, $1, passing ?? -1, keepsMessages ? 1 : 0)
        }
    }

    /// Makes a copy of this process, in the state in which `spawnDetached` starts a program. In /proc and ps `words`
    /// are its command line, with blanks between them. Returns its pid. The copy runs `body` and exits with its status: the
    /// objects of its original that hold descriptors are there, but the descriptors are closed. Returns nil if this process
    /// cannot be copied because it has several threads, or the memory of its own command line and its environment has no
    /// room for `words`.
    ///
    /// A new thread calls fork(2) before it runs anything else, and is the only one of the copy. Swift 6.3 keeps the number of
    /// each thread that has taken a Mutex, or has made a global; the copy of a thread has another number, and the kernel lets
    /// only the owner unlock what another thread waits for. The copy of a thread that has run before spins for ever then.
    public static func forkDetached(
        showing words: [String], passing: Int32, _ body: @escaping () -> Int32
    ) throws(Errno) -> pid_t? {
        let text = words.joined(separator: " ")
        let length = text.utf8.count
        guard shim_may_fork_as(length) == 1 else { return nil }
        var copied = body
        return try SystemCall.run(.fork) {
            withUnsafeMutablePointer(to: &copied) { body in
                shim_fork_detached(
                    passing, text, length, { exit($0?.assumingMemoryBound(to: (() -> Int32).self).pointee() ?? 125) },
                    body)
            }
        }
    }

    /// Starts a program in a process group of its own, with signals at their defaults, nothing to read on standard input,
    /// and its output on standard error. Returns the pid, which is also the number of the group.
    public static func spawnGroup(
        _ path: String, _ arguments: [RawText], environment: [RawText]
    ) throws(Errno) -> pid_t {
        try start(arguments, environment) { shim_spawn_group(path, $0, $1) }
    }

    /// How a child ended; without `blocking`, nil if it has not ended.
    public static func wait(for pid: pid_t, blocking: Bool) throws(Errno) -> ProcessEnd? {
        var status: Int32 = 0
        let found = try SystemCall.run(.waitpid) { shim_wait(pid, blocking ? 0 : WNOHANG, &status) }
        return found == 0 ? nil : ProcessEnd(status: status)
    }

    /// Waits, `milliseconds` at most, until a process has ended, whoever its parent is. Returns whether it has.
    public static func waitForEnd(of pid: pid_t, milliseconds: Int32) throws(Errno) -> Bool {
        do throws(Errno) {
            let process = FileDescriptor(adopting: try SystemCall.run(.pidfdOpen) { shim_pidfd_open(pid) })
            return try waitReadable(process.raw, milliseconds: milliseconds)
        } catch .noSuchProcess { return true }
    }

    /// A child that has ended and has not been waited for yet; nil if there is none.
    public static func endedChild() throws(Errno) -> pid_t? {
        let pid = try SystemCall.run(.waitid) { shim_ended_child() }
        return pid == 0 ? nil : pid
    }

    /// Signal 0 only checks whether the process exists. A negative number means all processes of that group.
    public static func signal(_ pid: pid_t, _ number: Int32) throws(Errno) {
        try SystemCall.done(.kill) { shim_kill(pid, number) }
    }

    /// argv or envp: pointers to copies of `texts`, followed by nil.
    public static func withPointers<Result, Failure: Error>(
        _ texts: [RawText], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
        for (index, text) in texts.enumerated() { pointers[index] = strdup(text) }
        pointers[texts.count] = nil
        defer {
            for index in texts.indices { free(pointers[index]) }
            pointers.deallocate()
        }
        return try body(pointers)
    }
}

// Signals, of the calling thread.
extension System {
    /// Returns what was blocked before.
    public static func block(_ signals: SignalSet) throws(Errno) -> SignalSet {
        var old: UInt64 = 0
        try SystemCall.done(.sigprocmask) { shim_block_signals(signals.rawValue, &old) }
        return SignalSet(rawValue: old)
    }
    public static func unblock(_ signals: SignalSet) throws(Errno) {
        let blocked = try block(SignalSet())
        try setMask(blocked.subtracting(signals))
    }
    /// A signal that tells this process to end, if one is blocked and waits to be fetched. Work that may take long asks
    /// for it from time to time, and gives up.
    public static func endSignal() -> Int32? {
        let number = shim_pending_signal(SignalSet.ending.rawValue)
        return number > 0 ? number : nil
    }
    /// From now on each of `signals`, unless it is ignored, first ends the child `pid`, says `message`, and then ends
    /// this process with 128+N. A child that does not end is killed, and a dead mount that it leaves at `mountpoint` is
    /// removed. They are no longer blocked when this returns.
    public static func end(
        with pid: pid_t, mountpoint: String, on signals: SignalSet, message: String
    ) throws(Errno) {
        try SystemCall.done(.sigaction) { shim_end_with_child(signals.rawValue, pid, mountpoint, message) }
    }
    public static func setMask(_ signals: SignalSet) throws(Errno) {
        try SystemCall.done(.sigprocmask) { shim_set_mask(signals.rawValue) }
    }
    public static func setDefaultAction(of signal: Int32) throws(Errno) {
        try SystemCall.done(.sigaction) { shim_default_signal(signal) }
    }
    public static func ignore(_ signal: Int32) throws(Errno) {
        try SystemCall.done(.sigaction) { shim_ignore_signal(signal) }
    }
    /// The next of `signals`, which are blocked; nil if none arrived in time.
    public static func nextSignal(of signals: SignalSet, milliseconds: Int32) throws(Errno) -> ReceivedSignal? {
        var byKernel: Int32 = 0
        let number = try SystemCall.wait(.sigtimedwait, milliseconds: milliseconds) { left in
            shim_wait_signal(signals.rawValue, left, &byKernel)
        }
        return number == 0 ? nil : ReceivedSignal(number: number, isFromKernel: byKernel != 0)
    }
}

extension System {
    /// From now on a crash of this process (a trap, SIGSEGV, SIGBUS) is reported on standard error and in a file at
    /// `path`, which is made only then and belongs to `owner`. To be called before any thread is started.
    public static func leaveLastWords(at path: String, owner: uid_t) throws(Errno) {
        try SystemCall.done(.sigaction) { shim_leave_last_words(path, owner) }
    }
}

// Descriptors between processes.
extension System {
    /// An empty file in memory; its name only shows in /proc, as `/memfd:NAME (deleted)`.
    public static func makeMemoryFile(_ name: String) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try SystemCall.run(.memfdCreate) { shim_memory_file(name) })
    }
    /// Two ends of one connection, both closed on exec.
    public static func makeConnection() throws(Errno) -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        try SystemCall.done(.socketpair) { shim_socketpair(&ends) }
        return (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
    }
    /// Whether a read would not block (also at end of file); false if the time ran out.
    public static func waitReadable(_ fd: Int32, milliseconds: Int32) throws(Errno) -> Bool {
        try SystemCall.wait(.poll, milliseconds: milliseconds) { shim_poll_in(fd, $0) } > 0
    }
    /// Whether a write would not block (or would fail); false if the time ran out.
    public static func waitWritable(_ fd: Int32, milliseconds: Int32) throws(Errno) -> Bool {
        try SystemCall.wait(.poll, milliseconds: milliseconds) { shim_poll_out(fd, $0) } > 0
    }
    /// Waits, with no time limit, for a change of a file of /proc that tells of changes by POLLPRI.
    public static func waitForChange(of fd: Int32) throws(Errno) {
        _ = try SystemCall.wait(.poll, milliseconds: -1) { shim_poll_priority(fd, $0) }
    }
    /// From now on a read or write that would block fails with EAGAIN.
    public static func makeNonblocking(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.fcntl) { shim_make_nonblocking(fd) }
    }
    /// Waits, with no time limit, for something to read or for one of `signals`, which are blocked and are not fetched.
    /// Returns whether there is something to read (including end of file).
    public static func waitReadable(_ fd: Int32, or signals: SignalSet) throws(Errno) -> Bool {
        try SystemCall.run(.poll) { shim_poll_in_or_signal(fd, signals.rawValue, -1) } & 1 != 0
    }
    /// Another descriptor of the same open file, closed on exec.
    public static func duplicate(_ fd: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try SystemCall.run(.fcntl) { shim_dup(fd) })
    }
    /// Makes `number` a duplicate of `fd` that programs executed later inherit.
    public static func duplicate(_ fd: Int32, as number: Int32) throws(Errno) {
        try SystemCall.done(.dup2) { shim_dup2(fd, number) }
    }
    public static func closeOnExec(_ fd: Int32) throws(Errno) { try SystemCall.done(.fcntl) { shim_close_on_exec(fd) } }
}
