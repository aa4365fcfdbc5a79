/* SPDX-License-Identifier: BSD-3-Clause */
#include "contraction.h"

/* With so many multiplications operations and bytes are an int64_t. */
#define MULTIPLICATIONS_MAX (INT64_MAX / 64)

/* Tiles and entries of the indices of a role, by label. */
struct census {
    int64_t tiles[LABELS], entries[LABELS];
};

static struct census take_census(const struct contraction *contraction,
                                 enum role role)
{
    struct census all = {.tiles = {1}, .entries = {1}};
    for (int i = 0; i < contraction->expression.indices; i++) {
        const struct space *space = &contraction->space[i];
        struct census more = {{0}, {0}};
        if (contraction->expression.role[i] != role)
            continue;
        for (int b = 0; b < space->blocks; b++) {
            const struct block *block = &space->block[b];
            for (int l = 0; l < LABELS; l++) {
                if (all.tiles[l] == 0)
                    continue;
                int joined = label_join(l, block->label);
                more.tiles[joined] += all.tiles[l] * block->tiles;
                more.entries[joined] += all.entries[l] * block->entries;
            }
        }
        all = more;
    }
    return all;
}

static void count_work(struct contraction *contraction)
{
    const struct census a = take_census(contraction, ROLE_A);
    const struct census b = take_census(contraction, ROLE_B);
    const struct census k = take_census(contraction, ROLE_CONTRACTED);
    const bool is_product = contraction->task == TASK_PRODUCT;
    struct work *total = &contraction->total;
    for (int l = 0; l < LABELS; l++) {
        if (k.tiles[l] == 0)
            continue;
        int64_t sums = is_product ? k.tiles[l] : 1;
        int64_t got = a.entries[l] * k.entries[l] * b.tiles[l] +
                      k.entries[l] * b.entries[l] * a.tiles[l];
        int64_t added = a.entries[l] * b.entries[l] * sums;
        contraction->labels |= (uint64_t)1 << l;
        total->products += a.tiles[l] * b.tiles[l] * k.tiles[l];
        total->flop += 2 * a.entries[l] * b.entries[l] * k.entries[l];
        total->bytes += (got + added) * (int64_t)sizeof(double);
    }
}

static bool make_spaces(const struct contraction_options *options,
                        struct contraction *contraction,
                        struct message *message)
{
    const struct expression *expression = &contraction->expression;
    int64_t multiplications = 1;
    contraction->outputs = contraction->terms = 1;
    for (int i = 0; i < expression->indices; i++) {
        struct space *space = &contraction->space[i];
        const struct irreps *irreps =
            irrep_list_find(options->irreps, expression->letter[i]);
        if (!irreps)
            return message_set(message,
                               "index '%c' has no blocks: neither its letter "
                               "nor one before it has any",
                               expression->letter[i]);
        space_make(irreps, options->symmetry, options->tile, space);
        if (multiplications > MULTIPLICATIONS_MAX / space->entries)
            return message_set(message, "more than %.1g multiplications",
                               (double)MULTIPLICATIONS_MAX);
        multiplications *= space->entries;
        *(i < expression->c.rank ? &contraction->outputs
                                 : &contraction->terms) *= space->tiles;
    }
    contraction->tasks = contraction->outputs;
    if (contraction->task == TASK_PRODUCT)
        contraction->tasks *= contraction->terms;
    return true;
}

/* Of its indices those with the role SECOND are the second side. */
static bool make_tensor(struct contraction *contraction,
                        const struct term *term, enum role second,
                        struct tensor *tensor, struct message *message)
{
    const struct space *space[RANK_MAX];
    bool is_second[RANK_MAX];
    struct message reason;
    for (int d = 0; d < term->rank; d++) {
        space[d] = &contraction->space[term->index[d]];
        is_second[d] = contraction->expression.role[term->index[d]] == second;
    }
    return tensor_make(term->rank, space, is_second, tensor, &reason) ||
           message_set(message, "%s: %s", term->name, reason.text);
}

bool contraction_make(const struct contraction_options *options,
                      struct contraction *contraction, struct message *message)
{
    *contraction = (struct contraction){.task = options->task,
                                        .multiplier = options->multiplier};
    const struct expression *e = &contraction->expression;
    if (!expression_parse(options->expression, &contraction->expression,
                          message) ||
        !make_spaces(options, contraction, message) ||
        !make_tensor(contraction, &e->c, ROLE_B, &contraction->c, message) ||
        !make_tensor(contraction, &e->a, ROLE_CONTRACTED, &contraction->a,
                     message) ||
        !make_tensor(contraction, &e->b, ROLE_B, &contraction->b, message))
        return false;
    count_work(contraction);
    return contraction->total.products > 0 ||
           message_set(message, "symmetry leaves no product");
}

void contraction_free(struct contraction *contraction)
{
    tensor_free(&contraction->c);
    tensor_free(&contraction->a);
    tensor_free(&contraction->b);
}

static int64_t output_of(const struct contraction *contraction, int64_t task)
{
    return contraction->task == TASK_PRODUCT ? task / contraction->terms : task;
}

/* Tiles of the indices FIRST ... LAST - 1, the last one fastest. */
static void tiles_of(const struct contraction *contraction, int first, int last,
                     int64_t number, int64_t *tile)
{
    for (int i = last - 1; i >= first; i--) {
        tile[i] = number % contraction->space[i].tiles;
        number /= contraction->space[i].tiles;
    }
}

static void output_tiles(const struct contraction *contraction, int64_t output,
                         int64_t *tile)
{
    tiles_of(contraction, 0, contraction->expression.c.rank, output, tile);
}

static void term_tiles(const struct contraction *contraction, int64_t term,
                       int64_t *tile)
{
    tiles_of(contraction, contraction->expression.c.rank,
             contraction->expression.indices, term, tile);
}

/* Of all indices that have a role. */
static int label_of(const struct contraction *contraction, enum role role,
                    const int64_t *tile)
{
    int joined = 0;
    for (int i = 0; i < contraction->expression.indices; i++) {
        const struct space *space = &contraction->space[i];
        if (contraction->expression.role[i] == role)
            joined = label_join(
                joined, space->block[space_block(space, tile[i])].label);
    }
    return joined;
}

bool contraction_is_null(const struct contraction *contraction, int64_t task)
{
    int64_t tile[INDICES_MAX];
    output_tiles(contraction, output_of(contraction, task), tile);
    int a = label_of(contraction, ROLE_A, tile);
    if (a != label_of(contraction, ROLE_B, tile))
        return true;
    if (contraction->task == TASK_TILE)
        return !(contraction->labels >> a & 1);
    term_tiles(contraction, task % contraction->terms, tile);
    return a != label_of(contraction, ROLE_CONTRACTED, tile);
}

void products_begin(const struct contraction *contraction, int64_t task,
                    struct products *products)
{
    int64_t *tile = products->product.tile;
    *products = (struct products){.contraction = contraction,
                                  .last = contraction->terms};
    if (contraction->task == TASK_PRODUCT) {
        products->next = task % contraction->terms;
        products->last = products->next + 1;
    }
    output_tiles(contraction, output_of(contraction, task), tile);
    products->label = label_of(contraction, ROLE_A, tile);
}

static int64_t tile_of(const struct tensor *tensor, const struct term *term,
                       const int64_t *tile)
{
    int64_t index[RANK_MAX];
    for (int d = 0; d < term->rank; d++)
        index[d] = tile[term->index[d]];
    return tensor_tile(tensor, index);
}

static void fill_product(const struct contraction *contraction,
                         struct product *product)
{
    const struct expression *expression = &contraction->expression;
    for (int i = 0; i < expression->indices; i++) {
        int64_t first;
        space_bounds(&contraction->space[i], product->tile[i], &first,
                     &product->width[i]);
    }
    product->c = tile_of(&contraction->c, &expression->c, product->tile);
    product->a = tile_of(&contraction->a, &expression->a, product->tile);
    product->b = tile_of(&contraction->b, &expression->b, product->tile);
}

bool products_next(struct products *products)
{
    const struct contraction *contraction = products->contraction;
    while (products->next < products->last) {
        int64_t *tile = products->product.tile;
        term_tiles(contraction, products->next++, tile);
        if (label_of(contraction, ROLE_CONTRACTED, tile) == products->label) {
            fill_product(contraction, &products->product);
            return true;
        }
    }
    return false;
}

int64_t product_entries(const struct product *product, const struct term *term)
{
    int64_t entries = 1;
    for (int d = 0; d < term->rank; d++)
        entries *= product->width[term->index[d]];
    return entries;
}

static int64_t multiplications_of(const struct contraction *contraction,
                                  const struct product *product)
{
    int64_t multiplications = 1;
    for (int i = 0; i < contraction->expression.indices; i++)
        multiplications *= product->width[i];
    return multiplications;
}

struct work contraction_work(const struct contraction *contraction,
                             int64_t task)
{
    const struct expression *expression = &contraction->expression;
    struct work work = {0};
    struct products products;
    int64_t entries = 0;
    if (contraction_is_null(contraction, task))
        return work;
    products_begin(contraction, task, &products);
    while (products_next(&products)) {
        const struct product *product = &products.product;
        work.flop += 2 * multiplications_of(contraction, product);
        entries += product_entries(product, &expression->a) +
                   product_entries(product, &expression->b);
        if (work.products++ == 0)
            entries += product_entries(product, &expression->c);
    }
    work.bytes = entries * (int64_t)sizeof(double);
    return work;
}

int64_t contraction_first_task(const struct contraction *contraction,
                               int64_t tile)
{
    int64_t index[RANK_MAX], task = 0;
    tensor_index(&contraction->c, tile, index);
    for (int d = 0; d < contraction->expression.c.rank; d++)
        task = task * contraction->space[d].tiles + index[d];
    return contraction->task == TASK_PRODUCT ? task * contraction->terms : task;
}
