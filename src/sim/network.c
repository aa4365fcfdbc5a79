/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated network.  Messages cost what LogGP says; those of one pair of
 * ranks arrive in order, those of different pairs may overtake each other.
 *
 * A server step takes few messages, so that each has its own time; a message
 * that it sends leaves when the step has come so far.
 */
#include "rebalance/parcel.h"
#include "sim/parts.h"

#include <stdlib.h>
#include <string.h>

/* Put a letter behind all that arrive no later.  The search begins at the last
 * one or, if that arrives later, at the one that was put in before: letters of
 * one sender lie near each other. */
static void queue_letter(struct eki_sim_port *port,
                         struct eki_sim_letter *letter)
{
    struct eki_sim_letter *before = port->last;
    if (before && before->arrives > letter->arrives)
        before = port->recent;
    while (before && before->next && before->next->arrives <= letter->arrives)
        before = before->next;
    while (before && before->arrives > letter->arrives)
        before = before->before;
    port->recent = letter;
    letter->before = before;
    letter->next = before ? before->next : port->first;
    *(before ? &before->next : &port->first) = letter;
    *(letter->next ? &letter->next->before : &port->last) = letter;
}

static struct eki_sim_letter *take_letter(struct eki_sim_port *port)
{
    struct eki_sim_letter *letter = port->first;
    port->first = letter->next;
    *(port->first ? &port->first->before : &port->last) = NULL;
    if (port->recent == letter)
        port->recent = port->first;
    return letter;
}

/* The number of a send buffer that is free now, or -1. */
static int free_buffer(const struct eki_sim_port *port)
{
    for (int i = 0; i < port->sim->setup.send_buffers; i++) {
        if (port->busy[i] <= port->sim->now)
            return i;
    }
    return -1;
}

/* One buffer serves all ranks: whoever reserves it fills and posts it at once.
 */
static struct eki_message *reserve_letter(struct eki_fabric *fabric)
{
    struct eki_sim_port *port = (struct eki_sim_port *)fabric;
    struct eki_sim *sim = port->sim;
    EKI_ASSERT(!sim->is_reserved);
    port->is_starved = free_buffer(port) < 0;
    if (port->is_starved)
        return NULL;
    sim->is_reserved = true;
    /* Programs with a pace are tests: they see what was not set. */
    if (sim->program->pace)
        memset(sim->buffer, 0xa5, sim->setup.message_bytes);
    return sim->buffer;
}

/* Bytes that a message would have besides: of tiles without values, and of data
 * without bytes. */
static int64_t carried_bytes(const struct eki_sim_port *port,
                             const struct eki_head *head)
{
    const struct eki_sim *sim = port->sim;
    int64_t bytes = 0;
    if (sim->setup.has_tiles)
        bytes += eki_tile_carried_bytes(head);
    if (sim->setup.has_data && !sim->setup.data.has_bytes)
        bytes += eki_data_carried_bytes(port->rank->engine, head);
    return bytes;
}

/* How long the bytes of a message to RANK take, with those that travel with its
 * tasks, which are copied within a node; these are counted. */
static double bytes_ns(struct eki_sim_port *port,
                       const struct eki_message *message, size_t bytes,
                       int rank)
{
    struct eki_sim *sim = port->sim;
    const struct eki_machine *machine = &sim->machine;
    const struct eki_head *head = &message->head;
    double ns = machine->byte * (double)bytes;
    ns += machine->byte * (double)carried_bytes(port, head);
    if (!eki_engine_verb(port->rank->engine, head->kind)->has_slots ||
        rank == head->source)
        return ns;
    bool is_here = sim->topology->node_of_rank[rank] ==
                   sim->topology->node_of_rank[head->source];
    int64_t carried = head->count * sim->setup.task_bytes;
    sim->carried += carried;
    return ns +
           (is_here ? machine->copy_byte : machine->byte) * (double)carried;
}

/* When a message to RANK arrives that leaves at DEPARTS and whose bytes take
 * BYTES_NS. */
static uint64_t arrival(struct eki_sim_port *port, uint64_t departs,
                        double bytes_ns, int rank)
{
    struct eki_sim *sim = port->sim;
    const struct eki_machine *machine = &sim->machine;
    struct eki_sim_port *to = &sim->ports[rank];
    double ns = machine->latency + bytes_ns;
    if (rank == port->fabric.rank)
        ns = machine->probe;
    uint64_t arrives =
        departs + eki_sim_pace_of(sim, port->rank, EKI_PACE_MESSAGE, ns);
    if (!to->last_ns)
        return arrives;
    /* MPI keeps the order of a pair. */
    uint64_t *last = &to->last_ns[port->fabric.rank];
    *last = arrives > *last ? arrives : *last;
    return *last;
}

/* Time of a rebalancer for BYTES of descriptors. */
static double balance_ns(const struct eki_machine *machine, int64_t bytes)
{
    return machine->balance * (double)bytes / sizeof(struct eki_item);
}

/* How long a server copies them. */
static double values_ns(const struct eki_sim_port *port,
                        const struct eki_head *head)
{
    return port->sim->machine.copy_byte * (double)carried_bytes(port, head);
}

void eki_sim_charge_own(struct eki_sim_port *port)
{
    if (port->rank->engine->kind != EKI_PHASE_RESTORE ||
        port->sim->setup.never_balances)
        return;
    const struct eki_machine *machine = &port->sim->machine;
    struct eki_rebalance_own own = eki_rebalance_own(port->rank->engine);
    port->step_ns += balance_ns(machine, own.bytes - port->own.bytes) +
                     machine->restore * (double)(own.tasks - port->own.tasks);
    port->own = own;
}

static void post_letter(struct eki_fabric *fabric, struct eki_message *message,
                        int rank)
{
    struct eki_sim_port *port = (struct eki_sim_port *)fabric;
    struct eki_sim *sim = port->sim;
    const struct eki_machine *machine = &sim->machine;
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    EKI_ASSERT(message->head.bytes >= 0 && bytes <= fabric->message_bytes);
    message->head.magic = EKI_MESSAGE_MAGIC;
    message->head.version = EKI_MESSAGE_VERSION;
    message->head.source = fabric->rank;
    sim->is_reserved = false;
    /* Not eki_alloc(): tests let the library's memory run out, but the network
     * is no part of it.  No run survives that. */
    struct eki_sim_letter *letter =
        malloc(sizeof *letter - sizeof letter->message + bytes);
    if (!letter) {
        eki_fabric_note(fabric, EK_ERR_NOMEM,
                        "no memory for a simulated message");
        return;
    }
    memcpy(&letter->message, message, bytes);
    eki_sim_charge_own(port);
    port->step_ns += values_ns(port, &message->head);
    /* The first message after one that was taken counts as its answer, which
     * `handle` includes. */
    if (!port->is_answering)
        port->step_ns += machine->send;
    port->is_answering = false;
    uint64_t departs =
        eki_sim_later(sim->now + (uint64_t)port->step_ns, port->free_at);
    double wire_ns = bytes_ns(port, message, bytes, rank);
    double gap = wire_ns > machine->gap ? wire_ns : machine->gap;
    port->free_at = departs + (uint64_t)gap;
    letter->arrives = arrival(port, departs, wire_ns, rank);
    letter->number = ++sim->messages;
    letter->sender = port;
    letter->buffer = free_buffer(port);
    port->busy[letter->buffer] =
        sim->setup.late_bytes != 0 &&
                bytes + (size_t)carried_bytes(port, &message->head) >
                    sim->setup.late_bytes &&
                sim->ranks[rank].state != EKI_SIM_OVER &&
                !sim->ranks[rank].is_assembled
            ? UINT64_MAX
            : port->free_at +
                  eki_sim_pace_of(sim, port->rank, EKI_PACE_SEND, 0);
    if (sim->program->sent)
        sim->program->sent(sim->program->context, port->rank, &letter->message,
                           rank);
    queue_letter(&sim->ports[rank], letter);
    eki_sim_announce(sim, &sim->ranks[rank], letter->arrives);
}

/* The worker whom a message concerns, -1: all, or EKI_SIM_NOBODY but the
 * server. */
static int32_t addressee(const struct eki_sim_port *port,
                         const struct eki_head *head)
{
    switch (eki_engine_verb(port->rank->engine, head->kind)->concerns) {
    case EKI_CONCERNS_WORKER:
        return head->worker;
    case EKI_CONCERNS_ALL:
        return -1;
    default:
        return EKI_SIM_NOBODY;
    }
}

/* The letter is there: from NS on its buffer, if it is late, may be used. */
static void free_late(struct eki_sim *sim, const struct eki_sim_letter *letter,
                      uint64_t ns)
{
    struct eki_sim_port *sender = letter->sender;
    sender->busy[letter->buffer] = ns;
    if (sender->is_starved && !sim->program->pace)
        eki_sim_announce(sim, sender->rank, ns);
}

static struct eki_message *poll_letter(struct eki_fabric *fabric)
{
    struct eki_sim_port *port = (struct eki_sim_port *)fabric;
    struct eki_sim *sim = port->sim;
    const struct eki_machine *machine = &sim->machine;
    char why[EKI_HEAD_WHY];
    if (port->budget == 0 || eki_sim_next_arrival(port) > sim->now)
        return NULL;
    EKI_ASSERT(!port->polled);
    struct eki_sim_letter *letter = take_letter(port);
    struct eki_head *head = &letter->message.head;
    port->budget--;
    port->polled = letter;
    if (letter->sender->busy[letter->buffer] == UINT64_MAX)
        free_late(sim, letter,
                  sim->now +
                      eki_sim_pace_of(sim, port->rank, EKI_PACE_SEND, 0));
    port->step_ns += machine->handle + values_ns(port, head);
    port->is_answering = true;
    if (head->kind == EKI_KIND_PARCEL)
        port->step_ns += balance_ns(machine, head->bytes);
    int32_t told = addressee(port, head);
    port->told = port->told == EKI_SIM_NOBODY ? told : -1;
    if (sim->program->received)
        sim->program->received(sim->program->context, port->rank,
                               &letter->message);
    /* relaxed: there is one thread. */
    uint32_t numbers =
        atomic_load_explicit(&fabric->numbers, memory_order_relaxed);
    if (!eki_head_check(head, sizeof *head + (size_t)head->bytes, numbers,
                        fabric->size, why))
        eki_fabric_note(fabric, EK_ERR_MPI, why);
    return &letter->message;
}

void eki_sim_end_port(const struct eki_sim_port *port)
{
    for (const struct eki_sim_letter *letter = port->first; letter;
         letter = letter->next) {
        if (letter->sender->busy[letter->buffer] == UINT64_MAX)
            free_late(port->sim, letter, port->sim->now);
    }
}

static void release_letter(struct eki_fabric *fabric,
                           struct eki_message *message)
{
    struct eki_sim_port *port = (struct eki_sim_port *)fabric;
    EKI_ASSERT(port->polled && message == &port->polled->message);
    (void)message;
    free(port->polled);
    port->polled = NULL;
}

static bool drain_port(struct eki_fabric *fabric)
{
    const struct eki_sim_port *port = (const struct eki_sim_port *)fabric;
    for (int i = 0; i < port->sim->setup.send_buffers; i++) {
        if (port->busy[i] > port->sim->now)
            return false;
    }
    return true;
}

static const struct eki_fabric_ops ops = {
    .reserve = reserve_letter,
    .post = post_letter,
    .poll = poll_letter,
    .release = release_letter,
    .drain = drain_port,
};

bool eki_sim_open_port(struct eki_sim *sim, int rank)
{
    struct eki_sim_port *port = &sim->ports[rank];
    const struct eki_sim_setup *setup = &sim->setup;
    port->sim = sim;
    port->rank = &sim->ranks[rank];
    port->fabric = (struct eki_fabric){.ops = &ops,
                                       .rank = rank,
                                       .size = setup->ranks,
                                       .message_bytes = setup->message_bytes};
    port->busy = eki_alloc((size_t)setup->send_buffers, sizeof *port->busy);
    if (setup->is_reordered)
        port->last_ns = eki_alloc((size_t)setup->ranks, sizeof *port->last_ns);
    return port->busy && (!setup->is_reordered || port->last_ns);
}

void eki_sim_close_port(struct eki_sim_port *port)
{
    while (port->first)
        free(take_letter(port));
    free(port->polled);
    eki_free(port->busy);
    eki_free(port->last_ns);
}
