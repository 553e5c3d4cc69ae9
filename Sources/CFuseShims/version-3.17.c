// libfuse 3.17 and later: libfuse supports all features itself.
#include "versions.h"

#if KNOWS_PASSTHROUGH

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

// Set on a thread during a call that the kernel may refuse, because libfuse would log each refusal as an error.
static _Thread_local int may_be_refused;

static void write_log(enum fuse_log_level level, const char *format, va_list arguments) {
    (void)level;
    if (!may_be_refused) vfprintf(stderr, format, arguments);
}

void version_begin(struct fuse_session *session) {
    (void)session;
    fuse_set_log_func(write_log);
}

void version_complete_init(struct init_reply *reply, uint32_t offered, uint32_t offered2) {
    (void)reply;
    (void)offered;
    (void)offered2;
}

void version_want(struct fuse_conn_info *connection, uint64_t wanted) {
    wanted |= FUSE_CAP_HANDLE_KILLPRIV_V2 | FUSE_CAP_DIRECT_IO_ALLOW_MMAP | FUSE_CAP_NO_EXPORT_SUPPORT;
    if (version_stack_depth > 0) {
        wanted |= FUSE_CAP_PASSTHROUGH;
        // libfuse does not count the mount itself.
        connection->max_backing_stack_depth = version_stack_depth - 1;
    }
    wanted &= connection->capable_ext;
    fuse_unset_feature_flag(connection, ~wanted);  // features that libfuse requests by itself
    fuse_set_feature_flag(connection, wanted);
    version_agreed.passthrough = (wanted & FUSE_CAP_PASSTHROUGH) != 0;
    version_agreed.direct_io_mmap = (wanted & FUSE_CAP_DIRECT_IO_ALLOW_MMAP) != 0;
    version_agreed.killpriv_v2 = (wanted & FUSE_CAP_HANDLE_KILLPRIV_V2) != 0;
}

int version_backing_open(fuse_req_t request, int fd) {
    errno = 0;
    may_be_refused = 1;
    int id = fuse_passthrough_open(request, fd);
    may_be_refused = 0;
    // libfuse returns 0 for any refusal, and leaves errno as the ioctl set it.
    return id > 0 ? id : errno ? -errno : -EIO;
}

int version_backing_close(fuse_req_t request, int id) {
    return fuse_passthrough_close(request, id) < 0 ? -EIO : 0;
}

int shim_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id) {
    struct fuse_file_info info = {
        .fh = handle,
        .backing_id = backing_id,
        .direct_io = (flags & SHIM_FOPEN_DIRECT_IO) != 0,
        .keep_cache = (flags & SHIM_FOPEN_KEEP_CACHE) != 0,
        .nonseekable = (flags & SHIM_FOPEN_NONSEEKABLE) != 0,
        .cache_readdir = (flags & SHIM_FOPEN_CACHE_DIR) != 0,
        .noflush = (flags & SHIM_FOPEN_NOFLUSH) != 0,
        .parallel_direct_writes = (flags & SHIM_FOPEN_PARALLEL_DIRECT_WRITES) != 0,
    };
    return fuse_reply_open(request, &info);
}

#endif
