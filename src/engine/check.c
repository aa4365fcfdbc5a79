/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The invariants of workers and of the words of a node, for debug builds and
 * the simulator.  They hold at any time, whatever others do meanwhile.
 */
#include "engine/internal.h"

static const char *check_batch(const struct eki_batch *batch)
{
    if (batch->size < 1 || batch->size > EKI_BATCH_MAX ||
        (batch->size & (batch->size - 1)) != 0)
        return "the size of a batch is no power of two from 1 to 64";
    if (batch->count < 0 || batch->count > EKI_BATCH_MAX)
        return "a batch has taken more tasks than one may";
    return NULL;
}

static const char *check_piece(const struct eki_piece *piece)
{
    if (piece->size < 1 || piece->size > EKI_PIECE_MAX)
        return "the size of a piece is not from 1 to 512";
    if (piece->first < 0)
        return NULL;
    int64_t index = eki_piece_index(piece);
    if (piece->first > index || index > piece->last)
        return "a piece of a range runs beyond its ends";
    if (piece->nulls < 0 || piece->nulls > index - piece->first)
        return "a piece has more null indices than it has run";
    return NULL;
}

static const char *check_search(const struct ek_worker *worker)
{
    const struct eki_search *search = &worker->search;
    const struct eki_check *check = &worker->check;
    int workers = worker->engine->topology->node_workers;
    if (search->steal_from < -1 ||
        search->steal_from >= eki_deque_count(worker->engine) ||
        search->steal_from == worker->local_number)
        return "a block is claimed from nobody";
    if (check->at < 0 || check->at >= workers || (check->pass | 1) != 1)
        return "the check for the end is nowhere";
    return NULL;
}

const char *eki_worker_check(const struct ek_worker *worker)
{
    const struct eki_worker_words *words = worker->words;
    const char *wrong = eki_local_check(&worker->local);
    if (!wrong)
        wrong = check_batch(&worker->batch);
    if (!wrong)
        wrong = check_piece(&worker->piece);
    if (!wrong)
        wrong = check_search(worker);
    if (wrong)
        return wrong;
    /* relaxed, both: written by this worker. */
    if (atomic_load_explicit(&words->executed, memory_order_relaxed) >
        worker->executed)
        return "more is stored as executed than was";
    if (atomic_load_explicit(&words->created, memory_order_relaxed) >
        eki_worker_created(worker))
        return "more is stored as created than was";
    return NULL;
}

/* A word of two parities names a phase of its parity, not after the next. */
static bool is_of_parity(const _Atomic uint64_t *words, uint64_t phase)
{
    for (uint64_t parity = 0; parity < 2; parity++) {
        /* relaxed: each value on its own is checked. */
        uint64_t word =
            atomic_load_explicit(&words[parity], memory_order_relaxed);
        if (word != 0 && ((word & 1) != parity || word > phase + 1))
            return false;
    }
    return true;
}

static bool is_from(const _Atomic uint64_t *word, uint64_t first, uint64_t last)
{
    /* relaxed: the value on its own is checked. */
    uint64_t value = atomic_load_explicit(word, memory_order_relaxed);
    return value >= first && value <= last;
}

static const char *check_ranks(const struct eki_engine *engine)
{
    uint64_t phase = engine->phase;
    for (int i = 0; i < engine->topology->node_ranks; i++) {
        const struct eki_rank_words *words = &engine->rank_words[i];
        if (!is_from(&words->left, phase < 2 ? 0 : phase - 2, phase))
            return "a rank of the node has left a phase that is not about";
        if (!is_of_parity(words->errors.failed, phase))
            return "an error of a rank is of no phase";
    }
    return NULL;
}

static const char *check_workers(const struct eki_engine *engine)
{
    uint64_t phase = engine->phase;
    for (int i = 0; i < engine->topology->node_workers; i++) {
        const struct eki_worker_words *words = eki_words_of(engine, i);
        if (!is_from(&words->phase, phase < 1 ? 0 : phase - 1, phase + 1))
            return "a worker of the node is in a phase that is not about";
        if (!is_from(&words->idle, 0, phase + 1))
            return "a worker is idle in a phase to come";
        if (!is_of_parity(words->errors.failed, phase))
            return "an error of a worker is of no phase";
    }
    return NULL;
}

const char *eki_node_check(const struct eki_engine *engine)
{
    const struct eki_node_words *node = engine->node;
    uint64_t phase = engine->phase;
    /* relaxed: the value on its own is checked. */
    int polled = atomic_load_explicit(&node->polled, memory_order_relaxed);
    if (!is_of_parity(node->stop, phase) || !is_of_parity(node->mail, phase) ||
        !is_of_parity(node->error, phase) ||
        !is_of_parity(node->mismatch, phase))
        return "a word of the node is of no phase";
    if (polled < 0 || polled >= engine->topology->size)
        return "the rank that was polled last does not exist";
    if (!engine->alone && engine->is_open && !eki_is_broken(engine) &&
        !is_from(&node->announced, phase - 1, phase))
        return "the end of a phase that is not about is announced";
    const char *wrong = check_ranks(engine);
    return wrong ? wrong : check_workers(engine);
}
