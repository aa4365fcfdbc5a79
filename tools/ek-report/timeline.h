/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timeline, gathered once in sums, cells and the longest spans, whose size
 * does not depend on the number of events; and written as a whole for others.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "report.h"
#include "timeline/reader.h"

enum {
    TIMELINE_ROWS = 200,    /* with a worker each; more workers share them */
    TIMELINE_COLUMNS = 960, /* pixels */
    TIMELINE_CELLS = 60000,
    TIMELINE_LONGEST = 1500,
    TIMELINE_NOTHING = 255 /* a cell of which nothing is known */
};

/* Of a row, or of an iteration. */
struct timeline_sums {
    int64_t state_ns[EKI_EVENT_KINDS_READ];
    int64_t tasks, steals, stolen;
};

struct timeline_long {
    struct eki_timelines_span span;
    int worker;
};

struct timeline {
    struct eki_timelines files;
    int64_t begin_ns, end_ns; /* what is seen */
    int64_t chosen;           /* -1: all iterations */
    int rows, per, columns;   /* PER workers in a row */
    unsigned char *cells;     /* [rows][columns]: class, or 0 ... 100 % */
    struct timeline_sums *of_row, all;              /* [rows] */
    struct timeline_sums of_column[REPORT_COLUMNS]; /* of iterations */
    int64_t iterations; /* of the file with the most, FIRST */
    const struct eki_timelines_file *first;
    struct timeline_long *longest; /* by worker, then by time */
    int64_t longest_count;
};

/* Only a timeline has this part, and only a record alone the other one. */
#define PART_LEAVE PART_NOBODY

/* A state or point, in words and as a part of all time; what its value is: one
 * number, two, or none (NULL). */
struct timeline_kind {
    const char *word;
    enum part part;
    const char *first, *second;
};
extern const struct timeline_kind timeline_kinds[EKI_EVENT_KINDS_READ];

/* What the numbers of a state or point are. */
void timeline_values(const struct eki_timelines_span *span, uint64_t values[2]);
/* What runs in a span: a function's name, or the word of its kind. */
const char *timeline_span_name(const struct eki_timelines *files,
                               const struct eki_timelines_span *span);

/* Of a worker, or of the server. */
void timeline_track_name(const struct eki_timelines_file *file, int track,
                         char *text, size_t bytes);
/* Whether a span is none to other programs: a state without length, but for
 * tasks. */
bool timeline_is_nothing(const struct eki_timelines_span *span);

/* Add PATH, a file or a folder of them, to those of a run; when all are there,
 * gather them. */
bool timeline_add(const char *path, struct run *run, struct message *message);
bool timeline_gather(struct run *run, int64_t iteration,
                     struct message *message);
void timeline_free(struct timeline *timeline);
/* Whether a path is a folder. */
bool timeline_is_folder(const char *path);

bool write_perfetto(const struct timeline *timeline, const char *path,
                    struct message *message);
bool write_otf2(const struct timeline *timeline, const char *folder,
                struct message *message);

/* Sections. */
void say_timeline(const struct run *run, char *text, size_t bytes);
void draw_timeline(const struct run *run, FILE *out);
void list_timeline(const struct run *run, struct table *table);
void say_states(const struct run *run, char *text, size_t bytes);
void list_states(const struct run *run, struct table *table);
void list_state_iterations(const struct run *run, struct table *table);

#endif
