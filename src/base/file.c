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
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ek_status refuse(const char *name, int reason)
{
    return eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", name,
                     reason == EWOULDBLOCK
                         ? "somebody else is writing it; a % in the name "
                           "gives each collection a file of its own"
                     : reason == ENXIO ? "it is a FIFO that nobody reads"
                                       : strerror(reason));
}

/* Signals as they were before SIGXFSZ was blocked in this thread. */
struct guard {
    sigset_t before;
    bool was_pending;
};

static void guard_begin(struct guard *guard)
{
    sigset_t too_large, pending;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &guard->before);
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGXFSZ) == 1;
}

/* Take the signal that came meanwhile, if one did; errno stays. */
static void guard_end(const struct guard *guard)
{
    const struct timespec at_once = {0, 0};
    sigset_t too_large;
    int reason = errno;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    if (!guard->was_pending)
        sigtimedwait(&too_large, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = reason;
}

bool eki_file_write(FILE *file, const void *data, size_t bytes)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_written = fwrite(data, 1, bytes, file) == bytes;
    guard_end(&guard);
    return is_written;
}

bool eki_file_flush(FILE *file)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_written = fflush(file) == 0 && !ferror(file);
    guard_end(&guard);
    return is_written;
}

bool eki_file_close(FILE *file)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_closed = fclose(file) == 0;
    guard_end(&guard);
    return is_closed;
}

/* Opening waits for nobody, as a FIFO would for its reader; writing may. */
static int open_to_write(const char *name)
{
    struct stat status;
    int descriptor =
        open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode))
        fcntl(descriptor, F_SETFL, O_WRONLY);
    return descriptor;
}

/* Only what is no regular file cannot be emptied. */
static bool empty(int descriptor)
{
    return ftruncate(descriptor, 0) == 0 || errno == EINVAL;
}

ek_status eki_file_create(const char *name, FILE **file)
{
    int descriptor = open_to_write(name);
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
