/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "disk.h"

#include "save/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MOST = 64
};

/* What the disk has of a file. */
struct file {
    ino_t number;
    bool is_synced, is_named;
};

static struct {
    char folder[64];           /* "": not made */
    int calls, failure, death; /* the number of this one; 0: none */
    bool is_dead;
    ino_t torn; /* the file whose sync was the first call in vain; or 0 */
    char from[EKI_SAVE_NAME], to[EKI_SAVE_NAME]; /* of a rename ... */
    bool is_renamed; /* ... that is not on the disk yet */
    struct file files[FILES_MOST];
    int count;
    /* Names that were removed, but are on the disk still; the files are called
     * gone-I. */
    char gone[FILES_MOST][EKI_SAVE_NAME];
    int gone_count;
} disk;

/* Where file I is that is gone. */
static const char *gone_name(int i)
{
    static char name[EKI_SAVE_NAME];
    snprintf(name, sizeof name, "%s/gone-%d", disk.folder, i);
    return name;
}

/* Removals are on the disk. */
static void forget_gone(void)
{
    for (int i = 0; i < disk.gone_count; i++)
        unlinkat(AT_FDCWD, gone_name(i), 0);
    disk.gone_count = 0;
}

const char *disk_folder(void)
{
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (disk.folder[0] != '\0')
        return disk.folder;
    snprintf(disk.folder, sizeof disk.folder, "%s/evenkeel-explore-XXXXXX",
             parent);
    if (!mkdtemp(disk.folder))
        abort();
    return disk.folder;
}

void disk_empty_folder(void)
{
    disk_begin(0, 0);
    eki_save_remove(disk_folder(), 0, INT64_MAX);
    forget_gone();
}

void disk_remove_folder(void)
{
    if (disk.folder[0] == '\0')
        return;
    disk_empty_folder();
    rmdir(disk.folder);
    disk.folder[0] = '\0';
}

void disk_begin(int failure, int death)
{
    forget_gone();
    disk.calls = 0;
    disk.failure = failure;
    disk.death = death;
    disk.is_dead = disk.is_renamed = false;
    disk.torn = 0;
    disk.count = 0;
}

bool disk_has_died(void)
{
    return disk.is_dead;
}

static struct file *file_of(ino_t number)
{
    for (int i = 0; i < disk.count; i++) {
        if (disk.files[i].number == number)
            return &disk.files[i];
    }
    if (disk.count == FILES_MOST)
        abort();
    disk.files[disk.count] = (struct file){.number = number};
    return &disk.files[disk.count++];
}

/* Names of save NUMBER, or of all for 0; NULL behind the last. */
static const char *next_name(DIR *open, int64_t number, struct stat *status)
{
    char start[40];
    const struct dirent *entry;
    int n = snprintf(start, sizeof start, "save-");
    if (number > 0)
        n = snprintf(start, sizeof start, "save-%" PRId64 ".", number);
    while ((entry = readdir(open)) != NULL) {
        if (strncmp(entry->d_name, start, (size_t)n) == 0 &&
            fstatat(dirfd(open), entry->d_name, status, 0) == 0)
            return entry->d_name;
    }
    return NULL;
}

/* All names are on the disk. */
static void note_names(void)
{
    struct stat status;
    DIR *open = opendir(disk.folder);
    while (next_name(open, 0, &status))
        file_of(status.st_ino)->is_named = true;
    closedir(open);
    disk.is_renamed = false;
    forget_gone();
}

static bool is_in_vain(void)
{
    disk.calls++;
    disk.is_dead |= disk.calls == disk.death;
    errno = EIO;
    return disk.is_dead || disk.calls == disk.failure;
}

/* These stand for those of the library. */
int fsync(int file)
{
    struct stat status;
    bool was_dead = disk.is_dead;
    if (fstat(file, &status) != 0)
        return -1;
    if (is_in_vain()) {
        if (disk.is_dead && !was_dead && S_ISREG(status.st_mode))
            disk.torn = status.st_ino;
        return -1;
    }
    if (S_ISDIR(status.st_mode))
        note_names();
    else
        file_of(status.st_ino)->is_synced = true;
    return 0;
}

int rename(const char *from, const char *to)
{
    if (is_in_vain() || renameat(AT_FDCWD, from, AT_FDCWD, to) != 0)
        return -1;
    snprintf(disk.from, sizeof disk.from, "%s", from);
    snprintf(disk.to, sizeof disk.to, "%s", to);
    disk.is_renamed = true;
    return 0;
}

int unlink(const char *name)
{
    if (is_in_vain())
        return -1;
    if (disk.gone_count == FILES_MOST)
        abort();
    snprintf(disk.gone[disk.gone_count], EKI_SAVE_NAME, "%s", name);
    return renameat(AT_FDCWD, name, AT_FDCWD, gone_name(disk.gone_count++));
}

static void cut(int folder, const char *name, off_t bytes,
                struct eki_random *random)
{
    int file = openat(folder, name, O_WRONLY | O_CLOEXEC);
    off_t rest = (off_t)eki_random_below(random, (uint64_t)bytes + 1);
    if (file < 0 || ftruncate(file, rest) != 0)
        abort();
    close(file);
}

void disk_end(int64_t number, bool loses_power, struct eki_random *random)
{
    struct stat status;
    const char *name;
    if (disk.is_renamed && loses_power && eki_random_below(random, 2) == 0)
        renameat(AT_FDCWD, disk.to, AT_FDCWD, disk.from);
    for (int i = 0; i < disk.gone_count; i++) {
        if (loses_power && eki_random_below(random, 2) == 0)
            renameat(AT_FDCWD, gone_name(i), AT_FDCWD, disk.gone[i]);
    }
    forget_gone();
    DIR *open = opendir(disk.folder);
    while ((name = next_name(open, number, &status)) != NULL) {
        const struct file *file = file_of(status.st_ino);
        bool coin = eki_random_below(random, 2) == 0;
        if (loses_power && !file->is_named && coin)
            unlinkat(dirfd(open), name, 0);
        else if (status.st_ino == disk.torn ||
                 (loses_power && !file->is_synced))
            cut(dirfd(open), name, status.st_size, random);
    }
    closedir(open);
    disk_begin(0, 0);
}
