#define _GNU_SOURCE
#include "CFuseShims.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <fcntl.h>

// Newer than the headers of Debian 12.
#define INIT_EXT (1u << 30)
#define HANDLE_KILLPRIV_V2 (1u << 28)
#define FLAGS2_PASSTHROUGH (1u << 5)
#define FLAGS2_DIRECT_IO_MMAP (1u << 4)
struct backing_map { int32_t fd; uint32_t flags; uint64_t padding; };
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)
struct init_reply {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth, unused[6];
};

// Of the one session of this process; written before and during INIT, read after it.
static struct {
    uint64_t init_unique;
    uint32_t offered, offered2;
    unsigned stack_depth;
    struct shim_features features;
} wire;

struct fuse_session *shim_session_new(
    int argc, char **argv, const struct fuse_lowlevel_ops *ops, size_t size, void *userdata) {
    struct fuse_args args = {.argc = argc, .argv = argv, .allocated = 0};
    struct fuse_session *session = fuse_session_new(&args, ops, size, userdata);
    fuse_opt_free_args(&args);
    return session;
}

static void complete_init(struct init_reply *reply) {
    if (wire.offered & HANDLE_KILLPRIV_V2) {
        reply->flags |= HANDLE_KILLPRIV_V2;
        wire.features.killpriv_v2 = 1;
    }
    // A write whose buffer begins within a page spans one page more than its length.
    if (reply->max_pages) reply->max_pages = 256;
    if (!(wire.offered & INIT_EXT)) return;
    reply->flags |= INIT_EXT;
    if (wire.offered2 & FLAGS2_DIRECT_IO_MMAP) {
        reply->flags2 |= FLAGS2_DIRECT_IO_MMAP;
        wire.features.direct_io_mmap = 1;
    }
    if ((wire.offered2 & FLAGS2_PASSTHROUGH) && wire.stack_depth > 0) {
        reply->flags2 |= FLAGS2_PASSTHROUGH;
        reply->max_stack_depth = wire.stack_depth;
        wire.features.passthrough = 1;
    }
}

static ssize_t wire_writev(int fd, struct iovec *iov, int count, void *userdata) {
    (void)userdata;
    if (wire.init_unique && count == 2 && iov[0].iov_len == sizeof(struct fuse_out_header)) {
        struct fuse_out_header *header = iov[0].iov_base;
        if (header->unique == wire.init_unique && iov[1].iov_len >= sizeof(struct init_reply)) {
            wire.init_unique = 0;
            complete_init(iov[1].iov_base);
        }
    }
    return writev(fd, iov, count);
}

static ssize_t wire_read(int fd, void *buffer, size_t size, void *userdata) {
    (void)userdata;
    return read(fd, buffer, size);
}

static ssize_t wire_splice(int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)userdata;
    return splice(in, in_off, out, out_off, size, flags);
}

int shim_take_over_io(struct fuse_session *session, unsigned stack_depth) {
    wire.stack_depth = stack_depth;
    struct fuse_custom_io io = {
        .writev = wire_writev, .read = wire_read, .splice_receive = wire_splice, .splice_send = wire_splice};
    int fd = fuse_session_fd(session);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fuse_session_custom_io(session, &io, fd);
}

// Waking a sleeping reader on another CPU costs several times what a request does, and the next
// request mostly comes at once. So the reader looks again for a moment, giving way to whoever
// wants the CPU, before it sleeps; when that has not paid of late, it does so only now and then.
enum { LOOK_NANOSECONDS = 40000, GIVEN_AWAY_NANOSECONDS = 20000, CREDIT_MAX = 16, PROBE_EVERY = 64 };
static int credit = CREDIT_MAX;  // of the one thread that reads; passed on with the lead
static unsigned skipped;

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
                    // Others need this CPU: asleep, the reader is woken sooner than in their queue.
                    credit = 0;
                    break;
                }
            } while (now < end);
            if (credit > 0) credit -= 2;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, -1);
    }
}

ssize_t shim_receive(struct fuse_session *session, void *buffer, size_t size) {
    ssize_t count = next_request(fuse_session_fd(session), buffer, size);
    if (count < 0) return count;
    const struct fuse_in_header *header = buffer;
    if (header->opcode == FUSE_INIT && (size_t)count >= sizeof *header + 20) {
        const uint32_t *words = (const uint32_t *)(header + 1);
        wire.init_unique = header->unique;
        wire.offered = words[3];
        wire.offered2 = words[3] & INIT_EXT ? words[4] : 0;
    }
    return count;
}

void shim_process(struct fuse_session *session, void *buffer, size_t size) {
    struct fuse_buf request = {.size = size, .mem = buffer};
    fuse_session_process_buf(session, &request);
}

struct shim_features shim_features(void) { return wire.features; }

int shim_backing_open(struct fuse_session *session, int fd) {
    struct backing_map map = {.fd = fd};
    int id = ioctl(fuse_session_fd(session), BACKING_OPEN, &map);
    return id < 0 ? -errno : id;
}

int shim_backing_close(struct fuse_session *session, int id) {
    uint32_t number = (uint32_t)id;
    return ioctl(fuse_session_fd(session), BACKING_CLOSE, &number) < 0 ? -errno : 0;
}

int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct { uint64_t fh; uint32_t flags; int32_t backing_id; } reply = {handle, flags, backing_id};
    return fuse_reply_buf(request, (const char *)&reply, sizeof reply);
}

int shim_reply_file(fuse_req_t request, int fd, int64_t offset, size_t size) {
    struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);
    data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK | FUSE_BUF_FD_RETRY;
    data.buf[0].fd = fd;
    data.buf[0].pos = offset;
    return fuse_reply_data(request, &data, FUSE_BUF_SPLICE_MOVE);
}
