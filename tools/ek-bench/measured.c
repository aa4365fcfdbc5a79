/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking what was measured into a machine. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is possible of a machine, in ns and GB/s: less than a few cycles, or
 * than two cores need to hand a cache line over, is a measurement that
 * something disturbed. */
static const struct possible {
    const char *key;
    size_t offset; /* in struct eki_machine */
    double least, most;
    bool is_rate;
} possibles[] = {
#define FIELD(field) offsetof(struct eki_machine, field)
    {"latency", FIELD(latency), 20, 1e9, false},
    {"send", FIELD(send), 5, 1e9, false},
    {"gap", FIELD(gap), 5, 1e9, false},
    {"bandwidth", FIELD(byte), 1e-4, 2000, true},
    {"handle", FIELD(handle), 10, 1e9, false},
    {"poll", FIELD(poll), 1, 1e9, false},
    {"poll_period", FIELD(poll_period), 100, 1e9, false},
    {"probe", FIELD(probe), 1, 1e6, false},
    {"atomic", FIELD(atomic), 1, 1e6, false},
    {"copy_bandwidth", FIELD(copy_byte), 1e-3, 2000, true},
    {"rma_ns", FIELD(rma), 5, 1e9, false},
    {"rma_byte_ns", FIELD(rma_byte), BENCH_RMA_BYTE_LEAST_NS, 1e6, false},
    {"atomic_ns", FIELD(rma_atomic), 1, 1e9, false},
    {"task", FIELD(task), 0.2, 1e6, false},
    {"restore", FIELD(restore), 0.2, 1e6, false},
    {"balance", FIELD(balance), 0.2, 1e6, false},
    {"pause_share", FIELD(pause_share), 0, 90, false},
    {"pause", FIELD(pause), 0, 1e10, false},
#undef FIELD
};

static bool is_possible(const struct possible *possible, double value)
{
    return value >= possible->least && value <= possible->most;
}

static bool key_is_possible(const char *key, double value)
{
    for (size_t i = 0; i < sizeof possibles / sizeof *possibles; i++) {
        if (strcmp(possibles[i].key, key) == 0)
            return is_possible(&possibles[i], value);
    }
    return value > 0 && !isinf(value);
}

bool bench_machine_is_possible(const struct eki_machine *machine,
                               struct message *message)
{
    for (size_t i = 0; i < sizeof possibles / sizeof *possibles; i++) {
        const struct possible *possible = &possibles[i];
        double value =
            *(const double *)((const char *)machine + possible->offset);
        if (possible->is_rate)
            value = 1 / value;
        if (!is_possible(possible, value))
            return message_set(
                message, "%s of %.3g %s cannot be; possible: %g ... %g",
                possible->key, value, possible->is_rate ? "GB/s" : "ns",
                possible->least, possible->most);
    }
    return true;
}

void bench_take(struct measured *measured, double *field, const char *key,
                double value)
{
    char text[32];
    if (!key_is_possible(key, value)) {
        eki_append(measured->kept, sizeof measured->kept, "%s%s",
                   measured->kept[0] != '\0' ? ", " : "", key);
        return;
    }
    snprintf(text, sizeof text, "%.3g", value);
    *field = strtod(text, NULL);
}

void bench_take_rate(struct measured *measured, double *field, const char *key,
                     double value)
{
    double rate = 0;
    bench_take(measured, &rate, key, 1 / value);
    if (rate > 0)
        *field = 1 / rate;
}
