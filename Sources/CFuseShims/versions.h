// What depends on libfuse's version: version-3.14.c and version-3.17.c each have all of it, and
// the headers that pkg-config finds choose one of them. libfuse knows of passthrough since 3.17;
// before, we complete its INIT reply and call the kernel ourselves.
#ifndef VERSIONS_H
#define VERSIONS_H

#include "CFuseShims.h"

#define KNOWS_PASSTHROUGH (FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17))

// Of the one session of this process: written before and during INIT, read after it.
extern struct shim_features version_agreed;
extern unsigned version_stack_depth;

void version_set_log(void);
int version_take_over_io(struct fuse_session *session);
// INIT as the kernel sent it, before libfuse sees it.
void version_note_init(const void *request, size_t size);
// `wanted`: FUSE_CAP_* that every libfuse from 3.14 on has. Adds what makes up struct shim_features.
void version_want(struct fuse_conn_info *connection, uint64_t wanted);
int version_backing_open(fuse_req_t request, int fd);
int version_backing_close(fuse_req_t request, int id);

#endif
