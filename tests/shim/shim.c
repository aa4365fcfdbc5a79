/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shim: an MPI that does what MPI may do, and seldom does.  It is loaded before
 * the MPI library, and takes the place of the calls below:
 *
 *     MPI_Isend, MPI_Rget, MPI_Rget_accumulate
 *             are kept, and half of them begun in a later call: messages to one
 *             rank in their order, its one-sided operations in theirs, others
 *             in any.  Their end is told late.
 *     MPI_Test, MPI_Testsome
 *             say more often than they must that nothing is done, and give up
 *             the processor at times, or sleep.
 *     others  wait: they begin what is kept.
 *
 * So a message moves only while its sender is in MPI, as with a library that
 * has no thread of its own.  MPI_Rput is left alone: no thief calls it.
 *
 * Whoever makes a call that is kept is told that it has begun.  If it fails
 * then, the job ends.
 *
 * Any thread may call.  SHIM_SEED draws other times; with threads no run is
 * like another.  With SHIM_SAYS it tells at last how many tests it denied.
 */
/* setenv() */
#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What may be kept. */
enum kind {
    SEND,
    GET,
    ACCUMULATE
};

/* A call that is kept, or begun. */
struct kept {
    struct kept *next;
    enum kind kind;
    const void *origin;
    void *result;
    int count, target;
    MPI_Datatype type;
    MPI_Aint at;
    int tag;          /* SEND */
    MPI_Op op;        /* ACCUMULATE */
    MPI_Comm comm;    /* SEND */
    MPI_Win window;   /* the others */
    MPI_Request real; /* once begun */
    MPI_Request told; /* what the caller has */
    bool is_begun;
    uint64_t begin_at, tell_at; /* ns */
};

static struct {
    pthread_mutex_t mutex;
    struct kept *first, **last;
    uint64_t random;
    int64_t tests, denied;
} shim = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = &shim.first};

/* For a test that is to fail where it runs without (tests/mpi/job.h). */
__attribute__((constructor)) static void say_loaded(void)
{
    setenv("SHIM_IS_LOADED", "1", 1);
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Less than BELOW; while the mutex is held. */
static uint64_t draw(uint64_t below)
{
    if (shim.random == 0) {
        const char *seed = getenv("SHIM_SEED");
        int rank;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        shim.random = (strtoull(seed ? seed : "1", NULL, 10) << 16 |
                       (uint64_t)(rank + 1)) *
                      UINT64_C(0x9e3779b97f4a7c15);
    }
    shim.random ^= shim.random << 13;
    shim.random ^= shim.random >> 7;
    shim.random ^= shim.random << 17;
    return (shim.random >> 11) % below;
}

/* Half of the times none, else some microseconds, at times a millisecond. */
static uint64_t delay_ns(void)
{
    uint64_t kind = draw(16);
    return kind < 8 ? 0 : kind < 15 ? draw(50000) : draw(1000000);
}

static void end_if_failed(int code, const char *verb)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "shim: a call that was kept does not %s: error %d of MPI\n",
            verb, code);
    PMPI_Abort(MPI_COMM_WORLD, code);
}

static void begin(struct kept *kept)
{
    int code;
    if (kept->kind == SEND)
        code = PMPI_Isend(kept->origin, kept->count, kept->type, kept->target,
                          kept->tag, kept->comm, &kept->real);
    else if (kept->kind == GET)
        code = PMPI_Rget(kept->result, kept->count, kept->type, kept->target,
                         kept->at, kept->count, kept->type, kept->window,
                         &kept->real);
    else
        code = PMPI_Rget_accumulate(
            kept->origin, kept->count, kept->type, kept->result, kept->count,
            kept->type, kept->target, kept->at, kept->count, kept->type,
            kept->op, kept->window, &kept->real);
    end_if_failed(code, "begin");
    kept->is_begun = true;
    kept->tell_at = now_ns() + delay_ns();
}

/* Whether one that was kept before KEPT has to be begun before it. */
static bool has_elder(const struct kept *kept)
{
    for (const struct kept *elder = shim.first; elder != kept;
         elder = elder->next) {
        if (!elder->is_begun && elder->target == kept->target &&
            (elder->kind == SEND) == (kept->kind == SEND))
            return true;
    }
    return false;
}

/* Begin what is due at NOW, or all; while the mutex is held. */
static void begin_due(uint64_t now, bool all)
{
    for (struct kept *kept = shim.first; kept; kept = kept->next) {
        if (!kept->is_begun &&
            (all || (now >= kept->begin_at && !has_elder(kept))))
            begin(kept);
    }
}

/* Tell what is done. */
static void tell_done(uint64_t now, bool all)
{
    for (struct kept **at = &shim.first; *at;) {
        struct kept *kept = *at;
        int is_done = 0;
        if (kept->is_begun && kept->real != MPI_REQUEST_NULL)
            end_if_failed(PMPI_Test(&kept->real, &is_done, MPI_STATUS_IGNORE),
                          "end");
        if (!kept->is_begun || kept->real != MPI_REQUEST_NULL ||
            (now < kept->tell_at && !all)) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        if (shim.last == &kept->next)
            shim.last = at;
        PMPI_Grequest_complete(kept->told);
        free(kept);
    }
}

static void pump(bool all)
{
    uint64_t now = now_ns();
    begin_due(now, all);
    tell_done(now, all);
}

/* Let time pass in a test; true: it is to say that nothing is done. */
static bool deny_at_times(void)
{
    struct timespec pause = {0, 0};
    pthread_mutex_lock(&shim.mutex);
    pump(false);
    bool is_denied = draw(4) == 0, yields = draw(16) == 0;
    if (draw(512) == 0)
        pause.tv_nsec = (long)draw(100000);
    shim.tests++;
    shim.denied += is_denied;
    pthread_mutex_unlock(&shim.mutex);
    if (yields)
        sched_yield();
    if (pause.tv_nsec > 0)
        nanosleep(&pause, NULL);
    return is_denied;
}

/* Before a call that waits. */
static void begin_all(void)
{
    pthread_mutex_lock(&shim.mutex);
    pump(true);
    pthread_mutex_unlock(&shim.mutex);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_done)
{
    (void)state, (void)is_done;
    return MPI_SUCCESS;
}

/* Keep a call; REQUEST stands for it. */
static int keep(const struct kept *what, MPI_Request *request)
{
    struct kept *kept = malloc(sizeof *kept);
    if (!kept)
        return MPI_ERR_NO_MEM;
    *kept = *what;
    int code = PMPI_Grequest_start(query, forget, cancel, NULL, &kept->told);
    if (code != MPI_SUCCESS) {
        free(kept);
        return code;
    }
    *request = kept->told;
    pthread_mutex_lock(&shim.mutex);
    kept->begin_at = now_ns() + delay_ns();
    *shim.last = kept;
    shim.last = &kept->next;
    pump(false);
    pthread_mutex_unlock(&shim.mutex);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int target,
              int tag, MPI_Comm comm, MPI_Request *request)
{
    const struct kept what = {.kind = SEND,
                              .origin = buffer,
                              .count = count,
                              .type = type,
                              .target = target,
                              .tag = tag,
                              .comm = comm};
    return keep(&what, request);
}

int MPI_Rget(void *origin, int n, MPI_Datatype type, int target, MPI_Aint at,
             int target_n, MPI_Datatype target_type, MPI_Win window,
             MPI_Request *request)
{
    const struct kept what = {.kind = GET,
                              .result = origin,
                              .count = n,
                              .type = type,
                              .target = target,
                              .at = at,
                              .window = window};
    (void)target_n, (void)target_type;
    return keep(&what, request);
}

int MPI_Rget_accumulate(const void *origin, int n, MPI_Datatype type,
                        void *result, int result_n, MPI_Datatype result_type,
                        int target, MPI_Aint at, int target_n,
                        MPI_Datatype target_type, MPI_Op op, MPI_Win window,
                        MPI_Request *request)
{
    const struct kept what = {.kind = ACCUMULATE,
                              .origin = origin,
                              .result = result,
                              .count = result_n,
                              .type = result_type,
                              .target = target,
                              .at = at,
                              .op = op,
                              .window = window};
    (void)n, (void)type, (void)target_n, (void)target_type;
    return keep(&what, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = 0;
    return deny_at_times() && *request != MPI_REQUEST_NULL
               ? MPI_SUCCESS
               : PMPI_Test(request, flag, status);
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                 MPI_Status statuses[])
{
    bool is_denied = deny_at_times(), has_one = false;
    for (int i = 0; i < count; i++)
        has_one = has_one || requests[i] != MPI_REQUEST_NULL;
    *done = 0;
    return is_denied && has_one
               ? MPI_SUCCESS
               : PMPI_Testsome(count, requests, done, indices, statuses);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!flag && code == MPI_SUCCESS) {
        begin_all();
        code = PMPI_Test(request, &flag, status);
    }
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE
                                          ? MPI_STATUS_IGNORE
                                          : &statuses[i]);
    return code;
}

/* Until nothing is kept. */
static void end_all(void)
{
    bool is_empty = false;
    while (!is_empty) {
        begin_all();
        pthread_mutex_lock(&shim.mutex);
        is_empty = !shim.first;
        pthread_mutex_unlock(&shim.mutex);
    }
}

int MPI_Finalize(void)
{
    end_all();
    if (getenv("SHIM_SAYS"))
        fprintf(stderr, "shim: %lld tests, %lld denied\n",
                (long long)shim.tests, (long long)shim.denied);
    return PMPI_Finalize();
}

/* Calls that wait for others; PREPARE comes first. */
#define WAITS(prepare, name, parameters, arguments) \
    int MPI_##name parameters                       \
    {                                               \
        prepare();                                  \
        return PMPI_##name arguments;               \
    }

WAITS(end_all, Win_unlock_all, (MPI_Win window), (window))
WAITS(end_all, Win_free, (MPI_Win * window), (window))
WAITS(end_all, Comm_free, (MPI_Comm * comm), (comm))
WAITS(begin_all, Barrier, (MPI_Comm comm), (comm))
WAITS(begin_all, Win_flush, (int target, MPI_Win window), (target, window))
WAITS(begin_all, Win_allocate,
      (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory,
       MPI_Win *window),
      (bytes, unit, info, comm, memory, window))
WAITS(begin_all, Win_allocate_shared,
      (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory,
       MPI_Win *window),
      (bytes, unit, info, comm, memory, window))
WAITS(begin_all, Comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy))
WAITS(begin_all, Comm_split,
      (MPI_Comm comm, int color, int key, MPI_Comm *part),
      (comm, color, key, part))
WAITS(begin_all, Comm_split_type,
      (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part),
      (comm, type, key, info, part))
WAITS(begin_all, Bcast,
      (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
      (buffer, count, type, root, comm))
WAITS(begin_all, Allreduce,
      (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm),
      (from, to, count, type, op, comm))
WAITS(begin_all, Reduce,
      (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
       int root, MPI_Comm comm),
      (from, to, count, type, op, root, comm))
WAITS(begin_all, Gather,
      (const void *from, int count, MPI_Datatype type, void *to, int to_count,
       MPI_Datatype to_type, int root, MPI_Comm comm),
      (from, count, type, to, to_count, to_type, root, comm))
WAITS(begin_all, Allgather,
      (const void *from, int count, MPI_Datatype type, void *to, int to_count,
       MPI_Datatype to_type, MPI_Comm comm),
      (from, count, type, to, to_count, to_type, comm))
WAITS(begin_all, Send,
      (const void *buffer, int count, MPI_Datatype type, int target, int tag,
       MPI_Comm comm),
      (buffer, count, type, target, tag, comm))
WAITS(begin_all, Ssend,
      (const void *buffer, int count, MPI_Datatype type, int target, int tag,
       MPI_Comm comm),
      (buffer, count, type, target, tag, comm))
WAITS(begin_all, Probe,
      (int source, int tag, MPI_Comm comm, MPI_Status *status),
      (source, tag, comm, status))
WAITS(begin_all, Recv,
      (void *buffer, int count, MPI_Datatype type, int source, int tag,
       MPI_Comm comm, MPI_Status *status),
      (buffer, count, type, source, tag, comm, status))
