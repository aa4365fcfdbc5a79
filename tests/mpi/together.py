#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run commands beside each other that sleep most of their time.

    together.py -- COMMAND... [-- COMMAND...]...

One that fails makes it fail; one that cannot run here (77) does not.
"""
import subprocess
import sys

commands = [[]]
for word in sys.argv[2:]:
    if word == '--':
        commands.append([])
    else:
        commands[-1].append(word)
runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                         stderr=subprocess.STDOUT) for command in commands]
failed = 0
for run in runs:
    said = run.communicate()[0]
    print(*run.args, f'\n{said}exit status {run.returncode}', flush=True)
    failed += run.returncode not in (0, 77)
sys.exit(failed)
