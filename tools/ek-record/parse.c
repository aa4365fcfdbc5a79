/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From text to a record.  The text is read once, line by line; an iteration is
 * written when it ends.
 *
 * Order: EKRECORD, name, ranks, functions, then iterations, each with all
 * workers and their tasks, then end, which a record that was not closed lacks.
 */
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

enum {
    LINE_BYTES = 4096,
    WORDS_MAX = 16
};

enum stage {
    STAGE_FIRST, /* EKRECORD */
    STAGE_NAME,
    STAGE_RANKS,
    STAGE_FUNCTIONS,
    STAGE_ITERATIONS,
    STAGE_OVER
};

struct parse {
    const char *text, *path;
    int64_t line;
    char *words[WORDS_MAX];
    int count; /* of words */
    enum stage stage;

    struct eki_record_shape shape;
    int *rank_workers;                /* owned */
    struct eki_record_writer *writer; /* once the ranks are known */
    char about[8192];
    struct eki_record_head head;
    int data_function; /* whose data were told last; -1: none */
    int64_t iterations, last_iteration;
    bool is_open; /* an iteration is */
    int next_worker;
    struct eki_record_pack pack;
    struct eki_record_worker worker; /* open if next_worker > 0 */
    uint64_t next_spawned;           /* least id that it may spawn next */
    uint64_t least_place;            /* of its next span */
};

static ek_status EKI_PRINTF(2, 3)
    refuse(const struct parse *parse, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return eki_error(EK_ERR_ARG, "'%.400s', line %" PRId64 ": %s", parse->text,
                     parse->line, text);
}

static ek_status no_memory(const struct parse *parse)
{
    return eki_error(EK_ERR_NOMEM, "no memory for '%.500s'", parse->text);
}

static bool has_spans(const struct parse *parse)
{
    return parse->shape.version > EKI_RECORD_VERSION_STARTS;
}

static bool has_starts(const struct parse *parse)
{
    return parse->shape.version > EKI_RECORD_VERSION_HELD;
}

/* Number WORD, which KEY comes before. */
static ek_status number_after(const struct parse *parse, const char *key,
                              int word, uint64_t most, uint64_t *value)
{
    if (word < parse->count && strcmp(parse->words[word - 1], key) == 0 &&
        tool_number(parse->words[word], most, value))
        return EK_OK;
    return refuse(parse, "expected as words %d and %d: %s and 0 ... %" PRIu64,
                  word, word + 1, key, most);
}

static ek_status check_count(const struct parse *parse, int count)
{
    if (parse->count == count)
        return EK_OK;
    return refuse(parse, "%d words, expected %d", parse->count, count);
}

static ek_status take_first(struct parse *parse)
{
    uint64_t version;
    EKI_TRY(number_after(parse, "EKRECORD", 1, UINT32_MAX, &version));
    if (version < EKI_RECORD_VERSION_FIRST || version > EKI_RECORD_VERSION)
        return refuse(parse, "version %" PRIu64 "; allowed: %d ... %d", version,
                      EKI_RECORD_VERSION_FIRST, EKI_RECORD_VERSION);
    parse->shape.version = parse->pack.version = (int)version;
    parse->stage = STAGE_NAME;
    return check_count(parse, 2);
}

static ek_status take_name(struct parse *parse)
{
    EKI_TRY(check_count(parse, 2));
    if (!eki_is_collection_name(parse->words[1], strlen(parse->words[1])))
        return refuse(parse,
                      "'%.100s' is not allowed as the name of a collection",
                      parse->words[1]);
    snprintf(parse->shape.name, sizeof parse->shape.name, "%s",
             parse->words[1]);
    parse->stage = STAGE_RANKS;
    return EK_OK;
}

static ek_status take_rank(struct parse *parse)
{
    uint64_t rank, workers;
    EKI_TRY(check_count(parse, 4));
    EKI_TRY(number_after(parse, "rank", 1, EKI_HOMES_MOST, &rank));
    EKI_TRY(number_after(parse, "workers", 3, EKI_HOMES_MOST, &workers));
    if (rank != (uint64_t)parse->shape.ranks)
        return refuse(parse, "rank %" PRIu64 ", expected %d", rank,
                      parse->shape.ranks);
    if (workers < 1 || parse->shape.workers + (int)workers > EKI_HOMES_MOST)
        return refuse(parse, "%" PRIu64 " workers on a rank", workers);
    int *grown = eki_realloc(parse->rank_workers, rank + 1, sizeof *grown);
    if (!grown)
        return no_memory(parse);
    parse->rank_workers = grown;
    grown[parse->shape.ranks++] = (int)workers;
    parse->shape.workers += (int)workers;
    return EK_OK;
}

static ek_status take_about(struct parse *parse)
{
    if (!has_starts(parse))
        return refuse(parse, "a line about the job; allowed from version %d on",
                      EKI_RECORD_VERSION_STARTS);
    eki_append(parse->about, sizeof parse->about, "%s\n",
               parse->count > 1 ? parse->words[1] : "");
    return strlen(parse->about) < sizeof parse->about - 1
               ? EK_OK
               : refuse(parse, "more than %zu bytes about the job",
                        sizeof parse->about - 2);
}

static ek_status take_earlier(struct parse *parse)
{
    uint64_t base;
    EKI_TRY(check_count(parse, 3));
    EKI_TRY(number_after(parse, "workers", 2,
                         (uint64_t)(EKI_HOMES_MOST - parse->shape.workers),
                         &base));
    if (parse->shape.version <= EKI_RECORD_VERSION_STARTS)
        return refuse(parse, "earlier workers; allowed from version %d on",
                      EKI_RECORD_VERSION_STARTS + 1);
    parse->shape.key_base = (int)base;
    return EK_OK;
}

/* The ranks are known: the file begins. */
static ek_status begin_file(struct parse *parse)
{
    if (parse->shape.ranks == 0)
        return refuse(parse, "no rank before this line");
    parse->shape.rank_workers = parse->rank_workers;
    parse->stage = STAGE_FUNCTIONS;
    EKI_TRY(eki_record_create(parse->path, &parse->shape, &parse->writer));
    EKI_TRY(eki_record_write_about(parse->writer, parse->about));
    return eki_record_write_key_base(parse->writer, parse->shape.key_base);
}

/* Undo \xHH in place; false: it is not whole. */
static bool unescape(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        unsigned byte;
        if (strspn(from + 1, "x") < 1 ||
            strspn(from + 2, "0123456789abcdef") < 2 ||
            sscanf(from + 2, "%2x", &byte) != 1 || byte == 0)
            return false;
        *to++ = (char)byte;
        from += 3;
    }
    *to = '\0';
    return true;
}

static ek_status take_function(struct parse *parse)
{
    uint64_t number;
    EKI_TRY(check_count(parse, 3));
    EKI_TRY(number_after(parse, "function", 1, UINT16_MAX - 1, &number));
    if (number != (uint64_t)eki_record_functions_written(parse->writer))
        return refuse(parse, "function %" PRIu64 ", expected %d", number,
                      eki_record_functions_written(parse->writer));
    char *name = parse->words[2];
    if (!unescape(name) || !name[0] || strlen(name) >= sizeof parse->shape.name)
        return refuse(parse, "the name of function %" PRIu64 " is not allowed",
                      number);
    return eki_record_write_function(parse->writer, name);
}

static bool has_data(const struct parse *parse)
{
    return parse->shape.version > EKI_RECORD_VERSION_FIRST;
}

static ek_status take_data(struct parse *parse)
{
    uint64_t function, bytes;
    int functions = eki_record_functions_written(parse->writer);
    EKI_TRY(check_count(parse, 4));
    EKI_TRY(number_after(parse, "data", 1, UINT16_MAX, &function));
    EKI_TRY(number_after(parse, "bytes_max", 3, UINT32_MAX, &bytes));
    if (!has_data(parse) || (int)function != functions - 1 || bytes == 0 ||
        (int)function == parse->data_function)
        return refuse(parse,
                      "data of %" PRIu64 " bytes of function %" PRIu64
                      "; allowed from version %d on, once behind its function",
                      bytes, function, EKI_RECORD_VERSION_DATA);
    parse->data_function = (int)function;
    return eki_record_write_data(parse->writer, (int)function, (int64_t)bytes);
}

static ek_status take_policy(struct parse *parse, int policy)
{
    const struct tool_policy *row = &tool_policies[policy];
    int word = 7 + 2 * policy, value;
    const char *text = parse->words[word];
    if (strcmp(parse->words[word - 1], row->key) != 0)
        return refuse(parse, "'%.100s', expected %s", parse->words[word - 1],
                      row->key);
    if (!tool_policy_value(row, text, &value))
        return refuse(parse, "%s '%.100s' is unknown", row->key, text);
    memcpy((char *)&parse->head + row->offset, &value, sizeof value);
    return EK_OK;
}

static ek_status close_iteration(struct parse *parse)
{
    if (!parse->is_open)
        return EK_OK;
    if (parse->next_worker < parse->shape.workers)
        return refuse(parse, "worker %d of the iteration is missing",
                      parse->next_worker);
    eki_record_pack_end(&parse->pack, &parse->worker);
    eki_record_begin(parse->writer, &parse->head, (int64_t)parse->pack.bytes);
    eki_record_put(parse->writer, parse->pack.data, parse->pack.bytes);
    parse->is_open = false;
    parse->iterations++;
    return eki_record_end(parse->writer);
}

static ek_status take_iteration(struct parse *parse)
{
    const int words = 6 + 2 * TOOL_POLICIES;
    uint64_t iteration, status, stopped = 0;
    EKI_TRY(close_iteration(parse));
    EKI_TRY(check_count(parse, has_spans(parse) ? words + 2 : words));
    EKI_TRY(number_after(parse, "iteration", 1, INT64_MAX, &iteration));
    EKI_TRY(
        number_after(parse, "wall_ns", 3, UINT64_MAX, &parse->head.wall_ns));
    EKI_TRY(number_after(parse, "status", 5, UINT8_MAX, &status));
    for (int i = 0; i < TOOL_POLICIES; i++)
        EKI_TRY(take_policy(parse, i));
    if (has_spans(parse))
        EKI_TRY(number_after(parse, "stopped", words + 1, EKI_RECORD_STOPS,
                             &stopped));
    if ((int64_t)iteration <= parse->last_iteration)
        return refuse(parse, "iteration %" PRIu64 " after %" PRId64, iteration,
                      parse->last_iteration);
    parse->head.iteration = parse->last_iteration = (int64_t)iteration;
    parse->head.status = (ek_status) - (int)status;
    parse->head.stopped = (int)stopped;
    parse->stage = STAGE_ITERATIONS;
    parse->is_open = true;
    parse->next_worker = 0;
    parse->pack.bytes = 0;
    return EK_OK;
}

static ek_status read_counts(const struct parse *parse,
                             struct eki_record_worker *worker)
{
    uint64_t executed, nulls, failed, cancelled;
    EKI_TRY(number_after(parse, "executed", 3, INT64_MAX, &executed));
    EKI_TRY(number_after(parse, "nulls", 5, executed, &nulls));
    EKI_TRY(number_after(parse, "failed", 7, executed, &failed));
    EKI_TRY(number_after(parse, "cancelled", 9, INT64_MAX, &cancelled));
    EKI_TRY(number_after(parse, "work_ns", 11, UINT64_MAX, &worker->work_ns));
    EKI_TRY(
        number_after(parse, "null_ns", 13, worker->work_ns, &worker->null_ns));
    worker->executed = (int64_t)executed;
    worker->nulls = (int64_t)nulls;
    worker->failed = (int64_t)failed;
    worker->cancelled = (int64_t)cancelled;
    worker->count = 0;
    return EK_OK;
}

static ek_status take_worker(struct parse *parse)
{
    uint64_t number;
    EKI_TRY(check_count(parse, 14));
    EKI_TRY(number_after(parse, "worker", 1, INT32_MAX, &number));
    if (!parse->is_open || number != (uint64_t)parse->next_worker ||
        parse->next_worker == parse->shape.workers)
        return refuse(parse, "worker %" PRIu64 " is not the next", number);
    if (parse->next_worker > 0)
        eki_record_pack_end(&parse->pack, &parse->worker);
    EKI_TRY(read_counts(parse, &parse->worker));
    parse->next_spawned = eki_id_first_spawned(parse->next_worker);
    parse->worker.families = parse->worker.spans = 0;
    parse->least_place = 0;
    parse->next_worker++;
    return eki_record_pack_begin(&parse->pack) ? EK_OK : no_memory(parse);
}

/* Letters, or "-": none. */
static bool read_flags(const char *text, uint8_t *flags)
{
    *flags = 0;
    if (strcmp(text, "-") == 0)
        return true;
    for (; *text; text++) {
        const char *letter = strchr(tool_flag_letters, *text);
        if (!letter)
            return false;
        *flags |= (uint8_t)(1 << (letter - tool_flag_letters));
    }
    return *flags != 0;
}

/* The words of a task, with what its flags say is behind them. */
static int words_of(const struct parse *parse, int flags)
{
    return (has_starts(parse) ? 6 : 5) + (flags & EKI_RECORD_SIZED ? 2 : 0) +
           (flags & EKI_RECORD_PAYLOAD ? 1 : 0);
}

/* What stands behind the flags of a task with data. */
static ek_status take_sizes(const struct parse *parse,
                            struct eki_record_task *task)
{
    uint64_t input, result;
    int word = words_of(parse, 0);
    if (!(task->flags & EKI_RECORD_SIZED))
        return EK_OK;
    if (!tool_number(parse->words[word], UINT32_MAX, &input) ||
        !tool_number(parse->words[word + 1], UINT32_MAX, &result))
        return refuse(parse, "bytes '%.100s' and '%.100s'", parse->words[word],
                      parse->words[word + 1]);
    task->input_bytes = (uint32_t)input;
    task->result_bytes = (uint32_t)result;
    return EK_OK;
}

/* The last word of a task that has a payload. */
static ek_status take_payload(struct parse *parse)
{
    const char *text = parse->words[parse->count - 1];
    size_t digits = strlen(text);
    unsigned char payload[EKI_PAYLOAD_MOST];
    if (digits < 2 || digits > 2 * sizeof payload || digits % 2 != 0 ||
        strspn(text, "0123456789abcdef") != digits)
        return refuse(parse,
                      "payload '%.100s'; allowed: 1 ... %d bytes, two digits "
                      "of 0-9 a-f each",
                      text, EKI_PAYLOAD_MOST);
    for (size_t i = 0; i < digits / 2; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        payload[i] = (unsigned char)byte;
    }
    return eki_record_pack_payload(&parse->pack, payload, (int)(digits / 2))
               ? EK_OK
               : no_memory(parse);
}

static ek_status take_task(struct parse *parse)
{
    struct eki_record_task task = {.bin = EKI_BIN_NEVER};
    uint64_t function, ns;
    int functions = eki_record_functions_written(parse->writer);
    if (parse->count < words_of(parse, 0))
        return check_count(parse, words_of(parse, 0));
    EKI_TRY(number_after(parse, "task", 1, UINT64_MAX, &task.id));
    if (!tool_number(parse->words[2], UINT16_MAX, &function) ||
        function >= (uint64_t)functions)
        return refuse(parse, "function '%.100s' of %d", parse->words[2],
                      functions);
    task.function = (uint16_t)function;
    if (tool_number(parse->words[3], UINT64_MAX, &ns))
        task.bin = eki_bin_of(ns);
    else if (strcmp(parse->words[3], "-") != 0)
        return refuse(parse, "duration '%.100s'", parse->words[3]);
    if (!read_flags(parse->words[4], &task.flags))
        return refuse(parse, "flags '%.100s'; allowed: some of %s, or -",
                      parse->words[4], tool_flag_letters);
    if (has_starts(parse) &&
        !tool_number(parse->words[5], INT64_MAX, &task.start_ns))
        return refuse(parse, "start '%.100s'", parse->words[5]);
    if (task.flags & ~eki_record_flags(parse->shape.version))
        return refuse(parse, "flags '%.100s'; version %d does not have all",
                      parse->words[4], parse->shape.version);
    EKI_TRY(check_count(parse, words_of(parse, task.flags)));
    EKI_TRY(take_sizes(parse, &task));
    if (!parse->is_open || parse->next_worker == 0)
        return refuse(parse, "a task before the first worker");
    if (parse->worker.families > 0 || parse->worker.spans > 0)
        return refuse(parse, "a task after a line of spawned tasks, or of a "
                             "range");
    if (++parse->worker.count > parse->worker.executed - parse->worker.nulls)
        return refuse(parse, "more tasks than the worker has executed");
    if (!eki_record_pack_task(&parse->pack, &task))
        return no_memory(parse);
    return task.flags & EKI_RECORD_PAYLOAD ? take_payload(parse) : EK_OK;
}

static ek_status take_family(struct parse *parse)
{
    struct eki_record_family family;
    int worker = parse->next_worker - 1;
    uint64_t end = eki_id(worker, 0) + EKI_NUMBERS;
    EKI_TRY(check_count(parse, 6));
    EKI_TRY(number_after(parse, "spawned", 1, UINT64_MAX, &family.parent));
    EKI_TRY(number_after(parse, "first", 3, UINT64_MAX, &family.first));
    EKI_TRY(number_after(parse, "count", 5, EKI_NUMBERS, &family.count));
    if (!parse->is_open || worker < 0)
        return refuse(parse, "spawned tasks before the first worker");
    if (parse->shape.version <= EKI_RECORD_VERSION_DATA)
        return refuse(parse,
                      "a line of spawned tasks; allowed from version %d on",
                      EKI_RECORD_VERSION_SPAWNED);
    if (family.first < parse->next_spawned || family.first >= end ||
        family.count < 1 || family.count > end - family.first ||
        (family.parent >= family.first &&
         family.parent - family.first < family.count))
        return refuse(parse,
                      "%" PRIu64 " tasks from %" PRIu64 " on, of task %" PRIu64
                      "; allowed: ids %" PRIu64 " ... %" PRIu64
                      ", one after another",
                      family.count, family.first, family.parent,
                      parse->next_spawned, end - 1);
    if (parse->worker.spans > 0)
        return refuse(parse, "spawned tasks after a line of a range");
    parse->next_spawned = family.first + family.count;
    parse->worker.families++;
    return eki_record_pack_family(&parse->pack, &family) ? EK_OK
                                                         : no_memory(parse);
}

static ek_status take_span(struct parse *parse)
{
    struct eki_record_span span;
    uint64_t place, function;
    int functions = eki_record_functions_written(parse->writer);
    EKI_TRY(check_count(parse, 8));
    EKI_TRY(number_after(parse, "range", 1, UINT64_MAX, &span.first));
    EKI_TRY(number_after(parse, "count", 3, EKI_NUMBERS, &span.count));
    EKI_TRY(number_after(parse, "place", 5, INT64_MAX, &place));
    EKI_TRY(number_after(parse, "function", 7, UINT16_MAX, &function));
    if (!parse->is_open || parse->next_worker == 0)
        return refuse(parse, "a range before the first worker");
    if (!has_spans(parse))
        return refuse(parse, "a line of a range; allowed from version %d on",
                      EKI_RECORD_VERSION);
    if (span.count == 0 || place < parse->least_place ||
        place > (uint64_t)parse->worker.count ||
        function >= (uint64_t)functions)
        return refuse(parse,
                      "a range of %" PRIu64 " indices behind %" PRIu64
                      " tasks, of function %" PRIu64
                      "; allowed: 1 or more, %" PRIu64 " ... %" PRId64
                      ", 0 ... %d",
                      span.count, place, function, parse->least_place,
                      parse->worker.count, functions - 1);
    span.place = (int64_t)(parse->least_place = place);
    span.function = (uint16_t)function;
    parse->worker.spans++;
    return eki_record_pack_span(&parse->pack, &span) ? EK_OK : no_memory(parse);
}

static ek_status take_end(struct parse *parse)
{
    uint64_t iterations;
    EKI_TRY(close_iteration(parse));
    EKI_TRY(check_count(parse, 2));
    EKI_TRY(number_after(parse, "end", 1, INT64_MAX, &iterations));
    if ((int64_t)iterations != parse->iterations)
        return refuse(parse, "%" PRIu64 " iterations; there are %" PRId64,
                      iterations, parse->iterations);
    parse->stage = STAGE_OVER;
    return EK_OK;
}

/* What a line that begins with WORD is, and when it may come. */
static const struct {
    const char *word;
    enum stage first, last;
    ek_status (*take)(struct parse *parse);
} lines[] = {{"EKRECORD", STAGE_FIRST, STAGE_FIRST, take_first},
             {"name", STAGE_NAME, STAGE_NAME, take_name},
             {"rank", STAGE_RANKS, STAGE_RANKS, take_rank},
             {"about", STAGE_RANKS, STAGE_RANKS, take_about},
             {"earlier", STAGE_RANKS, STAGE_RANKS, take_earlier},
             {"function", STAGE_RANKS, STAGE_FUNCTIONS, take_function},
             {"data", STAGE_FUNCTIONS, STAGE_FUNCTIONS, take_data},
             {"iteration", STAGE_RANKS, STAGE_ITERATIONS, take_iteration},
             {"worker", STAGE_ITERATIONS, STAGE_ITERATIONS, take_worker},
             {"task", STAGE_ITERATIONS, STAGE_ITERATIONS, take_task},
             {"spawned", STAGE_ITERATIONS, STAGE_ITERATIONS, take_family},
             {"range", STAGE_ITERATIONS, STAGE_ITERATIONS, take_span},
             {"end", STAGE_RANKS, STAGE_ITERATIONS, take_end}};

/* Cut LINE at each space; a function's name may have some, as a line about the
 * job. */
static void split(struct parse *parse, char *line)
{
    int most = strncmp(line, "function ", 9) == 0 ? 3
               : strncmp(line, "about ", 6) == 0  ? 2
                                                  : WORDS_MAX;
    parse->count = 0;
    while (line && parse->count < most) {
        parse->words[parse->count++] = line;
        line = parse->count < most ? strchr(line, ' ') : NULL;
        if (line)
            *line++ = '\0';
    }
}

static ek_status take_line(struct parse *parse)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strcmp(parse->words[0], lines[i].word) != 0)
            continue;
        if (parse->stage < lines[i].first || parse->stage > lines[i].last)
            return refuse(parse, "'%s' may not come here", lines[i].word);
        if (lines[i].last > STAGE_RANKS && parse->stage == STAGE_RANKS)
            EKI_TRY(begin_file(parse));
        return lines[i].take(parse);
    }
    return refuse(parse, "no line may begin with '%.100s'", parse->words[0]);
}

static ek_status read_lines(struct parse *parse, FILE *file)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, file)) {
        parse->line++;
        size_t bytes = strlen(line);
        if (bytes == 0 || line[bytes - 1] != '\n')
            return refuse(parse,
                          "a line has no end, or is longer than %d bytes",
                          LINE_BYTES - 2);
        line[bytes - 1] = '\0';
        split(parse, line);
        EKI_TRY(take_line(parse));
    }
    if (ferror(file))
        return refuse(parse, "cannot be read: %s", strerror(errno));
    if (parse->stage < STAGE_RANKS)
        return refuse(parse, "the text ends within its header");
    if (parse->stage == STAGE_RANKS)
        EKI_TRY(begin_file(parse));
    return close_iteration(parse);
}

int tool_binary(const struct tool_arguments *arguments)
{
    const char *text = arguments->files[0], *path = arguments->files[1];
    struct parse parse = {
        .text = text, .path = path, .data_function = -1, .last_iteration = -1};
    if (!tool_is_other(text, path))
        return EXIT_BAD_INPUT;
    FILE *file = tool_open_input(text);
    if (!file)
        return EXIT_BAD_INPUT;
    ek_status status = read_lines(&parse, file);
    if (status == EK_OK && parse.stage == STAGE_OVER)
        status = eki_record_finish(&parse.writer);
    bool is_partial = status != EK_OK && parse.writer;
    eki_record_abandon(&parse.writer);
    if (is_partial)
        remove(path);
    eki_record_pack_free(&parse.pack);
    eki_free(parse.rank_workers);
    tool_close(file);
    return tool_end(status);
}
