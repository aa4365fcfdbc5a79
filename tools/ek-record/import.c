/* SPDX-License-Identifier: BSD-3-Clause */
/* From arrays of 32-bit numbers to a record of one worker and one iteration. */
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* A file of little-endian numbers. */
struct array {
    const char *path;
    FILE *file;
    int64_t at; /* bytes read */
};

struct importing {
    const struct tool_arguments *arguments;
    struct array raw, ids;
    uint64_t number; /* of the next task */
    uint64_t id;     /* of the one before */
    struct eki_record_pack pack;
    struct eki_record_worker worker;
};

static ek_status bad_array(const struct array *array, const char *why)
{
    return eki_error(EK_ERR_ARG, "'%.500s', byte %" PRId64 ": %s", array->path,
                     array->at, why);
}

/* The next number; *FOUND false: there is none. */
static ek_status next_number(struct array *array, uint32_t *number, bool *found)
{
    unsigned char bytes[4];
    size_t got = fread(bytes, 1, sizeof bytes, array->file);
    *found = got == sizeof bytes;
    if (ferror(array->file))
        return bad_array(array, strerror(errno));
    if (got % sizeof bytes != 0)
        return bad_array(array, "the file ends within a number of 4 bytes");
    if (array->at == 0 && got && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return bad_array(array, "the file is compressed: gunzip it first");
    *number = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
              (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    array->at += (int64_t)got;
    return EK_OK;
}

static ek_status duration_of(const struct importing *importing, uint32_t number,
                             uint64_t *ns)
{
    float value;
    memcpy(&value, &number, sizeof value);
    bool is_integer = strcmp(importing->arguments->type, "u32") == 0;
    double units = is_integer ? number : (double)value;
    double exact = units * importing->arguments->scale_ns;
    if (!(exact >= 0 && exact < 1e18))
        return bad_array(&importing->raw, "the number before is no duration");
    *ns = (uint64_t)llround(exact);
    return EK_OK;
}

static ek_status next_id(struct importing *importing)
{
    uint32_t number;
    bool found;
    if (!importing->arguments->ids) {
        importing->id = importing->number;
        return EK_OK;
    }
    EKI_TRY(next_number(&importing->ids, &number, &found));
    if (!found)
        return bad_array(&importing->ids, "fewer ids than durations");
    importing->id =
        importing->arguments->has_gaps ? importing->id + number : number;
    return EK_OK;
}

static ek_status take_task(struct importing *importing, uint32_t number)
{
    uint64_t ns = 0;
    EKI_TRY(duration_of(importing, number, &ns));
    EKI_TRY(next_id(importing));
    if (importing->number++ % (uint64_t)importing->arguments->every != 0)
        return EK_OK;
    struct eki_record_task task = {.id = importing->id, .bin = eki_bin_of(ns)};
    importing->worker.executed++;
    importing->worker.work_ns += ns;
    if (!eki_record_pack_task(&importing->pack, &task))
        return eki_error(EK_ERR_NOMEM, "no memory for the tasks");
    return EK_OK;
}

static ek_status read_tasks(struct importing *importing)
{
    uint32_t number;
    bool found;
    if (!eki_record_pack_begin(&importing->pack))
        return eki_error(EK_ERR_NOMEM, "no memory for the tasks");
    EKI_TRY(next_number(&importing->raw, &number, &found));
    while (found) {
        EKI_TRY(take_task(importing, number));
        EKI_TRY(next_number(&importing->raw, &number, &found));
    }
    importing->worker.nulls = importing->arguments->nulls;
    importing->worker.executed += importing->worker.nulls;
    eki_record_pack_end(&importing->pack, &importing->worker);
    if (!importing->arguments->ids)
        return EK_OK;
    EKI_TRY(next_number(&importing->ids, &number, &found));
    return found ? bad_array(&importing->ids, "more ids than durations")
                 : EK_OK;
}

static ek_status write_record(const struct importing *importing)
{
    static const int one = 1;
    struct eki_record_shape shape = {.version = EKI_RECORD_VERSION_HELD,
                                     .name = "imported",
                                     .ranks = 1,
                                     .workers = 1,
                                     .rank_workers = &one};
    struct eki_record_head head = {.wall_ns = importing->worker.work_ns};
    struct eki_record_writer *writer;
    EKI_TRY(eki_record_create(importing->arguments->files[1], &shape, &writer));
    ek_status status =
        eki_record_write_function(writer, importing->arguments->function);
    eki_record_begin(writer, &head, (int64_t)importing->pack.bytes);
    eki_record_put(writer, importing->pack.data, importing->pack.bytes);
    if (status == EK_OK)
        status = eki_record_end(writer);
    if (status == EK_OK)
        return eki_record_finish(&writer);
    eki_record_abandon(&writer);
    return status;
}

int tool_import(const struct tool_arguments *arguments)
{
    struct importing importing = {.arguments = arguments,
                                  .raw = {.path = arguments->files[0]},
                                  .ids = {.path = arguments->ids},
                                  .pack.version = EKI_RECORD_VERSION_HELD};
    if (!tool_is_other(arguments->files[0], arguments->files[1]))
        return EXIT_BAD_INPUT;
    importing.raw.file = tool_open_input(arguments->files[0]);
    if (arguments->ids)
        importing.ids.file = tool_open_input(arguments->ids);
    int exit_status = EXIT_BAD_INPUT; /* said already */
    if (importing.raw.file && (!arguments->ids || importing.ids.file)) {
        ek_status status = read_tasks(&importing);
        if (status == EK_OK)
            status = write_record(&importing);
        exit_status = tool_end(status);
    }
    tool_close(importing.raw.file);
    tool_close(importing.ids.file);
    eki_record_pack_free(&importing.pack);
    return exit_status;
}
