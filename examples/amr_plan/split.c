/* SPDX-License-Identifier: BSD-3-Clause */
#include "split.h"

#include "cli/message.h"

#include <evenkeel_plan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This is where Evenkeel is used: the costs of own blocks in, owners out. */
static ek_status ask(const struct state *state, bool has_bytes, int *owner)
{
    size_t count = (size_t)state->mesh.count, n = 0, at = 0;
    double *cost = allocate(count, sizeof *cost);
    size_t *bytes = allocate(count, sizeof *bytes);
    int *to = allocate(count, sizeof *to);
    for (int i = 0; i < state->mesh.count; i++) {
        if (state->owner[i] != state->rank)
            continue;
        cost[n] = state->cost[i];
        bytes[n++] = state_bytes(state, i);
    }
    ek_status status =
        ek_plan(state->comm,
                &(ek_plan_items){sizeof(ek_plan_items), (int64_t)n, cost,
                                 has_bytes ? bytes : NULL},
                EK_RESTORE_DEFAULT, NULL, to, NULL);
    for (int i = 0; status == EK_OK && i < state->mesh.count; i++) {
        if (state->owner[i] == state->rank)
            owner[i] = to[at++];
    }
    if (status == EK_OK)
        state_share(state, MPI_INT, owner);
    free(cost);
    free(bytes);
    free(to);
    return status;
}

static ek_status plan(const struct state *state, int *owner)
{
    return ask(state, false, owner);
}

static ek_status plan_bytes(const struct state *state, int *owner)
{
    return ask(state, true, owner);
}

static ek_status stay(const struct state *state, int *owner)
{
    memcpy(owner, state->owner, (size_t)state->mesh.count * sizeof *owner);
    return EK_OK;
}

/* Runs of equal cost along the curve: a block goes where its middle is. */
static ek_status curve(const struct state *state, int *owner)
{
    double all = 0, before = 0;
    for (int i = 0; i < state->mesh.count; i++)
        all += state->cost[i];
    for (int i = 0; i < state->mesh.count; i++) {
        double middle = before + state->cost[i] / 2;
        int to = (int)(middle / all * state->size);
        owner[i] = to < state->size ? to : state->size - 1;
        before += state->cost[i];
    }
    return EK_OK;
}

/* A block where it is cut: by one coordinate, then the other. */
struct point {
    double at[2];
    int block;
};

/* Sort by coordinate AXIS, which is the first one then. */
static int is_beyond(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->at[0] != q->at[0])
        return p->at[0] < q->at[0] ? -1 : 1;
    return (p->at[1] > q->at[1]) - (p->at[1] < q->at[1]);
}

/* How long POINTS are along a coordinate. */
static double extent(const struct point *points, int count, int axis)
{
    double least = 1, most = 0;
    for (int i = 0; i < count; i++) {
        least = points[i].at[axis] < least ? points[i].at[axis] : least;
        most = points[i].at[axis] > most ? points[i].at[axis] : most;
    }
    return most - least;
}

/* The longer coordinate comes first. */
static void sort_along(struct point *points, int count)
{
    if (extent(points, count, 1) > extent(points, count, 0)) {
        for (int i = 0; i < count; i++) {
            double x = points[i].at[0];
            points[i].at[0] = points[i].at[1];
            points[i].at[1] = x;
        }
    }
    qsort(points, (size_t)count, sizeof *points, is_beyond);
}

/* How many of POINTS, in order, have about PART of their cost. */
static int cut(const struct state *state, const struct point *points, int count,
               double part)
{
    double all = 0, sum = 0;
    int n = 0;
    for (int i = 0; i < count; i++)
        all += state->cost[points[i].block];
    while (n < count && sum + state->cost[points[n].block] / 2 < part * all)
        sum += state->cost[points[n++].block];
    return n;
}

/* POINTS go to RANKS ranks from FIRST on: both are halved until it is one. */
static void bisect(const struct state *state, struct point *points, int count,
                   int first, int ranks, int *owner)
{
    if (ranks == 1) {
        for (int i = 0; i < count; i++)
            owner[points[i].block] = first;
        return;
    }
    int left = ranks / 2;
    sort_along(points, count);
    int n = cut(state, points, count, (double)left / ranks);
    bisect(state, points, n, first, left, owner);
    bisect(state, points + n, count - n, first + left, ranks - left, owner);
}

static ek_status bisection(const struct state *state, int *owner)
{
    const struct mesh *mesh = &state->mesh;
    struct point *points = allocate((size_t)mesh->count, sizeof *points);
    for (int i = 0; i < mesh->count; i++) {
        const struct block *block = &mesh->blocks[i];
        double width = block_width(mesh, block);
        points[i] = (struct point){
            {(block->x + 0.5) * width, (block->y + 0.5) * width}, i};
    }
    bisect(state, points, mesh->count, 0, state->size, owner);
    free(points);
    return EK_OK;
}

const struct split splits[] = {
    {"stay", "blocks stay where they were made", stay},
    {"curve", "equal runs of a Morton curve", curve},
    {"bisection", "recursive coordinate bisection", bisection},
    {"plan", "ek_plan(), the fewest blocks", plan},
    {"bytes", "ek_plan(), the fewest bytes", plan_bytes},
    {NULL, NULL, NULL}};

const char *split_words(void)
{
    static char words[80];
    words[0] = '\0';
    for (const struct split *split = splits; split->name; split++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : "",
                 split->name);
    }
    return words;
}

const struct split *split_find(const char *name)
{
    const struct split *split = splits;
    while (split->name && strcmp(split->name, name) != 0)
        split++;
    return split;
}
