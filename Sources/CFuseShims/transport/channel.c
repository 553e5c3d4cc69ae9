#define _GNU_SOURCE
#include "channel.h"
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// channel_open sets `device` and `stop_event` before any other thread uses them.
static int device = -1;
// Readable after channel_stop, to wake the thread that polls.
static int stop_event = -1;
static _Atomic int failure;
// Set by channel_stop from any thread. A reader that always finds a request never polls, so it checks this.
static _Atomic int is_stopped;

int channel_open(int fd) {
    stop_event = eventfd(0, EFD_CLOEXEC);
    if (stop_event < 0) return -errno;
    device = fd;
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ? -errno : 0;
}

void channel_stop(void) {
    uint64_t one = 1;
    is_stopped = 1;
    if (write(stop_event, &one, sizeof one) < 0) return;  // the event is readable already
    ring_wake_all();
}

int channel_is_stopped(void) { return is_stopped; }
int channel_device(void) { return device; }

void channel_fail(int error) {
    failure = error;
    channel_stop();
}
int channel_failure(void) { return failure; }

// Closing the last descriptor of /dev/fuse makes all calls that wait for it fail. Its number then stands for a pipe that polls
// as POLLERR. From this, fuse_session_unmount concludes that its mount is gone, and leaves another mount alone that may be at
// the path now.
void channel_cut_off(void) {
    int ends[2];
    if (!is_stopped || pipe2(ends, O_CLOEXEC) < 0) return;
    dup3(ends[1], device, O_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
}

// Waking a sleeping reader on another CPU costs several times as much as a request, and the next request usually comes at
// once. So the reader polls for a moment before it sleeps, and yields the CPU meanwhile. If that has not paid off recently,
// it does so only from time to time.
enum { LOOK_NANOSECONDS = 40000, GIVEN_AWAY_NANOSECONDS = 20000, CREDIT_MAX = 16, PROBE_EVERY = 64 };
// Only the thread that is the reader uses these variables.
static int credit = CREDIT_MAX;
static unsigned skipped;

static int64_t monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

ssize_t channel_receive(void *buffer, size_t size) {
    while (!is_stopped) {
        ssize_t count = read(device, buffer, size);
        if (count >= 0) return count;
        if (errno != EAGAIN) return -errno;
        if (credit > 0 || ++skipped % PROBE_EVERY == 0) {
            int64_t now = monotonic(), end = now + LOOK_NANOSECONDS;
            do {
                sched_yield();
                count = read(device, buffer, size);
                if (count >= 0) {
                    if (credit < CREDIT_MAX) credit++;
                    return count;
                }
                if (errno != EAGAIN) return -errno;
                int64_t before = now;
                now = monotonic();
                if (now - before > GIVEN_AWAY_NANOSECONDS) {
                    // Other threads need this CPU. A sleeping reader gets it back sooner than one that waits in the run queue.
                    credit = 0;
                    break;
                }
            } while (now < end);
            if (credit > 0) credit -= 2;
        }
        struct pollfd p[] = {{.fd = device, .events = POLLIN}, {.fd = stop_event, .events = POLLIN}};
        poll(p, 2, -1);
    }
    return -ENODEV;
}

// Answers EIO to a request whose answer the kernel did not accept: libfuse frees the request, and its caller would wait
// forever. If the kernel did find the request, it has already ended the request with EIO, and this answer fails with ENOENT.
static void answer_error(uint64_t unique, int error) {
    struct fuse_out_header header = {.len = sizeof header, .error = -EIO, .unique = unique};
    fprintf(stderr, "purgefs: error: the kernel did not take an answer (%s); its caller gets EIO\n", strerror(error));
    for (int attempt = 0; attempt < 100; attempt++) {
        if (write(device, &header, sizeof header) >= 0 || errno == ENOENT || errno == ENODEV) return;
        error = errno;
        usleep(1000);
    }
    channel_fail(error);
}

// ENOENT means that the caller was interrupted and no longer waits. Notifications have no unique.
static ssize_t checked(ssize_t result, uint64_t unique) {
    if (result >= 0 || errno == ENOENT || !unique) return result;
    int error = errno;
    answer_error(unique, error);
    errno = error;
    return result;
}

// The kernel pins a page for each piece of an answer, so a short answer is sent in one piece within one page.
enum { WHOLE = 256 };

// Joins an answer into one piece, and returns its length, or 0 if it is too long.
static size_t joined(const struct iovec *iov, int count, char *whole) {
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        if (iov[i].iov_len > WHOLE - size) return 0;
        memcpy(whole + size, iov[i].iov_base, iov[i].iov_len);
        size += iov[i].iov_len;
    }
    return size;
}

ssize_t channel_send(struct iovec *iov, int count) {
    const struct fuse_out_header *header = iov[0].iov_base;
    uint64_t unique = iov[0].iov_len >= sizeof *header ? header->unique : 0;
    if (unique && ring_send(unique, iov, count)) return header->len;
    char whole[WHOLE] __attribute__((aligned(WHOLE)));
    size_t size = joined(iov, count, whole);
    return checked(size ? write(device, whole, size) : writev(device, iov, count), unique);
}

ssize_t channel_splice(int pipe, off_t *offset, size_t size, unsigned flags, uint64_t unique) {
    return checked(splice(pipe, offset, device, NULL, size, flags), unique);
}
