// Requests by io_uring, a second way for requests and answers beside the reads and writes of channel.c (docs/INTERNALS.md,
// Requests by io_uring). Each thread that serves requests has a ring of its own with room for one request. The request is
// received with the answer to the one before it, on the CPU of the program that made the call.
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// Used by the thread that has made it, except where the text says otherwise.
struct ring;

// Returns 0 if the kernel may hand over requests by io_uring. Otherwise returns -ENOSYS if the kernel cannot, -EOPNOTSUPP if root
// has not switched it on, or the error with which the kernel refuses a ring.
int ring_probe(void);
// Returns how many CPUs the machine can have, which is the number of the kernel's queues. Returns -errno.
int ring_queues(void);

// Binds the calling thread to a CPU. Returns 0 or -errno.
int ring_pin(unsigned cpu);
// Makes the calling thread's ring, for calls made on the CPU `queue`, and binds the thread to it. Returns NULL and sets errno.
struct ring *ring_new(unsigned queue);
// Says that every queue has a thread with a ring. Without this call, the kernel is not asked for io_uring.
void ring_want(void);
// Makes all threads end: ring_register, ring_receive and ring_finish return. Requests that are in a ring are not answered.
void ring_end(void);
// Waits for the answer to INIT, and then hands the ring over to the kernel. Returns 0, or -errno: -ECANCELED if the
// kernel has not agreed.
int ring_register(struct ring *ring);
// Receives one request and returns its length, or -errno; -ENODEV at the end. `*request` is valid until the next call.
ssize_t ring_receive(struct ring *ring, void **request);
// Says that the received request has been noted: from now on it counts for every later request.
void ring_noted(struct ring *ring);
// Whether the request has not been answered by the thread that serves it.
int ring_awaits_answer(struct ring *ring);
// Waits until another thread has answered the request.
void ring_finish(struct ring *ring);
// Closes the ring. The request in it is not answered.
void ring_close(struct ring *ring);

// Waits until all requests that the kernel has sent so far by any ring have been noted, for at most `milliseconds`. Does
// nothing without rings.
void ring_catch_up(int milliseconds);
// Whether requests come by io_uring.
int ring_is_in_use(void);

// For channel.c and wire.c.
// Whether the mount wants io_uring, and what the kernel has said to it.
int ring_is_wanted(void);
void ring_agree(int is_agreed);
// Answers the request `unique` if it has come by a ring. Returns 0 otherwise.
int ring_send(uint64_t unique, const struct iovec *iov, int count);
// Where the calling thread may put the data of its answer to `unique`; NULL if there is no such place.
void *ring_payload(uint64_t unique, size_t *size);
// Wakes all threads that wait for a request, because the channel has been stopped.
void ring_wake_all(void);

#endif
