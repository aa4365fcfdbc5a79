#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""references.py BUILD [--write]: tables in documents are those of the programs.

A document has a program's output between <!-- begin WORDS --> and <!-- end -->:
that of `print_references WORDS`, the --help of the tool WORDS, or, for
`migrate NAME`, the differences of two programs.  --write puts it there;
otherwise it must be there.  Without the tools in BUILD, their parts
are not looked at.
"""

import difflib
import pathlib
import re
import subprocess
import sys

import documents

MARKED = re.compile(r"(<!-- begin ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.S)


def run(program, *arguments):
    """What the program prints; None: there is no such program."""
    if not program.exists():
        return None
    return subprocess.run([program, *arguments], capture_output=True, text=True,
                          check=True).stdout


def generated(build, words):
    """What belongs between the markers."""
    if words.startswith("migrate "):
        return run(documents.ROOT / "examples/migrate/show-diffs",
                   words.removeprefix("migrate "))
    if not words.startswith("ek-"):
        return run(build / "tests/structure/print_references", *words.split())
    said = run(build / "tools" / words / words, "--help")
    if said is None:
        return None
    # Where documents are installed to.
    said = re.sub(r"^\S*/(?=docs/\S+\.md\b)", "", said, flags=re.M)
    return f"```text\n{said}```\n"


def main():
    """Compare or write all documents."""
    build = pathlib.Path(sys.argv[1]).resolve()
    is_to_write = sys.argv[2:] == ["--write"]
    count, status = 0, 0
    for page in documents.documents():
        path = documents.ROOT / page
        text = path.read_text(encoding="utf-8")

        def renew(match):
            nonlocal count
            said = generated(build, match[2])
            if said is None:
                print(f"{page}: not built, and not compared: {match[2]}")
                return match[0]
            count += 1
            return match[1] + said + match[4]

        new = MARKED.sub(renew, text)
        if new == text:
            continue
        if is_to_write:
            path.write_text(new, encoding="utf-8")
            continue
        status = 1
        sys.stdout.writelines(difflib.unified_diff(
            text.splitlines(True), new.splitlines(True), str(page), "programs",
            n=0))
        print(f"{page}: tests/structure/references.py {build} --write")
    print(f"{count} parts of documents come from programs")
    return status or count == 0


if __name__ == "__main__":
    sys.exit(main())
