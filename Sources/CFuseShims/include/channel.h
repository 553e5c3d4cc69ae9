// The connection to the kernel, of which a process has one. Requests come through channel_receive or, by io_uring, through ring.h.
// Every answer and notification goes through channel_send or channel_splice. Nothing else reads or writes the connection.
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// `fd` is an open /dev/fuse that is already mounted. Returns 0, or -errno.
int channel_open(int fd);
// Receives one request and returns its length, or -errno; -ENODEV after channel_stop. Only one thread at a time may call
// this.
ssize_t channel_receive(void *buffer, size_t size);
// Sends an answer or a notification. Like writev(2), it returns -1 and sets errno on failure.
ssize_t channel_send(struct iovec *iov, int count);
// Sends an answer with data from a pipe, like splice(2). `unique` belongs to the request.
ssize_t channel_splice(int pipe, off_t *offset, size_t size, unsigned flags, uint64_t unique);

// Makes channel_receive return -ENODEV from now on, so no further request is served. Any thread may call this and the next two
// functions, at any time.
void channel_stop(void);
int channel_is_stopped(void);
// The open /dev/fuse.
int channel_device(void);
// Stops because of a permanent error of the connection.
void channel_fail(int error);
// Returns the error given to channel_fail, or 0 if there was none.
int channel_failure(void);
// Fails the requests that were not served, including those of our own notifier. Called after channel_stop, when no worker is
// left.
void channel_cut_off(void);

#endif
