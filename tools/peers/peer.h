/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that another library's tasks run: UTS or queens, a task per node,
 * on the same generators as the examples.
 *
 *     PROGRAM UTS-TREE|queens:N WORKERS
 *
 * prints what was counted and the seconds that it took.  Built and run by
 * tools/compare-uts, never by the normal build.
 */
#ifndef PEERS_PEER_H
#define PEERS_PEER_H

/* C++ has these before anything in extern "C" asks for them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "workloads/queens.h"
#include "workloads/uts.h"

enum {
    PEER_LINE = 128, /* bytes that no two workers share */
    PEER_WORKERS_MOST = 256
};

/* Nodes that a worker has visited; of queens: solutions that it has found. */
struct peer_count {
    int64_t count;
    char unused[PEER_LINE - sizeof(int64_t)];
};

struct peer_problem {
    bool is_uts;
    struct uts_tree tree;
    int rows; /* of queens */
};

/* Given by each program: make WORKERS, which are kept from run to run ... */
void peer_start(int workers);
/* ... count all of PROBLEM with them ... */
int64_t peer_count(const struct peer_problem *problem);
/* ... and end them. */
void peer_stop(void);

/* Sum of what the workers counted, which is zero then. */
int64_t peer_sum(struct peer_count *counts);

#ifdef __cplusplus
}
#endif
#endif
