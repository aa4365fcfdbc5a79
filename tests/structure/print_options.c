/* SPDX-License-Identifier: BSD-3-Clause */
/* Print the option table that the library works from. */
#include "base/base.h"

int main(void)
{
    eki_option_table(stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
