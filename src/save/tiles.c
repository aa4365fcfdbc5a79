/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores of tiles in the files of a save: the manifest says what they are, the
 * file of a rank has the values of its tiles, packed into blocks. */
#include "base/plant.h"
#include "save/layout.h"

#include <inttypes.h>

ek_status eki_save_store(struct eki_save_out *out, int number, const char *name,
                         const struct eki_save_store *store)
{
    unsigned char body[EKI_SAVE_STORE_BODY];
    eki_function_body(body, number, name);
    eki_put(body + EKI_SAVE_STORE_TILES, (uint64_t)store->tiles, 8);
    eki_put(body + EKI_SAVE_STORE_LENGTHS, store->lengths, 8);
    eki_put(body + EKI_SAVE_STORE_LAYOUT, store->layout, 8);
    return eki_sealed_write(&out->out, EKI_BLOCK_STORE, body, sizeof body);
}

ek_status eki_save_tiles_end(struct eki_save_out *out)
{
    if (out->count == 0)
        return EK_OK;
    out->count = 0;
    return eki_sealed_write(&out->out, EKI_BLOCK_TILES, out->block, out->used);
}

ek_status eki_save_tile(struct eki_save_out *out, int store, int64_t tile,
                        const double *values, int64_t length)
{
    int64_t least = EKI_SAVE_TILE_HEAD + (int64_t)sizeof *values;
    for (int64_t offset = 0, count; offset < length; offset += count) {
        if (out->used + (size_t)least > EKI_SAVE_TASKS_MOST)
            EKI_TRY(eki_save_tiles_end(out));
        if (out->count++ == 0)
            out->used = 0;
        unsigned char *at = out->block + out->used;
        int64_t room = EKI_SAVE_TASKS_MOST - (int64_t)out->used;
        count = (room - EKI_SAVE_TILE_HEAD) / (int64_t)sizeof *values;
        if (count > length - offset)
            count = length - offset;
        eki_put(at + EKI_SAVE_TILE_STORE,
                EKI_PLANTED(SAVE_TILES_SWAP) ? 0 : (uint64_t)store, 4);
        eki_put(at + EKI_SAVE_TILE_COUNT, (uint64_t)count, 4);
        eki_put(at + EKI_SAVE_TILE_NUMBER, (uint64_t)tile, 8);
        eki_put(at + EKI_SAVE_TILE_OFFSET, (uint64_t)offset, 8);
        memcpy(at + EKI_SAVE_TILE_HEAD, values + offset,
               (size_t)count * sizeof *values);
        out->used += EKI_SAVE_TILE_HEAD + (size_t)count * sizeof *values;
    }
    return EK_OK;
}

/* Take what is next in the block; the caller knows which tiles there are. */
static ek_status take_tile(struct eki_save_in *in, struct eki_save_tile *tile)
{
    const unsigned char *at = in->block + in->next;
    size_t rest = in->bytes - in->next;
    uint64_t store = 0;
    if (rest >= EKI_SAVE_TILE_HEAD) {
        store = eki_get(at + EKI_SAVE_TILE_STORE, 4);
        *tile = (struct eki_save_tile){
            .store = (int)store,
            .tile = (int64_t)eki_get(at + EKI_SAVE_TILE_NUMBER, 8),
            .offset = (int64_t)eki_get(at + EKI_SAVE_TILE_OFFSET, 8),
            .count = (int64_t)eki_get(at + EKI_SAVE_TILE_COUNT, 4),
            .values = at + EKI_SAVE_TILE_HEAD,
            .at = in->at + (int64_t)in->next};
        rest -= EKI_SAVE_TILE_HEAD;
    }
    if (in->bytes - in->next < EKI_SAVE_TILE_HEAD ||
        rest / sizeof(double) < (uint64_t)tile->count || tile->count == 0 ||
        store >= (uint64_t)in->stores || tile->tile < 0 || tile->offset < 0)
        return eki_sealed_refuse(&in->in, in->at + (int64_t)in->next,
                                 "what is here is no tile");
    in->next += EKI_SAVE_TILE_HEAD + (size_t)tile->count * sizeof(double);
    return EK_OK;
}

ek_status eki_save_next_tile(struct eki_save_in *in, struct eki_save_tile *tile,
                             bool *found)
{
    struct eki_sealed_block block = {0};
    *found = in->next < in->bytes;
    if (*found)
        return take_tile(in, tile);
    do
        EKI_TRY(eki_save_next_block(&in->in, &block));
    while (block.kind != EKI_BLOCK_TILES && block.kind != EKI_BLOCK_END);
    *found = block.kind == EKI_BLOCK_TILES;
    if (!*found)
        return eki_sealed_check_end(&in->in);
    if (block.bytes > EKI_SAVE_TASKS_MOST)
        return eki_sealed_wrong_size(&in->in, &block, EKI_SAVE_TASKS_MOST);
    in->at = block.at;
    in->bytes = (size_t)block.bytes;
    in->next = 0;
    EKI_TRY(eki_sealed_read(&in->in, in->at, in->block, in->bytes));
    return take_tile(in, tile);
}
