/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one-sided: stealing between nodes without the victim, which goes on with its
 * task: thieves work on the memory that it exports (fabric/rma.h).
 *
 * Each rank exports words and a *ring* of tasks, which its server fills from
 * the deques of its node, like any claimant, and takes tasks back from when
 * workers there have none.  Two *manners* say by which operations tasks are
 * claimed: sws.c and sdc.c.  Common to both, for a thief:
 *
 *     READ   the words, if the victim was not looked at in this phase; with
 *            sws also after attempts in vain
 *     ...    claim a block, as the manner says
 *     GET    its tasks; twice, where the ring ends within
 *     ADD    their number to what was copied; nobody waits for this one
 *
 * Nothing waits: a step of the server starts an operation, or looks whether one
 * is done.  A worker has one steal under way at a time.
 *
 * Phases.  The ring has two halves, for even and for odd phases: by the half
 * that a block lies in a thief knows of which phase it is.  Before it claims
 * anything it has read the victim's *stamp*, which tells phase and signature.
 * An operation may be done when its phase is over: what it has claimed is then
 * of the next phase, and waits in the thief's memory until that is entered.
 * Tasks in a ring, or on their way, are created and not executed, so no phase
 * ends without them.
 *
 * Paper: Cartier, Dinan, Larkins, ICPP 2021; there each process is a worker and
 * fills its own queue.
 */
#ifndef EKI_PROTOCOL_ONE_SIDED_H
#define EKI_PROTOCOL_ONE_SIDED_H

#include "protocol/asker.h"
#include "protocol/sws_word.h"

/* Words that each rank exports. */
enum {
    EKI_WORD_SWS,
    EKI_WORD_LOCK,   /* sdc: 1 while somebody holds it */
    EKI_WORD_TAIL,   /* sdc: phase, and position of the oldest task */
    EKI_WORD_SPLIT,  /* ... of the first one that is not shown */
    EKI_WORD_STAMPS, /* of even phases, and of odd ones */
    /* What was copied, ever: for each epoch and block; sdc: the first alone. */
    EKI_WORD_COPIED = 8,
    EKI_ONE_SIDED_WORDS =
        EKI_WORD_COPIED + EKI_SWS_EPOCHS_MAX * EKI_SWS_BLOCKS_MAX
};

/* Lowest bits of the phase above a position. */
#define EKI_SDC_PHASE_SHIFT 48

/* Slots of half of a ring at most, of so many bytes: the word of sws has room
 * for both halves, and a get for a block, which has half of the slots at most.
 */
static inline int64_t eki_ring_slots_most(size_t slot_bytes)
{
    int64_t by_word = 1 << 18;
    int64_t by_get = EKI_RMA_BYTES_MOST / (int64_t)slot_bytes * 2;
    return by_get < by_word ? by_get : by_word;
}

/* Bytes of both halves. */
static inline size_t eki_one_sided_bytes(const struct eki_setup *setup)
{
    return 2 * (size_t)setup->buffer_slots * eki_setup_slot_bytes(setup);
}

/* What an operation of a steal is for. */
enum eki_steal_stage {
    EKI_STEAL_NONE, /* no steal is under way */
    EKI_STEAL_LOOK,
    EKI_STEAL_CLAIM, /* sws */
    EKI_STEAL_LOCK,  /* sdc: from here to UNLOCK it may have the lock */
    EKI_STEAL_READ,
    EKI_STEAL_TAIL,
    EKI_STEAL_UNLOCK,
    EKI_STEAL_GET,
    EKI_STEAL_WRAP, /* the part at the beginning of the ring */
    EKI_STEAL_HERE, /* no operation: the tasks may be of the next phase */
    EKI_STEAL_COPIED
};

struct eki_manner;

/* A steal for a worker; written by the server. */
struct eki_steal {
    const struct eki_manner *manner; /* of the phase in which it began */
    enum eki_steal_stage stage;
    int ticket; /* -1: the operation is to be started */
    int rank;   /* the victim */
    uint64_t since;
    struct eki_rma_operation next;
    uint32_t first, count;       /* slots of the victim; 0: none is claimed */
    size_t copied;               /* the word that is told so */
    struct eki_message *message; /* room for the largest block; its count: how
                                    many of the slots are still here */
};

/* What an operation of the owner is for. */
enum eki_ring_stage {
    EKI_RING_REST,  /* there is none */
    EKI_RING_RENEW, /* a phase begins */
    EKI_RING_LOOK,
    EKI_RING_COPIED, /* sees what was copied of an epoch */
    EKI_RING_SHOW,
    EKI_RING_CLOSE, /* from here on tasks are hidden: sws */
    EKI_RING_LOCK,  /* sdc: from here on the owner may have its lock */
    EKI_RING_READ,
    EKI_RING_LOWER,
    EKI_RING_UNLOCK
};

/*
 * The own ring; written by the server.  Positions count the tasks of a phase:
 * tail <= split <= end.  Those before the split are shown: of them those before
 * the tail are known to be claimed.  Those behind it are hidden, and the last
 * BACK of them go back to the workers.
 */
struct eki_ring {
    const struct eki_manner *manner; /* of its phase */
    enum eki_ring_stage stage;
    int ticket;
    struct eki_rma_operation next;
    uint64_t phase;
    uint64_t tail, split, end, back;
    int renewed; /* words */
    int epoch;   /* of what is shown */
    int looked;  /* the epoch that is looked at */
    uint64_t look_after;
    int early; /* the word from which on the last step wanted to look, before
                  that; -1: none */
    /* Of each epoch; sdc: of the first. */
    uint64_t claimed[EKI_SWS_EPOCHS_MAX]; /* ever */
    uint64_t begin[EKI_SWS_EPOCHS_MAX];   /* the first that may be being copied,
                                             UINT64_MAX: none of this phase */
    bool is_copied[EKI_SWS_EPOCHS_MAX];
};

/* The owner looks at its own words so often at most. */
#define EKI_OWNER_LOOKS_NS UINT64_C(5000)

/* After so many attempts in vain a thief looks before it claims, whatever the
 * damping is. */
#define EKI_EMPTIES_MOST UINT32_MAX

/* What a thief knows of a rank. */
struct eki_seen {
    uint32_t phase;   /* it was looked at, and trusted */
    uint32_t empties; /* attempts in vain since the last success */
};

struct eki_one_sided {
    struct eki_protocol protocol;
    struct eki_rma *rma;
    const struct eki_manner *manner; /* of the phase; NULL: another scheme */
    struct eki_asker *askers;        /* [workers_here] */
    /* Written by the server. */
    struct eki_steal *steals;              /* [workers_here] */
    struct eki_seen *seen;                 /* [size] */
    int under_way;                         /* steals */
    int late[EKI_RMA_TICKETS], late_count; /* tickets nobody waits for */
    uint32_t slots;                        /* of half of a ring */
    uint32_t epochs, damping;
    uint64_t now; /* when the step began */
    struct eki_ring ring;
    /* Written by workers that ask and by the server: asks not fetched yet. */
    _Alignas(EKI_LINE) _Atomic int asks;
};

/* How tasks are claimed. */
struct eki_manner {
    /* Thief: look before a claim after as many attempts in vain as the damping
     * says. */
    bool is_damped;
    /* How many WORDS show. */
    uint32_t (*shown)(const struct eki_one_sided *side, const uint64_t *words);
    /* Thief: begin to claim; go on, after BEFORE was found. */
    void (*claim)(struct eki_one_sided *side, struct eki_steal *steal);
    void (*go_on)(struct eki_one_sided *side, struct eki_steal *steal,
                  const uint64_t *before);
    /* Owner: show all that is hidden; false: not now. */
    bool (*show)(struct eki_one_sided *side);
    /* ... begin to hide what is shown; go on. */
    void (*hide)(struct eki_one_sided *side);
    void (*hidden)(struct eki_one_sided *side, const uint64_t *before);
};

extern const struct eki_manner eki_sws, eki_sdc;
extern const struct eki_protocol_ops eki_one_sided_ops;

/* An operation on a word of RANK. */
static inline struct eki_rma_operation
eki_on_word(enum eki_rma_kind kind, int rank, int word, uint64_t value)
{
    return (struct eki_rma_operation){
        .kind = kind, .rank = rank, .at = (size_t)word, .value = value};
}

/* Read the words before EKI_WORD_COPIED of RANK. */
static inline struct eki_rma_operation eki_look(int rank)
{
    return (struct eki_rma_operation){
        .kind = EKI_RMA_READ, .rank = rank, .words = EKI_WORD_COPIED};
}

/* The slot of a position in a phase. */
static inline uint32_t eki_ring_slot(const struct eki_one_sided *side,
                                     uint64_t phase, uint64_t position)
{
    return (uint32_t)(phase & 1) * side->slots +
           (uint32_t)(position % side->slots);
}

/* The next operation of STEAL. */
static inline void eki_steal_next(struct eki_steal *steal,
                                  enum eki_steal_stage stage,
                                  struct eki_rma_operation operation)
{
    steal->stage = stage;
    steal->next = operation;
}
/* A block is claimed, of so many slots from FIRST on: get it. */
void eki_steal_get(struct eki_one_sided *side, struct eki_steal *steal);
/* ... COUNT slots from FIRST on, behind the first DONE of the block. */
void eki_steal_get_part(struct eki_one_sided *side, struct eki_steal *steal,
                        uint32_t first, uint32_t count, uint32_t done);
/* How many of its slots lie before the end of the ring. */
uint32_t eki_steal_side_by_side(const struct eki_one_sided *side,
                                const struct eki_steal *steal);
/* It has ended, with tasks or without. */
void eki_steal_note_end(struct eki_one_sided *side, struct eki_steal *steal,
                        bool is_granted);
/* There was nothing. */
void eki_steal_in_vain(struct eki_one_sided *side, struct eki_steal *steal);

/* The next operation of the owner. */
static inline void eki_ring_next(struct eki_one_sided *side,
                                 enum eki_ring_stage stage,
                                 struct eki_rma_operation operation)
{
    side->ring.stage = stage;
    side->ring.next = operation;
}
/* Of the tasks that are shown REST are left. */
void eki_ring_learn(struct eki_one_sided *side, uint64_t rest);
/* What was put into the ring is seen by whoever sees a word that changes now.
 */
static inline void eki_ring_sync(const struct eki_one_sided *side)
{
    if (!EKI_PLANTED(UNSYNCED))
        side->rma->ops->sync(side->rma);
}
/* The first position whose slot may be being copied, or is not claimed. */
uint64_t eki_ring_oldest(const struct eki_ring *ring);
/* How many of so many tasks go back to the workers. */
uint64_t eki_ring_part(const struct eki_one_sided *side, uint64_t tasks);
/* Whether the owner may look at words from FIRST on now, which it does then. */
bool eki_ring_may_look(struct eki_one_sided *side, int first);
/* Look what was copied of EPOCH; false: not now. */
bool eki_ring_look(struct eki_one_sided *side, int epoch);
/* Start an operation of the owner, or go on; false: nothing to do now. */
bool eki_ring_step(struct eki_one_sided *side);
/* Start OPERATION; false: not now. */
bool eki_one_sided_start(struct eki_one_sided *side,
                         const struct eki_rma_operation *operation,
                         int *ticket);
/* Whether the operation is done: *TICKET is -1. */
bool eki_one_sided_test(struct eki_one_sided *side, int *ticket,
                        uint64_t before[EKI_RMA_WORDS]);
/* What the stamp of this phase is. */
uint64_t eki_one_sided_stamp(const struct eki_engine *engine);

static inline struct eki_one_sided *
eki_one_sided_of(const struct eki_engine *engine)
{
    return (struct eki_one_sided *)eki_engine_protocol(engine,
                                                       &eki_one_sided_ops);
}
/* For a job of several nodes with exported memory. */
ek_status eki_one_sided_add(struct eki_engine *engine);

/* Whether a lock of sdc, the own one or a victim's, is held from here, or is
 * about to be. */
bool eki_one_sided_holds_lock(const struct eki_one_sided *side);

/* When the owner, who waits for that, looks at its own words from *FIRST on;
 * UINT64_MAX: it does not wait; while nobody steps the engine. */
uint64_t eki_one_sided_due(const struct eki_engine *engine, int *first);

/* A broken invariant in words, or NULL; while nobody steps the engine. */
const char *eki_one_sided_check(const struct eki_engine *engine);

#endif
