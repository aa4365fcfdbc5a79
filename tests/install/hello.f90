! SPDX-License-Identifier: BSD-3-Clause
! Twelve tasks on two ranks, in Fortran.
module calls
    use iso_c_binding
    implicit none
    interface
        integer(c_int) function ek_create_f(comm, options, tasks) bind(c)
            import
            integer(c_int), value :: comm
            type(c_ptr), value :: options
            type(c_ptr) :: tasks
        end function
        integer(c_int) function ek_register(tasks, name, fn, context, number) &
            bind(c)
            import
            type(c_ptr), value :: tasks, context
            character(kind=c_char) :: name(*)
            type(c_funptr), value :: fn
            integer(c_int) :: number
        end function
        integer(c_int) function ek_add_task(tasks, number, payload, bytes, &
            hint) bind(c)
            import
            type(c_ptr), value :: tasks, payload, hint
            integer(c_int), value :: number
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function ek_process(tasks, report) bind(c)
            import
            type(c_ptr), value :: tasks, report
        end function
        subroutine ek_destroy(tasks) bind(c)
            import
            type(c_ptr) :: tasks
        end subroutine
    end interface
    integer :: ran = 0
contains
    integer(c_int) function count_one(worker, payload, bytes, context) bind(c)
        type(c_ptr), value :: worker, payload, context
        integer(c_size_t), value :: bytes
        !$omp atomic
        ran = ran + 1
        count_one = 0
    end function
end module

program hello
    use calls
    use mpi
    type(c_ptr) :: tasks
    integer(c_int) :: number
    integer :: rank, total, i, ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call check(ek_create_f(MPI_COMM_WORLD, c_null_ptr, tasks))
    call check(ek_register(tasks, 'count'//c_null_char, c_funloc(count_one), &
                           c_null_ptr, number))
    do i = 1, 6
        call check(ek_add_task(tasks, number, c_null_ptr, 0_c_size_t, &
                               c_null_ptr))
    end do
    call check(ek_process(tasks, c_null_ptr))
    call ek_destroy(tasks)
    call MPI_Reduce(ran, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, &
                    ierror)
    if (rank == 0) print '(i0, a)', total, ' tasks ran'
    call MPI_Finalize(ierror)
contains
    subroutine check(status)
        integer(c_int), intent(in) :: status
        if (status /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine
end program
