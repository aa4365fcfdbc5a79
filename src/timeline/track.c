/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A track in memory: events in order, and merging.
 *
 * A state is put when it ends, before the points that came meanwhile.
 */
#include "timeline/track.h"

#include <string.h>

enum {
    SPARE = 4, /* more events than one call adds */
    /* Events that merging joins at first, and at last; then functions are not
     * told apart, so that few are left. */
    WINDOW_FIRST = 8,
    WINDOW_LAST = 256
};

#define KIND_MASK ((uint64_t)31 << EKI_EVENT_KIND_AT)
#define FUNCTION_MASK \
    ((uint64_t)(EKI_EVENT_FUNCTION_MOST + 1) << EKI_EVENT_FUNCTION_AT)
#define MORE ((uint64_t)1 << EKI_EVENT_MORE_AT)

/* Different states, and how long each was. */
struct window {
    struct eki_event events[WINDOW_LAST];
    uint64_t ns[WINDOW_LAST];
    int count;
};

static uint64_t event_time(const struct eki_event *event)
{
    return event->head & EKI_EVENT_TIME;
}

static bool is_point(const struct eki_event *event)
{
    return eki_event_is_point((int)eki_event_kind_of(event));
}

static bool is_of_tasks(const struct eki_event *event)
{
    return eki_event_kind_of(event) == EKI_EVENT_TASK ||
           eki_event_kind_of(event) == EKI_EVENT_TASKS;
}

static uint64_t tasks_of(const struct eki_event *event)
{
    if (event->head & MORE)
        return 0;
    return eki_event_kind_of(event) == EKI_EVENT_TASK ? 1 : event->value;
}

/* What is equal of events that are joined, where a task is a batch. */
static uint64_t key_of(const struct eki_event *event, bool is_last)
{
    uint64_t key =
        event->head & (is_last ? KIND_MASK : KIND_MASK | FUNCTION_MASK);
    if (eki_event_kind_of(event) == EKI_EVENT_TASK)
        key += (uint64_t)(EKI_EVENT_TASKS - EKI_EVENT_TASK)
               << EKI_EVENT_KIND_AT;
    return key;
}

static void join_event(struct window *window, const struct eki_event *event,
                       uint64_t ns, bool is_last)
{
    uint64_t key = key_of(event, is_last);
    int i = 0;
    while (i < window->count && key_of(&window->events[i], is_last) != key)
        i++;
    if (i == window->count) {
        window->count++;
        window->events[i] = *event;
        window->ns[i] = 0;
    } else if (is_of_tasks(event)) {
        window->events[i].value =
            tasks_of(&window->events[i]) + tasks_of(event);
        window->events[i].head = key;
    }
    window->ns[i] += ns;
}

/* Join equal ones of the first N events, all states, of which the last lasts
 * until END: among WIDTH that follow each other.  Returns how many are left. */
static int64_t join_events(struct eki_event *events, int64_t n, uint64_t end,
                           int width)
{
    struct eki_event *to = events;
    for (int64_t i = 0; i < n;) {
        struct window window;
        uint64_t begin = event_time(&events[i]);
        window.count = 0;
        for (int joined = 0; joined < width && i < n; joined++, i++) {
            uint64_t next = i + 1 < n ? event_time(&events[i + 1]) : end;
            join_event(&window, &events[i], next - event_time(&events[i]),
                       width == WINDOW_LAST);
        }
        for (int j = 0; j < window.count; j++, to++) {
            *to = window.events[j];
            to->head = (to->head & ~EKI_EVENT_TIME) | begin;
            begin += window.ns[j];
        }
    }
    return to - events;
}

/* The older half of the events, and the points of its last state, become half
 * as many, or less. */
static void merge(struct eki_track *track)
{
    struct eki_event *events = track->events;
    int64_t half = track->count / 2, states = 0;
    while (half < track->count && is_point(&events[half]))
        half++;
    uint64_t end = half < track->count ? event_time(&events[half])
                                       : track->since - track->base;
    for (int64_t i = 0; i < half; i++) {
        if (!is_point(&events[i]))
            events[states++] = events[i];
    }
    track->dropped += (uint64_t)(half - states);
    for (int width = WINDOW_FIRST; states > half / 2 && width <= WINDOW_LAST;
         width *= 2)
        states = join_events(events, states, end, width);
    memmove(events + states, events + half,
            (size_t)(track->count - half) * sizeof *events);
    track->count -= half - states;
}

/* Make room for what comes at NOW, whose time since the base must fit into an
 * event. */
static inline void make_way(struct eki_track *track, uint64_t now)
{
    bool is_full = track->count > track->room - SPARE;
    if (EKI_LIKELY(!is_full && now < track->due &&
                   track->since - track->base < EKI_EVENT_TIME))
        return;
    track->write(track, now, is_full);
    if (track->count > track->room - SPARE)
        merge(track);
}

/* Put an event where it belongs: behind those of its time. */
static inline void put(struct eki_track *track, uint64_t what, uint64_t at,
                       uint64_t value)
{
    uint64_t time = eki_ns_since(track->base, at);
    int64_t i = track->count++;
    for (; i > 0 && EKI_UNLIKELY(event_time(&track->events[i - 1]) > time); i--)
        track->events[i] = track->events[i - 1];
    track->events[i] = (struct eki_event){
        what | (time < EKI_EVENT_TIME ? time : EKI_EVENT_TIME), value};
}

static inline void put_state(struct eki_track *track, uint64_t what,
                             uint64_t begin, uint64_t end, uint64_t value)
{
    make_way(track, end);
    if (begin > track->since) {
        put(track, (uint64_t)EKI_EVENT_BETWEEN << EKI_EVENT_KIND_AT,
            track->since, 0);
        track->since = begin;
        make_way(track, end);
    }
    put(track, what, track->since, value);
    if (end > track->since)
        track->since = end;
}

static inline uint64_t what_of(enum eki_event_kind kind, int function)
{
    int number = function < EKI_EVENT_FUNCTION_MOST
                     ? function + 1
                     : EKI_EVENT_FUNCTION_MOST + 1;
    return (uint64_t)kind << EKI_EVENT_KIND_AT | (uint64_t)number
                                                     << EKI_EVENT_FUNCTION_AT;
}

void eki_track_state(struct eki_track *track, enum eki_event_kind kind,
                     int function, uint64_t begin, uint64_t end, uint64_t value)
{
    if (end > track->since)
        put_state(track, what_of(kind, function), begin, end, value);
}

/* Tasks that have no event yet: N of them. */
static void put_tasks(struct eki_track *track, int function, uint64_t id,
                      int64_t n, uint64_t begin, uint64_t end)
{
    uint64_t what = what_of(EKI_EVENT_TASK, function);
    if (n > 1)
        put_state(track, what_of(EKI_EVENT_TASKS, function), begin, end,
                  (uint64_t)n);
    else if (n == 1)
        put_state(track, what, begin, end, id);
    else if (end > track->since)
        put_state(track, what | MORE, begin, end, id);
}

/* Where a time from BEGIN to END goes on of which a part is told. */
static uint64_t untold(const struct eki_track *track, uint64_t begin,
                       uint64_t end)
{
    uint64_t ns = eki_ns_since(begin, end);
    return begin + (ns < track->told ? ns : track->told);
}

void eki_track_tasks(struct eki_track *track, int function, uint64_t id,
                     int64_t n, uint64_t begin, uint64_t end)
{
    int64_t counted = n < track->counted ? n : track->counted;
    /* What ran last took longer. */
    if (n == 0) {
        if (end > track->since)
            track->since = end;
        return;
    }
    uint64_t from = untold(track, begin, end);
    track->counted -= counted;
    track->told = track->counted > 0 ? track->told - (from - begin) : 0;
    put_tasks(track, function, id, n - counted, from, end);
}

void eki_track_cut(struct eki_track *track, int function, uint64_t id,
                   int64_t n, uint64_t begin, uint64_t end)
{
    int64_t counted = track->counted;
    uint64_t from = untold(track, begin, end);
    track->counted = n;
    track->told = eki_ns_since(begin, end);
    put_tasks(track, function, id, n - counted, from, end);
}

void eki_track_point(struct eki_track *track, enum eki_event_kind kind,
                     uint64_t now, uint64_t value)
{
    make_way(track, now);
    put(track, what_of(kind, -1), now > track->since ? now : track->since,
        value);
}
