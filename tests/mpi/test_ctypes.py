# SPDX-License-Identifier: BSD-3-Clause
"""What a binding to another language needs, through ctypes: no header is read.

    test_ctypes.py LIBEVENKEEL.so RANKS WORKERS
"""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
# MPI comes with the library.  In Open MPI the number of MPI_COMM_WORLD is 0.
mpi = library
world = 0 if hasattr(mpi, 'ompi_mpi_comm_world') else 0x44000000
ranks, workers = (int(argument) for argument in sys.argv[2:4])
library.ek_error_message.restype = ctypes.c_char_p
TASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                        ctypes.c_size_t, ctypes.c_void_p)
ran = []


class Task(ctypes.Structure):
    """ek_task."""
    _fields_ = [('worker', ctypes.c_void_p), ('payload', ctypes.c_void_p),
                ('bytes', ctypes.c_size_t), ('id', ctypes.c_uint64),
                ('duration_s', ctypes.c_double),
                ('deviation', ctypes.c_double), ('count', ctypes.c_int64),
                ('function', ctypes.c_int), ('worker_id', ctypes.c_int),
                ('home', ctypes.c_int), ('is_range', ctypes.c_bool),
                ('is_pinned', ctypes.c_bool), ('is_new', ctypes.c_bool),
                ('has_run', ctypes.c_bool)]


VISIT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.POINTER(Task), ctypes.c_void_p)
visited = []


def expect(status):
    if status != 0:
        sys.exit(library.ek_error_message().decode())


@TASK
def body(worker, payload, size, context):
    ran.append(ctypes.string_at(payload, size))
    return 0


@VISIT
def visit(task, context):
    seen = task.contents
    visited.append((ctypes.string_at(seen.payload, seen.bytes), seen.count,
                    seen.home, seen.has_run))
    return True


def fetch(tasks):
    task = Task()
    expect(library.ek_begin(tasks))
    while True:
        expect(library.ek_next(tasks, 0, ctypes.byref(task)))
        if not task.worker:
            break
        ran.append(ctypes.string_at(task.payload, task.bytes))
        if task.worker_id != library.ek_worker_id(
                ctypes.c_void_p(task.worker)):
            sys.exit(f'fetched for worker {task.worker_id}')
    expect(library.ek_end(tasks, None))


mpi.MPI_Init(None, None)
options = ctypes.create_string_buffer(1024)
expect(library.ek_options_init(options, ctypes.c_size_t(1024)))
for option, value in ((b'name', b'bound'), (b'payload_bytes', b'100'),
                      (b'ignore_environment', b'true'),
                      (b'workers', b'1'), (b'steal', b'none')):
    expect(library.ek_options_set(options, option, value))
tasks, function = ctypes.c_void_p(), ctypes.c_int()
expect(library.ek_create_f(world, options, ctypes.byref(tasks)))
if library.ek_job_workers(tasks) != ranks * workers:
    sys.exit(f'{library.ek_job_workers(tasks)} workers')
expect(library.ek_register(tasks, b'body', body, None, ctypes.byref(function)))
for text in (b'one', b'two', b'three'):
    expect(library.ek_add_task(tasks, function, text,
                               ctypes.c_size_t(len(text)), None))
expect(library.ek_process(tasks, None))
expect(library.ek_visit_tasks(tasks, visit, None))
fetch(tasks)
library.ek_destroy(ctypes.byref(tasks))
mpi.MPI_Finalize()
if sorted(ran) != sorted([b'one', b'three', b'two'] * 2):
    sys.exit(f'{ran} ran')
if sorted(visited) != [(text, 1, visited[0][2], True)
                       for text in (b'one', b'three', b'two')]:
    sys.exit(f'{visited} visited')
