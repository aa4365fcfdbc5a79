/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks: states without gap or overlap, merging, and the file. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "timeline/layout.h"
#include "timeline/timeline.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "test_track_scratch"
#define PATH FOLDER "/sums.000000.ekt"

enum {
    FUNCTIONS = 3,
    ROOM = 512,
    STATES = 20000
};

/* What states come to: time by kind and, of tasks, by function. */
struct sums {
    uint64_t ns[EKI_EVENT_STEAL], function_ns[FUNCTIONS + 1];
    uint64_t tasks, points;
};

static void add_state(struct sums *sums, enum eki_event_kind kind, int function,
                      uint64_t ns)
{
    bool is_task = kind == EKI_EVENT_TASK || kind == EKI_EVENT_TASKS;
    sums->ns[is_task ? EKI_EVENT_TASK : kind] += ns;
    if (is_task)
        sums->function_ns[function < 0 || function > FUNCTIONS ? FUNCTIONS
                                                               : function] +=
            ns;
}

/* Add the events of a block from BASE to END; they must be in order. */
static void add_events(struct sums *sums, const struct eki_event *events,
                       int64_t count, uint64_t length)
{
    uint64_t last = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t begin = events[i].head & EKI_EVENT_TIME, end = length;
        enum eki_event_kind kind = eki_event_kind_of(&events[i]);
        int function = (int)(events[i].head >> EKI_EVENT_FUNCTION_AT &
                             (EKI_EVENT_FUNCTION_MOST + 1)) -
                       1;
        CHECK(begin >= last);
        last = begin;
        if (kind >= EKI_EVENT_STEAL) {
            sums->points++;
            continue;
        }
        for (int64_t next = i + 1; next < count; next++) {
            if (eki_event_kind_of(&events[next]) < EKI_EVENT_STEAL) {
                end = events[next].head & EKI_EVENT_TIME;
                break;
            }
        }
        CHECK(end >= begin);
        add_state(sums, kind, function, end - begin);
        if (!(events[i].head >> EKI_EVENT_MORE_AT))
            sums->tasks += kind == EKI_EVENT_TASK    ? 1
                           : kind == EKI_EVENT_TASKS ? events[i].value
                                                     : 0;
    }
}

static void check_equal(const struct sums *sums, const struct sums *expected)
{
    for (int i = 0; i < EKI_EVENT_STEAL; i++)
        CHECK_EQ_INT(sums->ns[i], expected->ns[i]);
    for (int i = 0; i <= FUNCTIONS; i++)
        CHECK_EQ_INT(sums->function_ns[i], expected->function_ns[i]);
    CHECK_EQ_INT(sums->tasks, expected->tasks);
}

static void never(struct eki_track *track, uint64_t now, bool is_full)
{
    (void)track, (void)now, (void)is_full;
}

static struct eki_track *make_track(int64_t room)
{
    struct eki_track *track = eki_alloc(1, sizeof *track);
    track->events = eki_alloc((size_t)room, sizeof *track->events);
    track->room = room;
    track->base = track->since = 1000;
    track->due = UINT64_MAX;
    track->write = never;
    return track;
}

static void free_track(struct eki_track *track)
{
    eki_free(track->events);
    eki_free(track);
}

/* Put N random states and points; EXPECTED: what they are. */
static void put_random(struct eki_track *track, int n, uint64_t seed,
                       int functions, struct sums *expected)
{
    struct eki_random random;
    uint64_t now = track->since;
    eki_random_seed(&random, seed, 0);
    for (int i = 0; i < n; i++) {
        uint64_t gap = eki_random_below(&random, 3) ? 0 : 7;
        uint64_t begin = now + gap, end = begin + eki_random_below(&random, 50);
        int function = (int)eki_random_below(&random, (uint64_t)functions);
        for (uint64_t points = eki_random_below(&random, 3); points > 0;
             points--, expected->points++)
            eki_track_point(track, EKI_EVENT_REQUEST,
                            now + eki_random_below(&random, end - now + 1), 1);
        int64_t tasks = 1 + (int64_t)eki_random_below(&random, 3);
        if (eki_random_below(&random, 2)) {
            eki_track_tasks(track, function, 77, tasks, begin, end);
            expected->tasks += (uint64_t)tasks;
            add_state(expected, EKI_EVENT_TASK, function, end - begin);
        } else {
            eki_track_state(track, EKI_EVENT_LOOK, -1, begin, end, 0);
            add_state(expected, EKI_EVENT_LOOK, -1, end - begin);
        }
        add_state(expected, EKI_EVENT_BETWEEN, -1, gap);
        now = end;
    }
}

static void sums_stay_when_events_are_merged(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sums sums = {0}, expected = {0};
        struct eki_track *track = make_track(ROOM);
        put_random(track, STATES, seed, FUNCTIONS, &expected);
        CHECK(track->count <= ROOM);
        add_events(&sums, track->events, track->count,
                   track->since - track->base);
        check_equal(&sums, &expected);
        CHECK_EQ_INT(sums.points + track->dropped, expected.points);
        free_track(track);
    }
}

static void many_functions_are_merged_into_none(void)
{
    struct sums sums = {0}, expected = {0};
    struct eki_track *track = make_track(ROOM);
    put_random(track, STATES, 1, 10000, &expected);
    CHECK(track->count <= ROOM);
    add_events(&sums, track->events, track->count, track->since - track->base);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TASK], expected.ns[EKI_EVENT_TASK]);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_LOOK], expected.ns[EKI_EVENT_LOOK]);
    CHECK_EQ_INT(sums.tasks, expected.tasks);
    free_track(track);
}

static void an_interrupted_task_counts_once(void)
{
    struct sums sums = {0};
    struct eki_track *track = make_track(ROOM);
    eki_track_cut(track, 0, 1, 1, 1000, 1010);
    eki_track_state(track, EKI_EVENT_TILES, -1, 1010, 1020, 1);
    /* Of a batch the second waits, and then again. */
    eki_track_tasks(track, 0, 1, 1, 1000, 1030);
    eki_track_cut(track, 0, 3, 2, 1030, 1040);
    eki_track_state(track, EKI_EVENT_TILES, -1, 1040, 1050, 3);
    eki_track_cut(track, 0, 3, 2, 1030, 1060);
    eki_track_state(track, EKI_EVENT_TILES, -1, 1060, 1070, 3);
    eki_track_tasks(track, 0, 4, 5, 1030, 1080);
    add_events(&sums, track->events, track->count, 80);
    CHECK_EQ_INT(sums.tasks, 6);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TILES], 30);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TASK], 50);
    CHECK_EQ_INT(track->events[2].head >> EKI_EVENT_MORE_AT, 1);
    /* None is counted yet. */
    eki_track_cut(track, 0, 9, 0, 1080, 1090);
    eki_track_state(track, EKI_EVENT_TILES, -1, 1090, 1100, 9);
    eki_track_tasks(track, 0, 10, 2, 1080, 1110);
    sums = (struct sums){0};
    add_events(&sums, track->events, track->count, 110);
    CHECK_EQ_INT(sums.tasks, 8);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TASK], 70);
    /* What is left out at the end of a task may have been told as part of it.
     */
    eki_track_cut(track, 0, 11, 1, 1110, 1130);
    eki_track_state(track, EKI_EVENT_DATA, -1, 1130, 1140, 11);
    eki_track_tasks(track, 0, 11, 1, 1130, 1140);
    eki_track_cut(track, 0, 12, 1, 1140, 1145);
    CHECK_EQ_INT(track->since, 1145);
    free_track(track);
}

/* Two tasks of a batch wait for data; then 3 ns go by that are not theirs. */
static void what_is_left_out_is_no_task(void)
{
    struct sums sums = {0};
    struct eki_track *track = make_track(ROOM);
    eki_track_cut(track, 0, 1, 1, 1000, 1010);
    eki_track_state(track, EKI_EVENT_DATA, -1, 1010, 1030, 2);
    eki_track_cut(track, 0, 2, 2, 1020, 1040);
    eki_track_state(track, EKI_EVENT_DATA, -1, 1040, 1050, 3);
    eki_track_tasks(track, 0, 3, 3, 1033, 1060);
    add_events(&sums, track->events, track->count, 60);
    CHECK_EQ_INT(sums.tasks, 3);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_DATA], 30);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_BETWEEN], 3);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TASK], 27);
    free_track(track);
}

static struct eki_timeline *open_timeline(const char *folder, int64_t events)
{
    struct eki_timeline *timeline = NULL;
    const struct eki_timeline_setup setup = {.folder = folder,
                                             .name = "sums",
                                             .job = 5,
                                             .size = 1,
                                             .workers = 1,
                                             .workers_here = 1,
                                             .events = events};
    CHECK_OK(eki_timeline_open(&setup, 1000, &timeline));
    return timeline;
}

/* Add the blocks of worker 0, which must follow each other; returns the kind of
 * the last block of all. */
static uint32_t read_file(struct sums *sums)
{
    struct eki_sealed_in in;
    struct eki_sealed_block block = {0};
    unsigned char head[EKI_TIMELINE_HEAD];
    static unsigned char body[1 << 20];
    uint64_t last = 1000;
    bool found = true;
    CHECK_OK(eki_sealed_open(&in, PATH));
    CHECK_OK(eki_sealed_read(&in, 0, head, sizeof head));
    CHECK_EQ_TEXT((const char *)head + EKI_TIMELINE_HEAD_NAME, "sums");
    CHECK_OK(eki_sealed_check(&in, 0, sizeof head, "header"));
    in.at = sizeof head + EKI_BLOCK_CRC;
    for (;;) {
        CHECK_OK(eki_sealed_next(&in, &block, &found));
        if (!found)
            break;
        if (block.kind != EKI_BLOCK_TRACK)
            continue;
        CHECK_OK(eki_sealed_body(&in, &block, body, (size_t)block.bytes));
        if (eki_get(body + EKI_TIMELINE_TRACK_NUMBER, 4) != 0)
            continue;
        uint64_t end = eki_get(body + EKI_TIMELINE_TRACK_END, 8);
        CHECK_EQ_INT(eki_get(body + EKI_TIMELINE_TRACK_BASE, 8), last);
        add_events(sums,
                   (struct eki_event *)(void *)(body + EKI_TIMELINE_TRACK_HEAD),
                   (block.bytes - EKI_TIMELINE_TRACK_HEAD) / 16, end - last);
        sums->points += eki_get(body + EKI_TIMELINE_TRACK_DROPPED, 8);
        last = end;
    }
    eki_sealed_close(&in);
    return block.kind;
}

static void blocks_follow_each_other(void)
{
    struct sums sums = {0}, expected = {0};
    struct eki_timeline *timeline = open_timeline(FOLDER, ROOM);
    if (!timeline)
        return;
    struct eki_track *track = &timeline->tracks[0];
    /* Blocks of tracks that were full, or whose time had come, or both. */
    for (int i = 0; i < 50; i++) {
        put_random(track, 1000, (uint64_t)i, FUNCTIONS, &expected);
        uint64_t begin = track->since;
        uint64_t ns = i % 3 == 0 ? 5 : UINT64_C(900000000) * (uint64_t)i;
        eki_track_state(track, EKI_EVENT_LOOK, -1, begin, begin + ns, 0);
        add_state(&expected, EKI_EVENT_LOOK, -1, ns);
    }
    eki_timeline_function(timeline, "f");
    CHECK_OK(eki_timeline_close(&timeline, track->since));
    CHECK_EQ_INT(read_file(&sums), EKI_BLOCK_END);
    check_equal(&sums, &expected);
    CHECK_EQ_INT(sums.points, expected.points);
}

static void what_a_killed_job_has_written_can_be_read(void)
{
    struct sums sums = {0}, expected = {0};
    struct eki_timeline *timeline = open_timeline(FOLDER, 0);
    if (!timeline)
        return;
    struct eki_track *track = &timeline->tracks[0];
    put_random(track, 1000, 1, FUNCTIONS, &expected);
    /* Ten seconds later it is written, by whatever comes next. */
    eki_track_state(track, EKI_EVENT_LOOK, -1, 0, track->since + 20000000000,
                    0);
    CHECK_EQ_INT(read_file(&sums), EKI_BLOCK_TRACK);
    check_equal(&sums, &expected);
    CHECK_OK(eki_timeline_close(&timeline, track->since));
}

static void a_state_of_hours_is_told_as_it_was(void)
{
    const uint64_t day = UINT64_C(86400000000000);
    struct sums sums = {0};
    struct eki_timeline *timeline = open_timeline(FOLDER, 0);
    if (!timeline)
        return;
    struct eki_track *track = &timeline->tracks[0];
    eki_track_state(track, EKI_EVENT_TASK, 0, 0, 1000 + day, 1);
    eki_track_state(track, EKI_EVENT_LOOK, -1, 0, 1000 + 2 * day, 0);
    eki_track_state(track, EKI_EVENT_TASK, 0, 1000 + 3 * day, 1000 + 4 * day,
                    2);
    eki_track_state(track, EKI_EVENT_END, -1, 0, 1001 + 4 * day, 2);
    CHECK_OK(eki_timeline_close(&timeline, track->since));
    read_file(&sums);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_TASK], 2 * day);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_LOOK], day);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_BETWEEN], day);
    CHECK_EQ_INT(sums.ns[EKI_EVENT_END], 1);
}

static void a_full_disk_stops_it_alone(void)
{
    struct sums sums = {0}, expected = {0};
    struct rlimit limit, little;
    struct eki_timeline *timeline = open_timeline(FOLDER, 0);
    if (!timeline)
        return;
    getrlimit(RLIMIT_FSIZE, &limit);
    little = limit;
    little.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &little);
    struct eki_track *track = &timeline->tracks[0];
    put_random(track, STATES, 1, FUNCTIONS, &expected);
    track->due = 0;
    put_random(track, STATES, 1, FUNCTIONS, &expected);
    CHECK_HAS_TEXT(eki_timeline_failure(timeline), "too large");
    CHECK_EQ_INT(eki_timeline_close(&timeline, track->since), EK_ERR_FILE);
    setrlimit(RLIMIT_FSIZE, &limit);
    /* Of the block that has found no room nothing is read. */
    read_file(&sums);
    CHECK_EQ_INT(sums.tasks, 0);
}

static void a_folder_that_cannot_be_is_an_error(void)
{
    struct eki_timeline *timeline = NULL;
    const struct eki_timeline_setup setup = {
        .folder = "/proc/none", .name = "sums", .workers_here = 1, .size = 1};
    CHECK_EQ_INT(eki_timeline_open(&setup, 0, &timeline), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "/proc/none");
    CHECK(timeline == NULL);
}

static void without_memory_there_is_none(void)
{
    struct eki_timeline *timeline = NULL;
    const struct eki_timeline_setup setup = {
        .folder = FOLDER, .name = "sums", .workers_here = 1, .size = 1};
    for (int n = 1; n <= 4; n++) {
        WITHOUT_MEMORY(n, CHECK_EQ_INT(eki_timeline_open(&setup, 0, &timeline),
                                       EK_ERR_NOMEM));
        CHECK(timeline == NULL);
    }
}

int main(void)
{
    RUN(sums_stay_when_events_are_merged);
    RUN(many_functions_are_merged_into_none);
    RUN(an_interrupted_task_counts_once);
    RUN(what_is_left_out_is_no_task);
    RUN(blocks_follow_each_other);
    RUN(what_a_killed_job_has_written_can_be_read);
    RUN(a_state_of_hours_is_told_as_it_was);
    RUN(a_full_disk_stops_it_alone);
    RUN(a_folder_that_cannot_be_is_an_error);
    RUN(without_memory_there_is_none);
    remove(PATH);
    remove(PATH EKI_FILE_OLD);
    rmdir(FOLDER);
    return check_result();
}
