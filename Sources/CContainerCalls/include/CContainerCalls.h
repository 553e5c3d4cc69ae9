// Calls that Glibc's module for Swift hides, for ContainerValues, which becomes a part of apps.
#ifndef C_CONTAINER_CALLS_H
#define C_CONTAINER_CALLS_H

#include <stddef.h>

#pragma clang assume_nonnull begin

/// The bytes of an attribute of the item itself (a link is not followed), or -1 with errno.
long container_attribute(const char *path, const char *name, void *value, size_t size);

/// The same of what a path leads to (links are followed).
long container_volume_attribute(const char *path, const char *name, void *value, size_t size);

/// Sets an attribute of the item itself: 0, or -1 with errno.
int container_set_attribute(const char *path, const char *name, const void *value, size_t size);

/// Whether a path lies on a FUSE file system.
int container_is_fuse(const char *path);

#pragma clang assume_nonnull end

#endif
