// The connection to the kernel, of which a process has one: every request comes by channel_receive, and every
// answer and notification goes by channel_send or channel_splice. Nothing else reads or writes it. Another transport has the
// same functions, from which shim_take_over_io would choose.
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// `fd` is /dev/fuse, mounted. 0, or -errno.
int channel_open(int fd);
// One request; its length, or -errno. Of one thread at a time. -ENODEV after channel_stop.
ssize_t channel_receive(void *buffer, size_t size);
// An answer or a notification, as writev(2): -1 and errno on failure.
ssize_t channel_send(struct iovec *iov, int count);
// An answer with data out of a pipe, as splice(2). `unique` is that of the request.
ssize_t channel_splice(int pipe, off_t *offset, size_t size, unsigned flags, uint64_t unique);

// Anybody may call these, at any time. From now on channel_receive returns -ENODEV: what still uses the mount is cut off.
void channel_stop(void);
// The same, because of an error of the connection that does not go away.
void channel_fail(int error);
// That error; 0 if there was none.
int channel_failure(void);
// After channel_stop, when no worker is left: requests that have not been served fail, including those of our own notifier.
void channel_cut_off(void);

#endif
