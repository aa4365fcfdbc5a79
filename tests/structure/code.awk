# SPDX-License-Identifier: BSD-3-Clause
# C without comments and without what stands in strings, line by line as
#
#     FILE:LINE: CODE
#
# With -v strings=1 strings stay (names of included files).
FNR == 1 {
    in_comment = 0
}

{
    code = ""
    quote = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (c == "\\")
                i++
            else if (c == quote)
                quote = ""
            if (strings || quote == "")
                code = code c
        } else if (two == "/*") {
            in_comment = 1
            i++
        } else if (two == "//") {
            break
        } else {
            if (c == "\"" || c == "'")
                quote = c
            code = code c
        }
    }
    if (code ~ /[^ \t]/)
        print FILENAME ":" FNR ": " code
}
