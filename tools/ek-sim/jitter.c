/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each worker runs and pauses in turn, for exponential times of its own stream
 * of random numbers, whatever it does: a task that falls into a pause goes on
 * behind it.
 */
#include "jitter.h"

#include "base/exact.h"

#include <stdlib.h>

/* Of random numbers; workers have those behind it. */
#define STREAM_JITTER (UINT64_C(3) << 32)

/* A worker's next pause. */
struct pause {
    struct eki_random random;
    uint64_t begin, end;
};

struct jitter {
    double run_ns, pause_ns; /* mean */
    struct pause pauses[];   /* [workers] */
};

bool jitter_read(const char *text, struct eki_machine *machine,
                 struct message *message)
{
    enum {
        DEFAULT_NS = 1000000
    };
    char *end;
    double share = strtod(text, &end), ms = DEFAULT_NS * 1e-6;
    bool is_good = end != text && share >= 0 && share <= 90;
    if (is_good && *end == ':') {
        const char *from = end + 1;
        ms = strtod(from, &end);
        is_good = end != from && ms >= 1e-3 && ms <= 1e4;
    }
    if (!is_good || *end != '\0')
        return message_set(message,
                           "--jitter is '%s'; allowed: P[:MS], P from 0 to 90 "
                           "(%%), MS from 0.001 to 10000",
                           text);
    machine->pause_share = share;
    machine->pause = ms * 1e6;
    return true;
}

/* Beyond the longest run. */
#define NS_MOST 1e18

/* Above 0, at most 1. */
static double draw_uniform(struct eki_random *random)
{
    return (double)((eki_random_next(random) >> 11) + 1) * 0x1p-53;
}

static uint64_t draw(struct eki_random *random, double mean_ns)
{
    double ns = -mean_ns * eki_exact_log(draw_uniform(random));
    return (uint64_t)(ns < NS_MOST ? ns : NS_MOST);
}

static void draw_next(const struct jitter *jitter, struct pause *pause)
{
    pause->begin = pause->end + draw(&pause->random, jitter->run_ns);
    pause->end = pause->begin + 1 + draw(&pause->random, jitter->pause_ns);
}

/* Some workers begin in a pause, whose rest is as long as a whole one. */
static void begin(const struct jitter *jitter, struct pause *pause,
                  double share)
{
    if (draw_uniform(&pause->random) * 100 <= share)
        pause->end = 1 + draw(&pause->random, jitter->pause_ns);
    else
        draw_next(jitter, pause);
}

struct jitter *jitter_open(const struct run *run)
{
    double share = run->machine.pause_share, pause_ns = run->machine.pause;
    size_t workers = (size_t)run->workers;
    if (share == 0 || pause_ns == 0)
        return NULL;
    struct jitter *jitter =
        allocate(1, sizeof *jitter + workers * sizeof *jitter->pauses);
    jitter->pause_ns = pause_ns;
    jitter->run_ns = pause_ns * (100 - share) / share;
    for (size_t w = 0; w < workers; w++) {
        eki_random_seed(&jitter->pauses[w].random, (uint64_t)run->source->seed,
                        STREAM_JITTER + w);
        begin(jitter, &jitter->pauses[w], share);
    }
    return jitter;
}

void jitter_close(struct jitter *jitter)
{
    free(jitter);
}

uint64_t jitter_ns(struct jitter *jitter, ptrdiff_t worker, uint64_t now,
                   uint64_t ns)
{
    if (!jitter)
        return ns;
    struct pause *pause = &jitter->pauses[worker];
    while (pause->end <= now)
        draw_next(jitter, pause);
    uint64_t end = now + ns;
    for (; pause->begin < end; draw_next(jitter, pause))
        end += pause->end - (pause->begin > now ? pause->begin : now);
    return end - now;
}
