! SPDX-License-Identifier: BSD-3-Clause
! fatal WHAT: an error that ends the job.
program fatal
    use evenkeel
    use mpi
    implicit none
    type(ek_tasks) :: tasks
    character(20) :: what
    integer :: rank, ierr, number
    call get_command_argument(1, what)
    if (what == 'early') call ek_create(MPI_COMM_WORLD, tasks)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (what == 'option') call ek_create(MPI_COMM_WORLD, tasks, 'steal=wrong')
    if (what == 'one option') call ek_create(MPI_COMM_WORLD, tasks, &
        merge('steal=wrong', 'steal=near ', rank == 1))
    if (what == 'differ') call ek_create(MPI_COMM_WORLD, tasks, &
        merge('seed=3', 'seed=4', rank == 1))
    call ek_create(MPI_COMM_WORLD, tasks, 'workers=1')
    call ek_add_range(tasks, 'pair', 10 * rank + 1, 10 * rank + 10)
    if (what == 'range') call ek_add_range(tasks, 'pair', 5, 1)
    if (what == 'payload') call ek_add_task(tasks, 'three', [1, 2, 3])
    do while (ek_next(tasks, number))
        if (what == 'task' .and. number == 3) call ek_fail(tasks, 1, 'three')
        if (what == 'error stop' .and. rank == 1) error stop 'stopped by itself'
        if (what == 'leave' .or. what == 'open') exit
    end do
    if (what == 'leave') call ek_end(tasks)
    if (what == 'open') call ek_destroy(tasks)
    print '(a)', 'not ended'
end program
