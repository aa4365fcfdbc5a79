/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of data that travels: used again, aligned, within its bound. */
#include "check.h"
#include "data/internal.h"

enum {
    BUDGET = 1 << 20,
    COUNT = 40
};

static struct eki_topology topology;
static struct eki_engine engine;
static struct eki_data data;

static void start(void)
{
    topology = (struct eki_topology){.workers_here = 3};
    engine = (struct eki_engine){.topology = &topology};
    memset(&data, 0, sizeof data);
    data.protocol.engine = &engine;
    data.home_part = BUDGET / 4;
    data.part = BUDGET / 4;
}

static void a_buffer_is_used_again(void)
{
    start();
    unsigned char *first = eki_buffer_take(&data, 100000);
    unsigned char *second = eki_buffer_take(&data, 100000);
    CHECK(first != second);
    eki_buffer_give(&data, first);
    /* A little shorter. */
    CHECK(eki_buffer_take(&data, 99000) == first);
    eki_buffer_give(&data, second);
    eki_buffer_give(&data, first);
    eki_buffer_give(&data, NULL);
    eki_buffers_free(&data);
}

static void all_sizes_fit_and_are_aligned(void)
{
    start();
    for (size_t bytes = 0; bytes < 5000; bytes += bytes < 300 ? 1 : 37) {
        unsigned char *buffer = eki_buffer_take(&data, bytes);
        if (!CHECK(buffer != NULL))
            break;
        CHECK_EQ_INT((uintptr_t)buffer % EKI_LINE, 0);
        memset(buffer, 1, bytes);
        eki_buffer_give(&data, buffer);
    }
    /* No more than a quarter is lost. */
    int64_t before = data.buffers.bytes;
    unsigned char *buffer = eki_buffer_take(&data, 70001);
    CHECK(data.buffers.bytes - before <= 70001 * 5 / 4);
    eki_buffer_give(&data, buffer);
    eki_buffers_free(&data);
}

/* What is free goes where it would be more than the budget and a quarter. */
static void free_buffers_stay_within_the_budget(void)
{
    unsigned char *taken[COUNT];
    start();
    for (size_t bytes = 1000; bytes < 200000; bytes *= 3) {
        for (int i = 0; i < COUNT; i++)
            taken[i] = eki_buffer_take(&data, bytes);
        CHECK(data.buffers.bytes >= COUNT * (int64_t)bytes);
        for (int i = 0; i < COUNT; i++)
            eki_buffer_give(&data, taken[i]);
        CHECK(data.buffers.bytes <= BUDGET / 4 * 5);
    }
    eki_buffers_free(&data);
}

static void a_short_result_is_cut(void)
{
    start();
    unsigned char *buffer = eki_buffer_take(&data, 4096), *whole = buffer;
    memset(buffer, 7, 4096);
    CHECK(!eki_buffer_cut(&data, &buffer, 3000));
    CHECK(buffer == whole);
    CHECK(eki_buffer_cut(&data, &buffer, 1000));
    CHECK(buffer != whole);
    CHECK_EQ_INT(buffer[0], 7);
    CHECK_EQ_INT(buffer[999], 7);
    /* The long one is free. */
    CHECK(eki_buffer_take(&data, 4096) == whole);
    eki_buffer_give(&data, whole);
    eki_buffer_give(&data, buffer);
    eki_buffers_free(&data);
}

int main(void)
{
    RUN(a_buffer_is_used_again);
    RUN(all_sizes_fit_and_are_aligned);
    RUN(free_buffers_stay_within_the_budget);
    RUN(a_short_result_is_cut);
    return check_result();
}
