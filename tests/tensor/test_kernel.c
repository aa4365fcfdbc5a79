/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Permutations and products of tiles, entry by entry.
 */
#include "../unit/check.h"
#include "tensor_contraction/kernel.h"
#include "tensor_contraction/permute.h"

#include <stdlib.h>

const char program_name[] = "test_kernel";

enum {
    ROOM = 50000
};

/* The next of some numbers that look random. */
static unsigned draw(unsigned below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(state >> 33) % below;
}

static void shuffle(int rank, int *order)
{
    for (int d = 0; d < rank; d++)
        order[d] = d;
    for (int d = rank - 1; d > 0; d--) {
        int other = (int)draw((unsigned)d + 1), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}

/* Each entry is its place in the source. */
static void check_permute(int rank, const int64_t *width, const int *order)
{
    static double from[ROOM], to[ROOM];
    int64_t stride[RANK_MAX], entries = 1, wrong = 0;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = entries;
        entries *= width[d];
    }
    for (int64_t e = 0; e < entries; e++)
        from[e] = (double)e;
    permute(rank, width, order, from, to);
    for (int64_t e = 0; e < entries; e++) {
        int64_t rest = e, expected = 0;
        for (int d = rank - 1; d >= 0; d--) {
            expected += rest % width[order[d]] * stride[order[d]];
            rest /= width[order[d]];
        }
        wrong += to[e] != (double)expected;
    }
    CHECK_EQ_INT(wrong, 0);
}

static void any_order_of_indices_is_copied(void)
{
    for (int turn = 0; turn < 1000; turn++) {
        int rank = 1 + (int)draw(RANK_MAX), order[RANK_MAX];
        int64_t width[RANK_MAX];
        for (int d = 0; d < rank; d++)
            width[d] = 1 + draw(5);
        shuffle(rank, order);
        check_permute(rank, width, order);
    }
}

static void squares_may_be_cut(void)
{
    const int swapped[] = {1, 0}, turned[] = {2, 1, 0}, rows[] = {1, 0, 2};
    check_permute(2, (const int64_t[]){37, 50}, swapped);
    check_permute(2, (const int64_t[]){16, 200}, swapped);
    check_permute(3, (const int64_t[]){17, 3, 40}, turned);
    check_permute(3, (const int64_t[]){17, 20, 40}, rows);
}

static enum multiplier multiplier; /* of the tests from now on */

/* A contraction of one product. */
struct small {
    struct contraction contraction;
    struct kernel kernel;
    struct product product;
};

static void make(const char *expression, struct small *small)
{
    static const char *const words[] = {"i=3", "j=4", "k=2", "l=5",
                                        "m=1", "a=6", "b=3"};
    struct irrep_list irreps = {0};
    struct products products;
    struct message message = {""};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        CHECK(irrep_list_add(&irreps, words[w], &message));
    const struct contraction_options options = {
        expression, &irreps, 10, SYMMETRY_NONE, TASK_TILE, multiplier};
    CHECK(contraction_make(&options, &small->contraction, &message));
    kernel_make(&small->contraction, &small->kernel);
    products_begin(&small->contraction, 0, &products);
    CHECK(products_next(&products));
    small->product = products.product;
}

/* Place of an entry of a tensor, given all indices. */
static int64_t place(const struct small *small, const struct term *term,
                     const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < term->rank; d++)
        at = at * small->product.width[term->index[d]] + index[term->index[d]];
    return at;
}

static void multiply(const struct small *small, const double *a,
                     const double *b, double *c)
{
    const struct expression *e = &small->contraction.expression;
    int64_t all = 1;
    for (int i = 0; i < e->indices; i++)
        all *= small->product.width[i];
    for (int64_t number = 0; number < all; number++) {
        int64_t index[INDICES_MAX], rest = number;
        for (int i = 0; i < e->indices; i++) {
            index[i] = rest % small->product.width[i];
            rest /= small->product.width[i];
        }
        c[place(small, &e->c, index)] +=
            a[place(small, &e->a, index)] * b[place(small, &e->b, index)];
    }
}

static int pauses;

static void count_pause(void *context)
{
    (void)context;
    pauses++;
}

/* Numbers are small integers: sums have no rounding. */
static void check_product(const char *expression)
{
    static double a[ROOM], b[ROOM], c[ROOM];
    struct small small;
    struct kernel_room room;
    int64_t wrong = 0;
    make(expression, &small);
    memset(c, 0, sizeof c);
    kernel_room_make(&small.kernel, &room);
    for (int turn = 0; turn < 2; turn++) {
        for (int e = 0; e < ROOM; e++) {
            a[e] = (double)draw(9) - 4;
            b[e] = (double)draw(9) - 4;
        }
        multiply(&small, a, b, c);
        kernel_multiply(&small.kernel, &small.product, a, b, turn == 0, &room,
                        count_pause, NULL);
    }
    const double *sum = kernel_result(&small.kernel, &small.product, &room);
    for (int64_t e = 0; e < small.contraction.c.longest; e++)
        wrong += sum[e] != c[e];
    if (!CHECK_EQ_INT(wrong, 0))
        fprintf(stderr, "%s\n", expression);
    kernel_room_free(&room);
    contraction_free(&small.contraction);
}

static void products_are_right_in_any_order(void)
{
    static const char *const expressions[] = {
        "C[i,j,k,l] += A[i,j,a,b] * B[a,b,k,l]",
        "C[i,j,k,l] += A[i,a,j,b] * B[b,k,a,l]",
        "C[k,l,i,j] += A[a,b,i,j] * B[k,l,a,b]",
        "C[l,i,k,j] += A[b,j,i,a] * B[l,a,b,k]",
        "C[j,i] += A[a,i] * B[j,a]",
        "C[i] += A[a,i,b] * B[b,a]",
        "C[k] += A[a] * B[a,k]",
        "C[i,k,j] += A[j,i] * B[k]",
        "C[m,k,j,l,i] += A[l,i,a] * B[j,a,m,k]",
        "C[j] += A[b,i,j,a,k,l] * B[l,k,a,i,b]",
    };
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        for (multiplier = MULTIPLIER_BLAS; multiplier <= kernel_multiplier();
             multiplier++)
            check_product(expressions[i]);
    multiplier = kernel_multiplier();
    /* One sums over 540 entries, in more than one slice. */
    CHECK(pauses > 2 * (int)(sizeof expressions / sizeof *expressions));
}

static void as_little_as_possible_is_permuted(void)
{
    static const struct {
        const char *expression;
        bool c, a, b;
    } cases[] = {
        {"C[i,j,k,l] += A[i,j,a,b] * B[a,b,k,l]", false, false, false},
        {"C[k,l,i,j] += A[a,b,i,j] * B[k,l,a,b]", false, false, false},
        {"C[j,i,k,l] += A[b,a,j,i] * B[k,l,b,a]", false, false, false},
        {"C[i,j,k,l] += A[i,a,j,b] * B[a,b,k,l]", false, true, false},
        {"C[i,k,j,l] += A[i,j,a,b] * B[a,b,k,l]", true, false, false},
        {"C[i,j,k,l] += A[i,j,a,b] * B[b,k,a,l]", false, false, true},
        {"C[i,j,k,l] += A[i,j,a,b] * B[b,a,k,l]", false, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small small;
        make(cases[i].expression, &small);
        CHECK_EQ_INT(small.kernel.c.is_permuted, cases[i].c);
        CHECK_EQ_INT(small.kernel.a.is_permuted, cases[i].a);
        CHECK_EQ_INT(small.kernel.b.is_permuted, cases[i].b);
        contraction_free(&small.contraction);
    }
}

int main(void)
{
    kernel_start();
    RUN(any_order_of_indices_is_copied);
    RUN(squares_may_be_cut);
    RUN(products_are_right_in_any_order);
    RUN(as_little_as_possible_is_permuted);
    return check_result();
}
