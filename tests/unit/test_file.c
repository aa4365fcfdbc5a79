/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that several write, on file systems of several kinds. */
#define _GNU_SOURCE
#include "base/base.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char name[] = "test_file_scratch.tsv";
static const char old_name[] = "test_file_scratch.tsv" EKI_FILE_OLD;
static bool is_nfs;

/* On NFS a shared lock needs a file that is open for reading. */
int flock(int descriptor, int operation)
{
    if (is_nfs && operation & LOCK_SH &&
        (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        errno = EBADF;
        return -1;
    }
    return (int)syscall(SYS_flock, descriptor, operation);
}

static int lines_of(const char *file_name)
{
    FILE *file = fopen(file_name, "r");
    int lines = 0;
    for (int byte = 0; file && byte != EOF; lines += byte == '\n')
        byte = getc(file);
    if (file)
        fclose(file);
    return lines;
}

static void leave_old(void)
{
    FILE *file = fopen(name, "w");
    if (!CHECK(file != NULL))
        return;
    fputs("of a run before\n", file);
    fclose(file);
}

static void files_are_shared_on_nfs(void)
{
    FILE *files[2];
    is_nfs = true;
    leave_old();
    for (int i = 0; i < 2; i++) {
        bool is_new = false;
        if (!CHECK(eki_file_open(name, true, &files[i], &is_new) == EK_OK))
            return;
        CHECK(is_new == (i == 0));
        fputs("row\n", files[i]);
        fflush(files[i]);
    }
    fclose(files[1]);
    fclose(files[0]);
    is_nfs = false;
    CHECK_EQ_INT(lines_of(name), 2);
    CHECK_EQ_INT(lines_of(old_name), 1);
}

enum {
    PROCESSES = 4,
    ROUNDS = 100
};

struct shared {
    _Atomic int came, went, new;
};

static void meet(_Atomic int *count)
{
    atomic_fetch_add(count, 1);
    while (atomic_load(count) < PROCESSES)
        sched_yield();
}

/* One of the processes: a row in the file. */
static void open_at_once(struct shared *shared)
{
    FILE *file;
    bool is_new = false, is_open;
    meet(&shared->came);
    is_open = eki_file_open(name, true, &file, &is_new) == EK_OK;
    if (is_open) {
        fputs("row\n", file);
        fflush(file);
    }
    atomic_fetch_add(&shared->new, is_new);
    meet(&shared->went);
    _exit(is_open ? 0 : 1);
}

/* One of them renames the old file; no row of another goes there. */
static void jobs_that_begin_together_share_a_file(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(shared != MAP_FAILED))
        return;
    for (int round = 0; round < ROUNDS; round++) {
        int status, refused = 0;
        remove(name);
        remove(old_name);
        leave_old();
        memset(shared, 0, sizeof *shared);
        for (int i = 0; i < PROCESSES; i++) {
            if (fork() == 0)
                open_at_once(shared);
        }
        while (wait(&status) > 0)
            refused += status != 0;
        CHECK_EQ_INT(refused, 0);
        CHECK_EQ_INT(lines_of(name), PROCESSES);
        CHECK_EQ_INT(lines_of(old_name), 1);
        CHECK_EQ_INT(atomic_load(&shared->new), 1);
    }
    munmap(shared, sizeof *shared);
}

int main(void)
{
    RUN(files_are_shared_on_nfs);
    RUN(jobs_that_begin_together_share_a_file);
    remove(name);
    remove(old_name);
    return check_result();
}
