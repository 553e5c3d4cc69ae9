#include "APPurgeablePath.h"
#include "CContainerCalls.h"

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

long container_attribute(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}

long container_volume_attribute(const char *path, const char *name, void *value, size_t size) {
    return getxattr(path, name, value, size);
}

int container_set_attribute(const char *path, const char *name, const void *value, size_t size) {
    return lsetxattr(path, name, value, size, 0);
}

int container_is_fuse(const char *path) {
    struct statfs volume;
    return statfs(path, &volume) == 0 && volume.f_type == FUSE_SUPER_MAGIC;
}

char *container_purgeable_path(const char *path, unsigned type, size_t megabytes) {
    return APPurgeablePathTypeSize(path, (APPurgeableType)type, megabytes);
}

void container_reset_purgeable_paths(void) {
    ResetAllPurgeablePaths();
}
#endif
