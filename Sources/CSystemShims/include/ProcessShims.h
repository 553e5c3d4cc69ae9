// Processes, signals and whole paths, which the command line needs in addition to the file system. Every function returns a
// result >= 0, or -errno.
#ifndef PROCESSSHIMS_H
#define PROCESSSHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

// A set of signals: bit N-1 stands for signal N.
typedef uint64_t shim_signals;

// Starts a program and returns its pid. A `name` without a slash is looked up in PATH. The child has the signal mask `mask`,
// and starts in `directory`, or in this process's working directory if that is NULL.
int shim_spawn_command(
    const char *name, char *const argv[], char *const envp[], shim_signals mask, const char *directory);
// Starts a program in its own session, with default signal actions and no blocked signals, and returns its pid. Its only
// descriptors are the standard streams (/dev/null, except for standard error with `keeps_messages`) and, as descriptor 3,
// `passed` unless that is -1.
int shim_spawn_detached(
    const char *path, char *const argv[], char *const envp[], int passed, int keeps_messages);
// Returns whether this process can be copied, because it has one thread and has room for a command line of `length` bytes.
int shim_may_fork_as(size_t length);
// Copies this process into the state that shim_spawn_detached describes with `keeps_messages`, and returns the copy's pid.
// `passed` must not be -1. The copy runs `body`, which must not return, on its only thread, a new one that has run nothing
// before. /proc shows `text` as the copy's command line.
int shim_fork_detached(int passed, const char *text, size_t length, void (*body)(void *), void *context);
// Starts a program in its own process group, with default signal actions, empty standard input, and its output on standard
// error. Returns its pid.
int shim_spawn_group(const char *path, char *const argv[], char *const envp[]);
// Makes the kernel send `signal` to this process when the thread that has started it ends.
int shim_signal_at_end_of_parent(int signal);
char **shim_environment(void);
// Returns argc, and argv in `*words`.
int shim_arguments(char ***words);

// The privileges of this process: whether it has a capability (CAP_...), whether an executed program could have it, whether
// executed programs cannot gain privileges, and whether its capabilities apply to its mounts.
int shim_has_capability(int number);
int shim_may_gain_capability(int number);
int shim_has_no_new_privileges(void);
int shim_owns_mounts(void);

// Calls waitpid(2): returns the pid, or 0 if the child has not ended (with WNOHANG).
int shim_wait(int pid, int flags, int *status);
// Returns a child that has ended and must still be waited for, or 0 if there is none.
int shim_ended_child(void);
int shim_kill(int pid, int signal);
int shim_block_signals(shim_signals set, shim_signals *old);
int shim_set_mask(shim_signals set);
int shim_default_signal(int signal);
int shim_ignore_signal(int signal);
// Returns the set without the signals that this process ignored when it was started.
shim_signals shim_without_ignored(shim_signals set);
// Waits for a signal of the set; returns 0 if none arrives in time (-1 waits forever). Stores in `*by_kernel` whether the
// kernel sent the signal, for example for a terminal, rather than a process.
int shim_wait_signal(shim_signals set, int milliseconds, int *by_kernel);
// Returns a signal of the set that is blocked and pending, or 0 if there is none.
int shim_pending_signal(shim_signals set);
// Waits until `fd` is readable (bit 0) or a signal of the set, which must be blocked, is pending (bit 1). Returns 0 on
// time-out.
int shim_poll_in_or_signal(int fd, shim_signals set, int milliseconds);
// Installs a handler for each signal of the set that is not ignored. The handler ends the child (SIGTERM, after 10 s SIGKILL),
// waits for it, unmounts a dead mount that the child left at `mountpoint`, writes `message` to standard error, and ends this
// process with 128+N. This call unblocks the signals.
int shim_end_with_child(shim_signals set, int child, const char *mountpoint, const char *message);

// Create and free a locale in which names are UTF-8. The result is NULL if the C library has none. shim_use_utf8 sets this
// thread's locale; NULL stands for the process's locale.
void *shim_make_utf8(void);
void shim_free_utf8(void *);
void shim_use_utf8(void *);

// Returns the size of the terminal `fd`.
int shim_window_size(int fd, uint16_t *columns, uint16_t *rows);

// Makes a crash of this process (SIGSEGV, a trap) report on standard error and in a file at `path`, which is created only
// then and belongs to `whose`. Each thread that is started later calls begin and end. They give the handler its own stack,
// because the thread's own stack may be full.
int shim_leave_last_words(const char *path, uid_t whose);
void *shim_begin_thread(void);
void shim_end_thread(void *);

// Creates an empty file in memory, closed on exec.
int shim_memory_file(const char *name);
int shim_socketpair(int ends[2]);
// Sends one datagram to an AF_UNIX socket: a path, or an abstract name after @. Waits at most five seconds for room.
int shim_send_datagram(const char *address, const char *text);
int shim_dup(int fd);  // closed on exec
int shim_dup2(int from, int to);
int shim_close_on_exec(int fd);
int shim_chdir(const char *path);

int shim_stat(const char *path, struct stat *out);
int shim_access(const char *path, int mode);
int shim_make_temporary_directory(char *pattern);
// Stores the path in `*resolved`, which the caller must free.
int shim_realpath(const char *path, char **resolved);
int shim_unmount(const char *path, int flags);

#endif
