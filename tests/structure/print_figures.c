/* SPDX-License-Identifier: BSD-3-Clause */
/* Print the table of figures that reports are made from, as Markdown. */
#include "report/report.h"

int main(void)
{
    const struct eki_report_table *table = eki_report_table_of(EKI_ROWS_JOB);
    puts("| figure | unit | meaning |\n|---|---|---|");
    for (int i = 0; i < table->count; i++) {
        const struct eki_field *row = &table->fields[i];
        printf("| `%s` | %s | %s |\n", row->name, row->unit, row->help);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
