/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker of a lone engine that asks for work, and the answers it gets. */
#ifndef ASK_H
#define ASK_H

#include "lone.h"

static inline void begin(struct lone *lone)
{
    lone_open(lone, 0);
    lone_begin(lone, EK_STEAL_RANDOM);
}

/* The worker looks at the moment NOW; whether that makes it ask. */
static inline bool asks_at(struct lone *lone, uint64_t now)
{
    lone->now = now;
    CHECK_EQ_INT(eki_worker_step(lone_worker(lone), now), EKI_STEP_WAIT);
    return eki_worker_calls(lone_worker(lone));
}

/* The server sends what is asked; when. */
static inline uint64_t send_request(struct lone *lone)
{
    lone_forget(lone);
    lone_serve(lone);
    CHECK_EQ_INT(lone->sent_count, 1);
    const struct eki_message *request =
        lone_sent_to(lone, 0, EKI_KIND_REQUEST, lone->to[0]);
    CHECK_EQ_INT(request->head.worker, lone_worker(lone)->id);
    CHECK_EQ_INT(request->head.bytes, 0);
    return lone->now;
}

/* COUNT tasks of an answer of which LEFT more follow. */
static inline void grant(struct lone *lone, int count, uint64_t first, int left)
{
    struct eki_message *tasks = lone_message(lone, EKI_KIND_TASKS);
    lone_fill(lone, tasks, count, first);
    tasks->head.worker = lone_worker(lone)->id;
    tasks->head.first = left;
    lone_serve(lone);
}

#endif
