/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU quota of the process: cpu.max of control groups of version 2,
 * cpu.cfs_quota_us of version 1.  Each group above may have one, and the least
 * counts.  A container may see only the root of its path.
 */
#define _GNU_SOURCE
#include "team/team.h"

#include <limits.h>

/* Read up to two numbers at the head of a file; returns how many. */
static int read_numbers(const char *folder, const char *file, double *numbers)
{
    char name[2 * PATH_MAX + 32]; /* the folder and the file */
    snprintf(name, sizeof name, "%s/%s", folder, file);
    FILE *stream = fopen(name, "re");
    int count =
        stream ? fscanf(stream, "%lf %lf", &numbers[0], &numbers[1]) : 0;
    if (stream)
        fclose(stream);
    return count;
}

/* CPUs of a group; 0: as many as there are. */
static double quota_of_group(const char *folder)
{
    double quota[2] = {0}, period[2] = {0};
    if (read_numbers(folder, "cpu.max", quota) == 2)
        period[0] = quota[1];
    else if (read_numbers(folder, "cpu.cfs_quota_us", quota) == 1)
        read_numbers(folder, "cpu.cfs_period_us", period);
    return quota[0] > 0 && period[0] > 0 ? quota[0] / period[0] : 0;
}

/* The group PATH and those above it, which are folders in MOUNT. */
static void look_upwards(const char *mount, const char *path,
                         struct eki_quota *quota)
{
    char folder[2 * PATH_MAX];
    size_t least = strlen(mount);
    snprintf(folder, sizeof folder, "%s%s", mount, path);
    for (char *end; strlen(folder) >= least; *end = '\0') {
        double cpus = quota_of_group(folder);
        if (cpus > 0 && (quota->cpus == 0 || cpus < quota->cpus)) {
            quota->cpus = cpus;
            quota->group = eki_hash_text(0, folder);
        }
        end = strrchr(folder, '/');
        if (!end)
            return;
    }
}

/* LINE of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH; version 2 names no
 * controllers. */
static void look_at_line(const char *root, char *line, struct eki_quota *quota)
{
    char mount[2 * PATH_MAX];
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    controllers++;
    bool is_version_2 = *controllers == '\0', has_cpu = false;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root,
             is_version_2 ? "" : "/", controllers);
    for (char *rest = NULL, *word = strtok_r(controllers, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        has_cpu |= strcmp(word, "cpu") == 0;
    if (!is_version_2 && !has_cpu)
        return;
    look_upwards(mount, path, quota);
    if (is_version_2)
        return;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/cpu", root);
    look_upwards(mount, path, quota);
}

void eki_quota_read(const char *root, struct eki_quota *quota)
{
    char line[PATH_MAX];
    *quota = (struct eki_quota){0};
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file))
        look_at_line(root, line, quota);
    if (file)
        fclose(file);
}
