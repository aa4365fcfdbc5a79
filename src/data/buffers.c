/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of inputs and results, which is used again: the heap, that serves what
 * is long and what is short in turn, would take twice as much.
 *
 * Free buffers lie in lists by their sizes, four to an octave.  All buffers
 * together, free or not, have as many bytes as the budget, and a quarter for
 * what sizes are rounded by, as far as those in use leave a choice.
 */
#include "data/internal.h"

/* What lies before a buffer, a line long. */
struct eki_buffer {
    struct eki_buffer *next; /* free */
    size_t room;
    int class;
};

static struct eki_buffer *head_of(unsigned char *bytes)
{
    return (struct eki_buffer *)(bytes - EKI_LINE);
}

/* The sizes are 2^k, 1.25 x 2^k, 1.5 x 2^k, 1.75 x 2^k from a line on. */
static int class_of(size_t bytes, size_t *room)
{
    if (bytes < EKI_LINE)
        bytes = EKI_LINE;
    int octave = 63 - __builtin_clzll(bytes);
    size_t power = (size_t)1 << octave, step = power / 4;
    size_t steps = (bytes - power + step - 1) / step;
    *room = power + steps * step;
    return octave * 4 + (int)steps;
}

/* Take a free buffer out of a list; NULL: it is empty. */
static struct eki_buffer *pop(struct eki_buffers *buffers, int class)
{
    struct eki_buffer *buffer = buffers->free[class];
    if (buffer)
        buffers->free[class] = buffer->next;
    return buffer;
}

/* The longest free buffers for which there is no room among BYTES more. */
static struct eki_buffer *pop_surplus(struct eki_data *data, size_t bytes)
{
    struct eki_buffers *buffers = &data->buffers;
    struct eki_buffer *surplus = NULL, *buffer;
    int class = EKI_BUFFER_CLASSES - 1;
    while (class >= 0 &&
           buffers->bytes + (int64_t)bytes > eki_data_budget(data) / 4 * 5) {
        buffer = pop(buffers, class);
        if (!buffer) {
            class --;
            continue;
        }
        buffers->bytes -= (int64_t)buffer->room;
        buffer->next = surplus;
        surplus = buffer;
    }
    return surplus;
}

static void free_list(struct eki_buffer *buffer)
{
    while (buffer) {
        struct eki_buffer *next = buffer->next;
        eki_free(buffer);
        buffer = next;
    }
}

/* Where memory has run out all that is free goes back; false: nothing was. */
EKI_COLD static bool free_others(struct eki_data *data)
{
    size_t more_than_all = 2 * (size_t)eki_data_budget(data);
    eki_lock(&data->buffers.lock);
    struct eki_buffer *free = pop_surplus(data, more_than_all);
    eki_unlock(&data->buffers.lock);
    free_list(free);
    return free != NULL;
}

unsigned char *eki_buffer_take(struct eki_data *data, size_t bytes)
{
    struct eki_buffers *buffers = &data->buffers;
    struct eki_buffer *surplus = NULL;
    size_t room;
    int class = class_of(bytes, &room);
    eki_lock(&buffers->lock);
    struct eki_buffer *buffer = pop(buffers, class);
    if (!buffer) {
        surplus = pop_surplus(data, room);
        buffers->bytes += (int64_t)room;
    }
    eki_unlock(&buffers->lock);
    free_list(surplus);
    if (buffer)
        return (unsigned char *)buffer + EKI_LINE;
    buffer = eki_alloc_untouched(EKI_LINE + room);
    if (!buffer && free_others(data))
        buffer = eki_alloc_untouched(EKI_LINE + room);
    if (!buffer) {
        eki_lock(&buffers->lock);
        buffers->bytes -= (int64_t)room;
        eki_unlock(&buffers->lock);
        return NULL;
    }
    buffer->room = room;
    buffer->class = class;
    return (unsigned char *)buffer + EKI_LINE;
}

void eki_buffer_give(struct eki_data *data, unsigned char *bytes)
{
    struct eki_buffers *buffers = &data->buffers;
    if (!bytes)
        return;
    struct eki_buffer *buffer = head_of(bytes);
    eki_lock(&buffers->lock);
    buffer->next = buffers->free[buffer->class];
    buffers->free[buffer->class] = buffer;
    struct eki_buffer *surplus = pop_surplus(data, 0);
    eki_unlock(&buffers->lock);
    free_list(surplus);
}

bool eki_buffer_cut(struct eki_data *data, unsigned char **bytes, size_t count)
{
    if (!*bytes || head_of(*bytes)->room / 2 < count)
        return false;
    unsigned char *cut = eki_buffer_take(data, count);
    if (!cut)
        return false;
    memcpy(cut, *bytes, count);
    eki_buffer_give(data, *bytes);
    *bytes = cut;
    return true;
}

void eki_buffers_free(struct eki_data *data)
{
    for (int class = 0; class < EKI_BUFFER_CLASSES; class ++)
        free_list(data->buffers.free[class]);
}
