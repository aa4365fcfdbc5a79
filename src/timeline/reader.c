/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing read is believed before it was compared with the bytes there are. */
#include "timeline/reader.h"

#include "timeline/layout.h"

#include <inttypes.h>
#include <string.h>

enum {
    WORKERS_MAX = 1 << 24
};

/* No time is so late, even with an offset. */
#define TIME_MAX ((int64_t)1 << 60)

/* A file that is being added. */
struct adding {
    struct eki_timelines *timeline;
    struct eki_timelines_file *file;
    struct eki_sealed_in in;
    int64_t *track_end_ns; /* [here + 1]: where the last block ended */
};

/* A time of the file; one that is none is below 0. */
static int64_t get_time(const unsigned char *from)
{
    int64_t time_ns = (int64_t)eki_get(from, 8);
    return time_ns <= TIME_MAX ? time_ns : -1;
}

/* What a header says, to be compared with that of other files. */
static ek_status take_timeline_header(struct eki_sealed_in *in,
                                      const unsigned char *head,
                                      struct eki_timelines_file *file,
                                      struct eki_timelines *timeline)
{
    const unsigned char *name = head + EKI_TIMELINE_HEAD_NAME;
    const unsigned char *host = head + EKI_TIMELINE_HEAD_HOST;
    uint64_t ranks = eki_get(head + EKI_TIMELINE_HEAD_RANKS, 4);
    uint64_t workers = eki_get(head + EKI_TIMELINE_HEAD_WORKERS, 4);
    uint64_t rank = eki_get(head + EKI_TIMELINE_HEAD_RANK, 4);
    uint64_t first = eki_get(head + EKI_TIMELINE_HEAD_FIRST, 4);
    uint64_t here = eki_get(head + EKI_TIMELINE_HEAD_HERE, 4);
    if (workers > WORKERS_MAX || ranks > workers || rank >= ranks || here < 1 ||
        first + here > workers)
        return eki_sealed_refuse(in, EKI_TIMELINE_HEAD_RANKS,
                                 "rank %" PRIu64 " of %" PRIu64
                                 ", with %" PRIu64 " workers from %" PRIu64
                                 " on of %" PRIu64,
                                 rank, ranks, here, first, workers);
    if (!eki_is_padded_name(name) || (host[0] && !eki_is_padded_name(host)))
        return eki_sealed_refuse(in, EKI_TIMELINE_HEAD_NAME,
                                 "the name of the collection or of the host "
                                 "is not allowed");
    file->rank = (int)rank;
    file->first = (int)first;
    file->here = (int)here;
    timeline->ranks = (int)ranks;
    timeline->workers = (int)workers;
    timeline->job = eki_get(head + EKI_TIMELINE_HEAD_JOB, 8);
    memcpy(timeline->name, name, sizeof timeline->name);
    memcpy(file->host, host, sizeof file->host);
    return EK_OK;
}

static ek_status read_timeline_header(struct eki_sealed_in *in,
                                      struct eki_timelines_file *file,
                                      struct eki_timelines *timeline)
{
    unsigned char head[EKI_TIMELINE_HEAD];
    const int bytes = EKI_TIMELINE_HEAD + EKI_BLOCK_CRC;
    if (in->size < bytes)
        return eki_sealed_refuse(
            in, in->size, "the file ends within its header of %d bytes", bytes);
    EKI_TRY(eki_sealed_read(in, 0, head, sizeof head));
    EKI_TRY(eki_sealed_check_version(in, head, "timeline", EKI_TIMELINE_MAGIC,
                                     1, EKI_TIMELINE_VERSION));
    EKI_TRY(eki_sealed_check(in, 0, sizeof head, "header"));
    in->at = bytes;
    return take_timeline_header(in, head, file, timeline);
}

/* Whether a file, whose header says what is in OF, is of the same run. */
static ek_status join_timeline(const struct eki_sealed_in *in,
                               const struct eki_timelines *timeline,
                               const struct eki_timelines *of, int rank)
{
    if (strcmp(of->name, timeline->name) != 0)
        return eki_sealed_refuse(in, EKI_TIMELINE_HEAD_NAME,
                                 "a timeline of the collection '%s'; the "
                                 "others are of '%s'",
                                 of->name, timeline->name);
    if (of->job != timeline->job || of->ranks != timeline->ranks ||
        of->workers != timeline->workers)
        return eki_sealed_refuse(in, EKI_TIMELINE_HEAD_JOB,
                                 "another run, of %d ranks and %d workers; "
                                 "the others are of one of %d and %d",
                                 of->ranks, of->workers, timeline->ranks,
                                 timeline->workers);
    if (timeline->files[rank].path)
        return eki_sealed_refuse(in, EKI_TIMELINE_HEAD_RANK,
                                 "rank %d, as in '%.100s'", rank,
                                 timeline->files[rank].path);
    return EK_OK;
}

static ek_status take_timeline_function(const struct adding *adding,
                                        const struct eki_sealed_block *block)
{
    struct eki_timelines *timeline = adding->timeline;
    char name[EKI_BLOCK_NAME];
    uint64_t number, count = (uint64_t)timeline->function_count;
    EKI_TRY(eki_sealed_function(&adding->in, block, &number, name));
    if (number > count || number > EKI_EVENT_FUNCTION_MOST ||
        (number < count &&
         memcmp(timeline->functions[number], name, sizeof name) != 0))
        return eki_sealed_refuse(&adding->in, block->at,
                                 "function %" PRIu64 " behind %" PRIu64
                                 ", or a name that other files do not have",
                                 number, count);
    if (number < count)
        return EK_OK;
    if (!eki_grow(&timeline->functions, timeline->function_count,
                  &timeline->function_room, 8, sizeof *timeline->functions))
        return eki_sealed_no_memory(adding->in.path);
    memcpy(timeline->functions[timeline->function_count++], name, sizeof name);
    return EK_OK;
}

static ek_status take_clock(const struct adding *adding,
                            const struct eki_sealed_block *block)
{
    struct eki_timelines_file *file = adding->file;
    unsigned char body[EKI_TIMELINE_CLOCK];
    EKI_TRY(eki_sealed_body(&adding->in, block, body, sizeof body));
    struct eki_timelines_clock clock = {
        get_time(body + EKI_TIMELINE_CLOCK_AT),
        (int64_t)eki_get(body + EKI_TIMELINE_CLOCK_OFFSET, 8)};
    int64_t error_ns = get_time(body + EKI_TIMELINE_CLOCK_ERROR);
    int64_t last_ns =
        file->clock_count > 0 ? file->clocks[file->clock_count - 1].at_ns : -1;
    if (clock.at_ns <= last_ns || error_ns < 0 || clock.offset_ns < -TIME_MAX ||
        clock.offset_ns > TIME_MAX)
        return eki_sealed_refuse(&adding->in, block->at,
                                 "a clock that does not follow the one before");
    if (!eki_grow(&file->clocks, file->clock_count, &file->clock_room, 8,
                  sizeof *file->clocks))
        return eki_sealed_no_memory(adding->in.path);
    file->clocks[file->clock_count++] = clock;
    if (error_ns > file->error_ns)
        file->error_ns = error_ns;
    return EK_OK;
}

static ek_status take_timeline_iteration(const struct adding *adding,
                                         const struct eki_sealed_block *block)
{
    struct eki_timelines_file *file = adding->file;
    struct eki_timelines_iteration last = {.number = -1}, now;
    unsigned char body[EKI_TIMELINE_ITERATION];
    EKI_TRY(eki_sealed_body(&adding->in, block, body, sizeof body));
    now.number = get_time(body + EKI_TIMELINE_ITERATION_NUMBER);
    now.entered_ns = get_time(body + EKI_TIMELINE_ITERATION_ENTERED);
    now.left_ns = get_time(body + EKI_TIMELINE_ITERATION_LEFT);
    if (file->iteration_count > 0)
        last = file->iterations[file->iteration_count - 1];
    if (now.number <= last.number || now.entered_ns < last.left_ns ||
        now.left_ns < now.entered_ns)
        return eki_sealed_refuse(
            &adding->in, block->at,
            "iteration %" PRId64 " does not follow the one before", now.number);
    int64_t longest_ns = get_time(body + EKI_TIMELINE_ITERATION_LONGEST);
    now.late_ns = now.left_ns - longest_ns;
    if (longest_ns <= 0 || now.late_ns > now.entered_ns)
        now.late_ns = now.entered_ns;
    if (!eki_grow(&file->iterations, file->iteration_count,
                  &file->iteration_room, 64, sizeof *file->iterations))
        return eki_sealed_no_memory(adding->in.path);
    file->iterations[file->iteration_count++] = now;
    return EK_OK;
}

/* Remember where the events are; they are read on demand. */
static ek_status take_track(const struct adding *adding,
                            const struct eki_sealed_block *block)
{
    struct eki_timelines_file *file = adding->file;
    unsigned char head[EKI_TIMELINE_TRACK_HEAD];
    int64_t bytes = block->bytes - (int64_t)sizeof head;
    if (bytes < 0 || bytes % EKI_TIMELINE_EVENT != 0)
        return eki_sealed_wrong_size(&adding->in, block, sizeof head);
    EKI_TRY(eki_sealed_read(&adding->in, block->at, head, sizeof head));
    uint64_t track = eki_get(head + EKI_TIMELINE_TRACK_NUMBER, 8);
    struct eki_timelines_block found = {
        .at = block->at + (int64_t)sizeof head,
        .count = bytes / EKI_TIMELINE_EVENT,
        .base_ns = get_time(head + EKI_TIMELINE_TRACK_BASE),
        .end_ns = get_time(head + EKI_TIMELINE_TRACK_END),
        .track = (int)track};
    if (track > (uint64_t)file->here ||
        found.base_ns < adding->track_end_ns[track] ||
        found.end_ns < found.base_ns)
        return eki_sealed_refuse(&adding->in, block->at,
                                 "events of track %" PRIu64
                                 " that do not follow those before",
                                 track);
    adding->track_end_ns[track] = found.end_ns;
    file->dropped += (int64_t)eki_get(head + EKI_TIMELINE_TRACK_DROPPED, 8);
    if (!eki_grow(&file->blocks, file->block_count, &file->block_room, 64,
                  sizeof *file->blocks))
        return eki_sealed_no_memory(adding->in.path);
    file->blocks[file->block_count++] = found;
    return EK_OK;
}

static ek_status take_timeline_block(const struct adding *adding,
                                     const struct eki_sealed_block *block)
{
    switch (block->kind) {
    case EKI_BLOCK_FUNCTION:
        return take_timeline_function(adding, block);
    case EKI_BLOCK_CLOCK:
        return take_clock(adding, block);
    case EKI_BLOCK_ITERATION:
        return take_timeline_iteration(adding, block);
    case EKI_BLOCK_TRACK:
        return take_track(adding, block);
    case EKI_BLOCK_END:
        adding->file->is_complete = true;
        return eki_sealed_check_end(&adding->in);
    default:
        return eki_sealed_wrong_kind(&adding->in, block);
    }
}

static ek_status read_timeline_blocks(struct adding *adding)
{
    struct eki_timelines *timeline = adding->timeline;
    const struct eki_sealed_in *in = &adding->in;
    bool found = true;
    adding->track_end_ns =
        eki_alloc((size_t)adding->file->here + 1, sizeof *adding->track_end_ns);
    ek_status status =
        adding->track_end_ns ? EK_OK : eki_sealed_no_memory(in->path);
    while (status == EK_OK && found && !adding->file->is_complete) {
        struct eki_sealed_block block = {0};
        status = eki_sealed_next(&adding->in, &block, &found);
        if (status == EK_OK && found)
            status = take_timeline_block(adding, &block);
    }
    eki_free(adding->track_end_ns);
    if (status != EK_OK || adding->file->is_complete || timeline->early++ > 0)
        return status;
    char what[40];
    snprintf(what, sizeof what, "the timeline of rank %d", adding->file->rank);
    eki_sealed_say_early(in, what, timeline->warning, sizeof timeline->warning);
    return EK_OK;
}

/* From when to when the timeline goes. */
static void extend_to(struct eki_timelines *timeline, int64_t begin_ns,
                      int64_t end_ns)
{
    bool is_first = timeline->begin_ns == timeline->end_ns;
    if (is_first || begin_ns < timeline->begin_ns)
        timeline->begin_ns = begin_ns;
    if (is_first || end_ns > timeline->end_ns)
        timeline->end_ns = end_ns;
}

static ek_status add_open(struct adding *adding)
{
    struct eki_timelines of = {0}, *timeline = adding->timeline;
    struct eki_timelines_file file = {.error_ns = -1};
    EKI_TRY(read_timeline_header(&adding->in, &file, &of));
    if (!timeline->files) {
        *timeline = of;
        timeline->files = eki_alloc((size_t)of.ranks, sizeof *timeline->files);
    }
    if (!timeline->files)
        return eki_sealed_no_memory(adding->in.path);
    EKI_TRY(join_timeline(&adding->in, timeline, &of, file.rank));
    adding->file = &timeline->files[file.rank];
    *adding->file = file;
    adding->file->path = eki_copy_string(adding->in.path);
    if (!adding->file->path)
        return eki_sealed_no_memory(adding->in.path);
    timeline->present++;
    EKI_TRY(read_timeline_blocks(adding));
    for (int64_t i = 0; i < adding->file->block_count; i++) {
        const struct eki_timelines_block *block = &adding->file->blocks[i];
        extend_to(timeline, eki_timelines_time(adding->file, block->base_ns),
                  eki_timelines_time(adding->file, block->end_ns));
    }
    return EK_OK;
}

ek_status eki_timelines_add(struct eki_timelines *timeline, const char *path)
{
    struct adding adding = {.timeline = timeline};
    ek_status status = eki_sealed_open(&adding.in, path);
    if (status == EK_OK)
        status = add_open(&adding);
    eki_sealed_close(&adding.in);
    return status;
}

void eki_timelines_close(struct eki_timelines *timeline)
{
    for (int i = 0; timeline->files && i < timeline->ranks; i++) {
        struct eki_timelines_file *file = &timeline->files[i];
        eki_free(file->path);
        eki_free(file->iterations);
        eki_free(file->clocks);
        eki_free(file->blocks);
    }
    eki_free(timeline->files);
    eki_free(timeline->functions);
    *timeline = (struct eki_timelines){0};
}
