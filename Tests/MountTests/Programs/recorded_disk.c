// A disk of one file for a loop device: /disk in a FUSE mount. Its content is in memory, and a log records each write and each
// flush. A power loss may lose writes that were not flushed.
//
// usage: recorded_disk LOG SIZE MOUNTPOINT     (serves until it is unmounted)
//
// A record of the log has the kind (1 byte: W write, F flush, D discard, M mark), offset and length (8 bytes each), and the
// data. A write to /mark is a mark: a statement of the workload about facts that must hold from then on.
#define FUSE_USE_VERSION 312
#define _GNU_SOURCE
#include <errno.h>
#include <fuse.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static FILE *record;
static char *disk;
static uint64_t size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(char kind, uint64_t offset, uint64_t length, const char *data) {
    pthread_mutex_lock(&lock);
    fwrite(&kind, 1, 1, record);
    fwrite(&offset, 8, 1, record);
    fwrite(&length, 8, 1, record);
    if (data) fwrite(data, 1, length, record);
    if (kind == 'M') fflush(record);
    pthread_mutex_unlock(&lock);
}

static int is_disk(const char *path) { return strcmp(path, "/disk") == 0; }

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *file) {
    (void)file;
    memset(out, 0, sizeof *out);
    out->st_nlink = 1;
    if (strcmp(path, "/") == 0) {
        out->st_mode = S_IFDIR | 0755;
        return 0;
    }
    if (!is_disk(path) && strcmp(path, "/mark") != 0) return -ENOENT;
    out->st_mode = S_IFREG | 0600;
    out->st_size = is_disk(path) ? (off_t)size : 0;
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *file) {
    (void)path;
    file->direct_io = 1;
    return 0;
}

static int read_file(const char *path, char *to, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)file;
    if (!is_disk(path) || (uint64_t)offset >= size) return 0;
    if (length > size - offset) length = size - offset;
    memcpy(to, disk + offset, length);
    return length;
}

static int write_file(const char *path, const char *from, size_t length, off_t offset, struct fuse_file_info *file) {
    (void)file;
    if (!is_disk(path)) {
        note('M', 0, length, from);
        return length;
    }
    if ((uint64_t)offset >= size || length > size - offset) return -ENOSPC;
    memcpy(disk + offset, from, length);
    note('W', offset, length, from);
    return length;
}

static int flush_disk(const char *path, int data_only, struct fuse_file_info *file) {
    (void)data_only, (void)file;
    if (is_disk(path)) note('F', 0, 0, NULL);
    return 0;
}

static int allocate(const char *path, int mode, off_t offset, off_t length, struct fuse_file_info *file) {
    (void)file;
    if (!is_disk(path) || !(mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))) return -EOPNOTSUPP;
    if ((uint64_t)offset >= size || (uint64_t)length > size - offset) return -EINVAL;
    memset(disk + offset, 0, length);
    note('D', offset, length, NULL);
    return 0;
}

static int cut(const char *path, off_t length, struct fuse_file_info *file) {
    (void)path, (void)length, (void)file;
    return 0;
}

static const struct fuse_operations operations = {
    .getattr = get_attributes, .open = open_file, .read = read_file, .write = write_file, .fsync = flush_disk,
    .fallocate = allocate, .truncate = cut,
};

int main(int count, char **words) {
    if (count != 4) return 64;
    record = fopen(words[1], "wb");
    size = strtoull(words[2], NULL, 10);
    disk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!record || disk == MAP_FAILED) return 1;
    char *arguments[] = {words[0], "-f", words[3], NULL};
    int status = fuse_main(3, arguments, &operations, NULL);
    return fclose(record) == 0 ? status : 1;
}
