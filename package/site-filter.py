# SPDX-License-Identifier: BSD-3-Clause
# site-filter.py FILE: a header or document for Doxygen 1.9, which knows neither
# what a header begins with, nor the ids of headings that links name, nor files
# outside of the site.
import pathlib
import re
import sys

path = pathlib.Path(sys.argv[1])
text = path.read_text(encoding='utf-8')
if path.suffix == '.h':
    print(text.replace('/*\n', '/** @file\n', 1), end='')
    sys.exit()


def anchor(page, slug):
    return f'{pathlib.PurePosixPath(page).stem}-{slug}'


def heading(line):
    title = line.lstrip('#').strip()
    slug = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
    return f'{line} {{#{anchor(path, slug)}}}'


def link(match):
    shown, page, slug = match.groups()
    if slug and (not page or page.endswith('.md')):
        return f'[{shown}](#{anchor(page or path, slug)})'
    if page.endswith('.md') or re.match(r'\w+:', page):
        return match.group(0)
    return shown


# Doxygen knows no <picture>: the image in it will do.
text = re.sub(r'<picture>.*?(<img .*?>).*?</picture>', r'\1', text, flags=re.S)
is_code = False
for line in text.splitlines():
    if line.lstrip().startswith('```'):
        is_code = not is_code
    elif not is_code:
        # A command of Doxygen starts with @, but not in code.
        parts = re.split(r'(`[^`]*`)', line)
        parts[::2] = [part.replace('@', r'\@') for part in parts[::2]]
        line = re.sub(r'(?<!!)\[((?:[^][]|\[[^]]*\])*)\]\(([^()#\s]*)(?:#([^()\s]*))?\)',
                      link, ''.join(parts))
        if re.match('#{2,} ', line):
            line = heading(line)
    print(line)
