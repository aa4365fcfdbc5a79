#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""verdicts.py EK_SIM [MPIRUN EK_EMULATE EK_REPORT PLANTED]: does the verdict name
the cause that was planted, and is its gain what comes of removing the cause?

Each case runs with the cause and without it.  The first sentence has to name the
cause, with a gain within a third of the difference.  Healthy runs have no
sentence.  With EK_SIM alone all cases are simulated, so that nothing is a time of
this machine.  With the others also those that really run, and what a busy machine
is told: alone on two cores."""
import csv
import os
import re
import subprocess
import sys
import tempfile
import time

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}
GAIN = re.compile(r"; this gains ([\d.e+-]+) (s|ms|us) of ([\d.e+-]+) (s|ms|us) an iteration")
BOUND = 1 / 3  # that the gain may be off
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text)


def output(command, **variables):
    done = subprocess.run(command, env={**os.environ, **variables}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %d: %s" % (command, done.returncode, done.stderr))
    return done.stdout, done.stderr


def paragraphs(text):
    """Those of a tool, below the last row of its table."""
    below = re.split(r"\d+ events in .*\n|cores used: .*\n", text)[-1]
    return [" ".join(part.split()) for part in below.split("\n\n") if part.strip()]


def simulate(arguments):
    """Sentences, and seconds of an iteration from the second on."""
    command = [EK_SIM, *arguments.split()]
    said = paragraphs(output(command)[0])
    rows = list(csv.DictReader(output(command + ["--csv"])[0].splitlines()))[1:]
    seconds = sum(float(row["makespan_s"]) +
                  (0 if row["restore_s"] == "nan" else float(row["restore_s"])) for row in rows)
    return said, seconds / len(rows)


def report(text):
    """What the end of a report says, and seconds of an iteration."""
    items = []
    for line in re.findall(r"^evenkeel 0/\d+ report: (.*)$", text, re.M):
        if line.startswith("      "):
            items[-1] += " " + line.strip()
        else:
            items.append(line.strip())
    last = max(i for i, item in enumerate(items) if item.startswith("lost: "))
    inside, restoring = re.search(r"inside ([\d.e+-]+ \w+) .*restoring ([\d.e+-]+ \w+)",
                                  items[last - 3]).groups()
    count = int(re.match(r"(?:.*, )?(\d+) iteration", items[last - 4]).group(1))
    seconds = sum(float(value) * UNITS[unit] for value, unit in
                  (inside.split(), restoring.split()))
    return items[last + 1:], seconds / count


def is_busy(said):
    return bool(said) and said[0].startswith("the machine was busy")


def really(arguments):
    """As simulate(): VARIABLE=VALUE ... RANKS PROGRAM ARGUMENT...  Where others have
    the cores, again."""
    for _ in range(5):
        said, seconds = really_once(arguments)
        if not is_busy(said):
            return said, seconds
        time.sleep(2)
    print("SKIP: %s: %s" % (arguments, said[0]))
    sys.exit(1 if failures else 77)


def really_once(arguments):
    words = arguments.split()
    variables = {"OMP_WAIT_POLICY": "passive", "EVENKEEL_REPORT": "1", "EVENKEEL_WORKERS": "1"}
    while "=" in words[0]:
        name, value = words.pop(0).split("=")
        variables["EVENKEEL_" + name] = value
    at = words.index("planted") if "planted" in words else words.index("emulate")
    words[at] = PLANTED if words[at] == "planted" else EK_EMULATE
    out, err = output([MPIRUN, "-n", *words], **variables)
    said, seconds = report(err)
    if words[at] == EK_EMULATE:
        said = paragraphs(out)
    return said, seconds


def compare(run, name, cause, with_cause, without, times=1):
    """TIMES: as much is in an iteration without the cause."""
    said, _ = run(with_cause)
    seconds = run(without)[1] / times
    gain = GAIN.search(said[0]) if said else None
    if not gain or not re.search(cause, said[0][:gain.start()]):
        fail("%s: not '%s' in %s" % (name, cause, said))
        return
    predicted, now = (float(gain.group(i)) * UNITS[gain.group(i + 1)] for i in (1, 3))
    real = now - seconds
    word = re.search(cause, said[0]).group(0)
    print("| %s | %s | %.4g | %.4g | %.4g | %.2f |" %
          (name, word, now * 1e3, predicted * 1e3, real * 1e3, predicted / real), flush=True)
    if not abs(predicted - real) <= BOUND * real:
        fail("%s: the gain is %.4g ms, not %.4g ms" % (name, predicted * 1e3, real * 1e3))


def healthy(run, name, arguments):
    said, seconds = run(arguments)
    print("| %s | nothing | %.4g | | | |" % (name, seconds * 1e3), flush=True)
    if said:
        fail("%s: %s" % (name, said))


def machines():
    """Files in this folder."""
    polls = "progress polling\n"
    for name, lines in (("plain", polls), ("server", "progress server\n"),
                        ("balance", polls + "balance 20 us\nbandwidth 100 MB/s\n"),
                        ("answers", polls + "handle 2 ms\n")):
        with open(name + ".m", "w", encoding="ascii") as file:
            file.write("like ib-edr\nnode_cores 8\n" + lines)


def simulated():
    small = "--cores 64 --iterations 4 --machine %s.m --synthetic lognormal:n=%d,mean_us=%g,cv=1 "
    tasks = small % ("plain", 6400, 1000)
    equal = "--cores 64 --iterations 4 --machine plain.m --synthetic constant:n=%d,mean_us=%g"
    for case in (
            ("stealing off", "stealing is off", tasks + "--steal none", tasks),
            ("one long task", "behind the longest task",
             tasks.replace("cv=1", "cv=1,longest=0.3"), tasks),
            ("few tasks", "cut them into ten times as many",
             equal % (150, 10000), equal % (1500, 1000)),
            ("anew each time", "each iteration starts as the first",
             "--start uneven:4:8 --policy original " + small.replace("64 ", "256 ", 1) %
             ("plain", 4000, 1000),
             "--start uneven:4:8 " + small.replace("64 ", "256 ", 1) % ("plain", 4000, 1000)),
            ("a counter", "a counter deals one task at a time",
             small.replace("64 ", "512 ", 1) % ("plain", 100000, 20) +
             "--policy original --steal counter",
             small.replace("64 ", "512 ", 1) % ("plain", 100000, 20) + "--policy original"),
            ("short iterations", "starting and leaving", equal % (2000, 1),
             equal % (200000, 1), 100),
            ("servers", "server threads take", small % ("server", 6400, 1000), tasks),
            ("tiles", "for tiles", tasks + "--tiles gets=2,accumulates=1,bytes=128000,overlap=no",
             tasks),
            ("restores", "ek_restore takes",
             small % ("balance", 6400, 1000) + "--policy centralized --noise 20",
             small % ("balance", 6400, 1000) + "--noise 20"),
            ("slow answers", "without tasks",
             small % ("answers", 3200, 5000) + "--change hot-moves",
             small % ("plain", 3200, 5000) + "--change hot-moves")):
        compare(simulate, *case)
    healthy(simulate, "healthy", tasks)
    healthy(simulate, "healthy, rebalanced", tasks + "--policy hierarchical")
    healthy(simulate, "healthy, data", tasks + "--bytes input=1000,result=1000")


def real():
    for case in (
            ("a late rank", "enters .* late", "2 planted tasks=40 us=1000 late_us=20000",
             "2 planted tasks=40 us=1000"),
            ("a hook", "starting and leaving", "2 planted tasks=40 us=1000 hook_us=20000",
             "2 planted tasks=40 us=1000"),
            ("bound to a core", "waited for a core", "2 taskset -c 0 planted tasks=40 cpu_us=1000",
             "2 planted tasks=40 cpu_us=1000"),
            ("slower tasks", "as long as at first",
             "2 planted tasks=40 us=1000 slower=60 iterations=30",
             "2 planted tasks=40 us=1000 iterations=30"),
            ("short tasks", "between tasks", "1 planted tasks=4000000 looks=1 iterations=1",
             "1 planted tasks=40000 looks=100 iterations=1"),
            ("data from afar", "for data",
             "RANKS_PER_NODE=1 2 planted tasks=40 us=5000 away=1000000",
             "RANKS_PER_NODE=1 2 planted tasks=40 us=5000"),
            ("stealing off, emulated", "stealing is off",
             "1 emulate --workers 8 --synthetic lognormal:n=200,mean_us=3000,cv=2 --start block "
             "--steal none",
             "1 emulate --workers 8 --synthetic lognormal:n=200,mean_us=3000,cv=2 --start block")):
        compare(really, *case)
    healthy(really, "healthy, sleeping", "2 planted tasks=40 us=1000")
    healthy(really, "healthy, computing", "2 planted tasks=40 cpu_us=1000")
    healthy(really, "healthy, emulated",
            "1 emulate --workers 8 --synthetic lognormal:n=800,mean_us=1000,cv=1")
    one_voice()
    busy()


def one_voice():
    """ek-report says what the run has said."""
    said, _ = really("RECORD=run.ekr REPORT=1,job.tsv,ranks:ranks.tsv 2 planted tasks=40 us=1000 "
                     "late_us=20000")
    text = output([EK_REPORT, "--text", "--simulate", "0", "run.ekr", "job.tsv", "ranks.tsv"])[0]
    if said[0][1:said[0].index("; this")] not in text:
        fail("ek-report: not '%s' in %s" % (said[0], text.splitlines()[:2]))


def busy():
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        said, _ = really_once("2 planted tasks=40 cpu_us=1000")
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    print("| a busy machine | %s | | | | |" % "; ".join(said))
    if len(said) != 1 or not is_busy(said):
        fail("busy: %s" % said)


EK_SIM, *others = [os.path.realpath(path) for path in sys.argv[1:]]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    machines()
    print("| case | first cause | iteration, ms | gain said | gain | said / gain |\n"
          "|---|---|---|---|---|---|")
    simulated()
    if others:
        MPIRUN, EK_EMULATE, EK_REPORT, PLANTED = others
        real()
    os.chdir("/")
sys.exit(failures > 0)
