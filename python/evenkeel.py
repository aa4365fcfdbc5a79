# SPDX-License-Identifier: BSD-3-Clause
"""Evenkeel from Python: loops whose tasks run on any rank of the job.

    import evenkeel as ek

    with ek.Tasks() as tasks:
        for i in tasks.range(n):                # each i on one rank of the job
            out[i] = f(i)
        tasks.allreduce(out)                    # every out[i] on every rank
        results = tasks.map(f, items)           # in the order of items

All ranks run the same program: `mpirun -n 4 python3 program.py`.  Without
mpirun the job has one rank.  NumPy and mpi4py are optional.

A rank has one worker, because one thread at a time runs Python code (the global
interpreter lock): start a rank for each core.

The module loads libevenkeel by ctypes: the file that EVENKEEL_LIBRARY names,
else that of the prefix in which this module is installed, else what the loader
or pkg-config finds.  `python3 -m evenkeel` prints which.

docs/how-to/call-from-other-languages.md says more.
"""
from __future__ import annotations

import atexit
import ctypes
import functools
import os
import pathlib
import pickle
import re
import subprocess
import sys
import time
import traceback
from typing import Any, Callable, Iterable, Iterator, Optional, Union

__version__ = "0.1.0"
__all__ = ["Error", "Stopped", "Task", "Tasks", "library_path"]

_SONAME = "libevenkeel.so.0.1"
_SERIALIZED = 2             # MPI_THREAD_SERIALIZED of Open MPI and MPICH
_PIECE_BYTES = 1 << 30      # of one reduction, whose count is an int
_OPTIONS_BYTES = 1024       # room for ek_options, as evenkeel_bind.h says
_REPORT_WORDS = 10          # of ek_process_report; the last one: stopped
_SECONDS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, None: 1}
_LEFT = (b"this rank left its loop by an exception, or by break without "
         b"tasks.stop()")
_ONE_WORKER = ("a rank of Python has one worker, because one thread at a time "
               "runs Python code (the global interpreter lock): start a rank "
               "for each core, with workers and EVENKEEL_WORKERS at 1")
# What Tasks.report has; docs/reference/figures.md explains each.
_FIGURES = """
iteration efficiency imbalance bound wall_s work_s tasks stolen largest_task_s
speed inflation workers cores slowest_rank latest_rank largest_task_function
largest_task_id restore steal null_tasks spawned cancelled failed tries
tries_deviation steals steals_deviation in_vain messages deepest overhead_s
search_s stealing_s end_s start_s late_s restore_s outside_s cpu_s starved_s
starved_in_tasks_s starved_idle_s serve_p50_s serve_p99_s tile_gets tile_hits
tile_bytes tile_wait_s travelled data_in_bytes data_out_bytes data_held_bytes
data_callback_s data_wait_s loads_read occupied denied searches_1 searches_2
searches_3 searches_4 searches_more grants cyclic first_steals first_steal_s
first_steal_most_s termination save_s saves_failed stopped
""".split()

_open: list[Tasks] = []         # not closed yet, in the order of all ranks
_left_behind: list[Tasks] = []  # by an exception of this rank alone


class Error(RuntimeError):
    """A call of the library failed: its sentence, and its status."""

    def __init__(self, text: str, status: int = 0):
        super().__init__(text)
        self.status = status        # as EK_ERR_...; 0: this module refused


class Stopped(Exception):
    """A signal, the time limit or stop_at() has ended a loop early, on all
    ranks.  The next loop of that name runs the rest.

    results  Of map(): what was computed so far, by index.
    """

    results: dict[int, Any] = {}


class _RemoteTraceback(Exception):
    """Where an exception of another rank came from."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _bytes_at(address: Optional[int], size: int) -> Any:
    """An array of NumPy over memory that others own."""
    import numpy
    return numpy.frombuffer((ctypes.c_char * size).from_address(address or 0),
                            numpy.uint8) if size else numpy.empty(0, "u1")


class Task(ctypes.Structure):
    """A task that Tasks yields: the fields of ek_task (evenkeel_task.h)."""

    _fields_ = [("worker", ctypes.c_void_p),
                ("_payload", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_size_t), ("id", ctypes.c_uint64),
                ("duration_s", ctypes.c_double),
                ("deviation", ctypes.c_double), ("count", ctypes.c_int64),
                ("function", ctypes.c_int), ("worker_id", ctypes.c_int),
                ("home", ctypes.c_int), ("is_range", ctypes.c_bool),
                ("is_pinned", ctypes.c_bool), ("is_new", ctypes.c_bool),
                ("has_run", ctypes.c_bool), ("starts_run", ctypes.c_bool),
                ("_more", ctypes.c_uint64 * 8)]     # of later versions

    @property
    def payload(self) -> Any:
        """The row that add() copied: payload.view(dtype), to read.  Valid until
        the loop asks for the next task."""
        row = _bytes_at(ctypes.cast(self._payload, ctypes.c_void_p).value,
                        self.bytes)
        row.flags.writeable = False
        return row

    @property
    def index(self) -> int:
        """The index of block()."""
        return self._payload[0]

    @property
    def block(self) -> Any:
        """The array of block(), or where it came to: block.view(dtype), to read
        and write.  Valid until the loop asks for the next task."""
        library, worker = _library(), ctypes.c_void_p(self.worker)
        return _bytes_at(library.ek_task_data(worker),
                         library.ek_task_data_bytes(worker))


def _candidates() -> Iterator[str]:
    """Names of the library, in the order in which they are tried."""
    for parent in list(pathlib.Path(__file__).resolve().parents)[:5]:
        for folder in ("lib*", "lib/*-linux-*", "."):
            yield from map(str, sorted(parent.glob(f"{folder}/{_SONAME}")))
    yield _SONAME
    try:
        folder = subprocess.run(
            ["pkg-config", "--variable=libdir", "evenkeel"], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        yield f"{folder.stdout.strip()}/{_SONAME}"
    except (OSError, subprocess.CalledProcessError):
        pass


def _load() -> ctypes.CDLL:
    """The library; plugins of MPI look for its symbols among the global."""
    given = os.environ.get("EVENKEEL_LIBRARY")
    reasons = []
    for name in [given] if given else _candidates():
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            reasons.append(str(error))
    advice = (f"EVENKEEL_LIBRARY={given} is no such file" if given else
              "set EVENKEEL_LIBRARY to the path of this file, or "
              "PKG_CONFIG_PATH to the folder of evenkeel.pc")
    raise ImportError(f"evenkeel: cannot load {_SONAME}; {advice} "
                      f"({'; '.join(reasons)})")


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """The loaded library, of the version of this module."""
    library = _load()
    for name, kind in (("version", ctypes.c_char_p),
                       ("error_message", ctypes.c_char_p),
                       ("task_data", ctypes.c_void_p),
                       ("task_data_bytes", ctypes.c_size_t)):
        getattr(library, f"ek_{name}").restype = kind
    version = library.ek_version().decode()
    if version != __version__:
        raise ImportError(f"evenkeel: evenkeel.py has version {__version__}, "
                          f"but {library._name} has {version}; install both "
                          "together, or set EVENKEEL_LIBRARY")
    return library


def library_path() -> str:
    """The file of the library."""
    _library()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split(maxsplit=5)[5].strip() for line in maps
                    if "libevenkeel" in line)


def _check(status: int) -> None:
    if status != 0:
        raise Error(_library().ek_error_message().decode(errors="replace"),
                    status)


def _text(option: str, value: Any) -> str:
    """The value of an option as the library reads it."""
    if isinstance(value, bool) and option != "ignore_environment":
        value = int(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Results(ctypes.Structure):
    """ek_results of evenkeel_loop.h."""

    _fields_ = [("struct_bytes", ctypes.c_size_t), ("count", ctypes.c_int64),
                ("index", ctypes.POINTER(ctypes.c_int64)),
                ("start", ctypes.POINTER(ctypes.c_int64)),
                ("bytes", ctypes.c_void_p)]

    def loads(self) -> dict[int, Any]:
        """What was pickled, by index."""
        if self.count == 0:
            return {}
        start = self.start[:self.count + 1]
        whole = memoryview((ctypes.c_char * start[-1]).from_address(self.bytes))
        return {index: pickle.loads(whole[a:b]) for index, a, b
                in zip(self.index[:self.count], start, start[1:])}


class _Comm:
    """A communicator, and a collection without tasks to talk over it."""

    def __init__(self, comm: Any):
        self.calls = _library()
        self._refuse_other_mpi()
        self._initialize()
        self.world, self.byte, self.bor = self._handles()
        if comm is None:
            self.fortran = 0 if self._is_open_mpi() else self.world
            self.rank = self._number("MPI_Comm_rank", self.world)
        else:
            self.fortran, self.rank = comm.py2f(), comm.rank
        self.tasks = self.create({"name": "python", "workers": 1,
                                  "ignore_environment": True})
        self.size = self.calls.ek_job_workers(self.tasks)

    def _is_open_mpi(self) -> bool:
        return hasattr(self.calls, "ompi_mpi_comm_world")

    def _handles(self) -> list[Any]:
        """MPI_COMM_WORLD, MPI_BYTE, MPI_BOR."""
        if not self._is_open_mpi():
            return [0x44000000, 0x4c00010d, 0x58000008]     # MPICH's ABI
        return [ctypes.byref(ctypes.c_char.in_dll(self.calls, name))
                for name in ("ompi_mpi_comm_world", "ompi_mpi_byte",
                             "ompi_mpi_op_bor")]

    def _refuse_other_mpi(self) -> None:
        module = sys.modules.get("mpi4py.MPI")
        vendor = module.get_vendor()[0] if module else None
        if vendor and (vendor == "Open MPI") != self._is_open_mpi():
            raise Error(f"mpi4py uses {vendor}, but {library_path()} uses "
                        "another MPI: build Evenkeel with meson -Dmpi=...")

    def _number(self, name: str, *arguments: Any) -> int:
        """What a call of MPI writes to its last argument."""
        number = ctypes.c_int()
        getattr(self.calls, name)(*arguments, ctypes.byref(number))
        return number.value

    def _initialize(self) -> None:
        """Start MPI, and end it at exit, unless mpi4py does."""
        if not self._number("MPI_Initialized"):
            self._number("MPI_Init_thread", None, None, _SERIALIZED)
            atexit.register(self.calls.MPI_Finalize)
        atexit.unregister(_close_all)
        atexit.register(_close_all)         # the last one runs first

    def create(self, options: dict[str, Any]) -> ctypes.c_void_p:
        """A collection with these options, which may be bad on one rank."""
        tasks, error = ctypes.c_void_p(), None
        room = ctypes.create_string_buffer(_OPTIONS_BYTES)
        texts = {option.encode(): _text(option, value).encode()
                 for option, value in options.items()}
        _check(self.calls.ek_options_init(room,
                                          ctypes.c_size_t(_OPTIONS_BYTES)))
        try:
            for option, text in texts.items():
                _check(self.calls.ek_options_set(room, option, text))
        except Error as failure:
            error = failure
        for other in self.share(error and str(error)):
            if other:
                raise error or Error(other)
        _check(self.calls.ek_create_f(self.fortran, room,
                                      ctypes.byref(tasks)))
        return tasks

    def unite(self, address: int, size: int) -> None:
        """Set the bits that any rank has set.  Collective."""
        for at in range(0, size, _PIECE_BYTES):
            _check(self.calls.ek_reduce(
                self.tasks, ctypes.c_void_p(address + at),
                min(_PIECE_BYTES, size - at), self.byte, self.bor))

    def share(self, mine: Any) -> list[Any]:
        """What each rank has given, by rank.  Collective."""
        if not hasattr(self, "tasks"):
            return [mine]                   # of the first collection
        data = pickle.dumps(mine)
        sizes = (ctypes.c_int64 * self.size)()
        sizes[self.rank] = len(data)
        self.unite(ctypes.addressof(sizes), ctypes.sizeof(sizes))
        room = (ctypes.c_char * sum(sizes))()
        starts = [sum(sizes[:rank]) for rank in range(self.size + 1)]
        room[starts[self.rank]:starts[self.rank + 1]] = data
        self.unite(ctypes.addressof(room), len(room))
        return [pickle.loads(room[a:b]) for a, b in zip(starts, starts[1:])]


def _close_all() -> None:
    """At exit: destroy what is left, unless other ranks wait for more."""
    if hasattr(sys, "last_value"):      # an exception has ended the program
        _left_behind.extend(tasks for tasks in _open
                            if tasks.size > 1 and not tasks._failed_together)
    if _left_behind:
        sys.stdout.flush()
        print("evenkeel: an exception of this rank has left a Tasks, in which "
              "other ranks may wait: the job ends", file=sys.stderr)
        comm = _left_behind[0]._comm
        comm.calls.MPI_Abort(comm.world, 1)
    for tasks in list(_open):
        tasks.close()


def _portable(error: BaseException) -> bytes:
    """The pickled exception and its traceback."""
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
        return pickle.dumps((error, text))
    except Exception:
        return pickle.dumps((Error(repr(error)), text))


class _Loop:
    """A collection with one function, and its iterations."""

    def __init__(self, owner: Tasks, name: str, options: dict[str, Any]):
        self.owner, self.name = owner, name
        self.calls = _library()
        self.blocks: dict[int, Any] = {}    # arrays by their index
        self.found: dict[int, Any] = {}     # by a map that was stopped
        self.given: Any = None              # its number of items, and root
        self.block_function: Any = None
        self.task = Task()
        # Indices of a range that ran here; None: the loop had none.
        self.ran: Optional[list[int]] = []
        self.n = 0                      # of the range
        self.is_stopped = False
        # check=False: loops that skip to an index are not written with range().
        self.tasks = owner._comm.create({"name": name, "workers": 1,
                                         "check": False, **options})
        self.function = self.register(name)
        # Nobody could load its saves: the program has the items of its loops.
        # Nor would a loop that stop() has ended be one that goes on.
        for option, value in (b"checkpoint", b"0"), (b"on_stop", b"restart"):
            _check(self.calls.ek_set_option(self.tasks, option, value))
        self.stop_at(owner._ends_at)
        workers = self.calls.ek_job_workers(self.tasks)
        if workers != owner.size:
            self.destroy()
            raise Error(f"{workers} workers on {owner.size} ranks: "
                        f"{_ONE_WORKER}")

    def register(self, name: str) -> ctypes.c_int:
        function = ctypes.c_int()
        _check(self.calls.ek_register(self.tasks, name.encode(), None, None,
                                      ctypes.byref(function)))
        return function

    def stop_at(self, moment: Optional[float]) -> None:
        seconds = -1 if moment is None else max(0, moment - time.monotonic())
        _check(self.calls.ek_stop_at(self.tasks, ctypes.c_double(seconds)))

    def destroy(self) -> None:
        self.calls.ek_destroy(ctypes.byref(self.tasks))

    def __enter__(self) -> None:
        """Open an iteration."""
        self.owner._ready()
        self.ran, self.is_stopped = [], False
        _check(self.calls.ek_begin(self.tasks))
        self.owner._loop = self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Close it; there is a KIND of exception if the loop was left."""
        if kind and self.task.worker and not self.is_stopped:
            self.calls.ek_fail(self.worker(), 1, _LEFT)
        self.task.worker = None
        report = (ctypes.c_int64 * _REPORT_WORDS)(8 * _REPORT_WORDS)
        try:
            _check(self.calls.ek_end(self.tasks, report))
        except Error as failure:
            self.owner._failed_together = True
            if not kind:
                raise
            # Nobody hears exceptions of a generator that is closed.
            self.owner._failure = failure
        if report[-1]:
            self.owner._failed_together = True
            self.owner._time_is_up()
            self.owner._failure = Stopped(
                f"the loop '{self.name}' was stopped on request; the next loop "
                "of this name runs the rest")
            if not kind:
                failure, self.owner._failure = self.owner._failure, None
                raise failure

    def worker(self) -> ctypes.c_void_p:
        """The worker of the running task."""
        return ctypes.c_void_p(self.task.worker)

    def indices(self, n: int) -> Iterator[int]:
        """Yield the indices of 0 ... n - 1 that this rank runs.  Collective."""
        _check(self.calls.ek_set_range(self.tasks, self.function,
                                       ctypes.c_int64(n)))
        self.n = n
        next_task, tasks, task = self.calls.ek_next, self.tasks, self.task
        here, place = ctypes.c_int(0), ctypes.byref(task)
        with self:
            ran = self.ran.append
            while not (status := next_task(tasks, here, place)) and task.worker:
                index = task._payload[0]
                ran(index)
                yield index
            _check(status)

    def rows(self) -> Iterator[Task]:
        """Yield the tasks that this rank runs.  Collective."""
        with self:
            self.ran = None
            while True:
                self.task = Task()
                _check(self.calls.ek_next(self.tasks, 0,
                                          ctypes.byref(self.task)))
                if not self.task.worker:
                    break
                yield self.task


class Tasks:
    """Loops over the ranks of a communicator.

    comm         A communicator of mpi4py; None: MPI_COMM_WORLD.  MPI is
                 initialized if it is not yet, and ended at exit.
    workers      1: see the head of this module.
    block_bytes  Bytes of the largest array for block(), on all ranks.
    options      Those of docs/reference/options.md, with the same values on all
                 ranks: steal="near", stall_ms=1000, check=1.

    tasks.rank and tasks.size are those of the communicator.
    All ranks make the collective calls in the same order.  A `with` statement
    destroys what a Tasks holds.  If an exception of one rank alone leaves this
    statement, other ranks may wait for the rank: the job is then aborted when
    the program of the rank ends.
    """

    def __init__(self, comm: Any = None, *, workers: int = 1,
                 block_bytes: int = 0, **options: Any):
        if workers != 1:
            raise ValueError(f"workers={workers}: {_ONE_WORKER}")
        if comm is not None and not hasattr(comm, "py2f"):
            raise TypeError(f"comm={comm!r}; allowed: a communicator of "
                            "mpi4py, or None")
        if "name" in options:
            raise ValueError("a Tasks has no name, its loops have: "
                             "tasks.range(n, name='fock')")
        self._comm = _Comm(comm)
        self.rank: int = self._comm.rank
        self.size: int = self._comm.size
        self._block_bytes = block_bytes
        self._options = options
        self._loops: dict[str, _Loop] = {}
        self._loop: Optional[_Loop] = None      # the last one
        # Of a loop that was left.
        self._failure: Union[Error, Stopped, None] = None
        self._failed_together = False
        self._ends_at = self._time_limit()
        _open.append(self)

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None or kind is SystemExit and not error.code or \
                self._failed_together or self.size == 1:
            self.close()
        else:
            _left_behind.append(self)
        if kind is None:
            self._ready()

    def _time_limit(self) -> Optional[float]:
        """When the time limit ends loops, which may be made later."""
        text = str(self._options.get("time_limit", 0))
        if self._options.get("ignore_environment") is not True:
            text = os.environ.get("EVENKEEL_TIME_LIMIT", text)
        read = re.fullmatch(r"0*([1-9]\d*)(ms|s|min|h)?", text)
        return read and time.monotonic() + int(read[1]) * _SECONDS[read[2]]

    def close(self) -> None:
        """Destroy what was made, as the end of `with` does.  Collective."""
        if self in _open:
            _open.remove(self)
        while self._loops:
            self._loops.popitem()[1].destroy()
        self._loop = None
        _library().ek_destroy(ctypes.byref(self._comm.tasks))

    def _ready(self) -> None:
        """Before a collective call: say what could not be said."""
        failure, self._failure = self._failure, None
        if failure:
            self._failed_together = False   # other ranks may have gone on
            raise failure if isinstance(failure, Stopped) else Error(
                f"the loop before this call: {failure}", failure.status)
        if self._loop and self._loop.task.worker:
            raise Error("a task is running: other ranks would not make this "
                        "collective call; make it after the loop")
        self._failed_together = False

    def _loop_of(self, name: str, **options: Any) -> _Loop:
        """The loop of that name, which the first call makes.  Collective."""
        self._ready()
        if name not in self._loops:
            self._failed_together = True        # if it fails
            self._loops[name] = _Loop(self, name, {**options, **self._options})
            self._failed_together = False
        return self._loops[name]

    def range(self, n: int, name: str = "range") -> Iterator[int]:
        """Yield the indices 0 ... n - 1, each on one rank, in any order.

        The first loop deals equal parts to all ranks.  A later loop of the same
        name starts where its indices ran before.  A loop that is left early, by
        break or an exception, fails on all ranks; after stop() it may be left.
        Collective."""
        if not 0 <= n < 1 << 63:
            raise ValueError(f"range: {n}; allowed: 0 ... 2**63 - 1")
        return self._loop_of(name).indices(n)

    def map(self, f: Callable[[Any], Any], items: Iterable[Any],
            root: Optional[int] = None, name: str = "map") -> Any:
        """Return [f(item) for item in items], each computed on one rank.

        All ranks pass the same items.  Results are pickled.  With a root the
        other ranks get None.  If f raises an exception, no further item starts,
        and all ranks raise the exception of the lowest item.  A later map of
        the same name starts where its items ran before.  Collective.

        Stopped has the results so far; the next map of this name needs the
        same items and root, runs the rest, and returns all results."""
        if root is not None and not (isinstance(root, int) and
                                     0 <= root < self.size):
            raise ValueError(f"map: root {root!r}; allowed: 0 ... "
                             f"{self.size - 1}, None. A second list goes into "
                             "the items: map(lambda xy: f(*xy), zip(xs, ys))")
        items = list(items)
        failures: list[tuple[int, bytes]] = []
        loop, stopped = self._loop_of(name), None
        given = len(items), root
        if loop.given not in (None, given):
            raise ValueError(
                "map: {} items, root {}; '{}' was stopped with {}, root {}; "
                "allowed: the same, until all have run".format(
                    *given, name, *loop.given))
        try:
            for i in loop.indices(len(items)):
                try:
                    data = pickle.dumps(f(items[i]))
                    _check(loop.calls.ek_set_result(
                        loop.worker(), data, ctypes.c_size_t(len(data))))
                except BaseException as error:
                    failures.append((i, _portable(error)))
                    self.fail(f"{type(error).__name__}: {error}")
        except Stopped as error:
            stopped = error
        except BaseException as error:
            if not self._failed_together:
                raise
            loop.found, loop.given = {}, None
            if not isinstance(error, Error):    # Ctrl-C between items
                failures.append((-1, _portable(error)))
                self._failure = None
            failures = sum(self._comm.share(failures), [])
            if not failures:
                raise
            error, text = pickle.loads(min(failures)[1])
            raise error from _RemoteTraceback(text)
        results = _Results(ctypes.sizeof(_Results))
        _check(loop.calls.ek_gather(loop.tasks, loop.function,
                                    -1 if root is None else root,
                                    ctypes.byref(results)))
        loop.found.update(results.loads())
        if stopped:
            stopped.results, loop.given = dict(loop.found), given
            raise stopped
        found, loop.found, loop.given = loop.found, {}, None
        return [found[i] for i in sorted(found)] \
            if root in (None, self.rank) else None

    def allreduce(self, array: Any, ran: Optional[list[int]] = None) -> Any:
        """Set array[i] on all ranks to its value where i ran; return the array.

        The indices i are those of the last loop of range() or map().  After a
        loop over tasks of add(), `ran` has the indices that this rank has set.
        The array is a list, or an array of NumPy whose first axis they count.
        An element whose i did not run stays.  Collective."""
        self._ready()
        if ran is None:
            ran = self._loop.ran if self._loop else None
            if ran is None:
                raise ValueError("allreduce: the last loop has no indices; "
                                 "pass a list of those that this rank has set")
            if len(array) < self._loop.n:
                raise ValueError(f"allreduce: {len(array)} elements; the last "
                                 f"loop had {self._loop.n} indices")
        if hasattr(array, "dtype") and not array.dtype.hasobject:
            import numpy
            has_run = numpy.zeros(len(array), bool)
            rows = numpy.zeros(array.shape, array.dtype)
            has_run[ran], rows[ran] = True, array[ran]
            for part in (has_run, rows):
                self._comm.unite(part.ctypes.data, part.nbytes)
            array[has_run] = rows[has_run]
        else:
            for part in self._comm.share({i: array[i] for i in ran}):
                for i, value in part.items():
                    array[i] = value
        return array

    def _task_loop(self, payload_bytes: int = 0) -> _Loop:
        """The loop of add() and block(), which the first call makes."""
        if "tasks" in self._loops:
            return self._loops["tasks"]
        loop = self._loop_of("tasks", payload_bytes=max(48, payload_bytes))
        if self._block_bytes:
            loop.block_function = loop.register("blocks")
            _check(loop.calls.ek_set_data_blocks(
                loop.tasks, loop.block_function,
                ctypes.c_size_t(self._block_bytes)))
        return loop

    def add(self, array: Any) -> None:
        """Add a task for each row of an array of NumPy: its payload.

        Each rank adds tasks of its own.  The payload is copied here, and later
        changes of the array do not reach it.  Each loop `for task in tasks:`
        runs the tasks of all ranks again.  A row lies in one piece.  If its
        length differs between ranks, or a rank adds none, all have to agree on
        the option payload_bytes."""
        row = array[:1]
        if not row.flags.c_contiguous or row.dtype.hasobject:
            raise ValueError("add: a row does not lie in one piece, or has "
                             "objects of Python: pass these to map()")
        row_bytes = row.nbytes // max(len(row), 1)
        if len(array) > 1 and array.strides[0] < row_bytes:
            array = array.copy()    # rows that overlap, or are in reverse
        loop = self._task_loop(row_bytes)
        _check(loop.calls.ek_add_tasks(
            loop.tasks, loop.function, ctypes.c_int64(len(array)),
            ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(row_bytes),
            ctypes.c_size_t(max(row_bytes, array.strides[0]))))

    def block(self, index: int, array: Any) -> None:
        """Let an array of NumPy of this rank be the data of a task.

        `for task in tasks:` runs the task on some rank: task.index, and
        task.block, which is the array, or a copy that comes back.  Call again
        when the array has been replaced.  Needs Tasks(block_bytes=...), the
        size of the largest array."""
        if not (array.flags.c_contiguous and array.flags.writeable) or \
                array.dtype.hasobject:
            raise ValueError("block: not in one piece, not to be written, or "
                             "of objects of Python")
        if not 0 <= index < 1 << 63:
            raise ValueError(f"block: index {index}; allowed: 0 ... 2**63 - 1")
        if not self._block_bytes:
            raise ValueError("block: needs Tasks(block_bytes=...)")
        loop, payload = self._task_loop(), ctypes.c_int64(index)
        _check(loop.calls.ek_set_block(
            loop.tasks, loop.block_function, payload,
            ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)))
        if index not in loop.blocks:
            _check(loop.calls.ek_add_task(
                loop.tasks, loop.block_function, ctypes.byref(payload),
                ctypes.c_size_t(8), None))
        loop.blocks[index] = array

    def __iter__(self) -> Iterator[Task]:
        """Yield the tasks of add() and block(), each on one rank.
        Collective."""
        self._task_loop()
        return self._loop_of("tasks").rows()

    def _of_task(self, call: str, *arguments: Any) -> None:
        if not self._loop or not self._loop.task.worker:
            raise Error(f"{call}: no task is running; call it in a loop")
        getattr(_library(), call)(self._loop.worker(), *arguments)

    def skip(self) -> None:
        """The running task had nothing to do; it keeps its last duration."""
        self._of_task("ek_skip")

    def discard(self) -> None:
        """The running task has nothing to do for good."""
        self._of_task("ek_discard")

    def fail(self, message: str, code: int = 1) -> None:
        """The running task failed: the loop raises an Error on all ranks."""
        self._of_task("ek_fail", code, message.encode())

    def stop(self) -> None:
        """End the loop early: no further task starts on any rank."""
        self._of_task("ek_stop")
        self._loop.is_stopped = True

    def stop_at(self, seconds: float) -> None:
        """Stop the loop that runs so long from now, or begins after that: it
        raises Stopped.  EVENKEEL_TIME_LIMIT does the same.  Below 0: do not
        stop.  Collective."""
        self._ready()
        self._end_at(time.monotonic() + seconds if seconds >= 0 else None)

    def _end_at(self, moment: Optional[float]) -> None:
        self._ends_at = moment
        for loop in self._loops.values():
            loop.stop_at(moment)

    def _time_is_up(self) -> None:
        """It was, if the loop has not ended by a signal: it stops one loop."""
        if self._ends_at and time.monotonic() > self._ends_at - 0.1:
            self._end_at(None)

    @property
    def report(self) -> dict[str, float]:
        """Figures of the last loop, of the whole job
        (docs/reference/figures.md)."""
        figures, value = {}, ctypes.c_double()
        for name in _FIGURES if self._loop else []:
            _check(_library().ek_report_get(self._loop.tasks, name.encode(),
                                            ctypes.byref(value)))
            figures[name] = value.value
        return figures


if __name__ == "__main__":
    try:
        print(f"evenkeel {__version__}: {library_path()}")
    except ImportError as failure:
        sys.exit(str(failure))
