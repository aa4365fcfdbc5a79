# SPDX-License-Identifier: BSD-3-Clause
# embed.py FILE...: C that has the text of each file, page.css as page_css.
import pathlib
import sys

print('#include "report.h"')
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    lines = path.read_text(encoding="utf-8").splitlines(True)
    print(f"const char {path.name.replace('.', '_')}[] =")
    for line in lines:
        quoted = line.replace("\\", "\\\\").replace('"', '\\"')
        print('"' + quoted.replace("\n", "\\n") + '"')
    print(";")
