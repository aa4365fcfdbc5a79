! SPDX-License-Identifier: BSD-3-Clause
!
! Evenkeel from Fortran 2008.
!
!     use mpi_f08
!     use evenkeel
!     type(ek_tasks) :: tasks
!     integer :: ij
!
!     call ek_create(MPI_COMM_WORLD, tasks, 'name=fock,workers=1')
!     call ek_set_range(tasks, 'pair', n)         ! numbers 1 ... n
!     do iteration = 1, 10
!         do while (ek_next(tasks, ij))
!             call compute(ij)
!         end do
!     end do
!     call ek_destroy(tasks)
!
! docs/how-to/call-from-fortran.md describes the calls.  The headers in include/
! have the contract of each call of the same name.
!
! Kinds.  Numbers may be integers of 4 and 8 bytes, and so may ierr and
! communicators.  One module file serves programs with and without
! -fdefault-integer-8.
!
! Errors.  With ierr, a call returns its status there: 0, or a negative code.
! Without ierr, a failing call ends all ranks after its sentence.
!
! Threads.  As in the headers.
module evenkeel
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
    use mpi_f08, only: MPI_Comm, MPI_COMM_NULL
    implicit none
    private

    public :: ek_tasks, ek_task, ek_hint, ek_body, ek_save_body
    public :: ek_create, ek_destroy, ek_register, ek_set_option, ek_clear
    public :: ek_add_task, ek_add_range, ek_set_range
    public :: ek_sum, ek_sum_add, ek_reduce_sums, ek_set_result, ek_gather
    public :: ek_begin, ek_next, ek_end, ek_process, ek_restore, ek_get
    public :: ek_save, ek_set_save, ek_load, ek_loaded, ek_goes_on, ek_stop_at
    public :: ek_number, ek_skip, ek_discard, ek_fail, ek_stop, ek_set_cost
    public :: ek_poll, ek_worker_id, ek_worker_here
    public :: ek_job_workers, ek_rank_workers, ek_error_message

    ! Of the integers of MPI, for any MPI.
    integer, parameter :: comm_kind = kind(MPI_COMM_NULL%MPI_VAL)

    ! Statuses, for ierr.
    enum, bind(c)
        enumerator :: EK_ERR_FILE = -7, EK_ERR_TASK, EK_ERR_THREAD, &
            EK_ERR_MPI, EK_ERR_NOMEM, EK_ERR_STATE, EK_ERR_ARG, EK_OK
    end enum
    public :: EK_ERR_FILE, EK_ERR_TASK, EK_ERR_THREAD, EK_ERR_MPI, &
        EK_ERR_NOMEM, EK_ERR_STATE, EK_ERR_ARG, EK_OK

    ! For ek_restore().
    enum, bind(c)
        enumerator :: EK_RESTORE_DEFAULT, EK_RESTORE_ORIGINAL, &
            EK_RESTORE_RETAIN, EK_RESTORE_CENTRALIZED, &
            EK_RESTORE_HIERARCHICAL, EK_RESTORE_CENTRALIZED_HPDC12, &
            EK_RESTORE_HIERARCHICAL_HPDC12, EK_RESTORE_AUTO
    end enum
    public :: EK_RESTORE_DEFAULT, EK_RESTORE_ORIGINAL, EK_RESTORE_RETAIN, &
        EK_RESTORE_CENTRALIZED, EK_RESTORE_HIERARCHICAL, &
        EK_RESTORE_CENTRALIZED_HPDC12, EK_RESTORE_HIERARCHICAL_HPDC12, &
        EK_RESTORE_AUTO

    ! A task from ek_next(): ek_task of evenkeel_task.h.
    type, bind(c) :: ek_task
        type(c_ptr) :: worker = c_null_ptr
        type(c_ptr) :: payload
        integer(c_size_t) :: bytes
        integer(c_int64_t) :: id
        real(c_double) :: duration_s, deviation
        integer(c_int64_t) :: count
        integer(c_int) :: function, worker_id, home
        logical(c_bool) :: is_range, is_pinned, is_new, has_run, starts_run
    end type

    ! What is known of a task before it runs: ek_hint of evenkeel.h.
    type, bind(c) :: ek_hint
        integer(c_size_t) :: struct_bytes = 24
        real(c_double) :: cost = 1
        integer(c_int) :: rank = -1
        logical(c_bool) :: pinned = .false.
    end type

    ! An exact sum of doubles: ek_sum of evenkeel_loop.h.
    type, bind(c) :: ek_sum
        integer(c_int64_t) :: limb(72) = 0
    end type

    ! ek_results of evenkeel_loop.h.
    type, bind(c) :: c_results
        integer(c_size_t) :: struct_bytes = 40
        integer(c_int64_t) :: count = 0
        type(c_ptr) :: index, start, bytes
    end type

    ! For ek_gather(): all ranks get the results.
    integer(c_int), parameter, public :: EK_ALL_RANKS = -1

    type :: function_name
        character(63) :: name
        integer(c_int) :: number
    end type

    ! Writes what the program adds to a save, on each rank: to a file with that
    ! name, or to files whose names begin so, which it closes.  A module
    ! procedure, which calls nothing of the library but ek_goes_on(); its result
    ! is 0, or a code with which the save fails.
    abstract interface
        integer(c_int) function ek_save_body(prefix)
            import :: c_int
            character(*), intent(in) :: prefix
        end function
    end interface

    type :: saver
        procedure(ek_save_body), pointer, nopass :: write => null()
    end type

    ! Whether an iteration is open, and who has opened it.
    enum, bind(c)
        enumerator :: CLOSED, OPENED_BY_NEXT, OPENED_BY_BEGIN
    end enum

    ! A collection.  Calls that this module does not have take the handle.
    type :: ek_tasks
        type(c_ptr) :: handle = c_null_ptr
        integer(c_int), private :: state = CLOSED
        integer(c_int), private :: status = EK_OK
        logical, private :: is_held = .false.
        type(ek_task), private :: task
        type(function_name), allocatable, private :: functions(:)
        type(saver), pointer, private :: saver => null()
    end type

    ! The body of a task: a module procedure with bind(c).  Its result is 0, or
    ! a code with which the task fails.
    abstract interface
        integer(c_int) function ek_body(worker, payload, bytes, context) bind(c)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: worker, payload, context
            integer(c_size_t), value :: bytes
        end function
    end interface

    ! A communicator of mpi_f08 or mpi.
    interface ek_create
        module procedure create_f08, create_i4, create_i8
    end interface

    ! A task with a number, with an array of integers, or with any bytes.
    interface ek_add_task
        module procedure add_number_i4, add_number_i8, add_array_i4, &
            add_array_i8, add_bytes
    end interface

    ! Tasks with the numbers first ... last; first is at least 1.
    interface ek_add_range
        module procedure add_range_i4, add_range_i8
    end interface

    ! Tasks with the numbers 1 ... n, dealt over all ranks, which all call it.
    interface ek_set_range
        module procedure set_range_i4, set_range_i8
    end interface

    ! Fetch the next task: its number, its array of integers, or all of it.
    interface ek_next
        module procedure next_number_i4, next_number_i8, next_array_i4, &
            next_array_i8, next_task
    end interface

    ! The number of a task, from the task or, in a body, from the payload.
    interface ek_number
        module procedure number_of_task, number_of_payload
    end interface

    ! Of a running task: by its worker, or of the last ek_next().
    interface ek_skip
        subroutine c_skip(worker) bind(c, name='ek_skip')
            import :: c_ptr
            type(c_ptr), value :: worker
        end subroutine
        module procedure skip_tasks
    end interface

    interface ek_discard
        subroutine c_discard(worker) bind(c, name='ek_discard')
            import :: c_ptr
            type(c_ptr), value :: worker
        end subroutine
        module procedure discard_tasks
    end interface

    interface ek_stop
        subroutine c_stop(worker) bind(c, name='ek_stop')
            import :: c_ptr
            type(c_ptr), value :: worker
        end subroutine
        module procedure stop_tasks
    end interface

    interface ek_poll
        subroutine c_poll(worker) bind(c, name='ek_poll')
            import :: c_ptr
            type(c_ptr), value :: worker
        end subroutine
        module procedure poll_tasks
    end interface

    interface ek_set_cost
        subroutine c_set_cost(worker, seconds) bind(c, name='ek_set_cost')
            import :: c_double, c_ptr
            type(c_ptr), value :: worker
            real(c_double), value :: seconds
        end subroutine
        module procedure set_cost_tasks
    end interface

    interface ek_set_result
        module procedure set_result_worker, set_result_tasks
    end interface

    interface ek_fail
        module procedure fail_worker, fail_tasks
    end interface

    ! The calls of C.
    interface
        integer(c_int) function ek_worker_id(worker) bind(c)
            import :: c_int, c_ptr
            type(c_ptr), value :: worker
        end function

        integer(c_int) function ek_worker_here(worker) bind(c)
            import :: c_int, c_ptr
            type(c_ptr), value :: worker
        end function

        integer(c_int) function c_create(comm, options, tasks) &
            bind(c, name='ek_create_text')
            import :: c_char, c_int, c_ptr, comm_kind
            integer(comm_kind), value :: comm
            character(kind=c_char), intent(in) :: options(*)
            type(c_ptr) :: tasks
        end function

        subroutine c_destroy(tasks) bind(c, name='ek_destroy')
            import :: c_ptr
            type(c_ptr) :: tasks
        end subroutine

        integer(c_int) function c_register(tasks, name, body, context, &
            number) bind(c, name='ek_register')
            import :: c_char, c_funptr, c_int, c_ptr
            type(c_ptr), value :: tasks, context
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr), value :: body
            integer(c_int) :: number
        end function

        integer(c_int) function c_set_option(tasks, option, text) &
            bind(c, name='ek_set_option')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tasks
            character(kind=c_char), intent(in) :: option(*), text(*)
        end function

        integer(c_int) function c_clear(tasks) bind(c, name='ek_clear')
            import :: c_int, c_ptr
            type(c_ptr), value :: tasks
        end function

        integer(c_int) function c_add_task(tasks, number, payload, bytes, &
            hint) bind(c, name='ek_add_task')
            import :: c_int, c_ptr, c_size_t, ek_hint
            type(c_ptr), value :: tasks, payload
            integer(c_int), value :: number
            integer(c_size_t), value :: bytes
            type(ek_hint), intent(in) :: hint
        end function

        integer(c_int) function c_add_range(tasks, number, first, last) &
            bind(c, name='ek_add_range')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tasks
            integer(c_int), value :: number
            integer(c_int64_t), value :: first, last
        end function

        integer(c_int) function c_set_range(tasks, number, n) &
            bind(c, name='ek_set_range')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tasks
            integer(c_int), value :: number
            integer(c_int64_t), value :: n
        end function

        subroutine c_sum_add(sums, values, count) bind(c, name='ek_sum_add')
            import :: c_double, c_int64_t, ek_sum
            type(ek_sum), intent(inout) :: sums(*)
            real(c_double), intent(in) :: values(*)
            integer(c_int64_t), value :: count
        end subroutine

        integer(c_int) function c_reduce_sums(tasks, sums, count, values) &
            bind(c, name='ek_reduce_sums')
            import :: c_double, c_int, c_ptr, ek_sum
            type(c_ptr), value :: tasks
            type(ek_sum), intent(inout) :: sums(*)
            integer(c_int), value :: count
            real(c_double), intent(inout) :: values(*)
        end function

        integer(c_int) function c_set_result(worker, values, bytes) &
            bind(c, name='ek_set_result')
            import :: c_double, c_int, c_ptr, c_size_t
            type(c_ptr), value :: worker
            real(c_double), intent(in) :: values(*)
            integer(c_size_t), value :: bytes
        end function

        integer(c_int) function c_gather(tasks, number, root, results) &
            bind(c, name='ek_gather')
            import :: c_int, c_ptr, c_results
            type(c_ptr), value :: tasks
            integer(c_int), value :: number, root
            type(c_results), intent(inout) :: results
        end function

        integer(c_int) function c_begin(tasks) bind(c, name='ek_begin')
            import :: c_int, c_ptr
            type(c_ptr), value :: tasks
        end function

        integer(c_int) function c_next(tasks, here, task) &
            bind(c, name='ek_next')
            import :: c_int, c_ptr, ek_task
            type(c_ptr), value :: tasks
            integer(c_int), value :: here
            type(ek_task) :: task
        end function

        integer(c_int) function c_end(tasks, report) bind(c, name='ek_end')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tasks
            integer(c_int64_t) :: report(*)
        end function

        integer(c_int) function c_process(tasks, report) &
            bind(c, name='ek_process')
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: tasks
            integer(c_int64_t) :: report(*)
        end function

        integer(c_int) function c_restore(tasks, policy, report) &
            bind(c, name='ek_restore')
            import :: c_int, c_ptr
            type(c_ptr), value :: tasks, report
            integer(c_int), value :: policy
        end function

        integer(c_int) function c_save(tasks, folder) bind(c, name='ek_save')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tasks
            character(kind=c_char), intent(in) :: folder(*)
        end function

        integer(c_int) function c_set_save(tasks, body, context) &
            bind(c, name='ek_set_save')
            import :: c_funptr, c_int, c_ptr
            type(c_ptr), value :: tasks, context
            type(c_funptr), value :: body
        end function

        integer(c_int) function c_load(tasks, folder) bind(c, name='ek_load')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: tasks
            character(kind=c_char), intent(in) :: folder(*)
        end function

        type(c_ptr) function c_loaded(tasks, iteration) &
            bind(c, name='ek_loaded')
            import :: c_int64_t, c_ptr
            type(c_ptr), value :: tasks
            integer(c_int64_t), intent(inout) :: iteration
        end function

        logical(c_bool) function c_goes_on(tasks) bind(c, name='ek_goes_on')
            import :: c_bool, c_ptr
            type(c_ptr), value :: tasks
        end function

        integer(c_int) function c_stop_at(tasks, seconds) &
            bind(c, name='ek_stop_at')
            import :: c_double, c_int, c_ptr
            type(c_ptr), value :: tasks
            real(c_double), value :: seconds
        end function

        integer(c_int) function c_report_get(tasks, name, figure) &
            bind(c, name='ek_report_get')
            import :: c_char, c_double, c_int, c_ptr
            type(c_ptr), value :: tasks
            character(kind=c_char), intent(in) :: name(*)
            real(c_double) :: figure
        end function

        subroutine c_fail(worker, code, message) bind(c, name='ek_fail')
            import :: c_char, c_int, c_ptr
            type(c_ptr), value :: worker
            integer(c_int), value :: code
            character(kind=c_char), intent(in) :: message(*)
        end subroutine

        integer(c_int) function c_job_workers(tasks) &
            bind(c, name='ek_job_workers')
            import :: c_int, c_ptr
            type(c_ptr), value :: tasks
        end function

        integer(c_int) function c_rank_workers(tasks) &
            bind(c, name='ek_rank_workers')
            import :: c_int, c_ptr
            type(c_ptr), value :: tasks
        end function

        type(c_ptr) function c_error_message() &
            bind(c, name='ek_error_message')
            import :: c_ptr
        end function

        subroutine c_abort() bind(c, name='ek_abort')
        end subroutine

        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
        end function
    end interface

contains

    ! ---- what each call ends with

    subroutine finish(status, ierr)
        integer(c_int), value :: status
        class(*), intent(inout), optional :: ierr
        if (present(ierr)) then
            call put(int(status, c_int64_t), ierr)
        else if (status /= EK_OK) then
            call end_job()
        end if
    end subroutine

    subroutine put(number, argument)
        integer(c_int64_t), value :: number
        class(*), intent(inout) :: argument
        select type (argument)
        type is (integer(c_int32_t))
            argument = int(number, c_int32_t)
        type is (integer(c_int64_t))
            argument = number
        class default
            error stop 'evenkeel: an integer of 4 or 8 bytes is expected'
        end select
    end subroutine

    subroutine end_job()
        flush (output_unit)
        flush (error_unit)
        call c_abort()
    end subroutine

    function ek_error_message() result(message)
        character(:), allocatable :: message
        message = text_of(c_error_message())
    end function

    function text_of(found) result(text)
        type(c_ptr), value :: found
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer(c_size_t) :: i
        call c_f_pointer(found, letters, [c_strlen(found)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function

    ! ---- collections

    subroutine create_f08(comm, tasks, options, ierr)
        type(MPI_Comm), intent(in) :: comm
        type(ek_tasks), intent(out) :: tasks
        character(*), intent(in), optional :: options
        class(*), intent(inout), optional :: ierr
        call finish(create(comm%MPI_VAL, tasks, options), ierr)
    end subroutine

    subroutine create_i4(comm, tasks, options, ierr)
        integer(c_int32_t), intent(in) :: comm
        type(ek_tasks), intent(out) :: tasks
        character(*), intent(in), optional :: options
        class(*), intent(inout), optional :: ierr
        call finish(create(int(comm, comm_kind), tasks, options), ierr)
    end subroutine

    subroutine create_i8(comm, tasks, options, ierr)
        integer(c_int64_t), intent(in) :: comm
        type(ek_tasks), intent(out) :: tasks
        character(*), intent(in), optional :: options
        class(*), intent(inout), optional :: ierr
        call finish(create(int(comm, comm_kind), tasks, options), ierr)
    end subroutine

    integer(c_int) function create(comm, tasks, options) result(status)
        integer(comm_kind), intent(in) :: comm
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in), optional :: options
        character(:), allocatable :: text
        text = ''
        if (present(options)) text = trim(options)
        allocate (tasks%functions(0))
        status = c_create(comm, text // c_null_char, tasks%handle)
    end function

    ! An open pass is an error: C writes the sentence, and destroys all the same.
    subroutine ek_destroy(tasks, ierr)
        type(ek_tasks), intent(inout) :: tasks
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: status
        status = merge(EK_OK, EK_ERR_STATE, tasks%state == CLOSED)
        call c_destroy(tasks%handle)
        if (c_associated(tasks%handle)) then
            status = EK_ERR_STATE       ! a task calls
        else if (associated(tasks%saver)) then
            deallocate (tasks%saver)
        end if
        tasks%state = CLOSED
        call finish(status, ierr)
    end subroutine

    subroutine ek_set_option(tasks, option, text, ierr)
        type(ek_tasks), intent(in) :: tasks
        character(*), intent(in) :: option, text
        class(*), intent(inout), optional :: ierr
        call finish(c_set_option(tasks%handle, option // c_null_char, &
            trim(text) // c_null_char), ierr)
    end subroutine

    subroutine ek_clear(tasks, ierr)
        type(ek_tasks), intent(in) :: tasks
        class(*), intent(inout), optional :: ierr
        call finish(c_clear(tasks%handle), ierr)
    end subroutine

    integer(c_int) function ek_job_workers(tasks)
        type(ek_tasks), intent(in) :: tasks
        ek_job_workers = c_job_workers(tasks%handle)
    end function

    integer(c_int) function ek_rank_workers(tasks)
        type(ek_tasks), intent(in) :: tasks
        ek_rank_workers = c_rank_workers(tasks%handle)
    end function

    ! ---- functions and tasks

    subroutine ek_register(tasks, name, body, context, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        procedure(ek_body), optional :: body
        type(c_ptr), intent(in), optional :: context
        class(*), intent(inout), optional :: ierr
        type(c_funptr) :: body_pointer
        type(c_ptr) :: its_context
        integer(c_int) :: number
        body_pointer = c_null_funptr
        its_context = c_null_ptr
        if (present(body)) body_pointer = c_funloc(body)
        if (present(context)) its_context = context
        call finish(register(tasks, name, body_pointer, its_context, number), &
            ierr)
    end subroutine

    integer(c_int) function register(tasks, name, body, context, number) &
        result(status)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        type(c_funptr), intent(in) :: body
        type(c_ptr), intent(in) :: context
        integer(c_int), intent(out) :: number
        status = c_register(tasks%handle, trim(name) // c_null_char, body, &
            context, number)
        if (status == EK_OK) &
            tasks%functions = [tasks%functions, function_name(name, number)]
    end function

    ! The number of a function.  A new function has no body: ek_next() hands
    ! out its tasks.
    integer(c_int) function find(tasks, name, number) result(status)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int), intent(out) :: number
        integer :: i
        status = EK_OK
        if (allocated(tasks%functions)) then
            do i = 1, size(tasks%functions)
                number = tasks%functions(i)%number
                if (tasks%functions(i)%name == name) return
            end do
        end if
        status = register(tasks, name, c_null_funptr, c_null_ptr, number)
    end function

    subroutine add_range_i8(tasks, name, first, last, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: first, last
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: number, status
        status = find(tasks, name, number)
        if (status == EK_OK) &
            status = c_add_range(tasks%handle, number, first - 1, last)
        call finish(status, ierr)
    end subroutine

    subroutine add_range_i4(tasks, name, first, last, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int32_t), intent(in) :: first, last
        class(*), intent(inout), optional :: ierr
        call add_range_i8(tasks, name, int(first, c_int64_t), &
            int(last, c_int64_t), ierr)
    end subroutine

    subroutine set_range_i8(tasks, name, n, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: n
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: number, status
        status = find(tasks, name, number)
        if (status == EK_OK) status = c_set_range(tasks%handle, number, n)
        call finish(status, ierr)
    end subroutine

    subroutine set_range_i4(tasks, name, n, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int32_t), intent(in) :: n
        class(*), intent(inout), optional :: ierr
        call set_range_i8(tasks, name, int(n, c_int64_t), ierr)
    end subroutine

    subroutine add_bytes(tasks, name, payload, bytes, hint, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        type(c_ptr), intent(in) :: payload
        integer(c_size_t), intent(in) :: bytes
        type(ek_hint), intent(in), optional :: hint
        class(*), intent(inout), optional :: ierr
        type(ek_hint) :: given
        integer(c_int) :: number, status
        if (present(hint)) given = hint
        status = find(tasks, name, number)
        if (status == EK_OK) &
            status = c_add_task(tasks%handle, number, payload, bytes, given)
        call finish(status, ierr)
    end subroutine

    subroutine add_number_i8(tasks, name, number, hint, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        type(ek_hint), intent(in), optional :: hint
        class(*), intent(inout), optional :: ierr
        integer(c_int64_t), target :: index
        index = number - 1
        call add_bytes(tasks, name, c_loc(index), c_sizeof(index), hint, ierr)
    end subroutine

    subroutine add_number_i4(tasks, name, number, hint, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int32_t), intent(in) :: number
        type(ek_hint), intent(in), optional :: hint
        class(*), intent(inout), optional :: ierr
        call add_number_i8(tasks, name, int(number, c_int64_t), hint, ierr)
    end subroutine

    subroutine add_array_i8(tasks, name, array, hint, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: array(:)
        type(ek_hint), intent(in), optional :: hint
        class(*), intent(inout), optional :: ierr
        integer(c_int64_t), target :: copy(size(array))
        copy = array
        call add_bytes(tasks, name, c_loc(copy), &
            size(copy) * c_sizeof(0_c_int64_t), hint, ierr)
    end subroutine

    subroutine add_array_i4(tasks, name, array, hint, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int32_t), intent(in) :: array(:)
        type(ek_hint), intent(in), optional :: hint
        class(*), intent(inout), optional :: ierr
        integer(c_int32_t), target :: copy(size(array))
        copy = array
        call add_bytes(tasks, name, c_loc(copy), &
            size(copy) * c_sizeof(0_c_int32_t), hint, ierr)
    end subroutine

    ! ---- iterations

    ! BEFORE is the failure that has led here, or EK_OK.  ek_get() finds figures
    ! because a report is always made.
    integer(c_int) function end_iteration(handle, state, before) result(status)
        type(c_ptr), intent(in) :: handle
        integer(c_int), intent(inout) :: state
        integer(c_int), value :: before
        integer(c_int64_t) :: report(2)
        state = CLOSED
        report(1) = c_sizeof(report)
        status = c_end(handle, report)
        if (before /= EK_OK) status = before
    end function

    subroutine ek_process(tasks, ierr)
        type(ek_tasks), intent(in) :: tasks
        class(*), intent(inout), optional :: ierr
        integer(c_int64_t) :: report(2)
        report(1) = c_sizeof(report)
        call finish(c_process(tasks%handle, report), ierr)
    end subroutine

    subroutine ek_restore(tasks, policy, ierr)
        type(ek_tasks), intent(in) :: tasks
        integer(c_int), intent(in), optional :: policy
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: chosen
        chosen = EK_RESTORE_DEFAULT
        if (present(policy)) chosen = policy
        call finish(c_restore(tasks%handle, chosen, c_null_ptr), ierr)
    end subroutine

    subroutine ek_get(tasks, name, figure, ierr)
        type(ek_tasks), intent(in) :: tasks
        character(*), intent(in) :: name
        real(c_double), intent(inout) :: figure
        class(*), intent(inout), optional :: ierr
        call finish(c_report_get(tasks%handle, trim(name) // c_null_char, &
            figure), ierr)
    end subroutine

    subroutine ek_save(tasks, folder, ierr)
        type(ek_tasks), intent(in) :: tasks
        character(*), intent(in) :: folder
        class(*), intent(inout), optional :: ierr
        call finish(c_save(tasks%handle, trim(folder) // c_null_char), ierr)
    end subroutine

    ! Without body saves have no data of the program.
    subroutine ek_set_save(tasks, body, ierr)
        type(ek_tasks), intent(inout) :: tasks
        procedure(ek_save_body), optional :: body
        class(*), intent(inout), optional :: ierr
        type(saver), pointer :: own
        type(c_funptr) :: caller
        integer(c_int) :: status
        caller = c_null_funptr
        allocate (own)
        if (present(body)) then
            own%write => body
            caller = c_funloc(call_saver)
        end if
        status = c_set_save(tasks%handle, caller, c_loc(own))
        if (status == EK_OK) then
            if (associated(tasks%saver)) deallocate (tasks%saver)
            tasks%saver => own
        else
            deallocate (own)
        end if
        call finish(status, ierr)
    end subroutine

    integer(c_int) function call_saver(prefix, context) bind(c, name='')
        type(c_ptr), value :: prefix, context
        type(saver), pointer :: own
        call c_f_pointer(context, own)
        call_saver = own%write(text_of(prefix))
    end function

    subroutine ek_load(tasks, folder, ierr)
        type(ek_tasks), intent(in) :: tasks
        character(*), intent(in) :: folder
        class(*), intent(inout), optional :: ierr
        call finish(c_load(tasks%handle, trim(folder) // c_null_char), ierr)
    end subroutine

    ! '' if nothing was loaded; iteration is as it was then, else how many passes
    ! were over.
    function ek_loaded(tasks, iteration) result(prefix)
        type(ek_tasks), intent(in) :: tasks
        class(*), intent(inout), optional :: iteration
        character(:), allocatable :: prefix
        type(c_ptr) :: found
        integer(c_int64_t) :: over
        found = c_loaded(tasks%handle, over)
        prefix = ''
        if (.not. c_associated(found)) return
        prefix = text_of(found)
        if (present(iteration)) call put(over, iteration)
    end function

    ! Whether the next pass is the rest of one.
    logical function ek_goes_on(tasks)
        type(ek_tasks), intent(in) :: tasks
        ek_goes_on = c_goes_on(tasks%handle)
    end function

    subroutine ek_stop_at(tasks, seconds, ierr)
        type(ek_tasks), intent(in) :: tasks
        real(c_double), intent(in) :: seconds
        class(*), intent(inout), optional :: ierr
        call finish(c_stop_at(tasks%handle, seconds), ierr)
    end subroutine

    ! For loops of several threads, which call ek_next() with a task.
    subroutine ek_begin(tasks, ierr)
        type(ek_tasks), intent(inout) :: tasks
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: status
        status = c_begin(tasks%handle)
        if (status == EK_OK) tasks%state = OPENED_BY_BEGIN
        call finish(status, ierr)
    end subroutine

    ! After ek_begin(), or after a loop that was left early.
    subroutine ek_end(tasks, ierr)
        type(ek_tasks), intent(inout) :: tasks
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: status
        status = EK_OK
        if (tasks%state /= CLOSED) &
            status = end_iteration(tasks%handle, tasks%state, EK_OK)
        call finish(status, ierr)
    end subroutine

    ! Whether there is a task.  The first call of a pass opens the iteration,
    ! and the last one closes it, unless the program calls ek_begin().
    logical function next_task(tasks, task, here, ierr) result(found)
        type(ek_tasks), intent(inout) :: tasks
        type(ek_task), intent(inout) :: task
        integer(c_int), intent(in), optional :: here
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: status, worker
        logical :: is_held
        worker = 0
        if (present(here)) worker = here
        is_held = .false.
        found = fetch(tasks%handle, tasks%state, task, worker, is_held, status)
        if (worker == 0) tasks%task%worker = task%worker
        if (present(ierr) .or. status /= EK_OK) call finish(status, ierr)
    end function

    logical function next_number_i8(tasks, number, ierr) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_int64_t), intent(inout) :: number
        class(*), intent(inout), optional :: ierr
        integer(c_int) :: status
        if (is_at_hand(tasks, ierr)) then
            number = number_of_payload(tasks%task%payload)
            found = .true.
            return
        end if
        found = fetch_number(tasks, number, status)
        if (present(ierr) .or. status /= EK_OK) call finish(status, ierr)
    end function

    logical function next_number_i4(tasks, number, ierr) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_int32_t), intent(inout) :: number
        class(*), intent(inout), optional :: ierr
        integer(c_int64_t) :: long
        integer(c_int) :: status
        if (is_at_hand(tasks, ierr)) then
            long = number_of_payload(tasks%task%payload)
            found = long <= huge(number)
            if (found) number = int(long, c_int32_t)
            if (found) return
            tasks%is_held = .true.
        end if
        found = fetch_number(tasks, long, status)
        if (found) then
            if (long > huge(number)) then
                found = .false.
                status = refuse(tasks, 'the number needs an integer of 8 bytes')
            else
                number = int(long, c_int32_t)
            end if
        end if
        if (present(ierr) .or. status /= EK_OK) call finish(status, ierr)
    end function

    logical function next_array_i8(tasks, array, ierr) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_int64_t), intent(inout) :: array(:)
        class(*), intent(inout), optional :: ierr
        integer(c_int64_t), pointer :: payload(:)
        integer(c_int) :: status
        found = fetch_bytes(tasks, size(array) * c_sizeof(0_c_int64_t), status)
        if (found) then
            call c_f_pointer(tasks%task%payload, payload, shape(array))
            array = payload
        end if
        if (present(ierr) .or. status /= EK_OK) call finish(status, ierr)
    end function

    logical function next_array_i4(tasks, array, ierr) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_int32_t), intent(inout) :: array(:)
        class(*), intent(inout), optional :: ierr
        integer(c_int32_t), pointer :: payload(:)
        integer(c_int) :: status
        found = fetch_bytes(tasks, size(array) * c_sizeof(0_c_int32_t), status)
        if (found) then
            call c_f_pointer(tasks%task%payload, payload, shape(array))
            array = payload
        end if
        if (present(ierr) .or. status /= EK_OK) call finish(status, ierr)
    end function

    logical function fetch_number(tasks, number, status) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_int64_t), intent(inout) :: number
        integer(c_int), intent(out) :: status
        found = fetch_bytes(tasks, c_sizeof(number), status)
        if (found) number = number_of_payload(tasks%task%payload)
    end function

    logical function fetch_bytes(tasks, bytes, status) result(found)
        type(ek_tasks), intent(inout) :: tasks
        integer(c_size_t), intent(in) :: bytes
        integer(c_int), intent(out) :: status
        character(80) :: text
        status = tasks%status
        found = fetch(tasks%handle, tasks%state, tasks%task, 0_c_int, &
            tasks%is_held, status)
        if (.not. found .or. tasks%task%bytes == bytes) return
        found = .false.
        write (text, '(2(a, i0))') 'the payload has ', tasks%task%bytes, &
            ' bytes, and the variable ', bytes
        status = refuse(tasks, trim(text))
    end function

    ! Fetch a number by one call of C, in a pass that is open.  Whatever else
    ! this call brings is held for fetch().
    logical function is_at_hand(tasks, ierr)
        type(ek_tasks), intent(inout) :: tasks
        class(*), intent(in), optional :: ierr
        is_at_hand = .false.
        if (present(ierr) .or. tasks%state == CLOSED) return
        tasks%status = c_next(tasks%handle, 0_c_int, tasks%task)
        is_at_hand = tasks%status == EK_OK .and. &
            c_associated(tasks%task%worker) .and. tasks%task%bytes == 8
        if (.not. is_at_hand) tasks%is_held = .true.
    end function

    ! STATUS is that of what is held, and afterwards that of this call.
    logical function fetch(handle, state, task, here, is_held, status) &
        result(found)
        type(c_ptr), intent(in) :: handle
        integer(c_int), intent(inout) :: state
        type(ek_task), intent(inout) :: task
        integer(c_int), intent(in) :: here
        logical, intent(inout) :: is_held
        integer(c_int), intent(inout) :: status
        if (.not. is_held) then
            status = EK_OK
            if (state == CLOSED) then
                status = c_begin(handle)
                if (status == EK_OK) state = OPENED_BY_NEXT
            end if
            if (status == EK_OK) status = c_next(handle, here, task)
        end if
        is_held = .false.
        found = .false.
        if (status == EK_OK) found = c_associated(task%worker)
        if (.not. found .and. state == OPENED_BY_NEXT) &
            status = end_iteration(handle, state, status)
    end function

    ! The task fails, and so does the iteration on all ranks.
    integer(c_int) function refuse(tasks, message) result(status)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: message
        status = EK_OK
        call fail_tasks(tasks, 1_c_int, 'ek_next: ' // message)
        if (tasks%state == OPENED_BY_NEXT) &
            status = end_iteration(tasks%handle, tasks%state, status)
    end function

    ! ---- exact sums

    ! Add each value to its sum.
    subroutine ek_sum_add(sums, values)
        type(ek_sum), intent(inout) :: sums(:)
        real(c_double), intent(in) :: values(:)
        call c_sum_add(sums, values, int(min(size(sums), size(values)), &
            c_int64_t))
    end subroutine

    ! SUMS: those of the first worker of this rank, of the second, ...
    subroutine ek_reduce_sums(tasks, sums, values, ierr)
        type(ek_tasks), intent(in) :: tasks
        type(ek_sum), intent(inout) :: sums(*)
        real(c_double), intent(inout) :: values(:)
        class(*), intent(inout), optional :: ierr
        call finish(c_reduce_sums(tasks%handle, sums, &
            int(size(values), c_int), values), ierr)
    end subroutine

    ! ---- results

    subroutine set_result_worker(worker, values, ierr)
        type(c_ptr), intent(in) :: worker
        real(c_double), intent(in) :: values(:)
        class(*), intent(inout), optional :: ierr
        call finish(c_set_result(worker, values, &
            size(values) * c_sizeof(0._c_double)), ierr)
    end subroutine

    subroutine set_result_tasks(tasks, values, ierr)
        type(ek_tasks), intent(in) :: tasks
        real(c_double), intent(in) :: values(:)
        class(*), intent(inout), optional :: ierr
        call set_result_worker(tasks%task%worker, values, ierr)
    end subroutine

    ! Results in the order of their numbers, a column for each.  Zeros follow
    ! what is shorter than the longest.
    subroutine ek_gather(tasks, name, root, numbers, columns, ierr)
        type(ek_tasks), intent(inout) :: tasks
        character(*), intent(in) :: name
        integer(c_int), intent(in) :: root
        integer(c_int64_t), allocatable, intent(out) :: numbers(:)
        real(c_double), allocatable, intent(out) :: columns(:, :)
        class(*), intent(inout), optional :: ierr
        type(c_results) :: results
        integer(c_int64_t), pointer :: index(:), start(:)
        real(c_double), pointer :: all(:)
        integer(c_int64_t) :: i, rows
        integer(c_int) :: number, status
        status = find(tasks, name, number)
        if (status == EK_OK) &
            status = c_gather(tasks%handle, number, root, results)
        if (status == EK_OK .and. results%count > 0) then
            call c_f_pointer(results%index, index, [results%count])
            call c_f_pointer(results%start, start, [results%count + 1])
            call c_f_pointer(results%bytes, all, [start(size(start)) / 8])
            rows = maxval(start(2:) - start(:size(start) - 1)) / 8
            numbers = index + 1
            allocate (columns(rows, results%count))
            columns = 0
            do i = 1, results%count
                columns(:(start(i + 1) - start(i)) / 8, i) = &
                    all(start(i) / 8 + 1:start(i + 1) / 8)
            end do
        else
            allocate (numbers(0), columns(0, 0))
        end if
        call finish(status, ierr)
    end subroutine

    ! ---- the running task

    integer(c_int64_t) function number_of_task(task) result(number)
        type(ek_task), intent(in) :: task
        number = number_of_payload(task%payload)
    end function

    integer(c_int64_t) function number_of_payload(payload) result(number)
        type(c_ptr), intent(in) :: payload
        integer(c_int64_t), pointer :: index
        call c_f_pointer(payload, index)
        number = index + 1
    end function

    subroutine skip_tasks(tasks)
        type(ek_tasks), intent(in) :: tasks
        call c_skip(tasks%task%worker)
    end subroutine

    subroutine discard_tasks(tasks)
        type(ek_tasks), intent(in) :: tasks
        call c_discard(tasks%task%worker)
    end subroutine

    subroutine stop_tasks(tasks)
        type(ek_tasks), intent(in) :: tasks
        call c_stop(tasks%task%worker)
    end subroutine

    subroutine poll_tasks(tasks)
        type(ek_tasks), intent(in) :: tasks
        call c_poll(tasks%task%worker)
    end subroutine

    subroutine set_cost_tasks(tasks, seconds)
        type(ek_tasks), intent(in) :: tasks
        real(c_double), intent(in) :: seconds
        call c_set_cost(tasks%task%worker, seconds)
    end subroutine

    subroutine fail_tasks(tasks, code, message)
        type(ek_tasks), intent(in) :: tasks
        integer(c_int), intent(in) :: code
        character(*), intent(in) :: message
        call fail_worker(tasks%task%worker, code, message)
    end subroutine

    subroutine fail_worker(worker, code, message)
        type(c_ptr), intent(in) :: worker
        integer(c_int), intent(in) :: code
        character(*), intent(in) :: message
        call c_fail(worker, code, trim(message) // c_null_char)
    end subroutine
end module
