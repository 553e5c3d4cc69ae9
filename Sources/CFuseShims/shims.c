#define _GNU_SOURCE
#include "versions.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

// These two are set before the session has a second thread.
struct shim_features version_agreed;
unsigned version_stack_depth;
// Set by any worker, at any time.
static _Atomic int passthrough_was_refused;

struct fuse_session *shim_session_new(
    int argc, char **argv, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata) {
    struct fuse_args args = {.argc = argc, .argv = argv, .allocated = 0};
    struct fuse_session *session = fuse_session_new(&args, ops, size, userdata);
    fuse_opt_free_args(&args);
    return session;
}

// Readable once nothing more is to be served. Created before the session has a second thread.
static int stop_event = -1;

int shim_take_over_io(struct fuse_session *session, unsigned depth) {
    stop_event = eventfd(0, EFD_CLOEXEC);
    if (stop_event < 0) return -errno;
    version_stack_depth = depth;
    int fd = fuse_session_fd(session);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    version_begin(session);
    return wire_take_over(session);
}

void shim_want(struct fuse_conn_info *connection, int keeps_access_control_lists) {
    uint64_t wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS
        | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_ASYNC_DIO | FUSE_CAP_CACHE_SYMLINKS
        | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE;
    if (keeps_access_control_lists) wanted |= FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK;
    version_want(connection, wanted);
}

// Waking a sleeping reader on another CPU costs several times as much as a request, and the next request
// usually comes at once. So the reader looks again for a moment before it sleeps, and yields the CPU
// meanwhile. If that has not paid off recently, it does so only from time to time.
enum { LOOK_NANOSECONDS = 40000, GIVEN_AWAY_NANOSECONDS = 20000, CREDIT_MAX = 16, PROBE_EVERY = 64 };
// Both belong to the one thread that reads, and are passed on with the lead.
static int credit = CREDIT_MAX;
static unsigned skipped;

void shim_stop(void) {
    uint64_t one = 1;
    if (write(stop_event, &one, sizeof one) < 0) return;  // it is readable already
}

static _Atomic int failure;

void shim_fail(int error) {
    failure = error;
    shim_stop();
}
int shim_failure(void) { return failure; }

// Closing the last descriptor of /dev/fuse makes everything that waits for it fail. Its number gets a
// descriptor that polls as POLLERR, from which fuse_session_unmount learns that the mount is no longer its
// own: another mount may be at the path by now.
void shim_cut_off(struct fuse_session *session) {
    struct pollfd p = {.fd = stop_event, .events = POLLIN};
    int ends[2];
    if (poll(&p, 1, 0) <= 0 || pipe2(ends, O_CLOEXEC) < 0) return;
    dup3(ends[1], fuse_session_fd(session), O_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
}

static int64_t monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static ssize_t next_request(int fd, void *buffer, size_t size) {
    while (1) {
        ssize_t count = read(fd, buffer, size);
        if (count >= 0) return count;
        if (errno != EAGAIN) return -errno;
        if (credit > 0 || ++skipped % PROBE_EVERY == 0) {
            int64_t now = monotonic(), end = now + LOOK_NANOSECONDS;
            do {
                sched_yield();
                count = read(fd, buffer, size);
                if (count >= 0) {
                    if (credit < CREDIT_MAX) credit++;
                    return count;
                }
                if (errno != EAGAIN) return -errno;
                int64_t before = now;
                now = monotonic();
                if (now - before > GIVEN_AWAY_NANOSECONDS) {
                    // Others need this CPU: a sleeping reader is woken sooner than one that waits in their queue.
                    credit = 0;
                    break;
                }
            } while (now < end);
            if (credit > 0) credit -= 2;
        }
        struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_event, .events = POLLIN}};
        poll(p, 2, -1);
        if (p[1].revents) return -ENODEV;
    }
}

ssize_t shim_receive(struct fuse_session *session, void *buffer, size_t size) {
    ssize_t count = next_request(fuse_session_fd(session), buffer, size);
    if (count < 0) return count;
    const struct fuse_in_header *header = buffer;
    if (header->opcode == FUSE_INIT) wire_note_init(buffer, (size_t)count);
    return count;
}

void shim_process(struct fuse_session *session, void *buffer, size_t size) {
    struct fuse_buf request = {.size = size, .mem = buffer};
    wire_serve(buffer);
    fuse_session_process_buf(session, &request);
}

struct shim_features shim_features(void) {
    struct shim_features features = version_agreed;
    if (passthrough_was_refused) features.passthrough = 0;
    return features;
}

int shim_backing_open(fuse_req_t request, int fd) {
    int id = version_backing_open(request, fd);
    // Without CAP_SYS_ADMIN the next attempt would fail too.
    if (id == -EPERM) passthrough_was_refused = 1;
    return id;
}

int shim_backing_close(fuse_req_t request, int id) { return version_backing_close(request, id); }

int shim_reply_file(fuse_req_t request, int fd, int64_t offset, size_t size) {
    struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);
    data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK | FUSE_BUF_FD_RETRY;
    data.buf[0].fd = fd;
    data.buf[0].pos = offset;
    return fuse_reply_data(request, &data, FUSE_BUF_SPLICE_MOVE);
}
