#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

// Loads libarchive. Returns NULL, or why it cannot be loaded. Call this before any other function of libarchive:
// the others end the process if the library is missing.
const char *archive_missing(void);
