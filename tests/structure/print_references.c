/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Print a table that the library works from, as documents show it:
 *
 *     print_references fields | texts | environment | levels | figures |
 *                      ranks | functions
 */
#define _POSIX_C_SOURCE 200809L /* setenv() */
#include "base/options.h"
#include "report/report.h"

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
            printf("| `%s` | `%s` |\n", variable, row->field.name);
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

static int print_figures(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    puts("| figure | unit | meaning |\n|---|---|---|");
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *row = &table->fields[i];
        printf("| `%s` | %s | %s |\n", row->name, row->unit, row->help);
    }
    return EXIT_SUCCESS;
}

/* As lines of a document. */
static int print_columns(enum eki_rows rows)
{
    const struct eki_report_table *table = eki_report_table_of(rows);
    int column = 0;
    for (int i = 0; i < table->count; i++) {
        int bytes = (int)strlen(table->fields[i].name) + 4;
        if (column + bytes > 100)
            column = 0;
        if (i > 0)
            printf(column > 0 ? " " : "\n");
        printf("`%s`%s", table->fields[i].name,
               i + 1 < table->count ? "," : ".\n");
        column += bytes;
    }
    return EXIT_SUCCESS;
}

static int print_ranks(void)
{
    return print_columns(EKI_ROWS_RANKS);
}

static int print_functions(void)
{
    return print_columns(EKI_ROWS_FUNCTIONS);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*print)(void);
    } tables[] = {{"fields", print_fields},           {"texts", print_texts},
                  {"environment", print_environment}, {"levels", print_levels},
                  {"figures", print_figures},         {"ranks", print_ranks},
                  {"functions", print_functions}};
    for (size_t i = 0; argc == 2 && i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(argv[1], tables[i].name) == 0)
            return tables[i].print() + (fflush(stdout) != 0);
    }
    fprintf(stderr, "usage: print_references fields | texts | environment | "
                    "levels | figures | ranks | functions\n");
    return 2;
}
