// The parts that depend on libfuse's version. version-3.14.c and version-3.17.c both have all of them, and the headers that
// pkg-config finds select one. libfuse supports passthrough since 3.17. For earlier versions we complete its INIT reply and
// call the kernel ourselves.
#ifndef VERSIONS_H
#define VERSIONS_H

#include "CFuseShims.h"
#include "wire.h"

#define KNOWS_PASSTHROUGH (FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17))

// The features of this process's only session. Set before and during INIT, and read afterwards.
extern struct shim_features version_agreed;
extern unsigned version_stack_depth;

// Called after mounting.
void version_begin(struct fuse_session *session);
// Completes the INIT reply on its way to the kernel. `offered` and `offered2` are the kernel's flags and flags2.
void version_complete_init(struct init_reply *reply, uint32_t offered, uint32_t offered2);
// Requests the features in `wanted` that the kernel offers: FUSE_CAP_* that every libfuse since 3.14 has. From libfuse 3.17
// on, also requests the newer features, which version_complete_init adds to the INIT reply for earlier versions.
void version_want(struct fuse_conn_info *connection, uint64_t wanted);
int version_backing_open(fuse_req_t request, int fd);
int version_backing_close(fuse_req_t request, int id);

#endif
