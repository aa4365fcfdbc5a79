# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on one rank is an exception on every rank, and no hang.

    test_errors.py RANKS CASE
"""
import sys

import evenkeel as ek

ranks, case = int(sys.argv[1]), sys.argv[2]
last = ranks - 1


class Strange(Exception):
    """It cannot be pickled with its argument."""

    def __init__(self, text, more):
        super().__init__(text)


def expect_error(call, *texts, kind=ek.Error):
    """The call raises such an exception, whose text has these parts."""
    try:
        call()
    except kind as error:
        text = f"{error}"
        for part in texts:
            if part not in text:
                sys.exit(f"no '{part}' in '{text}'")
        return error
    sys.exit(f"no error with {texts}")


def ctrl_c(_):
    raise KeyboardInterrupt


def loop_raises(tasks):
    """The rank that raises has its own exception, others hear of it."""
    def loop():
        for i in tasks.range(100):
            if i == 3:
                raise KeyError("three")
    try:
        loop()
    except KeyError:
        return expect_error(lambda: tasks.map(abs, [1]), "left its loop")
    except ek.Error as error:
        if "left its loop by an exception" not in str(error):
            sys.exit(str(error))


def test_loop():
    # Whoever has its exception says once more that the loop has failed.
    with ek.Tasks() as tasks:
        loop_raises(tasks)
        if tasks.map(abs, [-4]) != [4]:
            sys.exit("no loop after an error")


def test_break():
    with ek.Tasks() as tasks:
        def loop():
            for i in tasks.range(1000):
                if tasks.rank == last:
                    break
            tasks.map(abs, [1])
        expect_error(loop, "break without tasks.stop()")


def test_break_at_end():
    def block():
        with ek.Tasks() as tasks:
            for i in tasks.range(1000):
                if tasks.rank == last:
                    break
    expect_error(block, "break without tasks.stop()")


def test_fail():
    with ek.Tasks() as tasks:
        def loop():
            for i in tasks.range(50):
                if i == 7:
                    tasks.fail("seven is bad", 12)
        error = expect_error(loop, "seven is bad", "code 12")
        if error.status != -6:
            sys.exit(f"status {error.status}")


def test_map():
    def invert(x):
        return 1 / x
    with ek.Tasks() as tasks:
        error = expect_error(lambda: tasks.map(invert, [1, 0, 2], root=0),
                             kind=ZeroDivisionError)
        if "in invert" not in str(error.__cause__):
            sys.exit(f"cause {error.__cause__}")

        def strange(x):
            raise Strange("odd", x)
        expect_error(lambda: tasks.map(strange, [1]), "Strange('odd')")
        expect_error(lambda: tasks.map(lambda x: sys.stdin, [1]), "pickle",
                     kind=TypeError)
        # Those that no `except Exception` catches come to all ranks, too.
        for kind, call in ((SystemExit, sys.exit), (KeyboardInterrupt, ctrl_c)):
            expect_error(lambda: tasks.map(call, [1]), kind=kind)
        if tasks.map(invert, [1, 2]) != [1, 0.5]:
            sys.exit("no map after an error")


def test_options():
    """Options that differ, that one rank alone gets wrong, or all."""
    with ek.Tasks() as tasks:
        me = tasks.rank
    if ranks > 1:
        with ek.Tasks(iterations_expected=5 + me // last) as tasks:
            expect_error(lambda: tasks.range(1), "iterations_expected")
        with ek.Tasks(steal="nobody" if me == last else "near") as tasks:
            expect_error(lambda: tasks.range(1), "'nobody' is not allowed")
        with ek.Tasks() as tasks:
            expect_error(lambda: sum(tasks.range(5 + me)), "with 5 indices")
            if sum(tasks.map(abs, range(5))) != 10:
                sys.exit("no loop after an error")
    with ek.Tasks(stael="near") as tasks:
        expect_error(lambda: tasks.range(1), "'stael' is unknown")
    expect_error(lambda: ek.Tasks(workers=2), "global interpreter lock",
                 kind=ValueError)
    expect_error(lambda: ek.Tasks(name="x"), "tasks.range",
                 kind=ValueError)


def test_workers():
    """EVENKEEL_WORKERS=2."""
    with ek.Tasks() as tasks:
        expect_error(lambda: tasks.range(1), "global interpreter lock",
                     f"{2 * ranks} workers on {ranks} ranks")


def test_outside():
    with ek.Tasks() as tasks:
        expect_error(tasks.skip, "no task is running")
        for _ in tasks.range(3):
            pass
        expect_error(tasks.stop, "no task is running")
        # All ranks refuse what one alone would stumble over.
        expect_error(lambda: tasks.allreduce([0, 0]), "2 elements", "3 indices",
                     kind=ValueError)
        for n in (-1, 2 ** 64 + 3):
            expect_error(lambda: tasks.range(n), "allowed: 0 ... 2**63 - 1",
                         kind=ValueError)
        for root in (ranks, -1, [2]):
            expect_error(lambda: tasks.map(abs, [1], root), "allowed: 0 ... ",
                         kind=ValueError)


def test_nested():
    """A collective call in a task: other ranks have no such task now."""
    def nested():
        with ek.Tasks() as tasks:
            for _ in tasks.range(2 * ranks):
                tasks.map(abs, [1])
    expect_error(nested)


def test_alone():
    """One rank alone raises where others do not look: the job ends."""
    with ek.Tasks() as tasks:
        if tasks.rank == last:
            raise ValueError("alone")
        tasks.map(abs, [1])


def test_exit():
    """As test_alone, by sys.exit."""
    with ek.Tasks() as tasks:
        if tasks.rank == last:
            sys.exit("alone")
        tasks.map(abs, [1])


def test_no_with():
    """As test_alone, without a with statement."""
    tasks = ek.Tasks()
    if tasks.rank == last:
        raise ValueError("alone")
    tasks.map(abs, [1])


def test_caught():
    """All ranks catch what leaves a loop; one of them hears of it again."""
    with ek.Tasks() as tasks:
        try:
            for i in tasks.range(10):
                if i == 3:
                    raise ValueError("alone")
        except (ValueError, ek.Error):
            pass
        tasks.map(abs, [1])


def test_single():
    """Without other ranks an exception is no reason to end the job."""
    def block():
        with ek.Tasks() as tasks:
            tasks.map(abs, [1])
            raise ValueError("single")
    expect_error(block, "single", kind=ValueError)
    with ek.Tasks() as tasks:
        if tasks.map(abs, [-1]) != [1]:
            sys.exit("no map after an exception")


def test_unclosed():
    """Nobody closes it: the exit does."""
    tasks = ek.Tasks()
    for _ in tasks.range(10):
        pass


globals()[f"test_{case}"]()
print("all right")
