! SPDX-License-Identifier: BSD-3-Clause
! Bodies of tasks, communicators of all kinds, options, figures, errors.
module bodies
    use evenkeel
    use expect, only: rank
    use, intrinsic :: iso_c_binding
    implicit none
contains
    ! Each index writes an element of its own.
    integer(c_int) function square(worker, payload, bytes, context) bind(c)
        type(c_ptr), value :: worker, payload, context
        integer(c_size_t), value :: bytes
        real(c_double), pointer :: squares(:)
        integer(c_int64_t) :: i
        i = ek_number(payload)
        call c_f_pointer(context, squares, [i])
        squares(i) = real(i, c_double) ** 2
        square = 0
        if (bytes /= 8) square = 1
        call ek_poll(worker)
    end function

    integer(c_int) function fail(worker, payload, bytes, context) bind(c)
        type(c_ptr), value :: worker, payload, context
        integer(c_size_t), value :: bytes
        call ek_fail(worker, 5_c_int, 'five')
        fail = 0
    end function

    integer(c_int) function write_rank(prefix)
        character(*), intent(in) :: prefix
        open (9, file=prefix // text_of_rank(), action='write')
        write (9, *) rank
        close (9)
        write_rank = 0
    end function

    integer(c_int) function refuse(prefix)
        character(*), intent(in) :: prefix
        refuse = merge(3_c_int, 0_c_int, rank == 0 .and. len(prefix) > 0)
    end function

    function text_of_rank()
        character(2) :: text_of_rank
        write (text_of_rank, '(a, i1)') '.', rank
    end function
end module

program test_calls
    use bodies
    use expect
    implicit none
    integer, parameter :: n = 100
    interface
        integer(c_size_t) function bytes_of_task() bind(c)
            import :: c_size_t
        end function
        integer(c_size_t) function bytes_of_hint() bind(c)
            import :: c_size_t
        end function
        subroutine make_folder(name) bind(c)
            import :: c_char
            character(kind=c_char), intent(inout) :: name(*)
        end subroutine
        subroutine fill_task(task) bind(c)
            import :: ek_task
            type(ek_task), intent(out) :: task
        end subroutine
    end interface
    call expect_begin()
    call layout()
    call process()
    call left_open()
    call communicators()
    call options()
    call sums()
    call results()
    call saves()
    call MPI_Finalize()
contains
    ! Types of the module are those of C.
    subroutine layout()
        type(ek_task) :: task
        type(ek_hint) :: hint
        call expect_that(c_sizeof(task) == bytes_of_task(), 'ek_task')
        call expect_that(c_sizeof(hint) == bytes_of_hint(), 'ek_hint')
        call expect_that(hint%struct_bytes == c_sizeof(hint), 'struct_bytes')
        call fill_task(task)
        call expect_that(task%bytes == 1 .and. task%count == 2 .and. &
            task%home == 3 .and. task%starts_run, 'fields of ek_task')
        call expect_that(EK_OK == 0 .and. EK_ERR_ARG == -1 .and. &
            EK_ERR_TASK == -6 .and. EK_RESTORE_AUTO == 7, 'constants')
    end subroutine

    subroutine process()
        type(ek_tasks) :: tasks
        real(c_double), target :: squares(n)
        real(c_double) :: figure
        integer :: i, ierr
        squares = 0
        call ek_create(MPI_COMM_WORLD, tasks)
        call ek_register(tasks, 'square', square, c_loc(squares))
        if (rank == 0) call ek_add_range(tasks, 'square', 1, n - 1)
        if (rank == 0) call ek_add_task(tasks, 'square', n)
        call ek_process(tasks)
        call ek_restore(tasks, EK_RESTORE_RETAIN)
        call MPI_Allreduce(MPI_IN_PLACE, squares, int(n, c_int), &
            MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        call expect_that(all(nint(squares) == [(i ** 2, i=1, n)]), 'squares')
        call ek_get(tasks, 'tasks', figure)
        call expect_that(nint(figure) == n, 'a figure')
        call ek_get(tasks, 'nonsense', figure, ierr)
        call expect_that(ierr == EK_ERR_ARG, 'no such figure')
        call expect_that(ek_job_workers(tasks) >= ek_rank_workers(tasks), &
            'workers')
        call ek_clear(tasks)
        call ek_register(tasks, 'fail', fail)
        call ek_add_task(tasks, 'fail', 1)
        call ek_process(tasks, ierr)
        call expect_that(ierr == EK_ERR_TASK, 'a task that fails')
        call expect_that(index(ek_error_message(), 'five') > 0, 'its words')
        call ek_add_range(tasks, 'fail', 0, n, ierr)
        call expect_that(ierr == EK_ERR_ARG, 'numbers begin with 1')
        call ek_destroy(tasks)
        call ek_destroy(tasks)
    end subroutine

    subroutine left_open()
        type(ek_tasks) :: tasks
        integer :: i, ierr
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
        call ek_set_range(tasks, 'pair', n)
        call expect_that(ek_next(tasks, i) .or. rank > 0, 'a number')
        call ek_destroy(tasks, ierr)
        call expect_that(ierr == EK_ERR_STATE .or. rank > 0, 'an open pass')
        call ek_destroy(tasks, ierr)
        call expect_that(ierr == EK_OK, 'destroyed twice')
    end subroutine

    subroutine communicators()
        type(ek_tasks) :: tasks
        type(MPI_Comm) :: half
        call ek_create(MPI_COMM_WORLD%MPI_VAL, tasks, 'workers=1')
        call expect_that(ek_job_workers(tasks) == ranks, 'integer of 4 bytes')
        call ek_destroy(tasks)
        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2_c_int), rank, half)
        call ek_create(int(half%MPI_VAL, c_int64_t), tasks, 'workers=1')
        call expect_that(ek_job_workers(tasks) <= (ranks + 1) / 2, &
            'integer of 8 bytes')
        call ek_destroy(tasks)
        call MPI_Comm_free(half)
    end subroutine

    ! Rounding would lose the ones; and all ranks deal the numbers.
    subroutine sums()
        type(ek_tasks) :: tasks
        type(ek_sum) :: parts(2)
        double precision :: values(2)
        integer :: i, ierr
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
        call ek_set_range(tasks, 'value', 3 * n)
        call ek_set_range(tasks, 'value', 2_c_int64_t * n)
        do while (ek_next(tasks, i))
            call ek_sum_add(parts, [merge(1d20, 1d0, i == n), dble(i)])
        end do
        if (rank == 0) call ek_sum_add(parts(1:1), [-1d20])
        call ek_reduce_sums(tasks, parts, values)
        call expect_that(nint(values(1)) == 2 * n - 1, 'an exact sum')
        call expect_that(nint(values(2)) == n * (2 * n + 1), 'numbers 1 ... n')
        call ek_set_range(tasks, 'value', -1, ierr)
        call expect_that(ierr == EK_ERR_ARG, 'a negative n')
        call ek_destroy(tasks)
    end subroutine

    ! A column for each number, at one rank and at all.
    subroutine results()
        type(ek_tasks) :: tasks
        integer(c_int64_t), allocatable :: numbers(:)
        double precision, allocatable :: columns(:, :)
        integer :: i, j, ierr
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
        call ek_set_range(tasks, 'column', n)
        do while (ek_next(tasks, i))
            if (mod(i, 2) == 0) call ek_set_result(tasks, [(dble(j), j=1, i)])
        end do
        call ek_gather(tasks, 'column', 0_c_int, numbers, columns)
        call expect_that(size(numbers) == merge(n / 2, 0, rank == 0), 'root')
        call ek_gather(tasks, 'column', EK_ALL_RANKS, numbers, columns)
        call expect_that(all(numbers == [(2 * i, i=1, n / 2)]), 'numbers')
        call expect_that(all(shape(columns) == [n, n / 2]), 'shape')
        call expect_that(all([(nint(sum(columns(:, i))) == i * (2 * i + 1), &
            i=1, n / 2)]), 'columns')
        call ek_gather(tasks, 'column', 100_c_int, numbers, columns, ierr)
        call expect_that(ierr == EK_ERR_ARG, 'no such root')
        call ek_destroy(tasks)
    end subroutine

    ! Stopped in the first pass, saved, and loaded into another collection.
    subroutine saves()
        type(ek_tasks) :: tasks
        integer(c_int64_t) :: ran
        integer(c_int32_t) :: iteration
        integer :: i, ierr
        character(21) :: folder
        folder = '/tmp/evenkeel.XXXXXX' // c_null_char
        if (rank == 0) call make_folder(folder)
        call MPI_Bcast(folder, 20_c_int, MPI_CHARACTER, 0_c_int, MPI_COMM_WORLD)
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1,on_stop=continue')
        call ek_set_range(tasks, 'one', n)
        call ek_set_save(tasks, refuse)
        iteration = 7
        call expect_that(ek_loaded(tasks, iteration) == '', 'not loaded')
        call expect_that(iteration == 7, 'left alone')
        call ek_stop_at(tasks, 1d10, ierr)
        call expect_that(ierr == EK_ERR_ARG, 'too many seconds')
        call ek_stop_at(tasks, 1000d0)
        ran = 0
        do while (ek_next(tasks, i))
            ran = ran + 1
            if (ran == 1) call ek_set_save(tasks, write_rank, ierr)
            if (ran == 1) call expect_that(ierr == EK_ERR_STATE, 'a pass is open')
            if (ran == 5) call ek_stop(tasks)
        end do
        call expect_that(ran <= 5, 'stopped')
        call ek_save(tasks, folder(:20), ierr)
        call expect_that(ierr == EK_ERR_FILE, 'refused')
        call ek_set_save(tasks)
        call ek_save(tasks, folder(:20))
        call ek_set_save(tasks, write_rank)
        call ek_save(tasks, folder(:20))
        call ek_destroy(tasks)
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
        call ek_load(tasks, folder(:20), ierr)
        call expect_that(ierr == EK_ERR_ARG, 'no such function')
        call ek_register(tasks, 'one')
        call ek_load(tasks, folder(:20))
        call expect_that(index(ek_loaded(tasks, iteration), folder(:20)) == 1, &
            'the folder')
        call expect_that(iteration == 0, 'no pass is over')
        open (9, file=ek_loaded(tasks) // text_of_rank(), action='read')
        read (9, *) i
        close (9)
        call expect_that(i == rank, 'its own data')
        call expect_that(ek_goes_on(tasks) .eqv. .true., 'the rest of one')
        do while (ek_next(tasks, i))
            ran = ran + 1
        end do
        call expect_that(sum_of(ran) == n, 'each number once')
        call expect_that(ek_goes_on(tasks) .eqv. .false., 'all of it')
        call ek_destroy(tasks)
        if (rank == 0) call execute_command_line('rm -r ' // folder(:20))
    end subroutine

    subroutine options()
        type(ek_tasks) :: tasks
        integer(c_int32_t) :: short
        integer(c_int64_t) :: long
        call ek_create(MPI_COMM_WORLD, tasks, &
            ' name=options, report=0, workers=2,stall_ms=-1 ')
        call expect_that(ek_rank_workers(tasks) == 2, 'workers')
        call ek_set_option(tasks, 'report', '0')
        call ek_set_option(tasks, 'name', 'other', short)
        call expect_that(short == EK_ERR_ARG, 'ierr of 4 bytes')
        call ek_destroy(tasks)
        call expect_options('workers=1,nonsense=2', "'nonsense' is unknown")
        call expect_options('workers', "'workers' has no '='")
        call expect_options('workers=x', "workers: 'x' is not allowed")
        ! One rank alone is wrong, or all are and differ.
        call expect_options(merge('workers=1', 'workers=y', rank > 0), "")
        call ek_create(MPI_COMM_WORLD, tasks, merge('seed=3', 'seed=4', &
            rank > 0), long)
        call expect_that((long == EK_ERR_ARG) .eqv. (ranks > 1), &
            'options that differ')
        call ek_destroy(tasks)
    end subroutine

    subroutine expect_options(text, words)
        character(*), intent(in) :: text, words
        type(ek_tasks) :: tasks
        integer :: ierr
        call ek_create(MPI_COMM_WORLD, tasks, text, ierr)
        call expect_that(ierr == EK_ERR_ARG, text)
        call expect_that(index(ek_error_message(), words) > 0, &
            text // ': ' // ek_error_message())
        call expect_that(.not. c_associated(tasks%handle), 'a handle')
    end subroutine
end program
