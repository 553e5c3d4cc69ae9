#define _GNU_SOURCE
#include "CContainerCalls.h"

#ifdef __linux__
#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int container_pipe(int *ends) {
    return pipe2(ends, O_CLOEXEC);
}

long container_write(int file, const void *bytes, size_t size) {
    sigset_t broken, before, waiting;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigemptyset(&waiting);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    long written = write(file, bytes, size);
    int error = errno;
    // write(2) sends SIGPIPE to this thread. A SIGPIPE that was already pending stays pending.
    if (written < 0 && error == EPIPE && !sigismember(&waiting, SIGPIPE)) {
        const struct timespec none = {0, 0};
        while (sigtimedwait(&broken, NULL, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

int container_anonymous_file(void) {
    return memfd_create("purgefs", MFD_CLOEXEC);
}

struct program {
    char *const *words, *const *environment;
    const int *files;
    int error;
    int is_apart;
};

static int copy(pid_t parent, int file, int number, int flags) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)parent, file);
    int opened = open(name, flags);
    if (opened < 0 || dup2(opened, number) < 0) return errno;
    if (opened > 2) close(opened);
    return 0;
}

/// Runs in the new process until it executes the program. The new process shares memory with the thread that waits for it,
/// and at first also the descriptors. A copied descriptor table would keep files open that another thread is closing, and a
/// purge would skip them. So the process gets a table with only the first three. (The kernel may copy 64 descriptors, but
/// closes all except these three before close_range(2) returns.)
static int become(void *data) {
    struct program *program = data;
    pid_t parent = getppid();
    if (syscall(SYS_close_range, 3U, UINT_MAX, CLOSE_RANGE_UNSHARE)) return 0;
    for (int number = 0; number < 3; number++)
        if (copy(parent, program->files[number], number, number ? O_WRONLY : O_RDONLY)) return 0;
    program->is_apart = 1;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &usual, NULL);
    setsid();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(program->words[0], program->words, program->environment);
    program->error = errno;
    return 0;
}

/// Returns 0, or the error number of execvpe(3), or -1 if the process could not be set up, for example because the kernel lacks
/// a call or /proc does not show this process.
static int spawn_apart(char *const *words, char *const *environment, const int *files, int *process) {
    const size_t size = 1 << 18;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return -1;
    struct program program = {.words = words, .environment = environment, .files = files};
    // A handler of ours must not run in the new process.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(become, stack + size, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &program);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, size);
    if (child < 0) return -1;
    if (program.is_apart && !program.error) {
        *process = child;
        return 0;
    }
    waitpid(child, NULL, 0);
    return program.is_apart ? program.error : -1;
}

/// The files are in ascending order, so none is overwritten before it is copied.
static int set_up(posix_spawn_file_actions_t *actions, const int *files) {
    int error = 0;
    for (int number = 0; number < 3 && !error; number++)
        error = posix_spawn_file_actions_adddup2(actions, files[number], number);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
    return error;
}

int container_spawn(char *const *words, char *const *environment, const int *files, int *process) {
    int apart = spawn_apart(words, environment, files, process);
    if (apart >= 0) return apart;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
        error = set_up(&actions, files);
        if (!error) error = posix_spawnp(process, words[0], &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
#endif
