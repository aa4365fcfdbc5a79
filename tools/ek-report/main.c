/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, and a page of what they name. */
#include "timeline.h"

#include "cli/command_line.h"

#include <string.h>

const char program_name[] = "ek-report";

#define AT(field) offsetof(struct arguments, field)

static bool take_file(const char *word, void *context, struct message *message)
{
    struct arguments *arguments = context;
    if (arguments->file_count == REPORT_FILES)
        return message_set(message, "more than %d files; allowed: %d",
                           REPORT_FILES, REPORT_FILES);
    arguments->files[arguments->file_count++] = word;
    return true;
}

static const struct option options[] = {
    {"-o", "FILE", AT(output), OPTION_TEXT,
     .help = "write to this file (standard output)"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "several records, side by side"},
    {"--iteration", "N", AT(iteration), OPTION_LONG(0, 1e18),
     .help =
         "show this iteration, numbered from 0 (the last; of a timeline all)"},
    {"--text", NULL, AT(has_text), OPTION_FLAG,
     .help = "write text for a terminal instead of a page"},
    {"--csv", NULL, AT(has_csv), OPTION_FLAG,
     .help = "write the values of all tables, a line each"},
    {"--perfetto", "FILE", AT(perfetto), OPTION_TEXT,
     .help = "write the timeline as trace events for ui.perfetto.dev"},
    {"--otf2", "FOLDER", AT(otf2), OPTION_TEXT,
     .help = "write the timeline as an OTF2 archive"},
    {"--machine", "NAME", AT(machine), OPTION_TEXT,
     .help = "what ek-sim simulates: a preset or a machine file (ib-edr)"},
    {"--simulate", "SECONDS", AT(simulate_s), OPTION_NUMBER(0, 1e6),
     .help = "most time for simulations of each record; 0: none (30)"},
};

enum file_kind {
    FILE_RECORD,
    FILE_TABLE,
    FILE_TIMELINE
};

static enum file_kind kind_of(const char *path)
{
    const char *end = strrchr(path, '.');
    if (end && strcmp(end, ".tsv") == 0)
        return FILE_TABLE;
    return (end && strcmp(end, ".ekt") == 0) || timeline_is_folder(path)
               ? FILE_TIMELINE
               : FILE_RECORD;
}

static bool check(void *context, struct message *message)
{
    const struct arguments *arguments = context;
    int counts[FILE_TIMELINE + 1] = {0};
    for (int i = 0; i < arguments->file_count; i++)
        counts[kind_of(arguments->files[i])]++;
    int records = counts[FILE_RECORD];
    if (records == 0 && (counts[FILE_TIMELINE] == 0 || counts[FILE_TABLE] > 0))
        return message_set(
            message, "a record is missing; allowed: RECORD.ekr [JOB.tsv ...] "
                     "[TIMELINE ...], or TIMELINE ...");
    if (records > 0 && kind_of(arguments->files[0]) != FILE_RECORD)
        return message_set(message, "the first file is no record; allowed: "
                                    "RECORD.ekr [JOB.tsv ...] [TIMELINE ...]");
    if (records > 1 && !arguments->has_compare)
        return message_set(message,
                           "%d records; allowed: one, or more with --compare",
                           records);
    if ((arguments->perfetto || arguments->otf2) &&
        (counts[FILE_TIMELINE] == 0 || records > 1))
        return message_set(message,
                           "--perfetto or --otf2 with %d timelines of %d "
                           "records; allowed: with those of one",
                           counts[FILE_TIMELINE], records);
    return !arguments->has_text || !arguments->has_csv ||
           message_set(message, "--text and --csv; allowed: one of them");
}

static const struct command_line line = {
    OPTION_ROWS(options), .operand = take_file,
    .head = "Show a run as a page for browsers: one file that needs no "
            "network.\n\nusage: ek-report [options] RECORD.ekr [JOB.tsv ...] "
            "[TIMELINE ...] -o RUN.html\n       ek-report [options] TIMELINE "
            "... -o RUN.html\n       ek-report [options] --compare A.ekr "
            "[A.tsv] [A/] B.ekr [B.tsv] [B/] ... -o RUNS.html\n\nRECORD.ekr "
            "comes from EVENKEEL_RECORD, JOB.tsv from EVENKEEL_REPORT: a table "
            "of the job or\nof its ranks. TIMELINE is the folder of "
            "EVENKEEL_TIMELINE, or a file NAME.RANK.ekt of it.\nTables and "
            "timelines belong to the record before them.\n\n",
    .tail = "\n" DOCUMENTS "/docs/how-to/see-a-run.md\nsays what the page "
            "shows.\n" EXIT_WORDS,
    .check = check};

/* The record at FILES[*at], and the tables and timelines behind it. */
static bool gather(const struct arguments *arguments, int *at, struct run *run,
                   struct message *message)
{
    run->path = arguments->files[*at];
    if (kind_of(run->path) == FILE_RECORD &&
        !gather_run(arguments->files[(*at)++], arguments, run, message))
        return false;
    for (; *at < arguments->file_count; ++*at) {
        const char *path = arguments->files[*at];
        enum file_kind kind = kind_of(path);
        if (kind == FILE_RECORD)
            break;
        if (kind == FILE_TABLE ? !gather_figures(path, run, message)
                               : !timeline_add(path, run, message))
            return false;
    }
    if (!timeline_gather(run, arguments->iteration, message))
        return false;
    if (!run->record)
        return true;
    if (!gather_details(run, message) || !gather_longest(run, message))
        return false;
    gather_end(run);
    simulate_run(arguments, run);
    return true;
}

/* The timeline for other programs; then a page is only wanted with -o. */
static bool write_others(const struct arguments *arguments,
                         const struct run *run, struct message *message)
{
    return (!arguments->perfetto ||
            write_perfetto(run->timeline, arguments->perfetto, message)) &&
           (!arguments->otf2 ||
            write_otf2(run->timeline, arguments->otf2, message));
}

static bool write_all(const struct arguments *arguments, const struct run *runs,
                      int count, struct message *message)
{
    if (!write_others(arguments, runs, message))
        return false;
    if ((arguments->perfetto || arguments->otf2) && !arguments->output &&
        !arguments->has_text && !arguments->has_csv)
        return true;
    FILE *out =
        arguments->output ? open_output(arguments->output, message) : stdout;
    if (!out)
        return false;
    if (arguments->has_text)
        write_text(runs, count, out);
    else if (arguments->has_csv)
        write_csv(runs, count, out);
    else
        write_page(runs, count, out);
    return out == stdout || close_output(out, arguments->output, message);
}

static const char *file_name(const struct run *run)
{
    const char *slash = strrchr(run->path, '/');
    if (!run->record)
        return run_collection(run);
    return slash ? slash + 1 : run->path;
}

static void name_runs(struct run *runs, int count)
{
    for (int i = 0; i < count; i++) {
        runs[i].name = file_name(&runs[i]);
        for (int k = 0; k < i; k++) {
            if (strcmp(file_name(&runs[k]), file_name(&runs[i])) != 0)
                continue;
            runs[k].name = runs[k].path;
            runs[i].name = runs[i].path;
        }
    }
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .iteration = -1, .machine = "ib-edr", .simulate_s = 30};
    struct message message = {""};
    struct run *runs = NULL;
    int status = EXIT_BAD_INPUT, count = 0;
    (void)argc;
    if (command_line_answer(&line, argv))
        return end_output(EXIT_GOOD);
    bool is_good = command_line_parse(&line, argv, &arguments, &message);
    if (is_good)
        runs = allocate((size_t)arguments.file_count, sizeof *runs);
    for (int at = 0; is_good && at < arguments.file_count; count++)
        is_good = gather(&arguments, &at, &runs[count], &message);
    if (is_good) {
        name_runs(runs, count);
        status = write_all(&arguments, runs, count, &message) ? EXIT_GOOD
                                                              : EXIT_FAILED;
    }
    for (int i = 0; i < count; i++) {
        timeline_free(runs[i].timeline);
        gather_free(&runs[i]);
    }
    free(runs);
    if (status != EXIT_GOOD)
        fprintf(stderr, "%s: %s\n", program_name, message.text);
    return end_output(status);
}
