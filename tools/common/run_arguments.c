/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_arguments.h"

#include "policies.h"

#define AT(field) offsetof(struct run_arguments, field)

static const struct option options[] = {
    {"--record", "FILE", AT(source.record), OPTION_TEXT,
     .help = "tasks and durations of a run (EVENKEEL_RECORD)"},
    {"--iteration", "LIST", AT(source.iterations), OPTION_TEXT,
     .help = "take durations from these iterations in turn: 3, 0-9, 0,3,5 or "
             "2-; or median: of each task of iteration 0 over all (median; 0 "
             "if tasks spawn)"},
    {"--synthetic", "SPEC", AT(source.synthetic), OPTION_TEXT,
     .help = "made-up tasks: KIND:n=N,mean=SECONDS (or mean_us=MICROSECONDS)"
             "[,cv=X][,longest=SECONDS][,nulls=N]"},
    {"--scale", "X", AT(source.scale), OPTION_NUMBER(1e-6, 1e6),
     .help = "multiply every duration by X (1)"},
    {"--bytes", "SPEC", AT(source.bytes), OPTION_TEXT,
     .help = "data of each task: none or input=B[,result=B][,cv=X] (as the "
             "record)"},
    {"--drift", "P", AT(source.drift), OPTION_NUMBER(0, 100),
     .help = "durations drift by P percent per iteration (0)"},
    {"--noise", "P", AT(source.noise), OPTION_NUMBER(0, 100),
     .help = "durations vary by P percent around the drift (0)"},
    {"--change", "HOW", AT(source.change), OPTION_WORD(change_words),
     .help = "other changes: alternate, renew, hot-moves, hot-comes or "
             "hot-creeps (none)"},
    {"--seed", "S", AT(source.seed), OPTION_INTEGER(0, 2147483647),
     .help = "seed of durations and of Evenkeel (1)"},
    {"--policy", "NAME", AT(policy), OPTION_TEXT,
     .help = "restore policy (retain), or a schedule: NAME@0-2,NAME@3-"},
    {"--steal", "NAME", AT(steal), OPTION_TEXT,
     .help = "steal policy (random), or a schedule"},
    {"--compare", NULL, AT(has_compare), OPTION_FLAG,
     .help = "run all modes, one after the other"},
    {"--modes", "A,B,...", AT(modes), OPTION_TEXT, .help = MODES_HELP},
    {"--csv", NULL, AT(has_csv), OPTION_FLAG,
     .help = "print CSV: a line per mode and iteration"},
    {"--json", NULL, AT(has_json), OPTION_FLAG,
     .help = "print JSON: an object per mode and iteration; times in seconds"},
};

static bool check_together(const struct run_arguments *arguments,
                           struct message *message)
{
    const struct workload_source *source = &arguments->source;
    if (!source->record + !source->synthetic + !source->tree != 2)
        return message_set(message, "one of --record%s is needed; see --help",
                           arguments->may_unfold
                               ? ", --synthetic and --workload"
                               : " and --synthetic");
    if (arguments->has_csv && arguments->has_json)
        return message_set(message, "--csv and --json do not go together");
    if (arguments->has_compare && (arguments->policy || arguments->steal))
        return message_set(message, MODES_OWN_POLICIES);
    return true;
}

/* Whether TEXT is a schedule of OPTION. */
static bool check_schedule(const char *option, const char *argument,
                           const char *text, struct message *message)
{
    struct eki_schedule schedule;
    bool is_good = schedule_read(option, argument, text, &schedule, message);
    eki_schedule_free(&schedule);
    return is_good;
}

/* Whether TEXT, which a mode has for OPTION, says a policy for FIRST and
 * for the last iterations.  Commas part modes: of a schedule that is written
 * with them each entry comes as a mode of its own. */
static bool check_policies(const char *option, int first, const char *text,
                           struct message *message)
{
    struct eki_schedule schedule;
    bool is_good =
        schedule_read(option, "--modes", text, &schedule, message) &&
        (schedule.count == 0 ||
         (eki_schedule_at(&schedule, first, -1) >= 0 &&
          eki_schedule_at(&schedule, INT64_MAX, -1) >= 0) ||
         message_set(message,
                     "--modes has '%s', which is a mode of some iterations "
                     "only; allowed: / between the entries of a schedule, such "
                     "as retain@0-3/centralized@4-",
                     text));
    eki_schedule_free(&schedule);
    return is_good;
}

static bool check_mode(const struct mode *mode, struct message *message)
{
    if (!check_policies("restore", 1, mode->restore, message))
        return !is_schedule(mode->restore) &&
               message_set(message,
                           "--modes has '%s'; allowed: %s, or RESTORE or "
                           "RESTORE+STEAL, where RESTORE is one of %s",
                           mode->name, mode_names(), restore_words());
    if (!check_policies("steal", 0, mode->steal, message))
        return !is_schedule(mode->steal) &&
               message_set(message,
                           "--modes has '%s'; allowed behind the +: %s",
                           mode->name, steal_words());
    return true;
}

static bool check_all(void *arguments, struct message *message)
{
    struct run_arguments *shared = arguments;
    shared->has_compare |= shared->modes != NULL;
    if (!check_together(shared, message) ||
        !check_schedule("restore", "--policy", shared->policy, message) ||
        !check_schedule("steal", "--steal", shared->steal, message) ||
        !modes_read(shared->modes, check_mode, &shared->compared, message))
        return false;
    for (int i = 0; shared->has_compare && i < shared->compared.count; i++)
        shared->source.has_nulls |= shared->compared.modes[i].has_nulls;
    return true;
}

static void release(void *arguments)
{
    modes_free(&((struct run_arguments *)arguments)->compared);
}

static void print_kinds(FILE *stream)
{
    fprintf(stream, "\nKinds of --synthetic: lognormal (cv: deviation / mean), "
                    "exponential, uniform,\nconstant.\n");
    modes_help(stream);
}

const struct command_line run_command_line = {
    OPTION_ROWS(options), .add = print_kinds, .check = check_all,
    .release = release};
