// System calls, many of which Glibc's Swift module hides (_GNU_SOURCE, variadics), and nothing else. Every function that
// can fail returns a result >= 0, or -errno.
#ifndef CSYSTEMSHIMS_H
#define CSYSTEMSHIMS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>

#include "ProcessShims.h"

// The watch on this thread's system calls, for tests; NULL in production.
extern _Thread_local void *shim_call_watch_;
static inline void *shim_call_watch(void) { return shim_call_watch_; }
static inline void shim_set_call_watch(void *watch) { shim_call_watch_ = watch; }

// Returns a name such as "ENOENT", or NULL for a number without a name.
const char *shim_error_name(int error);

int shim_openat(int dir, const char *name, int flags, mode_t mode);
int shim_open_in_mount(int dir, const char *path, int flags);
int shim_leave_descriptors(void);
int shim_close(int fd);
ssize_t shim_pread(int fd, void *buffer, size_t size, int64_t offset);
ssize_t shim_pwrite(int fd, const void *buffer, size_t size, int64_t offset);
ssize_t shim_read(int fd, void *buffer, size_t size);
ssize_t shim_write(int fd, const void *buffer, size_t size);
int64_t shim_lseek(int fd, int64_t offset, int whence);
int shim_ftruncate(int fd, int64_t size);
int shim_truncate(const char *path, int64_t size);
int shim_fallocate(int fd, int mode, int64_t offset, int64_t size);
int shim_posix_fadvise_dontneed(int fd, int64_t offset, int64_t size);
int shim_fsync(int fd);
int shim_fdatasync(int fd);
// Syncs the whole file system that holds the file.
int shim_syncfs(int fd);
ssize_t shim_copy_file_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t size);

int shim_fstat(int fd, struct stat *out);
int shim_fstatat(int dir, const char *name, struct stat *out);
// Returns nanoseconds since the epoch, or 0 for an earlier time; -ENODATA if the file system keeps no birth time.
int64_t shim_birth_time(int dir, const char *name, int flags);
// Returns 1 if `path` is the root of a mount, or if this kernel cannot tell.
int shim_is_mount_root(const char *path);
// Returns the device (major << 32 | minor) of the mount that holds the file, without asking its file system for attributes.
int64_t shim_device(int dir, const char *path);
int64_t shim_known_inode(const char *path);
int shim_fstatvfs(int fd, struct statvfs *out);
int64_t shim_fs_type(int fd);

int shim_mkdirat(int dir, const char *name, mode_t mode);
int shim_mkdirat_as(int dir, const char *name, mode_t mode, uid_t owner, gid_t group);
int shim_mknodat(int dir, const char *name, mode_t mode, dev_t device);
int shim_symlinkat(const char *target, int dir, const char *name);
ssize_t shim_readlinkat(int dir, const char *name, char *buffer, size_t size);
int shim_unlinkat(int dir, const char *name, int flags);
int shim_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags);
int shim_linkat(int from, const char *name, int to, const char *new_name, int flags);

int shim_fchmod(int fd, mode_t mode);
int shim_fchmodat(int dir, const char *name, mode_t mode);
int shim_fchown(int fd, uid_t owner, gid_t group);
int shim_fchownat(int dir, const char *name, uid_t owner, gid_t group);
int shim_futimens(int fd, const struct timespec times[2]);
int shim_utimensat(int dir, const char *name, const struct timespec times[2]);

ssize_t shim_getdents(int fd, void *buffer, size_t size);

// Extended attributes of `name` in `dir`, or of `dir` itself if `name` is NULL. Symbolic links are not followed.
ssize_t shim_getxattr(int dir, const char *name, const char *key, void *value, size_t size);
int shim_setxattr(int dir, const char *name, const char *key, const void *value, size_t size, int flags);
ssize_t shim_listxattr(int dir, const char *name, char *list, size_t size);
int shim_removexattr(int dir, const char *name, const char *key);

int shim_is_open_nowhere_else(int fd);
int shim_leases_tell_mappings(int dir);
int shim_flock(int fd, int operation);
int shim_poll_in(int fd, int milliseconds);
int shim_poll_out(int fd, int milliseconds);
int shim_poll_priority(int fd, int milliseconds);
int shim_status_flags(int fd);
int shim_make_nonblocking(int fd);
int shim_pidfd_open(int pid);
int shim_gettid(void);
// Whether the number of a system call is that of execve(2) or execveat(2).
bool shim_is_exec(long call);
void shim_set_thread_name(const char *name);

// These functions let this thread act as a caller. After keep_capabilities, a change of identity leaves the thread's
// capabilities alone, so that the thread keeps the daemon's access.
int shim_keep_capabilities(void);
void shim_set_fs_identity(uid_t owner, gid_t group);
int shim_private_umask(void);
void shim_umask(mode_t mask);


#define SHIM_O_PATH 010000000
#define SHIM_O_TMPFILE 020200000
#define SHIM_O_NOATIME 01000000
#define SHIM_O_DIRECT 040000
#define SHIM_SEEK_DATA 3
#define SHIM_SEEK_HOLE 4
#define SHIM_FALLOC_FL_KEEP_SIZE 1
#define SHIM_FALLOC_FL_PUNCH_HOLE 2
#define SHIM_FALLOC_FL_ZERO_RANGE 16
#define SHIM_RENAME_NOREPLACE 1u
#define SHIM_RENAME_EXCHANGE 2u
#define SHIM_XATTR_REPLACE 2
#define SHIM_UTIME_NOW 0x3fffffff
#define SHIM_UTIME_OMIT 0x3ffffffe

#endif
