/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines over a fabric that is a queue in memory. */
#include <wire/wire.h>

#include <string.h>

#include "check.h"

enum {
    LINES = 3,
    MOST = 4000
};

struct letter {
    _Alignas(8) struct eki_head head;
    int64_t body[2];
};

/* What arrives, in this order; the first of it that was not polled. */
struct queue {
    struct eki_fabric fabric;
    struct letter letters[MOST];
    int count, next;
    int polled; /* and not released */
};

/* What a line has taken. */
struct taker {
    struct eki_line line;
    int64_t taken;
    int64_t limit; /* what comes later is early */
    bool is_full;  /* there is no memory */
};

static struct eki_message *poll(struct eki_fabric *fabric)
{
    struct queue *queue = (struct queue *)fabric;
    if (queue->next == queue->count)
        return NULL;
    queue->polled++;
    return (struct eki_message *)(void *)&queue->letters[queue->next++];
}

static void release(struct eki_fabric *fabric, struct eki_message *message)
{
    struct queue *queue = (struct queue *)fabric;
    memset(message, 0xa5, sizeof(struct letter));
    queue->polled--;
}

static const struct eki_fabric_ops ops = {.poll = poll, .release = release};
static struct queue queue;
static struct taker takers[LINES];

static void open_line(int i)
{
    takers[i] = (struct taker){.limit = INT64_MAX};
    CHECK_OK(eki_line_open(&takers[i].line, &queue.fabric,
                           eki_wire_next_number(&queue.fabric)));
}

static void open_lines(void)
{
    memset(&queue, 0, sizeof queue);
    queue.fabric = (struct eki_fabric){.ops = &ops, .size = 1};
    for (int i = 0; i < LINES; i++)
        open_line(i);
}

/* In any order: the wire goes with the last. */
static void close_lines(void)
{
    eki_line_close(&takers[1].line);
    eki_line_close(&takers[0].line);
    CHECK(queue.fabric.wire != NULL);
    eki_line_close(&takers[2].line);
    CHECK(queue.fabric.wire == NULL);
    CHECK_EQ_INT(queue.polled, 0);
}

/* Message NUMBER of a line. */
static void arrive(uint32_t line, int64_t number)
{
    struct letter *letter = &queue.letters[queue.count++];
    letter->head = (struct eki_head){
        .collection = line, .first = number, .bytes = sizeof letter->body};
    letter->body[0] = letter->body[1] = 1000 * number + line;
}

static enum eki_received
receive(void *context, const struct eki_message *message, uint64_t now)
{
    struct taker *taker = context;
    struct letter letter;
    memcpy(&letter, message, sizeof letter);
    CHECK_EQ_INT(now, 5);
    if (taker->is_full)
        return EKI_RECEIVED_HELD;
    CHECK_EQ_INT(letter.head.collection, taker->line.number);
    if (letter.head.first >= taker->limit)
        return EKI_RECEIVED_EARLY;
    CHECK_EQ_INT(letter.head.first, taker->taken);
    CHECK_EQ_INT(letter.body[0], 1000 * taker->taken + taker->line.number);
    CHECK_EQ_INT(letter.body[1], letter.body[0]);
    taker->taken++;
    return EKI_RECEIVED;
}

/* As a server does: what was kept is older. */
static void step(int i)
{
    struct taker *taker = &takers[i];
    if (eki_line_take_kept(&taker->line, receive, taker, 5))
        eki_line_drain(&taker->line, receive, taker, 5);
}

static void who_drains_keeps_what_others_get(void)
{
    open_lines();
    for (int64_t number = 0; number < 5; number++)
        for (uint32_t line = 0; line < LINES; line++)
            arrive(line, number);
    step(1);
    CHECK_EQ_INT(queue.next, 15);
    CHECK_EQ_INT(queue.polled, 0);
    CHECK_EQ_INT(takers[0].taken, 0);
    CHECK_EQ_INT(takers[1].taken, 5);
    step(0);
    CHECK_EQ_INT(takers[0].taken, 5);
    CHECK(takers[0].line.first == NULL && takers[2].line.first != NULL);
    close_lines(); /* with what is kept for the third */
}

static void what_is_early_waits_in_order(void)
{
    open_lines();
    takers[0].limit = 2;
    for (int64_t number = 0; number < 4; number++)
        arrive(0, number);
    step(0);
    step(0);
    CHECK_EQ_INT(takers[0].taken, 2);
    CHECK_EQ_INT(queue.next, 4);
    arrive(0, 4);
    step(1); /* behind what waits */
    takers[0].limit = 4;
    step(0);
    CHECK_EQ_INT(takers[0].taken, 4);
    takers[0].limit = 9;
    step(0);
    CHECK_EQ_INT(takers[0].taken, 5);
    close_lines();
}

static void a_step_takes_no_more_than_that(void)
{
    open_lines();
    for (int64_t number = 0; number < EKI_DRAIN_MOST + 3; number++)
        arrive(0, number);
    step(0);
    CHECK_EQ_INT(takers[0].taken, EKI_DRAIN_MOST);
    step(1);
    CHECK_EQ_INT(queue.next, queue.count);
    close_lines();
}

/* Whether there is no memory for its own, or for a copy of another's. */
static void all_wait_behind_what_is_held(void)
{
    open_lines();
    takers[0].is_full = true;
    arrive(0, 0);
    arrive(1, 0);
    step(0);
    step(0);
    CHECK_EQ_INT(queue.next, 1);
    CHECK_EQ_INT(queue.polled, 1);
    queue.fabric.wire->spare_used = 1 << 20; /* more than there is */
    eki_memory_fail(1);
    step(1); /* held for the first, of which there can be no copy */
    eki_memory_fail(0);
    CHECK_EQ_INT(queue.next, 1);
    CHECK_EQ_INT(takers[1].taken, 0);
    step(1);
    CHECK_EQ_INT(takers[1].taken, 1);
    CHECK_EQ_INT(queue.polled, 0);
    takers[0].is_full = false;
    step(0);
    CHECK_EQ_INT(takers[0].taken, 1);
    takers[2].is_full = true;
    arrive(2, 0);
    step(2);
    CHECK_EQ_INT(queue.polled, 1);
    close_lines(); /* which releases it */
}

/* ... and is there again when what was kept has been taken. */
static void spare_memory_keeps_some(void)
{
    open_lines();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 6; i++)
            arrive(0, 6 * round + i);
        eki_memory_fail(EKI_MEMORY_GONE);
        step(1);
        eki_memory_fail(0);
        CHECK_EQ_INT(queue.polled, 0);
        CHECK_EQ_INT(queue.fabric.wire->spares, 6);
        step(0);
        CHECK_EQ_INT(takers[0].taken, 6 * (round + 1));
        CHECK_EQ_INT(queue.fabric.wire->spare_used, 0);
    }
    close_lines();
}

/* Numbers do not come again, so a late message finds nobody. */
static void nobody_gets_what_is_for_a_closed_line(void)
{
    open_lines();
    eki_line_close(&takers[1].line);
    arrive(1, 0);
    arrive(0, 0);
    step(0);
    CHECK_EQ_INT(takers[0].taken, 1);
    open_line(1);
    CHECK_EQ_INT(takers[1].line.number, LINES);
    CHECK(takers[1].line.first == NULL);
    arrive(LINES, 0);
    step(0);
    step(1);
    CHECK_EQ_INT(takers[1].taken, 1);
    arrive(2, 0);
    step(0);
    eki_line_deafen(&takers[2].line);
    CHECK(takers[2].line.first == NULL);
    arrive(2, 1);
    step(0);
    CHECK(takers[2].line.first == NULL);
    close_lines();
}

/* A message that makes no sense may have been of any line that was open, and of
 * none that was not; a failure concerns all. */
static void trouble_concerns_who_was_there(void)
{
    open_lines();
    eki_line_close(&takers[1].line);
    CHECK(!eki_line_has_trouble(&takers[0].line));
    eki_fabric_note(&queue.fabric, EK_OK, "a bad message");
    CHECK(eki_line_has_trouble(&takers[0].line));
    CHECK(eki_line_has_trouble(&takers[2].line));
    open_line(1);
    CHECK(!eki_line_has_trouble(&takers[1].line));
    eki_fabric_note(&queue.fabric, EK_ERR_MPI, "the cable was cut");
    eki_fabric_note(&queue.fabric, EK_OK, "another bad message");
    CHECK_EQ_TEXT(queue.fabric.failure, "the cable was cut");
    CHECK_EQ_INT(queue.fabric.failed, EK_ERR_MPI);
    CHECK(eki_line_has_trouble(&takers[1].line));
    eki_line_close(&takers[1].line);
    open_line(1);
    CHECK(eki_line_has_trouble(&takers[1].line));
    close_lines();
}

static void every_line_gets_all_of_its_own_in_order(void)
{
    struct eki_random random;
    int64_t sent[LINES] = {0};
    open_lines();
    eki_random_seed(&random, 14, 0);
    while (queue.count < MOST) {
        uint64_t line = eki_random_below(&random, LINES);
        if (eki_random_below(&random, 3) > 0) {
            arrive((uint32_t)line, sent[line]++);
            continue;
        }
        takers[line].limit =
            takers[line].taken + (int64_t)eki_random_below(&random, 20);
        takers[line].is_full = eki_random_below(&random, 10) == 0;
        step((int)line);
    }
    for (int i = 0; i < LINES; i++) {
        takers[i].limit = INT64_MAX;
        takers[i].is_full = false;
    }
    while (queue.next < queue.count)
        step(0);
    for (int i = 0; i < LINES; i++) {
        step(i);
        CHECK_EQ_INT(takers[i].taken, sent[i]);
    }
    close_lines();
}

static void lines_without_memory_leave_nothing(void)
{
    memset(&queue, 0, sizeof queue);
    queue.fabric = (struct eki_fabric){.ops = &ops, .size = 1};
    struct eki_line line = {0};
    for (int n = 1; n <= 2; n++) {
        eki_memory_fail(n);
        CHECK_EQ_INT(eki_line_open(&line, &queue.fabric, 0), EK_ERR_NOMEM);
        eki_memory_fail(0);
        CHECK(queue.fabric.wire == NULL);
    }
    eki_line_close(&line);
}

int main(void)
{
    RUN(who_drains_keeps_what_others_get);
    RUN(what_is_early_waits_in_order);
    RUN(a_step_takes_no_more_than_that);
    RUN(all_wait_behind_what_is_held);
    RUN(spare_memory_keeps_some);
    RUN(nobody_gets_what_is_for_a_closed_line);
    RUN(trouble_concerns_who_was_there);
    RUN(every_line_gets_all_of_its_own_in_order);
    RUN(lines_without_memory_leave_nothing);
    return check_result();
}
