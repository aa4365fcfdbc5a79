/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Run schedules drawn from seeds:
 *
 *     explore --seeds A-B [--profile NAME] [--plant NAME] [--all-seen]
 *     explore --seeds A-B [--profile NAME] --hash
 *     explore --replay SEED [--profile NAME] [--plant NAME]
 *
 * with [--policy NAME] [--termination NAME], which are drawn else.
 *
 * A failure prints the seed, what was wrong, what was drawn, and how to replay
 * it; a replay prints every event.  With --all-seen it is a failure, too, if
 * anything that should happen now and then never did.  With --hash each seed
 * prints a hash of its events, by which two builds are compared
 * (tools/compare-schedules).
 */
#include "explore.h"
#include "plants.h"

#include "base/options.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SECONDS_MOST = 20 /* of a schedule; with a sanitizer the longest needs 1 */
};

struct arguments {
    const char *program;
    uint64_t first, last;
    enum explore_profile profile;
    const char *plant;
    bool is_replay, wants_all, wants_hash, has_seeds;
};

static struct explore explore;
static struct explore_scenario scenario;
static struct arguments arguments;

/* Says what is wrong; 0, which is no number of words. */
EKI_PRINTF(1, 2) static int misuse(const char *format, ...)
{
    va_list values;
    fputs("explore: ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputs("\nusage: explore --seeds A-B | --replay SEED [--profile small | "
          "large | storm | lean] [--policy NAME] [--termination NAME] "
          "[--plant NAME] [--all-seen] [--hash]\n",
          stderr);
    return 0;
}

/* A number at TEXT, below the largest: the one after it is a number, too.
 * Where it ends; NULL: there is none. */
static const char *parse_number(const char *text, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    *number = value;
    return errno == 0 && value < UINT64_MAX ? end : NULL;
}

static int parse_seeds(const char *option, const char *text)
{
    bool is_replay = strcmp(option, "--replay") == 0;
    if (arguments.has_seeds)
        return misuse("%s %s: seeds are given already; allowed is one of "
                      "--seeds and --replay, once",
                      option, text);
    const char *end = parse_number(text, &arguments.first);
    arguments.last = arguments.first;
    if (!is_replay && end && *end == '-')
        end = parse_number(end + 1, &arguments.last);
    if (!end || *end != '\0' || arguments.first > arguments.last)
        return misuse("%s %s: allowed is %s; the largest seed is %llu", option,
                      text, is_replay ? "one seed" : "A or A-B with A <= B",
                      (unsigned long long)UINT64_MAX - 1);
    arguments.has_seeds = true;
    arguments.is_replay = is_replay;
    return 2;
}

static int parse_plant(const char *name)
{
    char names[500] = "";
    size_t length = 0;
    arguments.plant = name;
    if (plant(name))
        return 2;
    if (!plant_name(0))
        return misuse("--plant %s: this program has no planted bugs, "
                      "explore-planted has",
                      name);
    for (int i = 0; plant_name(i) && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, " %s",
                                   plant_name(i));
    return misuse("--plant %s: there is no such bug; allowed:%s", name, names);
}

static int parse_profile(const char *name)
{
    int profile = explore_profile_of(name);
    if (profile < 0)
        return misuse("--profile %s: allowed are small, large, storm, lean",
                      name);
    arguments.profile = (enum explore_profile)profile;
    return 2;
}

/* VALUE, as OPTION of a collection has it, holds in all iterations. */
static int parse_fixed(const char *option, const char *value, int *fixed)
{
    char names[500] = "";
    const struct eki_choice *choice = eki_option_choices(option);
    for (; choice->name; choice++) {
        eki_append(names, sizeof names, " %s", choice->name);
        if (strcmp(choice->name, value) != 0)
            continue;
        *fixed = choice->value;
        return 2;
    }
    return misuse("%s: allowed is one of%s", value, names);
}

/* One option; how many words it takes, 0: it is wrong. */
static int parse_option(char **words)
{
    const char *option = words[0], *value = words[1];
    bool is_seeds =
        strcmp(option, "--seeds") == 0 || strcmp(option, "--replay") == 0;
    bool is_plant = strcmp(option, "--plant") == 0;
    if (strcmp(option, "--all-seen") == 0) {
        arguments.wants_all = true;
        return 1;
    }
    if (strcmp(option, "--hash") == 0) {
        arguments.wants_hash = true;
        return 1;
    }
    bool is_policy = strcmp(option, "--policy") == 0;
    bool is_detector = strcmp(option, "--termination") == 0;
    if (!is_seeds && !is_plant && !is_policy && !is_detector &&
        strcmp(option, "--profile") != 0)
        return misuse("%s: there is no such option", option);
    if (!value)
        return misuse("%s: its value is missing", option);
    if (is_policy)
        return parse_fixed("steal", value, &explore_fixed.policy);
    if (is_detector)
        return parse_fixed("termination", value, &explore_fixed.detector);
    if (is_seeds)
        return parse_seeds(option, value);
    return is_plant ? parse_plant(value) : parse_profile(value);
}

/* How to see a seed again. */
static int write_replay(char *text, size_t size, uint64_t seed)
{
    const char *policy = eki_option_choice_name("steal", explore_fixed.policy);
    const char *detector =
        eki_option_choice_name("termination", explore_fixed.detector);
    return snprintf(
        text, size, "replay: %s --profile %s%s%s%s%s%s%s --replay %llu\n",
        arguments.program, explore_profile_names[arguments.profile],
        policy ? " --policy " : "", policy ? policy : "",
        detector ? " --termination " : "", detector ? detector : "",
        arguments.plant ? " --plant " : "",
        arguments.plant ? arguments.plant : "", (unsigned long long)seed);
}

static void print_failure(uint64_t seed)
{
    char replay[500];
    fprintf(stderr, "seed %llu, event %lld: %s\n", (unsigned long long)seed,
            explore.sim ? (long long)explore.sim->events : 0,
            explore.ledger.failure);
    if (!arguments.is_replay)
        explore_print_scenario(&scenario, stderr);
    explore_print(&explore);
    write_replay(replay, sizeof replay, seed);
    fputs(replay, stderr);
}

static bool run_seed(uint64_t seed)
{
    explore_draw(seed, arguments.profile, &scenario);
    /* Who reads a replay takes time. */
    if (arguments.is_replay)
        explore_print_scenario(&scenario, stdout);
    else
        alarm(SECONDS_MOST);
    bool is_good = explore_run(&explore, &scenario);
    alarm(0);
    if (!is_good)
        print_failure(seed);
    else if (arguments.wants_hash)
        printf("%llu %016llx\n", (unsigned long long)seed,
               (unsigned long long)explore.hash);
    return is_good;
}

/* What was seen; how much never was. */
static int print_seen(void)
{
    int never = 0;
#define PRINT(name, text)                                           \
    printf("  %-32s %12lld\n", text, (long long)explore_seen.name); \
    never += explore_seen.name == 0;
    EXPLORE_SEEN(PRINT)
#undef PRINT
    return never;
}

static void print_speed(uint64_t ns)
{
    double schedules = (double)explore_seen.schedules;
    printf("%lld schedules, %.0f per second; %.0f events each, at most %lld; "
           "longest wait %.2f of what is allowed\n",
           (long long)explore_seen.schedules, schedules * 1e9 / (double)ns,
           (double)explore_seen.events / schedules,
           (long long)explore_seen.most_events, explore_seen.longest);
}

/* A step that hangs, or does what no program may: of which seed. */
static void on_abort(int signal_number)
{
    char text[600];
    int n =
        snprintf(text, sizeof text, "seed %llu: %s %d\n",
                 (unsigned long long)scenario.seed,
                 signal_number == SIGALRM ? "a step hangs, signal" : "signal",
                 signal_number);
    n += write_replay(text + n, sizeof text - (size_t)n, scenario.seed);
    n = n < (int)sizeof text ? n : (int)sizeof text - 1;
    if (write(2, text, (size_t)n) < 0)
        _exit(2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], on_abort);
}

int main(int argc, char **argv)
{
    arguments.program = argv[0];
    for (int i = 1; i < argc;) {
        int words = parse_option(argv + i);
        if (words == 0)
            return 2;
        i += words;
    }
    if (!arguments.has_seeds) {
        misuse("there are no seeds: --seeds or --replay is missing");
        return 2;
    }
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    catch_signals();
    explore.is_traced = explore.is_thorough = arguments.is_replay;
    uint64_t start = eki_clock_system_ns();
    bool is_good = true;
    for (uint64_t seed = arguments.first; is_good && seed <= arguments.last;
         seed++)
        is_good = run_seed(seed);
    if (!arguments.wants_hash)
        print_speed(eki_clock_system_ns() - start);
    int never = arguments.is_replay || arguments.wants_hash ? 0 : print_seen();
    if (never > 0 && arguments.wants_all) {
        printf("%d of these were never seen\n", never);
        is_good = false;
    }
    explore_free(&explore);
    return !is_good;
}
