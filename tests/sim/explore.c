/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Run schedules drawn from seeds:
 *
 *     explore --seeds A-B [--profile NAME] [--plant NAME] [--all-seen]
 *     explore --replay SEED [--profile NAME] [--plant NAME]
 *
 * A failure prints the seed, what was wrong, and how to replay it; a replay
 * prints every event.  With --all-seen it is a failure, too, if anything that
 * should happen now and then never did.
 */
#include "explore.h"
#include "plants.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *program;
    uint64_t first, last;
    enum explore_profile profile;
    const char *plant;
    bool is_replay, wants_all, has_seeds;
};

static struct explore explore;
static struct explore_scenario scenario;

static int misuse(const char *what)
{
    fprintf(stderr,
            "explore: %s\n"
            "usage: explore --seeds A-B | --replay SEED [--profile small | "
            "large | storm | lean] [--plant NAME] [--all-seen]\n",
            what);
    return 2;
}

static bool parse_seeds(const char *text, struct arguments *arguments)
{
    char *end;
    arguments->first = arguments->last = strtoull(text, &end, 0);
    if (end != text && *end == '-')
        arguments->last = strtoull(end + 1, &end, 0);
    arguments->has_seeds = true;
    return end != text && *end == '\0' && arguments->first <= arguments->last;
}

/* One option; how many words it takes, 0: it is wrong. */
static int parse_option(char **words, struct arguments *arguments)
{
    const char *value = words[1];
    if (strcmp(words[0], "--all-seen") == 0) {
        arguments->wants_all = true;
        return 1;
    }
    if (!value)
        return 0;
    if (strcmp(words[0], "--seeds") == 0)
        return parse_seeds(value, arguments) ? 2 : 0;
    if (strcmp(words[0], "--replay") == 0) {
        arguments->is_replay = true;
        return parse_seeds(value, arguments) ? 2 : 0;
    }
    if (strcmp(words[0], "--plant") == 0) {
        arguments->plant = value;
        return plant(value) ? 2 : 0;
    }
    if (strcmp(words[0], "--profile") == 0) {
        int profile = explore_profile_of(value);
        arguments->profile = (enum explore_profile)profile;
        return profile >= 0 ? 2 : 0;
    }
    return 0;
}

static bool run_seed(uint64_t seed, const struct arguments *arguments)
{
    explore_draw(seed, arguments->profile, &scenario);
    if (explore_run(&explore, &scenario))
        return true;
    fprintf(stderr, "seed %llu, event %lld: %s\n", (unsigned long long)seed,
            explore.sim ? (long long)explore.sim->events : 0,
            explore.ledger.failure);
    explore_print(&explore);
    fprintf(stderr, "replay: %s --profile %s%s%s --replay %llu\n",
            arguments->program, explore_profile_names[arguments->profile],
            arguments->plant ? " --plant " : "",
            arguments->plant ? arguments->plant : "", (unsigned long long)seed);
    return false;
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

static void on_abort(int signal_number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "seed %llu: signal %d\n",
                     (unsigned long long)scenario.seed, signal_number);
    if (write(2, text, (size_t)n) < 0)
        _exit(2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.program = argv[0]};
    for (int i = 1; i < argc;) {
        int words = parse_option(argv + i, &arguments);
        if (words == 0)
            return misuse(argv[i]);
        i += words;
    }
    if (!arguments.has_seeds)
        return misuse("no seeds");
    /* Restores sort with 131 kB of memory each: no mmap for that. */
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    explore.is_traced = explore.is_thorough = arguments.is_replay;
    uint64_t start = eki_clock_system_ns();
    bool is_good = true;
    for (uint64_t seed = arguments.first; is_good && seed <= arguments.last;
         seed++)
        is_good = run_seed(seed, &arguments);
    print_speed(eki_clock_system_ns() - start);
    int never = arguments.is_replay ? 0 : print_seen();
    if (never > 0 && arguments.wants_all) {
        printf("%d of these were never seen\n", never);
        is_good = false;
    }
    explore_free(&explore);
    return !is_good;
}
