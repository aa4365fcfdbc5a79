#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of headers and documents are short and plain, and lines are wrapped.

A row for each file: words, sentences, words in a sentence (median, 95th
percentile, most).  With arguments: these files alone, and their longest
sentences.
"""

import pathlib
import re
import sys

import documents

MEDIAN, P95, MOST, WIDTH = 14, 28, 30, 100

# More than once in a paragraph.
FREE = re.compile(r"(What|Who|Whom|Whose|Whoever|Whatever|Where|Wherever|Which)"
                  r"\b[^?]*$")
# Never.
NEVER = (
    (re.compile(r"(Is|Are|Was|Were|Does|Did|Has|Had|Should) [^?]*,[^?]*$"),
     "a question instead of 'if'"),
    (re.compile(r".*\blikewise\b", re.I), "'likewise' without what it refers to"),
)


def paragraphs(path):
    """Pairs of a line and its paragraph."""
    text = (documents.ROOT / path).read_text(encoding="utf-8")
    if path.suffix != ".md":
        return documents.comments(text)
    return [(part.line, documents.prose(part.text))
            for part in documents.parts(text)
            if part.kind == "text" and not part.is_generated]


def too_wide(path):
    """Lines of a document beyond the width that could be wrapped."""
    text = (documents.ROOT / path).read_text(encoding="utf-8")
    lines = text.split("\n")
    for part in documents.parts(text):
        if part.kind != "text" or part.is_generated:
            continue
        for i, _ in enumerate(part.text.split("\n")):
            line = lines[part.line - 1 + i]
            # Nothing can be done about a long address.
            shorter = documents.LINK.sub(lambda link: link[2], line)
            if len(line) > WIDTH and len(shorter) > WIDTH:
                yield part.line + i, len(line)


def quantile(numbers, part):
    """The smallest of sorted numbers with this part of them not above."""
    return numbers[max(0, -int(-part * len(numbers) // 1) - 1)]


def check(path, is_alone):
    """Print the row of a file and return its faults."""
    faults, long = [], []
    for line, paragraph in paragraphs(path):
        free = 0
        for sentence in documents.sentences(paragraph):
            count = len(documents.words(sentence))
            long.append((count, line, sentence))
            free += bool(FREE.match(sentence))
            faults += [f"{path}:{line}: {what}: {sentence}"
                       for banned, what in NEVER if banned.match(sentence)]
        if free > 1:
            faults.append(f"{path}:{line}: {free} sentences begin with what, "
                          f"who or where: {paragraph[:120]}")
    if not long:
        return faults
    counts = sorted(count for count, _, _ in long)
    median, p95 = quantile(counts, .5), quantile(counts, .95)
    print(f"{sum(counts):6} {len(counts):5} {median:6} {p95:4} {counts[-1]:4}  "
          f"{path}")
    for what, value, bound in (("median", median, MEDIAN), ("p95", p95, P95)):
        if value > bound:
            faults.append(f"{path}: {what} of words in a sentence: {value} "
                          f"(at most {bound})")
    faults += [f"{path}:{line}: {count} words (at most {MOST}): {sentence}"
               for count, line, sentence in long if count > MOST]
    if path.suffix == ".md":
        faults += [f"{path}:{line}: {width} columns (at most {WIDTH})"
                   for line, width in too_wide(path)]
    if is_alone:
        for count, line, sentence in sorted(long, reverse=True)[:20]:
            print(f"    {count} words, line {line}: {sentence}")
    return faults


def main():
    """Check all files, or those of the arguments."""
    root = documents.ROOT
    if sys.argv[1:]:
        paths = [pathlib.Path(name).resolve().relative_to(root)
                 for name in sys.argv[1:]]
    else:
        paths = [path.relative_to(root)
                 for path in sorted((root / "include").glob("*.h*"))]
        paths += [path for path in documents.documents()
                  if not documents.is_generated(path)]
    print(" words  sent. median  p95 most")
    faults = []
    for path in paths:
        faults += check(path, bool(sys.argv[1:]))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
