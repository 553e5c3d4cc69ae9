import CSystemShims
import Glibc

/// Bytes with a terminating zero. Arguments and environment are passed on unchanged, UTF-8 or not.
public typealias RawText = [CChar]

// Processes.
extension System {
    /// Returns this process's environment, each entry as `NAME=VALUE`.
    public static func environment() -> [RawText] {
        var entries: [RawText] = []
        guard var next = shim_environment() else { return entries }
        while let entry = next.pointee {
            entries.append(rawText(entry))
            next += 1
        }
        return entries
    }

    /// Returns this process's command line, beginning with its name.
    public static func arguments() -> [RawText] {
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = shim_arguments(&words)
        guard let words else { return [] }
        return (0..<Int(count)).compactMap { words[$0].map { rawText($0) } }
    }

    /// Copies a C string.
    public static func rawText(_ text: CName) -> RawText {
        Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))
    }

    /// Starts a program with the signal mask `mask`, in `directory` if that is not nil, and returns its pid. A name without a
    /// slash is looked up in this process's PATH. The program inherits everything else from this process.
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

    /// Makes the kernel send SIGTERM to this process when its parent's first thread ends. ESRCH if `parent` has ended already.
    public static func end(withParent parent: pid_t) throws(Errno) {
        _ = try SystemCall.run(.prctl) { shim_signal_at_end_of_parent(SIGTERM) }
        if getppid() != parent { throw .noSuchProcess }
    }

    /// The descriptor number at which a detached process finds the descriptor passed to it.
    public static let passedDescriptor: Int32 = 3

    /// Starts a program in its own session, with default signal actions, and returns its pid. Its only descriptors are
    /// `passing` and the standard ones, which are /dev/null, except for standard error with `keepsMessages`.
    public static func spawnDetached(
        _ path: String, _ arguments: [String], passing: Int32? = nil, keepsMessages: Bool = true
    ) throws(Errno) -> pid_t {
        try start(arguments.map { Array($0.utf8CString) }, environment()) {
            shim_spawn_detached(path, $0, $1, passing ?? -1, keepsMessages ? 1 : 0)
        }
    }

    /// Forks this process into the state in which `spawnDetached` starts a program, and returns the copy's pid. The copy shows
    /// `words`, separated by spaces, as its command line in /proc and ps. It runs `body` and exits with the status that `body`
    /// returns. Objects that own descriptors exist in the copy, but their descriptors are closed. Returns nil if this process
    /// has several threads and so cannot be copied, or if `words` are longer than the memory of this process's command line and
    /// environment, or than 4 KiB.
    ///
    /// A new thread calls fork(2) before it runs anything else, and is the copy's only thread. A thread that has run Swift
    /// code cannot be copied, because Swift 6.3 stores the id of each thread that has taken a Mutex or initialized a global.
    /// The copied thread has another id, and the kernel lets only the owner unlock a lock with waiters, so the copy would spin
    /// forever.
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

    /// Starts a program in its own process group, with default signal actions, empty standard input, and its output on
    /// standard error. Returns its pid, which is also the number of the group.
    public static func spawnGroup(
        _ path: String, _ arguments: [RawText], environment: [RawText]
    ) throws(Errno) -> pid_t {
        try start(arguments, environment) { shim_spawn_group(path, $0, $1) }
    }

    /// Returns how a child ended. Without `blocking`, it returns nil if the child has not ended.
    public static func wait(for pid: pid_t, blocking: Bool) throws(Errno) -> ProcessEnd? {
        var status: Int32 = 0
        let found = try SystemCall.run(.waitpid) { shim_wait(pid, blocking ? 0 : WNOHANG, &status) }
        return found == 0 ? nil : ProcessEnd(status: status)
    }

    /// Waits at most `milliseconds` for the end of a process, whoever its parent is. Returns whether the process has ended.
    public static func waitForEnd(of pid: pid_t, milliseconds: Int32) throws(Errno) -> Bool {
        do throws(Errno) {
            let process = FileDescriptor(adopting: try SystemCall.run(.pidfdOpen) { shim_pidfd_open(pid) })
            return try waitReadable(process.raw, milliseconds: milliseconds)
        } catch .noSuchProcess { return true }
    }

    /// Returns a child that has ended but has not been waited for yet, or nil if there is none.
    public static func endedChild() throws(Errno) -> pid_t? {
        let pid = try SystemCall.run(.waitid) { shim_ended_child() }
        return pid == 0 ? nil : pid
    }

    /// Sends a signal; signal 0 only checks that the process exists. A negative pid means all processes of that group.
    public static func signal(_ pid: pid_t, _ number: Int32) throws(Errno) {
        try SystemCall.done(.kill) { shim_kill(pid, number) }
    }

    /// Passes `body` an argv or envp: pointers to copies of `texts`, followed by nil.
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

// Signals: the mask of the calling thread, and the actions of the process.
extension System {
    /// Blocks `signals`, and returns the set that was blocked before.
    public static func block(_ signals: SignalSet) throws(Errno) -> SignalSet {
        var old: UInt64 = 0
        try SystemCall.done(.sigprocmask) { shim_block_signals(signals.rawValue, &old) }
        return SignalSet(rawValue: old)
    }
    public static func unblock(_ signals: SignalSet) throws(Errno) {
        let blocked = try block(SignalSet())
        try setMask(blocked.subtracting(signals))
    }
    /// Returns a blocked, pending signal that tells this process to end, if there is one. Long work checks for one from time to
    /// time, and gives up when there is one.
    public static func endSignal() -> Int32? {
        let number = shim_pending_signal(SignalSet.ending.rawValue)
        return number > 0 ? number : nil
    }
    /// Makes each of `signals` that is not ignored end the child `pid`, print `message`, and end this process with status
    /// 128+N. A child that does not end within ten seconds is killed, and a dead mount that it leaves at `mountpoint` is
    /// removed. The signals are unblocked when this returns.
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
    /// Waits for the next of `signals`, which must be blocked; nil if none arrives in time.
    public static func nextSignal(of signals: SignalSet, milliseconds: Int32) throws(Errno) -> ReceivedSignal? {
        var byKernel: Int32 = 0
        let number = try SystemCall.wait(.sigtimedwait, milliseconds: milliseconds) { left in
            shim_wait_signal(signals.rawValue, left, &byKernel)
        }
        return number == 0 ? nil : ReceivedSignal(number: number, isFromKernel: byKernel != 0)
    }
}

extension System {
    /// Makes this process write a report to standard error and to a file at `path` if it crashes (a trap, SIGSEGV, SIGBUS). The
    /// file is created only then, and belongs to `owner`. Must be called before any thread is started.
    public static func leaveLastWords(at path: String, owner: uid_t) throws(Errno) {
        try SystemCall.done(.sigaction) { shim_leave_last_words(path, owner) }
    }
}

// Descriptors for communication between processes.
extension System {
    /// Creates an empty file in memory. Its name shows only in /proc, as `/memfd:NAME (deleted)`.
    public static func makeMemoryFile(_ name: String) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try SystemCall.run(.memfdCreate) { shim_memory_file(name) })
    }
    /// Creates a pair of connected sockets, both closed on exec.
    public static func makeConnection() throws(Errno) -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        try SystemCall.done(.socketpair) { shim_socketpair(&ends) }
        return (FileDescriptor(adopting: ends[0]), FileDescriptor(adopting: ends[1]))
    }
    /// Waits until a read would not block, which includes end of file; false if the time ran out.
    public static func waitReadable(_ fd: Int32, milliseconds: Int32) throws(Errno) -> Bool {
        try SystemCall.wait(.poll, milliseconds: milliseconds) { shim_poll_in(fd, $0) } > 0
    }
    /// Waits until a write would succeed or fail without blocking; false if the time ran out.
    public static func waitWritable(_ fd: Int32, milliseconds: Int32) throws(Errno) -> Bool {
        try SystemCall.wait(.poll, milliseconds: milliseconds) { shim_poll_out(fd, $0) } > 0
    }
    /// Waits without a time limit for a change to a file in /proc that reports changes with POLLPRI.
    public static func waitForChange(of fd: Int32) throws(Errno) {
        _ = try SystemCall.wait(.poll, milliseconds: -1) { shim_poll_priority(fd, $0) }
    }
    /// Returns the access mode and the status flags of an open file.
    public static func statusFlags(_ fd: Int32) throws(Errno) -> Int32 {
        try SystemCall.run(.fcntl) { shim_status_flags(fd) }
    }
    /// Makes reads and writes that would block fail with EAGAIN.
    public static func makeNonblocking(_ fd: Int32) throws(Errno) {
        try SystemCall.done(.fcntl) { shim_make_nonblocking(fd) }
    }
    /// Waits without a time limit for data or for one of `signals`, which must be blocked and stay pending. Returns whether
    /// there is something to read, which includes end of file.
    public static func waitReadable(_ fd: Int32, or signals: SignalSet) throws(Errno) -> Bool {
        try SystemCall.run(.poll) { shim_poll_in_or_signal(fd, signals.rawValue, -1) } & 1 != 0
    }
    /// Returns another descriptor of the same open file, closed on exec.
    public static func duplicate(_ fd: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try SystemCall.run(.fcntl) { shim_dup(fd) })
    }
    /// Makes `number` a duplicate of `fd` that executed programs inherit.
    public static func duplicate(_ fd: Int32, as number: Int32) throws(Errno) {
        try SystemCall.done(.dup2) { shim_dup2(fd, number) }
    }
    public static func closeOnExec(_ fd: Int32) throws(Errno) { try SystemCall.done(.fcntl) { shim_close_on_exec(fd) } }
}
