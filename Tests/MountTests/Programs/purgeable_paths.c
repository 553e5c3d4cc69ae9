// An app in C that uses mPaaS's folders (PurgeablePathTests). It prints the path that each function returns, or the error.
#include "APPurgeablePath.h"

static void show(const char *name, char *path) {
    printf("%s: %s\n", name, path ? path : strerror(errno));
    free(path);
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "reset")) {
        ResetAllPurgeablePaths();
        return 0;
    }
    show("plain", APPurgeablePath("Documents/feed/plain"));
    show("type", APPurgeablePathType("Library/Caches/week", APPurgeableTypeOneWeek));
    show("size", APPurgeablePathTypeSize("Library/Caches/large", APPurgeableTypeThreeDays, 10));
    show("again", APPurgeablePathTypeSize("Library/Caches/large", APPurgeableTypeThreeDays, 10));
    show("less", APPurgeablePathTypeSize("Documents/less", APPurgeableTypeOneMonth, 1));
    show("no size", APPurgeablePathType("Documents/less", APPurgeableTypeTwoWeeks));
    show("absolute", APPurgeablePath("/tmp/x"));
    show("up", APPurgeablePath("Documents/../../x"));
    show("empty", APPurgeablePath(""));
    show("link", APPurgeablePath("Documents/link/x"));
    show("file", APPurgeablePath("Documents/file/x"));
    show("days", APPurgeablePathType("Documents/days", (APPurgeableType)5));
    return 0;
}
