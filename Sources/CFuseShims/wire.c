#define _GNU_SOURCE
#include "wire.h"
#include "channel.h"
#include "versions.h"

#include <errno.h>
#include <linux/fuse.h>
#include <sys/uio.h>

// The only INIT request of this process.
static struct {
    uint64_t unique;
    uint32_t offered, offered2;
} init;

// FUSE_OVER_IO_URING in flags2, which is newer than the headers of Debian 12.
#define OVER_IO_URING (1u << 9)
// Whether the answer to INIT asks for requests by io_uring. Only the thread that serves INIT uses it.
static int asks_for_rings;

static void complete_init(struct init_reply *reply) {
    // A write whose buffer begins within a page spans one page more than its length, but libfuse requests only the pages that
    // max_write needs. 256 is the kernel's default limit.
    if (reply->max_pages) reply->max_pages = 256;
    version_complete_init(reply, init.offered, init.offered2);
    asks_for_rings = ring_is_wanted() && (init.offered2 & OVER_IO_URING) && (reply->flags & INIT_EXT);
    if (asks_for_rings) reply->flags2 |= OVER_IO_URING;
}

// Set before the session has a second thread.
static shim_answer_hook *on_answer;
static void *on_answer_context;

void shim_on_answer(shim_answer_hook *hook, void *context) {
    on_answer = hook;
    on_answer_context = context;
}

static void tell_answer(const struct iovec *iov, int count) {
    const struct fuse_out_header *header = iov[0].iov_base;
    if (iov[0].iov_len < sizeof *header || !header->unique) return;
    on_answer(
        on_answer_context, header->unique, header->error, count == 2 ? iov[1].iov_base : NULL,
        header->len - sizeof *header);
}

static ssize_t wire_writev(int fd, struct iovec *iov, int count, void *userdata) {
    (void)fd;
    (void)userdata;
    int is_init = 0;
    if (init.unique && count == 2 && iov[0].iov_len == sizeof(struct fuse_out_header)) {
        struct fuse_out_header *header = iov[0].iov_base;
        if (header->unique == init.unique && iov[1].iov_len >= sizeof(struct init_reply)) {
            init.unique = 0;
            complete_init(iov[1].iov_base);
            is_init = 1;
        }
    }
    if (on_answer) tell_answer(iov, count);
    ssize_t result = channel_send(iov, count);
    if (is_init) ring_agree(result >= 0 && asks_for_rings);
    return result;
}

void shim_refuse(uint64_t unique, int error) {
    struct fuse_out_header header = {.len = sizeof header, .error = -error, .unique = unique};
    struct iovec whole = {.iov_base = &header, .iov_len = sizeof header};
    if (on_answer) tell_answer(&whole, 1);
    channel_send(&whole, 1);
}

// Sends an answer with data from a file, on the thread that serves the request.
static ssize_t wire_splice_send(
    int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)out;
    (void)out_off;
    (void)userdata;
    const struct fuse_in_header *request = shim_served().bytes;
    uint64_t unique = request ? request->unique : 0;
    if (on_answer) on_answer(on_answer_context, unique, 0, NULL, size - sizeof(struct fuse_out_header));
    return channel_splice(in, in_off, size, flags, unique);
}

// libfuse calls neither of the next two functions, because requests come through channel_receive. It insists on the first.
static ssize_t wire_read(int fd, void *buffer, size_t size, void *userdata) {
    (void)fd;
    (void)buffer;
    (void)size;
    (void)userdata;
    errno = ENOSYS;
    return -1;
}
static ssize_t wire_splice_receive(
    int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)in_off;
    (void)out;
    (void)out_off;
    (void)flags;
    return wire_read(in, NULL, size, userdata);
}

int wire_take_over(struct fuse_session *session) {
    struct fuse_custom_io io = {
        .writev = wire_writev, .read = wire_read, .splice_receive = wire_splice_receive, .splice_send = wire_splice_send};
    return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

void wire_note_init(const void *request, size_t size) {
    const struct fuse_in_header *header = request;
    if (size < sizeof *header + 20) return;
    const uint32_t *words = (const uint32_t *)(header + 1);
    init.unique = header->unique;
    init.offered = words[3];
    init.offered2 = words[3] & INIT_EXT ? words[4] : 0;
}
