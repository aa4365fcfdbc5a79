# SPDX-License-Identifier: BSD-3-Clause
# man.py VERSION ROOT FOLDER: manual pages in FOLDER.  man3/ has one for each call,
# struct, enum and callback of the headers in ROOT, from its docstring.  man7/ has
# evenkeel.7: what evenkeel.h begins with, the words of the glossary, and the tables
# of docs/reference/options.md.  man.d names the files that the pages come from.
import pathlib
import re
import shutil
import sys

DOC = r'/\*\*(?!<)(?P<doc>(?:(?!\*/).)*)\*/\s*'
BODY = r'(?:typedef )?(?:struct|enum)[^;{]*\{.*?^\} ?\w*;'
DECLARED = re.compile(
    DOC + rf'(?P<code>EK_API [^;]*;|{BODY}|typedef [^;{{]*;)', re.S | re.M)
MEMBER = re.compile(
    rf'(?:{DOC})?(?P<code>\w[^;]*?);(?:\s*/\*\*<(?P<after>.*?)\*/)?', re.S)
VALUE = re.compile(
    rf'(?:{DOC})?(?P<code>EK_\w+)[^,/]*,?(?:\s*/\*\*<(?P<after>.*?)\*/)?', re.S)
FILES = [
    ('NAME.ekr', 'A record (option record): tasks, durations, who ran them.'
     '  ek-record reads it.'),
    ('NAME.tsv', 'Figures of each iteration (option report).'),
    ('NAME.machine', 'A machine for ek-sim, from ek-bench machine.')]
LOG = ('EVENKEEL_LOG', 'Lines that go to stderr: none, error, warn, info, debug'
       ' or trace.')


def lines_of(comment):
    """Its text; two spaces behind a sentence."""
    lines = [re.sub(r'^\s*\* ?', '', line).strip()
             for line in comment.split('\n')]
    return '\n'.join(lines).strip('\n').split('\n')


def plain(text):
    """What is no markup of ours is none of the manual's."""
    text = re.sub(r'@p (\w+)', r'*\1*', text.replace('\\', '\\e'))
    text = re.sub(r'(?<![\w*])\*(\w[\w -]*)\*(?![\w*])', r'\\fI\1\\fR', text)
    return re.sub(r"^(?=[.'])", r'\\&', text, flags=re.M)


def unmarked(text):
    """Of a document: without backticks and stars, a link is its words."""
    return re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', re.sub(r'`|\*\*', '', text))


def paragraphs(lines):
    return [p.split('\n') for p in re.split(r'\n\s*\n', '\n'.join(lines)) if p]


class Page:
    def __init__(self, name, section, version, brief):
        self.names, self.heading_now = set(), ''
        self.lines = [f'.TH {name.upper()} {section} "" "Evenkeel {version}"',
                      '.SH NAME', f'{name} \\- {plain(brief)}']

    def heading(self, title):
        if title != self.heading_now:
            self.lines.append(f'.SH {title}')
        self.heading_now = title

    def tagged(self, title, tag, text):
        self.heading(title)
        self.lines += ['.TP', f'.B {plain(tag)}', plain(text) or '\\&']

    def synopsis(self, header, code):
        self.heading('SYNOPSIS')
        self.lines += ['.nf', f'#include <{header}>', '', plain(code), '.fi']

    def program(self, lines):
        self.lines += ['.PP', '.nf', *map(plain, lines), '.fi']

    def describe(self, doc):
        """Paragraphs of a docstring, and its @param, @retval, Call: ..."""
        for paragraph in paragraphs(doc):
            is_first = True
            for line in paragraph:
                tag = re.match(r'@(param|retval)(?:\[[a-z,]*\])? +(\S+) *(.*)'
                               r'|@(return) *(.*)|(\w+): +(.*)', line)
                if tag and tag[1]:
                    title = 'PARAMETERS' if tag[1] == 'param' else 'RETURN VALUE'
                    self.tagged(title, tag[2], tag[3])
                elif tag and tag[4]:
                    self.heading('RETURN VALUE')
                    self.lines.append(plain(tag[5]))
                elif tag and tag[6] in ('Call', 'Threads', 'Cost', 'Paper'):
                    self.tagged('NOTES', tag[6], tag[7])
                else:
                    if is_first:
                        self.heading('DESCRIPTION')
                        self.lines.append('.PP')
                    self.lines.append(plain(line))
                is_first = False

    def see(self, names):
        self.heading('SEE ALSO')
        self.lines.append(',\n'.join(f'.BR {name} ({section})'
                                     for name, section in names))

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('\n'.join(self.lines) + '\n', encoding='utf-8')


def name_of(code):
    found = (re.match(r'[^;({]*?(\w+) \{', code) or
             re.match(r'[^({]*?(\w+);', code) or re.search(r'(\w+)\(', code))
    return found[1]


def first_sentence(doc):
    """Without its period; and what follows."""
    text = '\n'.join(doc).split('\n\n')[0]
    found = re.match(r'(.*?)[.:](?:\s\s|\n|$)', text, re.S)
    brief = found[1] if found else text
    rest = '\n'.join(doc)[len(found[0] if found else text):]
    return ' '.join(brief.split()), rest.strip().split('\n')


def declared(headers):
    for header in headers:
        for found in DECLARED.finditer(header.read_text(encoding='utf-8')):
            if name_of(found['code']).startswith('ek_'):
                yield header.name, lines_of(found['doc']), found['code']


def write_page(version, folder, names, item):
    header, doc, code = item
    brief, rest = first_sentence(doc)
    page = Page(name_of(code), 3, version, brief)
    shown = re.sub(r'^EK_API |EK_NODISCARD ', '', code)
    shown = re.sub(r'[ \t]*/\*.*?\*/', '', shown, flags=re.S)
    shown = re.sub(r'=\s+', '= ', re.sub(r'\n\s*\n+', '\n', shown))
    if code.startswith('EK_API'):
        shown = shown.replace('\n       ', '\n')
    page.synopsis(header, shown)
    page.describe(rest)
    kind = re.match(r'(?:typedef )?(struct|enum)[^{;]*\{(.*)\}', code, re.S)
    members = MEMBER if kind and kind[1] == 'struct' else VALUE
    for found in members.finditer(kind[2]) if kind else []:
        text = ' '.join(lines_of(found['after'] or found['doc'] or ''))
        page.tagged('MEMBERS' if members is MEMBER else 'VALUES',
                    ' '.join(found['code'].split()), text)
    others = set(re.findall(r'\bek_\w+', ' '.join(doc) + code)) & names
    page.see([(other, 3) for other in sorted(others - {name_of(code)})] +
             [('evenkeel', 7)])
    page.write(folder / 'man3' / f'{name_of(code)}.3')


def rows_of(table):
    """Cells of the rows of Markdown tables."""
    rows = [[cell.strip() for cell in line.strip().strip('|').split('|')]
            for line in table.split('\n') if line.startswith('|')]
    return [row for row in rows if not set(''.join(row)) <= set('-: ')]


def write_overview(version, folder, header, glossary, options):
    page = Page('evenkeel', 7, version, 'keep iterative MPI codes balanced')
    head = re.search(r'/\*\n(.*?)\*/', header, re.S)
    raw = [re.sub(r'^ \* ?', '', line) for line in head[1].split('\n')]
    for paragraph in paragraphs(raw):
        if all(line.startswith('    ') for line in paragraph):
            page.program(paragraph)
        elif not paragraph[0].startswith('Evenkeel: '):
            page.describe([line.strip() for line in paragraph])
    # The words of other systems are another table.
    words = re.search(r'(?:^\|.*\n)+', glossary, re.M)[0]
    for word, meaning in rows_of(unmarked(words))[1:]:
        page.tagged('WORDS', word, meaning)
    heads, *rows = rows_of(options.replace('`', ''))
    for option, *rest, meaning in (row for row in rows if row != heads):
        page.tagged('OPTIONS AND ENVIRONMENT', option, meaning + '.  ' + '; '.join(
            f'{head}: {cell}' for head, cell in zip(heads[1:], rest) if cell))
    page.tagged('OPTIONS AND ENVIRONMENT', *LOG)
    for name, text in FILES:
        page.tagged('FILES', name, text)
    page.see([('ek_create', 3), ('ek_process', 3), ('ek_options', 3)] +
             [(f'ek-{tool}', 1) for tool in ('bench', 'emulate', 'record', 'sim')])
    page.write(folder / 'man7' / 'evenkeel.7')


def main():
    version, root, folder = sys.argv[1:]
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    headers = sorted((root / 'include').glob('*.h'))
    glossary, options = (root / 'docs/reference' / f'{name}.md'
                         for name in ('glossary', 'options'))
    for section in ('man3', 'man7'):
        shutil.rmtree(folder / section, ignore_errors=True)
    items = list(declared(headers))
    names = {name_of(code) for _, _, code in items}
    for item in items:
        write_page(version, folder, names, item)
    sources = headers + [glossary, options]
    write_overview(version, folder, *(source.read_text(encoding='utf-8') for source
                                      in (headers[0], glossary, options)))
    (folder / 'man.d').write_text(
        'package/man3: ' + ' '.join(map(str, sources)) + '\n')


main()
