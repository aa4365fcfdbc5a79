#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Timelines with known sums, and checks of what is made of them.

timeline.py make FOLDER RANKS WORKERS ITERATIONS [JOB [NAME [LOST [NAMED]]]]
timeline.py borders FILE: where its header and each of its blocks end
timeline.py perfetto FILE RANKS WORKERS STEALS: check trace events
"""
import json
import pathlib
import struct
import sys

OUTSIDE, RESTORE, START, TASK, TASKS, BETWEEN, LOOK, AWAIT, DATA = range(9)
END, STARVED, LEAVE, GONE = 10, 11, 12, 13
STEAL, REQUEST, SERVE = 16, 17, 21
HEAD, HEAD_BYTES = 176, 180


def crc32c(data):
    """CRC-32C, slowly."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xffffffff)


def block(kind, body):
    """A sealed block."""
    length = struct.pack("<Q", len(body))
    return kind + crc32c(kind + length) + length + body + crc32c(body)


def header(job, ranks, here, rank, name):
    """That of a file."""
    head = struct.pack("<8sIIQIIIIII64s64s", b"EKTIMELN", 1, HEAD_BYTES, job, ranks,
                       ranks * here, rank, rank, rank * here, here, name.encode(),
                       f"host{rank}".encode())
    return head + crc32c(head)


def track(number, base, end, events):
    """A block of events (time, kind, function + 1, value)."""
    body = struct.pack("<QQQQ", number, base, end, 0)
    for at, kind, function, value in events:
        body += struct.pack("<QQ", at - base | kind << 44 | function << 49, value)
    return block(b"TRCK", body)


def worker_events(rank, here, worker, base):
    """An iteration of 1000 us from BASE on: rank 1 enters 100 us late."""
    number = rank * here + worker
    home = number << 40
    late = 100 if rank == 1 else 0
    events = [(0, OUTSIDE, 0, 0), (100, RESTORE, 0, 0), (150, OUTSIDE, 0, 0),
              (200 + late, START, 0, 0), (210 + late, TASK, 1, home | 1), (500, BETWEEN, 0, 0),
              (505, TASKS, 2, 7), (600, LOOK, 0, 0)]
    if number > 0:
        events += [(610, STEAL, 0, 1 << 24 | number - 1), (611, BETWEEN, 0, 0),
                   (612, TASK, 1, (number - 1) << 40 | 9)]
    events += [(800, END, 0, 0), (980, LEAVE, 0, 0)]
    return [(base + 1000 * at, kind, function, value) for at, kind, function, value in events]


def make(folder, ranks, here, iterations, job=7, name="fock", lost=0, named=2):
    """The files of a run: each clock has an offset, and loses LOST ns in a ms.

    Of two functions NAMED have a name.
    """
    pathlib.Path(folder).mkdir(exist_ok=True)
    for rank in range(ranks):
        offset = 10 ** 9 * (rank + 1)
        data = header(job, ranks, here, rank, name)
        for i, function in enumerate(('erf <i> & "j"', "last")[:named]):
            data += block(b"FUNC", struct.pack("<I64s", i, function.encode()))
        for k in range(iterations):
            base, late = offset + 10 ** 6 * k, 10 ** 5 * (rank == 1)
            data += block(b"CLCK", struct.pack("<QqQ", base, -offset - lost * k, 1500))
            for worker in range(here):
                events = worker_events(rank, here, worker, base)
                data += track(worker, base, base + 10 ** 6, events)
            data += track(here, base, base + 10 ** 6,
                          [(base, OUTSIDE, 0, 0), (base + 200000 + late, BETWEEN, 0, 0),
                           (base + 300000, SERVE, 0, 3)])
            data += block(b"ITER", struct.pack("<QQQQI4x", k, base + 200000 + late,
                                               base + 10 ** 6, 800000, 0))
        data += block(b"END!", b"")
        (pathlib.Path(folder) / f"{name}.{rank}.ekt").write_bytes(data)


def borders(path):
    """Where the header and the blocks end."""
    data, at = pathlib.Path(path).read_bytes(), HEAD_BYTES
    while at < len(data):
        print(at)
        at += 20 + struct.unpack_from("<Q", data, at + 8)[0]


def perfetto(path, ranks, here, steals):
    """Whether trace events are what Perfetto draws right."""
    trace = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    wrong, names, slices, instants, flows, last = [], {}, {}, {}, {}, {}
    for event in trace["traceEvents"]:
        kind, where = event["ph"], (event["pid"], event["tid"])
        if kind == "M":
            names[where, event["name"]] = event["args"]
            continue
        at = round(event["ts"] * 1000)
        if at < last.get(where, 0):
            wrong.append(f"{event} is before its neighbor")
        last[where] = at
        if kind == "X":
            end = at + round(event["dur"] * 1000)
            stack = slices.setdefault(where, [])
            while stack and stack[-1][1] <= at:
                stack.pop()
            if end < at or (stack and end > stack[-1][1]):
                wrong.append(f"{event} does not nest")
            stack.append((at, end))
        elif kind in "sf":
            if instants.get(where) != (at, {"s": "stolen", "f": "steal"}[kind]):
                wrong.append(f"{event} is at no instant of its own")
            flows.setdefault(event["id"], []).append((kind, at))
        elif kind == "i":
            instants[where] = at, event["name"]
        else:
            wrong.append(f"kind {kind}")
    for number, ends in flows.items():
        ends = sorted(ends, key=lambda end: end[0], reverse=True)
        if [end[0] for end in ends] != ["s", "f"] or ends[0][1] > ends[1][1]:
            wrong.append(f"flow {number} is not a pair: {ends}")
    processes = [where for where, name in names if name == "process_name"]
    threads = {where for where, name in names if name == "thread_name"}
    if len(processes) != ranks or not set(slices) <= threads:
        wrong.append(f"{len(processes)} processes, {len(threads)} threads")
    if len(threads) < ranks * (here + 1) or len(flows) != steals:
        wrong.append(f"{len(threads)} threads, {len(flows)} flows")
    print(*wrong, sep="\n", end="" if not wrong else "\n")
    return bool(wrong)


def main():
    """One of the commands."""
    command, path, *numbers = sys.argv[1:]
    known = {"make": make, "borders": borders, "perfetto": perfetto}
    sys.exit(known[command](path, *[int(word) if word.isdigit() else word for word in numbers]))


if __name__ == "__main__":
    main()
