/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives a fuzz target the bytes of each file of the folders that are named.
 *
 *     replay_TARGET FOLDER...
 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>

enum {
    BYTES_MOST = 1 << 20
};

static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file != NULL);
    uint8_t *data = malloc(BYTES_MOST);
    FUZZ_CHECK(data != NULL);
    size_t size = fread(data, 1, BYTES_MOST, file);
    /* Its name is the last line where it fails. */
    fprintf(stderr, "%s\n", path);
    /* Of its very size, so that a sanitizer sees who reads beyond. */
    data = realloc(data, size > 0 ? size : 1);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
}

/* How many files there are in FOLDER. */
static int replay_folder(const char *folder)
{
    DIR *files = opendir(folder);
    int count = 0;
    FUZZ_CHECK(files != NULL);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        char path[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        replay(path);
        count++;
    }
    closedir(files);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    fprintf(stderr, "%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
