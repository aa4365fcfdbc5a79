/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdicts.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 100,
    BYTES = 600
};

void verdict_print(const char *text)
{
    printf("\n");
    while (*text) {
        int bytes = (int)strlen(text);
        if (bytes > WIDTH) {
            for (bytes = WIDTH; bytes > 1 && text[bytes] != ' '; bytes--)
                ;
        }
        printf("%.*s\n", bytes, text);
        text += bytes;
        text += strspn(text, " ");
    }
}

void verdict_print_tasks(const char *prefix, const float *seconds,
                         int64_t count, int workers)
{
    struct eki_verdict_tasks tasks = {.tasks = count, .workers = workers};
    char text[BYTES] = "";
    for (int64_t k = 0; k < count; k++) {
        tasks.sum_s += seconds[k];
        if (seconds[k] > tasks.longest_s)
            tasks.longest_s = seconds[k];
    }
    for (int64_t k = 0; k < count; k++)
        tasks.above += seconds[k] > tasks.sum_s / workers;
    snprintf(text, sizeof text, "%s", prefix);
    if (eki_verdict_tasks(&tasks, text, sizeof text))
        verdict_print(text);
}

/* Over the iterations that count. */
static double median_of(double *seconds, int figure, int iterations)
{
    int first = iterations > 1;
    return eki_verdict_median(seconds + (ptrdiff_t)figure * iterations + first,
                              iterations - first);
}

void compared_add(struct compared *compared, const struct mode *mode,
                  double *seconds, int iterations)
{
    if (!eki_grow(&compared->modes, compared->count, &compared->room, 8,
                  sizeof *compared->modes))
        return;
    compared->modes[compared->count++] = (struct eki_verdict_mode){
        .name = mode->name,
        .restore = mode->restore,
        .steal = mode->steal,
        .iteration_s = median_of(seconds, COMPARED_ITERATION, iterations),
        .restore_s = median_of(seconds, COMPARED_RESTORE, iterations)};
    compared->bound_s = median_of(seconds, COMPARED_BOUND, iterations);
}

void compared_end(struct compared *compared)
{
    char text[BYTES] = "";
    eki_verdict_modes(compared->modes, compared->count, compared->bound_s, text,
                      sizeof text);
    if (text[0])
        verdict_print(text);
    free(compared->modes);
    *compared = (struct compared){0};
}
