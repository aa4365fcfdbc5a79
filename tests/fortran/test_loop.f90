! SPDX-License-Identifier: BSD-3-Clause
! Loops over ek_next(): numbers, arrays, whole tasks; left early, stopped,
! failed, and by several threads.
program test_loop
    use evenkeel
    use expect
    implicit none
    integer, parameter :: n = 100
    type(ek_tasks) :: tasks
    call expect_begin()
    call ek_create(MPI_COMM_WORLD, tasks, 'name=loop, workers=1')
    call numbers()
    call stopped()
    call left_early()
    call failed()
    call wrong_variable()
    call arrays()
    call whole_tasks()
    call ek_destroy(tasks)
    call threads()
    call MPI_Finalize()
contains
    subroutine numbers()
        integer(c_int32_t) :: short
        integer(c_int64_t) :: long, part
        integer :: pass
        call ek_add_range(tasks, 'pair', n * rank + 1, n * (rank + 1))
        do pass = 1, 2
            part = 0
            do while (ek_next(tasks, short))
                part = part + short
            end do
            call expect_numbers(part, 'numbers of 4 bytes')
            part = 0
            do while (ek_next(tasks, long))
                part = part + long
            end do
            call expect_numbers(part, 'numbers of 8 bytes')
        end do
    end subroutine

    subroutine expect_numbers(part, what)
        integer(c_int64_t), intent(in) :: part
        character(*), intent(in) :: what
        integer(c_int64_t) :: all
        all = int(n, c_int64_t) * ranks
        call expect_that(sum_of(part) == all * (all + 1) / 2, what)
    end subroutine

    ! The loop goes on to its end, and some tasks are cancelled.
    subroutine stopped()
        integer :: number
        integer(c_int64_t) :: ran
        ran = 0
        do while (ek_next(tasks, number))
            ran = ran + 1
            if (rank == 0) call ek_stop(tasks)
        end do
        call expect_that(sum_of(ran) <= n * ranks, 'ek_stop')
    end subroutine

    ! All ranks leave; ek_end() closes the pass, and the next one is whole.
    subroutine left_early()
        integer :: number, ierr
        integer(c_int64_t) :: part
        do while (ek_next(tasks, number))
            call ek_stop(tasks)
            exit
        end do
        call ek_end(tasks)
        call ek_end(tasks, ierr)
        call expect_that(ierr == EK_OK, 'a second ek_end')
        do while (ek_next(tasks, number, ierr))
            exit
        end do
        if (ierr == EK_OK) call ek_end(tasks, ierr)
        call expect_that(ierr == EK_ERR_TASK, 'tasks that were left')
        call expect_that(index(ek_error_message(), 'ek_stop') > 0, 'advice')
        part = 0
        do while (ek_next(tasks, number))
            part = part + number
        end do
        call expect_numbers(part, 'after the loop that was left')
    end subroutine

    subroutine failed()
        integer :: number, ierr
        do while (ek_next(tasks, number, ierr))
            if (number == 7) call ek_fail(tasks, 3_c_int, 'seven')
        end do
        call expect_that(ierr == EK_ERR_TASK, 'ek_fail')
        call expect_that(index(ek_error_message(), 'seven') > 0, 'its words')
    end subroutine

    ! A variable that does not fit ends the pass on all ranks.
    subroutine wrong_variable()
        integer(c_int32_t) :: four(4)
        integer(c_int32_t) :: ierr
        do while (ek_next(tasks, four, ierr))
        end do
        call expect_that(ierr == EK_ERR_TASK, &
            'four integers from 8 bytes')
        call ek_clear(tasks)
        if (rank == 0) call ek_add_range(tasks, 'pair', &
            2147483648_c_int64_t, 2147483648_c_int64_t)
        do while (ek_next(tasks, four(1), ierr))
        end do
        call expect_that(ierr == EK_ERR_TASK, &
            'a number of more than 4 bytes')
    end subroutine

    subroutine arrays()
        integer(c_int32_t) :: short(2)
        integer(c_int64_t) :: long(3), part
        integer :: ij(2)
        call ek_clear(tasks)
        call ek_add_task(tasks, 'quartet', [1, 2] + int(rank), &
            ek_hint(cost=2, rank=0))
        part = 0
        do while (ek_next(tasks, ij))
            part = part + ij(1) * ij(2)
        end do
        call expect_that(sum_of(part) == sum_of((1_c_int64_t + rank) * &
            (2 + rank)), 'arrays of default kind')
        call ek_clear(tasks)
        call ek_add_task(tasks, 'quartet', [3_c_int32_t, 4_c_int32_t])
        do while (ek_next(tasks, short))
            call expect_that(all(short == [3, 4]), 'arrays of 4 bytes')
        end do
        call ek_clear(tasks)
        call ek_add_task(tasks, 'quartet', [3_c_int64_t, 4_c_int64_t, &
            5_c_int64_t])
        do while (ek_next(tasks, long))
            call expect_that(all(long == [3, 4, 5]), 'arrays of 8 bytes')
            call ek_discard(tasks)
        end do
        if (ek_next(tasks, long)) call expect_that(.false., 'a discarded task')
    end subroutine

    subroutine whole_tasks()
        type(ek_task) :: task
        real(c_double), target :: payload(2)
        real(c_double), pointer :: found(:)
        payload = [1.5, 2.5]
        call ek_add_task(tasks, 'bytes', c_loc(payload), c_sizeof(payload), &
            ek_hint(pinned=.true.))
        do while (ek_next(tasks, task))
            call c_f_pointer(task%payload, found, [2])
            call expect_that(all(nint(2 * found) == [3, 5]), 'any payload')
            call expect_that(logical(task%is_pinned), 'a pinned task')
            call expect_that(ek_worker_id(task%worker) == task%worker_id, &
                'its worker')
            call ek_skip(tasks)
            call ek_poll(tasks)
            call ek_set_cost(tasks, 0.5_c_double)
        end do
        call ek_clear(tasks)
        call ek_add_task(tasks, 'pair', 12)
        do while (ek_next(tasks, task))
            call expect_that(ek_number(task) == 12, 'the number of a task')
        end do
    end subroutine

    ! Each thread fetches for a worker between ek_begin() and ek_end().
    subroutine threads()
        integer(c_int64_t) :: part
        integer(c_int) :: here
        type(ek_task) :: task
        call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
        call ek_add_range(tasks, 'pair', n * rank + 1, n * (rank + 1))
        here = ek_rank_workers(tasks) - 1_c_int
        part = 0
        call ek_begin(tasks)
        do while (ek_next(tasks, task, here))
            part = part + ek_number(task)
        end do
        if (ek_next(tasks, task, here)) call expect_that(.false., 'fetch again')
        call ek_end(tasks)
        call expect_numbers(part, 'between ek_begin and ek_end')
        call ek_destroy(tasks)
    end subroutine
end program
