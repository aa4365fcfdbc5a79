/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"
#include "permute.h"

#include <cblas.h>
#ifdef HAS_XSMM
#include <libxsmm.h>
#endif

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Contracted entries of a call: a millisecond for tiles of 20, for who waits
 * for what is done between calls. */
#define SLICE 200

/* Indices of a role, in an order. */
struct group {
    int count;
    int index[RANK_MAX];
};

/* One of each: rows, columns, contracted. */
struct groups {
    struct group of[ROLE_CONTRACTED + 1];
};

/* The next order of a group; false: that was the last, and the first is back.
 */
static bool next_order(struct group *group)
{
    int *index = group->index, last = group->count - 1, at = last - 1;
    while (at >= 0 && index[at] > index[at + 1])
        at--;
    if (at >= 0) {
        int other = last;
        while (index[other] < index[at])
            other--;
        int kept = index[at];
        index[at] = index[other];
        index[other] = kept;
    }
    for (int low = at + 1, high = last; low < high; low++, high--) {
        int kept = index[low];
        index[low] = index[high];
        index[high] = kept;
    }
    return at >= 0;
}

static bool next_orders(struct groups *groups)
{
    for (int role = 0; role <= ROLE_CONTRACTED; role++) {
        if (next_order(&groups->of[role]))
            return true;
    }
    return false;
}

/* What permuting costs, per entry: whole rows are copied faster. */
static double permuting_cost(const struct term *term, const int *target)
{
    if (memcmp(term->index, target, (size_t)term->rank * sizeof *target) == 0)
        return 0;
    return term->index[term->rank - 1] == target[term->rank - 1] ? 1 : 2;
}

static void join(const struct group *first, const struct group *second,
                 int *target)
{
    memcpy(target, first->index, (size_t)first->count * sizeof *target);
    memcpy(target + first->count, second->index,
           (size_t)second->count * sizeof *target);
}

/* The better of a matrix and its transpose; what it costs per entry. */
static double choose_matrix(const struct term *term, const struct group *first,
                            const struct group *second,
                            struct matrix_order *matrix)
{
    int target[RANK_MAX], transposed[RANK_MAX];
    join(first, second, target);
    join(second, first, transposed);
    double cost = permuting_cost(term, target);
    double other = permuting_cost(term, transposed);
    matrix->is_transposed = other < cost;
    memcpy(matrix->index, matrix->is_transposed ? transposed : target,
           sizeof matrix->index);
    cost = matrix->is_transposed ? other : cost;
    matrix->is_permuted = cost > 0;
    return cost;
}

/* Where index FROM[d] is in TO. */
static void order_of(int rank, const int *from, const int *to, int *order)
{
    for (int d = 0; d < rank; d++) {
        order[d] = 0;
        while (to[order[d]] != from[d])
            order[d]++;
    }
}

void kernel_make(const struct contraction *contraction, struct kernel *kernel)
{
    const struct expression *e = &contraction->expression;
    const double products = (double)contraction->total.products;
    const double sums = contraction->task == TASK_TILE
                            ? (double)contraction->c.tiles
                            : products;
    struct groups groups = {0};
    double least = DBL_MAX;
    for (int i = 0; i < e->indices; i++) {
        struct group *group = &groups.of[e->role[i]];
        group->index[group->count++] = i;
    }
    *kernel = (struct kernel){.contraction = contraction};
    do {
        const struct group *m = &groups.of[ROLE_A], *n = &groups.of[ROLE_B];
        const struct group *k = &groups.of[ROLE_CONTRACTED];
        struct kernel other = *kernel;
        double cost = choose_matrix(&e->a, m, k, &other.a) *
                          (double)contraction->a.longest * products +
                      choose_matrix(&e->b, k, n, &other.b) *
                          (double)contraction->b.longest * products +
                      choose_matrix(&e->c, m, n, &other.c) *
                          (double)contraction->c.longest * sums;
        if (cost < least) {
            least = cost;
            *kernel = other;
        }
    } while (next_orders(&groups));
    order_of(e->a.rank, kernel->a.index, e->a.index, kernel->a.order);
    order_of(e->b.rank, kernel->b.index, e->b.index, kernel->b.order);
    order_of(e->c.rank, e->c.index, kernel->c.index, kernel->c.order);
}

static void *allocate_if(bool is_wanted, int64_t entries)
{
    return is_wanted ? allocate((size_t)entries, sizeof(double)) : NULL;
}

void kernel_room_make(const struct kernel *kernel, struct kernel_room *room)
{
    const struct contraction *of = kernel->contraction;
    room->a = allocate_if(kernel->a.is_permuted, of->a.longest);
    room->b = allocate_if(kernel->b.is_permuted, of->b.longest);
    room->c = allocate_if(kernel->c.is_permuted, of->c.longest);
    room->sum = allocate_if(true, of->c.longest);
}

void kernel_room_free(struct kernel_room *room)
{
    free(room->a);
    free(room->b);
    free(room->c);
    free(room->sum);
    *room = (struct kernel_room){0};
}

/* Widths of indices in the order of a tensor, or of its matrix. */
static void widths_of(const struct product *product, int rank, const int *index,
                      int64_t *width)
{
    for (int d = 0; d < rank; d++)
        width[d] = product->width[index[d]];
}

static void rest(kernel_pause_fn *pause, void *context)
{
    if (pause)
        pause(context);
}

/* A tile as a matrix, in ROOM if it has to be permuted. */
static const double *matrix_of(const struct term *term,
                               const struct matrix_order *matrix,
                               const struct product *product,
                               const double *tile, double *room,
                               kernel_pause_fn *pause, void *context)
{
    int64_t width[RANK_MAX];
    if (!matrix->is_permuted)
        return tile;
    widths_of(product, term->rank, term->index, width);
    permute(term->rank, width, matrix->order, tile, room);
    rest(pause, context);
    return room;
}

/* A factor: ROWS times COLUMNS, or transposed, as dgemm has them. */
struct factor {
    const double *entries;
    CBLAS_TRANSPOSE transpose;
    int lead;       /* entries between rows, or columns */
    int64_t stride; /* between contracted indices */
};

static struct factor factor_of(const double *entries, bool is_contracted_first,
                               bool is_transposed, int outer, int contracted)
{
    return (struct factor){.entries = entries,
                           .transpose =
                               is_transposed ? CblasTrans : CblasNoTrans,
                           .lead = is_contracted_first ? outer : contracted,
                           .stride = is_contracted_first ? outer : 1};
}

/* A product of matrices to add to TO, or to put there if BETA is 0. */
struct call {
    const struct factor *left, *right;
    int rows, columns, thick;
    double beta;
    double *to;
};

/* Slice of two factors from contracted index AT on, by BLAS. */
static void call_blas(const struct call *call, int64_t at)
{
    const struct factor *left = call->left, *right = call->right;
    cblas_dgemm(CblasRowMajor, left->transpose, right->transpose, call->rows,
                call->columns, call->thick, 1,
                left->entries + at * left->stride, left->lead,
                right->entries + at * right->stride, right->lead, call->beta,
                call->to, call->columns);
}

#ifdef HAS_XSMM
/* Columns up to which libxsmm is the faster one: a slice of them lies in the
 * second cache (`fifth`, two cores, tiles of 16 to 20: 4.1 s, BLAS 4.4; but
 * tiles of 18 to 24: 4.7 s, BLAS 4.4). */
#define XSMM_COLUMNS 420

/* The same by libxsmm, which packs nothing and has the columns first; false: it
 * has no such product, or BLAS is faster. */
static bool call_xsmm(const struct call *call, int64_t at)
{
    const struct factor *left = call->left, *right = call->right;
    const double alpha = 1;
    if (call->columns > XSMM_COLUMNS || left->transpose != CblasNoTrans ||
        right->transpose != CblasNoTrans)
        return false;
    libxsmm_dmmfunction multiply = libxsmm_dmmdispatch(
        call->columns, call->rows, call->thick, &right->lead, &left->lead,
        &call->columns, &alpha, &call->beta, NULL, NULL);
    if (!multiply)
        return false;
    multiply(right->entries + at * right->stride,
             left->entries + at * left->stride, call->to);
    return true;
}
#else
static bool call_xsmm(const struct call *call, int64_t at)
{
    (void)call, (void)at;
    return false;
}
#endif

enum multiplier kernel_multiplier(void)
{
#ifdef HAS_XSMM
    return MULTIPLIER_XSMM;
#else
    return MULTIPLIER_BLAS;
#endif
}

/* Entries of the indices of a role. */
static int extent_of(const struct kernel *kernel, const struct product *product,
                     enum role role)
{
    const struct expression *e = &kernel->contraction->expression;
    int64_t extent = 1;
    for (int i = 0; i < e->indices; i++) {
        if (e->role[i] == role)
            extent *= product->width[i];
    }
    return (int)extent;
}

void kernel_multiply(const struct kernel *kernel, const struct product *product,
                     const double *a, const double *b, bool is_first,
                     struct kernel_room *room, kernel_pause_fn *pause,
                     void *context)
{
    const struct expression *e = &kernel->contraction->expression;
    const bool is_swapped = kernel->c.is_transposed; /* C' = B' A' */
    const int m = extent_of(kernel, product, ROLE_A);
    const int n = extent_of(kernel, product, ROLE_B);
    const int k = extent_of(kernel, product, ROLE_CONTRACTED);
    a = matrix_of(&e->a, &kernel->a, product, a, room->a, pause, context);
    b = matrix_of(&e->b, &kernel->b, product, b, room->b, pause, context);
    const struct factor of_a =
        factor_of(a, kernel->a.is_transposed,
                  kernel->a.is_transposed != is_swapped, m, k);
    const struct factor of_b =
        factor_of(b, !kernel->b.is_transposed,
                  kernel->b.is_transposed != is_swapped, n, k);
    struct call call = {.left = is_swapped ? &of_b : &of_a,
                        .right = is_swapped ? &of_a : &of_b,
                        .rows = is_swapped ? n : m,
                        .columns = is_swapped ? m : n,
                        .to = room->sum};
    for (int at = 0; at < k; at += SLICE) {
        call.thick = k - at < SLICE ? k - at : SLICE;
        call.beta = is_first && at == 0 ? 0 : 1;
        if (kernel->contraction->multiplier != MULTIPLIER_XSMM ||
            !call_xsmm(&call, at))
            call_blas(&call, at);
        rest(pause, context);
    }
}

const double *kernel_result(const struct kernel *kernel,
                            const struct product *product,
                            struct kernel_room *room)
{
    const struct term *c = &kernel->contraction->expression.c;
    int64_t width[RANK_MAX];
    if (!kernel->c.is_permuted)
        return room->sum;
    widths_of(product, c->rank, kernel->c.index, width);
    permute(c->rank, width, kernel->c.order, room->sum, room->c);
    return room->c;
}

void kernel_start(void)
{
    openblas_set_num_threads(1);
}
