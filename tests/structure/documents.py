# SPDX-License-Identifier: BSD-3-Clause
"""The documents of this repository in parts: for the tests beside this file."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*)\)")
FENCE = re.compile(r"( *)```+ *(\S*) *(.*)$")
ITEM = re.compile(r"([-*+]|\d+[.)])\s+")


def documents():
    """Paths of all documents, relative to the root, sorted."""
    top = [ROOT / name for name in
           ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    found = [path for path in top if path.exists()]
    found += sorted((ROOT / "docs").rglob("*.md"))
    return [path.relative_to(ROOT) for path in found]


def is_generated(path):
    """Whole pages that a program writes."""
    return path.parts[:2] == ("docs", "results")


class Part:
    """A paragraph, list item, heading, table row, block of code, or marker."""

    def __init__(self, kind, line, text, info=("", ""), is_generated=False):
        self.kind = kind
        self.line = line
        self.text = text
        self.info = info
        self.is_generated = is_generated


def parts(text):
    """Parts of a document, in order."""
    found, paragraph = [], None
    lines = text.split("\n")
    is_generated = False
    i = 0

    def add(kind, line, words, info=("", "")):
        found.append(Part(kind, line, words, info, is_generated))

    while i < len(lines):
        line = lines[i]
        bare = re.sub(r"^> ?", "", line.strip())
        fence = FENCE.match(line)
        if fence:
            first = i + 1
            i += 1
            while i < len(lines) and lines[i].strip() != "```":
                i += 1
            indent = len(fence[1])
            add("code", first, "\n".join(row[indent:]
                                         for row in lines[first:i]),
                (fence[2], fence[3].strip()))
            paragraph = None
        elif bare.startswith("<!--"):
            first = i
            while "-->" not in lines[i]:
                i += 1
            marker = " ".join(lines[first:i + 1]).strip()
            if marker.startswith("<!-- end"):
                is_generated = False
            add("marker", first + 1, marker)
            is_generated = is_generated or marker.startswith("<!-- begin")
            paragraph = None
        elif not bare or re.fullmatch(r"[-=]{3,}", bare):
            paragraph = None
        elif bare.startswith("|") or bare.startswith("<"):
            add("table" if bare[0] == "|" else "html", i + 1, bare)
            paragraph = None
        elif bare.startswith("#"):
            add("heading", i + 1, bare.lstrip("# "))
            paragraph = None
        elif paragraph is None or ITEM.match(bare):
            item = ITEM.match(bare)
            add("text", i + 1, bare[item.end():] if item else bare)
            paragraph = found[-1]
        else:
            paragraph.text += "\n" + bare
        i += 1
    return found


def prose(text, code="CODE"):
    """Without the markup: a code span becomes CODE, a link its words."""
    text = CODE_SPAN.sub(code, text.replace("\n", " "))
    text = LINK.sub(lambda link: "" if link[1] else link[2], text)
    text = re.sub(r"<[^>]*>|\bhttps?://\S+", code, text)
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text)


def comments(text):
    """Comments of C as pairs of a line and paragraphs without markup."""
    found = []
    for match in re.finditer(r"/\*+<?(.*?)\*+/|//+<?([^\n]*)", text, re.S):
        line = text.count("\n", 0, match.start()) + 1
        body = (match[1] or match[2] or "").split("\n")
        rows = ["" if re.match(r" \* {5}( {4})?[a-z}]", row) else
                re.sub(r"^\s*\*? ?", "", row) for row in body]
        paragraph = []
        for number, row in enumerate(rows + [""]):
            opens = re.match(r"\s*(@\w+|[A-Z][a-z]+:( |$))", row)
            if paragraph and (opens or not row.strip()):
                found.append((paragraph[0][0],
                              " ".join(words for _, words in paragraph)))
                paragraph = []
            if row.strip():
                row = re.sub(r"@(param|retval)(\[[a-z,]*\])?\s+\S+|"
                             r"@p (?=\w)|@\w+", "", row)
                paragraph.append((line + number, row.strip()))
    return [(line, words) for line, words in found
            if "SPDX" not in words and words.strip()]


ABBREVIATION = re.compile(r"(\b(e\.g|i\.e|et al|Fig|vs|cf|ca|p|pp|Sec|No|St)|"
                          r"(^|\W)[A-Z])\.$")


# Names of the library begin sentences, too.
BOUNDARY = re.compile(r"[.!?]['\")\]]*(  +(?=\S)|\s+(?=['\"(\[]*"
                      r"([A-Z0-9]|ek_|\w+\.\w|\w+\(\))))")


def sentences(text):
    """Sentences of prose."""
    found, start = [], 0
    for end in BOUNDARY.finditer(text):
        if ABBREVIATION.search(text[start:end.start() + 1]):
            continue
        found.append(text[start:end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if re.search(r"\w", sentence)]


def words(sentence):
    """Words of a sentence."""
    return [word for word in sentence.split() if re.search(r"\w", word)]
