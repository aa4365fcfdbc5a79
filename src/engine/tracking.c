/* SPDX-License-Identifier: BSD-3-Clause */
/* What the track of a worker is told, while a timeline is written. */
#include "engine/internal.h"

void eki_worker_track_tasks(struct ek_worker *worker, int64_t n, uint64_t begin,
                            uint64_t end, uint64_t held)
{
    eki_track_tasks(worker->track, eki_worker_function(worker),
                    eki_task_key(worker), n, begin, end - held);
    if (EKI_UNLIKELY(held != 0))
        eki_track_state(worker->track, EKI_EVENT_STARVED, -1, 0, end, 0);
}

void eki_worker_track_run(struct ek_worker *worker, uint64_t now)
{
    const struct eki_batch *batch = &worker->batch;
    uint64_t elapsed = eki_ns_since(batch->stamp, now);
    if (batch->count > 0)
        eki_worker_track_tasks(
            worker, batch->count, batch->stamp, batch->stamp + elapsed,
            batch->held_ns < elapsed ? batch->held_ns : elapsed);
}

void eki_worker_track_search(struct ek_worker *worker, uint64_t now)
{
    const struct eki_search *search = &worker->search;
    struct eki_track *track = worker->track;
    uint64_t tasks = (uint64_t)(worker->counts.stolen - search->stolen);
    bool is_far = search->from < 0;
    uint64_t since = search->steal_since;
    if (since == 0) {
        eki_track_state(track, EKI_EVENT_LOOK, -1, search->since, now, 0);
        return;
    }
    if (is_far && since > search->since)
        eki_track_state(track, EKI_EVENT_LOOK, -1, search->since, since, 0);
    eki_track_state(track, is_far ? EKI_EVENT_AWAIT : EKI_EVENT_LOOK, -1,
                    search->since, now, is_far ? (uint64_t)~search->from : 0);
    eki_track_point(
        track, is_far ? EKI_EVENT_ANSWER : EKI_EVENT_STEAL, now,
        eki_event_pair(tasks, is_far ? ~search->from : search->from));
}

int eki_worker_behind(const struct eki_engine *engine, int deque)
{
    const struct eki_topology *topology = engine->topology;
    int server = deque - topology->node_workers, local = deque;
    for (int rank = topology->lowest_rank[topology->node];; rank++) {
        const int *first = &topology->first_worker[rank];
        if (topology->node_of_rank[rank] != topology->node)
            continue;
        if (server < 0 && local < first[1] - first[0])
            return first[0] + local;
        if (server-- == 0)
            return first[0];
        local -= first[1] - first[0];
    }
}

void eki_worker_track_shown(struct ek_worker *worker)
{
    eki_track_point(
        worker->track, EKI_EVENT_PUBLISH, worker->batch.stamp,
        (uint64_t)eki_visible(worker->engine, worker->local_number));
}

void eki_worker_track_halt(struct ek_worker *worker, int64_t begun,
                           uint64_t now)
{
    /* Tasks that run in their places are counted behind the last. */
    eki_track_cut(worker->track, eki_worker_function(worker),
                  eki_task_key(worker), begun > 0 ? begun : 0,
                  worker->batch.stamp, now);
}
