// Processes, signals and whole paths: what the command line needs beside the file system.
// Every function returns a result >= 0, or -errno.
#ifndef PROCESSSHIMS_H
#define PROCESSSHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

// A set of signals: bit N-1 for signal N.
typedef uint64_t shim_signals;

// Returns the pid. `name` is looked up in PATH unless it has a slash. The child's signal mask is `mask`.
// `directory`: where it starts; NULL for this process's own working directory.
int shim_spawn_command(
    const char *name, char *const argv[], char *const envp[], shim_signals mask, const char *directory);
// Returns the pid of a process in a session of its own, with all signals at their defaults, and nothing open
// but its standard streams (at /dev/null, except for standard error with `keeps_messages`) and, as
// descriptor 3, `passed` if that is not -1.
int shim_spawn_detached(
    const char *path, char *const argv[], char *const envp[], int passed, int keeps_messages);
// Whether this process has one thread, so that it can be copied, and room for a command line of so many bytes.
int shim_may_fork_as(size_t length);
// As shim_spawn_detached, but the new process is a copy of this one, in which `body` runs, which must not return; /proc shows
// `text` as its command line. Its only thread is one that has run nothing before.
int shim_fork_detached(int passed, const char *text, size_t length, void (*body)(void *), void *context);
// Returns the pid of a process in a group of its own, with all signals at their defaults, nothing to read, and its
// output on standard error.
int shim_spawn_group(const char *path, char *const argv[], char *const envp[]);
char **shim_environment(void);
// argc and argv of this process.
int shim_arguments(char ***words);

// What this process may do: whether it has a capability (CAP_...), whether a program that it executes could have it,
// whether no program that it executes gets more rights, and whether its capabilities apply to its mounts.
int shim_has_capability(int number);
int shim_may_gain_capability(int number);
int shim_has_no_new_privileges(void);
int shim_owns_mounts(void);

// waitpid: the pid, or 0 if it has not ended (flags has WNOHANG).
int shim_wait(int pid, int flags, int *status);
// A child that has ended and has not been waited for, 0 if there is none; it still has to be waited for.
int shim_ended_child(void);
int shim_kill(int pid, int signal);
int shim_block_signals(shim_signals set, shim_signals *old);
int shim_set_mask(shim_signals set);
int shim_default_signal(int signal);
int shim_ignore_signal(int signal);
// The signals of the set that this process was not started to ignore.
shim_signals shim_without_ignored(shim_signals set);
// The next signal of the set, 0 if none arrived in time (-1: wait for ever). `by_kernel` says
// whether the kernel sent it, as it does for a terminal, and not a process.
int shim_wait_signal(shim_signals set, int milliseconds, int *by_kernel);
// A signal of the set that is blocked and pending, 0 if there is none.
int shim_pending_signal(shim_signals set);
// Waits until `fd` can be read (bit 0) or a signal of the set, which is blocked, is pending (bit 1); 0 on time-out.
int shim_poll_in_or_signal(int fd, shim_signals set, int milliseconds);
// From now on each signal of the set, unless it is ignored, ends the child (SIGTERM, after 10 s SIGKILL), waits for it,
// unmounts a dead mount that it has left at `mountpoint`, writes `message` to standard error, and ends this process with
// 128+N. Unblocks them.
int shim_end_with_child(shim_signals set, int child, const char *mountpoint, const char *message);

// A locale in which names are UTF-8, NULL if the C library has none; and the locale of this thread from now on, NULL for
// the process's.
void *shim_make_utf8(void);
void shim_free_utf8(void *);
void shim_use_utf8(void *);

// The size of the terminal `fd`.
int shim_window_size(int fd, uint16_t *columns, uint16_t *rows);

// From now on a crash of this process (SIGSEGV, a trap) is reported on standard error and in a file at `path`, which is
// made then and belongs to `whose`. begin and end are for each thread that is started later: they give its handler a
// stack, in case its own is full.
int shim_leave_last_words(const char *path, uid_t whose);
void *shim_begin_thread(void);
void shim_end_thread(void *);

// An empty file in memory, closed on exec.
int shim_memory_file(const char *name);
int shim_socketpair(int ends[2]);
// One datagram to a socket of AF_UNIX: a path, or an abstract name after @. Waits at most five seconds for room.
int shim_send_datagram(const char *address, const char *text);
int shim_dup(int fd);  // closed on exec
int shim_dup2(int from, int to);
int shim_close_on_exec(int fd);
int shim_chdir(const char *path);

int shim_stat(const char *path, struct stat *out);
int shim_access(const char *path, int mode);
int shim_make_temporary_directory(char *pattern);
// Into `*resolved`, which is to be freed.
int shim_realpath(const char *path, char **resolved);
int shim_unmount(const char *path, int flags);

#endif
