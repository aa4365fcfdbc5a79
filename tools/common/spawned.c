/* SPDX-License-Identifier: BSD-3-Clause */
#include "spawned.h"

#include <math.h>
#include <stdlib.h>

/* Tasks FIRST ... END - 1 are children of PARENT, by their places. */
struct brood {
    int64_t parent, first, end;
};

/* The tasks in a new order. */
struct sorting {
    struct eki_record_task *from, *to; /* [count] */
    int64_t *order;                    /* [count] places in FROM */
    bool *is_child;                    /* [count], by place in FROM */
    struct brood *broods;              /* [brood_count], by parent */
    int64_t count, brood_count;
};

static int compare_tasks(const void *a, const void *b)
{
    const struct eki_record_task *first = a, *second = b;
    if (first->id != second->id)
        return first->id < second->id ? -1 : 1;
    if (first->worker != second->worker)
        return first->worker < second->worker ? -1 : 1;
    return (first->duration_ns > second->duration_ns) -
           (first->duration_ns < second->duration_ns);
}

/* Those of one worker often are sorted. */
void spawned_sort_ids(struct eki_record_iteration *iteration)
{
    const struct eki_record_task *tasks = iteration->tasks;
    bool is_sorted = true;
    for (int64_t k = 1; k < iteration->task_count; k++)
        is_sorted &= tasks[k - 1].id <= tasks[k].id;
    if (!is_sorted)
        qsort(iteration->tasks, (size_t)iteration->task_count,
              sizeof *iteration->tasks, compare_tasks);
}

/* The first task whose id is not below ID. */
static int64_t place_of(const struct sorting *sorting, uint64_t id)
{
    return eki_place_from(sorting->from, sorting->count, sizeof *sorting->from,
                          id);
}

static void add_brood(struct sorting *sorting,
                      const struct eki_record_family *family)
{
    struct brood brood = {.parent = place_of(sorting, family->parent),
                          .first = place_of(sorting, family->first),
                          .end =
                              place_of(sorting, family->first + family->count)};
    if (brood.parent == sorting->count ||
        sorting->from[brood.parent].id != family->parent ||
        brood.first == brood.end)
        return;
    for (int64_t k = brood.first; k < brood.end; k++)
        sorting->is_child[k] = true;
    sorting->broods[sorting->brood_count++] = brood;
}

static int compare_broods(const void *a, const void *b)
{
    const struct brood *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* The first brood of a parent that is not before PLACE. */
static int64_t brood_of(const struct sorting *sorting, int64_t place)
{
    int64_t first = 0, end = sorting->brood_count;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (sorting->broods[middle].parent < place)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Whether all tasks come from seeds. */
static bool find_order(struct sorting *sorting, struct spawned *spawned)
{
    int64_t found = 0;
    for (int64_t k = 0; k < sorting->count; k++) {
        if (!sorting->is_child[k])
            sorting->order[found++] = k;
    }
    spawned->seeds = found;
    for (int64_t k = 0; k < found; k++) {
        int64_t place = sorting->order[k];
        spawned->first_child[k] = found;
        for (int64_t b = brood_of(sorting, place);
             b < sorting->brood_count && sorting->broods[b].parent == place;
             b++) {
            const struct brood *brood = &sorting->broods[b];
            for (int64_t child = brood->first; child < brood->end; child++)
                sorting->order[found++] = child;
        }
    }
    spawned->first_child[found] = found;
    return found == sorting->count;
}

static ek_status sort(struct sorting *sorting,
                      const struct eki_record_iteration *iteration,
                      struct spawned *spawned)
{
    for (int64_t i = 0; i < iteration->family_count; i++)
        add_brood(sorting, &iteration->families[i]);
    qsort(sorting->broods, (size_t)sorting->brood_count,
          sizeof *sorting->broods, compare_broods);
    if (!find_order(sorting, spawned))
        return eki_error(EK_ERR_ARG,
                         "iteration %lld: tasks have spawned each other in a "
                         "ring",
                         (long long)iteration->head.iteration);
    for (int64_t k = 0; k < sorting->count; k++)
        sorting->to[k] = sorting->from[sorting->order[k]];
    return EK_OK;
}

ek_status spawned_sort(struct eki_record_iteration *iteration,
                       struct spawned *spawned)
{
    size_t count = (size_t)iteration->task_count;
    size_t families = (size_t)iteration->family_count;
    struct sorting sorting = {
        .from = iteration->tasks,
        .to = eki_alloc(count + 1, sizeof *sorting.to),
        .order = eki_alloc(count + 1, sizeof *sorting.order),
        .is_child = eki_alloc(count + 1, sizeof *sorting.is_child),
        .broods = eki_alloc(families + 1, sizeof *sorting.broods),
        .count = iteration->task_count};
    ek_status status = EK_ERR_NOMEM;
    *spawned = (struct spawned){
        .first_child = eki_alloc(count + 1, sizeof *spawned->first_child)};
    if (sorting.to && sorting.order && sorting.is_child && sorting.broods &&
        spawned->first_child)
        status = sort(&sorting, iteration, spawned);
    else
        eki_error(status, "no memory for %zu tasks", count);
    if (status == EK_OK) {
        iteration->tasks = sorting.to;
        sorting.to = sorting.from;
    } else {
        spawned_free(spawned);
    }
    eki_free(sorting.to);
    eki_free(sorting.order);
    eki_free(sorting.is_child);
    eki_free(sorting.broods);
    return status;
}

void spawned_free(struct spawned *spawned)
{
    eki_free(spawned->first_child);
    *spawned = (struct spawned){0};
}

double spawned_path(const struct spawned *spawned, const float *seconds,
                    int64_t count, double *paths, int *generations)
{
    double longest = 0;
    for (int64_t k = count - 1; k >= 0; k--) {
        double below = 0;
        for (int64_t child = spawned->first_child[k];
             child < spawned->first_child[k + 1]; child++)
            below = fmax(below, paths[child]);
        paths[k] = below + (double)seconds[k];
        longest = fmax(longest, paths[k]);
    }
    if (!generations)
        return longest;
    *generations = count > 0;
    /* The children of a generation follow it. */
    for (int64_t end = spawned->seeds; end < count; ++*generations)
        end = spawned->first_child[end];
    return longest;
}
