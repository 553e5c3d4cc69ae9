// The C functions of mPaaS's storage kit, for an app that runs in a container of purgefs. One header without a library: C
// programs include it, and calls.c calls it for Swift. docs/CONTAINERSTORAGE.md describes the functions.
#ifndef AP_PURGEABLE_PATH_H
#define AP_PURGEABLE_PATH_H

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/// The age in days from which files go.
typedef enum {
    APPurgeableTypeManual = 0,  ///< no age; the cleaner empties the folder
    APPurgeableTypeThreeDays = 3,
    APPurgeableTypeOneWeek = 7,
    APPurgeableTypeTwoWeeks = 14,
    APPurgeableTypeOneMonth = 30
} APPurgeableType;

/// Opens the app's home; in a container, the home is the mount. Stores its path in `path`. Returns a descriptor, or -1 with
/// errno set.
static inline int ap_open_home(const char **path) {
    const char *home = getenv("CFFIXED_USER_HOME");
    if (!home || !*home) home = getenv("HOME");
    *path = home;
    if (home) return open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    errno = ENOENT;
    return -1;
}

/// Opens a folder below `folder`, and makes folders that are missing. Follows no symbolic link. Closes `folder` and
/// overwrites `path`. Returns the folder's descriptor, or -1 with errno set.
static inline int ap_open_folder(int folder, char *path) {
    char *rest = NULL;
    for (char *name = strtok_r(path, "/", &rest); name && folder >= 0; name = strtok_r(NULL, "/", &rest)) {
        int next = -1;
        if (!strcmp(name, ".."))
            errno = EINVAL;
        else if (!mkdirat(folder, name, 0755) || errno == EEXIST)
            next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(folder);
        errno = error;
        folder = next;
    }
    return folder;
}

/// Sets an attribute of a folder unless it has this value, so that a call at each use of the folder leaves no events. NULL
/// removes the attribute.
static inline void ap_set(int folder, const char *name, const char *value) {
    char present[32];
    ssize_t length = fgetxattr(folder, name, present, sizeof present);
    size_t size = value ? strlen(value) : 0;
    if (value && (length != (ssize_t)size || memcmp(present, value, size)))
        fsetxattr(folder, name, value, size, 0);
    else if (!value && (length >= 0 || errno == ERANGE))
        fremovexattr(folder, name);
}

/// Returns the value of the attribute for the age; NULL if mPaaS has no such type.
static inline const char *ap_age(APPurgeableType type) {
    switch (type) {
    case APPurgeableTypeManual: return "0";
    case APPurgeableTypeThreeDays: return "3d";
    case APPurgeableTypeOneWeek: return "1w";
    case APPurgeableTypeTwoWeeks: return "2w";
    case APPurgeableTypeOneMonth: return "30d";
    }
    return NULL;
}

/// Makes the folder at `path`, which is relative to the app's home, and its parents, and gives it a policy: `type` limits the
/// age of its files, and `megabytes` (of 2^20 bytes) their total size; 0 is no limit. Outside a container it only makes the
/// folder. Returns the absolute path, which the caller frees. Returns NULL with errno if the folder cannot be made: EINVAL for
/// a path that is empty, is absolute or contains "..", and for an unknown type; ENOTDIR for a path through a symbolic link.
static inline char *APPurgeablePathTypeSize(const char *path, APPurgeableType type, size_t megabytes) {
    const char *age = ap_age(type), *home_path;
    if (!*path || *path == '/' || !age || megabytes > (size_t)INT64_MAX >> 20) return errno = EINVAL, (char *)NULL;
    int home = ap_open_home(&home_path);
    if (home < 0) return NULL;
    int is_container = !faccessat(home, ".purgefs/storage.policies", F_OK, 0);
    size_t size = strlen(home_path) + strlen(path) + 2;
    char *result = (char *)malloc(size);
    if (!result) return close(home), (char *)NULL;
    strcpy(result, path);
    int folder = ap_open_folder(home, result);
    if (folder < 0) return free(result), (char *)NULL;
    if (is_container) {
        char limit[32];
        snprintf(limit, sizeof limit, "%zu", megabytes << 20);
        ap_set(folder, "user.purgefs.purgeAfter", age);
        ap_set(folder, "user.purgefs.sizeLimit", megabytes ? limit : NULL);
    }
    close(folder);
    snprintf(result, size, "%s/%s", home_path, path);
    return result;
}

/// Calls `APPurgeablePathTypeSize` with no size limit.
static inline char *APPurgeablePathType(const char *path, APPurgeableType type) {
    return APPurgeablePathTypeSize(path, type, 0);
}

/// Calls `APPurgeablePathTypeSize` with the type `APPurgeableTypeManual` and no size limit.
static inline char *APPurgeablePath(const char *path) {
    return APPurgeablePathTypeSize(path, APPurgeableTypeManual, 0);
}

/// Empties all folders that have a policy, open files included, and returns when they are empty. The folders and their policies
/// stay. Outside a container it does nothing.
static inline void ResetAllPurgeablePaths(void) {
    const char *path;
    int home = ap_open_home(&path);
    if (home < 0) return;
    int policies = openat(home, ".purgefs/storage.policies", O_WRONLY | O_TRUNC | O_CLOEXEC);
    close(home);
    if (policies < 0) return;
    ssize_t written = write(policies, "reset", 5);
    (void)written;
    close(policies);
}
#endif

#endif
