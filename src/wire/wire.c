/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of wires and lines, and what is kept for these. */
#include "wire/wire.h"

#include <string.h>

uint32_t eki_wire_next_number(struct eki_fabric *fabric)
{
    /* relaxed: who polls compares with numbers that others know already. */
    return atomic_fetch_add_explicit(&fabric->numbers, 1, memory_order_relaxed);
}

static size_t spare_bytes(const struct eki_fabric *fabric)
{
    return EKI_SPARE_MESSAGES *
           (fabric->message_bytes + sizeof(struct eki_kept) + EKI_LINE);
}

/* Memory for BYTES of what is kept; NULL: none. */
static struct eki_kept *make_kept(struct eki_wire *wire, size_t bytes)
{
    struct eki_kept *kept = eki_alloc(1, bytes);
    if (kept)
        return kept;
    bytes = (bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE;
    if (wire->spare_used + bytes > spare_bytes(wire->fabric))
        return NULL;
    kept = (struct eki_kept *)(wire->spare + wire->spare_used);
    *kept = (struct eki_kept){.is_spare = true};
    wire->spare_used += bytes;
    wire->spares++;
    return kept;
}

static struct eki_wire *make_wire(struct eki_fabric *fabric)
{
    struct eki_wire *wire = eki_alloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    wire->spare = eki_alloc_untouched(spare_bytes(fabric));
    if (!wire->spare) {
        eki_free(wire);
        return NULL;
    }
    wire->fabric = fabric;
    pthread_mutex_init(&wire->mutex, NULL);
    fabric->wire = wire;
    return wire;
}

static void free_wire(struct eki_wire *wire)
{
    if (wire->held)
        wire->fabric->ops->release(wire->fabric, wire->held);
    wire->fabric->wire = NULL;
    eki_free(wire->spare);
    pthread_mutex_destroy(&wire->mutex);
    eki_free(wire);
}

ek_status eki_line_open(struct eki_line *line, struct eki_fabric *fabric,
                        uint32_t number)
{
    struct eki_wire *wire = fabric->wire;
    if (!wire)
        wire = make_wire(fabric);
    if (!wire)
        return eki_error(EK_ERR_NOMEM, "no memory for messages");
    /* A failure stays one; what was refused before is none of this line's. */
    *line = (struct eki_line){.wire = wire,
                              .number = number,
                              .troubles =
                                  fabric->troubles - (fabric->failed != EK_OK)};
    pthread_mutex_lock(&wire->mutex);
    line->next = wire->lines;
    wire->lines = line;
    pthread_mutex_unlock(&wire->mutex);
    return EK_OK;
}

void eki_line_close(struct eki_line *line)
{
    struct eki_wire *wire = line->wire;
    if (!wire)
        return;
    pthread_mutex_lock(&wire->mutex);
    struct eki_line **link = &wire->lines;
    while (*link != line)
        link = &(*link)->next;
    *link = line->next;
    pthread_mutex_unlock(&wire->mutex);
    while (line->first)
        eki_line_drop_first(line);
    line->wire = NULL;
    if (!wire->lines)
        free_wire(wire);
}

void eki_line_deafen(struct eki_line *line)
{
    if (!line->wire)
        return;
    pthread_mutex_lock(&line->wire->mutex);
    line->is_deaf = true;
    pthread_mutex_unlock(&line->wire->mutex);
    while (line->first)
        eki_line_drop_first(line);
}

bool eki_line_keep(struct eki_line *line, const struct eki_message *message)
{
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    struct eki_kept *kept = make_kept(line->wire, sizeof *kept + bytes);
    if (!kept)
        return false;
    memcpy(eki_kept_message(kept), message, bytes);
    if (line->first)
        line->last->next = kept;
    else
        line->first = kept;
    line->last = kept;
    return true;
}

bool eki_wire_keep(struct eki_wire *wire, const struct eki_message *message)
{
    bool is_kept = true;
    pthread_mutex_lock(&wire->mutex);
    struct eki_line *line = wire->lines;
    while (line && line->number != message->head.collection)
        line = line->next;
    if (line && !line->is_deaf)
        is_kept = eki_line_keep(line, message);
    pthread_mutex_unlock(&wire->mutex);
    return is_kept;
}

void eki_line_drop_first(struct eki_line *line)
{
    struct eki_kept *kept = line->first;
    line->first = kept->next;
    if (!kept->is_spare)
        eki_free(kept);
    else if (--line->wire->spares == 0)
        line->wire->spare_used = 0;
}
