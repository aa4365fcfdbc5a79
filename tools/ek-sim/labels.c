/* SPDX-License-Identifier: BSD-3-Clause */
#include "labels.h"

#include <errno.h>
#include <string.h>

void fill_titles(struct label *label)
{
    static const char *const keys[LABELS] = {
        "workload", "machine", "cores", "seed", "mode", "iteration"};
    for (int i = 0; i < LABELS; i++)
        label[i] = (struct label){.key = keys[i]};
}

void fill_labels(struct label *label, const struct run *run, int seed,
                 const char *mode, int iteration)
{
    fill_titles(label);
    label[0].text = run->name;
    label[1].text = run->machine.name;
    label[2].number = run->cores;
    label[3].number = seed;
    label[3].is_absent = seed < 0;
    label[4].text = mode;
    label[5].number = iteration;
}

FILE *rows_open(const char *path, const char *columns, struct message *message)
{
    struct label label[LABELS];
    FILE *file = fopen(path, "w");
    if (!file) {
        message_set(message, "cannot write '%.300s': %s", path,
                    strerror(errno));
        return NULL;
    }
    fill_titles(label);
    labels_csv_head(&(struct labels){label, LABELS}, file);
    fprintf(file, ",%s\n", columns);
    return file;
}

bool rows_close(FILE *file, const char *option, struct message *message)
{
    bool is_good = !ferror(file);
    if (fclose(file) != 0 || !is_good)
        return message_set(message, "could not write all of %s", option);
    return true;
}
