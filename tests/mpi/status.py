# SPDX-License-Identifier: BSD-3-Clause
"""The status line on a terminal is rewritten, and gone when others write.

    status.py PROGRAM
"""
import os
import pty
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ERASE = '\r\x1b[K'


def run(status):
    """What one rank writes to a terminal."""
    here, there = pty.openpty()
    text = b''
    # Its own session files, as tools/mpirun says.
    with (tempfile.TemporaryDirectory() as folder,
          subprocess.Popen([sys.argv[1], '1', '2', 'loop'], stdout=there,
                           stderr=there,
                           env={**os.environ, 'EVENKEEL_STATUS': status,
                                'OMPI_MCA_orte_tmpdir_base': folder}) as job):
        os.close(there)
        while True:
            try:
                part = os.read(here, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
    os.close(here)
    assert job.returncode == 0, (job.returncode, text)
    return text.decode()


# Three seconds: two lines, or one where the machine is busy.
with ThreadPoolExecutor() as pool:
    shown, off = pool.map(run, ['1', '0'])
shown = shown.split(ERASE)
LINE = re.compile(r'iteration 0 \[[#.]{8}\] [0-9]+ % of 140 tasks, '
                  r'[0-9.]+ s left, [0-2] of 2 workers idle')
assert 'iteration' not in shown[0], shown[0]
assert len(shown) > 2 and all(
    LINE.fullmatch(line) for line in shown[1:-1]), shown
assert len(set(shown)) == len(shown), 'lines differ'
assert shown[-1].startswith('the program goes on')
assert 'iteration' not in off and ERASE not in off, off
