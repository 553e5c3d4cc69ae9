#define _GNU_SOURCE
#include "ProcessShims.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ANSWER(call) ({ __typeof__(call) r_ = (call); r_ < 0 ? -errno : r_; })
#define LAST_SIGNAL 64
#define PASSED_DESCRIPTOR 3
#define SHOWN_LENGTH 4096  // the kernel's limit for a changed command line (get_mm_proctitle)

extern char **environ;
char **shim_environment(void) { return environ; }

int shim_signal_at_end_of_parent(int signal) { return ANSWER(prctl(PR_SET_PDEATHSIG, signal)); }

static sigset_t set_of(shim_signals signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int n = 1; n <= LAST_SIGNAL; n++)
        if (signals & (1ULL << (n - 1))) sigaddset(&set, n);
    return set;
}

static shim_signals signals_of(const sigset_t *set) {
    shim_signals signals = 0;
    for (int n = 1; n <= LAST_SIGNAL; n++)
        if (sigismember(set, n) == 1) signals |= 1ULL << (n - 1);
    return signals;
}

static shim_signals ignored_signals(void) {
    shim_signals ignored = 0;
    for (int n = 1; n <= LAST_SIGNAL; n++) {
        struct sigaction action;
        // Numbers that the C library reserves for itself can neither be queried nor ignored.
        if (sigaction(n, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ignored |= 1ULL << (n - 1);
    }
    return ignored;
}

// Set before main, while there is one thread.
static shim_signals ignored_at_start;
// Swift copies its arguments from /proc/self/cmdline, which may not exist. Set before main, while there is one thread.
static int argument_count;
static char **arguments;
// The end of the arguments and the environment, which the kernel puts side by side. Set before main, while there is one
// thread.
static char *texts_end;
__attribute__((constructor)) static void keep_arguments(int count, char **words, char **environment) {
    argument_count = count;
    arguments = words;
    char *end = words[0];
    for (; *words && *words == end; words++) end += strlen(end) + 1;
    for (; *environment && *environment == end; environment++) end += strlen(end) + 1;
    texts_end = end;
    ignored_at_start = ignored_signals();
}
int shim_arguments(char ***words) {
    *words = arguments;
    return argument_count;
}

int shim_has_capability(int number) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, data) < 0) return -errno;
    return data[number / 32].effective >> number % 32 & 1;
}
int shim_may_gain_capability(int number) { return ANSWER(prctl(PR_CAPBSET_READ, number, 0, 0, 0)); }
int shim_has_no_new_privileges(void) { return ANSWER(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)); }

int shim_owns_mounts(void) {
    int namespace = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (namespace < 0) return -errno;
    int owner = ioctl(namespace, NS_GET_USERNS), code = errno;
    close(namespace);
    if (owner >= 0) close(owner);
    // EPERM means that the owner is a parent of our user namespace.
    return owner >= 0 || code != EPERM;
}

struct start {
    const char *name;
    char *const *argv, *const *envp;
    short flags;  // with POSIX_SPAWN_SETSIGDEF, signals have their default actions
    shim_signals mask;
    int (*add_files)(posix_spawn_file_actions_t *, const struct start *);
    const char *directory;
    int passed, keeps_messages;
};

static int spawn(const struct start *its) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t all, mask = set_of(its->mask);
    int pid = 0, code = posix_spawnattr_init(&attributes);
    if (code) return -code;
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes, its->flags | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &mask);
    code = posix_spawn_file_actions_init(&files);
    if (!code) {
        code = its->add_files(&files, its);
        if (!code) code = posix_spawnp(&pid, its->name, &files, &attributes, its->argv, its->envp);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return code ? -code : pid;
}

static int command_files(posix_spawn_file_actions_t *files, const struct start *its) {
    return its->directory ? posix_spawn_file_actions_addchdir_np(files, its->directory) : 0;
}
int shim_spawn_command(
    const char *name, char *const argv[], char *const envp[], shim_signals mask, const char *directory) {
    return spawn(&(struct start){
        .name = name, .argv = argv, .envp = envp, .mask = mask, .directory = directory, .add_files = command_files});
}

static int group_files(posix_spawn_file_actions_t *files, const struct start *its) {
    (void)its;
    int code = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    return code ? code : posix_spawn_file_actions_adddup2(files, 2, 1);
}
int shim_spawn_group(const char *path, char *const argv[], char *const envp[]) {
    return spawn(&(struct start){
        .name = path, .argv = argv, .envp = envp, .flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF,
        .add_files = group_files});
}

// Copies the passed descriptor first, because opening a standard stream may replace it.
static int detached_files(posix_spawn_file_actions_t *files, const struct start *its) {
    int code = its->passed < 0 ? 0 : posix_spawn_file_actions_adddup2(files, its->passed, PASSED_DESCRIPTOR);
    if (!code) code = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (!code) code = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    if (!code && !its->keeps_messages) code = posix_spawn_file_actions_addopen(files, 2, "/dev/null", O_WRONLY, 0);
    int first = its->passed < 0 ? PASSED_DESCRIPTOR : PASSED_DESCRIPTOR + 1;
    return code ? code : posix_spawn_file_actions_addclosefrom_np(files, first);
}
int shim_spawn_detached(
    const char *path, char *const argv[], char *const envp[], int passed, int keeps_messages) {
    return spawn(&(struct start){
        .name = path, .argv = argv, .envp = envp, .flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF,
        .passed = passed, .keeps_messages = keeps_messages, .add_files = detached_files});
}

static int has_one_thread(void) {
    struct stat tasks;
    if (stat("/proc/self/task", &tasks) < 0) return 0;
    return tasks.st_nlink == 3;  // itself, its parent's entry, and one for each thread
}

int shim_may_fork_as(size_t length) {
    return argument_count > 0 && length < SHOWN_LENGTH && length < (size_t)(texts_end - arguments[0]) && has_one_thread();
}

// The kernel shows the memory of the arguments. If their last byte is not NUL, it also shows the bytes beyond, up to a NUL.
static void show_command_line(const char *text, size_t length) {
    for (char **entry = environ; *entry; entry++) {
        if (*entry < arguments[0] || *entry >= texts_end) continue;
        char *copy = strdup(*entry);
        if (!copy) return;
        *entry = copy;
    }
    char *last = arguments[argument_count - 1] + strlen(arguments[argument_count - 1]);
    memcpy(arguments[0], text, length + 1);
    if (arguments[0] + length < last) *last = ' ';
    argument_count = 0;
    // Names the thread after the program's file, and not after a link to the file.
    char path[PATH_MAX + 1] = "";
    if (readlink("/proc/self/exe", path, PATH_MAX) > 0) prctl(PR_SET_NAME, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

static int open_null_as(int descriptor, int flags) {
    int opened = open("/dev/null", flags);
    if (opened < 0) return -1;
    if (opened == descriptor) return 0;
    int copied = dup2(opened, descriptor);
    close(opened);
    return copied < 0 ? -1 : 0;
}

static int fork_detached(int passed, const char *text, size_t length) {
    sigset_t all, before;
    sigfillset(&all);
    // A signal in the copy must neither run a handler of the original nor get lost.
    if (sigprocmask(SIG_SETMASK, &all, &before) < 0) return -errno;
    int pid = fork(), code = errno;
    if (pid) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        return pid < 0 ? -code : pid;
    }
    setsid();
    for (int n = 1; n <= LAST_SIGNAL; n++) {
        // Discards a pending signal that the original ignores.
        if (ignored_at_start & (1ULL << (n - 1))) signal(n, SIG_IGN);
        signal(n, SIG_DFL);  // fails for signals whose action is fixed
    }
    ignored_at_start = 0;
    if (passed == PASSED_DESCRIPTOR ? fcntl(passed, F_SETFD, 0) < 0 : dup2(passed, PASSED_DESCRIPTOR) < 0) _exit(125);
    if (open_null_as(0, O_RDONLY) < 0 || open_null_as(1, O_WRONLY) < 0) _exit(125);
    closefrom(PASSED_DESCRIPTOR + 1);
    // Memory that the original used and freed, for example to copy a store, would stay with this process for good.
    if (mallinfo2().fordblks > 1 << 20) malloc_trim(0);
    show_command_line(text, length);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return 0;
}

struct forking {
    int passed;
    const char *text;
    size_t length;
    void (*body)(void *);
    void *context;
    int result;
};

static void *fork_and_go_on(void *argument) {
    struct forking *its = argument;
    its->result = fork_detached(its->passed, its->text, its->length);
    if (its->result == 0) its->body(its->context);
    return NULL;
}

int shim_fork_detached(int passed, const char *text, size_t length, void (*body)(void *), void *context) {
    struct forking its = {passed, text, length, body, context, 0};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);  // the usual size of a main thread's stack
    int code = pthread_create(&thread, &attributes, fork_and_go_on, &its);
    pthread_attr_destroy(&attributes);
    if (code) return -code;
    pthread_join(thread, NULL);
    return its.result;
}

int shim_ended_child(void) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) return errno == ECHILD ? 0 : -errno;
    return info.si_pid;
}
int shim_wait(int pid, int flags, int *status) { return ANSWER(waitpid(pid, status, flags)); }
int shim_kill(int pid, int signal) { return ANSWER(kill(pid, signal)); }

int shim_block_signals(shim_signals signals, shim_signals *old) {
    sigset_t set = set_of(signals), before;
    if (sigprocmask(SIG_BLOCK, &set, &before) < 0) return -errno;
    *old = signals_of(&before);
    return 0;
}
int shim_set_mask(shim_signals signals) {
    sigset_t set = set_of(signals);
    return ANSWER(sigprocmask(SIG_SETMASK, &set, NULL));
}
static int dispose(int number, void (*handler)(int)) { return signal(number, handler) == SIG_ERR ? -errno : 0; }
int shim_default_signal(int number) { return dispose(number, SIG_DFL); }
int shim_ignore_signal(int number) { return dispose(number, SIG_IGN); }
shim_signals shim_without_ignored(shim_signals signals) { return signals & ~ignored_at_start; }

int shim_wait_signal(shim_signals signals, int milliseconds, int *by_kernel) {
    sigset_t set = set_of(signals);
    siginfo_t info;
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
    int number = milliseconds < 0 ? sigwaitinfo(&set, &info) : sigtimedwait(&set, &info, &time);
    if (number < 0) return errno == EAGAIN ? 0 : -errno;
    *by_kernel = info.si_code == SI_KERNEL;
    return number;
}

int shim_pending_signal(shim_signals signals) {
    sigset_t set;
    if (sigpending(&set) < 0) return -errno;
    shim_signals pending = signals_of(&set) & signals;
    return pending ? __builtin_ctzll(pending) + 1 : 0;
}

int shim_poll_in_or_signal(int fd, shim_signals signals, int milliseconds) {
    sigset_t set = set_of(signals);
    int arrivals = signalfd(-1, &set, SFD_CLOEXEC);
    if (arrivals < 0) return -errno;
    struct pollfd waiting[] = {{.fd = fd, .events = POLLIN}, {.fd = arrivals, .events = POLLIN}};
    int result = poll(waiting, 2, milliseconds) < 0 ? -errno : (waiting[0].revents != 0) | (waiting[1].revents != 0) << 1;
    close(arrivals);
    return result;
}

// The values for end_with_child, set before it is installed as a handler.
static pid_t bound_child;
static const char *bound_mountpoint, *bound_message;

// Removes the dead mount that a killed daemon leaves behind. Every call there fails with ENOTCONN.
static void take_dead_mount_away(void) {
    struct stat status;
    if (stat(bound_mountpoint, &status) == 0 || errno != ENOTCONN) return;
    if (umount2(bound_mountpoint, MNT_DETACH) == 0) return;
    pid_t helper = fork();
    if (helper == 0) {
        execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", bound_mountpoint, (char *)NULL);
        _exit(127);
    }
    while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR) {}
}

// Calls only async-signal-safe functions, because it is a signal handler.
static void end_with_child(int number) {
    kill(bound_child, SIGTERM);
    for (int turn = 1; waitpid(bound_child, NULL, WNOHANG) == 0; turn++) {
        if (turn == 2000) kill(bound_child, SIGKILL);
        poll(NULL, 0, 5);
    }
    take_dead_mount_away();
    if (write(STDERR_FILENO, bound_message, strlen(bound_message)) < 0) {}  // nobody reads it
    _exit(128 + number);
}

int shim_end_with_child(shim_signals signals, int child, const char *mountpoint, const char *message) {
    sigset_t set = set_of(signals);
    bound_child = child;
    bound_mountpoint = strdup(mountpoint);
    bound_message = strdup(message);
    if (!bound_mountpoint || !bound_message) return -ENOMEM;
    for (int n = 1; n <= LAST_SIGNAL; n++) {
        struct sigaction action = {.sa_handler = end_with_child, .sa_mask = set}, before;
        if (!(signals & (1ULL << (n - 1)))) continue;
        if (sigaction(n, NULL, &before) < 0) return -errno;
        if (before.sa_handler != SIG_IGN && sigaction(n, &action, NULL) < 0) return -errno;
    }
    return ANSWER(sigprocmask(SIG_UNBLOCK, &set, NULL));
}

int shim_memory_file(const char *name) { return ANSWER(memfd_create(name, MFD_CLOEXEC)); }
int shim_socketpair(int ends[2]) { return ANSWER(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)); }

int shim_send_datagram(const char *address, const char *text) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(address);
    if (length >= sizeof to.sun_path) return -ENAMETOOLONG;
    memcpy(to.sun_path, address, length);
    if (address[0] == '@') to.sun_path[0] = 0; // a final zero would be part of an abstract name
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + length;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    struct timeval limit = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ssize_t result = ANSWER(sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to, size));
    close(fd);
    return result < 0 ? result : 0;
}

int shim_window_size(int fd, uint16_t *columns, uint16_t *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0) return -errno;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}
void *shim_make_utf8(void) { return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }
void shim_free_utf8(void *utf8) { if (utf8) freelocale(utf8); }
void shim_use_utf8(void *utf8) { uselocale(utf8 ? utf8 : LC_GLOBAL_LOCALE); }

int shim_dup(int fd) { return ANSWER(fcntl(fd, F_DUPFD_CLOEXEC, 3)); }
int shim_dup2(int from, int to) { return ANSWER(dup2(from, to)); }
int shim_close_on_exec(int fd) { return ANSWER(fcntl(fd, F_SETFD, FD_CLOEXEC)); }
int shim_chdir(const char *path) { return ANSWER(chdir(path)); }

int shim_stat(const char *path, struct stat *out) { return ANSWER(stat(path, out)); }
int shim_access(const char *path, int mode) { return ANSWER(access(path, mode)); }
int shim_make_temporary_directory(char *pattern) { return mkdtemp(pattern) ? 0 : -errno; }
int shim_realpath(const char *path, char **resolved) {
    *resolved = realpath(path, NULL);
    return *resolved ? 0 : -errno;
}
int shim_unmount(const char *path, int flags) { return ANSWER(umount2(path, flags)); }
