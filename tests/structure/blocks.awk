# SPDX-License-Identifier: BSD-3-Clause
# awk -v folder=FOLDER -f blocks.awk DOCUMENT...: blocks of C, a file for each.
/^```c( .*)?$/ {
    name = FILENAME "." FNR
    gsub("/", "-", name)
    next
}
/^```$/ { name = "" }
name != "" { print > (folder "/" name ".c") }
