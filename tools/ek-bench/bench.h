/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ek-bench: what Evenkeel costs, each case against something everybody knows,
 * measured in turns in the same run.
 *
 * A *row* is a case: a value and its baseline per repetition.  A *pair* is two
 * threads of a process or two processes of a node that share an arena.
 */
#ifndef EK_BENCH_H
#define EK_BENCH_H

#include <evenkeel_report.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    BENCH_REPETITIONS_MAX = 1000,
    BENCH_LINE = 128,  /* two lines: they are prefetched in pairs */
    BENCH_SLOT = 64,   /* bytes of a task with the default payload */
    BENCH_LOST = 20000 /* ns after which somebody had lost the CPU */
};

/* A byte of a one-sided operation takes no less. */
#define BENCH_RMA_BYTE_LEAST_NS 5e-4

/* What every case knows. */
struct bench {
    int rank, size;
    int cpus; /* that this rank may run on */
    bool json;
    int repetitions;
    int64_t tasks;
    int length_us;      /* of the tasks of loops; 0: of 1, 10 and 100 */
    const char *deque;  /* NULL: the library's default */
    const char *record; /* file with the tasks of balance, or NULL */
    int workers;        /* that share them, or of each rank of collections; 0:
                           more and more, or 1 */
    const char *check;  /* machine file to check, or NULL */
    const char *like;   /* preset for what machine does not measure */
    bool rma;           /* machine: one-sided operations alone */
    int busy_ms;        /* that the task of a target takes, or a victim */
};

/* Clock ticks: for differences of a few nanoseconds. */
#if defined(__x86_64__)
static inline uint64_t bench_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
/* After all loads before it. */
static inline uint64_t bench_ticks_after(void)
{
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
}
static inline void bench_pause(void)
{
    __builtin_ia32_pause();
}
#else
uint64_t bench_ticks(void);
static inline uint64_t bench_ticks_after(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return bench_ticks();
}
static inline void bench_pause(void)
{
}
#endif

/* Calibrate; before any other call.  Takes 20 ms. */
void bench_timing_start(void);
/* Nanoseconds of so many ticks. */
double bench_ns(uint64_t ticks);
/* The same of a measured interval: less the cost of reading the clock. */
double bench_interval_ns(uint64_t first, uint64_t last);
/* Wait a moment in a loop; LOOKS counts.  Gives the core away now and then, in
 * case the one we wait for has none. */
static inline void bench_wait(int *looks)
{
    bench_pause();
    if (++*looks % 2048 == 0)
        sched_yield();
}
/* Keep this core busy. */
void bench_spin_ns(double ns);
/* Work of so many steps: as much wherever and whenever it runs. */
void bench_burn(int64_t steps);
/* Nanoseconds of a step, on a core of its own. */
double bench_step_ns(void);
/* Give this core away. */
void bench_sleep_ms(int ms);

/* Of the values that are numbers; NaN: there is none.  All sort VALUES. */
double bench_minimum(double *values, int count);
double bench_maximum(double *values, int count);
double bench_median(double *values, int count);
/* Mean of the lower half: finer than the ticks of the clock. */
double bench_low_mean(double *values, int count);

struct bench_row {
    const char *bench;   /* "tasks", "steal", "process" */
    const char *against; /* what the baseline is; NULL: none */
    char name[64];
    double target_ratio; /* at most so many baselines; 0: none */
    double target;       /* at most so much; 0: none */
    const char *unit;    /* of the values; "": they are a number */
    int count;
    double values[BENCH_REPETITIONS_MAX];
    double baselines[BENCH_REPETITIONS_MAX];
};

/* An empty row; it stays valid until the table is printed. */
struct bench_row *bench_row_new(const char *bench, const char *against,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One repetition, in the unit of the row: nanoseconds, where no other is set.
 */
void bench_row_add(struct bench_row *row, double value, double baseline);
/* Print all rows made since the last call (rank 0 alone), and free them. */
void bench_table_print(const struct bench *bench);
/* A remark of rank 0 about what was left out, to stderr. */
void bench_note(const struct bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One side of a pair; side 0 measures. */
typedef void bench_side_fn(void *arena, int side, void *argument);

struct bench_pair {
    const char *name; /* "threads", "processes" */
    MPI_Comm comm;    /* of both processes; threads: MPI_COMM_NULL */
    MPI_Win window;
    void *arena; /* zeroed; aligned to BENCH_LINE */
    int side;    /* of this process; threads: 0 */
};

/* Two threads of this process; false: no memory, or one CPU only. */
bool bench_pair_threads(const struct bench *bench, size_t bytes,
                        struct bench_pair *pair);
/* Ranks 0 and 1, if they share memory; collective over both. */
bool bench_pair_processes(const struct bench *bench, MPI_Comm both,
                          size_t bytes, struct bench_pair *pair);
void bench_pair_free(struct bench_pair *pair);
/* Run FN on the CPU of a side: the n-th that this process may use. */
void bench_run_pinned(int side, bench_side_fn *fn, void *arena, void *argument);
/* Run both sides to their ends, each on a CPU of its own where it may; each
 * process of the pair calls it. */
void bench_pair_run(const struct bench_pair *pair, bench_side_fn *fn,
                    void *argument);
/* Nanoseconds of a cache line there and another one back; known to side 0;
 * NaN: disturbed. */
double bench_line_round_trip(const struct bench_pair *pair);

/* Ranks 0 and 1 of all; MPI_COMM_NULL elsewhere, and where size is 1. */
MPI_Comm bench_both(const struct bench *bench);
/* All ranks; who waits sleeps. */
void bench_barrier(MPI_Comm comm);
/* Nanoseconds of a message of BYTES to the other rank and back. */
double bench_message_round_trip(MPI_Comm both, int bytes);

/* A counter in a window of rank 0, for MPI_Fetch_and_op(). */
struct bench_window {
    MPI_Win window;
    int rank;
};

/* Collective over COMM, both. */
void bench_window_open(MPI_Comm comm, struct bench_window *window);
void bench_window_close(struct bench_window *window);
/* To 0, by rank 0; a barrier must follow. */
void bench_window_reset(const struct bench_window *window);
/* The next CHUNK numbers: the first of them. */
int64_t bench_window_draw(const struct bench_window *window, int64_t chunk);

/* Options of all cases: the environment does not matter. */
ek_options bench_options(const struct bench *bench, int workers);
/* Set an option that is text only. */
void bench_set(ek_options *options, const char *option, int64_t value);
/* End the job if STATUS is a failure, which the call has said. */
void bench_check(ek_status status);

/* What matters of this machine in ten seconds, in words. */
void bench_summary(const struct bench *bench);

void bench_tasks(const struct bench *bench);
void bench_steal(const struct bench *bench);
/* IS_NEAR: both ranks share memory. */
void bench_whole(const struct bench *bench, MPI_Comm both, bool is_near);
void bench_operations(const struct bench *bench, MPI_Comm both);
void bench_process(const struct bench *bench);
void bench_balance(const struct bench *bench);
void bench_counter(const struct bench *bench);
void bench_data(const struct bench *bench);
void bench_loops(const struct bench *bench);
void bench_service(const struct bench *bench);
void bench_tiles(const struct bench *bench);
void bench_affinity(const struct bench *bench);
void bench_collections(const struct bench *bench);
void bench_plan(const struct bench *bench);
void bench_doctor(const struct bench *bench);
void bench_machine(const struct bench *bench);
/* What machine measures of one-sided operations; two ranks or more. */
void bench_rma(const struct bench *bench);
/* Print what the machine file says; false, with a message: nothing. */
bool bench_machine_check(const struct bench *bench);

/* Instructions: run the case NAME of bench_tasks() so often, and nothing
 * else; returns its tasks per repetition, 0: there is no such case. */
int64_t bench_tasks_count(const struct bench *bench, const char *name);
/* Median nanoseconds per task of the case NAME; NaN: there is none. */
double bench_tasks_median(const struct bench *bench, const char *name);
/* Print the names that bench_tasks_count() takes. */
void bench_tasks_names(void);

#endif
