/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job has, and what to change. */
#ifndef EK_BENCH_DOCTOR_H
#define EK_BENCH_DOCTOR_H

#include "bench.h"

#include "collection/collection.h"

/* Who started the ranks, by a variable that it sets. */
struct launcher {
    const char *variable, *size, *rank; /* size: of the job; rank: of this */
    const char *name;
    const char *cores; /* how to give each rank %d cores; NULL: unknown */
    const char *join;  /* how to make MPI know the ranks */
};

/* What a rank has. */
struct patient {
    struct eki_affinity affinity;
    int workers;
    int threads; /* that it would use if it could */
    int cores;   /* less than CPUs where cores have several hardware threads */
    bool has_server;
    char host[64];
    char cpus[64];                   /* such as 0-3,8 */
    double free_bytes, needed_bytes; /* of shared memory; 0: unknown */
    const char *mount;               /* of rank 0 */
};

struct ward {
    const struct bench *bench;
    const struct launcher *launcher; /* NULL: none */
    struct patient *patients;        /* [size]; rank 0 */
    int nodes, level;
    ek_status failure; /* of the collection, which has said why */
    bool is_busy;      /* messages could not be measured */
};

/* Who started this process; NULL: nobody who says so. */
const struct launcher *doctor_find_launcher(void);
/* Ranks that the launcher has started; 0: unknown. */
int doctor_launched(const struct launcher *launcher);

/* Print what to change, or that there is nothing; rank 0. */
void doctor_advise(const struct ward *ward);

#endif
