# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a script that simulates the figures of papers."""
import argparse
import os
import pathlib
import subprocess
import sys

from hpdc12 import runner

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parser_of(name, words, quick):
    """`quick`: what there is of the figures with --quick."""
    parser = argparse.ArgumentParser(
        description=words.split("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()),
                        help="simulations at a time; 4 GB of memory each")
    parser.add_argument("--build", type=pathlib.Path,
                        help="build directory, used as it is (build/, which "
                             "is built first)")
    parser.add_argument("--runs", type=pathlib.Path,
                        help="folder of finished runs (build-{0}/, or "
                             "build-{0}-quick/)".format(name))
    parser.add_argument("--page", type=pathlib.Path,
                        help="page to write; plots go to a folder beside it "
                             "(docs/results/%s.md, or page.md among the "
                             "runs)" % name)
    return parser


def parse(parser, name):
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs is %d; allowed: 1 and more" % arguments.jobs)
    if not arguments.runs:
        arguments.runs = ROOT / ("build-" + name + "-quick" * arguments.quick)
    if not arguments.page:
        arguments.page = (arguments.runs / "page.md" if arguments.quick else
                          ROOT / "docs" / "results" / (name + ".md"))
    if arguments.page.suffix != ".md":
        raise runner.Failed("--page is '%s'; allowed: a name that ends in .md" %
                            arguments.page)
    return arguments


def build(targets):
    """Build what is needed in build/."""
    directory = ROOT / "build"
    if not (directory / "build.ninja").exists():
        subprocess.run(["meson", "setup", directory, ROOT], check=True)
    subprocess.run(["meson", "compile", "-C", directory, *targets], check=True)
    return directory


def work(name, words, quick, targets, write, options=()):
    """Run the script: `write` returns the page, of a runner and the command
    line; `options`: name and help of more flags."""
    try:
        parser = parser_of(name, words, quick)
        for option, meaning in options:
            parser.add_argument(option, action="store_true", help=meaning)
        arguments = parse(parser, name)
        arguments.runs.mkdir(parents=True, exist_ok=True)
        arguments.page.parent.mkdir(parents=True, exist_ok=True)
        arguments.page.write_text(write(runner.Runner(
            ROOT, arguments.build or build(targets), arguments.runs), arguments))
        print("tools/reproduce-%s: wrote %s" % (name, arguments.page))
    except (runner.Failed, subprocess.CalledProcessError, OSError) as failure:
        sys.exit("tools/reproduce-%s: %s" % (name, failure))
    except KeyboardInterrupt:
        sys.exit("tools/reproduce-%s: stopped; it goes on from here" % name)
