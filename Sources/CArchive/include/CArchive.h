#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

// Loads libarchive. Returns NULL, or why it cannot be loaded. Must be called before any other function of libarchive.
const char *archive_missing(void);
