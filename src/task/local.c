/* SPDX-License-Identifier: BSD-3-Clause */
/* The local part of a worker: growth, publishing, taking back. */
#include "task/task.h"

enum {
    FIRST_SLOTS = 16
};

void eki_local_init(struct eki_local *local, uint32_t slot_bytes)
{
    memset(local, 0, sizeof *local);
    local->slot_bytes = slot_bytes;
    local->spawned_word = eki_spawned_word(0);
    local->spare_most = EKI_SPARE_BYTES;
}

static void free_slots(unsigned char *slots, const unsigned char *limit)
{
    eki_array_free(slots, (size_t)(limit - slots));
}

void eki_local_free(struct eki_local *local)
{
    free_slots(local->seeds, local->seed_limit);
    free_slots(local->stack, local->stack_limit);
    free_slots(local->log, local->log_limit);
    free_slots(local->spare, local->spare_limit);
    free_slots(local->left, local->left_limit);
    eki_local_init(local, local->slot_bytes);
}

/* An array of ROOM slots with room for NEEDED; NULL: no memory. */
static unsigned char *resize_slots(unsigned char *slots, int64_t room,
                                   int64_t needed, uint32_t slot_bytes)
{
    if (needed > (int64_t)(PTRDIFF_MAX / slot_bytes))
        return NULL;
    return eki_array_resize(slots, (size_t)(room * slot_bytes),
                            (size_t)(needed * slot_bytes));
}

/* ROOM of an array, doubled until it is NEEDED. */
static int64_t doubled(int64_t room, int64_t needed)
{
    room = room > FIRST_SLOTS ? room : FIRST_SLOTS;
    while (room < needed)
        room *= 2;
    return room;
}

/* Room for N more seeds: just that, or (DOUBLES) of many more. */
static bool grow_seeds(struct eki_local *local, int64_t n, bool doubles)
{
    ptrdiff_t used = local->seed_end - local->seeds;
    ptrdiff_t base = local->seed_base - local->seeds;
    int64_t room = eki_local_slots(local, local->seeds, local->seed_limit);
    int64_t needed = used / (ptrdiff_t)local->slot_bytes + n;
    if (needed <= room)
        return true;
    int64_t wanted = doubles ? doubled(room, needed) : needed;
    unsigned char *slots =
        resize_slots(local->seeds, room, wanted, local->slot_bytes);
    if (!slots)
        return false;
    local->seeds = slots;
    local->seed_limit = slots + wanted * local->slot_bytes;
    local->seed_base = slots + base;
    local->seed_end = local->seed_top = slots + used;
    return true;
}

bool eki_local_seeds_reserve(struct eki_local *local, int64_t n)
{
    return grow_seeds(local, n, false);
}

bool eki_local_seeds_room(struct eki_local *local, int64_t n)
{
    return grow_seeds(local, n, true);
}

bool eki_local_join_seeds(struct eki_local *local, struct eki_local *from)
{
    size_t bytes = (size_t)(from->seed_end - from->seeds);
    if (bytes == 0)
        return true;
    /* Where there is nothing to add to, the two change their arrays. */
    if (local->seed_end == local->seeds) {
        eki_slots_swap(&local->seeds, &from->seeds);
        eki_slots_swap(&local->seed_end, &from->seed_end);
        eki_slots_swap(&local->seed_limit, &from->seed_limit);
        local->seed_base = local->seeds;
    } else {
        if (!eki_local_seeds_reserve(
                local, eki_local_slots(from, from->seeds, from->seed_end)))
            return false;
        memcpy(local->seed_end, from->seeds, bytes);
        local->seed_end += bytes;
    }
    local->seed_top = local->seed_end;
    eki_local_clear(from);
    return true;
}

struct eki_slot *eki_local_seed_grow(struct eki_local *local)
{
    return eki_local_seeds_room(local, 1) ? eki_local_add_seed(local) : NULL;
}

bool eki_local_add_range(struct eki_local *local, int function,
                         struct eki_range range, uint64_t id)
{
    struct eki_slot *slot = eki_local_add_seed(local);
    if (!slot)
        return false;
    eki_slot_head(slot, function, sizeof range,
                  EKI_SLOT_SEED | EKI_SLOT_RANGE | EKI_SLOT_CANCELLED, id);
    slot->bin = EKI_BIN_RANGE;
    eki_copy_payload(slot, &range, sizeof range);
    local->has_ranges = true;
    return true;
}

/* Move what is needed of the stack to the start of SLOTS. */
static void move_stack(struct eki_local *local, unsigned char *slots)
{
    int64_t kept = (local->published_stack + local->aside) * local->slot_bytes;
    unsigned char *needed = local->stack_bottom - kept;
    unsigned char *hole = eki_local_hole(local);
    size_t bytes = (size_t)(local->stack_top - needed);
    if (needed == slots)
        return;
    memmove(slots, needed, bytes);
    if (hole)
        local->moved_hole = slots + (hole - needed);
    local->held_first -= needed - local->stack;
    local->held_end -= needed - local->stack;
    local->stack_bottom = slots + kept;
    local->stack_top = slots + bytes;
    local->stack_mark = local->stack_limit;
}

/* Move the stack to an array of ROOM slots, and leave the one behind in which a
 * task runs; false: no memory. */
static bool leave_behind(struct eki_local *local, int64_t room)
{
    unsigned char *slots = resize_slots(NULL, 0, room, local->slot_bytes);
    if (!slots)
        return false;
    move_stack(local, slots);
    local->left = local->stack;
    local->left_limit = local->stack_limit;
    local->stack = slots;
    local->stack_mark = local->stack_limit = slots + room * local->slot_bytes;
    return true;
}

bool eki_local_reserve(struct eki_local *local, int64_t n)
{
    int64_t room = eki_local_slots(local, local->stack, local->stack_limit);
    int64_t used = eki_local_slots(local, local->stack, local->stack_top);
    if (used + n <= room)
        return true;
    int64_t dead = eki_local_slots(local, local->stack, local->stack_bottom) -
                   local->published_stack - local->aside;
    bool is_compact = dead >= room / 2 && used - dead + n <= room;
    if (EKI_UNLIKELY(eki_local_runs_here(local)))
        return leave_behind(local, is_compact ? room : 2 * room + n);
    if (is_compact) {
        move_stack(local, local->stack);
        return true;
    }
    int64_t bottom = local->stack_bottom - local->stack;
    int64_t top = local->stack_top - local->stack;
    unsigned char *hole = eki_local_hole(local);
    ptrdiff_t hole_at = hole ? hole - local->stack : 0;
    int64_t wanted = doubled(room, used + n);
    unsigned char *slots =
        resize_slots(local->stack, room, wanted, local->slot_bytes);
    if (!slots)
        return false;
    local->stack = slots;
    local->stack_bottom = slots + bottom;
    local->stack_top = slots + top;
    local->stack_mark = local->stack_limit = slots + wanted * local->slot_bytes;
    if (hole)
        local->moved_hole = slots + hole_at;
    return true;
}

void eki_local_fill_late(struct eki_local *local)
{
    unsigned char *hole = eki_local_hole(local);
    if (hole) {
        local->stack_top -= local->slot_bytes;
        if (hole != local->stack_top)
            eki_slot_copy(hole, local->stack_top, local->slot_bytes);
    }
    free_slots(local->left, local->left_limit);
    local->left = local->left_limit = NULL;
    local->moved_hole = NULL;
}

bool eki_local_log_reserve(struct eki_local *local, int64_t n)
{
    int64_t room = eki_local_slots(local, local->log, local->log_limit);
    int64_t used = eki_local_slots(local, local->log, local->log_end);
    if (used + n <= room)
        return true;
    int64_t wanted = doubled(room, used + n);
    unsigned char *slots =
        resize_slots(local->log, room, wanted, local->slot_bytes);
    if (!slots)
        return false;
    local->log = slots;
    local->log_end = slots + used * local->slot_bytes;
    local->log_limit = slots + wanted * local->slot_bytes;
    return true;
}

bool eki_local_spare_reserve(struct eki_local *local, int64_t n)
{
    if (n <= eki_local_slots(local, local->spare, local->spare_limit))
        return true;
    free_slots(local->spare, local->spare_limit);
    local->spare = resize_slots(NULL, 0, n, local->slot_bytes);
    local->spare_limit =
        local->spare ? local->spare + n * local->slot_bytes : NULL;
    return local->spare != NULL;
}

/* The limit of an array of which so many BYTES were needed. */
static unsigned char *cut_slots(const struct eki_local *local,
                                unsigned char *slots,
                                const unsigned char *limit, ptrdiff_t bytes)
{
    if (slots == limit)
        return slots;
    size_t left = eki_array_cut(slots, (size_t)(limit - slots), (size_t)bytes);
    return slots + left / local->slot_bytes * local->slot_bytes;
}

void eki_local_cut(struct eki_local *local, int64_t kept)
{
    ptrdiff_t bytes = kept * local->slot_bytes;
    ptrdiff_t used = local->seed_end - local->seeds;
    local->seed_limit = cut_slots(local, local->seeds, local->seed_limit,
                                  used > bytes ? used : bytes);
    local->log_limit = cut_slots(local, local->log, local->log_limit,
                                 local->log_end - local->log);
    local->spare_limit =
        cut_slots(local, local->spare, local->spare_limit, bytes);
    if (bytes > local->spare_most) {
        free_slots(local->spare, local->spare_limit);
        local->spare = local->spare_limit = NULL;
    }
}

void eki_local_shed(struct eki_local *local)
{
    EKI_ASSERT(local->log_end == local->log && local->aside == 0 &&
               local->stack_top == local->stack_bottom && !local->left);
    free_slots(local->stack, local->stack_limit);
    free_slots(local->log, local->log_limit);
    free_slots(local->spare, local->spare_limit);
    local->stack = local->stack_bottom = local->stack_top = NULL;
    local->stack_mark = local->stack_limit = NULL;
    local->log = local->log_end = local->log_limit = NULL;
    local->spare = local->spare_limit = NULL;
}

struct eki_slot *eki_local_log(struct eki_local *local,
                               const struct eki_slot *slot)
{
    if (EKI_UNLIKELY(local->log_end == local->log_limit) &&
        !eki_local_log_reserve(local, 1))
        return NULL;
    struct eki_slot *to = (struct eki_slot *)local->log_end;
    eki_slot_copy(to, slot, local->slot_bytes);
    local->log_end += local->slot_bytes;
    return to;
}

unsigned char *eki_local_free_top(const struct eki_local *local)
{
    unsigned char *hole = eki_local_hole(local);
    if (hole && !EKI_PLANTED(HOLE_SHOWN))
        return hole;
    return local->held_first != local->held_end
               ? local->stack + local->held_first
               : local->stack_top;
}

int64_t eki_local_count_free(const struct eki_local *local)
{
    const unsigned char *seeds =
        local->held_seeds ? local->held_seeds : local->seed_top;
    return eki_local_slots(local, local->stack_bottom,
                           eki_local_free_top(local)) +
           eki_local_slots(local, local->seed_base, seeds);
}

void eki_local_publish(struct eki_local *local, void *to, int64_t n)
{
    int64_t spawned =
        eki_local_slots(local, local->stack_bottom, eki_local_free_top(local));
    int64_t from_stack = n < spawned ? n : spawned;
    size_t stack_bytes = (size_t)(from_stack * local->slot_bytes);
    size_t seed_bytes = (size_t)((n - from_stack) * local->slot_bytes);
    /* Where there was never a slot, nothing may be added to NULL, not even 0.
     */
    if (stack_bytes) {
        memcpy(to, local->stack_bottom, stack_bytes);
        local->stack_bottom += stack_bytes;
    }
    if (seed_bytes) {
        memcpy((unsigned char *)to + stack_bytes, local->seed_base, seed_bytes);
        local->seed_base += seed_bytes;
    }
    local->published_stack = from_stack;
    local->published_seeds = n - from_stack;
}

void eki_local_take_back(struct eki_local *local, int64_t rest)
{
    int64_t seeds =
        rest < local->published_seeds ? rest : local->published_seeds;
    if (seeds)
        local->seed_base -= seeds * local->slot_bytes;
    if (rest > seeds)
        local->stack_bottom -= (rest - seeds) * local->slot_bytes;
    eki_local_published(local);
}

static void hold_none(struct eki_local *local)
{
    local->is_held = false;
    local->held_first = local->held_end = 0;
    local->held_seeds = NULL;
}

/* Flag the slots of [FIRST, LAST); returns their tasks. */
static int64_t cancel_slots(const struct eki_local *local, unsigned char *first,
                            const unsigned char *last)
{
    int64_t tasks = 0;
    for (; first != last; first += local->slot_bytes) {
        struct eki_slot *slot = (struct eki_slot *)first;
        slot->flags |= EKI_SLOT_CANCELLED;
        tasks += eki_slot_tasks(slot);
    }
    return tasks;
}

int64_t eki_local_cancel(struct eki_local *local)
{
    int64_t tasks = cancel_slots(local, local->seed_base, local->seed_top) +
                    cancel_slots(local, local->stack_bottom, local->stack_top);
    local->aside +=
        eki_local_slots(local, local->stack_bottom, local->stack_top);
    local->seed_top = local->seed_base;
    local->stack_bottom = local->stack_top;
    hold_none(local);
    return tasks;
}

int64_t eki_local_seed_tasks(const struct eki_local *local)
{
    int64_t tasks = 0;
    if (!local->has_ranges)
        return eki_local_slots(local, local->seed_base, local->seed_top);
    for (unsigned char *at = local->seed_base; at != local->seed_top;
         at += local->slot_bytes)
        tasks += eki_slot_tasks((const struct eki_slot *)at);
    return tasks;
}

void eki_local_clear(struct eki_local *local)
{
    local->seed_base = local->seed_top = local->seed_end = local->seeds;
    local->stack_bottom = local->stack_top = local->stack;
    local->log_end = local->log;
    local->has_ranges = local->has_hints = false;
    local->aside = local->gone = local->done = 0;
    local->running = NULL;
    eki_local_fill_late(local);
    hold_none(local);
    eki_local_published(local);
}

/* Of the task that runs in place. */
static const char *check_running(const struct eki_local *local)
{
    const unsigned char *hole = eki_local_hole(local);
    if (hole && (hole < local->stack_bottom ||
                 hole + local->slot_bytes > local->stack_top))
        return "stack: bottom <= hole < top";
    if (local->left && (!local->running || eki_local_runs_here(local)))
        return "stack: nothing runs in the array that was left behind";
    if (!local->left && local->moved_hole)
        return "stack: a hole has moved, but not the stack";
    if (local->running && local->is_held)
        return "stack: a task runs in place, and others are held";
    return NULL;
}

const char *eki_local_check(const struct eki_local *local)
{
    if (local->seed_base > local->seed_top || local->seed_top > local->seed_end)
        return "seeds: base <= top <= end";
    if (eki_local_slots(local, local->seeds, local->seed_base) <
        local->published_seeds)
        return "seeds: more published than there were";
    if (local->stack_bottom > local->stack_top ||
        local->stack_top > local->stack_limit)
        return "stack: bottom <= top <= limit";
    if (eki_local_slots(local, local->stack, local->stack_bottom) <
        local->published_stack + local->aside)
        return "stack: more published than there were";
    if (local->log_end > local->log_limit)
        return "log: end <= limit";
    if (local->held_first != local->held_end &&
        local->stack + local->held_first < local->stack_bottom)
        return "stack: held tasks are published";
    if (local->held_seeds && local->held_seeds < local->seed_base)
        return "seeds: held tasks are published";
    return check_running(local);
}
