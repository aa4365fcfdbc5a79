/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 0x1p30

/* What a store takes for a tile, beside its entries. */
#define TILE_BYTES 24.0

bool memory_read(const char *text, double *bytes, struct message *message)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit) {
        value *= pow(1024, (double)(unit - units + 1));
        end++;
    }
    if (end == text || *end != '\0' || !(value >= 1) || isinf(value))
        return message_set(
            message, "--memory is '%s'; allowed: a number, then K, M, G or T",
            text);
    *bytes = value;
    return true;
}

double memory_of_tensors(const struct contraction *contraction)
{
    const struct tensor *c = &contraction->c, *a = &contraction->a;
    const struct tensor *b = &contraction->b;
    return sizeof(double) * (c->entries + a->entries + b->entries) +
           TILE_BYTES * (double)(c->tiles + a->tiles + b->tiles);
}

/* What programs could still have; infinite where the system does not say. */
static double available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[200];
    double kib = INFINITY;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kib * 1024;
}

static double share_of_node(void)
{
    MPI_Comm node;
    int ranks;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_size(node, &ranks);
    double share = available() / ranks;
    MPI_Bcast(&share, 1, MPI_DOUBLE, 0, node);
    MPI_Comm_free(&node);
    return share;
}

bool memory_check(const struct contraction *contraction, double rank_bytes,
                  double limit, struct message *message)
{
    const double tensors = memory_of_tensors(contraction);
    char remedy[100];
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (limit == 0)
        limit = share_of_node();
    MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &rank_bytes, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    double wanted = tensors / size + rank_bytes;
    if (wanted <= limit)
        return true;
    if (rank_bytes < limit)
        snprintf(remedy, sizeof remedy,
                 "%.0f ranks with as much memory each are enough",
                 ceil(tensors / (limit - rank_bytes)));
    else
        snprintf(remedy, sizeof remedy, "no number of ranks is enough");
    return message_set(message,
                       "a rank needs %.3g GiB: 1/%d of C, A and B, which have "
                       "%.3g GiB, and %.3g GiB of its own; it has %.3g "
                       "GiB (--memory); %s",
                       wanted / GIB, size, tensors / GIB, rank_bytes / GIB,
                       limit / GIB, remedy);
}
