/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that are held, and holes: what of a local part nobody else may take. */
#include "task/task.h"

void eki_local_hold(struct eki_local *local, unsigned char *from)
{
    local->is_held = true;
    if (from >= local->seed_base && from < local->seed_top) {
        local->held_seeds = from;
        return;
    }
    if (local->held_first == local->held_end)
        local->held_end = local->stack_top - local->stack;
    local->held_first = from - local->stack;
}

void eki_local_let_go(struct eki_local *local)
{
    ptrdiff_t top = local->stack_top - local->stack;
    if (local->held_end > top)
        local->held_end = top;
    if (local->held_first > local->held_end)
        local->held_first = local->held_end;
    if (local->held_seeds && local->seed_top <= local->held_seeds)
        local->held_seeds = NULL;
    local->is_held = local->held_first != local->held_end || local->held_seeds;
}

void eki_local_lift_held(struct eki_local *local)
{
    ptrdiff_t held = local->held_end - local->held_first;
    ptrdiff_t above = local->stack_top - local->stack - local->held_end;
    if (held == 0 || above <= 0 ||
        !eki_local_reserve(local, held / (ptrdiff_t)local->slot_bytes))
        return;
    unsigned char *first = local->stack + local->held_first;
    memcpy(local->stack_top, first, (size_t)held);
    memmove(first, first + held, (size_t)(above + held));
    local->held_first += above;
    local->held_end += above;
}

void eki_local_pass_hole(struct eki_local *local)
{
    unsigned char *hole = eki_local_hole(local);
    if (!hole || hole != local->stack_bottom || local->aside != 0 ||
        local->published_stack != 0 ||
        local->stack_top == hole + local->slot_bytes)
        return;
    local->stack_bottom += local->slot_bytes;
    local->moved_hole = NULL;
}
