/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Print a table that the library works from, as documents show it:
 *
 *     print_references fields | texts | environment | levels
 */
#define _POSIX_C_SOURCE 200809L /* setenv() */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

static void print_option(int option, const struct eki_settings *defaults)
{
    const struct eki_option *row = eki_option_at(option);
    char allowed[256] = "", value[EKI_OPTION_BYTES];
    eki_field_append_allowed(&row->field, allowed, sizeof allowed);
    eki_option_part(option, defaults, 0, value, sizeof value);
    printf("| `%s` | %s | `%s` | %s | %s | %s |\n", row->field.name, allowed,
           value, row->traits & EKI_AGREES ? "yes" : "no",
           row->traits & EKI_SETTABLE ? "yes" : "no", row->field.help);
}

static int print_options(bool are_texts)
{
    const struct eki_settings defaults = {.options = eki_option_defaults};
    puts("| option | allowed | default | same on all ranks "
         "| `ek_set_option()` | meaning |\n|---|---|---|---|---|---|");
    for (int i = 0; i < eki_option_count(); i++) {
        size_t at = eki_option_at(i)->given;
        if ((at >= offsetof(ek_options, text_only)) == are_texts)
            print_option(i, &defaults);
    }
    return EXIT_SUCCESS;
}

static int print_fields(void)
{
    return print_options(false);
}

static int print_texts(void)
{
    return print_options(true);
}

static int print_environment(void)
{
    puts("| variable | option |\n|---|---|");
    for (int i = 0; i < eki_option_count(); i++) {
        const struct eki_option *row = eki_option_at(i);
        char variable[64];
        eki_option_variable(i, variable, sizeof variable);
        if (row->traits & EKI_HAS_VARIABLE)
            printf("| `%s` | `%s`: %s |\n", variable, row->field.name,
                   row->field.help);
    }
    return EXIT_SUCCESS;
}

/* The message about a level that is not allowed names those that are. */
static int print_levels(void)
{
    static const char variable[] = "EVENKEEL_LOG", before[] = "allowed: ";
    struct eki_settings settings;
    setenv(variable, "?", 1);
    ek_status status = eki_settings_resolve(NULL, &settings);
    const char *levels = strstr(ek_error_message(), before);
    if (status != EK_ERR_ARG || !levels)
        return EXIT_FAILURE;
    printf("`%s`: %s\n", variable, levels + sizeof before - 1);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*print)(void);
    } tables[] = {{"fields", print_fields},
                  {"texts", print_texts},
                  {"environment", print_environment},
                  {"levels", print_levels}};
    for (size_t i = 0; argc == 2 && i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(argv[1], tables[i].name) == 0)
            return tables[i].print() + (fflush(stdout) != 0);
    }
    fprintf(stderr,
            "usage: print_references fields | texts | environment | levels\n");
    return 2;
}
