/* SPDX-License-Identifier: BSD-3-Clause */
/* Records from text, which must be records then, and from raw numbers: the
 * first byte of an input says which, and as what. */
#include "ek-record/tool.h"
#include "fuzz.h"

const char program_name[] = "fuzz_text";

/* What was written is read. */
static void check_readable(const char *path)
{
    struct eki_record *record;
    struct eki_record_iteration iteration;
    FUZZ_CHECK(eki_record_open(path, &record) == EK_OK);
    for (int64_t k = 0; k < record->iteration_count; k++) {
        if (eki_record_load(record, k, &iteration) == EK_OK)
            eki_record_unload(&iteration);
    }
    eki_record_close(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file text, record;
    if (size < 1)
        return 0;
    fuzz_file_fill(&text, data + 1, size - 1);
    fuzz_file_fill(&record, "", 0);
    struct tool_arguments arguments = {.files = {text.path, record.path},
                                       .function = "f",
                                       .type = data[0] & 1 ? "f32" : "u32",
                                       .ids = data[0] & 2 ? text.path : NULL,
                                       .has_gaps = data[0] & 4,
                                       .scale_ns = data[0] & 8 ? 1 : 1e18,
                                       .nulls = data[0] & 16,
                                       .every = 1 + (data[0] >> 5 & 1)};
    int status =
        data[0] < 128 ? tool_import(&arguments) : tool_binary(&arguments);
    if (status == 0)
        check_readable(record.path);
    return 0;
}
