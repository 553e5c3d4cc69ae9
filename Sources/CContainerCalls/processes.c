#define _GNU_SOURCE
#include "CContainerCalls.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

int container_pipe(int *ends) {
    return pipe2(ends, O_CLOEXEC);
}

int container_anonymous_file(void) {
    return memfd_create("purgefs", MFD_CLOEXEC);
}

/// They are in rising order, so none is overwritten before it is copied.
static int set_up(posix_spawn_file_actions_t *actions, const int *files) {
    int error = 0;
    for (int number = 0; number < 3 && !error; number++)
        error = posix_spawn_file_actions_adddup2(actions, files[number], number);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
    return error;
}

int container_spawn(char *const *words, char *const *environment, const int *files, int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
        error = set_up(&actions, files);
        if (!error) error = posix_spawnp(process, words[0], &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
#endif
