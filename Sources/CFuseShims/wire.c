#define _GNU_SOURCE
#include "wire.h"
#include "versions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

// About the one INIT of this process.
static struct {
    uint64_t unique;
    uint32_t offered, offered2;
} init;

static void complete_init(struct init_reply *reply) {
    // A write whose buffer begins within a page spans one page more than its length. No libfuse
    // lets us ask for more pages than max_write has.
    if (reply->max_pages) reply->max_pages = 256;
    version_complete_init(reply, init.offered, init.offered2);
}

// The request that this thread serves.
static _Thread_local uint64_t serving;

void wire_serve(const void *request) { serving = ((const struct fuse_in_header *)request)->unique; }

// libfuse frees a request whose answer the kernel has not accepted, and its caller would wait for ever: it gets EIO.
// If the kernel has found the request, it ends the request with EIO itself, and no longer knows it (ENOENT).
static void answer_error(int fd, uint64_t unique, int error) {
    struct fuse_out_header header = {.len = sizeof header, .error = -EIO, .unique = unique};
    fprintf(stderr, "purgefs: error: the kernel did not take an answer (%s); its caller gets EIO\n", strerror(error));
    for (int attempt = 0; attempt < 100; attempt++) {
        if (write(fd, &header, sizeof header) >= 0 || errno == ENOENT || errno == ENODEV) return;
        error = errno;
        usleep(1000);
    }
    shim_fail(error);
}

static ssize_t wire_writev(int fd, struct iovec *iov, int count, void *userdata) {
    (void)userdata;
    if (init.unique && count == 2 && iov[0].iov_len == sizeof(struct fuse_out_header)) {
        struct fuse_out_header *header = iov[0].iov_base;
        if (header->unique == init.unique && iov[1].iov_len >= sizeof(struct init_reply)) {
            init.unique = 0;
            complete_init(iov[1].iov_base);
        }
    }
    ssize_t result = writev(fd, iov, count);
    // ENOENT: the caller was interrupted, and no longer waits. Notifications have no unique.
    const struct fuse_out_header *header = iov[0].iov_base;
    if (result < 0 && errno != ENOENT && iov[0].iov_len >= sizeof *header && header->unique) {
        int error = errno;
        answer_error(fd, header->unique, error);
        errno = error;
    }
    return result;
}

static ssize_t wire_read(int fd, void *buffer, size_t size, void *userdata) {
    (void)userdata;
    return read(fd, buffer, size);
}

// An answer with data from a file, sent by the thread that serves the request.
static ssize_t wire_splice_answer(int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)userdata;
    ssize_t result = splice(in, in_off, out, out_off, size, flags);
    if (result < 0 && errno != ENOENT) {
        int error = errno;
        answer_error(out, serving, error);
        errno = error;
    }
    return result;
}

static ssize_t wire_splice(int in, off_t *in_off, int out, off_t *out_off, size_t size, unsigned flags, void *userdata) {
    (void)userdata;
    return splice(in, in_off, out, out_off, size, flags);
}

int wire_take_over(struct fuse_session *session) {
    struct fuse_custom_io io = {
        .writev = wire_writev, .read = wire_read, .splice_receive = wire_splice, .splice_send = wire_splice_answer};
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
