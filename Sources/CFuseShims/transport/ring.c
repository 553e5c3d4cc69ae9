#define _GNU_SOURCE
#include "ring.h"
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// These parts of <linux/fuse.h> and <linux/io_uring.h> are newer than the headers of Debian 12.
enum { SETUP_NO_MMAP = 1 << 14 };
enum { CMD_REGISTER = 1, CMD_COMMIT_AND_FETCH = 2, NOTIFY_REPLY = 41 };
struct headers {
    char in_out[128], op_in[128];
    struct { uint64_t flags, commit_id; uint32_t payload_sz, padding; uint64_t reserved; } entry;
};
struct command { uint64_t flags, commit_id; uint16_t qid; uint8_t padding[6]; };

enum { PAGE = 4096, PAYLOAD = 1 << 20, ENTRIES = 4, SQE_SIZE = 128, RINGS_MAX = 4096 };
// Pages for the submissions, the queues, and the headers; the payload; and a page and a payload for the copy.
enum { MEMORY = 3 * PAGE + PAYLOAD + PAGE + PAYLOAD };
// What a completion is about.
enum { OF_REQUEST = 1, OF_WAKING = 2 };

struct ring {
    int fd, wake_event;
    unsigned queue;
    // The submission and the completion queue.
    _Atomic unsigned *sq_tail, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask, to_submit;
    unsigned *sq_array;
    struct io_uring_cqe *cqes;
    char *sqes;
    // The kernel writes requests to `headers` and `payload`, and reads answers from there.
    struct headers *headers;
    char *payload;
    struct iovec buffers[2];
    // A copy of the request, in one piece. The data of a WRITE is not copied: its beginning is put before the payload.
    char *copy;
    uint64_t wake_count;
    // The request that has not been answered; 0 if there is none.
    _Atomic uint64_t unique;
    // 1 once another thread has answered the request.
    _Atomic uint32_t late_answer;
    // Whether a request that has been noted is in the ring, so that no other can be in it.
    _Atomic int holds_noted;
    // How often other threads have asked for everything that was sent to be noted, and up to which time this was done.
    _Atomic uint64_t asked, caught_up;
    uint64_t seen;
    uint32_t opcode;
    // Whether the kernel knows the ring, and its place in `rings`.
    int is_registered;
    unsigned place;
    char *memory;
};

// All rings, in the order in which they were made. A ring's memory stays until the process ends, because another thread may
// still answer.
static struct ring *_Atomic rings[RINGS_MAX];
static _Atomic unsigned ring_count;
static _Thread_local struct ring *own;
// 0 before the answer to INIT, 1 if the kernel has agreed, 2 if not.
static _Atomic uint32_t agreement;
static _Atomic int is_wanted, is_in_use;
// Set by ring_end from any thread.
static _Atomic int is_ending;
// Threads in ring_catch_up, and what they wait for to change.
static _Atomic uint32_t catching_up, catch_up_turn;

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *time) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, time, NULL, 0);
}

int ring_queues(void) {
    char text[256];
    int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0) return -EIO;
    text[size] = 0;
    // The kernel has a queue for each possible CPU, by number; with a gap in the numbers, a queue would be missing.
    int first = -1, last = -1;
    if (sscanf(text, "%d-%d", &first, &last) == 1) last = first;
    return first == 0 && !strchr(text, ',') ? last + 1 : -ENOTSUP;
}

// Makes a ring whose queues are in our own memory. If they were mapped from the ring, and the daemon were killed while one of
// its threads is inside the mount, the thread would keep the ring, and the ring the request for which the thread waits.
static int setup(struct io_uring_params *p, char *sqes, char *queues) {
    p->flags = IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | SETUP_NO_MMAP;
    uint64_t place = (uintptr_t)sqes;
    memcpy((char *)&p->sq_off + sizeof p->sq_off - sizeof place, &place, sizeof place);
    place = (uintptr_t)queues;
    memcpy((char *)&p->cq_off + sizeof p->cq_off - sizeof place, &place, sizeof place);
    int fd = (int)syscall(SYS_io_uring_setup, ENTRIES, p);
    return fd < 0 ? -errno : fd;
}

static char *memory(size_t size) {
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int ring_probe(void) {
    char value = 0;
    int fd = open("/sys/module/fuse/parameters/enable_uring", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -ENOSYS;
    ssize_t size = read(fd, &value, 1);
    close(fd);
    if (size != 1 || value != 'Y') return -EOPNOTSUPP;
    struct io_uring_params p = {0};
    char *pages = memory(2 * PAGE);
    if (!pages) return -errno;
    int ring = setup(&p, pages, pages + PAGE);
    if (ring >= 0) {
        // A filter for system calls may forbid only this one.
        int result = syscall(SYS_io_uring_enter, ring, 0, 0, 0, NULL, 0) < 0 ? -errno : 0;
        close(ring);
        ring = result;
    }
    munmap(pages, 2 * PAGE);
    return ring < 0 ? ring : 0;
}

static struct io_uring_sqe *next_sqe(struct ring *r) {
    unsigned tail = atomic_load_explicit(r->sq_tail, memory_order_relaxed);
    struct io_uring_sqe *sqe = (struct io_uring_sqe *)(r->sqes + (tail & r->sq_mask) * SQE_SIZE);
    memset(sqe, 0, SQE_SIZE);
    r->sq_array[tail & r->sq_mask] = tail & r->sq_mask;
    return sqe;
}
static void push(struct ring *r) {
    atomic_store_explicit(r->sq_tail, atomic_load_explicit(r->sq_tail, memory_order_relaxed) + 1, memory_order_release);
    r->to_submit++;
}

// Submits what has been pushed. With `wait`, waits for a completion; with `collect`, gets those that are due.
static int enter(struct ring *r, int wait, int collect) {
    for (;;) {
        long result = syscall(
            SYS_io_uring_enter, r->fd, r->to_submit, wait, wait || collect ? IORING_ENTER_GETEVENTS : 0, NULL, 0);
        if (result >= 0) {
            r->to_submit -= (unsigned)result;
            return 0;
        }
        if (errno != EINTR) return -errno;
        if (wait) return 0;
    }
}

static void push_command(struct ring *r, unsigned operation, uint64_t commit_id) {
    struct io_uring_sqe *sqe = next_sqe(r);
    struct command command = {.commit_id = commit_id, .qid = (uint16_t)r->queue};
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = channel_device();
    sqe->cmd_op = operation;
    if (operation == CMD_REGISTER) {
        sqe->addr = (uintptr_t)r->buffers;
        sqe->len = 2;
    }
    sqe->user_data = OF_REQUEST;
    memcpy(sqe->cmd, &command, sizeof command);
    push(r);
}

static void push_waking(struct ring *r) {
    struct io_uring_sqe *sqe = next_sqe(r);
    sqe->opcode = IORING_OP_READ;
    sqe->fd = r->wake_event;
    sqe->addr = (uintptr_t)&r->wake_count;
    sqe->len = sizeof r->wake_count;
    sqe->user_data = OF_WAKING;
    push(r);
}

static int fill(struct ring *r) {
    struct io_uring_params p = {0};
    char *all = r->memory = memory(MEMORY);
    if (!all) return -errno;
    char *queues = all + PAGE;
    r->fd = setup(&p, all, queues);
    if (r->fd < 0) return r->fd;
    r->wake_event = eventfd(0, EFD_CLOEXEC);
    if (r->wake_event < 0) return -errno;
    r->sqes = all;
    r->sq_tail = (_Atomic unsigned *)(queues + p.sq_off.tail);
    r->sq_mask = *(unsigned *)(queues + p.sq_off.ring_mask);
    r->sq_array = (unsigned *)(queues + p.sq_off.array);
    r->cq_head = (_Atomic unsigned *)(queues + p.cq_off.head);
    r->cq_tail = (_Atomic unsigned *)(queues + p.cq_off.tail);
    r->cq_mask = *(unsigned *)(queues + p.cq_off.ring_mask);
    r->cqes = (struct io_uring_cqe *)(queues + p.cq_off.cqes);
    r->headers = (struct headers *)(all + 2 * PAGE);
    r->payload = all + 3 * PAGE;
    r->copy = r->payload + PAYLOAD;
    r->buffers[0] = (struct iovec){.iov_base = r->headers, .iov_len = sizeof *r->headers};
    r->buffers[1] = (struct iovec){.iov_base = r->payload, .iov_len = PAYLOAD};
    return 0;
}

int ring_pin(unsigned cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    return sched_setaffinity(0, sizeof cpus, &cpus) < 0 ? -errno : 0;
}

// Gives back what a ring has that the kernel has never used.
static void discard(struct ring *r) {
    if (r->fd >= 0) close(r->fd);
    if (r->wake_event >= 0) close(r->wake_event);
    if (r->memory) munmap(r->memory, MEMORY);
    free(r);
}

struct ring *ring_new(unsigned queue) {
    struct ring *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->fd = r->wake_event = -1;
    r->queue = queue;
    int result = ring_pin(queue);
    if (result == 0) result = fill(r);
    if (result == 0) {
        unsigned place = atomic_fetch_add(&ring_count, 1);
        if (place < RINGS_MAX) {
            r->place = place;
            atomic_store(&rings[place], r);
            own = r;
            return r;
        }
        atomic_fetch_sub(&ring_count, 1);
        result = -EMFILE;
    }
    discard(r);
    errno = -result;
    return NULL;
}

void ring_close(struct ring *r) {
    own = NULL;
    if (!r->is_registered) {
        atomic_store(&rings[r->place], NULL);
        return discard(r);
    }
    atomic_store(&r->holds_noted, 1);
    close(r->fd);
}

// How many places of `rings` may be in use.
static unsigned places(void) {
    unsigned count = atomic_load(&ring_count);
    return count < RINGS_MAX ? count : RINGS_MAX;
}

void ring_want(void) { atomic_store(&is_wanted, 1); }
void ring_end(void) {
    atomic_store(&is_ending, 1);
    if (!atomic_load(&agreement)) ring_agree(0);
    unsigned count = places();
    for (unsigned i = 0; i < count; i++) {
        struct ring *r = atomic_load(&rings[i]);
        if (r) futex(&r->late_answer, FUTEX_WAKE, 1, NULL);
    }
    ring_wake_all();
}
int ring_is_wanted(void) { return atomic_load(&is_wanted); }
int ring_is_in_use(void) { return atomic_load(&is_in_use); }
void ring_agree(int is_agreed) {
    atomic_store(&agreement, is_agreed ? 1 : 2);
    futex(&agreement, FUTEX_WAKE, INT32_MAX, NULL);
}

int ring_register(struct ring *r) {
    uint32_t agreed;
    while (!(agreed = atomic_load(&agreement))) futex(&agreement, FUTEX_WAIT, 0, NULL);
    if (agreed != 1) return -ECANCELED;
    push_waking(r);
    push_command(r, CMD_REGISTER, 0);
    r->is_registered = 1;
    return enter(r, 0, 0);
}

// A thread that waits in ring_catch_up may have what it waits for.
static void tell_progress(void) {
    if (!atomic_load(&catching_up)) return;
    atomic_fetch_add(&catch_up_turn, 1);
    futex(&catch_up_turn, FUTEX_WAKE, INT32_MAX, NULL);
}

static void catch_up(struct ring *r, uint64_t asked) {
    if (atomic_load_explicit(&r->caught_up, memory_order_relaxed) == asked) return;
    atomic_store(&r->caught_up, asked);
    tell_progress();
}

void ring_noted(struct ring *r) {
    atomic_store(&r->holds_noted, 1);
    if (atomic_load_explicit(&r->caught_up, memory_order_relaxed) != r->seen) atomic_store(&r->caught_up, r->seen);
    tell_progress();
}

// Puts the request together as it would come from /dev/fuse.
static ssize_t assembled(struct ring *r, void **request) {
    const struct fuse_in_header *header = (const void *)r->headers->in_out;
    size_t data = r->headers->entry.payload_sz;
    if (header->len < sizeof *header + data || data > PAYLOAD) return -EIO;
    size_t fixed = header->len - sizeof *header - data;
    if (fixed > sizeof r->headers->op_in) return -EIO;
    char *start = r->copy;
    if (header->opcode == FUSE_WRITE)
        start = r->payload - fixed - sizeof *header;
    else
        memcpy(start + sizeof *header + fixed, r->payload, data);
    memcpy(start, header, sizeof *header);
    memcpy(start + sizeof *header, r->headers->op_in, fixed);
    *request = start;
    return header->len;
}

// Takes the completions that are there. Returns 1 if a request has come, 0 if none has, or -errno.
static int take_completions(struct ring *r) {
    int result = 0;
    unsigned head = atomic_load_explicit(r->cq_head, memory_order_relaxed);
    for (; head != atomic_load_explicit(r->cq_tail, memory_order_acquire); head++) {
        const struct io_uring_cqe *cqe = &r->cqes[head & r->cq_mask];
        if (cqe->user_data == OF_WAKING)
            push_waking(r);
        else
            result = cqe->res < 0 ? cqe->res : 1;
    }
    atomic_store_explicit(r->cq_head, head, memory_order_release);
    return result;
}

ssize_t ring_receive(struct ring *r, void **request) {
    while (!channel_is_stopped() && !atomic_load(&is_ending)) {
        // What was sent before another thread has increased `asked` has a completion after this system call.
        uint64_t asked = atomic_load(&r->asked);
        int result = enter(r, asked == atomic_load_explicit(&r->caught_up, memory_order_relaxed), 1);
        if (result == 0) result = take_completions(r);
        if (result < 0) return result == -ENOTCONN || result == -ECANCELED ? -ENODEV : result;
        if (result > 0) {
            r->seen = asked;
            atomic_store_explicit(&is_in_use, 1, memory_order_relaxed);
            ssize_t length = assembled(r, request);
            const struct fuse_in_header *header = (const void *)r->headers->in_out;
            r->opcode = header->opcode;
            atomic_store_explicit(&r->late_answer, 0, memory_order_relaxed);
            atomic_store(&r->unique, header->unique);
            return length;
        }
        catch_up(r, asked);
    }
    return -ENODEV;
}

static int64_t monotonic_milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

// Waits until a ring has no request that was sent before `ticket` was drawn and has not been noted.
static void await_ring(struct ring *r, uint64_t ticket, int64_t end) {
    for (;;) {
        uint32_t turn = atomic_load(&catch_up_turn);
        if (atomic_load(&r->holds_noted) || atomic_load(&r->caught_up) >= ticket) return;
        int64_t left = end - monotonic_milliseconds();
        if (left <= 0) return;
        futex(&catch_up_turn, FUTEX_WAIT, turn, &(struct timespec){.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000});
    }
}

void ring_catch_up(int milliseconds) {
    if (!ring_is_in_use()) return;
    unsigned count = places();
    uint64_t one = 1, tickets[RINGS_MAX];
    int64_t end = monotonic_milliseconds() + milliseconds;
    atomic_fetch_add(&catching_up, 1);
    for (unsigned i = 0; i < count; i++) {
        struct ring *r = atomic_load(&rings[i]);
        tickets[i] = 0;
        if (!r || !r->is_registered || atomic_load(&r->holds_noted)) continue;
        tickets[i] = atomic_fetch_add(&r->asked, 1) + 1;
        if (write(r->wake_event, &one, sizeof one) < 0) continue;
    }
    for (unsigned i = 0; i < count; i++)
        if (tickets[i]) await_ring(atomic_load(&rings[i]), tickets[i], end);
    atomic_fetch_sub(&catching_up, 1);
}

// The kernel may put the next request into the ring's memory at once.
static void commit(struct ring *r, uint64_t unique) {
    atomic_store(&r->unique, 0);
    atomic_store(&r->holds_noted, 0);
    push_command(r, CMD_COMMIT_AND_FETCH, unique);
    int result = enter(r, 0, 0);
    if (result < 0) channel_fail(-result);
}

// Puts the answer where the kernel reads it.
static void put(struct ring *r, const struct iovec *iov, int count) {
    struct fuse_out_header header;
    memcpy(&header, iov[0].iov_base, sizeof header);
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        const char *from = iov[i].iov_base;
        size_t length = iov[i].iov_len;
        if (i == 0) from += sizeof header, length -= sizeof header;
        if (length > PAYLOAD - size) {
            fprintf(stderr, "purgefs: error: an answer is too long for the kernel; its caller gets EIO\n");
            header.error = -EIO;
            size = 0;
            break;
        }
        if (from != r->payload + size) memcpy(r->payload + size, from, length);
        size += length;
    }
    memcpy(r->headers->in_out, &header, sizeof header);
    r->headers->entry.payload_sz = (uint32_t)size;
}

int ring_send(uint64_t unique, const struct iovec *iov, int count) {
    struct ring *r = own;
    if (r && atomic_load_explicit(&r->unique, memory_order_relaxed) == unique) {
        put(r, iov, count);
        commit(r, unique);
        return 1;
    }
    unsigned all = places();
    for (unsigned i = 0; i < all; i++) {
        r = atomic_load(&rings[i]);
        if (!r || atomic_load(&r->unique) != unique) continue;
        put(r, iov, count);
        atomic_store(&r->late_answer, 1);
        futex(&r->late_answer, FUTEX_WAKE, 1, NULL);
        return 1;
    }
    return 0;
}

void *ring_payload(uint64_t unique, size_t *size) {
    if (!own || atomic_load_explicit(&own->unique, memory_order_relaxed) != unique) return NULL;
    *size = PAYLOAD;
    return own->payload;
}

int ring_awaits_answer(struct ring *r) { return atomic_load_explicit(&r->unique, memory_order_relaxed) != 0; }

void ring_finish(struct ring *r) {
    uint64_t unique = atomic_load(&r->unique);
    if (r->opcode == NOTIFY_REPLY) {
        struct fuse_out_header empty = {.len = sizeof empty, .unique = unique};
        put(r, &(struct iovec){.iov_base = &empty, .iov_len = sizeof empty}, 1);
        return commit(r, unique);
    }
    while (!atomic_load(&r->late_answer)) {
        if (atomic_load(&is_ending)) return;
        futex(&r->late_answer, FUTEX_WAIT, 0, NULL);
    }
    commit(r, unique);
}

void ring_wake_all(void) {
    uint64_t one = 1;
    unsigned count = places();
    for (unsigned i = 0; i < count; i++) {
        struct ring *r = atomic_load(&rings[i]);
        if (r && write(r->wake_event, &one, sizeof one) < 0) continue;
    }
}
