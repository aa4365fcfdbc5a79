/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookout: a thread of the process that looks at the open calls of its
 * collections, and says what they wait for where nothing moves (engine/look.h).
 * It sleeps but for some looks per stall_ms, calls no MPI, and runs also where
 * all other threads are inside tasks or blocking calls of MPI.
 *
 * On rank 0 it also writes the status line (option status): how far an
 * iteration is (engine/headway.h).
 *
 * A call says where it stands; the thread that calls waits while the lookout
 * looks, some microseconds, or as long as the sink takes a line.
 */
#ifndef EKI_TEAM_LOOKOUT_H
#define EKI_TEAM_LOOKOUT_H

#include "base/options.h"
#include "engine/look.h"

struct eki_team;

/* Where the thread that calls stands. */
enum eki_stage {
    EKI_STAGE_OUTSIDE,    /* nothing to look at */
    EKI_STAGE_CALL,       /* in a call, not in a phase */
    EKI_STAGE_PHASE,      /* the engine is in a phase */
    EKI_STAGE_LOOKING = 8 /* a bit beside these: somebody looks */
};

/* By what somebody asks for the stop of a phase. */
#define EKI_ASKED_SIGNAL 1u
#define EKI_ASKED_TIME 2u
/* ... or of a part, after which a checkpoint is written. */
#define EKI_ASKED_SAVE 4u

/* Of one collection. */
struct eki_lookout {
    uint64_t entered_ns; /* the call that is open; by the thread that calls */
    struct eki_look look;
    struct eki_team *team; /* NULL: not made yet */
    int64_t status_s;      /* the option, on rank 0; else 0 ... */
    uint64_t status_ns;    /* ... and when that line was written last */
    unsigned signals;      /* the option as a set */
    uint64_t stop_ns;      /* to stop at; 0: never */
    uint64_t save_ns;      /* to pause at for a checkpoint; 0: never */
    uint64_t looked_ns;    /* as stall_ns wants it */
    struct eki_slept slept;
    unsigned stops, tells; /* so often that was asked for and is answered */
    uint64_t answered_ns;  /* when a stop by signal was, last; 0: none */
    unsigned asked;        /* EKI_ASKED_, in this phase, for its stop */
    /* Written by the thread that calls, and by the lookout while it looks. */
    _Atomic int stage;
    struct eki_lookout *next; /* under the mutex of all */
};

/* Take part from now on, in CALLED; the ranks of the look are set.  When
 * MPI_Finalize() begins, which frees what ranks share, nobody is looked at any
 * more. */
void eki_lookout_open(struct eki_lookout *lookout,
                      const struct eki_settings *settings,
                      enum eki_called called);
/* The team is made; EK_ERR_NOMEM without memory. */
ek_status eki_lookout_join(struct eki_lookout *lookout, struct eki_team *team);
/* Before the team is destroyed; again is harmless. */
void eki_lookout_close(struct eki_lookout *lookout);
/* Options have changed; outside of calls. */
void eki_lookout_set(struct eki_lookout *lookout,
                     const struct eki_options *options);

/* Stop phases from then on, NS from now; 0: no more; outside of calls. */
void eki_lookout_stop_at(struct eki_lookout *lookout, uint64_t ns);
/* A phase begins: it is stopped at once if somebody has asked for that. */
EKI_COLD void eki_lookout_hear(struct eki_lookout *lookout);
/* A phase was stopped as ASKED, by whichever rank; it has been left. */
void eki_lookout_answer(struct eki_lookout *lookout, unsigned asked);

/* The phase that is entered next pauses at NS for a checkpoint; 0: it does not.
 */
void eki_lookout_save_at(struct eki_lookout *lookout, uint64_t ns);

/* The longest time between two looks. */
#define EKI_LOOK_PERIOD_NS UINT64_C(250000000)
/* In looks.c, for lookout.c, all under its mutex: tell, show and stop what is
 * to be told, shown and stopped now. */
void eki_lookout_look(struct eki_lookout *lookout);
/* Stop the phase that begins if somebody has asked for that. */
void eki_lookout_listen(struct eki_lookout *lookout);
/* Whether somebody may ask for something. */
bool eki_lookout_is_asked(const struct eki_lookout *lookout);
/* The time between two looks that a collection wants. */
uint64_t eki_lookout_period(const struct eki_lookout *lookout);
/* Others of the node see that this process was alive at MS, unless it does not
 * say, and what its clock showed.  Returns the ms since it did last, or 0. */
uint64_t eki_lookout_show_life(const struct eki_lookout *lookout, uint64_t ms);

/* Call END when MPI_Finalize() has begun, on the thread that calls it.  What
 * the library keeps with MPI_COMM_SELF has ended before. */
void eki_lookouts_at_end(void (*end)(void));
/* Whether MPI_Finalize() has begun, as far as it is noticed: true where it is
 * not. */
bool eki_lookouts_are_over(void);

/* Move from stage OLD, when nobody looks any more. */
EKI_COLD void eki_lookout_await(struct eki_lookout *lookout, int old,
                                enum eki_stage stage);

/* Nothing that a look in the stage before needs has changed yet. */
static inline void eki_lookout_move(struct eki_lookout *lookout,
                                    enum eki_stage stage)
{
    /* relaxed: the exchange orders. */
    int old = atomic_load_explicit(&lookout->stage, memory_order_relaxed) &
              ~EKI_STAGE_LOOKING;
    int expected = old;
    /* release: pairs with the acquire in begin_look().  acquire: pairs with the
     * release at the end of a look, which is awaited. */
    if (EKI_UNLIKELY(!atomic_compare_exchange_strong_explicit(
            &lookout->stage, &expected, (int)stage, memory_order_acq_rel,
            memory_order_relaxed)))
        eki_lookout_await(lookout, old, stage);
}

/* A process has been entered. */
static inline void eki_lookout_begin(struct eki_lookout *lookout)
{
    if (EKI_UNLIKELY(lookout->signals != 0 || lookout->stop_ns != 0))
        eki_lookout_hear(lookout);
    eki_lookout_move(lookout, EKI_STAGE_PHASE);
}

static inline void eki_lookout_go_outside(struct eki_lookout *lookout)
{
    /* relaxed: outside nobody but this thread writes it. */
    if (atomic_load_explicit(&lookout->stage, memory_order_relaxed) !=
        EKI_STAGE_OUTSIDE)
        eki_lookout_move(lookout, EKI_STAGE_OUTSIDE);
}

static inline void eki_lookout_enter(struct eki_lookout *lookout,
                                     enum eki_called called, int64_t iteration)
{
    eki_lookout_go_outside(lookout);
    lookout->entered_ns = eki_clock_ns();
    eki_look_enter(&lookout->look, called, iteration, lookout->entered_ns);
    /* release: pairs with the acquire in begin_look(). */
    atomic_store_explicit(&lookout->stage, EKI_STAGE_CALL,
                          memory_order_release);
}

static inline void eki_lookout_leave(struct eki_lookout *lookout, uint64_t now)
{
    eki_lookout_go_outside(lookout);
    eki_look_leave(&lookout->look, now);
}

#endif
