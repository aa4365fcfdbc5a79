/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * votes: the server of a node's lowest rank votes, where tasks are
 * acknowledged, while that of the other rank gets a task and gives it away:
 * eki_detect_vote() against eki_detect_add() and note_posted().
 *
 * Checked: who votes has waited for the receipt of what left before, or says
 * NO in the next vote.  No receipt comes here.
 */
#define RANKS 2
#define WORKERS 2
#define NODES 2
#include "world.h"

static struct {
    struct eki_message message;
    struct eki_slot slot;
} given;
static bool has_voted;

static void prepare(void)
{
    static const struct eki_verb verbs[] = {{.has_slots = true}};
    static const struct eki_protocol_ops ops = {.verbs = verbs,
                                                .verb_count = 1};
    static struct eki_protocol protocol = {.ops = &ops};
    struct eki_phase phase = {.kind = EKI_PHASE_PROCESS,
                              .detector = EKI_DETECTOR_ACKNOWLEDGED,
                              .signature = 1};
    given.message.head.count = 1;
    for (int rank = 0; rank < RANKS; rank++) {
        world_engines[rank].channels[0] = &protocol;
        eki_engine_enter(&world_engines[rank], &phase, 0);
        world_become_idle(&world_workers[rank]);
    }
}

static void *vote_once(void *unused)
{
    struct eki_vote vote = {0};
    (void)unused;
    has_voted = eki_detect_vote(&world_engines[0], &vote, 0);
    return NULL;
}

static void *take_and_give(void *unused)
{
    (void)unused;
    eki_detect_add(&world_segment.ranks[1].opened, 1);
    note_posted(&world_engines[1], &given.message);
    return NULL;
}

static void check(void)
{
    /* relaxed: all threads have ended. */
    bool says_so = atomic_load_explicit(&world_segment.ranks[1].gave,
                                        memory_order_relaxed) != 0;
    assert(!has_voted || says_so);
    assert(says_so || world_engines[0].detect.doubts == EKI_DOUBT_GAVE);
}

int main(void)
{
    static const struct world_program program = {
        prepare, check, 2, {vote_once, take_and_give}};
    return world_run_program(&program);
}
