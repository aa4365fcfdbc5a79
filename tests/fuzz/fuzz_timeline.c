/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of timelines: spans do not overlap, and are in iterations that
 * there are.  Inputs are those of fuzz_sealed_fill().
 */
#include "fuzz.h"

#include "timeline/layout.h"
#include "timeline/reader.h"

static void take_span(void *context, const struct eki_timelines_span *span)
{
    int64_t *last_ns = context;
    bool is_point = eki_event_is_point(span->kind);
    FUZZ_CHECK(span->begin_ns <= span->end_ns);
    FUZZ_CHECK(is_point || span->begin_ns >= *last_ns);
    FUZZ_CHECK(!span->iteration || span->iteration->number >= 0);
    if (!is_point)
        *last_ns = span->end_ns;
}

static void walk_all(const char *path)
{
    struct eki_timelines timeline = {0};
    if (eki_timelines_add(&timeline, path) == EK_OK) {
        /* It is there already. */
        FUZZ_CHECK(eki_timelines_add(&timeline, path) == EK_ERR_FILE);
        for (int rank = 0; rank < timeline.ranks; rank++) {
            const struct eki_timelines_file *file = &timeline.files[rank];
            for (int i = 0; file->path && i <= file->here && i < 9; i++) {
                int64_t last_ns = INT64_MIN;
                eki_timelines_walk(file, i, take_span, &last_ns);
            }
        }
    }
    eki_timelines_close(&timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    fuzz_sealed_fill(&file, data, size, EKI_TIMELINE_HEAD + EKI_BLOCK_CRC);
    walk_all(file.path);
    return 0;
}
