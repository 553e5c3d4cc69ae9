// Answers FUSE_STATX, which libfuse supports only from version 3.18 on.
#define _GNU_SOURCE
#include "CFuseShims.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

// These types are newer than the headers of Debian 12.
struct wire_time { int64_t seconds; uint32_t nanoseconds; int32_t reserved; };
struct wire_statx {
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, spare;
    uint64_t ino, size, blocks, attributes_mask;
    struct wire_time atime, btime, ctime, mtime;
    uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
    uint64_t spare2[14];
};
struct wire_reply {
    uint64_t valid;
    uint32_t valid_nanoseconds, flags;
    uint64_t spare[2];
    struct wire_statx stat;
};
_Static_assert(sizeof(struct wire_reply) == 288, "struct fuse_statx_out");

static struct wire_time wire_time(struct timespec time) {
    return (struct wire_time){.seconds = time.tv_sec, .nanoseconds = (uint32_t)time.tv_nsec};
}

int shim_reply_statx(fuse_req_t request, const struct stat *status, int64_t birth, double timeout) {
    struct wire_reply reply = {
        .valid = (uint64_t)timeout,
        .stat = {
            .mask = STATX_BASIC_STATS,
            .blksize = (uint32_t)status->st_blksize,
            .nlink = (uint32_t)status->st_nlink,
            .uid = status->st_uid,
            .gid = status->st_gid,
            .mode = (uint16_t)status->st_mode,
            .ino = status->st_ino,
            .size = (uint64_t)status->st_size,
            .blocks = (uint64_t)status->st_blocks,
            .atime = wire_time(status->st_atim),
            .ctime = wire_time(status->st_ctim),
            .mtime = wire_time(status->st_mtim),
            .rdev_major = major(status->st_rdev),
            .rdev_minor = minor(status->st_rdev),
        }};
    if (birth != INT64_MIN) {
        int64_t seconds = birth / 1000000000 - (birth % 1000000000 < 0);
        reply.stat.mask |= STATX_BTIME;
        reply.stat.btime = (struct wire_time){
            .seconds = seconds, .nanoseconds = (uint32_t)(birth - seconds * 1000000000)};
    }
    return fuse_reply_buf(request, (const char *)&reply, sizeof reply);
}
