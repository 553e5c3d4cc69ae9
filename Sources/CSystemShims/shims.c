#define _GNU_SOURCE
#include "CSystemShims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <linux/openat2.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sched.h>
#include <unistd.h>

#define ANSWER(call) ({ __typeof__(call) r_ = (call); r_ < 0 ? -errno : r_; })

_Thread_local void *shim_call_watch_;

// Checks the header's numbers against the constants that _GNU_SOURCE defines.
#define SAME(name) _Static_assert(SHIM_##name == name, #name)
SAME(O_PATH);
SAME(O_TMPFILE);
SAME(O_NOATIME);
SAME(O_DIRECT);
SAME(SEEK_DATA);
SAME(SEEK_HOLE);
SAME(FALLOC_FL_KEEP_SIZE);
SAME(FALLOC_FL_PUNCH_HOLE);
SAME(FALLOC_FL_ZERO_RANGE);
SAME(RENAME_NOREPLACE);
SAME(RENAME_EXCHANGE);
SAME(XATTR_REPLACE);
SAME(UTIME_NOW);
SAME(UTIME_OMIT);

const char *shim_error_name(int error) { return strerrorname_np(error); }

int shim_openat(int dir, const char *name, int flags, mode_t mode) { return ANSWER(openat(dir, name, flags, mode)); }
int shim_open_in_mount(int dir, const char *path, int flags) {
    struct open_how how = {
        .flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    // Linux before 5.6 and some sandboxes lack the call. openat makes none of these checks.
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return shim_openat(dir, path, flags, 0);
    return fd < 0 ? -errno : fd;
}
int shim_leave_descriptors(void) {
    if (syscall(SYS_close_range, 0u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */) == 0) return 0;
    // Linux before 5.9 lacks CLOSE_RANGE_UNSHARE.
    if (unshare(CLONE_FILES) < 0) return -errno;
    for (int fd = (int)sysconf(_SC_OPEN_MAX); fd >= 0; fd--) close(fd);
    return 0;
}
int shim_close(int fd) { return ANSWER(close(fd)); }
ssize_t shim_pread(int fd, void *b, size_t n, int64_t o) { return ANSWER(pread(fd, b, n, o)); }
ssize_t shim_pwrite(int fd, const void *b, size_t n, int64_t o) { return ANSWER(pwrite(fd, b, n, o)); }
ssize_t shim_read(int fd, void *b, size_t n) { return ANSWER(read(fd, b, n)); }
ssize_t shim_write(int fd, const void *b, size_t n) { return ANSWER(write(fd, b, n)); }
int64_t shim_lseek(int fd, int64_t o, int whence) { return ANSWER(lseek(fd, o, whence)); }
int shim_ftruncate(int fd, int64_t size) { return ANSWER(ftruncate(fd, size)); }
int shim_truncate(const char *path, int64_t size) { return ANSWER(truncate(path, size)); }
int shim_fallocate(int fd, int mode, int64_t o, int64_t n) { return ANSWER(fallocate(fd, mode, o, n)); }
int shim_posix_fadvise_dontneed(int fd, int64_t o, int64_t n) { return -posix_fadvise(fd, o, n, POSIX_FADV_DONTNEED); }
int shim_fsync(int fd) { return ANSWER(fsync(fd)); }
int shim_fdatasync(int fd) { return ANSWER(fdatasync(fd)); }
int shim_syncfs(int fd) { return ANSWER(syncfs(fd)); }
ssize_t shim_copy_file_range(int from, int64_t fo, int to, int64_t to_o, size_t n) {
    loff_t a = fo, b = to_o;
    return ANSWER(copy_file_range(from, &a, to, &b, n, 0));
}

int shim_fstat(int fd, struct stat *out) { return ANSWER(fstat(fd, out)); }
int shim_fstatat(int dir, const char *name, struct stat *out) {
    return ANSWER(fstatat(dir, name, out, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}
int64_t shim_birth_time(int dir, const char *name, int flags) {
    struct statx sx;
    if (statx(dir, name, flags | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BTIME, &sx) < 0) return -errno;
    if (!(sx.stx_mask & STATX_BTIME)) return -ENODATA;
    // A store may have any value, and a negative one would look like an error.
    if (sx.stx_btime.tv_sec < 0) return 0;
    if (sx.stx_btime.tv_sec >= INT64_MAX / 1000000000) return INT64_MAX;
    return sx.stx_btime.tv_sec * 1000000000LL + sx.stx_btime.tv_nsec;
}
int shim_fstatvfs(int fd, struct statvfs *out) { return ANSWER(fstatvfs(fd, out)); }
int64_t shim_fs_type(int fd) {
    struct statfs s;
    return fstatfs(fd, &s) < 0 ? -errno : (int64_t)(uint32_t)s.f_type;
}

int shim_mkdirat(int dir, const char *name, mode_t mode) { return ANSWER(mkdirat(dir, name, mode)); }
int shim_mknodat(int dir, const char *name, mode_t mode, dev_t dev) { return ANSWER(mknodat(dir, name, mode, dev)); }
int shim_symlinkat(const char *target, int dir, const char *name) { return ANSWER(symlinkat(target, dir, name)); }
ssize_t shim_readlinkat(int dir, const char *name, char *b, size_t n) { return ANSWER(readlinkat(dir, name, b, n)); }
int shim_unlinkat(int dir, const char *name, int flags) { return ANSWER(unlinkat(dir, name, flags)); }
int shim_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
    return ANSWER(renameat2(from, name, to, new_name, flags));
}
int shim_linkat(int from, const char *name, int to, const char *new_name, int flags) {
    return ANSWER(linkat(from, name, to, new_name, flags));
}

// fchmod and futimens reject descriptors opened with O_PATH, but their paths in /proc work.
#define PROC_PATH(fd) char p_[32]; snprintf(p_, sizeof p_, "/proc/self/fd/%d", fd)
int shim_fchmod(int fd, mode_t mode) {
    if (fchmod(fd, mode) == 0) return 0;
    if (errno != EBADF) return -errno;
    PROC_PATH(fd);
    return ANSWER(chmod(p_, mode));
}
int shim_fchmodat(int dir, const char *name, mode_t mode) {
    return ANSWER(fchmodat(dir, name, mode, AT_SYMLINK_NOFOLLOW));
}
// fchown rejects descriptors opened with O_PATH, and fchownat does not.
int shim_fchown(int fd, uid_t owner, gid_t group) {
    return ANSWER(fchownat(fd, "", owner, group, AT_EMPTY_PATH));
}
int shim_fchownat(int dir, const char *name, uid_t owner, gid_t group) {
    return ANSWER(fchownat(dir, name, owner, group, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}
int shim_futimens(int fd, const struct timespec times[2]) {
    if (futimens(fd, times) == 0) return 0;
    if (errno != EBADF) return -errno;
    PROC_PATH(fd);
    return ANSWER(utimensat(AT_FDCWD, p_, times, 0));
}
int shim_utimensat(int dir, const char *name, const struct timespec times[2]) {
    return ANSWER(utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW));
}

ssize_t shim_getdents(int fd, void *b, size_t n) { return ANSWER(syscall(SYS_getdents64, fd, b, n)); }

// Since Linux 6.13, one call accesses an attribute of a name in a directory. Older kernels need the path /proc/self/fd/N/NAME,
// which can be removed when no such kernel is in use. Without a name, the calls access the open file itself. If the file was
// opened with O_PATH, the call goes through its path in /proc.
enum { SETXATTRAT = 463, GETXATTRAT, LISTXATTRAT, REMOVEXATTRAT };
struct xattr_arguments { uint64_t value; uint32_t size, flags; };
static int has_no_xattrat;  // found out by the first call; racing threads may repeat it

#define XATTR(by_name, by_path, by_fd, by_link) ({ \
    long r_; \
    if (!name) { \
        r_ = (by_fd); \
        if (r_ < 0 && errno == EBADF) { PROC_PATH(dir); r_ = (by_link); } \
    } else { \
        r_ = -1; \
        if (!has_no_xattrat) { r_ = (by_name); has_no_xattrat = r_ < 0 && errno == ENOSYS; } \
        if (has_no_xattrat) { \
            char path[320]; \
            snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir, name); \
            r_ = (by_path); \
        } \
    } \
    r_ < 0 ? -errno : r_; })

ssize_t shim_getxattr(int dir, const char *name, const char *key, void *v, size_t n) {
    struct xattr_arguments arguments = {(uintptr_t)v, n, 0};
    return XATTR(syscall(GETXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, key, &arguments, sizeof arguments),
                 lgetxattr(path, key, v, n), fgetxattr(dir, key, v, n), getxattr(p_, key, v, n));
}
int shim_setxattr(int dir, const char *name, const char *key, const void *v, size_t n, int flags) {
    struct xattr_arguments arguments = {(uintptr_t)v, n, (uint32_t)flags};
    return (int)XATTR(syscall(SETXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, key, &arguments, sizeof arguments),
                      lsetxattr(path, key, v, n, flags), fsetxattr(dir, key, v, n, flags),
                      setxattr(p_, key, v, n, flags));
}
ssize_t shim_listxattr(int dir, const char *name, char *list, size_t n) {
    return XATTR(syscall(LISTXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, list, n),
                 llistxattr(path, list, n), flistxattr(dir, list, n), listxattr(p_, list, n));
}
int shim_removexattr(int dir, const char *name, const char *key) {
    return (int)XATTR(syscall(REMOVEXATTRAT, dir, name, AT_SYMLINK_NOFOLLOW, key),
                      lremovexattr(path, key), fremovexattr(dir, key), removexattr(p_, key));
}

// A write lease is granted if the file is open nowhere else, by descriptor or mapping. A process that opens the file at that
// moment waits. The kernel reports this by a signal, here one that is ignored by default.
int shim_is_open_nowhere_else(int fd) {
    if (fcntl(fd, F_SETSIG, SIGURG) < 0) return -errno;
    if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) return errno == EAGAIN ? 0 : -errno;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 1;
}
// Returns whether leases detect mappings. The test file belongs to another user, so that the lease needs CAP_LEASE, and is
// mapped through a descriptor that has been closed.
int shim_leases_tell_mappings(int dir) {
    char path[32];
    int made = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (made < 0) return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    int asked = open(path, O_RDONLY | O_CLOEXEC), reader = open(path, O_RDONLY | O_CLOEXEC);
    void *map = fchown(made, 65534, 65534) == 0 && asked >= 0 && reader >= 0
        ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0) : MAP_FAILED;
    close(made);
    if (reader >= 0) close(reader);
    int result = 0;
    if (map != MAP_FAILED) {
        int while_mapped = shim_is_open_nowhere_else(asked);
        munmap(map, 4096);
        result = while_mapped == 0 && shim_is_open_nowhere_else(asked) == 1;
    }
    if (asked >= 0) close(asked);
    return result;
}

int shim_flock(int fd, int operation) { return ANSWER(flock(fd, operation)); }
int shim_poll_out(int fd, int milliseconds) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return ANSWER(poll(&p, 1, milliseconds));
}
int shim_status_flags(int fd) { return ANSWER(fcntl(fd, F_GETFL)); }
int shim_make_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -errno : ANSWER(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}
int shim_poll_in(int fd, int milliseconds) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return ANSWER(poll(&p, 1, milliseconds));
}
int shim_poll_priority(int fd, int milliseconds) {
    struct pollfd p = {.fd = fd, .events = POLLPRI};
    return ANSWER(poll(&p, 1, milliseconds));
}
int shim_pidfd_open(int pid) { return ANSWER(syscall(SYS_pidfd_open, pid, 0)); }
int shim_gettid(void) { return (int)syscall(SYS_gettid); }
bool shim_is_exec(long call) { return call == SYS_execve || call == SYS_execveat; }

int shim_keep_capabilities(void) {
    int bits = prctl(PR_GET_SECUREBITS);
    if (bits < 0) return -errno;
    return ANSWER(prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP));
}
// Creates the directory with root's rights, but as another user, who owns it from the beginning. Without CAP_SETPCAP, root's
// rights are lost during the call. Without CAP_SETUID or CAP_SETGID, the kernel silently keeps the identity, and this returns
// -EPERM.
int shim_mkdirat_as(int dir, const char *name, mode_t mode, uid_t owner, gid_t group) {
    int bits = prctl(PR_GET_SECUREBITS);
    int keeps = bits >= 0 && prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP) == 0;
    gid_t group_before = (gid_t)syscall(SYS_setfsgid, group);
    uid_t owner_before = (uid_t)syscall(SYS_setfsuid, owner);
    // (uid_t)-1 changes nothing and returns the current id.
    int is_owner = (uid_t)syscall(SYS_setfsuid, (uid_t)-1) == owner && (gid_t)syscall(SYS_setfsgid, (gid_t)-1) == group;
    int answer = is_owner ? ANSWER(mkdirat(dir, name, mode)) : -EPERM;
    syscall(SYS_setfsuid, owner_before);
    syscall(SYS_setfsgid, group_before);
    if (keeps) prctl(PR_SET_SECUREBITS, bits);
    return answer;
}
void shim_set_fs_identity(uid_t owner, gid_t group) {
    syscall(SYS_setfsgid, group);
    syscall(SYS_setfsuid, owner);
}
int shim_private_umask(void) { return ANSWER(unshare(CLONE_FS)); }
void shim_umask(mode_t mask) { umask(mask); }
void shim_set_thread_name(const char *name) { prctl(PR_SET_NAME, name); }
int shim_is_mount_root(const char *path) {
    struct statx sx;
    // Asks the file system for no attributes, because a stopped daemon would never answer.
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &sx) < 0) return -errno;
    return !(sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) || sx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}
int64_t shim_device(int dir, const char *path) {
    struct statx sx;
    if (statx(dir, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &sx) < 0) return -errno;
    return ((int64_t)sx.stx_dev_major << 32) | sx.stx_dev_minor;
}
int64_t shim_known_inode(const char *path) {
    struct statx sx;
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &sx) < 0) return -errno;
    return (int64_t)(sx.stx_ino & INT64_MAX);
}
