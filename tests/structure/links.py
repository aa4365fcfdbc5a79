#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What documents link to and name exists, and docs/index.md leads to each page.

Links to files and headings; in code: names of the library, words with an
underscore, files, options of tools (--word) and of Meson (-Dword); there and in
comments of headers: names of the library, fields of ek_options.  Names of
other programs, and such as ek_verb, stand in foreign.txt, sorted, each used.
"""

import pathlib
import re
import subprocess
import sys

import documents

ROOT = documents.ROOT
HERE = pathlib.Path(__file__).resolve().parent
# It tells what names were.
HISTORY = pathlib.Path("CHANGELOG.md")
INDEX = pathlib.Path("docs/index.md")

OURS = re.compile(r"\b(?:ek|eki|EK|EKI)_\w*")
FIELD = re.compile(r"\boptions\.(\w+)(?!\w|\()")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
VARIABLE = re.compile(r"\bEVENKEEL_[A-Z0-9_]*")
SNAKE = re.compile(r"(?<![\w$-])[A-Za-z]\w*_\w+")
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
MESON = re.compile(r"(?<![\w-])-D([a-z]\w*)")
LIBRARIES = ("ADLB_", "GA_", "NGA_", "Zoltan_", "ZOLTAN_")
FOLDERS = ("cli|debian|docs|examples|fortran|include|mpi|package|python|src|"
           "tests|tools|workloads")
FILE = re.compile(rf"(?<![\w/.-])((?:{FOLDERS})/[\w./-]*\w|"
                  r"[\w./-]*\w\.(?:[ch]|cc|hpp|sh|py|pml))\b")


def slugs(text):
    """Anchors that GitHub gives to the headings."""
    found = set()
    for part in documents.parts(text):
        if part.kind == "heading":
            words = documents.LINK.sub(lambda link: link[2], part.text)
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = 0
            while slug + (f"-{count}" if count else "") in found:
                count += 1
            found.add(slug + (f"-{count}" if count else ""))
    return found


class Repository:
    """What there is to be named."""

    def __init__(self):
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True, check=False).stdout.split()
        self.files = [name for name in listed if (ROOT / name).exists()]
        self.names, self.flags = set(), set()
        self.public = set()
        for name in self.files:
            if name.startswith(("docs/", "tests/data/")) or \
                    name.endswith((".md", "/foreign.txt", "/words.txt")):
                continue
            text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
            self.names.update(re.findall(r"[A-Za-z_]\w*", text))
            self.flags.update(FLAG.findall(text))
            if name.startswith(("include/", "fortran/")):
                self.public.update(OURS.findall(COMMENT.sub(" ", text)))
        header = (ROOT / "include/evenkeel.h").read_text(encoding="utf-8")
        struct = re.search(r"struct ek_options \{(.*?)\n\}", header, re.S)[1]
        self.fields = set(re.findall(r"(\w+)(?:\[\d+\])?;",
                                     COMMENT.sub(" ", struct)))
        options = (ROOT / "meson_options.txt").read_text(encoding="utf-8")
        self.meson = set(re.findall(r"option\('(\w+)'", options))
        table = ROOT / "docs/reference/environment.md"
        self.variables = set(re.findall(
            r"^\|? ?`(EVENKEEL_[A-Z0-9_]*)`", table.read_text(encoding="utf-8"),
            re.M))
        self.foreign = (HERE / "foreign.txt").read_text(
            encoding="utf-8").split()
        self.used = set()

    def is_foreign(self, name):
        """Whether another program has it."""
        self.used.add(name)
        return name in self.foreign or name.startswith(LIBRARIES)

    def has_file(self, name, page, made):
        """Whether there is that file: made on the page, from the root, from the
        page, or anywhere."""
        ending = "/" + name.lstrip("./")
        for folder in (ROOT, (ROOT / page).parent):
            if (folder / name).exists() or (folder / (name + ".c")).exists():
                return True
        if name in made or re.search(r"[A-Z]{3,}", name):  # such as NAME.pml
            return True
        return any(("/" + file).endswith(ending) for file in self.files)


def is_known(name, names):
    """Whether it is a name, or, ending in _, what names begin with."""
    if name.endswith("_"):
        return any(known.startswith(name) for known in names)
    return name in names


def unknown_fields(repository, text):
    """Fields that ek_options does not have."""
    for name in FIELD.findall(text):
        if name not in repository.fields and name not in ("md", "c", "h"):
            yield f"no field {name} of ek_options"


def unknown_in_headers(repository):
    """What comments of headers name that does not exist."""
    for path in sorted((ROOT / "include").glob("*.h*")):
        text = path.read_text(encoding="utf-8")
        for comment in COMMENT.finditer(text):
            place = (f"{path.relative_to(ROOT)}:"
                     f"{text.count(chr(10), 0, comment.start()) + 1}")
            for name in OURS.findall(comment[0]):
                if not is_known(name, repository.public):
                    yield f"{place}: no {name}"
            for name in VARIABLE.findall(comment[0]):
                if not is_known(name, repository.variables):
                    yield f"{place}: no variable {name}"
            for fault in unknown_fields(repository, comment[0]):
                yield f"{place}: {fault}"


def unknown(repository, page, part, made):
    """What the part names that does not exist."""
    if part.kind == "code":
        spans = [part.text] if part.info[0] != "text" else []
        said = []
    else:
        said = spans = [span[2] for span in
                        documents.CODE_SPAN.finditer(part.text)]
    is_inside = page.parts[:2] == ("docs", "develop") or \
        page.name == "CONTRIBUTING.md"
    for span in spans:
        for name in OURS.findall(span):
            names = repository.names if is_inside or name.startswith(
                ("eki_", "EKI_")) else repository.public
            if not is_known(name, names) and not repository.is_foreign(name):
                yield f"no {name}"
        if not is_inside:
            yield from unknown_fields(repository, span)
        for name in VARIABLE.findall(span):
            if not is_known(name, repository.variables):
                yield f"no variable {name}"
    for span in said:
        for name in SNAKE.findall(span):
            if not OURS.match(name) and not VARIABLE.match(name) and \
                    name not in repository.names and \
                    not repository.is_foreign(name):
                yield f"no {name}"
        for flag in FLAG.findall(span):
            if flag not in repository.flags and \
                    not repository.is_foreign(flag):
                yield f"no option {flag}"
        for option in MESON.findall(span):
            if option not in repository.meson and \
                    not repository.is_foreign("-D" + option):
                yield f"no option -D{option}"
        for name in FILE.findall(span):
            if not repository.has_file(name, page, made) and \
                    not repository.is_foreign(name):
                yield f"no file {name}"


def check_link(page, target, anchors):
    """What is wrong with a link, or None; and the page that it leads to."""
    if re.match(r"[a-z]+:", target):
        return None, None
    name, _, anchor = target.partition("#")
    path = (ROOT / page).parent / name if name else ROOT / page
    if not path.exists():
        return f"no file {target}", None
    path = path.resolve().relative_to(ROOT)
    if anchor and path.suffix == ".md":
        if path not in anchors:
            anchors[path] = slugs((ROOT / path).read_text(encoding="utf-8"))
        if anchor not in anchors[path]:
            return f"no heading {target}", path
    return None, path


def check_lists(repository):
    """The list of foreign names is sorted, and each is used."""
    if repository.foreign != sorted(set(repository.foreign)):
        yield "foreign.txt: not sorted"
    for name in repository.foreign:
        if name not in repository.used:
            yield f"foreign.txt: no document names {name}"


def unreachable(leads_to):
    """Pages that docs/index.md does not lead to, in any number of links."""
    seen, left = {INDEX}, [INDEX]
    while left:
        new = leads_to.get(left.pop(), set()) - seen
        seen |= new
        left += new
    for page in leads_to:
        if page.parts[0] == "docs" and page not in seen:
            yield f"{page}: no way there from {INDEX}"


def main():
    """Check all documents."""
    repository = Repository()
    faults, anchors, leads_to, links = [], {}, {}, 0
    for page in documents.documents():
        text = (ROOT / page).read_text(encoding="utf-8")
        leads_to[page] = set()
        parts = documents.parts(text)
        made = {part.info[1] for part in parts}
        for part in parts:
            place = f"{page}:{part.line}"
            found = [] if part.kind == "code" else \
                documents.LINK.findall(
                    documents.CODE_SPAN.sub("CODE", part.text))
            targets = [target for _, _, target in found]
            if part.kind == "html":
                targets += re.findall(r'(?:src|srcset|href)="([^"]+)"',
                                      part.text)
            for target in targets:
                fault, path = check_link(page, target, anchors)
                links += 1
                leads_to[page].add(path)
                if fault:
                    faults.append(f"{place}: {fault}")
            if page != HISTORY and not documents.is_generated(page):
                faults += [f"{place}: {fault}"
                           for fault in unknown(repository, page, part, made)]
    faults += unknown_in_headers(repository)
    faults += unreachable(leads_to)
    faults += check_lists(repository)
    print("\n".join(faults))
    print(f"{len(leads_to)} documents with {links} links")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
