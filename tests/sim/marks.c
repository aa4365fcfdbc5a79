/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What nodes that steal note of each other, against all nodes and messages:
 * who is marked as asked has the request, or a message is on its way.
 */
#include "explore.h"

#include "protocol/node_thief.h"

/* What is of a pair of nodes. */
struct pair {
    int lies;    /* requests of the thief in the victim's queue */
    int comes;   /* ... on their way */
    int granted; /* last parts of grants on their way, or not sent yet */
};

/* The thief of the rank's node in an open phase; NULL: there is none. */
static const struct eki_node_thief *thief_of(const struct eki_sim_rank *rank)
{
    const struct eki_engine *engine = rank->engine;
    const struct eki_node_thief *thief =
        (const struct eki_node_thief *)eki_engine_protocol(engine,
                                                           &eki_node_thief_ops);
    /* relaxed: there is one thread. */
    return thief && thief->is_open && engine->is_open &&
                   atomic_load_explicit(&engine->node->announced,
                                        memory_order_relaxed) < engine->phase
               ? thief
               : NULL;
}

static bool is_from(const struct eki_message *message,
                    const struct eki_sim_rank *rank, int kind)
{
    const struct eki_head *head = &message->head;
    return head->kind == kind && head->source == rank->number &&
           head->phase == rank->engine->phase && head->first == 0;
}

/* Messages of KIND from FROM that TO has not taken yet. */
static int on_their_way(const struct eki_sim_rank *from,
                        const struct eki_sim_rank *to, int kind)
{
    int count =
        to->port->polled && is_from(&to->port->polled->message, from, kind);
    for (const struct eki_sim_letter *letter = to->port->first; letter;
         letter = letter->next)
        count += is_from(&letter->message, from, kind);
    for (const struct eki_kept *kept = to->engine->line.first; kept;
         kept = kept->next)
        count += is_from(eki_kept_message(kept), from, kind);
    return count;
}

static struct pair look(const struct eki_sim_rank *thief,
                        const struct eki_sim_rank *victim)
{
    const struct eki_node_thief *asked = thief_of(victim);
    const struct eki_guest *guests = asked->guests.items;
    struct pair pair = {0, on_their_way(thief, victim, EKI_KIND_NODE_QUEUE),
                        on_their_way(victim, thief, EKI_KIND_NODE_GRANT) +
                            (eki_grants_has_rest(&asked->grants) &&
                             asked->grants.rank == thief->number)};
    for (int64_t i = 0; i < asked->guests.count; i++)
        pair.lies += guests[i].approach == EKI_APPROACH_QUEUE &&
                     guests[i].request.rank == thief->number;
    return pair;
}

static void check_pair(struct explore *explore,
                       const struct eki_sim_rank *thief,
                       const struct eki_sim_rank *victim)
{
    unsigned mark = thief_of(thief)->seeker.marks[victim->topology.node];
    bool is_asked = mark & EKI_NODE_ASKED;
    bool waits =
        thief_of(victim)->seeker.marks[thief->topology.node] & EKI_NODE_WAITS;
    struct pair pair = look(thief, victim);
    int asked = pair.lies + pair.comes;
    bool fits =
        is_asked ? asked + pair.granted == 1
                 : asked == 0 && pair.granted <= ((mark & EKI_NODE_OWES) != 0);
    if (EKI_UNLIKELY(!fits || waits != (pair.lies == 1)))
        ledger_fail(&explore->ledger,
                    "rank %d is %smarked as asked by rank %d, of which %s "
                    "waits: %d lie there, %d come, %d are granted",
                    victim->number, is_asked ? "" : "not ", thief->number,
                    waits ? "one" : "none", pair.lies, pair.comes,
                    pair.granted);
}

void explore_check_marks(struct explore *explore)
{
    const struct eki_sim *sim = explore->sim;
    for (int t = 0; t < sim->setup.ranks; t++) {
        const struct eki_sim_rank *thief = &sim->ranks[t];
        for (int v = 0; thief_of(thief) && v < sim->setup.ranks; v++) {
            const struct eki_sim_rank *victim = &sim->ranks[v];
            if (v != t && thief_of(victim) &&
                victim->engine->phase == thief->engine->phase &&
                victim->engine->signature == thief->engine->signature)
                check_pair(explore, thief, victim);
        }
    }
}

bool explore_forget_guest(struct explore *explore)
{
    struct eki_node_thief *thief =
        (struct eki_node_thief *)thief_of(explore->rank);
    const struct eki_guest *last = thief ? thief->guests.items : NULL;
    if (!thief || thief->guests.count == 0)
        return false;
    last += thief->guests.count - 1;
    thief->guests.count -= last->approach == EKI_APPROACH_QUEUE;
    return last->approach == EKI_APPROACH_QUEUE;
}
