/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebalance: items that are no seeds, by messages on one to four ranks, against
 * the decision over arrays; and without memory.
 */
#include "post.h"

#include "decide/decide.h"

enum {
    EACH_MOST = 80 /* items of a rank */
};

/* What ranks have, longest first as arrays know it, and as it is given. */
struct problem {
    struct eki_random random;
    int ranks;
    int64_t first[POST_RANKS + 1];
    eki_ns ns[POST_RANKS * EACH_MOST];
    size_t bytes[POST_RANKS * EACH_MOST];
    int32_t to[POST_RANKS * EACH_MOST];
    /* Item I of the arrays is given as PLACE [I] of its rank. */
    int32_t places[POST_RANKS * EACH_MOST];
    bool has_bytes;
    struct eki_balance_wish wish;
};

/* What a rank is given. */
struct given {
    eki_ns ns[EACH_MOST];
    size_t bytes[EACH_MOST];
    int32_t to[EACH_MOST];
    struct eki_balance_items items;
    struct eki_balance_wish wish;
};

static int draw(struct problem *problem, int below)
{
    return (int)eki_random_below(&problem->random, (uint64_t)below);
}

static int longer_first(const void *a, const void *b)
{
    eki_ns x = *(const eki_ns *)a, y = *(const eki_ns *)b;
    return (x < y) - (x > y);
}

/* No two are as long as each other, so that their order is known. */
static void draw_problem(struct problem *problem)
{
    int64_t at = 0;
    problem->ranks = 1 + draw(problem, POST_RANKS);
    for (int r = 0; r < problem->ranks; r++) {
        int64_t n = draw(problem, 3) * draw(problem, EACH_MOST / 2);
        problem->first[r] = at;
        for (int64_t i = at; i < at + n; i++) {
            problem->ns[i] =
                ((eki_ns)1 + draw(problem, 1000)) * 4096 + (eki_ns)i;
            problem->bytes[i] = (size_t)draw(problem, 100000);
            problem->places[i] = (int32_t)((i - at) * 7 % n);
        }
        if (n % 7 == 0) {
            for (int64_t i = at; i < at + n; i++)
                problem->places[i] = (int32_t)(at + n - 1 - i);
        }
        qsort(problem->ns + at, (size_t)n, sizeof *problem->ns, longer_first);
        at += n;
    }
    problem->first[problem->ranks] = at;
    problem->has_bytes = draw(problem, 2) == 1;
    problem->wish = (struct eki_balance_wish){
        .eps = draw(problem, 10) / 100.0,
        .group = draw(problem, 3) ? 0 : 1 + draw(problem, 3)};
}

static void give(const struct problem *problem, int rank, struct given *given)
{
    int64_t first = problem->first[rank];
    int64_t n = problem->first[rank + 1] - first;
    given->items = (struct eki_balance_items){
        .count = n,
        .ns = given->ns,
        .bytes = problem->has_bytes ? given->bytes : NULL,
        .to = given->to};
    given->wish = problem->wish;
    given->wish.items = &given->items;
    for (int64_t i = 0; i < n; i++) {
        int32_t place = problem->places[first + i];
        given->ns[place] = problem->ns[first + i];
        given->bytes[place] = problem->bytes[first + i];
        given->to[i] = rank;
    }
}

/* All ranks are in a phase that decides. */
static void enter(const struct problem *problem, struct post *post,
                  struct given *given)
{
    static const int workers[POST_RANKS] = {1, 1, 1, 1};
    static const int nodes[POST_RANKS] = {0, 1, 1, 2};
    post_open(post, problem->ranks, workers, nodes, problem->random);
    for (int r = 0; r < post->ranks; r++) {
        struct lone *lone = &post->desks[r].lone;
        give(problem, r, &given[r]);
        const struct eki_phase phase = {.kind = EKI_PHASE_RESTORE,
                                        .signature = 1,
                                        .balance = &given[r].wish};
        eki_rebalance_prepare(lone->engine);
        lone_enter_phase(lone, &phase);
    }
}

static void check_places(const struct problem *problem,
                         const struct given *given)
{
    for (int r = 0; r < problem->ranks; r++) {
        for (int64_t i = problem->first[r]; i < problem->first[r + 1]; i++)
            CHECK_EQ_INT(given[r].to[problem->places[i]], problem->to[i]);
    }
}

static void decide(struct problem *problem, struct decision *decision)
{
    static const int32_t nodes[POST_RANKS] = {0, 1, 1, 2};
    const struct decide_input input = {
        .workers = problem->ranks,
        .first = problem->first,
        .ns = problem->ns,
        .bytes = problem->has_bytes ? problem->bytes : NULL,
        .eps = problem->wish.eps,
        .group = problem->wish.group,
        .nodes = nodes,
        .node_count = 3};
    CHECK(decide_arrays(&input, problem->to, decision));
}

/* Nothing else moves: engines have no tasks. */
static void items_are_decided_as_arrays_are(void)
{
    struct problem *problem = calloc(1, sizeof *problem);
    struct post *post = calloc(1, sizeof *post);
    struct given *given = calloc(POST_RANKS, sizeof *given);
    int64_t moved[2] = {0, 0};
    eki_random_seed(&problem->random, 31, 0);
    for (int run = 0; run < 300 && check_failed() == 0; run++) {
        struct decision decision;
        draw_problem(problem);
        decide(problem, &decision);
        enter(problem, post, given);
        CHECK(post_run(post));
        check_places(problem, given);
        for (int r = 0; r < post->ranks; r++) {
            const struct eki_engine *engine = post->desks[r].lone.engine;
            CHECK_EQ_INT(eki_rebalance_report(engine)->moved, decision.moved);
            CHECK_EQ_INT(eki_rebalance_own(engine).sent, 0);
        }
        moved[problem->has_bytes] += decision.moved;
        post_close(post);
    }
    CHECK(moved[0] > 1000 && moved[1] > 1000);
    free(given);
    free(post);
    free(problem);
}

/* Whichever allocation fails: a rank has ended the phase, or all is decided. */
static void items_without_memory_end_the_phase(void)
{
    struct problem *problem = calloc(1, sizeof *problem);
    struct post *post = calloc(1, sizeof *post);
    struct given *given = calloc(POST_RANKS, sizeof *given);
    struct decision decision;
    int failures = 0;
    eki_random_seed(&problem->random, 32, 0);
    do
        draw_problem(problem), decide(problem, &decision);
    while (problem->ranks < 2 || decision.moved < 5 || !problem->has_bytes);
    for (bool is_over = false; !is_over && failures < 200;) {
        enter(problem, post, given);
        eki_memory_fail(failures + 1);
        bool is_decided = post_run(post);
        eki_memory_fail(0);
        bool is_stopped = false;
        for (int r = 0; r < post->ranks; r++)
            is_stopped |= eki_is_stopped(post->desks[r].lone.engine);
        CHECK(is_stopped || is_decided);
        is_over = is_decided && !is_stopped;
        if (is_over)
            check_places(problem, given);
        failures += !is_over;
        post_close(post);
    }
    CHECK(failures > 10 && failures < 200);
    free(given);
    free(post);
    free(problem);
}

int main(void)
{
    RUN(items_are_decided_as_arrays_are);
    RUN(items_without_memory_end_the_phase);
    return check_result();
}
