/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are written by one at a time: what needs POSIX.
 *
 * A lock of the open file, not of the process, keeps out a second collection of
 * the same process, too.  Where the file system knows no locks, nobody is kept
 * out.
 */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static ek_status refuse(const char *name, int reason)
{
    return eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", name,
                     reason == EWOULDBLOCK
                         ? "somebody else is writing it; a % in the name "
                           "gives each collection a file of its own"
                         : strerror(reason));
}

/* Only what is no regular file cannot be emptied. */
static bool empty(int descriptor)
{
    return ftruncate(descriptor, 0) == 0 || errno == EINVAL;
}

ek_status eki_file_create(const char *name, FILE **file)
{
    int descriptor = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return refuse(name, errno);
    bool is_taken =
        flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    FILE *opened =
        !is_taken && empty(descriptor) ? fdopen(descriptor, "wb") : NULL;
    if (opened == NULL) {
        int reason = is_taken ? EWOULDBLOCK : errno;
        close(descriptor);
        return refuse(name, reason);
    }
    *file = opened;
    return EK_OK;
}
