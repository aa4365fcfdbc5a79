/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek-report: what a record, and tables of reports, tell of a run, as a page for
 * browsers, as text or as CSV.
 *
 * A run is gathered once, in sums and samples whose size does not depend on the
 * number of tasks.  Sections say, draw and list it.
 *
 * A function that returns false has written a message.
 */
#ifndef EK_REPORT_H
#define EK_REPORT_H

#include "cli/message.h"
#include "record/record.h"
#include "report/verdict.h"

enum {
    SAID_BYTES = 1500,    /* of what a section says */
    REPORT_FILES = 1024,  /* on a command line */
    REPORT_GROUPS = 64,   /* of workers, at most */
    REPORT_COLUMNS = 100, /* of iterations, at most */
    REPORT_FUNCTIONS = 6, /* with a colour each; others share one */
    REPORT_LONGEST = 10,
    REPORT_SLOTS = 256 /* of durations: a quarter of an octave each */
};

struct arguments {
    const char *files[REPORT_FILES]; /* in their order */
    int file_count;
    bool has_compare, has_text, has_csv;
    int64_t iteration; /* -1: the last; of a timeline all */
    const char *output, *machine, *perfetto, *otf2;
    double simulate_s; /* that simulations may take; 0: none */
};

/* Where the time of workers went.  The last two stand for all but the first
 * where only the record is known. */
enum part {
    PART_TASKS,
    PART_BETWEEN,
    PART_SEARCH,
    PART_END,
    PART_LATE,
    PART_DATA,
    PART_STARVED,
    PART_START,
    PART_OUTSIDE,
    PART_RESTORE,
    PART_BUSIEST, /* others wait for the worker with the largest load */
    PART_NOBODY,  /* not even this one is in a task */
    PARTS
};
extern const char *const part_words[PARTS];

/* Columns of the tables of reports, and what ranks say of an iteration. */
enum figure {
    FIGURE_WALL,
    FIGURE_WORK,
    FIGURE_OVERHEAD,
    FIGURE_SEARCH,
    FIGURE_END,
    FIGURE_START,
    FIGURE_LATE,
    FIGURE_DATA,
    FIGURE_TILES,
    FIGURE_RESTORE,
    FIGURE_OUTSIDE,
    FIGURE_CPU,
    FIGURE_STARVED,
    FIGURE_STARVED_IN_TASKS,
    FIGURE_STARVED_IDLE,
    FIGURE_EFFICIENCY,
    FIGURE_SPEED,
    FIGURE_BOUND,
    FIGURE_CORES,
    FIGURE_SLOWEST_RANK,
    FIGURE_LATEST_RANK,
    FIGURES
};

/* An iteration.  Seconds of all workers unless said otherwise. */
struct iteration_row {
    struct eki_record_head head;
    double wall_s, largest_s; /* of the iteration; of the busiest worker */
    double work_s;
    double longest_s; /* task */
    int busiest, longest_function;
    int64_t tasks, nulls, held;

    bool has_figures; /* of a job.tsv */
    double figures[FIGURES];
    double lateness_s;     /* of the latest rank */
    double parts_s[PARTS]; /* all of it */
    double bound;          /* of the iteration, 0 ... 1 */
};

struct long_task {
    struct eki_record_payload payload; /* of no bytes: not known */
    struct eki_record_task task;
    double *seconds; /* [count] of iterations in which it took time, sorted */
    double median_s;
    int64_t count;
};

/* Workers together: each alone, or those of a rank, a node or of some ranks. */
struct groups {
    const char *what;
    int count;
    int *of_worker;                /* [workers] */
    int first[REPORT_GROUPS], per; /* numbers; PER in a group */
    int workers[REPORT_GROUPS];    /* how many */
};

/* Loads by durations, as restores know them. */
struct loads {
    bool is_known;
    int64_t iteration;
    double *worker_s; /* [workers] */
    double mean_s, target_s;
    int64_t tasks, fewest; /* that would have to move */
};

/* What runs on more cores would take. */
struct simulated {
    char mode[24];
    int cores;
    double makespan_s, efficiency, bound_s;
};

struct timeline;

/* Many members: what each section shows. */
struct run {
    const char *path;
    const char *name; /* the file's, with folders if another has the same */
    struct eki_record *record;  /* NULL: there is only a timeline */
    struct timeline *timeline;  /* NULL: none */
    int *rank_of;               /* [workers] */
    struct iteration_row *rows; /* [record->iteration_count] */
    int64_t chosen;             /* a row */
    bool has_figures;
    int nodes;    /* 0: not known */
    int *node_of; /* [ranks], where nodes are known */

    /* Of the chosen iteration. */
    int64_t slots[REPORT_FUNCTIONS + 1][REPORT_SLOTS];
    double slot_s[REPORT_FUNCTIONS + 1][REPORT_SLOTS];
    int64_t timed;
    double timed_s;
    struct long_task longest[REPORT_LONGEST];
    int longest_count;
    struct groups groups;
    int64_t *homes; /* [groups][groups] tasks, by home, by where they ran */
    int64_t away;   /* tasks that ran on another worker than their home */
    struct loads before, now;
    int64_t moved; /* of the tasks of both */
    bool spawns;

    struct eki_verdict_run verdict; /* of all iterations */
    struct simulated *simulated;    /* [simulated_count] */
    int simulated_count;
    char missing[200]; /* why there are no more of them */
};

/* In this order: the iterations of a record, tables of reports that belong to
 * it, the chosen iteration, its longest tasks in all others, and sums. */
bool gather_run(const char *path, const struct arguments *arguments,
                struct run *run, struct message *message);
bool gather_figures(const char *path, struct run *run, struct message *message);
bool gather_details(struct run *run, struct message *message);
bool gather_longest(struct run *run, struct message *message);
void gather_end(struct run *run);
/* The parts of an iteration by its table. */
void fill_figures(const struct run *run, struct iteration_row *row);
void gather_free(struct run *run);
/* The name of its collection. */
const char *run_collection(const struct run *run);
/* The same colour for a function wherever it stands; its place in a key. */
int function_class(int function);
void key_of_functions(char (*names)[EKI_BLOCK_NAME], int count, FILE *out);
/* Run ek-sim over numbers of cores. */
void simulate_run(const struct arguments *arguments, struct run *run);

/* Cut LINE at each SEPARATOR into FIELDS; how many they are. */
int split(char *line, char separator, char **fields, int most);
/* Which of FIELDS [count] is NAME; -1: none. */
int split_find(char **fields, int count, const char *name);
/* Where NAMES [WANTED] are, to COLUMNS; the first that is missing, or NULL. */
const char *split_find_all(char **fields, int count, const char *const *names,
                           int wanted, int *columns);

/* Append NUMBER and WHAT it counts. */
void append_number(int64_t number, const char *what, char *text, size_t bytes);
/* Append FIRST, or FIRST-LAST if that is another number. */
void append_range(int64_t first, int64_t last, char *text, size_t bytes);

/* A file that is written as a whole; NULL, false: a message. */
FILE *open_output(const char *path, struct message *message);
bool close_output(FILE *out, const char *path, struct message *message);

/* Rows of words, the first of which names the row. */
struct table {
    const char *key, *title;
    char titles[500];
    char *column[40]; /* [columns], in TITLES */
    int columns;
    char **cells; /* [count]; owned */
    int64_t count, room;
};

/* COLUMNS: titles with | in between. */
void table_open(struct table *table, const char *key, const char *title,
                const char *columns);
/* Add cells, with tabs in between: those of a row, or the next of one. */
void table_row(struct table *table, const char *format, ...) EKI_PRINTF(2, 3);
void table_close(struct table *table);
void table_html(const struct table *table, FILE *out);
void table_text(const struct table *table, FILE *out);
/* A line for each value, behind the NAME of the run. */
void table_csv_head(FILE *out);
void table_csv(const struct table *table, const char *name, FILE *out);

/* Text of others in markup. */
struct escaped {
    char text[SAID_BYTES + SAID_BYTES / 2];
};
struct escaped escaped(const char *text);

/* A part of the page. */
struct section {
    bool is_of_timeline;
    const char *key, *title;
    const char *help; /* how to read it */
    /* NULL: nothing. */
    void (*say)(const struct run *run, char *text, size_t bytes);
    void (*draw)(const struct run *run, FILE *out); /* NULL: a table only */
    void (*list)(const struct run *run, struct table *table);
};
extern const struct section sections[];
extern const int section_count;
/* Whether there is something for it. */
bool section_fits(const struct section *section, const struct run *run);

void draw_efficiency(const struct run *run, FILE *out);
void draw_loads(const struct run *run, FILE *out);
void draw_durations(const struct run *run, FILE *out);
void draw_homes(const struct run *run, FILE *out);
void draw_simulated(const struct run *run, FILE *out);

/* Iterations first ... last - 1 of a column, where there are many. */
struct range {
    int64_t first, last;
};
int column_count(const struct run *run);
/* Of COUNT iterations. */
struct range range_of(int64_t count, int column);
int column_of(int64_t count, int64_t k);
/* Append the numbers of its iterations. */
void append_iterations(const struct run *run, struct range range, char *text,
                       size_t bytes);
/* Sums of its parts and of all of them; the bound as a part of that. */
double range_parts(const struct run *run, struct range range,
                   double parts_s[PARTS], double *bound);
/* Of a group: its largest load, and the mean. */
double group_largest(const struct run *run, const double *worker_s, int group,
                     double *mean_s);
void group_name(const struct run *run, int group, char *text, size_t bytes);
const char *function_name(const struct run *run, int function);
/* The shortest duration of a slot. */
double slot_s(int slot);

void write_page(const struct run *runs, int count, FILE *out);
void write_text(const struct run *runs, int count, FILE *out);
void write_csv(const struct run *runs, int count, FILE *out);

extern const char page_css[], page_js[];

#endif
