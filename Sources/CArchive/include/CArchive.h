#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

// Loads libarchive. NULL, or why it cannot be loaded; to be called before any other function of it.
const char *archive_missing(void);
