/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Getting, putting and accumulating tiles: of the own rank, of another one in
 * the node, of another node that waits, and of one that is in a long task; with
 * the library, and with an MPI window and Global Arrays in turns with it.
 *
 * In a node the base is what it takes to copy, or to add to, as much memory,
 * which its owner has just written; between nodes a message of the size there
 * and one back.
 */
#include "remote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REMOTES_MAX = 8,
    CASES = REMOTE_KINDS * REMOTE_SIZES,
    BUSY_ROUNDS_MAX = 3,
    BUSY_SAMPLES = 10, /* of a case and round, where they are quick */
    LATE_MS = 10,      /* by then the task runs */
    SLOW = 4           /* a sample of a quarter of the task is the last */
};

static const char *const kind_names[REMOTE_KINDS] = {"get", "put",
                                                     "accumulate"};

static const struct remote_library in_node = {.name = "Evenkeel",
                                              .target = 1.5};

/* Ways of letting messages through: two while the other node waits. */
static const struct remote_library apart[] = {
    {"server thread", true, 0, EK_PROGRESS_SERVER, 2},
    {"polling", true, 0, EK_PROGRESS_POLLING, 0},
    {"ek_poll", true, 1, EK_PROGRESS_POLLING, 0},
    {"ek_poll 0.5 ms", true, 5e5, EK_PROGRESS_POLLING, 0}};

enum {
    APART = sizeof apart / sizeof *apart,
    APART_IDLE = 2
};

/* All that is measured in turns, and their rows. */
struct table {
    const struct bench *bench;
    MPI_Comm both;
    int owner;
    int count;
    struct remote *remotes[REMOTES_MAX];
    struct bench_row *rows[REMOTES_MAX][CASES], *base[CASES];
    double *values; /* of the largest tile */
};

static enum remote_kind kind_of(int c)
{
    return (enum remote_kind)(c / REMOTE_SIZES);
}

static int size_of(int c)
{
    return c % REMOTE_SIZES;
}

/* As many operations as there are tiles of the size. */
struct batch {
    enum remote_kind kind;
    int size, owner;
    double *values;
    double written; /* what a get finds */
    double ns;      /* of one */
};

static void run_batch(struct remote *remote, void *argument)
{
    struct batch *batch = argument;
    int count = remote_sizes[batch->size].count;
    uint64_t first = bench_ticks();
    for (int tile = 0; tile < count; tile++)
        remote->ops->move(remote, batch->kind, batch->size, batch->owner, tile,
                          batch->values);
    batch->ns = bench_interval_ns(first, bench_ticks_after()) / count;
    double last = batch->values[remote_sizes[batch->size].length - 1];
    if (batch->kind == REMOTE_GET &&
        (batch->values[0] != batch->written || last != batch->written)) {
        fprintf(stderr, "ek-bench: %s: not what the owner wrote\n",
                remote->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The owner writes all its tiles of a size. */
static void write_tiles(struct remote *remote, int size, double value)
{
    for (int tile = 0; tile < remote_sizes[size].count; tile++) {
        double *values = remote->ops->local(remote, size, tile);
        for (int64_t i = 0; i < remote_sizes[size].length; i++)
            values[i] = value;
    }
}

/* Nanoseconds of an operation. */
static double run_one(const struct table *table, struct remote *remote, int c,
                      int r)
{
    struct batch batch = {.kind = kind_of(c),
                          .size = size_of(c),
                          .owner = table->owner,
                          .values = table->values,
                          .written = r + 1};
    struct remote_meeting meeting = {.asker = run_batch, .argument = &batch};
    if (remote->rank == table->owner)
        write_tiles(remote, batch.size, batch.written);
    remote->ops->meet(remote, &meeting);
    return batch.ns;
}

static void add_remote(struct table *table, struct remote *remote)
{
    if (remote)
        table->remotes[table->count++] = remote;
}

static void close_remotes(struct table *table)
{
    for (int i = 0; i < table->count; i++)
        remote_close(table->remotes[i]);
    table->count = 0;
}

static struct bench_row *make_row(const char *place, int c, const char *name,
                                  const char *against)
{
    return bench_row_new("tiles", against, "%s: %s %s, %s", place,
                         kind_names[kind_of(c)], remote_sizes[size_of(c)].name,
                         name);
}

/* A row for each case and remote, those of a case together, behind one for
 * what they are measured against. */
static void make_rows(struct table *table, const char *place,
                      const char *against, bool has_targets)
{
    for (int c = 0; c < CASES; c++) {
        table->base[c] = make_row(place, c, against, NULL);
        for (int i = 0; i < table->count; i++) {
            const struct remote *remote = table->remotes[i];
            table->rows[i][c] = make_row(place, c, remote->name, against);
            if (has_targets && size_of(c) == REMOTE_USUAL)
                table->rows[i][c]->target_ratio = remote->target;
        }
    }
}

/* A round of all cases in turns; BASE is in nanoseconds. */
static void add_round(struct table *table, int c, int r, double base)
{
    bench_row_add(table->base[c], base, NAN);
    for (int i = 0; i < table->count; i++)
        bench_row_add(table->rows[i][c],
                      run_one(table, table->remotes[i], c, r), base);
}

static void add_window(struct table *table, bool is_apart)
{
    struct remote *window =
        remote_window_open(table->bench, table->both, is_apart);
    if (!window)
        bench_note(table->bench, "MPI refuses a window here.  Open MPI 4.1 "
                                 "does not with --mca osc sm,pt2pt");
    add_remote(table, window);
}

/* Where Open MPI refuses a window, Global Arrays end the job. */
static void add_arrays(struct table *table)
{
#if defined(BENCH_HAS_GA)
    if (table->bench->size != REMOTE_OWNERS)
        bench_note(table->bench, "no Global Arrays: they want two ranks");
    else
        add_remote(table, remote_arrays_open(table->both));
#else
    bench_note(table->bench, "built without Global Arrays");
#endif
}

/* Tiles of OWNER, which can be seen. */
static void run_seen(struct table *table, struct remote *memory, int owner)
{
    table->owner = owner;
    make_rows(table, owner == 0 ? "own" : "node", "memory", true);
    for (int r = 0; r < table->bench->repetitions; r++) {
        for (int c = 0; c < CASES; c++)
            add_round(table, c, r, run_one(table, memory, c, r));
    }
    bench_table_print(table->bench);
}

/* Whether the ranks share memory. */
static bool run_near(struct table *table)
{
    bool shares;
    struct remote *memory =
        remote_memory_open(table->bench, table->both, &shares);
    add_remote(table, remote_library_open(table->bench, table->both, &in_node));
    add_window(table, false);
    if (table->count > 1)
        add_arrays(table);
    run_seen(table, memory, 0);
    if (shares)
        run_seen(table, memory, 1);
    close_remotes(table);
    remote_close(memory);
    return shares;
}

/* Tiles of another node that waits in a collective call. */
static void run_idle(struct table *table)
{
    make_rows(table, "nodes", "ping-pong", true);
    for (int r = 0; r < table->bench->repetitions; r++) {
        for (int c = 0; c < CASES; c++) {
            int64_t length = remote_sizes[size_of(c)].length;
            add_round(table, c, r,
                      bench_message_round_trip(
                          table->both, (int)(length * (int)sizeof(double))));
        }
    }
    bench_table_print(table->bench);
}

/* Operations on a rank that computes: those of a case after those of another.
 */
struct probes {
    struct bench_row **rows; /* [CASES] */
    double *values;
    double busy_ns;
    int next, samples; /* the case, and what was sampled of it */
};

/* Until the task is half over. */
static void run_probes(struct remote *remote, void *argument)
{
    struct probes *probes = argument;
    uint64_t first = bench_ticks(), start = first;
    bench_spin_ns(LATE_MS * 1e6);
    while (probes->next < CASES &&
           bench_ns(start - first) < probes->busy_ns / 2) {
        int c = probes->next;
        start = bench_ticks();
        remote->ops->move(remote, kind_of(c), size_of(c), 1, 0, probes->values);
        uint64_t end = bench_ticks();
        double ns = bench_interval_ns(start, end);
        bench_row_add(probes->rows[c], ns, probes->busy_ns);
        if (++probes->samples == BUSY_SAMPLES || ns > probes->busy_ns / SLOW) {
            probes->next++;
            probes->samples = 0;
        }
        start = end;
    }
}

/* All cases, in as many tasks of the other rank as that takes. */
static void probe(struct table *table, int i)
{
    struct probes probes = {.rows = table->rows[i],
                            .values = table->values,
                            .busy_ns = table->bench->busy_ms * 1e6};
    struct remote_meeting meeting = {run_probes, &probes, probes.busy_ns};
    while (probes.next < CASES) {
        table->remotes[i]->ops->meet(table->remotes[i], &meeting);
        MPI_Bcast(&probes.next, 1, MPI_INT, 0, table->both);
    }
}

/* Tiles of another node that is in a task. */
static void run_busy(struct table *table)
{
    char against[32];
    int rounds = table->bench->repetitions < BUSY_ROUNDS_MAX
                     ? table->bench->repetitions
                     : BUSY_ROUNDS_MAX;
    snprintf(against, sizeof against, "task of %d ms", table->bench->busy_ms);
    make_rows(table, "busy", against, false);
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < table->count; i++)
            probe(table, i);
    }
    bench_table_print(table->bench);
}

static void run_apart(struct table *table, bool shares)
{
    table->owner = 1;
    add_window(table, shares);
    if (!shares && table->count > 0)
        add_arrays(table);
    for (int i = 0; i < APART; i++) {
        add_remote(table,
                   remote_library_open(table->bench, table->both, &apart[i]));
        if (i + 1 == APART_IDLE)
            run_idle(table);
    }
    run_busy(table);
    close_remotes(table);
}

void bench_tiles(const struct bench *bench)
{
    MPI_Comm both = bench_both(bench);
    if (both != MPI_COMM_NULL) {
        struct table table = {.bench = bench, .both = both};
        table.values = calloc((size_t)remote_sizes[REMOTE_SIZES - 1].length,
                              sizeof(double));
        if (!table.values)
            bench_check(EK_ERR_NOMEM);
        run_apart(&table, run_near(&table));
        free(table.values);
        MPI_Comm_free(&both);
    }
    bench_barrier(MPI_COMM_WORLD);
#if defined(BENCH_HAS_GA)
    remote_arrays_end();
#endif
}
