// Writes the last message of a process that crashes, for example in a Swift trap. A signal handler writes it, and so may
// neither take a lock nor allocate.
#define _GNU_SOURCE
#include "ProcessShims.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

enum { STACK = 64 << 10, FRAMES = 64 };
static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
// The path and the owner of the file that gets the message in addition to standard error. Both are set before the handler is
// installed.
static char place[4096];
static uid_t owner;
static _Atomic int speaker;

// Unwinds like backtrace(3), which would load libgcc_s first.
struct trace {
    void **frames;
    int room, count;
};
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument) {
    struct trace *trace = argument;
    void *address = (void *)_Unwind_GetIP(context);
    if (!address || trace->count == trace->room) return _URC_END_OF_STACK;
    trace->frames[trace->count++] = address;
    return _URC_NO_REASON;
}

static void write_to(int fd, const char *text, size_t length, void *const *frames, int count) {
    if (write(fd, text, length) < 0) return;
    backtrace_symbols_fd(frames, count, fd);
}

static void last_words(int number, siginfo_t *info, void *context) {
    (void)context;
    // If several threads fault, the first one writes. If it faults again, the process ends.
    int self = (int)syscall(SYS_gettid), nobody = 0;
    if (!atomic_compare_exchange_strong(&speaker, &nobody, self)) {
        while (speaker != self) pause();
        signal(number, SIG_DFL);
        return;
    }
    void *frames[FRAMES];
    struct trace trace = {.frames = frames, .room = FRAMES};
    _Unwind_Backtrace(note_frame, &trace);
    int count = trace.count;
    char thread[17] = "", text[400];
    prctl(PR_GET_NAME, thread);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int length = snprintf(
        text, sizeof text,
        "purgefs: fatal: signal %d (%s) at %p, address %p, process %d, thread %s, at %lld s since 1970\n"
        "  addr2line -f -e PURGEFS +OFFSET names what follows:\n",
        number, sigdescr_np(number), count > 2 ? frames[2] : NULL, info->si_addr, (int)getpid(), thread,
        (long long)now.tv_sec);
    // Opens standard error through /proc, because this thread may have its own descriptor table.
    int fd = open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    write_to(fd >= 0 ? fd : STDERR_FILENO, text, (size_t)length, frames, count);
    fd = place[0] ? open(place, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600) : -1;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1) {
        // The file belongs to the store's owner.
        if (status.st_size == 0 && owner != status.st_uid && fchown(fd, owner, (gid_t)-1) < 0) {}
        write_to(fd, text, (size_t)length, frames, count);
        fsync(fd);
    }
    // Ends the process as if there were no handler, with a core dump.
    signal(number, SIG_DFL);
    raise(number);
}

int shim_leave_last_words(const char *path, uid_t whose) {
    if (strlen(path) >= sizeof place) return -ENAMETOOLONG;
    strcpy(place, path);
    owner = whose;
    void *frame;
    struct trace trace = {.frames = &frame, .room = 1};
    _Unwind_Backtrace(note_frame, &trace);  // loads what unwinding needs now, because the handler must not
    struct sigaction action = {.sa_sigaction = last_words, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t at = 0; at < sizeof faults / sizeof *faults; at++) {
        if (sigaction(faults[at], &action, NULL) < 0) return -errno;
    }
    return 0;
}

void *shim_begin_thread(void) {
    if (!place[0]) return NULL;
    void *base = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    stack_t stack = {.ss_sp = base, .ss_size = STACK};
    sigaltstack(&stack, NULL);
    return base;
}

void shim_end_thread(void *base) {
    if (!base) return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(base, STACK);
}
