/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explore: whole iterations of several ranks under schedules that are drawn
 * from a seed, in the simulator; after every event what must hold is checked.
 *
 * A *scenario* says everything that happens, and comes from a *profile* and a
 * seed; the same scenario is the same run.  The *ledger* knows every task and
 * what it has been through.  A *law* says how long things take.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "protocol/counter.h"
#include "protocol/hands.h"
#include "protocol/requests.h"
#include "rebalance/parcel.h"
#include "sim/parts.h"

#include <stdio.h>

enum {
    EXPLORE_RANKS = 8,
    EXPLORE_WORKERS = 32, /* of all ranks */
    EXPLORE_ITERATIONS = 5,
    EXPLORE_FUNCTIONS = 2, /* 0: payload is a key; 1: an index is the key */
    EXPLORE_PAYLOAD = 128, /* bytes at most */
    EXPLORE_STORES = 2,
    EXPLORE_TILES = 6,    /* of a store */
    EXPLORE_DOUBLES = 40, /* of a tile */
    EXPLORE_CALLS = 24    /* that a task may have under way */
};

enum explore_profile {
    EXPLORE_SMALL, /* four workers, twenty tasks, three iterations */
    EXPLORE_LARGE, /* more of everything */
    EXPLORE_STORM, /* few tasks that spawn many, soon stolen */
    EXPLORE_LEAN,  /* least buffers, and memory runs out */
    EXPLORE_PROFILES
};

/* What goes wrong on purpose, besides failing tasks. */
enum explore_fault {
    EXPLORE_NONE,
    EXPLORE_SIGNATURE, /* a rank has another signature */
    EXPLORE_FAIL,      /* a rank fails right after entering */
    EXPLORE_STOP,      /* a rank stops right after entering */
    EXPLORE_NO_MEMORY  /* allocations fail now and then */
};

struct explore_iteration {
    struct eki_sim_iteration plan;
    enum explore_fault fault;
    int fault_rank;
    int absent_percent;                   /* workers that never get a thread */
    bool is_late[EXPLORE_RANKS];          /* ranks that enter late ... */
    uint64_t late;                        /* ... by about so long */
    int seeds, ranges, departing, spawns; /* most of them, per rank */
    int pinned;                       /* of the seeds; most of them, per rank */
    int range_most;                   /* indices of a range */
    int spawn_permille;               /* of the tasks: spawn some, */
    int ops_most;                     /* ... or poll, so often */
    int fail_permille, stop_permille; /* of the tasks */
    int tile_permille, calls_most;    /* of the tasks: get, put, add */
    int wait_permille;  /* ... after each of these before the next */
    int leave_permille; /* of these: do not wait for what they start */
};

/* How long things take: mean times in nanoseconds. */
struct explore_law {
    bool is_fixed;       /* no time is random */
    uint64_t step, task; /* a step that moved something; a part of a task */
    uint64_t wait;       /* first look of who waits; later ones are rarer, */
    int growth;          /* ... by so many doublings each */
    uint64_t server;     /* until it looks at what has arrived */
    uint64_t most;       /* ... up to this */
    uint64_t serial;     /* the program's own code */
    uint64_t message, send;
    int tail_permille, tail; /* so many take TAIL times as long */
    int slow_rank;           /* takes SLOW times as long; -1: none */
    int slow;
    int pause_permille; /* workers and servers that stand still */
    uint64_t pause;
};

/* Stores of tiles; they come and go, and are synced, where ranks have waited
 * for each other. */
struct explore_tiling {
    int stores; /* 0: there are none */
    int tiles_most, length_most;
    int64_t cache_bytes;
    bool is_apart; /* ranks of a node reach each other by messages */
};

/* Data of tasks that travels; where its home is, it changes with each task that
 * runs. */
struct explore_travel {
    bool is_used, has_indices; /* those of ranges have data, too */
    bool unpacks, packs;       /* callbacks away; else tasks see the buffer */
    bool returns;              /* tasks have results */
    bool may_follow;
    int bytes_most;       /* of an input or a result */
    int64_t budget_bytes; /* 0: automatic */
    int fail_permille;    /* of the callbacks that may fail */
};

/* After an iteration a job saves, and another one, of RANKS, loads. */
struct explore_save {
    bool is_made;
    int death;   /* call of the disk at which a second save is cut; 0: none */
    int failure; /* a call before that fails, and it begins anew; 0: none */
    bool loses_power; /* then, too */
    bool asks_owner;  /* other ranks ask the program for homes of data */
    int ranks;
    int workers[EXPLORE_RANKS], nodes[EXPLORE_RANKS];
};

struct explore_scenario {
    uint64_t seed;
    enum explore_profile profile;
    int ranks, iterations;
    int workers[EXPLORE_RANKS], nodes[EXPLORE_RANKS];
    enum eki_deque_kind deque;
    int buffer_slots, payload_bytes;
    int send_buffers, message_slots, check_words;
    size_t late_bytes; /* rendezvous */
    bool has_server;
    bool is_loaded; /* seeds have been measured before */
    struct explore_tiling tiling;
    struct explore_travel travel;
    struct explore_law law;
    struct explore_iteration iteration[EXPLORE_ITERATIONS];
    struct explore_save save[EXPLORE_ITERATIONS];
};

/* What has been seen: what never is, is not tested. */
#define EXPLORE_SEEN(X)                      \
    X(tasks, "tasks")                        \
    X(indices, "indices")                    \
    X(pinned, "pinned")                      \
    X(lined, "found in lineups")             \
    X(spawned, "spawned")                    \
    X(kept, "kept")                          \
    X(discarded, "discarded")                \
    X(cancelled, "cancelled")                \
    X(failed, "failed")                      \
    X(stops, "stops")                        \
    X(continued, "continued")                \
    X(steals, "steals in the node")          \
    X(granted, "steals from other nodes")    \
    X(denied, "requests denied")             \
    X(loads_read, "loads of nodes read")     \
    X(nodes_denied, "nodes denied")          \
    X(occupied, "victims occupied")          \
    X(node_grants, "grants to nodes")        \
    X(cyclic, "grants to who is asked")      \
    X(claimed, "one-sided steals")           \
    X(in_vain, "one-sided steals in vain")   \
    X(brought, "brought to all")             \
    X(old, "requests of an old phase")       \
    X(early, "messages of the next phase")   \
    X(parts, "answers in several messages")  \
    X(drawn, "drawn from the counter")       \
    X(moved, "moved home")                   \
    X(balanced, "moved to balance")          \
    X(handed, "handed over")                 \
    X(absent, "workers without thread")      \
    X(late_ranks, "ranks that enter late")   \
    X(no_buffer, "waits for a send buffer")  \
    X(late, "sends that end when received")  \
    X(overtakes, "messages overtaken")       \
    X(pauses, "pauses")                      \
    X(polled, "iterations without a server") \
    X(waves, "waves")                        \
    X(restores, "restores")                  \
    X(stores, "stores made")                 \
    X(syncs, "stores synced")                \
    X(gets, "tiles got")                     \
    X(puts, "tiles put")                     \
    X(adds, "tiles added to")                \
    X(cached, "tiles in caches")             \
    X(pieces, "pieces of tiles")             \
    X(transfers_later, "waits for a place")  \
    X(transfers_left, "transfers left open") \
    X(fetched, "inputs fetched")             \
    X(ahead, "inputs fetched ahead")         \
    X(at_home, "tasks at home")              \
    X(returned, "results returned")          \
    X(kept_none, "no result of a task")      \
    X(in_pieces, "inputs in pieces")         \
    X(given, "results asked for")            \
    X(callbacks, "callbacks that fail")      \
    X(followed, "data that follows")         \
    X(hints, "hints that are not true")      \
    X(errors, "errors")                      \
    X(mismatches, "mismatches")              \
    X(no_memory, "memory ran out")           \
    X(saves, "saves")                        \
    X(saved_parts, "parts saved")            \
    X(dealt, "saves dealt to others")        \
    X(cut, "saves cut")                      \
    X(power, "... by the power")             \
    X(old_saves, "older saves loaded")       \
    X(adopted, "adopted tasks saved")        \
    X(asked, "homes told by the program")    \
    X(tiles_saved, "tiles saved")            \
    X(passed, "passed on without memory")    \
    X(walks, "walks to all tasks")

/* What is not drawn: policies; -1: they are. */
extern struct explore_fixed {
    int policy, detector;
} explore_fixed;

struct explore_seen {
#define EXPLORE_FIELD(name, text) int64_t name;
    EXPLORE_SEEN(EXPLORE_FIELD)
#undef EXPLORE_FIELD
    int64_t schedules, events, most_events;
    /* Longest time without progress, of what is allowed. */
    double longest;
};
extern struct explore_seen explore_seen;

enum task_state {
    TASK_NEW,     /* added, not yet in an iteration */
    TASK_PENDING, /* of an open iteration */
    TASK_RUNS,
    TASK_RAN,
    TASK_HELD, /* restored */
    TASK_DONE, /* ran in a part of an iteration that goes on */
    TASK_GONE
};

/* The data of a task. */
struct task_data {
    int32_t home;     /* rank; -1: that of its id */
    int32_t version;  /* of what its home has: tasks that have changed it */
    bool has_failed;  /* a callback for it has, in this iteration */
    int16_t packed;   /* iteration in which it was last; -1: never */
    void *object;     /* owned; its input, unpacked where it runs; or NULL */
    bool is_owed;     /* a result is on its way */
    bool is_packed;   /* ... and packed */
    bool is_released; /* it is on its way to a new home */
};

/* A task in a save. */
struct task_saved {
    uint64_t key;
    uint16_t bin;
    uint8_t deviation, flags, hold;
    bool is_there; /* and was not loaded yet */
    int32_t worker, place, home, departs_to;
};

struct task {
    struct task_data data;
    struct task_saved saved[2]; /* the last one, and one that may be cut */
    uint64_t id;
    uint64_t signature; /* of the phase that it is a task of */
    int32_t state, iteration;
    const char *place; /* where the walk has found it */
    uint16_t bytes;
    bool is_index, restores, discarded, hinted, pinned;
};

/* An iteration, over all ranks. */
struct tally {
    int entered, left, restored;
    int64_t pending; /* neither executed nor cancelled */
    int64_t owed;    /* results that are on their way */
    int64_t cancelled;
    int64_t discarded; /* as the restores say */
    bool may_cancel;
    bool goes_on;       /* with what was cancelled */
    bool lost_count;    /* a restore ran out of memory */
    int failing_worker; /* lowest one; -1: none */
    int failing_code;
    uint64_t failing_id;
    bool has_error, has_report;
    struct eki_error error;
    struct eki_balance_report report;
};

struct ledger {
    struct task *tasks;
    int64_t count, room;
    struct tally tally[EXPLORE_ITERATIONS];
    char failure[300]; /* "": none */
};

void ledger_open(struct ledger *ledger);
void ledger_fail(struct ledger *ledger, const char *format, ...)
    EKI_PRINTF(2, 3);
/* New tasks with consecutive keys and ids; the first key. */
int64_t ledger_add(struct ledger *ledger, int64_t n, const struct task *task);
/* The task of a key; a key that nobody added is a failure. */
struct task *ledger_find(struct ledger *ledger, int64_t key);
int64_t ledger_key(const struct eki_slot *slot);
/* Fill the payload of a task, or compare it. */
void ledger_fill(struct eki_slot *slot, int64_t key);
void ledger_compare(struct ledger *ledger, const struct eki_slot *slot);
/* A slot is a seed of ITERATION now. */
void ledger_enter(struct ledger *ledger, const struct eki_slot *slot,
                  int iteration);
/* ... of a phase of this signature. */
void ledger_sign(struct ledger *ledger, const struct eki_slot *slot,
                 uint64_t signature);
/* No result of the task is on its way any more. */
void ledger_settle(struct ledger *ledger, struct task *task);
void ledger_spawned(struct ledger *ledger, int64_t key, int iteration);
void ledger_begin(struct ledger *ledger, int64_t key, uint64_t id,
                  int iteration);
void ledger_end(struct ledger *ledger, int64_t key, bool discarded);
/* Somebody was told that ITERATION has ended. */
void ledger_done(struct ledger *ledger, int iteration, int ranks);
/* A slot is held by WORKER after the restore. */
void ledger_held(struct ledger *ledger, const struct eki_slot *slot,
                 int iteration, int worker, bool is_original);
/* All ranks have restored. */
/* What is done of an iteration that goes on. */
void ledger_keep(struct ledger *ledger, const struct eki_slot *slot,
                 int iteration);
void ledger_restored(struct ledger *ledger, int iteration);

/* What a worker does. */
struct explore_actor {
    int waits;   /* steps in vain, one after the other */
    int ops;     /* what its task will still do */
    int parts;   /* how often it will still take time */
    int calls;   /* of tiles, that it will still make */
    bool begins; /* it does not have its input yet */
    bool is_away;
    bool leaves; /* what it has started then */
    int heard;   /* iterations of which it has heard the end */
    int64_t key, cancelled;
    unsigned char copy[EXPLORE_PAYLOAD]; /* of the task's payload */
};

/* A tile, with what its values were begun to be, are known to be, and were at
 * the last sync. */
struct explore_tile {
    double begun[EXPLORE_DOUBLES], done[EXPLORE_DOUBLES];
    double synced[EXPLORE_DOUBLES];
    double saved[2][EXPLORE_DOUBLES]; /* as tasks are */
    int iteration;                    /* in which it was written last */
    int64_t putter; /* the task that put it then; -1: all may add */
    bool is_unsure; /* somebody has not waited */
};

struct explore_store {
    struct eki_sim_store *store; /* NULL: it is not there */
    uint64_t salt;
    int tiles, ranks, length_most;
    bool has_cache;
    uint32_t saved_number; /* it was made so late; 0: it was not saved */
    struct explore_tile tile[EXPLORE_TILES];
    /* The first value that a worker has made of a tile since the sync. */
    double own[EXPLORE_WORKERS][EXPLORE_TILES];
};

/* A call of a task. */
struct explore_call {
    int state;
    struct explore_store *store;
    struct eki_tile_call call;
    ek_transfer transfer;
    double values[EXPLORE_DOUBLES], least[EXPLORE_DOUBLES];
};

/* Those of a worker. */
struct explore_caller {
    bool waits; /* before it makes another */
    struct explore_call calls[EXPLORE_CALLS];
};

/* What a rank's callbacks are given, and know. */
struct explore_party {
    struct explore *explore;
    int rank;
    int64_t objects; /* unpacked inputs that are not freed */
};

/* Requests that a rank has got in a phase, and answered. */
struct explore_requests {
    int64_t taken, answered;
};

struct explore_member {
    int waits;
    int arrivals, present; /* workers sent; the one that surely comes */
    int spawns_left;
    enum eki_sim_state said; /* in the trace */
    uint64_t next_id;
    int64_t last_letter; /* that it has got */
    uint64_t forwarded;  /* phase of which its server has heard the end */
    uint64_t moved_to;   /* the last phase for which tasks were moved here */
    struct explore_requests requests[4]; /* by phase & 3 */
};

struct explore_break;

struct explore {
    const struct explore_scenario *scenario; /* NOW */
    struct explore_scenario now; /* as drawn, but for ranks after a load */
    /* Iterations between two saves; FIRST - 1 deals what was loaded, if so. */
    int first, last;
    bool deals, is_retained, data_stays, asks_owner;
    bool is_second;          /* the save that is written, or read */
    int dealing, away_count; /* ranks that deal; functions with data */
    bool stands;             /* what waits is among the seeds, to be dealt */
    struct eki_sim_iteration deal;
    int visited;    /* slots that a save or a load has seen */
    int departs_to; /* the rank to which the one that it sees departs, or -1 */
    struct eki_random random;
    struct eki_machine machine;
    struct eki_sim_setup setup;
    struct eki_sim_program program;
    struct eki_sim *sim;
    struct ledger ledger;
    struct explore_actor actors[EXPLORE_WORKERS];
    struct explore_member members[EXPLORE_RANKS];
    struct explore_store stores[EXPLORE_STORES];
    struct explore_caller callers[EXPLORE_WORKERS];
    struct explore_party parties[EXPLORE_RANKS];
    uint64_t announced[EXPLORE_RANKS]; /* per node: last phase */
    struct ek_worker *local[EXPLORE_RANKS][EXPLORE_WORKERS]; /* of a node */
    /* Whose event it is; worker NULL: the rank's host. */
    struct eki_sim_rank *rank;
    struct eki_sim_worker *worker;
    uint64_t progress_ns; /* when something got on */
    uint64_t deadline_ns; /* when something must get on, from then */
    bool is_traced;       /* events are printed */
    uint64_t hash;        /* of all that happened: when, where, what */
    bool is_thorough;     /* a walk to all tasks after every one */
    const struct explore_break *broken; /* what a test breaks on purpose */
    bool has_broken;
};

/* Draw what happens. */
void explore_draw(uint64_t seed, enum explore_profile profile,
                  struct explore_scenario *scenario);
/* Number of a profile, or -1. */
int explore_profile_of(const char *name);
extern const char *const explore_profile_names[EXPLORE_PROFILES];

/* Run a scenario; false: `ledger.failure` tells. */
bool explore_run(struct explore *explore,
                 const struct explore_scenario *scenario);
void explore_free(struct explore *explore);
/* For people: what was drawn ... */
void explore_print_scenario(const struct explore_scenario *scenario,
                            FILE *file);
/* ... and what each worker and server stands at. */
void explore_print(const struct explore *explore);

static inline uint64_t explore_below(struct explore *explore, int64_t n)
{
    return n <= 1 ? 0 : eki_random_below(&explore->random, (uint64_t)n);
}

static inline bool explore_chance(struct explore *explore, int permille)
{
    return (int)explore_below(explore, 1000) < permille;
}

static inline const struct explore_iteration *
explore_plan(const struct explore *explore, const struct eki_sim_rank *rank)
{
    return &explore->scenario->iteration[rank->iteration];
}

static inline struct tally *explore_tally(struct explore *explore,
                                          const struct eki_sim_rank *rank)
{
    return &explore->ledger.tally[rank->iteration];
}

static inline struct explore_actor *
explore_actor(struct explore *explore, const struct eki_sim_worker *worker)
{
    return &explore->actors[worker->actor];
}

/* Something got on. */
static inline void explore_progress(struct explore *explore)
{
    explore->progress_ns = explore->sim->now;
}

/* Something happened. */
static inline void explore_note(struct explore *explore, uint64_t what)
{
    explore->hash = (explore->hash ^ what) * 0x100000001b3u;
    explore->hash ^= explore->hash >> 29;
}

void explore_say(struct explore *explore, const char *format, ...)
    EKI_PRINTF(2, 3);
/* An event of a worker or host, after it. */
void explore_say_event(struct explore *explore);
void explore_say_message(struct explore *explore, const char *what,
                         const struct eki_message *message, int other);

/* Make the job of `now`, whose first iteration is FIRST. */
bool explore_open(struct explore *explore, int first);
/* After iteration `last` - 1: save, and open the job that has loaded. */
bool explore_save_and_load(struct explore *explore);
/* RANK has dealt what was loaded. */
void explore_dealt(struct explore *explore, const struct eki_sim_rank *rank);
int explore_count_nodes(const struct explore_scenario *scenario);

/* Whether RANK restores what was loaded. */
static inline bool explore_deals(const struct explore *explore,
                                 const struct eki_sim_rank *rank)
{
    return rank->iteration < explore->first;
}

/* Laws. */
uint64_t explore_pace(void *context, struct eki_sim_rank *rank,
                      enum eki_sim_pace what, uint64_t ns);
/* When whoever waits must have got on. */
uint64_t explore_deadline(const struct explore_scenario *scenario);

/* Tasks. */
void explore_add_tasks(struct explore *explore, struct eki_sim_rank *rank,
                       int share);
uint64_t explore_task(void *context, struct eki_sim_worker *worker,
                      bool begins);

/* Stores.  While no rank is in a phase: make, destroy, change, sync. */
void explore_change_stores(struct explore *explore);
void explore_destroy_stores(struct explore *explore);
/* They go through a save: are written, and changed before another one ... */
void explore_note_stores(struct explore *explore);
void explore_change_values(struct explore *explore);
/* ... and made by ranks that load, and have been read. */
void explore_open_saved_stores(struct explore *explore);
void explore_check_saved_stores(struct explore *explore);
/* An iteration has ended, and no rank has entered the next one. */
void explore_check_stores(struct explore *explore);
/* Where a tile lies. */
double *explore_tile_values(const struct explore_store *store, int64_t tile);
/* The task of WORKER gets, puts or adds ... */
void explore_call_tile(struct explore *explore, struct eki_sim_worker *worker);
/* ... and whether it has to wait before it goes on, or (IS_LAST) ends. */
bool explore_waits_for_tiles(struct explore *explore,
                             struct eki_sim_worker *worker, bool is_last);
/* It ends; whether it has left transfers open. */
bool explore_leave_tiles(struct explore *explore,
                         struct eki_sim_worker *worker);

/* Data that travels. */
void explore_open_data(struct explore *explore);
/* The task of WORKER begins, or looks again: EKI_DATA_WAITS, or as it says. */
enum eki_data_begun explore_begin_data(struct explore *explore,
                                       struct eki_sim_worker *worker);
/* It ends, having changed its data or (not IS_GOOD) not. */
void explore_end_data(struct explore *explore,
                      const struct eki_sim_worker *worker, bool is_good);
/* All ranks but those that wait have heard the end of ITERATION ... */
void explore_check_returned(struct explore *explore,
                            const struct eki_sim_rank *rank);
/* ... and RANK has left it. */
void explore_check_data(struct explore *explore,
                        const struct eki_sim_rank *rank);
/* Its restore is over, and the data of what it holds is here. */
void explore_check_followed(struct explore *explore,
                            const struct eki_sim_rank *rank);
/* A failure, or a stop, of a task that cannot be told from its code. */
void explore_note_failure(struct explore *explore,
                          const struct eki_sim_worker *worker, int code);

static inline bool explore_has_data(const struct explore *explore)
{
    return explore->scenario->travel.is_used;
}

static inline bool explore_has_tiles(const struct explore *explore)
{
    return explore->scenario->tiling.stores > 0;
}

/* Whether a message carries tasks. */
static inline bool explore_is_tasks(const struct explore *explore,
                                    const struct eki_message *message)
{
    return eki_engine_verb(explore->sim->ranks[0].engine, message->head.kind)
        ->has_slots;
}

static inline bool explore_draws(const struct eki_engine *engine)
{
    return engine->scheme && engine->scheme->policy == EK_STEAL_COUNTER;
}

/* What a worker asks of other nodes; NULL: there are none. */
static inline struct eki_asker *explore_asker(const struct ek_worker *worker)
{
    if (worker->engine->alone)
        return NULL;
    return &eki_requests_of(worker->engine)->askers[worker->here];
}

/* Its answers: 0 denied, 1 granted. */
static inline int64_t explore_answers(const struct ek_worker *worker,
                                      int answer)
{
    const struct eki_asker *asker = explore_asker(worker);
    /* relaxed: there is one thread. */
    return asker ? (int64_t)atomic_load_explicit(&asker->answers[answer],
                                                 memory_order_relaxed)
                 : 0;
}

/* What a worker has asked. */
static inline int64_t explore_asked(const struct ek_worker *worker)
{
    const struct eki_asker *asker = explore_asker(worker);
    return asker ? (int64_t)asker->asked : 0;
}

/* What must hold. */
void explore_check_event(struct explore *explore);
/* ... of where tasks are. */
void explore_check_all(struct explore *explore);
/* ... and that what nodes note of each other is so. */
void explore_check_marks(struct explore *explore);
/* For breaks: a node forgets who waits for its tasks. */
bool explore_forget_guest(struct explore *explore);
void explore_check_end(struct explore *explore);
void explore_check_left(struct explore *explore, struct eki_sim_rank *rank,
                        const struct eki_error *error);
void explore_check_held(struct explore *explore, struct eki_sim_rank *rank);
void explore_check_sent(void *context, struct eki_sim_rank *rank,
                        const struct eki_message *message, int to);
void explore_check_received(void *context, struct eki_sim_rank *rank,
                            const struct eki_message *message);
/* Cancelled tasks are known by the counts of who cancels. */
void explore_note_counts(struct explore *explore,
                         struct eki_sim_worker *worker);

/* What a test breaks, once, to see that it is found. */
struct explore_break {
    const char *name;
    /* True: it is broken now.  After an event ... */
    bool (*after)(struct explore *explore);
    /* ... or when a rank has restored ... */
    bool (*restored)(struct explore *explore, struct eki_sim_rank *rank);
    bool is_late;         /* to be found without a walk to all tasks */
    const char *expected; /* in the failure */
    /* ... or when a message is sent. */
    bool (*sent)(const struct eki_message *message);
};
/* Where no data travels, and where some does. */
extern const struct explore_break explore_breaks[], explore_data_breaks[];

#endif
