/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of records, and those who use what it gives: the tables and the
 * text of ek-record, the workload of ek-sim and ek-emulate.  Inputs are those
 * of fuzz_sealed_fill().
 */
#include "common/workload.h"
#include "ek-record/tool.h"
#include "fuzz.h"
#include "record/layout.h"

const char program_name[] = "fuzz_record";

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
    size_t head = size > EKI_HEADER_RANK_WORKERS
                      ? eki_get(data + 1 + EKI_HEADER_BYTES, 4)
                      : 0;
    fuzz_sealed_fill(&file, data, size, head);
    struct tool_arguments arguments = {.files = {file.path}};
    load_all(file.path);
    tool_summary(&arguments);
    tool_text(&arguments);
    simulate(file.path);
    return 0;
}
