/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpdc12: the printed algorithms against a six-worker instance worked by hand,
 * against a model of a few lines, and by messages on one to four ranks, which
 * come in any order that their pairs allow; our own by messages and in arrays.
 */
#include "post.h"
#include "tell.h"

#include "decide/decide.h"
#include "printed/tree.h"
#include "printed/vertices.h"

#include <stdlib.h>

enum {
    WORKERS_MOST = 70,
    TASKS_MOST = WORKERS_MOST * 100
};

/* Tasks by worker, longest first, and where they go. */
struct problem {
    int32_t workers;
    int64_t first[WORKERS_MOST + 1];
    uint16_t bins[TASKS_MOST];
    eki_ns ns[TASKS_MOST];
    int32_t to[TASKS_MOST];
    struct eki_hpdc12 constants;
    bool is_ours; /* decided with these, and not as printed */
    double eps;
    int32_t group;
};

static struct eki_random random_state;

static int draw(int below)
{
    return (int)eki_random_below(&random_state, (uint64_t)below);
}

static bool decide(struct problem *problem, struct decision *decision)
{
    const struct decide_input input = {
        .workers = problem->workers,
        .first = problem->first,
        .ns = problem->ns,
        .eps = problem->eps,
        .group = problem->group,
        .printed = problem->is_ours ? NULL : &problem->constants};
    return decide_arrays(&input, problem->to, decision);
}

/*
 * Six workers of 6 in the mean, branching 3:
 *
 *     0: 5 4 3 2    1: 4    2: 3    3: 6 3    4: 4    5: 2
 */
static void open_six(struct problem *problem, double shed, double fill,
                     int32_t branching)
{
    static const int64_t first[] = {0, 4, 5, 6, 8, 9, 10};
    static const eki_ns ns[] = {5, 4, 3, 2, 4, 3, 6, 3, 4, 2};
    problem->workers = 6;
    problem->constants = (struct eki_hpdc12){shed, fill, branching, true};
    memcpy(problem->first, first, sizeof first);
    for (int i = 0; i < 10; i++)
        problem->ns[i] = 1000 * ns[i];
}

/* TO: a digit for each task. */
static void check_six(double shed, double fill, int32_t branching,
                      const char *to)
{
    struct problem *problem = calloc(1, sizeof *problem);
    struct decision decision;
    char is[11] = "";
    open_six(problem, shed, fill, branching);
    CHECK(decide(problem, &decision));
    for (int i = 0; i < 10; i++)
        is[i] = (char)('0' + problem->to[i]);
    CHECK_EQ_TEXT(is, to);
    free(problem);
}

static void six_workers_end_as_by_hand(void)
{
    /* C = 1: worker 0 sheds 2, 3 and 4 and keeps 5; worker 3 sheds 3.
     * D = 0.75, which is 4.5: of workers 0, 1 and 2 with 5, 4 and 3 the last
     * gets 4, the one before it 3, and 2 goes up, since all have 4.5 then.  Of
     * 3, 4 and 5 with 6, 4 and 2 the last gets 3.  The root has 19 and 15 below
     * it: the right vertex gets 2, though it has 5 in the mean, and gives it to
     * worker 4 of 6, 4 and 5. */
    check_six(1, 0.75, 3, "0214123545");
    /* D = 1: worker 0 has 5 < 6 then, and gets its own 2 back. */
    check_six(1, 1, 3, "0210123545");
    /* C = 1.5, which is 9: worker 0 sheds 2 and 3, worker 3 nothing. */
    check_six(1.5, 0.75, 3, "0021123345");
    /* Who fills nobody sends all to the root, where 4 and 4 are below: it gives
     * 4, then to the right both 3, then 2.  Of 4 and 2 worker 2 gets the first,
     * worker 1 the second; of worker 0's 3 and worker 3's workers 5 and 4. */
    check_six(1, 0.1, 3, "0251123445");
    /* Of 0 and 1 the latter gets 4, 3 and 2 go up; of 2 and 3 the former gets
     * 3.  Above, 6.5 and 6 take nothing.  The root gives both to the right,
     * where 5 gets 3 and 4 gets 2. */
    check_six(1, 0.75, 2, "0154123245");
    /* One vertex is Algorithm 1, and D does not count. */
    check_six(1, 0.75, 8, "0524123145");
    check_six(1, 0.1, 8, "0524123145");
}

/* Every inner vertex is on a worker below it, none with another one that has
 * two children, and who lists what they host lists each once. */
static void check_hosts(const struct eki_tree *tree, int32_t each)
{
    int hosted[WORKERS_MOST] = {0};
    int32_t first, vertex, listed = 0;
    for (int32_t v = tree->workers; v < eki_tree_count(tree); v++) {
        int32_t host = eki_tree_host(tree, v);
        int32_t leaves = eki_tree_leaves(tree, v, &first);
        CHECK(host >= first && host < first + leaves);
        if (eki_tree_children(tree, v, &first) > 1)
            CHECK_EQ_INT(++hosted[host], 1);
        for (int32_t i = eki_tree_children(tree, v, &first); i-- > 0;)
            CHECK_EQ_INT(eki_tree_parent(tree, first + i), v);
    }
    for (int32_t w = 0; w < tree->workers; w += each) {
        int32_t last = w + each < tree->workers ? w + each : tree->workers;
        for (int level = 1; level <= tree->top; level++) {
            int32_t n = eki_tree_hosted(tree, level, w, last - 1, &vertex);
            for (int32_t i = 0; i < n; i++, listed++)
                CHECK(eki_tree_host(tree, vertex + i) >= w &&
                      eki_tree_host(tree, vertex + i) < last);
        }
    }
    CHECK_EQ_INT(listed, eki_tree_count(tree) - tree->workers);
}

static void vertices_are_spread_over_workers(void)
{
    for (int32_t workers = 1; workers < WORKERS_MOST; workers++) {
        for (int32_t branching = 2; branching < 12; branching++) {
            struct eki_tree tree;
            eki_tree_open(&tree, workers, branching);
            CHECK_EQ_INT(eki_tree_root(&tree), eki_tree_count(&tree) - 1);
            check_hosts(&tree, 1 + workers * branching % 7);
        }
    }
}

static int longer_first(const void *a, const void *b)
{
    return *(const uint16_t *)b - *(const uint16_t *)a;
}

/* Some workers have nothing, some much; tasks of one length or many. */
static void draw_problem(struct problem *problem)
{
    static const int32_t branchings[] = {2, 3, 8};
    static const double limits[] = {0.8, 1.003, 1.2};
    int spread = draw(3) * 1500;
    int64_t at = 0;
    problem->workers = draw(8) == 0 ? 1 + draw(3) : 1 + draw(WORKERS_MOST);
    problem->constants = (struct eki_hpdc12){limits[draw(3)], limits[draw(3)],
                                             branchings[draw(3)], draw(4) > 0};
    if (draw(5) == 0) /* one vertex */
        problem->constants.branching = WORKERS_MOST;
    for (int32_t w = 0; w < problem->workers; w++) {
        int n = draw(3) * draw(problem->is_ours ? 50 : 15);
        problem->first[w] = at;
        for (int i = 0; i < n; i++)
            problem->bins[at + i] = (uint16_t)(3000 + draw(spread + 1));
        qsort(problem->bins + at, (size_t)n, sizeof *problem->bins,
              longer_first);
        at += n;
    }
    problem->first[problem->workers] = at;
    for (int64_t i = 0; i < at; i++)
        problem->ns[i] = (eki_ns)eki_bin_ns(problem->bins[i]);
}

/* The paper's algorithms once more, from its text: vertices as LEVELS of loads,
 * every task with the vertex where it is. */
struct model {
    eki_ns loads[8][WORKERS_MOST];
    int counts[8], top; /* vertices of each level */
    struct {
        int level, vertex, turn; /* where it is, and since when */
        bool goes_up, stays;
    } tasks[TASKS_MOST];
    int turn;
};

/* How many workers are below a vertex. */
static int below(const struct problem *problem, int level, int vertex)
{
    int width = 1;
    for (; level > 0; level--)
        width *= problem->constants.branching;
    int rest = problem->workers - vertex * width;
    return rest < width ? rest : width;
}

/* The longest task that a vertex has to give, of equal ones that which came
 * first; -1: none. */
static int64_t next_task(const struct problem *problem,
                         const struct model *model, int level, int vertex,
                         bool goes_up)
{
    int64_t next = -1;
    for (int64_t i = 0; i < problem->first[problem->workers]; i++) {
        if (model->tasks[i].stays || model->tasks[i].level != level ||
            model->tasks[i].vertex != vertex ||
            model->tasks[i].goes_up != goes_up)
            continue;
        if (next < 0 || problem->ns[i] > problem->ns[next] ||
            (problem->ns[i] == problem->ns[next] &&
             model->tasks[i].turn < model->tasks[next].turn))
            next = i;
    }
    return next;
}

static void give_tasks(const struct problem *problem, struct model *model,
                       int level, int vertex, bool goes_up, double limit)
{
    int k = problem->constants.branching, first = vertex * k;
    int end = first + k < model->counts[level - 1] ? first + k
                                                   : model->counts[level - 1];
    eki_ns *loads = model->loads[level - 1];
    for (int64_t i;
         (i = next_task(problem, model, level, vertex, goes_up)) >= 0;) {
        int to = first;
        for (int child = first; child < end; child++) {
            if ((double)loads[child] / below(problem, level - 1, child) <
                (double)loads[to] / below(problem, level - 1, to))
                to = child;
        }
        bool is_given =
            level == model->top || !goes_up ||
            (double)loads[to] / below(problem, level - 1, to) < limit;
        model->tasks[i].turn = model->turn++;
        model->tasks[i].goes_up = !is_given;
        model->tasks[i].level = is_given ? level - 1 : level + 1;
        model->tasks[i].vertex = is_given ? to : vertex / k;
        if (is_given)
            loads[to] += problem->ns[i];
    }
    for (int child = first; goes_up && child < end; child++)
        model->loads[level][vertex] += loads[child];
}

static void open_model(const struct problem *problem, struct model *model,
                       double mean)
{
    int k = problem->constants.branching;
    model->counts[0] = problem->workers;
    do {
        int n = model->counts[model->top++];
        model->counts[model->top] = (n + k - 1) / k;
    } while (model->counts[model->top] > 1);
    for (int w = 0; w < problem->workers; w++) {
        int64_t first = problem->first[w], i = problem->first[w + 1];
        eki_ns *load = &model->loads[0][w];
        for (int64_t j = first; j < i; j++) {
            *load += problem->ns[j];
            model->tasks[j].vertex = w;
            model->tasks[j].stays = true;
        }
        while (i > first && *load > (eki_ns)(problem->constants.shed * mean)) {
            *load -= problem->ns[--i];
            model->tasks[i].stays = false;
            model->tasks[i].turn = model->turn++;
            model->tasks[i].goes_up = true;
            model->tasks[i].level = 1;
            model->tasks[i].vertex = w / k;
        }
    }
}

/* Put where each task goes into TO. */
static void run_model(struct problem *problem, int32_t *to)
{
    struct model *model = calloc(1, sizeof *model);
    int64_t count = problem->first[problem->workers];
    eki_ns total = 0;
    for (int64_t i = 0; i < count; i++)
        total += problem->ns[i];
    double mean = (double)total / problem->workers;
    if (!problem->constants.is_hierarchical)
        problem->constants.branching = WORKERS_MOST;
    open_model(problem, model, mean);
    for (int level = 1; level <= model->top; level++) {
        for (int v = 0; v < model->counts[level]; v++)
            give_tasks(problem, model, level, v, true,
                       problem->constants.fill * mean);
    }
    for (int level = model->top - 1; level > 0; level--) {
        for (int v = 0; v < model->counts[level]; v++)
            give_tasks(problem, model, level, v, false, 0);
    }
    for (int64_t i = 0; i < count; i++)
        to[i] = model->tasks[i].vertex;
    free(model);
}

static void arrays_decide_as_the_model(void)
{
    struct problem *problem = calloc(1, sizeof *problem);
    int32_t *to = calloc(TASKS_MOST, sizeof *to);
    int64_t moved = 0;
    eki_random_seed(&random_state, 21, 0);
    for (int run = 0; run < 300 && check_failed() == 0; run++) {
        struct decision decision;
        draw_problem(problem);
        run_model(problem, to);
        CHECK(decide(problem, &decision));
        for (int64_t i = 0; i < problem->first[problem->workers]; i++)
            CHECK_EQ_INT(problem->to[i], to[i]);
        moved += decision.moved;
    }
    CHECK(moved > 10000);
    free(to);
    free(problem);
}

/* RANKS ranks, each with some of the workers and their tasks. */
static void open_post(struct post *post, const struct problem *problem,
                      int ranks)
{
    int workers[POST_RANKS], nodes[POST_RANKS], all = 0;
    int64_t at = 0;
    for (int r = 0; r < ranks; r++) {
        int rest = problem->workers - all - (ranks - r - 1);
        workers[r] = r == ranks - 1 ? rest : 1 + draw(rest);
        all += workers[r];
        nodes[r] = r > 0 ? nodes[r - 1] + draw(2) : 0;
    }
    post_open(post, ranks, workers, nodes, random_state);
    for (int r = 0; r < ranks; r++) {
        struct desk *desk = &post->desks[r];
        eki_rebalance_prepare(desk->lone.engine);
        for (int here = 0; here < workers[r]; here++) {
            int w = desk->lone.topology->first_worker[r] + here;
            for (; at < problem->first[w + 1]; at++) {
                struct eki_slot *slot =
                    lone_seed_at(&desk->lone, here, (uint64_t)at);
                slot->bin = problem->bins[at];
                slot->deviation = 0;
            }
        }
    }
}

/* Until no rank waits for another. */
static void run_post(struct post *post, const struct problem *problem)
{
    const struct eki_balance_wish wish = {
        .eps = problem->eps,
        .group = problem->group,
        .algorithm = problem->is_ours
                         ? NULL
                         : eki_printed_algorithm(&problem->constants),
        .printed = problem->constants};
    const struct eki_phase phase = {
        .kind = EKI_PHASE_RESTORE, .signature = 1, .balance = &wish};
    for (int r = 0; r < post->ranks; r++)
        lone_enter_phase(&post->desks[r].lone, &phase);
    CHECK(post_run(post));
}

/* What all ranks report of what the arrays have decided. */
static void check_reports(const struct post *post,
                          const struct problem *problem,
                          const struct decision *decision)
{
    uint64_t hash = 0;
    bool is_undone = decision->after > decision->before;
    for (int w = 0; w < problem->workers; w++) {
        int64_t first = problem->first[w];
        for (int64_t i = first; i < problem->first[w + 1]; i++) {
            if (problem->to[i] != w)
                hash += eki_hash(eki_hash((uint64_t)w, (uint64_t)(i - first)),
                                 (uint64_t)problem->to[i]);
        }
    }
    for (int r = 0; r < post->ranks; r++) {
        const struct eki_balance_report *report =
            eki_rebalance_report(post->desks[r].lone.engine);
        CHECK_EQ_INT(report->moved, is_undone ? 0 : decision->moved);
        CHECK_EQ_INT(report->hash, is_undone ? 0 : hash);
        CHECK_NEAR(report->before, decision->before, 1e-9);
        CHECK_NEAR(report->after,
                   is_undone ? decision->before : decision->after, 1e-9);
    }
}

/* By messages on RANKS ranks as over arrays; what moves. */
static struct decision decide_twice(struct problem *problem, int ranks)
{
    struct post *post = calloc(1, sizeof *post);
    struct decision decision;
    CHECK(decide(problem, &decision));
    open_post(post, problem, ranks);
    run_post(post, problem);
    check_reports(post, problem, &decision);
    post_close(post);
    free(post);
    return decision;
}

static void messages_decide_as_arrays(void)
{
    struct problem *problem = calloc(1, sizeof *problem);
    int64_t moved = 0;
    eki_random_seed(&random_state, 22, 0);
    for (int run = 0; run < 200 && check_failed() == 0; run++) {
        draw_problem(problem);
        int most =
            problem->workers < POST_RANKS ? problem->workers : POST_RANKS;
        moved += decide_twice(problem, 1 + draw(most)).moved;
    }
    CHECK(moved > 10000);
    free(problem);
}

/* ek-bench balance measures balance/ over arrays: what it says is said of the
 * donors, leaders and the root, too.  One task may be a giant. */
static void ours_decide_as_arrays(void)
{
    struct problem *problem = calloc(1, sizeof *problem);
    int64_t moved = 0, moved_in_groups = 0;
    int differ = 0;
    problem->is_ours = true;
    eki_random_seed(&random_state, 17, 0);
    for (int run = 0; run < 300 && check_failed() == 0; run++) {
        draw_problem(problem);
        if (draw(4) == 0 && problem->first[1] > 0)
            problem->ns[0] = (eki_ns)eki_bin_ns(problem->bins[0] += 2500);
        problem->eps = draw(10) / 100.0;
        problem->group = 0;
        struct decision all = decide_twice(problem, 1);
        problem->group = 1 + draw(problem->workers);
        struct decision groups = decide_twice(problem, 1);
        moved += all.moved;
        moved_in_groups += groups.moved;
        differ += all.hash != groups.hash;
    }
    CHECK(moved > 3000 && moved_in_groups > 3000);
    /* Groups decide otherwise where there is something to decide. */
    CHECK(differ > 100);
    free(problem);
}

/* Rank of two of Algorithm 2: the vertex above both workers is on rank 1.  Rank
 * 0 has three tasks, of which it sheds one, rank 1 has told nothing yet. */
static void begin_tree(struct lone *lone, int rank)
{
    begin_as(lone, rank, rank == 0 ? 3 : 1, EK_RESTORE_HIERARCHICAL_HPDC12);
    lone_serve(lone);
    lone_forget(lone);
    if (rank == 0)
        tell_totals(lone, 1);
    else
        tell_target(lone, 2, false);
}

struct up {
    struct eki_up_told told;
    struct eki_item item;
};

static void vertex_gives_what_comes_up(struct lone *lone)
{
    struct up up = {{2 * task_ns()}, {task_ns(), 0, 2}};
    begin_tree(lone, 1);
    CHECK_EQ_INT(lone->sent_count, 0);
    tell_of(lone, EKI_PARCEL_UP, 0, &up, sizeof up);
    /* Worker 0 gets nothing, worker 1 fetches its task, rank 0 hears of it. */
    CHECK_EQ_INT(lone->sent_count, 3);
    const struct eki_head *down = lone_sent_head(lone, 0);
    CHECK_EQ_INT(down->detail, EKI_PARCEL_DOWN);
    CHECK_EQ_INT(down->worker, 0);
    CHECK_EQ_INT(down->bytes, 0);
    bool has_fetched = false, has_told = false;
    for (int i = 1; i < 3; i++) {
        const struct eki_message *sent =
            (const struct eki_message *)lone->sent[i].bytes;
        struct eki_fetch_told fetch;
        struct eki_result_told result;
        if (sent->head.detail == EKI_PARCEL_FETCH) {
            memcpy(&fetch, sent->body, sizeof fetch);
            has_fetched =
                sent->head.worker == 1 && fetch.from == 0 && fetch.index == 2;
        } else {
            memcpy(&result, sent->body, sizeof result);
            has_told = result.moved == 1 && result.across == 1 &&
                       result.after == 2 * task_ns();
        }
    }
    CHECK(has_fetched && has_told);
}

/* Rank 0 sheds a task, and hears that worker 1 fetches it. */
static void worker_gives_what_is_fetched(struct lone *lone)
{
    struct eki_fetch_told fetch = {0, 2};
    begin_tree(lone, 0);
    const struct eki_head *sent = lone_sent_head(lone, lone->sent_count - 1);
    CHECK_EQ_INT(sent->detail, EKI_PARCEL_UP);
    CHECK_EQ_INT(sent->worker, 0);
    CHECK_EQ_INT(sent->bytes, sizeof(struct up));
    tell_of(lone, EKI_PARCEL_FETCH, 1, &fetch, sizeof fetch);
    tell_of(lone, EKI_PARCEL_DOWN, 0, NULL, 0);
    CHECK_EQ_INT(lone->engine->holds, 1);
    struct eki_result_told result = {
        .after = 2 * task_ns(), .moved = 1, .fewest = 0};
    tell(lone, EKI_PARCEL_RESULT, &result, sizeof result);
    CHECK_EQ_INT(lone->engine->holds, 0);
    CHECK_EQ_INT(eki_local_seed_tasks(&lone_worker(lone)->local), 2);
}

int main(void)
{
    RUN(six_workers_end_as_by_hand);
    RUN(vertices_are_spread_over_workers);
    RUN(arrays_decide_as_the_model);
    RUN(messages_decide_as_arrays);
    RUN(ours_decide_as_arrays);
    RUN_LONE(vertex_gives_what_comes_up);
    RUN_LONE(worker_gives_what_is_fetched);
    return check_result();
}
