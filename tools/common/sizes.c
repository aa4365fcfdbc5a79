/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizes.h"

#include "draw.h"

#include <stdlib.h>
#include <string.h>

/* A stream of random numbers; those of workload.c are lower. */
#define STREAM_SIZES (UINT64_C(3) << 32)

/* Of an input or a result: what the library allows. */
#define BYTES_MOST 1073741824

struct spec {
    double input, result, cv; /* result < 0: as the input */
};

static const struct key {
    const char *name;
    size_t offset;
    double most;
} keys[] = {{"input", offsetof(struct spec, input), BYTES_MOST},
            {"result", offsetof(struct spec, result), BYTES_MOST},
            {"cv", offsetof(struct spec, cv), 100}};

/* Read KEY=NUMBER at *TEXT, and go to what follows its comma. */
static bool read_key(const char **text, struct spec *spec)
{
    size_t length = strcspn(*text, "=");
    const char *from = *text + length + 1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *end;
        if (strlen(keys[i].name) != length ||
            strncmp(keys[i].name, *text, length) != 0 || !from[-1])
            continue;
        double value = strtod(from, &end);
        if (end == from || (*end && (*end != ',' || !end[1])) ||
            !(value >= 0 && value <= keys[i].most))
            return false;
        *(double *)((char *)spec + keys[i].offset) = value;
        *text = *end ? end + 1 : end;
        return true;
    }
    return false;
}

static uint32_t bytes_of(double bytes)
{
    return (uint32_t)(bytes < BYTES_MOST ? bytes + 0.5 : BYTES_MOST);
}

static void make_room(struct workload *workload)
{
    size_t n = (size_t)workload->count;
    workload->input_bytes = allocate(n, sizeof *workload->input_bytes);
    workload->result_bytes = allocate(n, sizeof *workload->result_bytes);
}

void sizes_free(struct workload *workload)
{
    free(workload->input_bytes);
    free(workload->result_bytes);
    workload->input_bytes = workload->result_bytes = NULL;
}

bool sizes_draw(const struct workload_source *source, struct workload *workload,
                struct message *message)
{
    struct spec spec = {.input = -1, .result = -1};
    struct eki_random random;
    bool is_good = *source->bytes != '\0';
    sizes_free(workload);
    if (strcmp(source->bytes, "none") == 0)
        return true;
    for (const char *at = source->bytes; is_good && *at;)
        is_good = read_key(&at, &spec);
    if (!is_good || spec.input < 0)
        return message_set(message,
                           "--bytes is '%s'; allowed: none, or "
                           "input=0...%d[,result=0...%d][,cv=0...100]",
                           source->bytes, BYTES_MOST, BYTES_MOST);
    if (spec.result < 0)
        spec.result = spec.input;
    make_room(workload);
    eki_random_seed(&random, (uint64_t)source->seed, STREAM_SIZES);
    for (int64_t k = 0; k < workload->count; k++) {
        double factor = spec.cv > 0 ? draw_lognormal(&random, spec.cv) : 1;
        workload->input_bytes[k] = bytes_of(spec.input * factor);
        workload->result_bytes[k] = bytes_of(spec.result * factor);
    }
    return true;
}

/* Of a function, over its tasks that travelled. */
struct sums {
    int64_t count;
    double input, result;
};

struct sizes {
    const struct eki_record *record;
    struct workload *workload;
    uint16_t *functions; /* [count] of the tasks */
    bool *is_known;      /* [count] whether they travelled */
    struct sums *sums;   /* [functions of the record] */
};

struct sizes *sizes_open(const struct eki_record *record,
                         struct workload *workload)
{
    size_t n = (size_t)workload->count;
    bool has_data = false;
    for (int f = 0; f < record->function_count; f++)
        has_data |= record->data_bytes_max[f] > 0;
    if (!has_data)
        return NULL;
    struct sizes *sizes = allocate(1, sizeof *sizes);
    make_room(workload);
    *sizes = (struct sizes){
        .record = record,
        .workload = workload,
        .functions = allocate(n, sizeof *sizes->functions),
        .is_known = allocate(n, sizeof *sizes->is_known),
        .sums = allocate((size_t)record->function_count, sizeof *sizes->sums)};
    return sizes;
}

void sizes_note(struct sizes *sizes, int64_t k,
                const struct eki_record_task *task)
{
    if (!sizes)
        return;
    sizes->functions[k] = task->function;
    if (!(task->flags & EKI_RECORD_SIZED))
        return;
    struct sums *sums = &sizes->sums[task->function];
    sums->count++;
    sums->input += task->input_bytes;
    sums->result += task->result_bytes;
    sizes->is_known[k] = true;
    sizes->workload->input_bytes[k] = task->input_bytes;
    sizes->workload->result_bytes[k] = task->result_bytes;
}

void sizes_close(struct sizes *sizes)
{
    if (!sizes)
        return;
    struct workload *workload = sizes->workload;
    for (int64_t k = 0; k < workload->count; k++) {
        const struct sums *sums = &sizes->sums[sizes->functions[k]];
        double most =
            (double)sizes->record->data_bytes_max[sizes->functions[k]];
        double n = (double)sums->count;
        if (sizes->is_known[k])
            continue;
        workload->input_bytes[k] = bytes_of(n > 0 ? sums->input / n : most);
        workload->result_bytes[k] = bytes_of(n > 0 ? sums->result / n : most);
    }
    free(sizes->functions);
    free(sizes->is_known);
    free(sizes->sums);
    free(sizes);
}
