/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of tiles, which all ranks make at once. */
#include "sim/parts.h"

/* Memory of rank R for its tiles, or for those of its node; NULL: there is none
 * left. */
static void *memory_of(const struct eki_sim *sim, struct eki_sim_store *store,
                       int r)
{
    void **memory =
        &store->memory[store->is_shared ? sim->topology->node_of_rank[r] : r];
    if (!*memory)
        *memory =
            eki_alloc_lines(eki_store_bytes(store->tiles[r], store->is_shared));
    return *memory;
}

static ek_status make_on(struct eki_sim *sim, int r,
                         const ek_tiles_shape *shape,
                         struct eki_sim_store *store)
{
    struct eki_sim_rank *rank = &sim->ranks[r];
    void *memory = NULL;
    EKI_TRY(eki_store_create(rank->stores, &rank->topology, shape,
                             store->has_values, &store->tiles[r]));
    if (store->has_values && !(memory = memory_of(sim, store, r)))
        return eki_error(EK_ERR_NOMEM, "no memory for the tiles of rank %d", r);
    eki_store_place(store->tiles[r], memory, store->is_shared);
    eki_store_number(store->tiles[r]);
    return eki_store_add(store->tiles[r]);
}

ek_status eki_sim_create_store(struct eki_sim *sim, const ek_tiles_shape *shape,
                               enum eki_sim_values values,
                               struct eki_sim_store **made)
{
    size_t ranks = (size_t)sim->setup.ranks;
    struct eki_sim_store *store =
        eki_alloc(1, sizeof *store + ranks * (sizeof *store->tiles +
                                              sizeof *store->memory));
    ek_status status = EK_OK;
    if (!store)
        return eki_error(EK_ERR_NOMEM, "no memory for a store");
    store->memory = (void **)(store->tiles + ranks);
    store->has_values = values != EKI_SIM_NO_VALUES;
    store->is_shared = values != EKI_SIM_VALUES_APART;
    for (int r = 0; status == EK_OK && r < sim->setup.ranks; r++)
        status = make_on(sim, r, shape, store);
    if (status != EK_OK)
        eki_sim_destroy_store(sim, &store);
    *made = store;
    return status;
}

void eki_sim_destroy_store(struct eki_sim *sim, struct eki_sim_store **made)
{
    struct eki_sim_store *store = *made;
    *made = NULL;
    if (!store)
        return;
    for (int r = 0; r < sim->setup.ranks; r++) {
        eki_store_destroy(&store->tiles[r]);
        eki_free(store->memory[r]);
    }
    eki_free(store);
}
