/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of records, and those who use what it gives: the tables and the
 * text of ek-record, the workload of ek-sim and ek-emulate.
 *
 * First byte of an input: 0: the CRCs stay as they are; else they are made
 * right, so that what lies behind them is reached.
 */
#include "common/workload.h"
#include "ek-record/tool.h"
#include "fuzz.h"
#include "record/layout.h"

const char program_name[] = "fuzz_record";

/* Put the CRC of the BYTES from AT on behind them. */
static void mend_crc(unsigned char *data, size_t at, size_t bytes)
{
    eki_put(data + at + bytes, eki_crc32c(0, data + at, bytes), 4);
}

/* Make all CRCs right, as far as the lengths are. */
static void mend(unsigned char *data, size_t size)
{
    if (size < EKI_HEADER_RANK_WORKERS)
        return;
    size_t at = eki_get(data + EKI_HEADER_BYTES, 4);
    if (at < EKI_BLOCK_CRC || at > size)
        return;
    mend_crc(data, 0, at - EKI_BLOCK_CRC);
    while (size - at >= EKI_BLOCK_HEAD + EKI_BLOCK_CRC) {
        size_t rest = size - at - EKI_BLOCK_HEAD - EKI_BLOCK_CRC;
        size_t bytes = eki_get(data + at + EKI_BLOCK_BYTES, 8);
        eki_put(data + at + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(data + at),
                4);
        if (bytes > rest)
            return;
        mend_crc(data, at + EKI_BLOCK_HEAD, bytes);
        at += EKI_BLOCK_HEAD + bytes + EKI_BLOCK_CRC;
    }
}

static void load_all(const char *path)
{
    struct eki_record *record;
    struct eki_record_iteration iteration;
    if (eki_record_open(path, &record) != EK_OK)
        return;
    for (int64_t k = 0; k < record->iteration_count; k++) {
        if (eki_record_load(record, k, &iteration) == EK_OK)
            eki_record_unload(&iteration);
    }
    eki_record_close(&record);
}

static void simulate(const char *path)
{
    struct workload_source source = {.record = path, .scale = 1};
    struct workload workload;
    struct message message;
    if (workload_make(&source, &workload, &message)) {
        workload_step(&workload, &source, 0);
        FUZZ_CHECK(workload.sum_s >= 0 && workload.nulls >= 0);
    }
    workload_free(&workload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    if (size < 1)
        return 0;
    unsigned char *copy = malloc(size);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    if (data[0])
        mend(copy, size - 1);
    fuzz_file_fill(&file, copy, size - 1);
    free(copy);
    struct tool_arguments arguments = {.files = {file.path}};
    load_all(file.path);
    tool_summary(&arguments);
    tool_text(&arguments);
    simulate(file.path);
    return 0;
}
