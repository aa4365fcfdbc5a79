#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# site.sh DOXYGEN DOXYFILE: the site builds, every public name is documented in
# it and every link is resolved, and no page loads anything from elsewhere.
set -u
doxygen=$1 doxyfile=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

{
    cat "$doxyfile"
    echo "OUTPUT_DIRECTORY = $folder"
} | "$doxygen" - >"$folder/out" 2>&1
if [ -s "$folder/out" ]; then
    cat "$folder/out"
    status=1
fi
for page in index.html evenkeel_8h.html search/search.js; do
    [ -s "$folder/site/$page" ] || {
        echo "no $page"
        status=1
    }
done
if grep -rnE '(src=|<link [^>]*href=|url\()"?(https?:)?//' "$folder/site"; then
    echo "pages that load something from elsewhere"
    status=1
fi
exit $status
