/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are written, by one at a time or by several: what needs POSIX.
 *
 * A lock of the open file, not of the process, keeps out a second collection of
 * the same process, too, and tells a file that is being written from what a run
 * before has left, which is renamed.  Where the file system knows no locks,
 * nobody is kept out, and what several may write is emptied.
 */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ek_status refuse_writing(const char *name, int reason)
{
    return eki_error(EK_ERR_FILE, "cannot write '%.700s': %s", name,
                     reason == EWOULDBLOCK
                         ? "another collection or program is writing it; a % "
                           "in the name gives each collection a file of its own"
                     : reason == ENXIO ? "it is a FIFO that nobody reads"
                                       : strerror(reason));
}

/* Signals as they were before SIGXFSZ was blocked in this thread. */
struct guard {
    sigset_t too_large, before;
    bool was_pending;
};

static void guard_begin(struct guard *guard)
{
    sigset_t pending;
    sigemptyset(&guard->too_large);
    sigaddset(&guard->too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &guard->too_large, &guard->before);
    guard->was_pending = sigismember(&guard->before, SIGXFSZ) == 1 &&
                         sigpending(&pending) == 0 &&
                         sigismember(&pending, SIGXFSZ) == 1;
}

/* Unless all IS_GOOD, take the signal that came meanwhile, if one did; errno
 * stays. */
static void guard_end(const struct guard *guard, bool is_good)
{
    const struct timespec at_once = {0, 0};
    int reason = errno;
    if (!is_good && !guard->was_pending)
        sigtimedwait(&guard->too_large, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = reason;
}

bool eki_file_write(FILE *file, const void *data, size_t bytes)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_written = fwrite(data, 1, bytes, file) == bytes;
    guard_end(&guard, is_written);
    return is_written;
}

bool eki_file_flush(FILE *file)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_written = fflush(file) == 0 && !ferror(file);
    guard_end(&guard, is_written);
    return is_written;
}

bool eki_file_sync(FILE *file)
{
    return eki_file_flush(file) && fsync(fileno(file)) == 0;
}

bool eki_file_close(FILE *file)
{
    struct guard guard;
    guard_begin(&guard);
    bool is_closed = fclose(file) == 0;
    guard_end(&guard, is_closed);
    return is_closed;
}

/* Opening waits for nobody, as a FIFO would for its reader; writing may.  A
 * file is open for reading, too, where that is allowed: NFS shares no lock of
 * one that is not. */
static int open_to_write(const char *name, struct stat *status)
{
    int descriptor = open(
        name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0 || fstat(descriptor, status) != 0)
        return descriptor;
    if (!S_ISREG(status->st_mode)) {
        fcntl(descriptor, F_SETFL, O_WRONLY);
        return descriptor;
    }
    int both = open(name, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (both < 0)
        return descriptor;
    close(descriptor);
    return both;
}

/* A file that has been opened. */
struct opened {
    int descriptor;
    bool is_old; /* what a run before has left */
    bool is_new; /* there is nothing in it */
};

/* Whether the open file, of which NAME may have become another, is still that
 * of this name. */
static bool is_at(const char *name, const struct stat *status)
{
    struct stat now;
    return stat(name, &now) == 0 && now.st_ino == status->st_ino &&
           now.st_dev == status->st_dev;
}

/* Lock a regular file, and see what is in it; the reason why not, or 0. */
static int look_into(const char *name, bool is_shared, struct opened *opened)
{
    struct stat status;
    int descriptor = opened->descriptor;
    bool is_alone = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    bool is_taken = !is_alone && errno == EWOULDBLOCK;
    if (is_taken && !(is_shared && flock(descriptor, LOCK_SH | LOCK_NB) == 0))
        return EWOULDBLOCK;
    if (fstat(descriptor, &status) != 0)
        return errno;
    if (!is_at(name, &status))
        return EWOULDBLOCK;
    bool is_empty = status.st_size == 0;
    opened->is_new = is_empty && (is_alone || !is_shared);
    opened->is_old = !is_empty && (is_alone || !is_shared);
    /* A file system that refuses leaves the lock as it is: others are kept out.
     */
    if (is_alone && is_shared && flock(descriptor, LOCK_SH | LOCK_NB) != 0 &&
        errno == EWOULDBLOCK)
        return EWOULDBLOCK;
    /* Nobody knows whether others write it. */
    if (!is_alone && !is_taken && is_shared) {
        opened->is_new = true;
        return ftruncate(descriptor, 0) == 0 ? 0 : errno;
    }
    return 0;
}

static ek_status open_once(const char *name, bool is_shared,
                           struct opened *opened)
{
    struct stat status;
    *opened = (struct opened){open_to_write(name, &status), false, true};
    if (opened->descriptor < 0)
        return refuse_writing(name, errno);
    int reason =
        S_ISREG(status.st_mode) ? look_into(name, is_shared, opened) : 0;
    if (reason == 0)
        return EK_OK;
    close(opened->descriptor);
    return refuse_writing(name, reason);
}

/* Where NAME is a link, what it leads to is renamed. */
static ek_status keep_old(const char *name)
{
    char *path = realpath(name, NULL);
    if (!path)
        return refuse_writing(name, errno);
    size_t bytes = strlen(path) + sizeof EKI_FILE_OLD;
    char *kept = eki_alloc(bytes, 1);
    ek_status status = EK_OK;
    if (kept)
        snprintf(kept, bytes, "%s" EKI_FILE_OLD, path);
    if (!kept)
        status = eki_error(EK_ERR_NOMEM, "no memory for the name of a file");
    else if (rename(path, kept) != 0)
        status = eki_error(EK_ERR_FILE,
                           "cannot write '%.350s': the old file cannot be "
                           "renamed to '%.350s" EKI_FILE_OLD "': %s",
                           name, name, strerror(errno));
    free(path);
    eki_free(kept);
    return status;
}

static ek_status open_empty(const char *name, bool is_shared, FILE **file,
                            bool *is_new)
{
    struct opened opened;
    EKI_TRY(open_once(name, is_shared, &opened));
    if (opened.is_old) {
        ek_status status = keep_old(name);
        close(opened.descriptor);
        if (status == EK_OK)
            status = open_once(name, is_shared, &opened);
        EKI_TRY(status);
    }
    *is_new = opened.is_new;
    *file = fdopen(opened.descriptor, "ab");
    if (*file)
        return EK_OK;
    int reason = errno;
    close(opened.descriptor);
    return refuse_writing(name, reason);
}

/* Jobs that begin together open a file one after the other, so that each finds
 * what the one before has made: a lock of the file's folder is their turn.  A
 * job goes on without where the file system knows no such locks (NFS locks no
 * folder so), or after a second.  The folder, to be closed when the turn is
 * over; -1: it cannot be opened. */
static int take_turn(const char *name)
{
    enum {
        TRIES = 1000,
        FOLDER_BYTES = 1024
    };
    const struct timespec nap = {0, 1000000};
    const char *slash = strrchr(name, '/');
    char folder[FOLDER_BYTES];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - name + 1) : 1,
             slash ? name : ".");
    int turn = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0;
         turn >= 0 && tries < TRIES && flock(turn, LOCK_EX | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
         tries++)
        nanosleep(&nap, NULL);
    return turn;
}

ek_status eki_file_open(const char *name, bool is_shared, FILE **file,
                        bool *is_new)
{
    int turn = take_turn(name);
    ek_status status = open_empty(name, is_shared, file, is_new);
    if (turn >= 0)
        close(turn);
    return status;
}
