/* SPDX-License-Identifier: BSD-3-Clause */
/* What each section says of a run, and its table. */
#include "timeline.h"

#include "task/task.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Before the first restore there is none. */
static const char *restore_of(const struct iteration_row *row)
{
    const char *name =
        eki_option_choice_name("restore", (int)row->head.restore);
    return row->head.restore == EK_RESTORE_DEFAULT || !name ? "none" : name;
}

static const char *steal_of(const struct iteration_row *row)
{
    const char *name = eki_option_choice_name("steal", (int)row->head.steal);
    return name ? name : "unknown";
}

/* A record alone tells of three. */
static bool is_part_known(const struct run *run, int part)
{
    bool is_of_record = part == PART_BUSIEST || part == PART_NOBODY;
    return part == PART_TASKS || is_of_record != run->has_figures;
}

static void say_efficiency(const struct run *run, char *text, size_t bytes)
{
    double parts_s[PARTS], bound;
    struct range all = {0, run->record->iteration_count};
    double all_s = range_parts(run, all, parts_s, &bound);
    eki_append(text, bytes,
               "%.1f %% of the time of workers went into tasks; the longest "
               "task of each iteration would allow %.1f %%.",
               all_s > 0 ? 100 * parts_s[PART_TASKS] / all_s : 0, 100 * bound);
    if (!run->has_figures)
        eki_append(
            text, bytes,
            " A record does not say what workers did between tasks: "
            "run with EVENKEEL_REPORT=job.tsv, and give that file, too.");
}

static void list_column(const struct run *run, int column, struct table *table)
{
    struct range range = range_of(run->record->iteration_count, column);
    struct iteration_row sum = {.largest_s = 0};
    const struct iteration_row *first = &run->rows[range.first];
    char name[60] = "";
    double parts_s[PARTS], bound, mean_s = 0;
    double all_s = range_parts(run, range, parts_s, &bound);
    for (int64_t k = range.first; k < range.last; k++) {
        const struct iteration_row *row = &run->rows[k];
        sum.tasks += row->tasks;
        sum.nulls += row->nulls;
        sum.held += row->held;
        sum.wall_s += row->wall_s;
        sum.longest_s = fmax(sum.longest_s, row->longest_s);
        sum.largest_s += row->largest_s;
        mean_s += row->work_s / run->record->shape.workers;
    }
    append_iterations(run, range, name, sizeof name);
    table_row(table, "%s", name);
    table_row(table,
              "%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64
              "\t%.5g\t%.5g\t%.1f\t%.1f",
              restore_of(first), steal_of(first), sum.tasks, sum.nulls,
              sum.held, sum.longest_s * 1e6, sum.wall_s,
              mean_s > 0 ? 100 * (sum.largest_s / mean_s - 1) : 0, 100 * bound);
    for (int i = 0; i < PARTS; i++) {
        if (is_part_known(run, i))
            table_row(table, "%.2f", all_s > 0 ? 100 * parts_s[i] / all_s : 0);
    }
}

static void list_efficiency(const struct run *run, struct table *table)
{
    char columns[sizeof table->titles] =
        "iteration|restore|steal|tasks|null|held|max/us|wall/s|imbalance/%|"
        "bound/%";
    for (int i = 0; i < PARTS; i++) {
        if (is_part_known(run, i))
            eki_append(columns, sizeof columns, "|%s/%%", part_words[i]);
    }
    table_open(table, "efficiency", "Time of workers", columns);
    for (int i = 0; i < column_count(run); i++)
        list_column(run, i, table);
}

static double worst_of(const struct run *run, const struct loads *loads)
{
    double largest_s = 0;
    for (int i = 0; loads->is_known && i < run->record->shape.workers; i++)
        largest_s = fmax(largest_s, loads->worker_s[i]);
    return loads->mean_s > 0 ? largest_s / loads->mean_s : 0;
}

static void say_loads(const struct run *run, char *text, size_t bytes)
{
    eki_append(text, bytes,
               "In iteration %" PRId64
               " the busiest worker had %.2f x the mean load, %s.",
               run->now.iteration, worst_of(run, &run->now),
               eki_seconds(run->now.mean_s).text);
    if (!run->before.is_known) {
        eki_append(text, bytes, " It is the first of the record.");
        return;
    }
    eki_append(text, bytes,
               " In the one before, it had %.2f x the mean; %" PRId64
               " of %" PRId64 " tasks had to move to get below the target. ",
               worst_of(run, &run->before), run->before.fewest,
               run->before.tasks);
    if (run->spawns)
        eki_append(text, bytes,
                   "Spawned tasks have other ids in each iteration, so nobody "
                   "knows which of them moved.");
    else
        eki_append(text, bytes,
                   "%" PRId64 " ran on another worker than the last time, "
                   "by the restore (%s) or by steals (%s).",
                   run->moved, restore_of(&run->rows[run->chosen]),
                   steal_of(&run->rows[run->chosen]));
}

static void list_loads(const struct run *run, struct table *table)
{
    table_open(table, "load", "Loads",
               "who|workers|before: largest/s|before: mean/s|largest/s|mean/s");
    for (int i = 0; i < run->groups.count; i++) {
        char name[40];
        double mean_s, largest_s;
        group_name(run, i, name, sizeof name);
        table_row(table, "%s\t%d", name, run->groups.workers[i]);
        if (run->before.is_known) {
            largest_s = group_largest(run, run->before.worker_s, i, &mean_s);
            table_row(table, "%.5g\t%.5g", largest_s, mean_s);
        } else {
            table_row(table, "-\t-");
        }
        largest_s = group_largest(run, run->now.worker_s, i, &mean_s);
        table_row(table, "%.5g\t%.5g", largest_s, mean_s);
    }
}

static void say_durations(const struct run *run, char *text, size_t bytes)
{
    char limit[400] = "";
    struct eki_verdict_tasks tasks = {
        .tasks = run->timed,
        .workers = run->record->shape.workers,
        .sum_s = run->timed_s,
        .longest_s = run->rows[run->chosen].longest_s,
        .above = -1,
        .function =
            function_name(run, run->rows[run->chosen].longest_function)};
    eki_append(text, bytes,
               "Iteration %" PRId64 ": %" PRId64
               " tasks took time, %s in all. ",
               run->now.iteration, run->timed, eki_seconds(run->timed_s).text);
    if (eki_verdict_tasks(&tasks, limit, sizeof limit))
        eki_append(text, bytes, "On these workers %s.", limit);
    else
        eki_append(text, bytes,
                   "The longest takes %s, less than the share of a worker: it "
                   "is no hindrance.",
                   eki_seconds(tasks.longest_s).text);
}

static void list_durations(const struct run *run, struct table *table)
{
    table_open(table, "durations", "Durations",
               "from/us|to/us|function|tasks|sum/s");
    for (int slot = 0; slot < REPORT_SLOTS; slot++) {
        for (int f = 0; f <= REPORT_FUNCTIONS; f++) {
            if (run->slots[f][slot] == 0)
                continue;
            table_row(table, "%.5g\t%.5g\t%s\t%" PRId64 "\t%.5g",
                      slot_s(slot) * 1e6, slot_s(slot + 1) * 1e6,
                      f == REPORT_FUNCTIONS ? "others" : function_name(run, f),
                      run->slots[f][slot], run->slot_s[f][slot]);
        }
    }
}

static void say_longest(const struct run *run, char *text, size_t bytes)
{
    eki_append(text, bytes,
               "Of iteration %" PRId64
               ", with what they took in all iterations of the record. Home "
               "and number are those of ek_add_task.",
               run->now.iteration);
}

struct words {
    char text[3 * EKI_PAYLOAD_MOST];
};

/* A payload as numbers of four bytes each, if they are small, else as bytes. */
static struct words payload_text(const struct eki_record_payload *payload)
{
    struct words words = {""};
    bool is_small = payload->bytes % 4 == 0;
    for (int i = 0; i + 4 <= payload->bytes; i += 4) {
        int32_t number = (int32_t)eki_get(payload->data + i, 4);
        is_small = is_small && number > -1000000 && number < 1000000;
    }
    for (int i = 0; is_small && i < payload->bytes; i += 4)
        eki_append(words.text, sizeof words.text, "%s%" PRId32,
                   i > 0 ? " " : "", (int32_t)eki_get(payload->data + i, 4));
    for (int i = 0; !is_small && i < payload->bytes; i++)
        eki_append(words.text, sizeof words.text, "%s%02x",
                   i > 0 && i % 8 == 0 ? " " : "", payload->data[i]);
    return words;
}

static void list_longest(const struct run *run, struct table *table)
{
    table_open(table, "longest", "Ten longest tasks",
               "id|function|home|number|ran on|took/us|least/us|median/us|"
               "longest/us|iterations|held up|input/B|result/B|payload");
    for (int i = 0; i < run->longest_count; i++) {
        const struct long_task *longest = &run->longest[i];
        const struct eki_record_task *task = &longest->task;
        uint64_t key = eki_key(run->record->shape.key_base, task->id);
        table_row(
            table,
            "%" PRIu64 "\t%s\t%" PRIu64 "\t%" PRIu64
            "\t%d\t%.5g\t%.5g\t%.5g\t%.5g\t%" PRId64 "\t%s\t%" PRIu32
            "\t%" PRIu32 "\t%s",
            key, function_name(run, task->function), task->id / EKI_NUMBERS,
            key % EKI_NUMBERS, task->worker, (double)task->duration_ns * 1e-3,
            longest->seconds[0] * 1e6, longest->median_s * 1e6,
            longest->seconds[longest->count - 1] * 1e6, longest->count,
            task->flags & EKI_RECORD_HELD ? "yes" : "no", task->input_bytes,
            task->result_bytes, payload_text(&longest->payload).text);
    }
}

static void say_homes(const struct run *run, char *text, size_t bytes)
{
    eki_append(text, bytes,
               "In iteration %" PRId64 ", %" PRId64 " of %" PRId64
               " tasks ran on another worker than the one that added them.",
               run->now.iteration, run->away, run->timed);
    int64_t most = 0;
    for (int i = 0; i < run->groups.count * run->groups.count; i++)
        most = run->homes[i] > most ? run->homes[i] : most;
    eki_append(text, bytes, " The darkest mark stands for %" PRId64 ".", most);
}

static void list_homes(const struct run *run, struct table *table)
{
    int count = run->groups.count;
    table_open(table, "homes", "Homes", "home|ran on|tasks");
    for (int i = 0; i < count * count; i++) {
        char name[40];
        if (run->homes[i] == 0)
            continue;
        group_name(run, i / count, name, sizeof name);
        table_row(table, "%s", name);
        group_name(run, i % count, name, sizeof name);
        table_row(table, "%s\t%" PRId64, name, run->homes[i]);
    }
}

/* The fewest cores with which an iteration is as fast as it gets, and what it
 * takes then. */
static void say_simulated(const struct run *run, char *text, size_t bytes)
{
    const struct simulated *best = NULL;
    for (int i = 0; i < run->simulated_count; i++) {
        const struct simulated *at = &run->simulated[i];
        if (!best || at->makespan_s < 0.95 * best->makespan_s)
            best = at;
    }
    if (best)
        eki_append(text, bytes,
                   "%d cores with %s take %s for an iteration, %.1f %% of "
                   "ideal; more are not 5 %% faster. ",
                   best->cores, best->mode, eki_seconds(best->makespan_s).text,
                   100 * best->efficiency);
    if (run->missing[0])
        eki_append(text, bytes, "Not all is here: %s.", run->missing);
}

static void list_simulated(const struct run *run, struct table *table)
{
    table_open(table, "cores", "More cores",
               "cores|policy|iteration/s|bound/s|of ideal/%");
    for (int i = 0; i < run->simulated_count; i++) {
        const struct simulated *at = &run->simulated[i];
        table_row(table, "%d\t%s\t%.5g\t%.5g\t%.1f", at->cores, at->mode,
                  at->makespan_s, at->bound_s, 100 * at->efficiency);
    }
}

const struct section sections[] = {
    {false, "efficiency", "Where did the time go?",
     "A bar is an iteration: the time of all workers, by what they did.",
     say_efficiency, draw_efficiency, list_efficiency},
    {true, "timeline", "Who did what, and when?",
     "A place has the color of what took most of its time. Pointer and arrow "
     "keys tell of rows and of the longest stretches.",
     say_timeline, draw_timeline, list_timeline},
    {true, "states", "What did each worker do?", "", say_states, NULL,
     list_states},
    {true, "iterations", "What did all do in each iteration?",
     "Seconds of all workers, from the end of the iteration before until its "
     "end.",
     NULL, NULL, list_state_iterations},
    {false, "load", "Is the load even?",
     "Above the target a worker has too much. A rebalance aims at the target, "
     "which is no shorter than the longest task. Without steals, an iteration "
     "ends with the highest mark.",
     say_loads, draw_loads, list_loads},
    {false, "durations", "How long are tasks?",
     "A task right of the share of a worker keeps all others waiting.",
     say_durations, draw_durations, list_durations},
    {false, "longest", "Which are the longest?", "", say_longest, NULL,
     list_longest},
    {false, "homes", "Who ran whose tasks?",
     "A mark beside the diagonal is work that moved; the stronger, the more.",
     say_homes, draw_homes, list_homes},
    {false, "cores", "If you had more cores?",
     "ek-sim runs these tasks on a simulated machine. Static: tasks stay where "
     "they were added, and nobody steals. StealRet: tasks start where they "
     "ran, "
     "and workers steal, the default.",
     say_simulated, draw_simulated, list_simulated},
};
const int section_count = sizeof sections / sizeof *sections;

bool section_fits(const struct section *section, const struct run *run)
{
    return section->is_of_timeline ? run->timeline != NULL
                                   : run->record != NULL;
}
