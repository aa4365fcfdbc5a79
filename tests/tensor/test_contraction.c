/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks and what they do: the sizes of the presets, as another program has
 * counted them, and each task against all.
 */
#include "../unit/check.h"
#include "tensor_contraction/contraction.h"
#include "tensor_contraction/presets.h"

const char program_name[] = "test_contraction";

static bool make(const char *expression, const char *name, enum task_kind task,
                 struct contraction *contraction, struct message *message)
{
    const struct preset *preset = preset_find(name);
    struct irrep_list irreps = {0};
    CHECK(irrep_list_add(&irreps, preset->outer, message));
    CHECK(irrep_list_add(&irreps, preset->contracted, message));
    const struct contraction_options options = {expression,   &irreps,
                                                preset->tile, preset->symmetry,
                                                task,         MULTIPLIER_BLAS};
    return contraction_make(&options, contraction, message);
}

static void presets_have_their_sizes(void)
{
    static const struct {
        const char *name;
        int64_t outputs, tasks, tiles, products;
        double flop, gib;
    } cases[] = {
        {"paper", 1874161, 46854025, 470357, 2959783, 2.51e14, 545},
        {"third", 28561, 714025, 7161, 44991, 3.09e12, 8.07},
        {"fifth", 6561, 164025, 1661, 10495, 4.02e11, 1.41},
        {"fifth12", 28561, 1827904, 7161, 114576, 4.02e11, 1.41},
        {"tenthspin", 104976, 10497600, 9966, 104950, 6.29e10, 0.529},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct contraction made;
        struct message message = {""};
        CHECK(make(EXPRESSION_DEFAULT, cases[i].name, TASK_PRODUCT, &made,
                   &message));
        CHECK_EQ_INT(made.outputs, cases[i].outputs);
        CHECK_EQ_INT(made.tasks, cases[i].tasks);
        CHECK_EQ_INT(made.c.tiles, cases[i].tiles);
        CHECK_EQ_INT(made.total.products, cases[i].products);
        CHECK_NEAR((double)made.total.flop / cases[i].flop, 1, 0.005);
        CHECK_NEAR((made.c.entries + made.a.entries + made.b.entries) * 8 /
                       (1 << 30) / cases[i].gib,
                   1, 0.005);
        contraction_free(&made);
    }
}

/* The same of every task: numbers of tiles, sums of work. */
static void check_tasks(const struct contraction *made)
{
    struct work sum = {0};
    int64_t tasks = 0;
    for (int64_t task = 0; task < made->tasks; task++) {
        struct work work = contraction_work(made, task);
        CHECK(contraction_is_null(made, task) == (work.products == 0));
        tasks += work.products > 0;
        sum.products += work.products;
        sum.flop += work.flop;
        sum.bytes += work.bytes;
    }
    CHECK_EQ_INT(tasks, made->task == TASK_PRODUCT ? made->total.products
                                                   : made->c.tiles);
    CHECK_EQ_INT(sum.products, made->total.products);
    CHECK_EQ_INT(sum.flop, made->total.flop);
    CHECK_EQ_INT(sum.bytes, made->total.bytes);
}

static void check_products(const struct contraction *made)
{
    for (int64_t tile = 0; tile < made->c.tiles; tile++) {
        struct products products;
        products_begin(made, contraction_first_task(made, tile), &products);
        while (products_next(&products)) {
            const struct product *product = &products.product;
            CHECK_EQ_INT(product->c, tile);
            CHECK(product->a >= 0 && product->a < made->a.tiles);
            CHECK(product->b >= 0 && product->b < made->b.tiles);
        }
    }
}

static void tasks_add_up_whatever_the_order_of_indices(void)
{
    static const char *const expressions[] = {
        EXPRESSION_DEFAULT, "C[i,j,k,l] += A[i,a,j,b] * B[b,k,a,l]",
        "C[l,i,k,j] += A[b,j,i,a] * B[l,a,b,k]"};
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        for (int task = TASK_TILE; task <= TASK_PRODUCT; task++) {
            struct contraction made;
            struct message message = {""};
            CHECK(make(expressions[i], "fifth", (enum task_kind)task, &made,
                       &message));
            CHECK_EQ_INT(made.total.products, 10495);
            check_tasks(&made);
            if (task == TASK_TILE)
                check_products(&made);
            contraction_free(&made);
        }
    }
}

static void what_cannot_be_is_refused(void)
{
    static const struct {
        const char *expression, *outer, *contracted;
        int64_t tile;
        enum symmetry symmetry;
        const char *message;
    } cases[] = {
        {"C[i,A] += A[i,a] * B[a,A]", "i=2", "a=2", 2, SYMMETRY_NONE,
         "index 'A' has no blocks"},
        {"C[i,k] += A[i] * B[k]", "i=0,2", "k=2", 2, SYMMETRY_SPATIAL,
         "no product"},
        {EXPRESSION_DEFAULT, "i=1000000", "a=20", 20, SYMMETRY_NONE,
         "multiplications"},
        {EXPRESSION_DEFAULT, "i=1000", "a=10", 1000, SYMMETRY_NONE,
         "C: tiles of 1000 in 4 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct irrep_list irreps = {0};
        struct contraction made;
        struct message message = {""};
        CHECK(irrep_list_add(&irreps, cases[i].outer, &message));
        CHECK(irrep_list_add(&irreps, cases[i].contracted, &message));
        const struct contraction_options options = {
            cases[i].expression, &irreps,   cases[i].tile,
            cases[i].symmetry,   TASK_TILE, MULTIPLIER_BLAS};
        CHECK(!contraction_make(&options, &made, &message));
        CHECK_HAS_TEXT(message.text, cases[i].message);
        contraction_free(&made);
    }
}

int main(void)
{
    RUN(presets_have_their_sizes);
    RUN(tasks_add_up_whatever_the_order_of_indices);
    RUN(what_cannot_be_is_refused);
    return check_result();
}
