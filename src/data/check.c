/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold between two steps of a rank's workers and server. */
#include "data/internal.h"

static const char *check_data_op(const struct eki_data_op *op, bool is_asked)
{
    int state = eki_op_state(op);
    bool is_served = state == EKI_DATA_ASKED || state == EKI_DATA_ENDED;
    if (is_asked && !is_served)
        return "the server is asked for what it has nothing to do with";
    if (state != EKI_DATA_FREE && op->room == 0 && op->ops->bytes_max > 0 &&
        state != EKI_DATA_ENDED)
        return "data that is charged to nobody";
    if (is_served && op->moved > (int64_t)op->ops->bytes_max)
        return "data of more than bytes_max";
    return NULL;
}

static const char *check_staged(const struct eki_carrier *carrier)
{
    for (int i = 0; i < carrier->staged; i++) {
        int state = eki_op_state(&carrier->ops[carrier->places[i]]);
        if (state != EKI_DATA_ASKED && state != EKI_DATA_HERE)
            return "a staged task that is not asked for";
    }
    return NULL;
}

static const char *check_carrier(const struct eki_data *data, int here,
                                 int *asked)
{
    const struct eki_carrier *carrier = &data->carriers[here];
    const char *wrong = check_staged(carrier);
    int64_t bytes = 0;
    int out = 0;
    for (int i = 0; !wrong && i < EKI_DATA_OPS_MOST; i++) {
        const struct eki_data_op *op = &carrier->ops[i];
        bool is_asked = eki_ticket_is_wanted(&data->tickets, here, i);
        wrong = check_data_op(op, is_asked);
        bytes += op->room;
        out += eki_op_state(op) == EKI_DATA_ENDED;
        *asked += is_asked;
    }
    /* relaxed, both: a check, while nobody else is at it. */
    if (!wrong &&
        (bytes != atomic_load_explicit(&carrier->bytes, memory_order_relaxed) ||
         out + (here == 0 && data->follower.is_kept) !=
             atomic_load_explicit(&data->tickets.desks[here].kept,
                                  memory_order_relaxed)))
        return "results or bytes of a worker are miscounted";
    return wrong;
}

static int64_t guest_bytes(const struct eki_guests *guests)
{
    int64_t bytes = 0;
    for (const struct eki_guest *guest = guests->first; guest;
         guest = guest->next)
        bytes += guest->room;
    return bytes;
}

const char *eki_data_check(const struct eki_engine *engine)
{
    const struct eki_data *data = eki_data_of(engine);
    const char *wrong = NULL;
    int asked = 0;
    if (!data)
        return NULL;
    int64_t bytes = data->asks.bytes + data->results.bytes;
    if (guest_bytes(&data->asks) != data->asks.bytes ||
        guest_bytes(&data->results) != data->results.bytes)
        return "bytes of the home are miscounted";
    for (int here = 0; !wrong && here < engine->topology->workers_here;
         here++) {
        const struct eki_carrier *carrier = &data->carriers[here];
        wrong = check_carrier(data, here, &asked);
        /* relaxed, all: a check, while nobody else is at it. */
        bytes += atomic_load_explicit(&carrier->bytes, memory_order_relaxed);
    }
    if (!wrong &&
        (asked !=
             atomic_load_explicit(&data->tickets.wants, memory_order_relaxed) ||
         bytes != atomic_load_explicit(&data->held, memory_order_relaxed)))
        wrong = "bytes or wishes of a rank are miscounted";
    return !wrong && bytes > eki_data_budget(data)
               ? "more bytes than the budget"
               : wrong;
}
