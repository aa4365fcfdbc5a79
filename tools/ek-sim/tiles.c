/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each task gets tiles, computes, and accumulates into others, by the library's
 * own transfers of a store without values: the network charges their bytes.
 *
 * Without overlap a task waits for each tile, one after the other, as those do
 * that block.  With it the duration falls into as many parts as tiles are got,
 * and the next tile is on its way while a part runs; what a task adds leaves
 * all at once, behind the last part.
 *
 * Which tiles these are follows from the task's number alone.
 */
#include "tiles.h"

#include <stdlib.h>
#include <string.h>

enum {
    CALLS_MOST = 64 /* gets and accumulates of a task, each */
};

/* A task of a worker. */
struct fetch {
    int64_t task; /* -1: none */
    double ns;    /* its duration */
    bool has_begun;
    int got, run, added; /* that have begun */
    int first;           /* transfer that is not over yet, in their order */
    double copy_ns;      /* not accounted yet */
    ek_transfer transfers[2 * CALLS_MOST];
};

struct tiles {
    const struct run *run;
    struct tiles_plan plan;
    int64_t count, rows; /* tiles; of them in a row of a matrix */
    struct eki_sim *sim;
    struct eki_sim_store *store;
    struct fetch fetches[]; /* [workers] */
};

static const struct key {
    const char *name;
    size_t offset;
    double least, most;
} keys[] = {
    {"gets", offsetof(struct tiles_plan, gets), 0, CALLS_MOST},
    {"accumulates", offsetof(struct tiles_plan, accumulates), 0, CALLS_MOST},
    {"bytes", offsetof(struct tiles_plan, bytes), 8, 1e9},
    {"tiles", offsetof(struct tiles_plan, tiles), 1, 1e12},
    {"block", offsetof(struct tiles_plan, block), 1, 1e12},
    {"cache", offsetof(struct tiles_plan, cache_mb), 0, 1e6},
};

static bool read_number(const char *value, const struct key *key,
                        struct tiles_plan *plan)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || (*end != '\0' && *end != ',') ||
        !(number >= key->least) || !(number <= key->most))
        return false;
    *(double *)((char *)plan + key->offset) = number;
    return true;
}

/* Keys whose values are one of two words. */
static const struct choice {
    const char *name, *no, *yes;
    size_t offset;
} choices[] = {
    {"overlap", "no", "yes", offsetof(struct tiles_plan, has_overlap)},
    {"pattern", "random", "product", offsetof(struct tiles_plan, is_product)},
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool read_choice(const char *value, const struct choice *choice,
                        struct tiles_plan *plan)
{
    size_t length = strcspn(value, ",");
    bool is_yes = is_word(value, length, choice->yes);
    *(bool *)((char *)plan + choice->offset) = is_yes;
    return is_yes || is_word(value, length, choice->no);
}

/* KEY=VALUE at TEXT, up to its comma. */
static bool read_key(const char *text, struct tiles_plan *plan)
{
    size_t length = strcspn(text, "=,");
    const char *value = text + length + 1;
    if (text[length] != '=')
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (is_word(text, length, keys[i].name))
            return read_number(value, &keys[i], plan);
    }
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (is_word(text, length, choices[i].name))
            return read_choice(value, &choices[i], plan);
    }
    return false;
}

bool tiles_read(const char *text, struct tiles_plan *plan,
                struct message *message)
{
    bool is_good = true;
    *plan = (struct tiles_plan){0};
    if (!text)
        return true;
    *plan = (struct tiles_plan){.is_used = true,
                                .gets = 2,
                                .accumulates = 1,
                                .bytes = 12800,
                                .block = 1};
    for (const char *at = text; is_good && at;) {
        is_good = read_key(at, plan);
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return is_good ||
           message_set(message,
                       "--tiles is '%s'; allowed, separated by commas: "
                       "gets=0...%d, accumulates=0...%d, bytes=8...1e9, "
                       "tiles=1...1e12, block=1...1e12, cache=0...1e6 (MB), "
                       "overlap=no or yes, pattern=random or product",
                       text, CALLS_MOST, CALLS_MOST);
}

/* Tiles in a row of a square matrix, so that there is a task for each of its
 * cube. */
static int64_t rows_of(const struct run *run)
{
    int64_t rows = 1;
    while (rows * rows * rows < run->workload->count)
        rows++;
    return rows;
}

static int64_t count_of(const struct run *run)
{
    const struct tiles_plan *plan = &run->tiles;
    int64_t rows = rows_of(run);
    if (plan->tiles > 0)
        return (int64_t)plan->tiles;
    return plan->is_product ? 3 * rows * rows : run->workload->count;
}

/* The tile of matrix 0, 1 (gets) or 2: task (i j l) adds (i l) (l j) to (i j).
 */
static int64_t product_tile(int64_t rows, int64_t k, int matrix)
{
    int64_t i = k / (rows * rows), j = k / rows % rows, l = k % rows;
    int64_t row = matrix == 1 ? l : i, column = matrix == 0 ? l : j;
    return (matrix * rows + row) * rows + column;
}

/* The tile of a call of task K; what it adds to has the numbers behind those
 * that it gets. */
static int64_t tile_of(const struct tiles *tiles, int64_t k, int call)
{
    int gets = (int)tiles->plan.gets;
    int matrix = call == gets ? 2 : call;
    uint64_t count = (uint64_t)tiles->count;
    if (tiles->plan.is_product && matrix <= 2 && (matrix < 2) == (call < gets))
        return product_tile(tiles->rows, k, matrix) % tiles->count;
    return (int64_t)(eki_hash(eki_hash(0, (uint64_t)call), (uint64_t)k) %
                     count);
}

/* Block-cyclic. */
static int owner_of(int64_t tile, void *context)
{
    const struct run *run = context;
    return (int)(tile / (int64_t)run->tiles.block % run->ranks);
}

int tiles_owner(const struct tiles *tiles, int64_t k)
{
    const struct eki_topology *topology = tiles->sim->topology;
    int rank = owner_of(tile_of(tiles, k, (int)tiles->plan.gets),
                        (void *)(uintptr_t)tiles->run);
    int first = topology->first_worker[rank];
    return first + (int)(k % (topology->first_worker[rank + 1] - first));
}

ek_status tiles_open(const struct run *run, struct eki_sim *sim,
                     struct tiles **made)
{
    size_t workers = (size_t)run->workers;
    struct tiles *tiles =
        allocate(1, sizeof *tiles + workers * sizeof *tiles->fetches);
    ek_tiles_shape shape = EK_TILES_SHAPE_INIT;
    shape.name = "tiles";
    shape.count = count_of(run);
    shape.length = (int64_t)(run->tiles.bytes / sizeof(double));
    shape.owner_of = owner_of;
    shape.context = (void *)(uintptr_t)run;
    shape.cache_bytes = (int64_t)(run->tiles.cache_mb * 1e6);
    tiles->run = run;
    tiles->plan = run->tiles;
    tiles->count = shape.count;
    tiles->rows = rows_of(run);
    tiles->sim = sim;
    for (size_t w = 0; w < workers; w++)
        tiles->fetches[w].task = -1;
    *made = tiles;
    return eki_sim_create_store(sim, &shape, EKI_SIM_NO_VALUES, &tiles->store);
}

void tiles_close(struct tiles *tiles)
{
    if (tiles)
        eki_sim_destroy_store(tiles->sim, &tiles->store);
    free(tiles);
}

void tiles_forget(const struct tiles *tiles)
{
    for (int r = 0; r < tiles->run->ranks; r++)
        eki_store_forget(tiles->store->tiles[r]);
}

static struct fetch *fetch_of(const struct tiles *tiles,
                              const struct eki_sim_worker *worker)
{
    return (struct fetch *)&tiles->fetches[worker->actor];
}

bool tiles_is_on(const struct tiles *tiles, const struct eki_sim_worker *worker)
{
    return fetch_of(tiles, worker)->task >= 0;
}

void tiles_begin(struct tiles *tiles, const struct eki_sim_worker *worker,
                 int64_t k, double ns)
{
    struct fetch *fetch = fetch_of(tiles, worker);
    memset(fetch, 0, offsetof(struct fetch, transfers));
    fetch->task = k;
    fetch->ns = ns;
}

/* Start the next call of a task; false: too many are under way. */
static bool start(struct tiles *tiles, struct eki_sim_worker *worker,
                  struct fetch *fetch, enum eki_tile_verb verb)
{
    const struct eki_machine *machine = &tiles->run->machine;
    struct ek_tiles *store = tiles->store->tiles[worker->rank->number];
    int number = fetch->got + fetch->added;
    int64_t tile = tile_of(tiles, fetch->task, number);
    struct eki_tile_call call = {.verb = verb,
                                 .store = store,
                                 .tile = tile,
                                 .owner = eki_tile_owner(store, tile),
                                 .length = eki_tile_length(store, tile),
                                 .alpha = 1};
    switch (eki_tiles_start(worker->worker, &call, &fetch->transfers[number])) {
    case EKI_STARTED_LATER:
        return false;
    case EKI_STARTED:
        eki_sim_want(tiles->sim, worker);
        break;
    default:
        fetch->copy_ns +=
            machine->probe + machine->copy_byte * tiles->plan.bytes;
        fetch->copy_ns += verb == EKI_TILE_ACCUMULATE ? machine->atomic : 0;
    }
    if (verb == EKI_TILE_GET)
        fetch->got++;
    else
        fetch->added++;
    return true;
}

/* Parts that a duration falls into. */
static int parts_of(const struct tiles *tiles)
{
    return tiles->plan.has_overlap && tiles->plan.gets > 1
               ? (int)tiles->plan.gets
               : 1;
}

/* Calls of a task that may be under way, or done, by now. */
static int allowed(const struct tiles *tiles, const struct fetch *fetch)
{
    int gets = (int)tiles->plan.gets, adds = (int)tiles->plan.accumulates;
    bool has_run = fetch->run == parts_of(tiles);
    if (!tiles->plan.has_overlap) {
        int most = has_run ? gets + adds : gets;
        return fetch->first < most ? fetch->first + 1 : most;
    }
    if (has_run)
        return gets + adds;
    return fetch->run + 2 < gets ? fetch->run + 2 : gets;
}

/* Whether all that the next part needs is there. */
static bool may_run(const struct tiles *tiles, const struct fetch *fetch)
{
    int gets = (int)tiles->plan.gets;
    if (fetch->run == parts_of(tiles))
        return false;
    return fetch->first >=
           (tiles->plan.has_overlap && gets > 0 ? fetch->run + 1 : gets);
}

/* Start what may be under way; count what is over. */
static void move_on(struct tiles *tiles, struct eki_sim_worker *worker,
                    struct fetch *fetch)
{
    int before;
    do {
        before = fetch->first;
        while (fetch->got + fetch->added < allowed(tiles, fetch) &&
               start(tiles, worker, fetch,
                     fetch->got < (int)tiles->plan.gets ? EKI_TILE_GET
                                                        : EKI_TILE_ACCUMULATE))
            ;
        while (
            fetch->first < fetch->got + fetch->added &&
            eki_tiles_is_over(worker->worker, fetch->transfers[fetch->first]))
            eki_tiles_finish(worker->worker, fetch->transfers[fetch->first++]);
    } while (fetch->first != before);
}

enum tiles_step tiles_go_on(struct tiles *tiles, struct eki_sim_worker *worker,
                            struct tiles_time *time)
{
    struct fetch *fetch = fetch_of(tiles, worker);
    bool has_begun = fetch->has_begun;
    fetch->has_begun = true;
    move_on(tiles, worker, fetch);
    *time = (struct tiles_time){.copy_ns = fetch->copy_ns, .work_ns = -1};
    if (may_run(tiles, fetch)) {
        time->work_ns = fetch->ns / parts_of(tiles);
        fetch->run++;
    } else if (fetch->run == parts_of(tiles) &&
               fetch->first ==
                   (int)tiles->plan.gets + (int)tiles->plan.accumulates &&
               fetch->copy_ns == 0 && has_begun) {
        fetch->task = -1;
        return TILES_ENDS;
    } else if (fetch->copy_ns == 0 && has_begun) {
        return TILES_WAITS;
    }
    fetch->copy_ns = 0;
    return TILES_TAKES;
}
