// C functions for ContainerValues (built into apps), ContainerTesting (built into their tests) and Tests/Support. Glibc's
// Swift module hides most of the functions that they call.
#ifndef C_CONTAINER_CALLS_H
#define C_CONTAINER_CALLS_H

#include <stddef.h>

#pragma clang assume_nonnull begin

/// Reads an attribute of the item itself (a link is not followed). Returns its length, or -1 with errno.
long container_attribute(const char *path, const char *name, void *value, size_t size);

/// Reads an attribute of the item to which a path leads (links are followed). Returns its length, or -1 with errno.
long container_volume_attribute(const char *path, const char *name, void *value, size_t size);

/// Sets an attribute of the item itself. Returns 0, or -1 with errno.
int container_set_attribute(const char *path, const char *name, const void *value, size_t size);

/// Returns whether a path is on a FUSE file system.
int container_is_fuse(const char *path);

/// Creates a pipe that no other program inherits. Returns 0, or -1 with errno.
int container_pipe(int *ends);

/// Calls write(2) on a pipe, without SIGPIPE if it has no reader. Returns the number of bytes written, or -1 with errno.
long container_write(int file, const void *bytes, size_t size);

/// Creates an anonymous file in memory that no other program inherits. Returns its descriptor, or -1 with errno.
int container_anonymous_file(void);

/// Starts a program in its own session, with default signal actions and no blocked signals, and stores its pid in `*process`.
/// The program is looked up in this process's PATH. It opens the three descriptors in `files` anew, without their positions and
/// without O_APPEND, as 0, 1 and 2, its only descriptors. None of `files` may be 0, 1 or 2, unless they are in ascending order.
/// Returns 0, or an error number.
int container_spawn(
    char *_Nullable const *_Nonnull words, char *_Nullable const *_Nonnull environment, const int *files, int *process);

/// Calls `APPurgeablePathTypeSize` of APPurgeablePath.h. Returns a path to be freed, or NULL with errno.
char *_Nullable container_purgeable_path(const char *path, unsigned type, size_t megabytes);

/// Calls `ResetAllPurgeablePaths` of APPurgeablePath.h.
void container_reset_purgeable_paths(void);

#pragma clang assume_nonnull end

#endif
