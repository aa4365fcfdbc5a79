# SPDX-License-Identifier: BSD-3-Clause
"""evenkeel.py as a process: without mpirun, without a library, ended early.

    test_process.py MPIRUN SOURCE FOLDER_OF_LIBRARY
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

mpirun, source, place = sys.argv[1:4]
sys.path.insert(0, f"{source}/python")
import evenkeel as ek                   # noqa: E402

plain = {name: value for name, value in os.environ.items()
         if name not in ("EVENKEEL_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")}
home = str(pathlib.Path(source, "python"))
library = str(next(pathlib.Path(place).glob(ek._SONAME)))


def run(*command, status=0, **environment):
    """Both outputs of a run of Python with that exit status."""
    done = subprocess.run(command, env={**plain, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60)
    if (done.returncode != 0) != (status != 0):
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"no '{part}' in:\n{text}")


def test_figures():
    """The module lists what the library knows."""
    page = pathlib.Path(source, "docs/reference/figures.md").read_text()
    rows = page[:page.index("<!-- end -->")]
    named = re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)
    if named != ek._FIGURES:
        sys.exit(f"figures of evenkeel.py: {set(named) ^ set(ek._FIGURES)}")


def test_task():
    """The module mirrors the struct of the header."""
    header = pathlib.Path(source, "include/evenkeel_task.h").read_text()
    struct = header[header.index("struct ek_task {"):header.index("} ek_task;")]
    fields = re.findall(r"^ {4}\w+ \*?(\w+);", struct, re.MULTILINE)
    mine = [name.replace("_payload", "payload") for name, _ in ek.Task._fields_]
    if mine != fields + ["_more"]:
        sys.exit(f"ek_task has {fields}, evenkeel.Task {mine}")


def test_version():
    project = pathlib.Path(source, "meson.build").read_text()
    expect(project, f"version: '{ek.__version__}'")


def test_without_mpirun():
    """As in a notebook: MPI starts and ends by itself, nothing is written."""
    program = ("import evenkeel as ek\n"
               "tasks = ek.Tasks()\n"
               "print(tasks.rank, tasks.size, tasks.map(abs, [-1, -2]))\n"
               "print(sum(tasks.range(10)), sum(tasks.range(10)))\n")
    with tempfile.TemporaryDirectory() as folder:   # as tools/mpirun says
        text = run(sys.executable, "-c", program, PYTHONPATH=home,
                   EVENKEEL_LIBRARY=library, OMPI_MCA_orte_tmpdir_base=folder)
    if text != "0 1 [1, 2]\n45 45\n":
        sys.exit(f"without mpirun: {text}")


def test_library():
    """Where it is looked for, and what is said if it does not fit."""
    for found in ({"EVENKEEL_LIBRARY": library}, {"LD_LIBRARY_PATH": place}):
        text = run(sys.executable, "-m", "evenkeel", PYTHONPATH=home, **found)
        expect(text, f"evenkeel {ek.__version__}: {place}")
    text = run(sys.executable, "-m", "evenkeel", status=1, PYTHONPATH=home,
               EVENKEEL_LIBRARY="/nowhere/lib.so")
    expect(text, "EVENKEEL_LIBRARY=/nowhere/lib.so is no such file")
    with tempfile.TemporaryDirectory() as folder:
        modules = pathlib.Path(folder, "lib/python3/site-packages")
        modules.mkdir(parents=True)
        shutil.copy(f"{home}/evenkeel.py", modules)
        shutil.copy(library, f"{folder}/lib")
        text = run(sys.executable, "-m", "evenkeel", PYTHONPATH=str(modules))
        expect(text, f"{folder}/lib/")
        module = modules / "evenkeel.py"
        module.write_text(module.read_text().replace(
            f'__version__ = "{ek.__version__}"', '__version__ = "9.0"'))
        text = run(sys.executable, "-m", "evenkeel", status=1,
                   PYTHONPATH=str(modules))
        expect(text, "evenkeel.py has version 9.0", ek.__version__)


def test_alone():
    """An exception of one rank alone ends the job, with its sentence."""
    for case, sentence in (("alone", "ValueError: alone"), ("exit", "alone"),
                           ("no_with", "ValueError: alone"),
                           ("caught", "Error: the loop before this call")):
        text = run(mpirun, "--timeout", "50", "-n", "2", sys.executable,
                   f"{source}/tests/python/test_errors.py", "2", case, status=1,
                   PYTHONPATH=home, EVENKEEL_LIBRARY=library)
        expect(text, sentence, "an exception of this rank")
        if "all right" in text:
            sys.exit(text)


def test_resume():
    """A job that dies is gone on with by another, on fewer ranks."""
    with tempfile.TemporaryDirectory() as folder:
        for ranks, end in (("3", ["dies"]), ("2", [])):
            text = run(mpirun, "--timeout", "50", "-n", ranks, sys.executable,
                       f"{source}/tests/python/test_stopped.py", ranks, "sweep",
                       f"{folder}/out", *end, status=len(end),
                       PYTHONPATH=home, EVENKEEL_LIBRARY=library)
        before, ran = map(int, re.search(r"(\d+) before, (\d+) now",
                                         text).groups())
        if before == 0 or before + ran != 80:
            sys.exit(text)


for test in (test_figures, test_task, test_version, test_without_mpirun,
             test_library, test_alone, test_resume):
    test()
