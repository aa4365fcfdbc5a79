/* SPDX-License-Identifier: BSD-3-Clause */
/* Print the option table that the library works from: the README's. */
#include "base/options.h"

static void print_row(const struct eki_settings *defaults, int option)
{
    const struct eki_option *row = eki_option_at(option);
    char variable[64] = "", allowed[256] = "", value[EKI_OPTION_BYTES];
    if (row->traits & EKI_HAS_VARIABLE)
        eki_option_variable(option, variable, sizeof variable);
    eki_field_append_allowed(&row->field, allowed, sizeof allowed);
    eki_option_part(option, defaults, 0, value, sizeof value);
    printf("| %s | %s | %s | %s | %s | %s | %s |\n", row->field.name, variable,
           allowed, value, row->traits & EKI_AGREES ? "yes" : "no",
           row->traits & EKI_SETTABLE ? "yes" : "no", row->field.help);
}

int main(void)
{
    struct eki_settings defaults;
    if (eki_settings_resolve(&(ek_options){.struct_bytes = sizeof(ek_options),
                                           .ignore_environment = true},
                             &defaults) != EK_OK)
        return 1;
    puts("| option | variable | allowed | default | same on all ranks "
         "| ek_set_option() | meaning |\n|---|---|---|---|---|---|---|");
    for (int i = 0; i < eki_option_count(); i++)
        print_row(&defaults, i);
    return fflush(stdout) == 0 ? 0 : 1;
}
