/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "cli/message.h"

#include <stdio.h>
#include <stdlib.h>

/* Parts of a turn that the front moves in a step. */
#define TURN (1.0 / 96)

void print_head(const char *what)
{
    printf("%-10s %8s %10s %8s %9s %7s %9s %9s\n", what, "blocks", "imbalance",
           "moved", "MB", "faces", "split ms", "step ms");
}

void print_row(const char *what, const struct figures *figures)
{
    printf("%-10s %8.0f %8.2f %% %8lld %9.3f %5.1f %% %9.2f %9.2f\n", what,
           figures->blocks, 100 * figures->imbalance,
           (long long)figures->moved.blocks,
           (double)figures->moved.bytes * 1e-6, 100 * figures->cut,
           1e3 * figures->split_s, 1e3 * figures->step_s);
    fflush(stdout);
}

static double imbalance_of(const struct state *state)
{
    double *loads = allocate((size_t)state->size, sizeof *loads);
    double all = 0, most = 0;
    for (int i = 0; i < state->mesh.count; i++)
        loads[state->owner[i]] += state->cost[i];
    for (int r = 0; r < state->size; r++) {
        all += loads[r];
        most = loads[r] > most ? loads[r] : most;
    }
    free(loads);
    return most * state->size / all - 1;
}

/* Part of the faces whose two sides have different owners. */
static double cut_of(const struct state *state)
{
    int all = 0, cut = 0;
    for (int i = 0; i < state->mesh.count; i++) {
        for (int face = 0; face < FACES; face++) {
            int other = mesh_beyond(&state->mesh, &state->mesh.blocks[i], face);
            all += other >= 0;
            cut += other >= 0 && state->owner[other] != state->owner[i];
        }
    }
    return (double)cut / all;
}

static double value_of(const struct state *state)
{
    double sum = 0;
    for (int i = 0; i < state->mesh.count; i++) {
        double width = block_width(&state->mesh, &state->mesh.blocks[i]);
        sum += state->mean[i] * width * width;
    }
    return sum;
}

/* Find owners, and move blocks to them. */
static ek_status split_state(const struct split *split, struct state *state,
                             struct figures *figures)
{
    int *owner = allocate((size_t)state->mesh.count, sizeof *owner);
    double start = MPI_Wtime();
    ek_status status = split->run(state, owner);
    figures->split_s = MPI_Wtime() - start;
    if (status == EK_OK)
        figures->moved = state_move(state, owner);
    free(owner);
    return status;
}

static ek_status run_step(const struct split *split, int step,
                          struct state *state, struct figures *figures)
{
    struct front front = front_at(step * TURN);
    if (step > 0)
        state_adapt(state, &front);
    ek_status status = split_state(split, state, figures);
    if (status != EK_OK)
        return status;
    double seconds[2] = {figures->split_s, state_step(state)};
    MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, state->comm);
    figures->split_s = seconds[0];
    figures->step_s = seconds[1];
    figures->imbalance = imbalance_of(state);
    figures->blocks = state->mesh.count;
    figures->cut = cut_of(state);
    return EK_OK;
}

static void add(const struct figures *step, int steps, struct figures *all)
{
    all->imbalance += step->imbalance / steps;
    all->blocks += step->blocks / steps;
    all->moved.blocks += step->moved.blocks;
    all->moved.bytes += step->moved.bytes;
    all->cut += step->cut / steps;
    all->split_s += step->split_s / steps;
    all->step_s += step->step_s / steps;
}

/* What blocks cost is not known before the first step: it is not counted. */
ek_status run(const struct run_setup *setup, const struct split *split,
              struct result *result)
{
    struct state state;
    ek_status status = EK_OK;
    *result = (struct result){0};
    state_open(MPI_COMM_WORLD, setup->roots, setup->levels, setup->knows,
               &state);
    for (int i = 0; i <= setup->iterations && status == EK_OK; i++) {
        struct figures figures = {0};
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        status = run_step(split, i, &state, &figures);
        if (i > 0)
            add(&figures, setup->iterations, &result->all);
        if (status == EK_OK && setup->has_rows && state.rank == 0)
            print_row(number, &figures);
    }
    result->value = value_of(&state);
    state_close(&state);
    return status;
}
