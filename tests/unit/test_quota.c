/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU quota of control groups, read below a root of the test's own, and
 * what it means for workers. */
#define _GNU_SOURCE
#include "check.h"
#include "team/team.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/evenkeel-quota-XXXXXX";

/* Write TEXT to a file below the root, in folders that need not exist. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + sizeof root; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
}

static double quota_now(void)
{
    struct eki_quota quota;
    eki_quota_read(root, &quota);
    CHECK((quota.group != 0) == (quota.cpus > 0));
    return quota.cpus;
}

static void there_may_be_none(void)
{
    CHECK_NEAR(quota_now(), 0, 0);
    put("proc/self/cgroup", "nonsense\n0:\n0::/job/step\n");
    CHECK_NEAR(quota_now(), 0, 0);
    put("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/job/cpu.max", "rubbish\n");
    CHECK_NEAR(quota_now(), 0, 0);
}

static void the_least_of_the_groups_above_counts(void)
{
    put("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    CHECK_NEAR(quota_now(), 2.5, 1e-12);
    put("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n");
    CHECK_NEAR(quota_now(), 2.5, 1e-12);
    put("sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
    CHECK_NEAR(quota_now(), 0.5, 1e-12);
    /* Inside of a container only its root is there. */
    put("proc/self/cgroup", "0::/docker/of/the/host\n");
    CHECK_NEAR(quota_now(), 0, 0);
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    CHECK_NEAR(quota_now(), 3, 1e-12);
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
}

static void version_1_has_a_folder_for_its_controllers(void)
{
    put("proc/self/cgroup", "9:name=systemd:/\n4:cpuset:/box\n"
                            "2:cpu,cpuacct:/box/one\n0::/\n");
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpuset/box/cpu.cfs_quota_us", "100000\n");
    put("sys/fs/cgroup/cpuset/box/cpu.cfs_period_us", "100000\n");
    CHECK_NEAR(quota_now(), 0, 0);
    put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n");
    CHECK_NEAR(quota_now(), 1.5, 1e-12);
    put("sys/fs/cgroup/cpu/box/one/cpu.cfs_quota_us", "25000\n");
    put("sys/fs/cgroup/cpu/box/one/cpu.cfs_period_us", "50000\n");
    CHECK_NEAR(quota_now(), 0.5, 1e-12);
}

static void workers_are_no_more_than_the_quota(void)
{
    struct eki_affinity affinity = {
        .cpus = 8, .ranks = 2, .online = 16, .quota_ranks = 1};
    omp_set_num_threads(8);
    CHECK_EQ_INT(eki_team_default_workers(&affinity, 1), 4);
    affinity.quota.cpus = 2.5;
    CHECK_EQ_INT(eki_team_default_workers(&affinity, 1), 2);
    affinity.quota_ranks = 2;
    CHECK_EQ_INT(eki_team_default_workers(&affinity, 1), 1);
    affinity.quota.cpus = 12;
    affinity.quota_ranks = 1;
    CHECK_EQ_INT(eki_team_default_workers(&affinity, 1), 4);
}

static char heard[1024];

static void listen(ek_level level, const char *line, void *context)
{
    (void)level, (void)context;
    eki_append(heard, sizeof heard, "%s\n", line);
}

static void too_small_a_quota_is_said_once(void)
{
    struct eki_fabric fabric = {.rank = 0, .size = 2};
    struct eki_affinity affinity = {.cpus = 8,
                                    .ranks = 1,
                                    .workers = 4,
                                    .quota = {.cpus = 4.5, .group = 1},
                                    .quota_ranks = 2,
                                    .quota_workers = 4};
    char text[256] = "";
    ek_set_sink(listen, NULL, EK_LEVEL_WARN);
    eki_affinity_report(&affinity, &fabric, 2);
    CHECK_EQ_TEXT(heard, "");
    affinity.quota.cpus = 2.5;
    for (int i = 0; i < 2; i++)
        eki_affinity_report(&affinity, &fabric, 2);
    CHECK_EQ_TEXT(heard,
                  "evenkeel 0/2 team: 4 workers of 2 ranks have a CPU quota of "
                  "2.5 CPUs together: the system stops them for a part of each "
                  "period; start fewer, or raise the quota of the container\n");
    ek_set_sink(NULL, NULL, EK_LEVEL_INFO);
    eki_affinity_explain(&affinity, text, sizeof text);
    CHECK_HAS_TEXT(text, "; a CPU quota of 2.5 for 2 ranks");
}

int main(void)
{
    char command[64];
    if (!CHECK(mkdtemp(root) != NULL))
        return check_result();
    RUN(there_may_be_none);
    RUN(the_least_of_the_groups_above_counts);
    RUN(version_1_has_a_folder_for_its_controllers);
    RUN(workers_are_no_more_than_the_quota);
    RUN(too_small_a_quota_is_said_once);
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_EQ_INT(system(command), 0);
    return check_result();
}
