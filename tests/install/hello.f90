! SPDX-License-Identifier: BSD-3-Clause
! Twelve tasks on two ranks, in Fortran.
module bodies
    use iso_c_binding
    implicit none
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
    use bodies
    use evenkeel
    use mpi
    implicit none
    type(ek_tasks) :: tasks
    integer :: rank, total, ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call ek_create(MPI_COMM_WORLD, tasks)
    call ek_register(tasks, 'count', count_one)
    call ek_add_range(tasks, 'count', 6 * rank + 1, 6 * rank + 6)
    call ek_process(tasks)
    call ek_destroy(tasks)
    call MPI_Reduce(ran, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, &
        ierror)
    if (rank == 0) print '(i0, a)', total, ' tasks ran'
    call MPI_Finalize(ierror)
end program
