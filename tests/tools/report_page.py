#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report_page.py PAGE RUNS: a page of ek-report is whole, small and alone."""
import html.parser
import pathlib
import re
import sys
import xml.etree.ElementTree

VOID = {"meta", "link", "br"}
SCRIPT_MOST, PAGE_MOST = 30_000, 3_000_000
CHARTS, SECTIONS = 5, 6


class Page(html.parser.HTMLParser):
    """What is open, and how often what was."""

    def __init__(self):
        super().__init__()
        self.open, self.counts, self.wrong = [], {}, []
        self.identifiers = []

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        attributes = dict(attrs)
        for name in ("src", "href"):
            if not attributes.get(name, "data:").startswith("data:"):
                self.wrong.append(f"{name} is {attributes[name]}")
        if "id" in attributes:
            self.identifiers.append(attributes["id"])
        if attributes.get("class") == "chart" and not (
                attributes.get("aria-label") and attributes.get("role") == "img"
                and attributes.get("tabindex") == "0"):
            self.wrong.append("a chart has no words or takes no keys")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")


def main():
    """Check a page."""
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    runs = int(sys.argv[2])
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong + [f"<{tag}> is open" for tag in page.open]
    charts = re.findall(r'<svg class="chart".*?</svg>', text, re.S)
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        xml.etree.ElementTree.fromstring(svg)
    simulated = 'id="cores"' in text and "nothing was simulated" not in text
    expected, sections = (CHARTS if simulated else CHARTS - 1), SECTIONS
    if 'id="timeline"' in text:
        has_record = 'class="verdict"' in text
        expected, sections = has_record * expected + 1, has_record * sections + 3
    if len(charts) != runs * expected:
        wrong.append(f"{len(charts)} charts")
    if page.counts.get("figure") != sections * runs:
        wrong.append(f"{page.counts.get('figure')} figures")
    if page.counts.get("table", 0) < len(charts):
        wrong.append("a chart has no table")
    if len(set(page.identifiers)) != len(page.identifiers):
        wrong.append("an id stands twice")
    if page.counts.get("h1") != 1 or page.counts.get("main") != 1:
        wrong.append("not one h1 and one main")
    script = "".join(re.findall(r"<script>(.*?)</script>", text, re.S))
    if not 0 < len(script) <= SCRIPT_MOST or len(text) > PAGE_MOST:
        wrong.append(f"{len(script)} bytes of script, {len(text)} in all")
    if re.search(r"https?:", text):
        wrong.append("an address of the network")
    for number in re.findall(r' (?:x|y|width|height)="([^"]*)"', text):
        if not re.fullmatch(r"-?\d+(\.\d+)?", number):
            wrong.append(f"a place is {number}")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
