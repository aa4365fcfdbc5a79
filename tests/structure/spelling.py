#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Words of documents, headers and messages are spelled as in American English.

Looks at documents without code, comments of headers, and texts with spaces in
strings of the library and the tools.  words.txt has the words that hunspell does
not know: sorted, each used; `spelling.py --prune` drops those that are not.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import documents

ROOT = documents.ROOT
WORDS = pathlib.Path(__file__).resolve().parent / "words.txt"
SKIPPED = 77

# Names, paths, formats, and numbers with their units.
NO_WORDS = re.compile(r"""
    %[-+0#.*\d]*[lzjth]*[a-zA-Z]     # of printf()
    | \S*[_/=@\\<>{}\[\]]\S*         # names, paths, settings
    | \S*\w\.\w\S* | \w+\(           # fields, files, calls
    | --?[a-z][\w-]*                 # options
    | \b[A-Z]{2,}\w*\b               # placeholders, abbreviations
    | \b\w*\d\w*\b | \b\w*[a-z][A-Z]\w*\b
    """, re.X)
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')


def strings(text):
    """Texts in strings of C that have spaces, as pairs of a line and a text."""
    text = re.sub(r"/\*.*?\*/",
                  lambda comment: "\n" * comment[0].count("\n"), text,
                  flags=re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    for match in STRINGS.finditer(text):
        joined = "".join(STRING.findall(match[0])).replace("\\n", " ")
        if " " in joined:
            yield text.count("\n", 0, match.start()) + 1, joined


def texts():
    """Places, and what stands there, without what is no word."""
    for page in documents.documents():
        if documents.is_generated(page):
            continue
        text = (ROOT / page).read_text(encoding="utf-8")
        for part in documents.parts(text):
            if part.kind not in ("code", "marker", "html"):
                yield f"{page}:{part.line}", documents.prose(part.text, " ")
    for path in sorted((ROOT / "include").glob("*.h*")):
        for line, text in documents.comments(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}", documents.prose(text, " ")
    for folder in ("cli", "src", "tools"):
        for path in sorted((ROOT / folder).rglob("*.c")):
            for line, text in strings(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(ROOT)}:{line}", text


def misspelled():
    """Unknown words, each with the places where they are."""
    found = {}
    for place, text in texts():
        text = NO_WORDS.sub(" ", text).replace("’", "'")
        for word in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", text):
            word = word.removesuffix("'s")
            found.setdefault(word, []).append(place)
    unknown = subprocess.run(["hunspell", "-l", "-d", "en_US", "-i", "utf-8"],
                             input="\n".join(found), capture_output=True,
                             text=True, encoding="utf-8", check=True).stdout
    return {word: found[word] for word in unknown.split()}


def main():
    """Compare with the list."""
    if not shutil.which("hunspell"):
        print("hunspell is missing, and nothing was checked: tools/setup tests")
        return SKIPPED
    found = misspelled()
    known = WORDS.read_text(encoding="utf-8").split()
    used = {word if word in known else word.lower() for word in found}
    if sys.argv[1:] == ["--prune"]:
        WORDS.write_text("".join(f"{word}\n"
                                 for word in sorted(used & set(known))),
                         encoding="utf-8")
        return 0
    faults = [f"{word}: {', '.join(places[:3])}"
              for word, places in sorted(found.items())
              if not {word, word.lower()} & set(known)]
    faults += [f"words.txt: nobody writes {word}: spelling.py --prune"
               for word in known if word not in used]
    if known != sorted(set(known)):
        faults.append("words.txt: not sorted: spelling.py --prune")
    print("\n".join(faults))
    print(f"{len(known)} words beside those of hunspell")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
