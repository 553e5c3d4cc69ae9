// The bytes between libfuse and the kernel.
#ifndef WIRE_H
#define WIRE_H

#include "CFuseShims.h"

#define INIT_EXT (1u << 30)

// struct fuse_init_out, with the members that the headers of Debian 12 lack.
struct init_reply {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth, unused[6];
};

// Takes over libfuse's reads and writes.
int wire_take_over(struct fuse_session *session);
// Notes INIT as the kernel sent it, before libfuse sees it.
void wire_note_init(const void *request, size_t size);

#endif
