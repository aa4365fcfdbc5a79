/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of data only. */
#ifndef EKI_DATA_INTERNAL_H
#define EKI_DATA_INTERNAL_H

#include "data/data.h"
#include "engine/decode.h"
#include "exchange/tickets.h"

#include <string.h>

/* What the body of an INPUT begins with. */
struct eki_data_words {
    uint64_t id;   /* of the task */
    int64_t total; /* bytes of the input; or why there is none */
};

enum {
    EKI_INPUT_FAILED = -1,   /* pack_input has said so */
    EKI_INPUT_TOO_LONG = -2, /* ... or has returned more than bytes_max */
    EKI_INPUT_NO_MEMORY = -3 /* its home has none */
};

/* The first RESULT of an operation, in head.detail; of others: the offset. */
enum eki_result {
    EKI_RESULT_SHORT = -1, /* all of it */
    EKI_RESULT_LONG = -2   /* head.count bytes are to come */
};

/*
 * Whose turn it is with an operation:
 *
 *     FREE  -> ASKED  worker  stages its task, or begins it
 *                     server  in a restore: its task has moved
 *     ASKED -> HERE   server  all of INPUT has come, or why there is none
 *           -> FREE   server  ... in a restore
 *     HERE  -> RUNS   worker  its task begins
 *           -> FREE   worker  ... and cannot
 *     RUNS  -> ENDED  worker  its task has a result
 *           -> FREE   worker  ... has none
 *     ENDED -> FREE   server  KEPT has come
 *     any   -> FREE   who enters: of the last phase, or destroys
 */
enum eki_data_state {
    EKI_DATA_FREE,
    EKI_DATA_ASKED, /* server: the input is to come */
    EKI_DATA_HERE,  /* worker: it has, or will not */
    EKI_DATA_RUNS,  /* worker: the task runs */
    EKI_DATA_ENDED  /* server: the result is on its way */
};

/* The data of one task that is away, from ASK to KEPT. */
struct eki_data_op {
    _Atomic int state;     /* enum eki_data_state; says who writes the rest */
    uint32_t number;       /* of all that the worker has begun, and its place */
    int home;              /* rank */
    struct eki_slot *slot; /* a copy, of the carrier */
    const ek_data_ops *ops;
    unsigned char *buffer; /* of the input, then of the result; NULL: none */
    void *object;          /* RUNS */
    int64_t room;          /* charged to the carrier for it */
    int64_t total;         /* bytes; of an input, too: why there is none */
    int64_t moved;         /* bytes that have come, or gone */
    uint64_t since;        /* when it was asked for */
    uint64_t expected_ns;  /* that a staged task will take; 0: it is not */
    bool is_sent, is_given;
    struct eki_slot *seed; /* of a restore: where its home is noted */
};

/* A worker's side. */
struct eki_carrier {
    struct eki_data *data;
    struct ek_worker *worker;
    /* Written by the worker. */
    _Alignas(EKI_LINE) int staged;
    uint8_t places[EKI_STAGED_MOST]; /* of these, in their order */
    uint64_t staged_ns;              /* that their tasks will take, about */
    uint64_t waits_since;            /* the task that begins; 0: it does not */
    int at_home;                     /* so many of the next tasks are */
    struct eki_data_op *running;     /* of the task that runs; NULL: at home */
    int64_t travelled;               /* tasks of the phase ... */
    struct eki_data_size
        *sizes; /* [size_count] ... and, recorded, their bytes */
    int64_t size_count, size_room;
    unsigned char *slots; /* [EKI_DATA_OPS_MOST + 1]; the last: spare */
    struct eki_data_op ops[EKI_DATA_OPS_MOST];
    /* Bytes of all operations; written by both. */
    _Alignas(EKI_LINE) _Atomic int64_t bytes;
    /* Written by the server: from asking to the arrival, lately. */
    _Atomic uint64_t fetch_ns;
};

/* Whose an operation is. */
struct eki_data_to {
    int rank, worker;
    uint32_t op;
};

/* What another rank's worker has asked this one for, or returns to it. */
struct eki_guest {
    struct eki_guest *next;
    struct eki_data_to from;
    bool is_new;    /* an ASK: its rank becomes the home */
    bool is_packed; /* an ASK: its input is in the buffer, if there is one */
    bool is_given;  /* a RESULT: it may be sent */
    unsigned char *buffer;
    int64_t room; /* bytes that it is charged for */
    int64_t total, moved;
    _Alignas(16) unsigned char slot[];
};

struct eki_guests {
    struct eki_guest *first, **last;
    int64_t bytes; /* of their buffers */
};

/* GIVE and KEPT that are to be sent. */
struct eki_data_answer {
    int kind;
    struct eki_data_to to;
};

/* What brings data of seeds in a restore. */
struct eki_follower {
    bool is_wanted; /* by the next restore */
    bool is_open;
    bool is_kept;          /* the phase does not end before it has */
    int here;              /* whose seeds are looked at, */
    unsigned char *at;     /* ... and from where on; NULL: from the first */
    struct eki_slot *seed; /* is asked for next; NULL: the next one */
    int64_t asked;         /* whose data is on its way */
};

enum {
    EKI_BUFFER_CLASSES = 4 * 31 + 1 /* up to 2^31 bytes */
};

struct eki_buffer;

/* Memory of inputs and results; any thread, under the lock. */
struct eki_buffers {
    _Alignas(EKI_LINE) _Atomic int lock;
    struct eki_buffer *free[EKI_BUFFER_CLASSES];
    int64_t bytes; /* of all, free or not */
};

/* One rank's view; written by the thread that enters, then by the server. */
struct eki_data {
    struct eki_protocol protocol;
    struct eki_data_setup setup;
    ek_data_ops *ops; /* [op_room], by function; struct_bytes 0: none */
    /* [op_room]: how long data of each comes and goes (engine/away.h); written
     * by the server. */
    _Atomic int64_t *away_ns;
    int op_room;
    int64_t bytes_max;       /* of all functions */
    int64_t part, home_part; /* of the budget: for a worker, for the home */
    struct eki_carrier *carriers; /* [workers_here] */
    struct eki_guests asks, results;
    struct eki_queue answers; /* struct eki_data_answer */
    struct eki_outbox outbox;
    struct eki_tickets tickets;
    struct eki_follower follower;
    struct eki_data_counts counts;
    /* Bytes held, and the most of them; written by workers, too. */
    _Alignas(EKI_LINE) _Atomic int64_t held, held_most;
    struct eki_buffers buffers;
};

/* Before and after a call of the program. */
static inline void eki_data_enter(const struct eki_data *data)
{
    if (data->setup.enter)
        data->setup.enter(data->setup.user);
}

static inline void eki_data_leave(const struct eki_data *data,
                                  struct ek_worker *worker)
{
    if (data->setup.leave)
        data->setup.leave(data->setup.user, worker);
}

static inline void eki_data_unpack(const struct eki_data *data,
                                   const ek_data_ops *ops, const ek_task *task,
                                   const void *buffer, size_t bytes)
{
    eki_data_enter(data);
    ops->unpack_result(task, buffer, bytes, ops->context);
    eki_data_leave(data, NULL);
}

/* Bytes of all parts. */
static inline int64_t eki_data_budget(const struct eki_data *data)
{
    return data->home_part +
           data->part * data->protocol.engine->topology->workers_here;
}

/* A buffer, aligned to EKI_LINE; NULL: no memory. */
unsigned char *eki_buffer_take(struct eki_data *data, size_t bytes);
/* It is not needed any more; NULL: nothing. */
void eki_buffer_give(struct eki_data *data, unsigned char *bytes);
/* Of BYTES only the first COUNT are needed: in a shorter buffer; false: it is
 * as it was. */
bool eki_buffer_cut(struct eki_data *data, unsigned char **bytes, size_t count);
void eki_buffers_free(struct eki_data *data);

/* Of an engine that has joined. */
static inline struct eki_data *eki_data_of(const struct eki_engine *engine)
{
    return (struct eki_data *)engine->channels[EKI_CHANNEL_DATA];
}

static inline int eki_op_state(const struct eki_data_op *op)
{
    /* acquire: pairs with the release in eki_op_set(): what the other side has
     * written. */
    return atomic_load_explicit(&op->state, memory_order_acquire);
}

static inline void eki_op_set(struct eki_data_op *op, int state)
{
    /* release: pairs with the acquire in eki_op_state(). */
    atomic_store_explicit(&op->state, state, memory_order_release);
}

/* Bytes of the rank are in use from now on, or no more. */
void eki_data_charge(struct eki_data *data, int64_t bytes);

/* Start to ask for the data of SLOT, of a staged task that will take
 * EXPECTED_NS, or of another: 0; NULL: no free place, or no memory. */
struct eki_data_op *eki_carrier_ask(struct eki_carrier *carrier,
                                    const struct eki_slot *slot, uint64_t now,
                                    uint64_t expected_ns);
/* The server has to send something for an operation. */
static inline void eki_carrier_want(const struct eki_carrier *carrier,
                                    const struct eki_data_op *op)
{
    eki_ticket_want(&carrier->data->tickets, carrier->worker->here,
                    (int)(op - carrier->ops));
}
/* Nothing of it is needed any more. */
void eki_carrier_free(struct eki_carrier *carrier, struct eki_data_op *op);
/* Why there is no input, or no object. */
#define EKI_CARRIER_SAYS 96 /* bytes */
void eki_carrier_say(const struct eki_data_op *op, char *text);
/* Write to TEXT that the task with this payload has no block at home, on RANK.
 */
void eki_block_say(const void *payload, size_t bytes, int rank, char *text);
/* The block of the task that WORKER runs at home; address NULL, and 0 bytes:
 * none. */
struct eki_data_block {
    void *address; /* borrowed */
    int64_t bytes;
};
struct eki_data_block eki_block_here(const struct ek_worker *worker);
/* A recorded task has ended, whose data travelled. */
void eki_carrier_note(struct eki_carrier *carrier, uint64_t id, int64_t input,
                      int64_t result);
/* The task that WORKER runs has ended. */
bool eki_carrier_end(struct eki_protocol *protocol, struct ek_worker *worker);

static inline int64_t eki_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes that fit a message behind WORDS. */
static inline int64_t eki_data_room(const struct eki_data *data, int64_t words)
{
    return eki_exchange_room(&data->protocol.engine->exchange) - words;
}
/* A message about operation OP of WORKER, with WORDS before COUNT bytes; NULL:
 * no buffer. */
struct eki_message *eki_data_reserve(struct eki_data *data, int kind,
                                     int64_t words, int64_t count);
/* Send it with its bytes FROM somewhere, of operation OP of WORKER; MORE is
 * right behind it. */
void eki_data_post(struct eki_data *data, struct eki_message *message,
                   const unsigned char *from, const struct eki_data_to *to,
                   bool more);

/* Data of a task of FUNCTION has taken so long to come and go, here or
 * elsewhere; 0 or less: not known. */
void eki_data_note_fetch(struct eki_data *data, int function, int64_t ns);
/* What was noted is a little less sure. */
void eki_data_forget_fetches(struct eki_data *data);

void eki_data_step(struct eki_protocol *protocol, uint64_t now);
enum eki_taken eki_data_take(struct eki_protocol *protocol,
                             const struct eki_message *message, uint64_t now);
/* Send what an operation of a worker here wants. */
bool eki_data_send_op(void *data, int here, int place);

/* Whose operation a message is about. */
static inline void eki_data_from(const struct eki_head *head,
                                 struct eki_data_to *from)
{
    from->rank = head->source;
    from->worker = head->worker;
    from->op = (uint32_t)head->first;
}

/* One more for the task that MESSAGE brings; NULL: no memory. */
struct eki_guest *eki_guest_add(struct eki_data *data,
                                struct eki_guests *guests,
                                const struct eki_message *message);
/* A rank that is out of memory says so to who asks for an input; false: it is
 * not, or no buffer is free. */
bool eki_guest_refuse(struct eki_data *data, const struct eki_message *ask);
/* Take out and free the guest to which LINK leads. */
void eki_guest_free(struct eki_data *data, struct eki_guests *guests,
                    struct eki_guest **link);
/* What leads to the result that a message is a part of; to NULL: there is none.
 */
struct eki_guest **eki_guest_find(struct eki_data *data,
                                  const struct eki_head *head);
void eki_guests_free(struct eki_data *data, struct eki_guests *guests);
/* Pack and send inputs ... */
void eki_guests_serve(struct eki_data *data);
/* ... let long results come, as far as there is room ... */
void eki_guests_give(struct eki_data *data);
/* ... and send GIVE and KEPT, for one more of which there is room. */
void eki_guests_answer(struct eki_data *data, int kind,
                       const struct eki_data_to *to);
void eki_guests_send(struct eki_data *data);

/* In a restore, if data FOLLOWS: ask for more of the seeds' data, and keep the
 * phase open until all is here. */
void eki_follower_open(struct eki_data *data, bool follows);
void eki_follower_step(struct eki_data *data, uint64_t now);
/* The data of a seed is here. */
void eki_follower_take(struct eki_data *data, struct eki_data_op *op);

#endif
