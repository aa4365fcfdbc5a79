/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records: what is written is read; damaged, truncated and foreign files are
 * refused with the byte where they are wrong, or read as far as they go.
 *
 *     test_record FOLDER [FLIPS]     FOLDER: of the records for tests
 */
#define _GNU_SOURCE
#include "check.h"
#include "fabric/fabric.h"
#include "record/hints.h"
#include "record/layout.h"
#include "task/task.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RANKS = 2,
    WORKERS = 3,
    FUNCTIONS = 2,
    ITERATIONS = 2,
    FILE_MOST = 4096,
    BYTES_MAX = 70000,   /* of the data of function 0 */
    START_STEP = 1000000 /* from one start of a worker to the next */
};

static const int rank_workers[RANKS] = {1, 2};
static const struct eki_record_shape shape = {.version = EKI_RECORD_VERSION,
                                              .name = "fock",
                                              .ranks = 2,
                                              .workers = 3,
                                              .rank_workers = rank_workers};
static const char *const names[FUNCTIONS] = {"quartets", "a name, with spaces"};

static char path[64];

/* Tasks of worker W in iteration K: some have none. */
static int64_t tasks_of(int k, int w)
{
    return k == 0 ? 2 * w : 3 - w;
}

/* One of them has travelled. */
static bool is_sized(int k, int64_t i)
{
    return k == 0 && i == 3;
}

/* ... and one tells its payload. */
static const unsigned char payload[EKI_PAYLOAD_MOST] = "\x01\xff";
static const char about[] = "Evenkeel: 3 workers\nrestore=retain (default)\n";

static int payload_of(int k, int w, int64_t i)
{
    return k == 0 && w == 2 && i == 1   ? EKI_PAYLOAD_MOST
           : k == 1 && w == 0 && i == 0 ? 1
                                        : 0;
}

static struct eki_record_task task_of(int k, int w, int64_t i)
{
    return (struct eki_record_task){
        .id = eki_id(w, (uint64_t)(100 * k + i)),
        .worker = w,
        .function = (uint16_t)(i % (k + 1)),
        .bin = i == 0 ? EKI_BIN_NEVER : eki_bin_of((uint64_t)(1000 * i + w)),
        .flags = (uint8_t)(i % 8 + (is_sized(k, i) ? EKI_RECORD_SIZED : 0) +
                           (payload_of(k, w, i) ? EKI_RECORD_PAYLOAD : 0) +
                           (i % 3 == 1 ? EKI_RECORD_PINNED : 0)),
        .start_ns = START_STEP * (uint64_t)(i + 1),
        .input_bytes = is_sized(k, i) ? UINT32_MAX - (uint32_t)w : 0,
        .result_bytes = is_sized(k, i) ? 12 : 0};
}

static struct eki_record_worker worker_of(int k, int w)
{
    return (struct eki_record_worker){.count = tasks_of(k, w),
                                      .executed = tasks_of(k, w) + 100 + w,
                                      .nulls = 90,
                                      .failed = k,
                                      .cancelled = w,
                                      .work_ns = 5000 + (uint64_t)w,
                                      .null_ns = 70};
}

/* Worker 0 of the first iteration lists none of what it has spawned. */
enum {
    FAMILIES = 2
};

static struct eki_record_family family_of(int i)
{
    return (struct eki_record_family){.parent = eki_id(2 - i, 7),
                                      .first = eki_id_first_spawned(0) +
                                               (uint64_t)(10 * i),
                                      .count = (uint64_t)(10 - i)};
}

/* It has run null indices alone. */
enum {
    SPANS = 2
};

static struct eki_record_span span_of(int i)
{
    return (struct eki_record_span){.first = eki_id(i, 1000),
                                    .count = (uint64_t)(40 + i)};
}

static struct eki_record_head head_of(int k)
{
    return (struct eki_record_head){.iteration = 3 * k + 1,
                                    .wall_ns = 123456789 + (uint64_t)k,
                                    .status = k == 0 ? EK_OK : EK_ERR_TASK,
                                    .restore = k == 0 ? EK_RESTORE_DEFAULT
                                                      : EK_RESTORE_RETAIN,
                                    .steal = EK_STEAL_NEAR,
                                    .order = EKI_ORDER_EXECUTED,
                                    .on_failure = EK_ON_FAILURE_CONTINUE,
                                    .stopped = k == 0 ? EKI_RECORD_STOPS : 0};
}

static void pack_iteration(struct eki_record_pack *pack, int k)
{
    for (int w = 0; w < WORKERS; w++) {
        struct eki_record_worker worker = worker_of(k, w);
        CHECK(eki_record_pack_begin(pack));
        for (int64_t i = 0; i < tasks_of(k, w); i++) {
            struct eki_record_task task = task_of(k, w, i);
            CHECK(eki_record_pack_task(pack, &task));
            CHECK(!payload_of(k, w, i) ||
                  eki_record_pack_payload(pack, payload, payload_of(k, w, i)));
        }
        for (int i = 0; k == 0 && w == 0 && i < FAMILIES; i++) {
            struct eki_record_family family = family_of(i);
            CHECK(eki_record_pack_family(pack, &family));
        }
        for (int i = 0; k == 0 && w == 0 && i < SPANS; i++) {
            struct eki_record_span span = span_of(i);
            CHECK(eki_record_pack_span(pack, &span));
        }
        eki_record_pack_end(pack, &worker);
    }
}

/* In two pieces, as they come from ranks. */
static void write_iteration(struct eki_record_writer *writer, int k)
{
    struct eki_record_pack pack = {.version = EKI_RECORD_VERSION};
    struct eki_record_head head = head_of(k);
    pack_iteration(&pack, k);
    eki_record_begin(writer, &head, (int64_t)pack.bytes);
    eki_record_put(writer, pack.data, 10);
    eki_record_put(writer, pack.data + 10, pack.bytes - 10);
    CHECK_OK(eki_record_end(writer));
    eki_record_pack_free(&pack);
}

static int key_base; /* of the records that are written */

/* The second function is named between the iterations. */
static void write_record(bool is_complete)
{
    struct eki_record_writer *writer;
    if (!CHECK_OK(eki_record_create(path, &shape, &writer)))
        exit(1);
    for (int k = 0; k < ITERATIONS; k++) {
        CHECK_EQ_INT(eki_record_functions_written(writer), k);
        CHECK_OK(eki_record_write_function(writer, names[k]));
        if (k == 0)
            CHECK_OK(eki_record_write_data(writer, 0, BYTES_MAX));
        if (k == 0)
            CHECK_OK(eki_record_write_about(writer, about));
        CHECK_OK(eki_record_write_key_base(writer, key_base));
        write_iteration(writer, k);
    }
    if (is_complete)
        CHECK_OK(eki_record_finish(&writer));
    else
        eki_record_abandon(&writer);
    CHECK(writer == NULL);
}

static void check_worker(const struct eki_record_iteration *iteration, int k,
                         int w)
{
    struct eki_record_worker expected = worker_of(k, w);
    const struct eki_record_worker *worker = &iteration->workers[w];
    CHECK_EQ_INT(worker->count, expected.count);
    CHECK_EQ_INT(worker->executed, expected.executed);
    CHECK_EQ_INT(worker->nulls, expected.nulls);
    CHECK_EQ_INT(worker->failed, expected.failed);
    CHECK_EQ_INT(worker->cancelled, expected.cancelled);
    CHECK_EQ_INT(worker->work_ns, expected.work_ns);
    CHECK_EQ_INT(worker->null_ns, expected.null_ns);
    CHECK_EQ_INT(worker->families, k == 0 && w == 0 ? FAMILIES : 0);
    for (int i = 0; i < worker->families; i++) {
        struct eki_record_family is = family_of(i);
        const struct eki_record_family *family =
            &iteration->families[worker->first_family + i];
        CHECK_EQ_INT(family->parent, is.parent);
        CHECK_EQ_INT(family->first, is.first);
        CHECK_EQ_INT(family->count, is.count);
    }
    CHECK_EQ_INT(worker->spans, k == 0 && w == 0 ? SPANS : 0);
    for (int i = 0; i < worker->spans; i++) {
        struct eki_record_span is = span_of(i);
        const struct eki_record_span *span =
            &iteration->spans[worker->first_span + i];
        CHECK_EQ_INT(span->first, is.first);
        CHECK_EQ_INT(span->count, is.count);
        CHECK_EQ_INT(span->place, 0);
        CHECK_EQ_INT(span->function, 0);
    }
    for (int64_t i = 0; i < worker->count; i++) {
        struct eki_record_task is = task_of(k, w, i);
        const struct eki_record_task *task =
            &iteration->tasks[worker->first + i];
        CHECK_EQ_INT(task->id, is.id);
        CHECK_EQ_INT(task->worker, w);
        CHECK_EQ_INT(task->function, is.function);
        CHECK_EQ_INT(task->bin, is.bin);
        CHECK_NEAR((double)task->start_ns, (double)is.start_ns,
                   START_STEP / 1000.0);
        CHECK_EQ_INT(task->flags, is.flags);
        CHECK_EQ_INT(task->duration_ns, eki_bin_ns(is.bin));
        CHECK_EQ_INT(task->input_bytes, is.input_bytes);
        CHECK_EQ_INT(task->result_bytes, is.result_bytes);
        const struct eki_record_payload *told =
            eki_record_payload_of(iteration, worker->first + i);
        CHECK_EQ_INT(told ? told->bytes : 0, payload_of(k, w, i));
        CHECK(!told || memcmp(told->data, payload, (size_t)told->bytes) == 0);
    }
}

static void check_iteration(struct eki_record *record, int k)
{
    struct eki_record_iteration iteration;
    struct eki_record_head expected = head_of(k);
    if (!CHECK_OK(eki_record_load(record, k, &iteration)))
        return;
    int64_t tasks = 0;
    for (int w = 0; w < WORKERS; w++) {
        CHECK_EQ_INT(iteration.workers[w].first, tasks);
        check_worker(&iteration, k, w);
        tasks += tasks_of(k, w);
    }
    CHECK_EQ_INT(iteration.task_count, tasks);
    CHECK_EQ_INT(iteration.head.iteration, expected.iteration);
    CHECK_EQ_INT(iteration.head.wall_ns, expected.wall_ns);
    CHECK_EQ_INT(iteration.head.status, expected.status);
    CHECK_EQ_INT(iteration.head.restore, expected.restore);
    CHECK_EQ_INT(iteration.head.steal, expected.steal);
    CHECK_EQ_INT(iteration.head.order, expected.order);
    CHECK_EQ_INT(iteration.head.on_failure, expected.on_failure);
    CHECK_EQ_INT(iteration.head.stopped, expected.stopped);
    eki_record_unload(&iteration);
    CHECK(iteration.tasks == NULL && iteration.workers == NULL);
}

static void check_record(bool is_complete)
{
    struct eki_record *record;
    if (!CHECK_OK(eki_record_open(path, &record)))
        return;
    CHECK_EQ_TEXT(record->shape.name, "fock");
    CHECK_EQ_INT(record->shape.ranks, RANKS);
    CHECK_EQ_INT(record->shape.workers, WORKERS);
    for (int rank = 0; rank < RANKS; rank++)
        CHECK_EQ_INT(record->shape.rank_workers[rank], rank_workers[rank]);
    CHECK_EQ_TEXT(record->about, about);
    CHECK_EQ_INT(record->function_count, FUNCTIONS);
    for (int i = 0; i < FUNCTIONS; i++)
        CHECK_EQ_TEXT(record->functions[i], names[i]);
    CHECK_EQ_INT(record->data_bytes_max[0], BYTES_MAX);
    CHECK_EQ_INT(record->data_bytes_max[1], 0);
    CHECK_EQ_INT(record->iteration_count, ITERATIONS);
    CHECK_EQ_INT(record->is_complete, is_complete);
    for (int k = 0; k < ITERATIONS; k++)
        check_iteration(record, k);
    eki_record_close(&record);
    CHECK(record == NULL);
    eki_record_close(&record);
}

static void what_is_written_is_read(void)
{
    write_record(true);
    check_record(true);
}

static void a_record_that_was_not_closed_is_read(void)
{
    struct eki_record *record;
    write_record(false);
    check_record(false);
    CHECK_OK(eki_record_open(path, &record));
    CHECK_HAS_TEXT(record->warning, "not complete");
    eki_record_close(&record);
}

static void a_record_may_have_no_iteration(void)
{
    struct eki_record *record;
    struct eki_record_writer *writer;
    CHECK_OK(eki_record_create(path, &shape, &writer));
    CHECK_OK(eki_record_finish(&writer));
    CHECK_OK(eki_record_open(path, &record));
    CHECK_EQ_INT(record->iteration_count + record->function_count, 0);
    CHECK(record->is_complete);
    eki_record_close(&record);
}

/* Of a job that has loaded: it tells the key base, and is no source of hints.
 */
static void a_later_job_has_a_key_base(void)
{
    struct eki_record *record;
    struct eki_hints *hints;
    const struct eki_fabric fabric = {.size = shape.ranks};
    for (key_base = 0; key_base <= 8; key_base += 8) {
        write_record(true);
        if (CHECK_OK(eki_record_open(path, &record)))
            CHECK_EQ_INT(record->shape.key_base, key_base);
        eki_record_close(&record);
        CHECK_OK(eki_hints_read(path, shape.name, &fabric, &hints));
        CHECK((hints->told.tasks > 0) == (key_base == 0));
        eki_hints_free(&hints);
    }
    key_base = 0;
}

/* A job that is started again leaves what the run before has written. */
static void an_old_record_is_renamed(void)
{
    struct eki_record *record;
    struct eki_record_writer *writer;
    char old[sizeof path + 2];
    snprintf(old, sizeof old, "%s.1", path);
    write_record(true);
    CHECK_OK(eki_record_create(path, &shape, &writer));
    if (CHECK_OK(eki_record_open(old, &record))) {
        CHECK_EQ_INT(record->iteration_count, 2);
        eki_record_close(&record);
    }
    CHECK_OK(eki_record_finish(&writer));
    CHECK_OK(eki_record_open(path, &record));
    CHECK_EQ_INT(record->iteration_count, 0);
    eki_record_close(&record);
    unlink(old);
}

/* Every bin that a duration has is one that the reader takes. */
static void durations_survive_as_bins(void)
{
    int bins = 0;
    for (int bin = 1; bin < EKI_BIN_COUNT; bin++)
        bins += eki_bin_of(eki_bin_ns((uint16_t)bin)) == bin;
    CHECK(bins > 56 * 256);
    for (int octave = 0; octave < 64; octave++) {
        uint64_t ns = UINT64_C(1) << octave;
        for (uint64_t i = 0; i < 8; i++) {
            uint16_t bin = eki_bin_of(ns + i * (ns / 8));
            CHECK_EQ_INT(eki_bin_of(eki_bin_ns(bin)), bin);
        }
    }
}

struct bytes {
    unsigned char data[FILE_MOST];
    size_t size;
};

static struct bytes whole; /* a complete record */

static void fetch(struct bytes *bytes)
{
    FILE *file = fopen(path, "rb");
    bytes->size = file ? fread(bytes->data, 1, sizeof bytes->data, file) : 0;
    CHECK(bytes->size > 0 && bytes->size < sizeof bytes->data);
    if (file)
        fclose(file);
}

static void store(const struct bytes *bytes)
{
    /* Emptying a file instead may wait for the disk. */
    unlink(path);
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL))
        exit(1);
    CHECK_EQ_INT(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    fclose(file);
}

/* Where block I is whose kind is KIND. */
static size_t block_at(uint32_t kind, int i)
{
    size_t at = (size_t)eki_get(whole.data + EKI_HEADER_BYTES, 4);
    while (at < whole.size) {
        size_t bytes = (size_t)eki_get(whole.data + at + EKI_BLOCK_BYTES, 8);
        if (eki_get(whole.data + at, 4) == kind && i-- == 0)
            return at;
        at += EKI_BLOCK_HEAD + bytes + EKI_BLOCK_CRC;
    }
    CHECK(false);
    exit(1);
}

/* Make the CRCs right again, of the blocks where they are in WHOLE. */
static void mend(struct bytes *bytes)
{
    size_t at = (size_t)eki_get(whole.data + EKI_HEADER_BYTES, 4);
    eki_put(bytes->data + at - 4, eki_crc32c(0, bytes->data, at - 4), 4);
    while (at < whole.size) {
        size_t size = (size_t)eki_get(whole.data + at + EKI_BLOCK_BYTES, 8);
        unsigned char *head = bytes->data + at;
        eki_put(head + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(head), 4);
        eki_put(head + EKI_BLOCK_HEAD + size,
                eki_crc32c(0, head + EKI_BLOCK_HEAD, size), 4);
        at += EKI_BLOCK_HEAD + size + EKI_BLOCK_CRC;
    }
}

/* Open and load everything; the worst status. */
static ek_status read_all(void)
{
    struct eki_record *record;
    struct eki_record_iteration iteration;
    ek_status status = eki_record_open(path, &record);
    if (status != EK_OK) {
        CHECK(record == NULL);
        return status;
    }
    for (int64_t k = 0; k < record->iteration_count; k++) {
        ek_status loaded = eki_record_load(record, k, &iteration);
        status = status == EK_OK ? loaded : status;
        eki_record_unload(&iteration);
    }
    eki_record_close(&record);
    return status;
}

static void check_message(size_t at, const char *part)
{
    char byte[32];
    snprintf(byte, sizeof byte, ", byte %zu: ", at);
    CHECK_HAS_TEXT(ek_error_message(), path);
    CHECK_HAS_TEXT(ek_error_message(), byte);
    CHECK_HAS_TEXT(ek_error_message(), part);
}

/* VALUE in BYTES at AT, with right CRCs, is refused: byte NAMED, with PART. */
static void refuse(size_t at, int bytes, uint64_t value, size_t named,
                   const char *part)
{
    struct bytes damaged = whole;
    eki_put(damaged.data + at, value, bytes);
    mend(&damaged);
    store(&damaged);
    if (CHECK_EQ_INT(read_all(), EK_ERR_FILE))
        check_message(named, part);
    else
        fprintf(stderr, "byte %zu = %" PRIu64 "\n", at, value);
}

static void each_field_of_the_header_is_checked(void)
{
    refuse(0, 1, 'F', 0, "does not begin with EKRECORD");
    refuse(EKI_HEADER_VERSION, 4, 7, EKI_HEADER_VERSION,
           "version 7; allowed: 1 ... 6");
    refuse(EKI_HEADER_BYTES, 4, 96, EKI_HEADER_BYTES, "expected 100");
    refuse(EKI_HEADER_RANKS, 4, 0, EKI_HEADER_RANKS, "0 ranks");
    refuse(EKI_HEADER_RANKS, 4, 3, EKI_HEADER_BYTES, "for 3 ranks");
    refuse(EKI_HEADER_RANKS, 4, UINT32_MAX, EKI_HEADER_RANKS, "ranks");
    refuse(EKI_HEADER_WORKERS, 4, 4, EKI_HEADER_WORKERS, "4 workers");
    refuse(EKI_HEADER_NAME, 1, 0, EKI_HEADER_NAME, "name");
    refuse(EKI_HEADER_NAME, 1, '/', EKI_HEADER_NAME, "name");
    refuse(EKI_HEADER_NAME + 63, 1, 'x', EKI_HEADER_NAME, "name");
    refuse(EKI_HEADER_RANK_WORKERS, 4, 0, EKI_HEADER_RANK_WORKERS, "rank 0");
    refuse(EKI_HEADER_RANK_WORKERS + 4, 4, UINT32_MAX,
           EKI_HEADER_RANK_WORKERS + 4, "rank 1");
}

static void each_field_of_a_block_is_checked(void)
{
    size_t function = block_at(EKI_BLOCK_FUNCTION, 1);
    size_t body = function + EKI_BLOCK_HEAD;
    refuse(function, 4, 0x12345678, function, "0x12345678");
    refuse(body + EKI_FUNCTION_NUMBER, 4, 0, body, "expected 1");
    refuse(body + EKI_FUNCTION_NAME, 1, 0, body + EKI_FUNCTION_NAME, "name");
    size_t end = block_at(EKI_BLOCK_END, 0);
    refuse(end + EKI_BLOCK_HEAD, 8, 3, end + EKI_BLOCK_HEAD, "there are 2");
    refuse(end, 4, EKI_BLOCK_FUNCTION, end + EKI_BLOCK_BYTES, "expected 68");
    refuse(end, 4, EKI_BLOCK_ITERATION, end + EKI_BLOCK_BYTES, "expected 240");
    refuse(function, 4, EKI_BLOCK_END, function + EKI_BLOCK_BYTES,
           "expected 8");
    size_t second = block_at(EKI_BLOCK_ITERATION, 1) + EKI_BLOCK_HEAD;
    refuse(second, 8, 1, second, "iteration 1 after iteration 1");
    refuse(second, 8, UINT64_MAX, second, "iteration -1 after");
    refuse(second + EKI_ITERATION_ZERO + 1, 1, 1, second + EKI_ITERATION_ZERO,
           "must be 0");
}

static void each_field_of_a_worker_is_checked(void)
{
    size_t at =
        block_at(EKI_BLOCK_ITERATION, 1) + EKI_BLOCK_HEAD + EKI_ITERATION_HEAD;
    size_t executed = at + EKI_WORKER_EXECUTED;
    refuse(at, 8, 1000, at, "1000 tasks");
    refuse(at, 8, UINT64_MAX, at, "tasks");
    refuse(executed, 8, 2, executed, "2 executed");
    refuse(executed, 8, 92, executed, "92 executed");
    refuse(executed, 8, UINT64_MAX, executed, "executed");
    refuse(at + EKI_WORKER_NULLS, 8, 101, executed, "101 null");
    refuse(at + EKI_WORKER_NULLS, 8, UINT64_MAX, executed, "null");
    refuse(at + EKI_WORKER_FAILED, 8, 104, at + EKI_WORKER_FAILED, "104");
    refuse(at + EKI_WORKER_CANCELLED, 8, UINT64_MAX, at + EKI_WORKER_FAILED,
           "cancelled");
    refuse(at + EKI_WORKER_NULL, 8, 5001, at + EKI_WORKER_NULL, "5001 ns");
    size_t task = at + EKI_WORKER_HEAD;
    refuse(task + EKI_TASK_FUNCTION, 2, 2, task + EKI_TASK_FUNCTION,
           "function 2; there are 2");
    refuse(task + EKI_TASK_BIN, 2, EKI_BIN_COUNT, task + EKI_TASK_BIN,
           "is not one of a duration");
    refuse(task + EKI_TASK_BIN, 2, 2, task + EKI_TASK_BIN,
           "is not one of a duration");
    refuse(task + EKI_TASK_GAP, 2, 2, task + EKI_TASK_GAP,
           "is not one of a gap");
    refuse(task + EKI_TASK_FLAGS, 1, 128, task + EKI_TASK_FLAGS, "flags 0x80");
}

static void the_text_and_payloads_are_checked(void)
{
    size_t at = block_at(EKI_BLOCK_ABOUT, 0) + EKI_BLOCK_HEAD;
    refuse(at + 5, 1, 0, at + 5, "a byte 0");
    refuse(at + sizeof about - 2, 1, '.', at + sizeof about - 1, "no end");
    /* The first task of worker 0 in the second iteration. */
    at = block_at(EKI_BLOCK_ITERATION, 1) + EKI_BLOCK_HEAD +
         EKI_ITERATION_HEAD + EKI_WORKER_HEAD + EKI_TASK_BYTES;
    refuse(at, 1, 0, at, "a payload of 0 bytes");
    refuse(at, 1, EKI_PAYLOAD_MOST + 1, at, "a payload of 65 bytes");
}

static void each_field_of_what_is_spawned_is_checked(void)
{
    size_t at =
        block_at(EKI_BLOCK_ITERATION, 0) + EKI_BLOCK_HEAD + EKI_ITERATION_HEAD;
    size_t families = at + EKI_WORKER_FAMILIES, first = at + EKI_WORKER_HEAD;
    size_t second = first + EKI_FAMILY_BYTES;
    uint64_t least = eki_id_first_spawned(0);
    refuse(families, 8, 100, families, "100 tasks that spawn");
    refuse(families, 8, UINT64_MAX, families, "tasks that spawn");
    refuse(first + EKI_FAMILY_FIRST, 8, least - 1, first + EKI_FAMILY_FIRST,
           "not the next that worker 0 spawned");
    refuse(first + EKI_FAMILY_FIRST, 8, eki_id_first_spawned(1),
           first + EKI_FAMILY_FIRST, "not the next that worker 0 spawned");
    refuse(first + EKI_FAMILY_COUNT, 8, 0, first + EKI_FAMILY_FIRST, "0 tasks");
    refuse(first + EKI_FAMILY_COUNT, 8, EKI_NUMBERS / 2 + 1,
           first + EKI_FAMILY_FIRST, "not the next that worker 0 spawned");
    refuse(first + EKI_FAMILY_COUNT, 8, UINT64_MAX, first + EKI_FAMILY_FIRST,
           "not the next that worker 0 spawned");
    /* One after another. */
    refuse(first + EKI_FAMILY_COUNT, 8, 11, second + EKI_FAMILY_FIRST,
           "not the next that worker 0 spawned");
    refuse(second + EKI_FAMILY_PARENT, 8, least + 10,
           second + EKI_FAMILY_PARENT, "spawns itself");
}

static void each_field_of_a_span_is_checked(void)
{
    size_t at =
        block_at(EKI_BLOCK_ITERATION, 0) + EKI_BLOCK_HEAD + EKI_ITERATION_HEAD;
    size_t spans = at + EKI_WORKER_SPANS;
    size_t first = at + EKI_WORKER_HEAD + FAMILIES * EKI_FAMILY_BYTES;
    refuse(spans, 8, 1000, spans, "1000 spans; there are bytes for");
    refuse(spans, 8, UINT64_MAX, spans, "spans; there are bytes for");
    refuse(first + EKI_SPAN_COUNT, 8, 0, first + EKI_SPAN_COUNT, "0 indices");
    refuse(first + EKI_SPAN_COUNT, 8, EKI_NUMBERS + 1, first + EKI_SPAN_COUNT,
           "a span of");
    refuse(first + EKI_SPAN_PLACE, 8, 1, first + EKI_SPAN_PLACE,
           "behind 1 tasks; allowed: 0 ... 0");
    refuse(first + EKI_SPAN_FUNCTION, 2, 1, first + EKI_SPAN_FUNCTION,
           "function 1; there are 1");
    size_t stopped = at - EKI_ITERATION_HEAD + EKI_ITERATION_STOPPED;
    refuse(stopped, 1, EKI_RECORD_STOPS + 1, stopped, "unknown stops 0x10");
}

static void each_field_of_data_is_checked(void)
{
    size_t data = block_at(EKI_BLOCK_DATA, 0), body = data + EKI_BLOCK_HEAD;
    size_t bytes = body + EKI_DATA_BYTES_MAX;
    refuse(EKI_HEADER_VERSION, 4, 1, data, "unknown kind of block 0x41544144");
    refuse(body, 4, 1, body, "data of function 1: there are 1 functions");
    refuse(bytes, 8, 0, bytes, "data of 0 bytes");
    refuse(bytes, 8, UINT64_C(1) << 32, bytes, "data of 4294967296 bytes");
    size_t end = block_at(EKI_BLOCK_END, 0);
    refuse(end, 4, EKI_BLOCK_DATA, end + EKI_BLOCK_BYTES, "expected 12");
    /* The last task of the first iteration has bytes, that of the second one
     * none, nor room for them. */
    size_t last = block_at(EKI_BLOCK_FUNCTION, 1) - EKI_BLOCK_CRC;
    size_t flags = last - EKI_TASK_SIZES - EKI_TASK_BYTES + EKI_TASK_FLAGS;
    refuse(flags, 1, 0, last - 8, "8 bytes too many");
    size_t task = end - EKI_BLOCK_CRC - EKI_TASK_BYTES;
    refuse(task + EKI_TASK_FLAGS, 1, EKI_RECORD_SIZED, task,
           "a task of 23 bytes; there are 15");
}

/* A file of an older VERSION with a task that has FLAGS. */
static void write_version(int version, uint8_t flags)
{
    struct eki_record_shape first = shape;
    struct eki_record_writer *writer;
    struct eki_record_pack pack = {.version = version};
    struct eki_record_head head = head_of(1);
    const struct eki_record_worker idle = {.executed = 0},
                                   busy = {.executed = 1};
    const struct eki_record_task task = {.flags = flags};
    first.version = version;
    CHECK_OK(eki_record_create(path, &first, &writer));
    CHECK_OK(eki_record_write_function(writer, names[0]));
    for (int w = 0; w < WORKERS; w++) {
        CHECK(eki_record_pack_begin(&pack));
        if (w == 0)
            CHECK(eki_record_pack_task(&pack, &task));
        eki_record_pack_end(&pack, w == 0 ? &busy : &idle);
    }
    eki_record_begin(writer, &head, (int64_t)pack.bytes);
    eki_record_put(writer, pack.data, pack.bytes);
    CHECK_OK(eki_record_end(writer));
    CHECK_OK(eki_record_finish(&writer));
    eki_record_pack_free(&pack);
}

static void files_of_older_versions_are_read(void)
{
    write_version(EKI_RECORD_VERSION_STARTS, EKI_RECORD_HELD);
    CHECK_OK(read_all());
    write_version(EKI_RECORD_VERSION_HELD, EKI_RECORD_HELD);
    CHECK_OK(read_all());
    write_version(EKI_RECORD_VERSION_HELD, EKI_RECORD_PAYLOAD);
    CHECK_EQ_INT(read_all(), EK_ERR_FILE);
    write_version(EKI_RECORD_VERSION_SPAWNED, EKI_RECORD_HELD);
    CHECK_EQ_INT(read_all(), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "unknown flags 0x20");
    write_version(EKI_RECORD_VERSION_DATA, EKI_RECORD_PINNED);
    CHECK_OK(read_all());
    write_version(EKI_RECORD_VERSION_FIRST, EKI_RECORD_COSTED);
    CHECK_OK(read_all());
    write_version(EKI_RECORD_VERSION_FIRST, EKI_RECORD_SIZED);
    CHECK_EQ_INT(read_all(), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "unknown flags 0x08");
}

/* A task less is a worker more, and then bytes too many. */
static void the_length_of_an_iteration_must_fit(void)
{
    size_t at =
        block_at(EKI_BLOCK_ITERATION, 1) + EKI_BLOCK_HEAD + EKI_ITERATION_HEAD;
    /* With a payload of a byte. */
    size_t last = at + 2 * EKI_WORKER_HEAD + 5 * EKI_TASK_BYTES + 2;
    CHECK_EQ_INT(eki_get(whole.data + last, 8), tasks_of(1, 2));
    refuse(last, 8, 0, last + EKI_WORKER_HEAD, "15 bytes too many");
}

/* The head of the second worker, all zeros, looks like tasks: the first one
 * says that they are its own. */
static void heads_of_later_workers_are_no_tasks(void)
{
    static const int one_each[2] = {1, 1};
    const struct eki_record_shape pair = {.version = EKI_RECORD_VERSION,
                                          .name = "pair",
                                          .ranks = 2,
                                          .workers = 2,
                                          .rank_workers = one_each};
    struct eki_record_writer *writer;
    struct eki_record_pack pack = {.version = EKI_RECORD_VERSION};
    const struct eki_record_worker idle = {.executed = 0};
    struct eki_record_head head = head_of(0);
    int64_t few = EKI_WORKER_HEAD / EKI_TASK_BYTES;
    CHECK_OK(eki_record_create(path, &pair, &writer));
    CHECK_OK(eki_record_write_function(writer, names[0]));
    for (int w = 0; w < 2; w++) {
        CHECK(eki_record_pack_begin(&pack));
        eki_record_pack_end(&pack, &idle);
    }
    eki_put(pack.data + EKI_WORKER_COUNT, (uint64_t)few, 8);
    eki_put(pack.data + EKI_WORKER_EXECUTED, (uint64_t)few, 8);
    eki_record_begin(writer, &head, (int64_t)pack.bytes);
    eki_record_put(writer, pack.data, pack.bytes);
    CHECK_OK(eki_record_end(writer));
    CHECK_OK(eki_record_finish(&writer));
    eki_record_pack_free(&pack);
    CHECK_EQ_INT(read_all(), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "4 tasks; there are bytes for 0");
}

/* Each worker's numbers may be, their sum may not. */
static void sums_over_workers_must_fit(void)
{
    size_t at =
        block_at(EKI_BLOCK_ITERATION, 1) + EKI_BLOCK_HEAD + EKI_ITERATION_HEAD;
    refuse(at + EKI_WORKER_EXECUTED, 8, INT64_MAX,
           at + EKI_WORKER_HEAD + 3 * EKI_TASK_BYTES + 2 + EKI_WORKER_EXECUTED,
           "more than 9223372036854775807");
    refuse(at + EKI_WORKER_CANCELLED, 8, INT64_MAX,
           at + EKI_WORKER_HEAD + 3 * EKI_TASK_BYTES + 2 + EKI_WORKER_EXECUTED,
           "more than 9223372036854775807");
}

static void without_right_crcs_nothing_is_believed(void)
{
    for (size_t at = 0; at < whole.size; at++) {
        struct bytes damaged = whole;
        damaged.data[at] ^= 0x10;
        store(&damaged);
        if (CHECK_EQ_INT(read_all(), EK_ERR_FILE))
            CHECK_HAS_TEXT(ek_error_message(), ", byte ");
        else
            fprintf(stderr, "byte %zu\n", at);
    }
}

static void bytes_after_the_end_are_refused(void)
{
    struct bytes longer = whole;
    longer.data[longer.size++] = 0;
    store(&longer);
    CHECK_EQ_INT(read_all(), EK_ERR_FILE);
    check_message(whole.size, "1 bytes after the end");
}

/* Whole iterations in the first BYTES. */
static int64_t iterations_within(size_t bytes)
{
    size_t second = block_at(EKI_BLOCK_FUNCTION, 1);
    size_t end = block_at(EKI_BLOCK_END, 0);
    return bytes >= end ? 2 : bytes >= second ? 1 : 0;
}

static void check_truncated(size_t bytes)
{
    struct eki_record *record;
    char warned[64];
    snprintf(warned, sizeof warned, "ends at byte %zu", bytes);
    if (bytes < eki_get(whole.data + EKI_HEADER_BYTES, 4)) {
        CHECK_EQ_INT(eki_record_open(path, &record), EK_ERR_FILE);
        check_message(bytes, "ends within its header");
        return;
    }
    if (!CHECK_OK(eki_record_open(path, &record)))
        return;
    CHECK(!record->is_complete);
    CHECK_HAS_TEXT(record->warning, warned);
    CHECK_EQ_INT(record->iteration_count, iterations_within(bytes));
    for (int k = 0; k < record->iteration_count; k++)
        check_iteration(record, k);
    eki_record_close(&record);
}

static void truncated_records_are_read_as_far_as_they_go(void)
{
    for (size_t bytes = 0; bytes < whole.size; bytes++) {
        struct bytes shorter = whole;
        shorter.size = bytes;
        store(&shorter);
        check_truncated(bytes);
    }
}

static void other_files_are_refused(void)
{
    struct eki_record *record;
    CHECK_EQ_INT(eki_record_open("/nowhere/run.ekr", &record), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "cannot read '/nowhere/run.ekr'");
    CHECK_EQ_INT(eki_record_open("/tmp", &record), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "'/tmp'");
    CHECK_EQ_INT(eki_record_open("/dev/null", &record), EK_ERR_FILE);
    CHECK(record == NULL);
}

/* Random bytes flip, the CRCs are right every other time: no check may let
 * through what does harm. */
static void flipped_bytes_do_no_harm(int64_t flips)
{
    struct eki_random random;
    int64_t read = 0;
    eki_random_seed(&random, 7, 0);
    for (int64_t i = 0; i < flips; i++) {
        struct bytes damaged = whole;
        uint64_t count = 1 + eki_random_below(&random, 4);
        for (uint64_t n = 0; n < count; n++)
            damaged.data[eki_random_below(&random, whole.size)] ^=
                (unsigned char)(1 + eki_random_below(&random, 255));
        if (i % 2)
            mend(&damaged);
        store(&damaged);
        ek_status status = read_all();
        read += status == EK_OK;
        CHECK(status == EK_OK || status == EK_ERR_FILE ||
              status == EK_ERR_NOMEM);
    }
    printf("     %" PRId64 " of %" PRId64 " were read\n", read, flips);
}

static void files_that_cannot_be_written_are_refused(void)
{
    struct eki_record_writer *writer;
    CHECK_EQ_INT(eki_record_create("/nowhere/run.ekr", &shape, &writer),
                 EK_ERR_FILE);
    CHECK(writer == NULL);
    CHECK_HAS_TEXT(ek_error_message(), "cannot write '/nowhere/run.ekr'");
    CHECK_EQ_INT(eki_record_create("/tmp", &shape, &writer), EK_ERR_FILE);
    CHECK_EQ_INT(eki_record_create("/dev/full", &shape, &writer), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "No space left");
    eki_record_abandon(&writer);
}

/* Nor waits it for a reader, nor ends the limit of a file the process. */
static void files_that_nobody_reads_are_refused(void)
{
    struct eki_record_writer *writer;
    unlink(path);
    CHECK_EQ_INT(mkfifo(path, 0600), 0);
    CHECK_EQ_INT(eki_record_create(path, &shape, &writer), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "a FIFO that nobody reads");
    unlink(path);
}

static void files_that_may_not_grow_are_errors(void)
{
    struct eki_record_writer *writer;
    struct rlimit before, small;
    CHECK_EQ_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_OK(eki_record_create(path, &shape, &writer));
    small = before;
    small.rlim_cur = 128;
    CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    ek_status status = eki_record_write_function(writer, names[0]);
    CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_EQ_INT(status, EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "too large");
    eki_record_abandon(&writer);
}

static void one_writes_a_file_at_a_time(void)
{
    struct eki_record_writer *writer, *other;
    CHECK_OK(eki_record_create(path, &shape, &writer));
    CHECK_OK(eki_record_write_function(writer, names[0]));
    CHECK_EQ_INT(eki_record_create(path, &shape, &other), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(),
                   "another collection or program is writing it");
    CHECK_OK(eki_record_finish(&writer));
    CHECK_OK(read_all());
    CHECK_OK(eki_record_create(path, &shape, &other));
    CHECK_OK(eki_record_finish(&other));
}

static void memory_may_run_out(void)
{
    ek_status status = EK_ERR_NOMEM;
    store(&whole);
    for (int64_t n = 1; status == EK_ERR_NOMEM; n++) {
        WITHOUT_MEMORY(n, status = read_all());
        CHECK(n < 100);
    }
    CHECK_OK(status);
    struct eki_record_writer *writer = NULL;
    for (int64_t n = 1; !writer && n < 100; n++) {
        WITHOUT_MEMORY(n, status = eki_record_create(path, &shape, &writer));
        CHECK_EQ_INT(status, writer ? EK_OK : EK_ERR_NOMEM);
    }
    eki_record_abandon(&writer);
}

static void shipped_record_is_read(const char *folder, const char *name,
                                   int64_t tasks, int64_t nulls)
{
    char file[512];
    struct eki_record *record;
    struct eki_record_iteration iteration;
    snprintf(file, sizeof file, "%s/%s", folder, name);
    if (!CHECK_OK(eki_record_open(file, &record)))
        return;
    CHECK(record->is_complete);
    CHECK_EQ_INT(record->iteration_count, 1);
    CHECK_EQ_TEXT(record->functions[0], "fock");
    if (CHECK_OK(eki_record_load(record, 0, &iteration))) {
        CHECK_EQ_INT(iteration.task_count, tasks);
        CHECK_EQ_INT(iteration.workers[0].nulls, nulls);
        CHECK_EQ_INT(iteration.workers[0].executed, tasks + nulls);
        eki_record_unload(&iteration);
    }
    eki_record_close(&record);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    snprintf(path, sizeof path, "/tmp/ek_test_record_%ld.ekr", (long)getpid());
    RUN(what_is_written_is_read);
    fetch(&whole);
    RUN(a_record_that_was_not_closed_is_read);
    RUN(a_record_may_have_no_iteration);
    RUN(a_later_job_has_a_key_base);
    RUN(durations_survive_as_bins);
    RUN(each_field_of_the_header_is_checked);
    RUN(each_field_of_a_block_is_checked);
    RUN(each_field_of_a_worker_is_checked);
    RUN(the_text_and_payloads_are_checked);
    RUN(each_field_of_what_is_spawned_is_checked);
    RUN(each_field_of_a_span_is_checked);
    RUN(each_field_of_data_is_checked);
    RUN(files_of_older_versions_are_read);
    RUN(the_length_of_an_iteration_must_fit);
    RUN(heads_of_later_workers_are_no_tasks);
    RUN(sums_over_workers_must_fit);
    RUN(without_right_crcs_nothing_is_believed);
    RUN(bytes_after_the_end_are_refused);
    RUN(truncated_records_are_read_as_far_as_they_go);
    RUN(other_files_are_refused);
    RUN(an_old_record_is_renamed);
    RUN(files_that_cannot_be_written_are_refused);
    RUN(files_that_nobody_reads_are_refused);
    RUN(files_that_may_not_grow_are_errors);
    RUN(one_writes_a_file_at_a_time);
    RUN(memory_may_run_out);
    flipped_bytes_do_no_harm(argc > 2 ? atoll(argv[2]) : 10000);
    shipped_record_is_read(folder, "be032_half.ekr", 8777, 61051);
    shipped_record_is_read(folder, "gascf_be256_twentieth.ekr", 10658, 4236076);
    unlink(path);
    return check_result();
}
