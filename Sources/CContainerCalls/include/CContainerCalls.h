// Calls that Glibc's module for Swift hides, for ContainerValues and ContainerTesting, which become a part of apps and of
// their tests.
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

/// A pipe whose ends no other program inherits: 0, or -1 with errno.
int container_pipe(int *ends);

/// write(2) to a pipe, without SIGPIPE where nobody reads it: the bytes written, or -1 with errno.
long container_write(int file, const void *bytes, size_t size);

/// A file without a name, in memory, that no other program inherits; or -1 with errno.
int container_anonymous_file(void);

/// Starts a program, looked up in PATH, in a session of its own, with the signals that a shell would give it and no
/// descriptors but these three, in rising order, as its 0, 1 and 2. 0, or an error number.
int container_spawn(
    char *_Nullable const *_Nonnull words, char *_Nullable const *_Nonnull environment, const int *files, int *process);

#pragma clang assume_nonnull end

#endif
