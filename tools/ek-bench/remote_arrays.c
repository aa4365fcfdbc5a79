/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles in an array of Global Arrays with one dimension. */
#include "remote.h"

#include <ga.h>
#include <macdecls.h>
#include <stdlib.h>

struct arrays {
    struct remote remote;
    int array;
    double *values; /* of this rank */
};

static void arrays_move(struct remote *remote, enum remote_kind kind, int size,
                        int owner, int tile, double *values)
{
    struct arrays *arrays = (struct arrays *)remote;
    int64_t at = owner * remote_length() + remote_offset(size, tile);
    int64_t low[1] = {at}, high[1] = {at + remote_sizes[size].length - 1};
    int64_t apart[1] = {1};
    double alpha = 1;
    if (kind == REMOTE_GET) {
        NGA_Get64(arrays->array, low, high, values, apart);
        return;
    }
    GA_Init_fence();
    if (kind == REMOTE_PUT)
        NGA_Put64(arrays->array, low, high, values, apart);
    else
        NGA_Acc64(arrays->array, low, high, values, apart, &alpha);
    GA_Fence();
}

static double *arrays_local(struct remote *remote, int size, int tile)
{
    return ((struct arrays *)remote)->values + remote_offset(size, tile);
}

static void arrays_meet(struct remote *remote,
                        const struct remote_meeting *meeting)
{
    struct arrays *arrays = (struct arrays *)remote;
    int64_t low[1] = {remote->rank * remote_length()};
    int64_t high[1] = {low[0] + remote_length() - 1}, apart[1];
    NGA_Release_update64(arrays->array, low, high);
    GA_Sync();
    if (remote->rank == 0)
        meeting->asker(remote, meeting->argument);
    else
        bench_spin_ns(meeting->busy_ns);
    GA_Sync();
    NGA_Access64(arrays->array, low, high, &arrays->values, apart);
}

static void arrays_close(struct remote *remote)
{
    struct arrays *arrays = (struct arrays *)remote;
    GA_Destroy(arrays->array);
    free(arrays);
}

static const struct remote_ops arrays_ops = {arrays_move, arrays_local,
                                             arrays_meet, arrays_close};

void remote_arrays_end(void)
{
    if (GA_Initialized())
        GA_Terminate();
}

struct remote *remote_arrays_open(MPI_Comm both)
{
    struct arrays *arrays = calloc(1, sizeof *arrays);
    int64_t length = remote_length(), extent[1] = {REMOTE_OWNERS * length};
    int64_t blocks[1] = {REMOTE_OWNERS}, first[REMOTE_OWNERS] = {0, length};
    char name[] = "tiles";
    if (!arrays)
        bench_check(EK_ERR_NOMEM);
    if (!GA_Initialized())
        GA_Initialize();
    arrays->remote = (struct remote){
        .ops = &arrays_ops, .name = "Global Arrays", .both = both, .rank = 0};
    MPI_Comm_rank(both, &arrays->remote.rank);
    arrays->array = NGA_Create_irreg64(C_DBL, 1, extent, name, blocks, first);
    GA_Zero(arrays->array);
    int64_t low[1] = {arrays->remote.rank * length};
    int64_t high[1] = {low[0] + length - 1}, apart[1];
    NGA_Access64(arrays->array, low, high, &arrays->values, apart);
    return &arrays->remote;
}
