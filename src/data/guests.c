/* SPDX-License-Identifier: BSD-3-Clause */
/* What this rank gives, and keeps, as a home. */
#include "data/internal.h"

struct eki_guest *eki_guest_add(struct eki_data *data,
                                struct eki_guests *guests,
                                const struct eki_message *message)
{
    uint32_t bytes = data->protocol.engine->slot_bytes;
    struct eki_guest *guest = eki_alloc(1, sizeof *guest + bytes);
    if (!guest)
        return NULL;
    eki_data_from(&message->head, &guest->from);
    memcpy(guest->slot, message->body, bytes);
    *guests->last = guest;
    guests->last = &guest->next;
    return guest;
}

struct eki_guest **eki_guest_find(struct eki_data *data,
                                  const struct eki_head *head)
{
    struct eki_guest **link = &data->results.first;
    while (*link && ((*link)->from.rank != head->source ||
                     (*link)->from.worker != head->worker ||
                     (*link)->from.op != head->first))
        link = &(*link)->next;
    return link;
}

void eki_guest_free(struct eki_data *data, struct eki_guests *guests,
                    struct eki_guest **link)
{
    struct eki_guest *guest = *link;
    *link = guest->next;
    if (guests->last == &guest->next)
        guests->last = link;
    if (guest->room > 0) {
        guests->bytes -= guest->room;
        eki_data_charge(data, -guest->room);
    }
    eki_buffer_give(data, guest->buffer);
    eki_free(guest);
}

void eki_guests_free(struct eki_data *data, struct eki_guests *guests)
{
    guests->last = guests->first ? guests->last : &guests->first;
    while (guests->first)
        eki_guest_free(data, guests, &guests->first);
}

/* Memory for BYTES of a guest; false: not now. */
static bool make_guest_room(struct eki_data *data, struct eki_guests *guests,
                            struct eki_guest *guest, int64_t bytes)
{
    if (guests->bytes > 0 && guests->bytes + bytes > data->home_part / 2)
        return false;
    if (data->setup.has_bytes) {
        guest->buffer = eki_buffer_take(data, (size_t)bytes);
        if (!guest->buffer)
            return false;
    }
    guest->room = bytes;
    guests->bytes += bytes;
    eki_data_charge(data, bytes);
    return true;
}

/* Pack what is asked for. */
static void pack_guest(struct eki_data *data, struct eki_guest *guest)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    const ek_data_ops *ops = &data->ops[slot->function];
    ek_task task = eki_engine_show(data->protocol.engine, slot);
    task.is_new = guest->is_new;
    eki_data_enter(data);
    size_t bytes = ops->pack_input(&task, guest->buffer, ops->context);
    eki_data_leave(data, NULL);
    guest->is_packed = true;
    if (bytes <= ops->bytes_max)
        guest->total = (int64_t)bytes;
    else
        guest->total =
            bytes == EK_DATA_FAILED ? EKI_INPUT_FAILED : EKI_INPUT_TOO_LONG;
}

/* Send what there are buffers for; true: all of it. */
static bool send_input(struct eki_data *data, struct eki_guest *guest)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    const int64_t bytes = (int64_t)sizeof(struct eki_data_words);
    struct eki_data_words words = {slot->id, guest->total};
    int64_t total = guest->total > 0 ? guest->total : 0;
    do {
        int64_t count =
            eki_least(total - guest->moved, eki_data_room(data, bytes));
        struct eki_message *message =
            eki_data_reserve(data, EKI_KIND_INPUT, bytes, count);
        if (!message)
            return false;
        memcpy(message->body, &words, sizeof words);
        message->head.detail = (int32_t)guest->moved;
        eki_data_post(data, message,
                      guest->buffer ? guest->buffer + guest->moved : NULL,
                      &guest->from, guest->moved + count < total);
        guest->moved += count;
    } while (guest->moved < total);
    return true;
}

bool eki_guest_refuse(struct eki_data *data, const struct eki_message *ask)
{
    const struct eki_slot *slot = (const struct eki_slot *)ask->body;
    const struct eki_data_words words = {slot->id, EKI_INPUT_NO_MEMORY};
    struct eki_data_to to;
    struct eki_message *message =
        data->protocol.engine->lack.is_out
            ? eki_data_reserve(data, EKI_KIND_INPUT, sizeof words, 0)
            : NULL;
    if (!message)
        return false;
    memcpy(message->body, &words, sizeof words);
    message->head.detail = 0;
    eki_data_from(&ask->head, &to);
    eki_data_post(data, message, NULL, &to, false);
    return true;
}

/* The input has gone for good. */
static void release_input(struct eki_data *data, const struct eki_guest *guest)
{
    const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
    const ek_data_ops *ops = &data->ops[slot->function];
    ek_task task = eki_engine_show(data->protocol.engine, slot);
    if (!guest->is_new || guest->total < 0)
        return;
    task.is_new = true;
    eki_data_enter(data);
    ops->release(&task, ops->context);
    eki_data_leave(data, NULL);
}

/* Pack and send what is asked for, in its order; but one that waits for buffers
 * keeps none behind it that is packed from being sent. */
void eki_guests_serve(struct eki_data *data)
{
    struct eki_guest **link = &data->asks.first;
    while (*link && data->outbox.left > 0 && !data->outbox.lacks_any) {
        struct eki_guest *guest = *link;
        const struct eki_slot *slot = (const struct eki_slot *)guest->slot;
        if (!guest->is_packed) {
            if (make_guest_room(data, &data->asks, guest,
                                (int64_t)data->ops[slot->function].bytes_max))
                pack_guest(data, guest);
            else if (data->asks.bytes + data->results.bytes > 0)
                return;
            /* Nothing is held that will give memory back. */
            if (!guest->is_packed)
                guest->total = EKI_INPUT_NO_MEMORY;
            guest->is_packed = true;
        }
        if (send_input(data, guest)) {
            release_input(data, guest);
            eki_guest_free(data, &data->asks, link);
        } else {
            link = &guest->next;
        }
    }
}

void eki_guests_answer(struct eki_data *data, int kind,
                       const struct eki_data_to *to)
{
    eki_queue_add(&data->answers, &(struct eki_data_answer){kind, *to});
}

static bool send_data_answer(void *context, void *item)
{
    struct eki_data *data = context;
    const struct eki_data_answer *answer = item;
    struct eki_message *message = eki_data_reserve(data, answer->kind, 0, 0);
    if (message)
        eki_data_post(data, message, NULL, &answer->to, false);
    return message != NULL;
}

void eki_guests_send(struct eki_data *data)
{
    eki_queue_serve(&data->answers, send_data_answer, data);
}

/* Say to those who have long results, in their order, that they may send them,
 * as far as there is room.  Where there is no memory, and nothing is held that
 * will give some back, they hear that their result is lost. */
void eki_guests_give(struct eki_data *data)
{
    struct eki_guest **link = &data->results.first;
    while (*link) {
        struct eki_guest *guest = *link;
        if (guest->is_given) {
            link = &guest->next;
            continue;
        }
        if (!eki_queue_has_room(&data->answers))
            return;
        guest->is_given =
            make_guest_room(data, &data->results, guest, guest->total);
        if (!guest->is_given && data->results.bytes + data->asks.bytes > 0)
            return;
        eki_guests_answer(data, guest->is_given ? EKI_KIND_GIVE : EKI_KIND_KEPT,
                          &guest->from);
        if (guest->is_given)
            link = &guest->next;
        else
            eki_guest_free(data, &data->results, link);
    }
}
