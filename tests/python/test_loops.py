# SPDX-License-Identifier: BSD-3-Clause
"""Loops of evenkeel.py: who runs what, results, figures.

    test_loops.py RANKS plain|mpi4py
"""
import sys
import time

ranks, mode = int(sys.argv[1]), sys.argv[2]
comm = None
if mode == "mpi4py":
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
import evenkeel as ek                   # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


def expect(is_so, what):
    if not is_so:
        sys.exit(f"rank {tasks.rank}: {what}")


def squares(n, **given):
    """Each index runs once on some rank; its result comes to every rank."""
    out = [None] * n
    for i in tasks.range(n, **given):
        expect(out[i] is None, f"{i} ran twice here")
        out[i] = i * i
    ran = [i for i in range(n) if out[i] is not None]
    expect(tasks.allreduce(out) == [i * i for i in range(n)], out)
    everybody = tasks.map(lambda rank: rank, range(tasks.size))
    expect(everybody == list(range(tasks.size)), everybody)
    return ran


def test_ranges():
    for n in (0, 1, 5, 1000, 7):
        squares(n)
    expect(tasks.report["tasks"] == tasks.size, "map is a loop of its own")
    squares(60, name="sleepers")


def test_retained():
    """What takes long starts where it ran: later loops need no steals."""
    for _ in range(3):
        for _ in tasks.range(20, name="retained"):
            time.sleep(1e-3)
    report = tasks.report
    expect(report["iteration"] == 2 and report["tasks"] == 20, report)
    expect(set(report) == set(ek._FIGURES), report)


def test_stop():
    """After stop() a loop may be left, or run to its end."""
    for leaves in (True, False):
        count = 0
        for _ in tasks.range(1000, name="stopped"):
            count += 1
            tasks.stop()
            if leaves:
                break
        expect(count <= 1, f"{count} ran after stop()")


def test_null_tasks():
    for i in tasks.range(10, name="null"):
        if i % 2:
            tasks.skip()
        else:
            tasks.discard()
    expect(tasks.report["null_tasks"] == 10, tasks.report)
    left = [i for i in tasks.range(10, name="null")]
    expect(sum(tasks.map(lambda _: 0, [0])) == 0, "")
    expect(all(i % 2 for i in left), left)


def test_map():
    items = [f"item {i}" * i for i in range(40)]
    expect(tasks.map(len, items) == list(map(len, items)), "map")
    expect(tasks.map(str.upper, iter(items)) ==
           [item.upper() for item in items], "map of an iterator")
    root = ranks - 1
    at_root = tasks.map(len, items, root=root)
    expect(at_root == (list(map(len, items)) if tasks.rank == root else None),
           at_root)
    expect(tasks.map(len, []) == [], "map of nothing")


def test_arrays():
    out = numpy.full((30, 2), -0.0)
    for repetition in range(2):
        for i in tasks.range(29):
            out[i] = i, repetition
        tasks.allreduce(out)
        expect((out[:29, 0] == range(29)).all() and
               (out[:29, 1] == repetition).all(), out)
    expect(numpy.signbit(out[29]).all(), "29 did not run")
    mixed = numpy.array([None] * 30)
    for i in tasks.range(30):
        mixed[i] = str(i)
    expect(list(tasks.allreduce(mixed)) == list(map(str, range(30))), mixed)


def test_rows():
    """A row of each rank's array is a payload."""
    whole = numpy.arange(48.0 * tasks.size).reshape(-1, 12)[:, :10]
    mine = whole[4 * tasks.rank:4 * tasks.rank + 4]
    tasks.add(mine)
    whole = whole.copy()
    mine[:] = -1                        # add() has copied
    seen, out = numpy.zeros((2, len(whole)))
    for repetition in range(2):
        for task in tasks:
            row = task.payload.view(float)
            expect(not row.flags.writeable and not row.flags.owndata, "a copy")
            number = int(row[0]) // 12
            expect((row == whole[number]).all(), row)
            seen[number] += 1
    try:
        tasks.allreduce(seen)
        sys.exit("allreduce after a loop without numbers")
    except ValueError:
        pass
    numbers = []
    for task in tasks:
        numbers.append(int(task.payload.view(float)[0]) // 12)
        out[numbers[-1]] = numbers[-1] ** 2
    tasks.allreduce(out, numbers)
    expect((out == numpy.arange(len(whole)) ** 2).all(), out)
    total = sum(tasks.map(lambda i: i, [len(whole)]))
    everybody = sum(part for part in tasks._comm.share(seen))
    expect(total == len(whole) and (everybody == 2).all(), everybody)


def test_blocks():
    """The array of one rank, written to by whoever runs its task."""
    mine = {10 * tasks.rank + i: numpy.full((i + 1, 3), float(i))
            for i in range(4)}
    for index, array in mine.items():
        tasks.block(index, array)
    for repetition in range(2):
        for task in tasks:
            if task.function == 1:
                values = task.block.view(float)
                expect((values == task.index % 10 + repetition).all() and
                       len(values) == 3 * (task.index % 10 + 1), values)
                values += 1
                time.sleep(1e-4)
    expect(all((array == index % 10 + 2).all()
               for index, array in mine.items()), mine)
    moved = {index: array * 0 for index, array in mine.items()}
    for index, array in moved.items():
        tasks.block(index, array)
    for task in tasks:
        if task.function == 1:
            task.block.view(float)[:] = -task.index
    expect(all((array == -index).all() for index, array in moved.items()),
           moved)


def test_errors():
    """Local ones: other ranks need not call."""
    objects = numpy.array([None])
    for wrong in (lambda: tasks.add(numpy.zeros((4, 4)).T),
                  lambda: tasks.add(objects), lambda: tasks.block(0, objects),
                  lambda: tasks.block(0, numpy.zeros((4, 4)).T)):
        try:
            wrong()
        except ValueError:
            continue
        sys.exit("columns were taken as rows, or objects as bytes")


def test_views():
    """Rows in reverse, that overlap, and one for all."""
    some = numpy.arange(6.0)
    with ek.Tasks(comm) as others:
        others.add(some[::-1])
        others.add(numpy.broadcast_to(some[5:], (3,)))
        others.add(numpy.lib.stride_tricks.sliding_window_view(some, 2))
        rows = [list(task.payload.view(float)) for task in others]
        rows = sum(others._comm.share(rows), [])
        expect(sorted(rows) == sorted(others.size * (
            [[x] for x in some] + 3 * [[5.0]] +
            [[x, x + 1] for x in some[:5]])), rows)


with ek.Tasks(comm, check=True, seed=3, block_bytes=96,
              payload_bytes=80) as tasks:
    expect(tasks.size == ranks, f"{tasks.size} ranks")
    test_ranges()
    test_retained()
    test_stop()
    test_null_tasks()
    test_map()
    if numpy:
        test_arrays()
        test_rows()
        test_blocks()
        test_errors()
        test_views()
expect(tasks.report == {}, "a report of what is destroyed")
if mode == "mpi4py":
    half = comm.Split(comm.rank % 2)
    with ek.Tasks(half) as tasks:
        expect(tasks.size == half.size, "a communicator of half the ranks")
        expect(tasks.map(abs, [-1, -2]) == [1, 2], "map over half the ranks")
print(f"rank {tasks.rank}: all right")
