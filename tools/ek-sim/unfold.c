/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree: its payload, and what its tasks come to. */
#include "unfold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct unfold {
    const struct unfold_kind *kind;
    void *tree;
    double node_ns;
    size_t bytes; /* of a payload */
    struct unfold_sums sums;
};

static const struct unfold_kind *const kinds[] = {
#ifdef HAVE_UTS
    &unfold_uts,
#endif
    &unfold_queens, &unfold_bouncing, &unfold_fib,
    &unfold_skew,   &unfold_stress};

/* The kind that TEXT begins with, and what follows its colon. */
static const struct unfold_kind *find_kind(const char *text, const char **rest)
{
    size_t length = strcspn(text, ":");
    *rest = text + length + (text[length] == ':');
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i]->name) == length &&
            strncmp(kinds[i]->name, text, length) == 0)
            return kinds[i];
    }
    return NULL;
}

static bool refuse(const char *text, struct message *message)
{
    char names[100] = "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        eki_append(names, sizeof names, "%s%s:...", i > 0 ? ", " : "",
                   kinds[i]->name);
    return message_set(message, "--workload is '%.100s'; allowed: %s", text,
                       names);
}

struct unfold *unfold_open(const struct arguments *arguments,
                           struct message *message)
{
    const char *text = arguments->shared.source.tree, *rest;
    const struct unfold_kind *kind = find_kind(text, &rest);
    if (!kind) {
        refuse(text, message);
        return NULL;
    }
    struct unfold *unfold = allocate(1, sizeof *unfold);
    unfold->kind = kind;
    unfold->bytes = offsetof(struct unfold_carried, node) + kind->node_bytes;
    unfold->tree = allocate(1, kind->tree_bytes);
    unfold->node_ns =
        arguments->node_ns >= 0 ? arguments->node_ns : kind->node_ns;
    bool is_good =
        kind->read(rest, unfold->tree) ||
        message_set(message, "--workload is '%.100s'; allowed: %s:%s", text,
                    kind->name, kind->allowed);
    if (is_good && arguments->node_ns >= 0 && kind->node_ns == 0)
        is_good = message_set(message,
                              "--node-ns does not go with %s, which has "
                              "durations of its own: %s:%s",
                              kind->name, kind->name, kind->allowed);
    if (!is_good) {
        unfold_close(unfold);
        return NULL;
    }
    return unfold;
}

void unfold_close(struct unfold *unfold)
{
    if (!unfold)
        return;
    free(unfold->tree);
    free(unfold);
}

size_t unfold_payload_bytes(const struct unfold *unfold)
{
    return unfold->bytes;
}

bool unfold_add(struct unfold *unfold, const struct eki_sim *sim)
{
    struct ek_worker *worker = sim->workers[0].worker;
    struct eki_slot *slot = eki_local_add_seed(&worker->local);
    if (!slot)
        return false;
    eki_slot_head(slot, 0, unfold->bytes, EKI_SLOT_SEED, eki_id(0, 0));
    struct unfold_carried carried = {0};
    unfold->kind->root(unfold->tree, carried.node);
    memcpy(slot->payload, &carried, unfold->bytes);
    return true;
}

void unfold_begin(struct unfold *unfold)
{
    unfold->sums = (struct unfold_sums){0};
}

static struct unfold_carried *carried_by(struct eki_slot *slot)
{
    return (struct unfold_carried *)(void *)slot->payload;
}

double unfold_visit(struct unfold *unfold, const struct eki_sim_worker *worker)
{
    struct unfold_sums *sums = &unfold->sums;
    struct eki_slot *slot = eki_worker_current(worker->worker);
    struct unfold_carried *carried = carried_by(slot);
    double ns =
        unfold->kind->visit(unfold->tree, carried->node, unfold->node_ns, sums);
    /* The root is run again in the next iteration. */
    uint64_t path_ns = slot->flags & EKI_SLOT_SEED ? 0 : carried->path_ns;
    carried->path_ns = path_ns + (uint64_t)ns;
    if (carried->path_ns > sums->path_ns)
        sums->path_ns = carried->path_ns;
    sums->tasks++;
    sums->work_ns += ns;
    return ns;
}

bool unfold_end(struct unfold *unfold, struct eki_sim_worker *worker)
{
    /* Its slot may be its first child's. */
    struct unfold_carried carried;
    memcpy(&carried, eki_worker_current(worker->worker)->payload,
           unfold->bytes);
    struct unfold_parent parent = {.worker = worker,
                                   .bytes = unfold->bytes,
                                   .child.path_ns = carried.path_ns,
                                   .sums = &unfold->sums};
    unfold->kind->spawn(unfold->tree, carried.node, &parent);
    return !parent.has_failed && !unfold->sums.is_memory_out;
}

const struct unfold_sums *unfold_sums(const struct unfold *unfold)
{
    return &unfold->sums;
}

void unfold_print(const struct unfold *unfold)
{
    const struct unfold_sums *sums = &unfold->sums;
    printf("%" PRId64 " %s, %" PRId64 " %s, depth %" PRId64 ", in %" PRId64
           " tasks; longest path %.6g s\n",
           sums->nodes, unfold->kind->nodes, sums->found, unfold->kind->found,
           sums->depth, sums->tasks, (double)sums->path_ns * 1e-9);
}
