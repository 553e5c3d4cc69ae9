#define FUSE_USE_VERSION 314
#include <stddef.h>
#include <fuse_lowlevel.h>
