/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include "cli/message.h"

#include <stdlib.h>
#include <string.h>

/* Room for what is known of the blocks of the mesh. */
static void open_blocks(struct state *state)
{
    size_t count = (size_t)state->mesh.count;
    state->owner = allocate(count, sizeof *state->owner);
    state->cost = allocate(count, sizeof *state->cost);
    state->mean = allocate(count, sizeof *state->mean);
    state->values = allocate(count, sizeof *state->values);
}

static void close_blocks(struct state *state)
{
    for (int i = 0; i < state->mesh.count; i++)
        free(state->values[i]);
    free(state->values);
    free(state->owner);
    free(state->cost);
    free(state->mean);
    mesh_free(&state->mesh);
}

static size_t length_of(const struct state *state, int block)
{
    return cells_length(&state->mesh, &state->mesh.blocks[block]);
}

size_t state_bytes(const struct state *state, int block)
{
    return length_of(state, block) * sizeof(double);
}

static double *make_values(const struct state *state, int block)
{
    return allocate(length_of(state, block), sizeof(double));
}

/* What own blocks cost; after the last step that is known of all. */
static void find_costs(struct state *state)
{
    if (!state->knows)
        return;
    for (int i = 0; i < state->mesh.count; i++) {
        if (state->owner[i] == state->rank)
            state->cost[i] =
                cells_cost(&state->mesh, &state->mesh.blocks[i], &state->front);
    }
    state_share(state, MPI_DOUBLE, state->cost);
}

void state_open(MPI_Comm comm, int roots, int levels, bool knows,
                struct state *state)
{
    *state = (struct state){.comm = comm, .front = front_at(0), .knows = knows};
    MPI_Comm_rank(comm, &state->rank);
    MPI_Comm_size(comm, &state->size);
    mesh_make(roots, levels, &state->front, &state->mesh);
    open_blocks(state);
    for (int i = 0; i < state->mesh.count; i++) {
        state->owner[i] = (int)((int64_t)i * state->size / state->mesh.count);
        state->cost[i] = (double)length_of(state, i);
        if (state->owner[i] != state->rank)
            continue;
        state->values[i] = make_values(state, i);
        cells_start(length_of(state, i), state->values[i]);
        state->mean[i] = cells_mean(state->values[i]);
    }
    state_share(state, MPI_DOUBLE, state->mean);
    find_costs(state);
}

void state_close(struct state *state)
{
    close_blocks(state);
}

/* What this rank owns comes first in ALL, and the other way round. */
static void reorder(const struct state *state, size_t bytes, char *values,
                    char *all, const int *starts, bool is_back)
{
    int *at = allocate((size_t)state->size, sizeof *at);
    memcpy(at, starts, (size_t)state->size * sizeof *at);
    for (int i = 0; i < state->mesh.count; i++) {
        char *one = values + (size_t)i * bytes;
        char *other = all + (size_t)at[state->owner[i]]++ * bytes;
        memcpy(is_back ? one : other, is_back ? other : one, bytes);
    }
    free(at);
}

void state_share(const struct state *state, MPI_Datatype type, void *values)
{
    int bytes, *counts = allocate((size_t)state->size, sizeof *counts);
    int *starts = allocate((size_t)state->size, sizeof *starts);
    MPI_Type_size(type, &bytes);
    for (int i = 0; i < state->mesh.count; i++)
        counts[state->owner[i]]++;
    for (int r = 1; r < state->size; r++)
        starts[r] = starts[r - 1] + counts[r - 1];
    char *all = allocate((size_t)state->mesh.count, (size_t)bytes);
    reorder(state, (size_t)bytes, values, all, starts, false);
    MPI_Allgatherv(MPI_IN_PLACE, 0, type, all, counts, starts, type,
                   state->comm);
    reorder(state, (size_t)bytes, values, all, starts, true);
    free(all);
    free(counts);
    free(starts);
}

/* Between two ranks blocks come in the order in which they are sent. */
struct moved state_move(struct state *state, const int *owner)
{
    struct moved moved = {0, 0};
    MPI_Request *requests =
        allocate((size_t)state->mesh.count, sizeof *requests);
    int open = 0;
    for (int i = 0; i < state->mesh.count; i++) {
        int from = state->owner[i], to = owner[i];
        if (from == to)
            continue;
        moved.blocks++;
        moved.bytes += (int64_t)state_bytes(state, i);
        if (to == state->rank) {
            state->values[i] = make_values(state, i);
            MPI_Irecv(state->values[i], (int)length_of(state, i), MPI_DOUBLE,
                      from, 0, state->comm, &requests[open++]);
        } else if (from == state->rank) {
            MPI_Isend(state->values[i], (int)length_of(state, i), MPI_DOUBLE,
                      to, 0, state->comm, &requests[open++]);
        }
    }
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    free(requests);
    for (int i = 0; i < state->mesh.count; i++) {
        if (state->owner[i] == state->rank && owner[i] != state->rank) {
            free(state->values[i]);
            state->values[i] = NULL;
        }
        state->owner[i] = owner[i];
    }
    return moved;
}

/* The old blocks [*FIRST, *LAST] of which BLOCK of the mesh is made: one that
 * covers it, or its parts. */
static void origins(const struct mesh *mesh, const struct block *block,
                    const struct mesh *old, int *first, int *last)
{
    double width = block_width(mesh, block), least = 0.01, most = 0.99;
    *first =
        mesh_at(old, (block->x + least) * width, (block->y + least) * width);
    *last = mesh_at(old, (block->x + most) * width, (block->y + most) * width);
}

/* Parts that will be one block come to one owner. */
static void gather_parts(struct state *old, const struct mesh *mesh)
{
    int *owner = allocate((size_t)old->mesh.count, sizeof *owner);
    memcpy(owner, old->owner, (size_t)old->mesh.count * sizeof *owner);
    for (int i = 0; i < mesh->count; i++) {
        int first, last;
        origins(mesh, &mesh->blocks[i], &old->mesh, &first, &last);
        for (int part = first; part <= last; part++)
            owner[part] = owner[first];
    }
    state_move(old, owner);
    free(owner);
}

/* Its cells, if this rank owns what it is made of, and what it may cost: as
 * much for each value as that did. */
static void derive(const struct state *old, struct state *state, int block)
{
    const struct block *to = &state->mesh.blocks[block];
    int first, last;
    double cost = 0, length = 0;
    origins(&state->mesh, to, &old->mesh, &first, &last);
    state->owner[block] = old->owner[first];
    if (state->owner[block] == state->rank)
        state->values[block] = make_values(state, block);
    for (int part = first; part <= last; part++) {
        cost += old->cost[part];
        length += (double)length_of(old, part);
        if (state->values[block])
            cells_copy(&old->mesh, &old->mesh.blocks[part], old->values[part],
                       &state->mesh, to, state->values[block]);
    }
    state->cost[block] = cost / length * (double)length_of(state, block);
    if (state->values[block])
        state->mean[block] = cells_mean(state->values[block]);
}

void state_adapt(struct state *state, const struct front *front)
{
    struct state old = *state;
    mesh_make(old.mesh.roots, old.mesh.levels, front, &state->mesh);
    state->front = *front;
    gather_parts(&old, &state->mesh);
    open_blocks(state);
    for (int i = 0; i < state->mesh.count; i++)
        derive(&old, state, i);
    state_share(state, MPI_DOUBLE, state->mean);
    find_costs(state);
    close_blocks(&old);
}

/* The mean of what is beyond a block. */
static double outside(const struct state *state, int block)
{
    double sum = 0;
    for (int face = 0; face < FACES; face++) {
        int other = mesh_beyond(&state->mesh, &state->mesh.blocks[block], face);
        sum += state->mean[other < 0 ? block : other];
    }
    return sum / FACES;
}

double state_step(struct state *state)
{
    double start = MPI_Wtime();
    double *mean = allocate((size_t)state->mesh.count, sizeof *mean);
    for (int i = 0; i < state->mesh.count; i++) {
        if (state->owner[i] != state->rank)
            continue;
        state->cost[i] =
            cells_step(&state->mesh, &state->mesh.blocks[i], &state->front,
                       outside(state, i), state->values[i]);
        mean[i] = cells_mean(state->values[i]);
    }
    double seconds = MPI_Wtime() - start;
    free(state->mean);
    state->mean = mean;
    state_share(state, MPI_DOUBLE, state->mean);
    state_share(state, MPI_DOUBLE, state->cost);
    return seconds;
}
