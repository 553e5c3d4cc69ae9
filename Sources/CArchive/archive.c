// libarchive, loaded when a backup is created or read. With its dependencies it would add 2 ms to the start of every
// command. These functions have libarchive's names and pass each call on to it.
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "CArchive.h"

static void *library(void) {
    // Threads that load libarchive at the same time get the same handle. It is never closed.
    static _Atomic(void *) loaded;
    if (!loaded) loaded = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    return loaded;
}

const char *archive_missing(void) { return library() ? NULL : dlerror(); }

static void *function(const char *name) {
    void *loaded = library(), *found = loaded ? dlsym(loaded, name) : NULL;
    if (found) return found;
    fprintf(stderr, "purgefs: error: libarchive.so.13 has no %s\n", name);
    exit(1);
}

// Hidden, so that libarchive's own calls do not come here.
#define PASS_ON(result, name, parameters, arguments)                                   \
    __attribute__((visibility("hidden"))) result name parameters {                     \
        return ((result(*) parameters)function(#name))arguments;                       \
    }

typedef struct archive A;
typedef struct archive_entry E;

PASS_ON(time_t, archive_entry_atime, (E *a), (a))
PASS_ON(long, archive_entry_atime_nsec, (E *a), (a))
PASS_ON(E *, archive_entry_clear, (E *a), (a))
PASS_ON(void, archive_entry_copy_hardlink, (E *a, const char *b), (a, b))
PASS_ON(void, archive_entry_copy_pathname, (E *a, const char *b), (a, b))
PASS_ON(void, archive_entry_copy_symlink, (E *a, const char *b), (a, b))
PASS_ON(mode_t, archive_entry_filetype, (E *a), (a))
PASS_ON(void, archive_entry_free, (E *a), (a))
PASS_ON(la_int64_t, archive_entry_gid, (E *a), (a))
PASS_ON(const char *, archive_entry_hardlink, (E *a), (a))
PASS_ON(E *, archive_entry_new, (void), ())
PASS_ON(const char *, archive_entry_pathname, (E *a), (a))
PASS_ON(mode_t, archive_entry_perm, (E *a), (a))
PASS_ON(void, archive_entry_set_atime, (E *a, time_t b, long c), (a, b, c))
PASS_ON(void, archive_entry_set_filetype, (E *a, unsigned int b), (a, b))
PASS_ON(void, archive_entry_set_gid, (E *a, la_int64_t b), (a, b))
PASS_ON(void, archive_entry_set_mtime, (E *a, time_t b, long c), (a, b, c))
PASS_ON(void, archive_entry_set_perm, (E *a, mode_t b), (a, b))
PASS_ON(void, archive_entry_set_size, (E *a, la_int64_t b), (a, b))
PASS_ON(void, archive_entry_set_uid, (E *a, la_int64_t b), (a, b))
PASS_ON(la_int64_t, archive_entry_size, (E *a), (a))
PASS_ON(void, archive_entry_sparse_add_entry, (E *a, la_int64_t b, la_int64_t c), (a, b, c))
PASS_ON(const char *, archive_entry_symlink, (E *a), (a))
PASS_ON(la_int64_t, archive_entry_uid, (E *a), (a))
PASS_ON(void, archive_entry_xattr_add_entry, (E *a, const char *b, const void *c, size_t d), (a, b, c, d))
PASS_ON(int, archive_entry_xattr_next, (E *a, const char **b, const void **c, size_t *d), (a, b, c, d))
PASS_ON(int, archive_entry_xattr_reset, (E *a), (a))
PASS_ON(int, archive_errno, (A *a), (a))
PASS_ON(const char *, archive_error_string, (A *a), (a))
PASS_ON(int, archive_read_data_block, (A *a, const void **b, size_t *c, la_int64_t *d), (a, b, c, d))
PASS_ON(int, archive_read_free, (A *a), (a))
PASS_ON(la_int64_t, archive_read_header_position, (A *a), (a))
PASS_ON(A *, archive_read_new, (void), ())
PASS_ON(int, archive_read_next_header, (A *a, E **b), (a, b))
PASS_ON(int, archive_read_open, (A *a, void *b, archive_open_callback *c, archive_read_callback *d, archive_close_callback *e), (a, b, c, d, e))
PASS_ON(int, archive_read_support_format_tar, (A *a), (a))
PASS_ON(int, archive_write_close, (A *a), (a))
PASS_ON(la_ssize_t, archive_write_data, (A *a, const void *b, size_t c), (a, b, c))
PASS_ON(int, archive_write_free, (A *a), (a))
PASS_ON(int, archive_write_header, (A *a, E *b), (a, b))
PASS_ON(A *, archive_write_new, (void), ())
PASS_ON(int, archive_write_open, (A *a, void *b, archive_open_callback *c, archive_write_callback *d, archive_close_callback *e), (a, b, c, d, e))
PASS_ON(int, archive_write_set_bytes_per_block, (A *a, int b), (a, b))
PASS_ON(int, archive_write_set_format_option, (A *a, const char *b, const char *c, const char *d), (a, b, c, d))
PASS_ON(int, archive_write_set_format_pax, (A *a), (a))
