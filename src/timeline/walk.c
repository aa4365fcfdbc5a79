/* SPDX-License-Identifier: BSD-3-Clause */
/* Going over the events of a track, a block at a time. */
#include "timeline/layout.h"
#include "timeline/reader.h"

int64_t eki_timelines_time(const struct eki_timelines_file *file, int64_t at_ns)
{
    const struct eki_timelines_clock *clock = file->clocks;
    int64_t low = 0, high = file->clock_count - 1;
    if (file->clock_count == 0)
        return at_ns;
    while (low < high) {
        int64_t middle = high - (high - low) / 2;
        if (clock[middle].at_ns <= at_ns)
            low = middle;
        else
            high = middle - 1;
    }
    clock += low;
    if (at_ns <= clock->at_ns || low + 1 == file->clock_count)
        return at_ns + clock->offset_ns;
    double part = (double)(at_ns - clock[0].at_ns) /
                  (double)(clock[1].at_ns - clock[0].at_ns);
    return at_ns + clock->offset_ns +
           (int64_t)(part * (double)(clock[1].offset_ns - clock->offset_ns));
}

/* A walk over a track. */
struct walk {
    const struct eki_timelines_file *file;
    eki_timelines_fn *visit;
    void *context;
    const struct eki_timelines_block *block;
    unsigned char *events;    /* of the block */
    int64_t iteration;        /* the one that has not been left */
    int64_t begin_ns, end_ns; /* of the last state that was visited */
};

/* Event I, and its time by the rank's own clock. */
static int64_t get_event(const struct walk *walk, int64_t i,
                         struct eki_timelines_span *span)
{
    const unsigned char *event = walk->events + EKI_TIMELINE_EVENT * i;
    uint64_t head = eki_get(event, 8);
    *span = (struct eki_timelines_span){
        .kind = (int)(head >> EKI_EVENT_KIND_AT & 31),
        .function = (int)(head >> EKI_EVENT_FUNCTION_AT &
                          (EKI_EVENT_FUNCTION_MOST + 1)) -
                    1,
        .goes_on = head >> EKI_EVENT_MORE_AT,
        .value = eki_get(event + 8, 8)};
    return walk->block->base_ns + (int64_t)(head & EKI_EVENT_TIME);
}

/* Times do not go back where a clock seems to: WALK knows how far they have
 * come. */
static void visit_span(struct walk *walk, struct eki_timelines_span *span,
                       int64_t begin_ns, int64_t end_ns)
{
    bool is_point = eki_event_is_point(span->kind);
    span->begin_ns = eki_timelines_time(walk->file, begin_ns);
    span->end_ns = eki_timelines_time(walk->file, end_ns);
    int64_t least_ns = is_point ? walk->begin_ns : walk->end_ns;
    if (span->begin_ns < least_ns)
        span->begin_ns = least_ns;
    if (span->end_ns < span->begin_ns)
        span->end_ns = span->begin_ns;
    if (!is_point) {
        walk->begin_ns = span->begin_ns;
        walk->end_ns = span->end_ns;
    }
    span->iteration = walk->iteration < walk->file->iteration_count
                          ? &walk->file->iterations[walk->iteration]
                          : NULL;
    walk->visit(walk->context, span);
}

/* Where a state has to be cut that has come to AT_NS; its kind until there. */
static int64_t cut_of(struct walk *walk, int64_t at_ns, int64_t end_ns,
                      int *kind)
{
    const struct eki_timelines_iteration *now = walk->file->iterations;
    int64_t *k = &walk->iteration;
    while (*k < walk->file->iteration_count && now[*k].left_ns <= at_ns)
        ++*k;
    if (*k == walk->file->iteration_count)
        return end_ns;
    int64_t cut_ns = now[*k].left_ns;
    if (*kind == EKI_EVENT_OUTSIDE && at_ns < now[*k].late_ns) {
        cut_ns = now[*k].late_ns;
    } else if (*kind == EKI_EVENT_OUTSIDE && at_ns < now[*k].entered_ns) {
        cut_ns = now[*k].entered_ns;
        *kind = EKI_EVENT_LATE;
    }
    return cut_ns < end_ns ? cut_ns : end_ns;
}

static void visit_point(struct walk *walk, int64_t i)
{
    struct eki_timelines_span point;
    int64_t at_ns = get_event(walk, i, &point);
    visit_span(walk, &point, at_ns, at_ns);
}

/* Visit the state that event I begins, and the points up to NEXT,
 * which are in it. */
static void visit_state(struct walk *walk, int64_t i, int64_t next,
                        int64_t end_ns)
{
    struct eki_timelines_span state, span;
    int64_t at_ns = get_event(walk, i++, &state);
    do {
        span = state;
        int64_t cut_ns = cut_of(walk, at_ns, end_ns, &span.kind);
        if (state.kind != EKI_EVENT_GONE)
            visit_span(walk, &span, at_ns, cut_ns);
        while (i < next &&
               (cut_ns == end_ns || get_event(walk, i, &span) < cut_ns))
            visit_point(walk, i++);
        at_ns = cut_ns;
        state.goes_on = true;
    } while (at_ns < end_ns);
}

static void visit_block(struct walk *walk)
{
    struct eki_timelines_span span;
    int64_t count = walk->block->count, i = 0, next;
    /* Those of the time at which the last block has ended. */
    for (; i < count; i++) {
        get_event(walk, i, &span);
        if (!eki_event_is_point(span.kind))
            break;
        visit_point(walk, i);
    }
    for (; i < count; i = next) {
        int64_t end_ns = walk->block->end_ns;
        for (next = i + 1; next < count; next++) {
            int64_t at_ns = get_event(walk, next, &span);
            if (!eki_event_is_point(span.kind)) {
                end_ns = at_ns;
                break;
            }
        }
        visit_state(walk, i, next, end_ns);
    }
}

/* Read the events of the block, and check them. */
static ek_status load_events(struct walk *walk, const struct eki_sealed_in *in)
{
    const struct eki_timelines_block *block = walk->block;
    int64_t last_ns = block->base_ns;
    EKI_TRY(eki_sealed_read(in, block->at, walk->events,
                            (size_t)block->count * EKI_TIMELINE_EVENT));
    for (int64_t i = 0; i < block->count; i++) {
        struct eki_timelines_span span;
        int64_t at_ns = get_event(walk, i, &span);
        bool is_known =
            span.kind <= EKI_EVENT_GONE || eki_event_is_point(span.kind);
        if (!is_known || at_ns < last_ns || at_ns > block->end_ns)
            return eki_sealed_refuse(in, block->at + EKI_TIMELINE_EVENT * i,
                                     "an event of kind %d that does not follow "
                                     "the one before",
                                     span.kind);
        last_ns = at_ns;
    }
    return EK_OK;
}

ek_status eki_timelines_walk(const struct eki_timelines_file *file, int track,
                             eki_timelines_fn *visit, void *context)
{
    struct walk walk = {file, visit, context, .end_ns = INT64_MIN};
    struct eki_sealed_in in;
    ek_status status = eki_sealed_open(&in, file->path);
    for (int64_t b = 0; status == EK_OK && b < file->block_count; b++) {
        walk.block = &file->blocks[b];
        if (walk.block->track != track)
            continue;
        walk.events = eki_alloc((size_t)walk.block->count, EKI_TIMELINE_EVENT);
        status = walk.events ? load_events(&walk, &in)
                             : eki_sealed_no_memory(file->path);
        if (status == EK_OK)
            visit_block(&walk);
        eki_free(walk.events);
    }
    eki_sealed_close(&in);
    return status;
}
