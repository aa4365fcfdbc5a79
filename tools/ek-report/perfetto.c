/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline as trace events in JSON: a process per rank, a thread per worker,
 * one for the server and one for the iterations.
 *
 * Perfetto draws right what is in order of time on each thread.  Ids of
 * processes and threads differ from each other, and from 0, which it takes for
 * an idle process.  A flow is bound to the event that was read last on its
 * thread, so both ends follow an instant: "stolen" of the victim, and "steal"
 * of the thief a nanosecond later.  At the same time an end might be read
 * before its beginning.
 */
#include "timeline.h"

#include <inttypes.h>
#include <string.h>

/* A steal, as NUMBER in the order of a walk. */
struct theft {
    int victim, thief;
    int64_t at_ns, number;
    uint64_t tasks;
};

struct perfetto {
    FILE *out; /* NULL: only look for steals */
    const struct timeline *timeline;
    const struct eki_timelines_file *file;
    int thread, worker; /* -1: of a server */
    bool has_event;

    bool *has_track;      /* [workers] */
    struct theft *thefts; /* [count] by victim and time */
    int64_t count, room;
    int64_t next, number; /* of thefts: of the victim, of the thief */
};

static int first_thread(const struct perfetto *perfetto, int part)
{
    const struct eki_timelines *files = &perfetto->timeline->files;
    int behind = files->ranks + 1 + files->workers;
    return part == 0 ? files->ranks + 1 : behind + (part - 1) * files->ranks;
}

/* Open an event; the caller closes it.  Microseconds, exactly. */
static void begin_event(struct perfetto *perfetto, const char *kind,
                        int64_t at_ns)
{
    int64_t ns = at_ns - perfetto->timeline->files.begin_ns;
    ns = ns > 0 ? ns : 0;
    fprintf(perfetto->out,
            "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRId64 ".%03d",
            perfetto->has_event ? ",\n" : "", kind, perfetto->file->rank + 1,
            perfetto->thread, ns / 1000, (int)(ns % 1000));
    perfetto->has_event = true;
}

static void begin_slice(struct perfetto *perfetto, int64_t begin_ns,
                        int64_t end_ns)
{
    int64_t ns = end_ns - begin_ns;
    begin_event(perfetto, "X", begin_ns);
    fprintf(perfetto->out, ",\"dur\":%" PRId64 ".%03d,\"name\":", ns / 1000,
            (int)(ns % 1000));
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(eki_is_control(*text) ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void write_title(struct perfetto *perfetto, const char *what,
                        const char *name)
{
    int pid = perfetto->file->rank + 1;
    fprintf(perfetto->out,
            "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s_name\","
            "\"args\":{\"name\":",
            perfetto->has_event ? ",\n" : "", pid, perfetto->thread, what);
    write_string(perfetto->out, name);
    fprintf(perfetto->out,
            "}},\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":"
            "\"%s_sort_index\",\"args\":{\"sort_index\":%d}}",
            pid, perfetto->thread, what,
            what[0] == 'p' ? pid : perfetto->thread);
    perfetto->has_event = true;
}

static void write_flow(struct perfetto *perfetto, const char *kind,
                       int64_t at_ns, int64_t number)
{
    begin_event(perfetto, kind, at_ns);
    fprintf(perfetto->out,
            ",\"bp\":\"e\",\"cat\":\"steal\",\"name\":\"steal\",\"id\":%" PRId64
            "}",
            number + 1);
}

/* The beginnings of flows until LIMIT_NS. */
static void write_starts(struct perfetto *perfetto, int64_t limit_ns)
{
    for (; perfetto->next < perfetto->count; perfetto->next++) {
        const struct theft *theft = &perfetto->thefts[perfetto->next];
        int64_t at_ns = theft->at_ns - 1;
        if (theft->victim > perfetto->worker ||
            (theft->victim == perfetto->worker && at_ns > limit_ns))
            return;
        if (theft->victim < perfetto->worker)
            continue;
        begin_event(perfetto, "i", at_ns);
        fprintf(perfetto->out,
                ",\"s\":\"t\",\"name\":\"stolen\",\"cat\":\"stolen\",\"args\":{"
                "\"tasks\":%" PRIu64 ",\"worker\":%d}}",
                theft->tasks, theft->thief);
        write_flow(perfetto, "s", at_ns, theft->number);
    }
}

static void write_values(FILE *out, const struct eki_timelines_span *span,
                         const uint64_t values[2])
{
    const struct timeline_kind *kind = &timeline_kinds[span->kind];
    fprintf(out, ",\"cat\":\"%s\",\"args\":{", kind->word);
    if (kind->first)
        fprintf(out, "\"%s\":%" PRIu64, kind->first, values[0]);
    if (kind->second)
        fprintf(out, ",\"%s\":%" PRIu64, kind->second, values[1]);
    fprintf(out, "}}");
}

/* Whether this is a steal whose other end is in one of the files; the VALUES of
 * the event. */
static bool has_victim(const struct perfetto *perfetto,
                       const struct eki_timelines_span *span,
                       uint64_t values[2])
{
    timeline_values(span, values);
    return span->kind == EKI_EVENT_STEAL &&
           values[1] < (uint64_t)perfetto->timeline->files.workers &&
           perfetto->has_track[values[1]];
}

static void write_span(void *context, const struct eki_timelines_span *span)
{
    struct perfetto *perfetto = context;
    bool is_point = eki_event_is_point(span->kind);
    if (timeline_is_nothing(span))
        return;
    write_starts(perfetto, span->begin_ns - !is_point);
    if (is_point) {
        begin_event(perfetto, "i", span->begin_ns);
        fprintf(perfetto->out, ",\"s\":\"t\",\"name\":");
    } else {
        begin_slice(perfetto, span->begin_ns, span->end_ns);
    }
    write_string(perfetto->out,
                 timeline_span_name(&perfetto->timeline->files, span));
    uint64_t values[2];
    bool is_stolen = has_victim(perfetto, span, values);
    write_values(perfetto->out, span, values);
    if (is_stolen)
        write_flow(perfetto, "f", span->begin_ns, perfetto->number++);
}

/* Of a worker. */
static void find_theft(void *context, const struct eki_timelines_span *span)
{
    struct perfetto *perfetto = context;
    uint64_t values[2];
    if (!has_victim(perfetto, span, values))
        return;
    if (!eki_grow(&perfetto->thefts, perfetto->count, &perfetto->room, 1024,
                  sizeof *perfetto->thefts)) {
        fprintf(stderr, "%s: no memory\n", program_name);
        exit(EXIT_FAILED);
    }
    perfetto->thefts[perfetto->count] =
        (struct theft){(int)values[1], perfetto->worker, span->begin_ns,
                       perfetto->count, values[0]};
    perfetto->count++;
}

static int compare_thefts(const void *a, const void *b)
{
    const struct theft *x = a, *y = b;
    if (x->victim != y->victim)
        return x->victim < y->victim ? -1 : 1;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void write_iterations(struct perfetto *perfetto)
{
    const struct eki_timelines_file *file = perfetto->file;
    int64_t last_ns = perfetto->timeline->files.begin_ns;
    perfetto->thread = first_thread(perfetto, 2) + file->rank;
    write_title(perfetto, "thread", "iterations");
    for (int64_t k = 0; k < file->iteration_count; k++) {
        const struct eki_timelines_iteration *at = &file->iterations[k];
        int64_t begin_ns = eki_timelines_time(file, at->entered_ns);
        int64_t end_ns = eki_timelines_time(file, at->left_ns);
        if (begin_ns < last_ns || end_ns < begin_ns)
            continue;
        last_ns = end_ns;
        begin_slice(perfetto, begin_ns, end_ns);
        fprintf(perfetto->out, "\"iteration %" PRId64 "\"}", at->number);
    }
}

/* All tracks of the file. */
static bool write_tracks(struct perfetto *perfetto, eki_timelines_fn *visit)
{
    const struct eki_timelines_file *file = perfetto->file;
    for (int i = 0; i <= file->here; i++) {
        char name[40];
        bool is_worker = i < file->here;
        perfetto->worker = is_worker ? file->first + i : -1;
        perfetto->thread = is_worker
                               ? first_thread(perfetto, 0) + perfetto->worker
                               : first_thread(perfetto, 1) + file->rank;
        timeline_track_name(file, i, name, sizeof name);
        if (perfetto->out)
            write_title(perfetto, "thread", name);
        if (eki_timelines_walk(file, i, visit, perfetto) != EK_OK)
            return false;
        if (perfetto->out)
            write_starts(perfetto, INT64_MAX);
    }
    return true;
}

static bool write_files(struct perfetto *perfetto, eki_timelines_fn *visit)
{
    const struct eki_timelines *files = &perfetto->timeline->files;
    bool is_good = true;
    perfetto->next = perfetto->number = 0;
    for (int i = 0; is_good && i < files->ranks; i++) {
        char name[EKI_BLOCK_NAME + 40];
        perfetto->file = &files->files[i];
        if (!perfetto->file->path)
            continue;
        snprintf(name, sizeof name, "rank %d %s", i, perfetto->file->host);
        if (perfetto->out) {
            perfetto->thread = i + 1;
            write_title(perfetto, "process", name);
        }
        is_good = write_tracks(perfetto, visit);
        if (perfetto->out)
            write_iterations(perfetto);
    }
    return is_good;
}

bool write_perfetto(const struct timeline *timeline, const char *path,
                    struct message *message)
{
    const struct eki_timelines *files = &timeline->files;
    struct perfetto perfetto = {.timeline = timeline};
    perfetto.has_track =
        allocate((size_t)files->workers, sizeof *perfetto.has_track);
    for (int i = 0; i < files->ranks; i++) {
        const struct eki_timelines_file *file = &files->files[i];
        for (int w = 0; file->path && w < file->here; w++)
            perfetto.has_track[file->first + w] = true;
    }
    bool is_good = write_files(&perfetto, find_theft) ||
                   message_set(message, "%s", ek_error_message());
    if (perfetto.count > 0)
        qsort(perfetto.thefts, (size_t)perfetto.count, sizeof *perfetto.thefts,
              compare_thefts);
    if (is_good)
        is_good = (perfetto.out = open_output(path, message)) != NULL;
    if (is_good) {
        fprintf(perfetto.out,
                "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        is_good = write_files(&perfetto, write_span) ||
                  message_set(message, "%s", ek_error_message());
        fprintf(perfetto.out, "\n]}\n");
        is_good = close_output(perfetto.out, path, message) && is_good;
    }
    eki_free(perfetto.thefts);
    free(perfetto.has_track);
    return is_good;
}
