#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run_page.py BUILD PAGE: the commands of a page do what it says.

Runs the blocks of ```sh in their order in an empty folder that looks like a
checkout with build/ in it, until one fails.  A block of another language with
a file name after it, such as ```c program.c, is that file.  $HOME/opt/evenkeel is
what BUILD installs.  `mpirun` is tools/mpirun.  There are stand-ins for what a
reader has: ./my_code and run.ekr.  Blocks of ```console are not run.
"""

import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "structure"))
import documents  # noqa: E402

ROOT = documents.ROOT
# Commands that are not run here, and why.
NOT_RUN = {
    "meson": "is what BUILD comes from; tests/install configures and installs",
    "tools/check": "would run this test",
    "tools/quickstart": "takes minutes",
}


def why_not(line, build):
    """Why the line is not run; None: it is."""
    words = shlex.split(line.replace("\\\n", " "), comments=True)
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        words.pop(0)
    if words and words[0] in NOT_RUN:
        return NOT_RUN[words[0]]
    for word in words:
        name = word.removeprefix("build/")
        # Meson leaves out examples whose libraries are missing.
        if name != word and (ROOT / name).parent.is_dir() and \
                re.match("examples|tools", name) and \
                not (build / name).exists():
            return "is not built"
    return None


def script_of(page, parts, build):
    """The commands as a script."""
    script = ["set -ev"]
    for part in parts:
        if part.kind != "code" or part.info[0] != "sh":
            continue
        script.append(f"at={page}:{part.line}")
        for line in re.split(r"(?<!\\)\n", part.text):
            reason = why_not(line, build)
            if reason:
                print(f"not run, {reason}: {line}")
            else:
                script.append(line)
    return "\n".join(script) + "\n"


def install(build, folder):
    """Make $HOME/opt/evenkeel what BUILD installs."""
    subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "-C", build],
                   env=dict(os.environ, DESTDIR=str(folder / "installed")),
                   stdout=subprocess.DEVNULL, check=True)
    header = next((folder / "installed").rglob("evenkeel.h"))
    (folder / "opt").mkdir()
    header.parent.parent.rename(folder / "opt" / "evenkeel")


def prepare(build, folder, parts):
    """Fill the folder: a checkout, stand-ins, files of the page, a bin/."""
    work, commands = folder / "work", folder / "bin"
    work.mkdir()
    commands.mkdir()
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "build")):
            (work / path.name).symlink_to(path)
    (work / "build").symlink_to(build)
    (work / "my_code").symlink_to(build / "examples/05_tiles")
    # A page may write its own.
    shutil.copy(ROOT / "tests/data/record/be032_half.ekr", work / "run.ekr")
    for part in parts:
        if part.kind == "code" and part.info[1]:
            (work / part.info[1]).write_text(part.text + "\n", encoding="utf-8")
    (commands / "mpirun").symlink_to(ROOT / "tools/mpirun")
    for tool in ("ek-bench", "ek-emulate", "ek-record", "ek-sim"):
        (commands / tool).symlink_to(build / "tools" / tool / tool)
    # It simulates for a second, not for a reader's half a minute.
    brief = commands / "ek-report"
    program = shlex.quote(str(build / "tools/ek-report/ek-report"))
    brief.write_text(f'#!/bin/sh\nexec {program} --simulate 1 "$@"\n',
                     encoding="utf-8")
    brief.chmod(0o755)
    return work, commands


def main():
    """Run a page."""
    build, page = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    parts = documents.parts((ROOT / page).read_text(encoding="utf-8"))
    script = script_of(page, parts, build)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        work, commands = prepare(build, folder, parts)
        if re.search(r"pkg-config|HOME/opt/evenkeel", script):
            install(build, folder)
        environment = dict(
            os.environ, HOME=name, OMP_WAIT_POLICY="passive",
            OMPI_MCA_orte_tmpdir_base=name,
            PATH=f"{commands}:{folder}/evenkeel/bin:{os.environ['PATH']}")
        (folder / "script").write_text(
            "trap 'status=$?; [ $status -eq 0 ] || echo "
            "\"$at: exit status $status\"' EXIT\n" + script, encoding="utf-8")
        status = subprocess.run(["sh", folder / "script"], cwd=work,
                                env=environment, stdin=subprocess.DEVNULL,
                                stderr=subprocess.STDOUT,
                                check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{page}: {used.ru_utime + used.ru_stime:.1f} s of CPU")
    return status


if __name__ == "__main__":
    sys.exit(main())
