/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/modes.h"

#include <stdlib.h>
#include <string.h>

static const struct mode usual_modes[] = {
    {"static", "original", "none", false, false, false, false},
    {"counter", "original", "counter", true, false, false, false},
    {"StealAll", "original", "random", true, true, false, false},
    {"Steal", "original", "random", false, false, false, false},
    {"StealRet", "retain", "random", false, false, false, false},
    {"centralized", "centralized", "none", false, false, false, false},
    {"hierarchical", "hierarchical", "none", false, false, false, false},
    {"central.-12", "centralized-hpdc12", "none", false, false, false, false},
    {"hierarch.-12", "hierarchical-hpdc12", "none", false, false, false, false},
    {"auto", "auto", "random", false, false, false, false},
};

static const struct mode *compared_modes = usual_modes;
static int compared_count = sizeof usual_modes / sizeof *usual_modes;

void modes_use(const struct mode *modes, int count)
{
    compared_modes = modes;
    compared_count = count;
}

struct mode mode_find(const char *name, const char *steal)
{
    struct mode mode = {.name = name, .restore = name};
    for (int i = 0; i < compared_count; i++) {
        if (strcmp(name, compared_modes[i].name) == 0)
            mode = compared_modes[i];
    }
    if (steal)
        mode.steal = steal;
    return mode;
}

/* The mode that WORD, which is cut, names. */
static struct mode mode_read(char *word)
{
    char *name = word, *plus = strchr(word, '+');
    struct mode mode = mode_find(word, NULL);
    if (!mode.steal)
        mode.steal = "random"; /* the library's default */
    if (!plus)
        return mode;
    /* The name stays whole. */
    char *restore = name + strlen(name) + 1;
    memcpy(restore, word, (size_t)(plus - word));
    restore[plus - word] = '\0';
    return (struct mode){.name = name, .restore = restore, .steal = plus + 1};
}

bool modes_read(const char *text, mode_check_fn *check, struct mode_list *list,
                struct message *message)
{
    *list = (struct mode_list){0};
    if (!text) {
        list->modes = allocate((size_t)compared_count, sizeof *list->modes);
        list->count = compared_count;
        memcpy(list->modes, compared_modes,
               (size_t)compared_count * sizeof *list->modes);
        return true;
    }
    /* Each word, and again its first part. */
    size_t bytes = strlen(text) + 1;
    list->words = allocate(2, bytes + 1);
    list->modes = allocate(bytes, sizeof *list->modes);
    char *to = list->words;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        struct mode *mode = &list->modes[list->count++];
        memcpy(to, at, length);
        *mode = mode_read(to);
        if (!check(mode, message))
            return false;
        to += 2 * (length + 1);
        at += length;
        if (*at == '\0')
            return true;
    }
}

void modes_free(struct mode_list *list)
{
    free(list->modes);
    free(list->words);
    *list = (struct mode_list){0};
}

const char *mode_names(void)
{
    static char names[200];
    size_t bytes = 0;
    for (int i = 0; i < compared_count && bytes < sizeof names; i++)
        bytes += (size_t)snprintf(names + bytes, sizeof names - bytes, "%s%s",
                                  i > 0 ? ", " : "", compared_modes[i].name);
    return names;
}

/* What its policies do not say. */
static const char *remark_on(const struct mode *mode)
{
    if (mode->is_by_hand)
        return "; work is moved by hand";
    if (mode->has_follow)
        return "; data moves for good";
    return mode->is_anew ? "; all tasks anew in each iteration" : "";
}

void modes_help(FILE *stream)
{
    fprintf(stream, "\nModes of --compare, and their restore and steal "
                    "policies:\n");
    for (int i = 0; i < compared_count; i++) {
        const struct mode *mode = &compared_modes[i];
        fprintf(stream, "  %-14s %s, %s%s\n", mode->name, mode->restore,
                mode->steal, remark_on(mode));
    }
}
