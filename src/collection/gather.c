/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of tasks, gathered.  A rank sends a *stream*: a head for each result
 * and one behind the last, then the bytes of all.  The root sorts heads, and
 * makes a *block* of the results: their bytes, count + 1 starts, count indices.
 * With all ranks as roots it sends this block on.
 */
#include "balance/balance.h"
#include "collection/results.h"

#include <limits.h>

/* A result in a stream. */
struct head {
    int64_t index;
    int64_t start; /* of its bytes, in those of the stream */
};

/* What a rank has to send. */
struct share {
    int64_t count, bytes; /* of results */
};

struct room {
    unsigned char *bytes;
    size_t size;
};

struct eki_gathered {
    struct share *shares;   /* [size] of the ranks */
    int64_t *stream_starts; /* [size + 1]: where theirs begin among all */
    struct room streams;    /* at the root: of all, in rank order; else: own */
    struct room block;      /* what the program reads */
};

static int64_t stream_bytes_of(const struct share *share)
{
    return (share->count + 1) * (int64_t)sizeof(struct head) +
           (int64_t)eki_in_units((size_t)share->bytes);
}

/* Make room for BYTES; what was there goes.  False: no memory. */
static bool renew_room(struct room *room, size_t bytes)
{
    if (bytes <= room->size)
        return true;
    size_t size = bytes / 2 < room->size ? 2 * room->size : bytes;
    eki_free(room->bytes);
    room->bytes = eki_alloc_untouched(size);
    room->size = room->bytes ? size : 0;
    return room->bytes != NULL;
}

/* Make what every rank needs, once. */
static ek_status open_gathered(ek_collection *tasks)
{
    size_t size = (size_t)tasks->topology->size;
    if (tasks->parts.gathered)
        return EK_OK;
    struct eki_gathered *gathered = eki_alloc(1, sizeof *gathered);
    if (gathered)
        gathered->shares =
            eki_alloc(size + 1, sizeof *gathered->shares +
                                    sizeof *gathered->stream_starts);
    if (!gathered || !gathered->shares) {
        eki_free(gathered);
        return eki_error(EK_ERR_NOMEM, "ek_gather: no memory for %zu ranks",
                         size);
    }
    gathered->stream_starts = (int64_t *)(gathered->shares + size);
    tasks->parts.gathered = gathered;
    return EK_OK;
}

void eki_collection_free_gathered(ek_collection *tasks)
{
    struct eki_gathered *gathered = tasks->parts.gathered;
    if (!gathered)
        return;
    eki_free(gathered->shares);
    eki_free(gathered->streams.bytes);
    eki_free(gathered->block.bytes);
    eki_free(gathered);
}

/* The results of WORKER's tasks in the last iteration; NULL: none. */
static const struct eki_results *last_results(const ek_collection *tasks,
                                              int here)
{
    const struct eki_results *results = &tasks->engine->workers[here]->results;
    return results->iteration == tasks->iteration - 1 ? results : NULL;
}

/* Count the results of FUNCTION here; where STREAM is not NULL write them to
 * it, of which SHARE tells how many there are. */
static struct share walk_results(const ek_collection *tasks,
                                 ek_function function, unsigned char *stream,
                                 const struct share *share)
{
    struct share sum = {0, 0};
    struct head *heads = (struct head *)(void *)stream;
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        const struct eki_results *results = last_results(tasks, here);
        const struct eki_result *record;
        for (size_t at = 0; results && at < results->used;
             at += eki_result_bytes(record->bytes)) {
            record = eki_result_at(results, at);
            if (record->function != function)
                continue;
            if (stream) {
                heads[sum.count] = (struct head){record->index, sum.bytes};
                memcpy((unsigned char *)(heads + share->count + 1) + sum.bytes,
                       record->result, record->bytes);
            }
            sum.count++;
            sum.bytes += (int64_t)record->bytes;
        }
    }
    if (stream)
        heads[sum.count] = (struct head){0, sum.bytes};
    return sum;
}

/* What an ek_gather() asks for. */
struct request {
    ek_function function;
    int root;
    ek_results *results;
};

static ek_status check_request(const ek_collection *tasks,
                               const struct request *request)
{
    int most = tasks->topology->size - 1;
    EKI_TRY(eki_collection_check_region("ek_gather"));
    EKI_TRY(eki_collection_check_task(tasks->engine, "ek_gather", "",
                                      request->function, 0));
    if (request->root < EK_ALL_RANKS || request->root > most)
        return eki_error(EK_ERR_ARG,
                         "ek_gather: root %d; allowed: 0 ... %d, EK_ALL_RANKS",
                         request->root, most);
    if (!request->results ||
        request->results->struct_bytes < sizeof *request->results)
        return eki_error(EK_ERR_ARG, "ek_gather: results is NULL or was not "
                                     "set by EK_RESULTS_INIT");
    return EK_OK;
}

/* What this rank has of FUNCTION. */
static ek_status count_results(ek_collection *tasks, ek_function function,
                               struct share *share)
{
    for (int here = 0; here < tasks->topology->workers_here; here++) {
        const struct eki_results *results = last_results(tasks, here);
        if (results && results->is_cut)
            return eki_error(EK_ERR_NOMEM,
                             "ek_gather: a worker had no memory for a result");
    }
    EKI_TRY(open_gathered(tasks));
    *share = walk_results(tasks, function, NULL, NULL);
    if (share->count > INT_MAX)
        return eki_error(EK_ERR_NOMEM, "ek_gather: no memory for %lld results",
                         (long long)share->count);
    return EK_OK;
}

/* All ranks tell their SHARE; returns the sum. */
static ek_status tell_shares(ek_collection *tasks, const struct share *share,
                             struct share *all)
{
    struct eki_gathered *gathered = tasks->parts.gathered;
    EKI_TRY(eki_fabric_mpi_gather_all(tasks->fabric, share, gathered->shares,
                                      sizeof *share));
    *all = (struct share){0, 0};
    for (int rank = 0; rank < tasks->topology->size; rank++) {
        all->count += gathered->shares[rank].count;
        all->bytes += gathered->shares[rank].bytes;
        gathered->stream_starts[rank + 1] =
            gathered->stream_starts[rank] +
            stream_bytes_of(&gathered->shares[rank]);
    }
    return EK_OK;
}

static size_t block_bytes(const struct share *all)
{
    return eki_in_units((size_t)all->bytes) +
           (size_t)(2 * all->count + 1) * sizeof(int64_t);
}

/* Make room for the streams of all ranks, or of this one, and for the block. */
static ek_status make_rooms(ek_collection *tasks, const struct share *all,
                            bool is_maker, bool has_block)
{
    struct eki_gathered *gathered = tasks->parts.gathered;
    const int64_t *starts = gathered->stream_starts;
    int rank = tasks->topology->rank, size = tasks->topology->size;
    int64_t bytes = is_maker ? starts[size] : starts[rank + 1] - starts[rank];
    if (!renew_room(&gathered->streams, (size_t)bytes) ||
        (has_block && !renew_room(&gathered->block, block_bytes(all))))
        return eki_error(EK_ERR_NOMEM, "ek_gather: no memory for %lld results",
                         (long long)all->count);
    return EK_OK;
}

/* The stream of a rank among those of all. */
static const struct head *stream_of(const struct eki_gathered *gathered,
                                    int rank)
{
    return (const struct head *)(const void *)(gathered->streams.bytes +
                                               gathered->stream_starts[rank]);
}

/* All results by ascending index; NULL: no memory. */
static struct eki_item *sort_results(const struct eki_gathered *gathered,
                                     int size, int64_t count)
{
    struct eki_item *order = eki_alloc((size_t)count, sizeof *order);
    int64_t most = INT64_MIN, n = 0;
    for (int rank = 0; order && rank < size; rank++) {
        const struct head *heads = stream_of(gathered, rank);
        for (int32_t i = 0; i < gathered->shares[rank].count; i++) {
            order[n++] = (struct eki_item){heads[i].index, rank, i};
            most = heads[i].index > most ? heads[i].index : most;
        }
    }
    /* The longest come first. */
    for (int64_t i = 0; i < n; i++)
        order[i].ns = (int64_t)((uint64_t)most - (uint64_t)order[i].ns);
    if (!order || eki_items_sort(order, count))
        return order;
    eki_free(order);
    return NULL;
}

/* Parts of the block. */
static int64_t *starts_of(const struct eki_gathered *gathered,
                          const struct share *all)
{
    return (int64_t *)(void *)(gathered->block.bytes +
                               eki_in_units((size_t)all->bytes));
}

/* At the root: make the block of the streams. */
static ek_status fill_block(struct eki_gathered *gathered, int size,
                            const struct share *all)
{
    int64_t *start = starts_of(gathered, all), *index = start + all->count + 1;
    struct eki_item *order = NULL;
    int64_t at = 0;
    if (all->count > 0 && !(order = sort_results(gathered, size, all->count)))
        return eki_error(EK_ERR_NOMEM, "ek_gather: no memory to sort");
    for (int64_t i = 0; i < all->count; i++) {
        const struct head *heads = stream_of(gathered, order[i].from);
        const struct head *head = &heads[order[i].index];
        int64_t bytes = head[1].start - head->start;
        const unsigned char *results =
            (const unsigned char *)(heads +
                                    gathered->shares[order[i].from].count + 1);
        memcpy(gathered->block.bytes + at, results + head->start,
               (size_t)bytes);
        index[i] = head->index;
        start[i] = at;
        at += bytes;
    }
    start[all->count] = at;
    eki_free(order);
    return EK_OK;
}

/* Send streams to the root, and the block to where it is wanted. */
static ek_status move_results(ek_collection *tasks,
                              const struct request *request,
                              const struct share *all)
{
    struct eki_fabric *fabric = tasks->fabric;
    struct eki_gathered *gathered = tasks->parts.gathered;
    bool has_all = request->root == EK_ALL_RANKS;
    int maker = has_all ? 0 : request->root, rank = fabric->rank;
    EKI_TRY(eki_fabric_mpi_agree(fabric, make_rooms(tasks, all, rank == maker,
                                                    has_all || rank == maker)));
    unsigned char *mine = gathered->streams.bytes;
    if (rank == maker)
        mine += gathered->stream_starts[rank];
    walk_results(tasks, request->function, mine, &gathered->shares[rank]);
    EKI_TRY(eki_fabric_mpi_collect(fabric, gathered->streams.bytes,
                                   gathered->stream_starts, maker));
    EKI_TRY(eki_fabric_mpi_agree(
        fabric,
        rank == maker ? fill_block(gathered, fabric->size, all) : EK_OK));
    return has_all ? eki_fabric_mpi_broadcast(fabric, gathered->block.bytes,
                                              block_bytes(all), maker)
                   : EK_OK;
}

static void show_results(const struct eki_gathered *gathered,
                         const struct share *all, ek_results *results)
{
    results->count = all->count;
    results->start = starts_of(gathered, all);
    results->index = results->start + all->count + 1;
    results->bytes = gathered->block.bytes;
}

static ek_status gather(ek_collection *tasks, const struct request *request)
{
    struct share mine, all;
    ek_status status = check_request(tasks, request);
    if (status == EK_OK)
        status = count_results(tasks, request->function, &mine);
    EKI_TRY(eki_collection_agree_on(
        tasks, status,
        eki_hash((uint64_t)request->function, (uint64_t)request->root),
        "ek_gather: ranks differ in function or root"));
    EKI_TRY(tell_shares(tasks, &mine, &all));
    EKI_TRY(move_results(tasks, request, &all));
    *request->results =
        (ek_results){.struct_bytes = request->results->struct_bytes};
    if (request->root == EK_ALL_RANKS || request->root == tasks->topology->rank)
        show_results(tasks->parts.gathered, &all, request->results);
    return EK_OK;
}

ek_status ek_gather(ek_collection *tasks, ek_function function, int root,
                    ek_results *results)
{
    struct request request = {function, root, results};
    EKI_TRY(eki_collection_enter_call(tasks, "ek_gather", EKI_CALLED_GATHER));
    return eki_collection_leave_call(tasks, gather(tasks, &request));
}
