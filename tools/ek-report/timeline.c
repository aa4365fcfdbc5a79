/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a timeline, in sums, cells and the longest spans. */
#define _POSIX_C_SOURCE 200809L
#include "timeline.h"

#include "chart.h"
#include "task/task.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

/* Longer timelines are none; there is room for it times the columns. */
#define DAY (86400 * 1e9)
#define MOST_NS ((int64_t)1 << 53)

#define OF_TASK "home", "number" /* its id */

const struct timeline_kind timeline_kinds[EKI_EVENT_KINDS_READ] = {
    [EKI_EVENT_OUTSIDE] = {"outside", PART_OUTSIDE, NULL, NULL},
    [EKI_EVENT_RESTORE] = {"restoring", PART_RESTORE, NULL, NULL},
    [EKI_EVENT_START] = {"starting", PART_START, NULL, NULL},
    [EKI_EVENT_TASK] = {"in tasks", PART_TASKS, OF_TASK},
    [EKI_EVENT_TASKS] = {"in batches", PART_TASKS, "tasks", NULL},
    [EKI_EVENT_BETWEEN] = {"between tasks", PART_BETWEEN, NULL, NULL},
    [EKI_EVENT_LOOK] = {"searching", PART_SEARCH, NULL, NULL},
    [EKI_EVENT_AWAIT] = {"awaiting an answer", PART_SEARCH, "rank", NULL},
    [EKI_EVENT_DATA] = {"waiting for data", PART_DATA, OF_TASK},
    [EKI_EVENT_TILES] = {"waiting for tiles", PART_DATA, OF_TASK},
    [EKI_EVENT_END] = {"waiting for the end", PART_END, NULL, NULL},
    [EKI_EVENT_STARVED] = {"without a core", PART_STARVED, NULL, NULL},
    [EKI_EVENT_LEAVE] = {"writing reports", PART_LEAVE, NULL, NULL},
    [EKI_EVENT_GONE] = {NULL, PARTS, NULL, NULL},
    [EKI_EVENT_STEAL] = {"steal", PARTS, "tasks", "worker"},
    [EKI_EVENT_REQUEST] = {"request", PARTS, "rank", NULL},
    [EKI_EVENT_ANSWER] = {"answer", PARTS, "tasks", "rank"},
    [EKI_EVENT_PUBLISH] = {"publish", PARTS, "tasks", NULL},
    [EKI_EVENT_WAVE] = {"wave", PARTS, "number", NULL},
    [EKI_EVENT_SERVE] = {"server step", PARTS, "messages", NULL},
    [EKI_EVENT_STAGE] = {"rebalance stage", PARTS, "number", NULL},
    [EKI_EVENT_PARCEL] = {"parcel", PARTS, "bytes", "rank"},
    [EKI_EVENT_LATE] = {"late", PART_LATE, NULL, NULL}};

void timeline_values(const struct eki_timelines_span *span, uint64_t values[2])
{
    bool is_pair = timeline_kinds[span->kind].second != NULL;
    bool is_task = is_pair && !eki_event_is_point(span->kind);
    uint64_t per = is_task ? EKI_NUMBERS : is_pair ? UINT64_C(1) << 24 : 1;
    values[0] = span->value / per;
    values[1] = span->value % per;
}

const char *timeline_span_name(const struct eki_timelines *files,
                               const struct eki_timelines_span *span)
{
    if (span->function >= 0 && span->function < files->function_count)
        return files->functions[span->function];
    return timeline_kinds[span->kind].word;
}

void timeline_track_name(const struct eki_timelines_file *file, int track,
                         char *text, size_t bytes)
{
    if (track < file->here)
        snprintf(text, bytes, "worker %d", file->first + track);
    else
        snprintf(text, bytes, "server of %d", file->rank);
}

bool timeline_is_nothing(const struct eki_timelines_span *span)
{
    return !eki_event_is_point(span->kind) && span->begin_ns == span->end_ns &&
           timeline_kinds[span->kind].part != PART_TASKS;
}

/* What is known while tracks are walked over. */
struct gathering {
    struct timeline *timeline;
    const struct eki_timelines_file *file;
    int worker, row;
    int64_t (*column_ns)[CHART_CLASSES]; /* [columns] of the row */
    int64_t longest_room, least_ns;      /* shorter spans are not the longest */
};

static void add_to_cells(struct gathering *gathering, int class,
                         int64_t begin_ns, int64_t end_ns)
{
    const struct timeline *timeline = gathering->timeline;
    int64_t all_ns = timeline->end_ns - timeline->begin_ns;
    int64_t at_ns = begin_ns - timeline->begin_ns;
    end_ns -= timeline->begin_ns;
    while (at_ns < end_ns) {
        int64_t column = at_ns * timeline->columns / all_ns;
        int64_t next_ns =
            ((column + 1) * all_ns + timeline->columns - 1) / timeline->columns;
        next_ns = next_ns < end_ns ? next_ns : end_ns;
        gathering->column_ns[column][class] += next_ns - at_ns;
        at_ns = next_ns;
    }
}

static int compare_lengths(const void *a, const void *b)
{
    const struct eki_timelines_span *x = a, *y = b; /* first members */
    int64_t x_ns = x->end_ns - x->begin_ns, y_ns = y->end_ns - y->begin_ns;
    return (x_ns < y_ns) - (x_ns > y_ns);
}

static int compare_places(const void *a, const void *b)
{
    const struct timeline_long *x = a, *y = b;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    return (x->span.begin_ns > y->span.begin_ns) -
           (x->span.begin_ns < y->span.begin_ns);
}

/* Leave only the longest. */
static void cut_longest(struct gathering *gathering)
{
    struct timeline *timeline = gathering->timeline;
    qsort(timeline->longest, (size_t)timeline->longest_count,
          sizeof *timeline->longest, compare_lengths);
    if (timeline->longest_count < TIMELINE_LONGEST)
        return;
    timeline->longest_count = TIMELINE_LONGEST;
    const struct eki_timelines_span *last =
        &timeline->longest[TIMELINE_LONGEST - 1].span;
    gathering->least_ns = last->end_ns - last->begin_ns;
}

static void add_longest(struct gathering *gathering,
                        const struct eki_timelines_span *span)
{
    struct timeline *timeline = gathering->timeline;
    if (span->end_ns - span->begin_ns <= gathering->least_ns)
        return;
    if (timeline->longest_count == gathering->longest_room)
        cut_longest(gathering);
    timeline->longest[timeline->longest_count++] =
        (struct timeline_long){*span, gathering->worker};
}

static void add_to_sums(struct timeline_sums *sums,
                        const struct eki_timelines_span *span)
{
    uint64_t values[2];
    timeline_values(span, values);
    if (span->kind == EKI_EVENT_STEAL) {
        sums->steals++;
        sums->stolen += (int64_t)values[0];
    }
    if (!eki_event_is_point(span->kind))
        sums->state_ns[span->kind] += span->end_ns - span->begin_ns;
    if (span->kind == EKI_EVENT_TASK && !span->goes_on)
        sums->tasks++;
    if (span->kind == EKI_EVENT_TASKS && !span->goes_on)
        sums->tasks += (int64_t)span->value;
}

/* Sums of iterations are those of all of them, whatever is seen. */
static void add_to_iteration(const struct gathering *gathering,
                             const struct eki_timelines_span *span)
{
    struct timeline *timeline = gathering->timeline;
    if (!span->iteration)
        return;
    int64_t k = span->iteration - gathering->file->iterations;
    if (k < timeline->iterations &&
        timeline->first->iterations[k].number == span->iteration->number)
        add_to_sums(&timeline->of_column[column_of(timeline->iterations, k)],
                    span);
}

static void take_span(void *context, const struct eki_timelines_span *whole)
{
    struct gathering *gathering = context;
    struct timeline *timeline = gathering->timeline;
    struct eki_timelines_span span = *whole;
    add_to_iteration(gathering, whole);
    if (span.begin_ns < timeline->begin_ns)
        span.begin_ns = timeline->begin_ns;
    if (span.end_ns > timeline->end_ns)
        span.end_ns = timeline->end_ns;
    if (span.begin_ns > span.end_ns)
        return;
    add_to_sums(&timeline->all, &span);
    add_to_sums(&timeline->of_row[gathering->row], &span);
    if (eki_event_is_point(span.kind))
        return;
    enum part part = timeline_kinds[span.kind].part;
    int class = part == PART_TASKS && timeline->per == 1
                    ? function_class(span.function)
                    : (int)part;
    add_to_cells(gathering, class, span.begin_ns, span.end_ns);
    add_longest(gathering, &span);
}

/* A row is complete: what took most of a column, or the share of tasks. */
static void end_row(struct gathering *gathering)
{
    const struct timeline *timeline = gathering->timeline;
    for (int c = 0; c < timeline->columns; c++) {
        int64_t *ns = gathering->column_ns[c], sum_ns = 0, most = 0;
        for (int i = 0; i < CHART_CLASSES; i++) {
            sum_ns += ns[i];
            most = ns[i] > ns[most] ? i : most;
        }
        int64_t cell = timeline->per == 1 ? most
                       : sum_ns > 0       ? 100 * ns[PART_TASKS] / sum_ns
                                          : 0;
        timeline->cells[gathering->row * timeline->columns + c] =
            sum_ns > 0 ? (unsigned char)cell : TIMELINE_NOTHING;
        memset(ns, 0, sizeof *gathering->column_ns);
    }
}

static bool walk_file(struct gathering *gathering, struct message *message)
{
    for (int i = 0; i < gathering->file->here; i++) {
        int row = (gathering->file->first + i) / gathering->timeline->per;
        if (row != gathering->row)
            end_row(gathering);
        gathering->row = row;
        gathering->worker = gathering->file->first + i;
        if (eki_timelines_walk(gathering->file, i, take_span, gathering) !=
            EK_OK)
            return message_set(message, "%s", ek_error_message());
    }
    return true;
}

/* What is seen: all, or from the first entry of the chosen iteration on until
 * the last rank has left it. */
static bool choose_time(struct timeline *timeline, struct message *message)
{
    const struct eki_timelines *files = &timeline->files;
    bool has_found = false;
    for (int i = 0; i < files->ranks; i++) {
        const struct eki_timelines_file *file = &files->files[i];
        if (file->iteration_count > timeline->iterations) {
            timeline->iterations = file->iteration_count;
            timeline->first = file;
        }
        for (int64_t k = 0; k < file->iteration_count; k++) {
            const struct eki_timelines_iteration *at = &file->iterations[k];
            if (at->number != timeline->chosen)
                continue;
            int64_t entered_ns = eki_timelines_time(file, at->entered_ns);
            int64_t left_ns = eki_timelines_time(file, at->left_ns);
            if (!has_found || entered_ns < timeline->begin_ns)
                timeline->begin_ns = entered_ns;
            if (!has_found || left_ns > timeline->end_ns)
                timeline->end_ns = left_ns;
            has_found = true;
        }
    }
    return has_found || timeline->chosen < 0 ||
           message_set(message,
                       "--iteration is %" PRId64
                       "; the timeline of '%.60s' has none of that number; "
                       "allowed: those that it lists",
                       timeline->chosen, files->name);
}

bool timeline_gather(struct run *run, int64_t iteration,
                     struct message *message)
{
    struct timeline *timeline = run->timeline;
    if (!timeline)
        return true;
    struct gathering gathering = {timeline,
                                  .longest_room = 4 * TIMELINE_LONGEST};
    timeline->chosen = iteration;
    timeline->begin_ns = timeline->files.begin_ns;
    timeline->end_ns = timeline->files.end_ns;
    if (!choose_time(timeline, message))
        return false;
    if (timeline->end_ns - timeline->begin_ns > MOST_NS)
        return message_set(message,
                           "the timeline of '%.60s' goes over %.3g days; "
                           "allowed: %.3g",
                           timeline->files.name,
                           (double)(timeline->end_ns - timeline->begin_ns) /
                               DAY,
                           MOST_NS / DAY);
    timeline->per =
        (timeline->files.workers + TIMELINE_ROWS - 1) / TIMELINE_ROWS;
    timeline->rows =
        (timeline->files.workers + timeline->per - 1) / timeline->per;
    timeline->columns = TIMELINE_CELLS / timeline->rows;
    if (timeline->columns > TIMELINE_COLUMNS)
        timeline->columns = TIMELINE_COLUMNS;
    size_t cells = (size_t)timeline->rows * (size_t)timeline->columns;
    timeline->cells = allocate(cells, 1);
    memset(timeline->cells, TIMELINE_NOTHING, cells);
    timeline->of_row =
        allocate((size_t)timeline->rows, sizeof *timeline->of_row);
    timeline->longest =
        allocate((size_t)gathering.longest_room, sizeof *timeline->longest);
    gathering.column_ns =
        allocate((size_t)timeline->columns, sizeof *gathering.column_ns);
    bool is_good = true;
    for (int i = 0; is_good && i < timeline->files.ranks; i++) {
        gathering.file = &timeline->files.files[i];
        if (gathering.file->path)
            is_good = walk_file(&gathering, message);
    }
    end_row(&gathering);
    cut_longest(&gathering);
    qsort(timeline->longest, (size_t)timeline->longest_count,
          sizeof *timeline->longest, compare_places);
    free(gathering.column_ns);
    return is_good;
}

static bool add_file(const char *path, struct run *run, struct message *message)
{
    if (!run->timeline)
        run->timeline = allocate(1, sizeof *run->timeline);
    const struct eki_timelines *files = &run->timeline->files;
    if (eki_timelines_add(&run->timeline->files, path) != EK_OK)
        return message_set(message, "%s", ek_error_message());
    const struct eki_record_shape *shape =
        run->record ? &run->record->shape : NULL;
    return !shape ||
           (strcmp(files->name, shape->name) == 0 &&
            files->ranks == shape->ranks && files->workers == shape->workers) ||
           message_set(message,
                       "'%.200s': collection '%s', %d ranks, %d workers; the "
                       "record: '%s', %d, %d; allowed: a timeline of its run",
                       path, files->name, files->ranks, files->workers,
                       shape->name, shape->ranks, shape->workers);
}

/* Whether a name is NAME.RANK.ekt, with the name of the record if there is one.
 */
static bool is_wanted(const char *name, const struct run *run)
{
    const char *end = strstr(name, ".ekt");
    if (!end || end[4])
        return false;
    while (end > name && end[-1] >= '0' && end[-1] <= '9')
        end--;
    if (end == name || end[-1] != '.' || !run->record)
        return end > name && end[-1] == '.';
    const char *collection = run->record->shape.name;
    return strlen(collection) == (size_t)(end - 1 - name) &&
           strncmp(name, collection, (size_t)(end - 1 - name)) == 0;
}

bool timeline_is_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder)
        closedir(folder);
    return folder != NULL;
}

bool timeline_add(const char *path, struct run *run, struct message *message)
{
    struct dirent **entries;
    int added = 0, count = scandir(path, &entries, NULL, alphasort);
    bool is_good = true;
    if (count < 0)
        return add_file(path, run, message);
    for (int i = 0; i < count; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (is_good && is_wanted(entries[i]->d_name, run)) {
            is_good = add_file(name, run, message);
            added++;
        }
        free(entries[i]);
    }
    free(entries);
    if (added > 0)
        return is_good;
    return message_set(message,
                       "'%.300s' has no timeline%s%s; allowed: a folder with "
                       "files NAME.RANK.ekt",
                       path, run->record ? " of " : "",
                       run->record ? run->record->shape.name : "");
}

void timeline_free(struct timeline *timeline)
{
    if (!timeline)
        return;
    eki_timelines_close(&timeline->files);
    free(timeline->cells);
    free(timeline->of_row);
    free(timeline->longest);
    free(timeline);
}
