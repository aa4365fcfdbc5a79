/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files: what is written is read; what is wrong is said, with its line.
 */
#define _GNU_SOURCE
#include "check.h"
#include "sim/machine.h"

#include <unistd.h>

static char path[64];

/* Write a file of BYTES. */
static void write_bytes(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    fwrite(text, 1, bytes, file);
    fclose(file);
}

static ek_status read_text(const char *text, struct eki_machine *machine)
{
    write_bytes(text, strlen(text));
    return eki_machine_read(path, machine);
}

static struct eki_machine preset(const char *name)
{
    struct eki_machine machine = {.node_ranks = 1};
    if (!CHECK(eki_machine_preset(name, &machine)))
        fprintf(stderr, "    preset %s\n", name);
    return machine;
}

/* Call WORK for each name of the list of presets; returns how many. */
static int each_preset(void (*work)(const char *name))
{
    const char *at = eki_machine_presets();
    int count = 0;
    while (*at != '\0') {
        char name[64];
        size_t bytes = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)bytes, at);
        work(name);
        count++;
        at += bytes + strspn(at + bytes, ", ");
    }
    return count;
}

/* Equal but for rounding of one in a billion. */
#define CHECK_SAME(field) \
    CHECK_NEAR(read.field, machine.field, 1e-9 * machine.field)

static void round_trip(const char *name)
{
    struct eki_machine machine = preset(name), read = {.node_ranks = 1};
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL))
        return;
    eki_machine_write(&machine, file);
    fclose(file);
    if (!CHECK_OK(eki_machine_read(path, &read)))
        fprintf(stderr, "    %s\n", ek_error_message());
    CHECK_EQ_TEXT(read.name, name);
    CHECK_EQ_INT(read.node_cores, machine.node_cores);
    CHECK_EQ_INT(read.node_ranks, machine.node_ranks);
    CHECK_EQ_INT(read.has_server, machine.has_server);
    CHECK_EQ_INT(read.is_crowded, machine.is_crowded);
    CHECK_SAME(latency);
    CHECK_SAME(send);
    CHECK_SAME(gap);
    CHECK_SAME(byte);
    CHECK_SAME(handle);
    CHECK_SAME(poll);
    CHECK_SAME(poll_period);
    CHECK_SAME(probe);
    CHECK_SAME(atomic);
    CHECK_SAME(copy_byte);
    CHECK_SAME(rma);
    CHECK_SAME(rma_byte);
    CHECK_SAME(rma_atomic);
    CHECK_SAME(task);
    CHECK_SAME(restore);
    CHECK_SAME(balance);
}

static void presets_are_read_as_written(void)
{
    CHECK_EQ_INT(each_preset(round_trip), 10);
}

static void is_sane(const char *name)
{
    struct eki_machine machine = preset(name);
    CHECK_EQ_INT(machine.node_cores % machine.node_ranks, 0);
    CHECK(eki_machine_workers(&machine) >= 1);
    CHECK(machine.latency > 0 && machine.send > 0);
    CHECK(machine.gap > 0 && machine.byte > 0 && machine.handle > 0);
    CHECK(machine.poll > 0 && machine.poll_period >= 20000);
    CHECK(machine.poll_period >= 75 * machine.poll);
    CHECK(machine.probe > 0 && machine.atomic > 0 && machine.copy_byte > 0);
    CHECK(machine.rma > machine.rma_atomic && machine.rma_atomic > 0);
    CHECK(machine.rma_byte > 0 && machine.rma_byte <= machine.byte);
    CHECK(machine.task > 0 && machine.restore > 0 && machine.balance > 0);
    CHECK(machine.handle >= machine.send);
}

static void presets_are_sane(void)
{
    struct eki_machine machine;
    each_preset(is_sane);
    CHECK(!eki_machine_preset("atlantis", &machine));
    CHECK(!eki_machine_preset("", &machine));
}

static void presets_have_the_workers_of_the_paper(void)
{
    struct eki_machine machine = preset("hopper");
    CHECK_EQ_INT(eki_machine_workers(&machine), 23);
    machine = preset("titan");
    CHECK_EQ_INT(eki_machine_workers(&machine), 15);
    machine = preset("intrepid");
    CHECK_EQ_INT(eki_machine_workers(&machine), 3);
    machine = preset("tcp");
    CHECK_EQ_INT(eki_machine_workers(&machine), 16);
}

static void keys_are_read_with_units(void)
{
    struct eki_machine machine = preset("hopper");
    CHECK_OK(read_text("# a comment\n"
                       "\n"
                       "name my.cluster-1\n"
                       "latency 1.5 us # and another\n"
                       "  send\t300   ns\n"
                       "poll 0.5e-6 s#close\n"
                       "gap 0.001 ms\n"
                       "bandwidth 5 GB/s\n"
                       "copy_bandwidth 500 MB/s\n"
                       "node_cores 48\n"
                       "node_ranks 2\n"
                       "progress polling\n"
                       "crowded yes\n",
                       &machine));
    CHECK_EQ_TEXT(machine.name, "my.cluster-1");
    CHECK_NEAR(machine.latency, 1500, 1e-9);
    CHECK_NEAR(machine.send, 300, 1e-9);
    CHECK_NEAR(machine.poll, 500, 1e-9);
    CHECK_NEAR(machine.gap, 1000, 1e-9);
    CHECK_NEAR(machine.byte, 0.2, 1e-12);
    CHECK_NEAR(machine.copy_byte, 2, 1e-12);
    CHECK_EQ_INT(machine.has_server, 0);
    CHECK_EQ_INT(machine.is_crowded, 1);
    CHECK_EQ_INT(eki_machine_workers(&machine), 24);
    CHECK_NEAR(machine.handle, 10000, 0);
}

static void like_starts_from_a_preset(void)
{
    struct eki_machine machine = preset("tcp"), titan = preset("titan");
    CHECK_OK(read_text("# mine\nlike titan\ntask 1 us\n", &machine));
    CHECK_EQ_TEXT(machine.name, "titan");
    CHECK_NEAR(machine.task, 1000, 0);
    CHECK_NEAR(machine.latency, titan.latency, 0);
    CHECK_EQ_INT(eki_machine_workers(&machine), 15);
}

static void line_ends_do_not_matter(void)
{
    struct eki_machine machine = preset("hopper");
    CHECK_OK(read_text("send 1 us\r\n\r\npoll 2 us\r\ngap 3 us", &machine));
    CHECK_NEAR(machine.send, 1000, 0);
    CHECK_NEAR(machine.poll, 2000, 0);
    CHECK_NEAR(machine.gap, 3000, 0);
    CHECK_OK(read_text("", &machine));
    CHECK_OK(read_text("\n", &machine));
    CHECK_OK(read_text("# only a comment", &machine));
    CHECK_OK(read_text("progress server", &machine));
    CHECK_EQ_INT(machine.has_server, 1);
}

/* TEXT is refused for WHY in LINE, and nothing has changed. */
static void check_refused(const char *text, int line, const char *why)
{
    struct eki_machine machine = preset("hopper"), before = machine;
    char place[16];
    snprintf(place, sizeof place, "line %d: ", line);
    bool passed = CHECK_EQ_INT(read_text(text, &machine), EK_ERR_FILE);
    passed &= CHECK_HAS_TEXT(ek_error_message(), path);
    passed &= CHECK_HAS_TEXT(ek_error_message(), place);
    passed &= CHECK_HAS_TEXT(ek_error_message(), why);
    passed &= CHECK(memcmp(&machine, &before, sizeof machine) == 0);
    if (!passed)
        fprintf(stderr, "    of '%s'\n", text);
}

static void wrong_keys_are_refused(void)
{
    check_refused("send 1 us\n\nspeed 3 us\n", 3,
                  "unknown key 'speed'; allowed: like, name, node_cores, "
                  "node_ranks, progress, crowded, latency, send, ");
    check_refused("send 1 us\nsend 1 us\n", 2,
                  "send is given again; it was in line 1");
    check_refused("Send 1 us\n", 1, "unknown key 'Send'");
    check_refused("send", 1, "send has no value");
    check_refused("send 1 us 2", 1, "unexpected '2'");
    check_refused("send 1 us and so on", 1, "unexpected 'and so on'");
    check_refused("crowded yes please", 1, "unexpected 'please'");
    check_refused("node_cores 4 cores", 1, "unexpected 'cores'");
    check_refused("send 1 us\nlike titan\n", 2, "like must be the first");
    check_refused("like titan\nlike titan\n", 2, "like must be the first");
    check_refused("like atlantis\n", 1,
                  "unknown machine 'atlantis'; allowed: this, hopper, ");
    check_refused("like\n", 1, "like has no value");
}

static void wrong_units_are_refused(void)
{
    check_refused("latency 2 lightyears", 1,
                  "unknown unit 'lightyears'; allowed: ns, us, ms, s");
    check_refused("latency 2", 1, "has no unit; allowed: ns, us, ms, s");
    check_refused("latency 2 GB/s", 1, "unknown unit 'GB/s'");
    check_refused("bandwidth 2 Gb/s", 1,
                  "unknown unit 'Gb/s'; allowed: MB/s, GB/s");
    check_refused("bandwidth 2", 1, "has no unit; allowed: MB/s, GB/s");
    check_refused("latency 2us", 1, "'2us' is not allowed");
}

static void wrong_values_are_refused(void)
{
    static const char *const numbers[] = {"x",   "-",   "1e", "nan", "inf",
                                          "0x1", "1,5", "-1", "2e9", "1e999"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[64], why[64];
        snprintf(text, sizeof text, "latency %s ns", numbers[i]);
        snprintf(why, sizeof why, "latency '%s ns' is not allowed", numbers[i]);
        check_refused(text, 1, why);
        check_refused(text, 1, "allowed: 0 ns ... 1 s");
    }
    check_refused("latency 2 s", 1, "allowed: 0 ns ... 1 s");
    check_refused("bandwidth 0 GB/s", 1,
                  "allowed: 0.001 MB/s ... 1000000 GB/s");
    check_refused("bandwidth 2000000 GB/s", 1, "is not allowed");
    check_refused("probe 0.5 ns", 1, "allowed: 1 ns ... 1 s");
    check_refused("node_cores 0", 1, "allowed: 1 ... 65536");
    check_refused("node_cores 1.5", 1, "allowed: 1 ... 65536");
    check_refused("node_ranks 65537", 1, "allowed: 1 ... 65536");
    check_refused("progress magic", 1, "allowed: polling, server");
    check_refused("crowded 1", 1, "allowed: no, yes");
    check_refused("name a/b", 1, "allowed: 1 to 63 characters");
}

static void cores_and_ranks_must_agree(void)
{
    check_refused("node_ranks 5\n# end\n", 1,
                  "node_cores 24 cannot be divided among node_ranks 5");
    check_refused("node_ranks 2\nsend 1 us\nnode_cores 5\n", 3,
                  "node_cores 5 cannot be divided among node_ranks 2");
    check_refused("node_cores 1\n", 1, "no worker is left");
    check_refused("node_ranks 24\nprogress server\n", 2, "no worker is left");
    struct eki_machine machine = preset("hopper");
    CHECK_OK(read_text("node_ranks 24\nprogress polling", &machine));
    CHECK_EQ_INT(eki_machine_workers(&machine), 1);
}

static void junk_is_refused(void)
{
    struct eki_machine machine = preset("hopper");
    static char text[100000];
    memset(text, 'x', sizeof text - 1);
    check_refused(text, 1, "the line is too long");
    memset(text, '\n', 1000);
    check_refused(text, 1001, "the line is too long");
    memset(text, '#', sizeof text - 1);
    CHECK_OK(read_text(text, &machine));
    write_bytes("send 1 us\n\0\0", 12);
    CHECK_EQ_INT(eki_machine_read(path, &machine), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "line 2: a NUL byte");
    CHECK_EQ_INT(eki_machine_read("/", &machine), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "cannot read '/'");
    CHECK_EQ_INT(eki_machine_read("/nowhere/at/all", &machine), EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), "cannot read '/nowhere/at/all'");
}

/* Whatever comes: an answer, and no harm. */
static void noise_is_survived(void)
{
    static const char letters[] = "like send name 1us GB/s#\n\r\t.-e";
    struct eki_random random;
    struct eki_machine machine = preset("hopper");
    eki_random_seed(&random, 1, 0);
    for (int i = 0; i < 300; i++) {
        char text[200];
        for (size_t b = 0; b < sizeof text; b++)
            text[b] = letters[eki_random_below(&random, sizeof letters - 1)];
        text[eki_random_below(&random, sizeof text)] =
            (char)eki_random_below(&random, 256);
        write_bytes(text, sizeof text);
        ek_status status = eki_machine_read(path, &machine);
        CHECK(status == EK_OK || status == EK_ERR_FILE);
    }
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/test_machine.%d", (int)getpid());
    RUN(presets_are_read_as_written);
    RUN(presets_are_sane);
    RUN(presets_have_the_workers_of_the_paper);
    RUN(keys_are_read_with_units);
    RUN(like_starts_from_a_preset);
    RUN(line_ends_do_not_matter);
    RUN(wrong_keys_are_refused);
    RUN(wrong_units_are_refused);
    RUN(wrong_values_are_refused);
    RUN(cores_and_ranks_must_agree);
    RUN(junk_is_refused);
    RUN(noise_is_survived);
    unlink(path);
    return check_result();
}
