/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated network of the stepper.  Messages of one pair of ranks arrive
 * in order, of different pairs in any; send buffers are few and come free late.
 */
#include "stepper.h"

enum {
    POOL_MOST = 8
};

struct letter {
    struct letter *next;
    uint64_t arrives_ns;
    struct eki_message message;
};

struct link {
    struct letter *first, **last;
    uint64_t last_ns;
};

struct port {
    struct eki_fabric fabric;
    struct net *net;
    int reserved;
    uint64_t busy_until[POOL_MOST];
    struct letter *polled;
    struct link from[STEPPER_RANKS];
};

struct net {
    struct port ports[STEPPER_RANKS];
    struct eki_random *random;
    const uint64_t *now;
    int size, pool;
    uint64_t delay_ns;
    const char *misuse;
};

static uint64_t draw_delay(struct net *net)
{
    uint64_t delay = eki_random_below(net->random, net->delay_ns + 1);
    /* Some are very late. */
    return eki_random_below(net->random, 32) == 0 ? 20 * delay : delay;
}

static int busy_buffers(const struct port *port)
{
    int busy = 0;
    for (int i = 0; i < port->net->pool; i++)
        busy += port->busy_until[i] > *port->net->now;
    return busy;
}

static struct eki_message *net_reserve(struct eki_fabric *fabric)
{
    struct port *port = (struct port *)fabric;
    if (busy_buffers(port) + port->reserved >= port->net->pool) {
        stepper_seen.no_buffer++;
        return NULL;
    }
    struct eki_message *message = malloc(fabric->message_bytes);
    /* What is not set must not be read. */
    memset(message, 0xa5, fabric->message_bytes);
    port->reserved++;
    return message;
}

static void net_unreserve(struct eki_fabric *fabric,
                          struct eki_message *message)
{
    ((struct port *)fabric)->reserved--;
    free(message);
}

static void net_post(struct eki_fabric *fabric, struct eki_message *message,
                     int rank)
{
    struct port *port = (struct port *)fabric;
    struct net *net = port->net;
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    if (rank < 0 || rank >= net->size || message->head.bytes < 0 ||
        bytes > fabric->message_bytes) {
        net->misuse = "a message too long, or to nobody";
        return;
    }
    message->head.magic = EKI_MESSAGE_MAGIC;
    message->head.version = EKI_MESSAGE_VERSION;
    message->head.collection = fabric->collection;
    message->head.source = fabric->rank;
    struct letter *letter = calloc(1, sizeof *letter + bytes);
    memcpy(&letter->message, message, bytes);
    struct link *link = &net->ports[rank].from[fabric->rank];
    letter->arrives_ns = *net->now + draw_delay(net);
    if (letter->arrives_ns < link->last_ns)
        letter->arrives_ns = link->last_ns;
    link->last_ns = letter->arrives_ns;
    *link->last = letter;
    link->last = &letter->next;
    port->reserved--;
    free(message);
    for (int i = 0; i < net->pool; i++) {
        if (port->busy_until[i] <= *net->now) {
            port->busy_until[i] = *net->now + draw_delay(net);
            break;
        }
    }
}

static struct eki_message *net_poll(struct eki_fabric *fabric)
{
    struct port *port = (struct port *)fabric;
    struct net *net = port->net;
    char why[200];
    int first = (int)eki_random_below(net->random, (uint64_t)net->size);
    if (port->polled)
        net->misuse = "two polled messages at a time";
    for (int i = 0; i < net->size; i++) {
        struct link *link = &port->from[(first + i) % net->size];
        struct letter *letter = link->first;
        if (!letter || letter->arrives_ns > *net->now)
            continue;
        link->first = letter->next;
        if (!link->first)
            link->last = &link->first;
        port->polled = letter;
        if (!eki_head_check(&letter->message.head,
                            sizeof letter->message +
                                (size_t)letter->message.head.bytes,
                            fabric->collection, net->size, why, sizeof why))
            net->misuse = "a bad header";
        return &letter->message;
    }
    return NULL;
}

static void net_release(struct eki_fabric *fabric, struct eki_message *message)
{
    struct port *port = (struct port *)fabric;
    if (!port->polled || message != &port->polled->message)
        port->net->misuse = "released what was not polled";
    free(port->polled);
    port->polled = NULL;
}

static bool net_drain(struct eki_fabric *fabric)
{
    return busy_buffers((struct port *)fabric) == 0;
}

static const struct eki_fabric_ops net_ops = {
    .reserve = net_reserve,
    .unreserve = net_unreserve,
    .post = net_post,
    .poll = net_poll,
    .release = net_release,
    .drain = net_drain,
};

/* Enough for the largest fixed body. */
static size_t message_bytes(const struct stepper_scenario *scenario)
{
    size_t slots = (size_t)scenario->message_slots *
                   eki_slot_bytes(scenario->payload_bytes);
    size_t fixed = sizeof(struct eki_vote) > sizeof(struct eki_verdict)
                       ? sizeof(struct eki_vote)
                       : sizeof(struct eki_verdict);
    return sizeof(struct eki_message) + (slots > fixed ? slots : fixed);
}

struct net *net_create(const struct stepper_scenario *scenario,
                       struct eki_random *random, const uint64_t *now)
{
    struct net *net = calloc(1, sizeof *net);
    net->random = random;
    net->now = now;
    net->size = scenario->ranks;
    net->pool = scenario->pool < POOL_MOST ? scenario->pool : POOL_MOST;
    net->delay_ns = scenario->delay_ns;
    for (int r = 0; r < net->size; r++) {
        struct port *port = &net->ports[r];
        port->fabric =
            (struct eki_fabric){.ops = &net_ops,
                                .rank = r,
                                .size = net->size,
                                .collection = 7,
                                .message_bytes = message_bytes(scenario)};
        port->net = net;
        for (int s = 0; s < net->size; s++)
            port->from[s].last = &port->from[s].first;
    }
    return net;
}

void net_destroy(struct net *net)
{
    for (int r = 0; r < net->size; r++) {
        for (int s = 0; s < net->size; s++) {
            struct letter *letter = net->ports[r].from[s].first;
            while (letter) {
                struct letter *next = letter->next;
                free(letter);
                letter = next;
            }
        }
    }
    free(net);
}

struct eki_fabric *net_fabric(struct net *net, int rank)
{
    return &net->ports[rank].fabric;
}

int net_waiting(const struct net *net, int rank)
{
    int waiting = 0;
    for (int s = 0; s < net->size; s++) {
        const struct letter *letter = net->ports[rank].from[s].first;
        for (; letter; letter = letter->next)
            waiting++;
    }
    return waiting;
}

const char *net_check_end(const struct net *net)
{
    for (int r = 0; r < net->size; r++) {
        const struct port *port = &net->ports[r];
        if (port->reserved != 0 || port->polled)
            return "a buffer was not given back";
        for (int s = 0; s < net->size; s++) {
            const struct letter *letter = port->from[s].first;
            for (; letter; letter = letter->next) {
                int kind = letter->message.head.kind;
                if (kind == EKI_KIND_TASKS || kind == EKI_KIND_MOVE ||
                    kind == EKI_KIND_FETCHED)
                    return "tasks are still on their way";
            }
        }
    }
    return net->misuse;
}
