/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of saves: what needs POSIX. */
#define _POSIX_C_SOURCE 200809L
#include "base/plant.h"
#include "save/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What names of the program's files have behind the number. */
#define PROGRAM "program"
#define PROGRAM_BYTES (sizeof PROGRAM - 1)

void eki_save_name(char name[EKI_SAVE_NAME], const char *folder, int64_t number,
                   int part)
{
    snprintf(name, EKI_SAVE_NAME, "%s/save-%" PRId64 ".manifest", folder,
             number);
    if (part != EKI_SAVE_MANIFEST)
        snprintf(name, EKI_SAVE_NAME, "%s/save-%" PRId64 ".rank-%d", folder,
                 number, part);
}

void eki_save_prefix(char name[EKI_SAVE_NAME], const char *folder,
                     int64_t number)
{
    snprintf(name, EKI_SAVE_NAME, "%s/save-%" PRId64 "." PROGRAM, folder,
             number);
}

ek_status eki_save_make_folder(const char *folder)
{
    struct stat status;
    if (mkdir(folder, 0777) == 0)
        return EK_OK;
    int reason = errno;
    if (reason == EEXIST && stat(folder, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return EK_OK;
        reason = ENOTDIR;
    }
    return eki_error(EK_ERR_FILE, "cannot make the folder '%.700s': %s", folder,
                     strerror(reason));
}

/* What a file of a save is called behind its number; NULL: it is no such file.
 */
static const char *kind_of(const char *name, int64_t *number)
{
    int bytes = 0;
    if (sscanf(name, "save-%" SCNd64 ".%n", number, &bytes) != 1 || bytes == 0)
        return NULL;
    return name + bytes;
}

ek_status eki_save_newest(const char *folder, int64_t *newest)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int64_t number;
    *newest = 0;
    if (!open)
        return eki_error(EK_ERR_FILE, "cannot read the folder '%.700s': %s",
                         folder, strerror(errno));
    while ((entry = readdir(open)) != NULL) {
        const char *kind = kind_of(entry->d_name, &number);
        if (kind && strcmp(kind, "manifest") == 0 && number > *newest)
            *newest = number;
    }
    closedir(open);
    return EK_OK;
}

/* Wait until what was changed in the file, or folder, is on its disk. */
static bool sync_name(const char *name)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    /* EINVAL: this file system has nothing to wait for. */
    bool is_synced = file >= 0 && (fsync(file) == 0 || errno == EINVAL);
    int reason = errno;
    if (file >= 0)
        close(file);
    errno = reason;
    return is_synced;
}

/* The same of what the program has written for a save. */
static ek_status sync_program(const char *folder, int64_t number)
{
    char name[EKI_SAVE_NAME + sizeof((struct dirent *)0)->d_name];
    DIR *open = opendir(folder);
    const struct dirent *entry;
    ek_status status = EK_OK;
    int64_t found;
    while (open && status == EK_OK && (entry = readdir(open)) != NULL) {
        const char *kind = kind_of(entry->d_name, &found);
        if (!kind || found != number || strncmp(kind, PROGRAM, PROGRAM_BYTES))
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        if (!sync_name(name))
            status = eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", name,
                               strerror(errno));
    }
    if (open)
        closedir(open);
    return status;
}

/* Names of files are on the disk before that of the manifest. */
static bool sync_names(const char *folder)
{
    return EKI_PLANTED(MANIFEST_FIRST) || sync_name(folder);
}

ek_status eki_save_place(const char *folder, int64_t number)
{
    char name[EKI_SAVE_NAME], new[EKI_SAVE_NAME + sizeof EKI_SAVE_NEW];
    eki_save_name(name, folder, number, EKI_SAVE_MANIFEST);
    snprintf(new, sizeof new, "%s" EKI_SAVE_NEW, name);
    EKI_TRY(sync_program(folder, number));
    if (sync_names(folder) && rename(new, name) == 0 && sync_name(folder))
        return EK_OK;
    return eki_error(EK_ERR_FILE, "cannot put '%.700s' in its place: %s", name,
                     strerror(errno));
}

/* Whether any was removed. */
static bool remove_some(DIR *open, const char *folder, int64_t first,
                        int64_t last, bool are_manifests)
{
    bool is_any = false;
    char name[EKI_SAVE_NAME + sizeof((struct dirent *)0)->d_name];
    const struct dirent *entry;
    int64_t number;
    rewinddir(open);
    while ((entry = readdir(open)) != NULL) {
        const char *kind = kind_of(entry->d_name, &number);
        if (!kind || number < first || number > last ||
            (strcmp(kind, "manifest") == 0) != are_manifests)
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        is_any |= unlink(name) == 0;
    }
    return is_any;
}

void eki_save_remove(const char *folder, int64_t first, int64_t last)
{
    DIR *open = opendir(folder);
    if (!open)
        return;
    /* A save is never there without its files, nor is it on the disk. */
    if (remove_some(open, folder, first, last, true) && first > 0)
        sync_name(folder);
    remove_some(open, folder, first, last, false);
    closedir(open);
}
