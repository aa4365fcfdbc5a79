! SPDX-License-Identifier: BSD-3-Clause
!
! A self-consistent field of a model molecule: ranks draw the elements of the
! Fock matrix from a shared counter, in a loop that skips to its number.
!
!     tools/mpirun -n 2 build/examples/migrate/nxtval_fortran_before [FUNCTIONS]
!
! before.f90 draws from an MPI window, as nxtval() of Global Arrays does.
! after.f90 computes i and j from numbers of Evenkeel, and ascending.f90 keeps the
! loop.  All three print the same energies.  wrong.f90 does not:
! docs/migrate/from-nxtval-fortran.md.
module molecule
    use mpi_f08
    implicit none
    integer :: n
    double precision, allocatable :: x(:), density(:, :), fock(:, :)
contains
    subroutine molecule_create()
        integer :: i
        character(20) :: text
        n = 24
        call get_command_argument(1, text)
        if (text /= '') read (text, *) n
        allocate (x(n), density(n, n), fock(n, n))
        x = [(0.4d0 * (i - 0.5d0 * n) + 0.1d0 * sin(3d0 * i), i=1, n)]
        density = 0
    end subroutine

    double precision function overlap(i, j)
        integer, intent(in) :: i, j
        overlap = exp(-(x(i) - x(j)) ** 2)
    end function

    double precision function core(i, j)
        integer, intent(in) :: i, j
        core = -4 * overlap(i, j) / (1 + abs(x(i) + x(j)) / 2)
    end function

    ! The task: elements with more neighbors take longer.
    subroutine compute(i, j)
        integer, intent(in) :: i, j
        integer :: k, l
        double precision :: element, both
        element = core(i, j)
        do k = 1, n
            do l = 1, n
                both = overlap(i, j) * overlap(k, l)
                if (both > 1d-8) element = element + density(k, l) * both / &
                    (2 + abs(x(i) + x(j) - x(k) - x(l)))
            end do
        end do
        fock(i, j) = element
    end subroutine

    ! Each element is of one rank: the sum has the same digits on any number.
    subroutine share()
        integer :: i
        call MPI_Allreduce(MPI_IN_PLACE, fock, n * n, MPI_DOUBLE_PRECISION, &
            MPI_SUM, MPI_COMM_WORLD)
        do i = 1, n
            fock(i, i + 1:) = fock(i + 1:, i)
        end do
    end subroutine

    double precision function energy()
        integer :: i, j
        energy = 0
        do j = 1, n
            do i = 1, n
                energy = energy + density(i, j) * (core(i, j) + fock(i, j)) / 2
            end do
        end do
    end function

    ! Two electrons in the lowest orbital, which repeated products find.
    subroutine occupy()
        integer :: step, i
        double precision :: orbital(n)
        orbital = 1
        do step = 1, 200
            orbital = 10 * orbital - matmul(fock, orbital)
            orbital = orbital / sqrt(sum(orbital ** 2))
        end do
        do i = 1, n
            density(:, i) = density(:, i) / 2 + orbital * orbital(i)
        end do
    end subroutine
end module

program nxtval_fortran
    use evenkeel
    use molecule
    implicit none
    type(ek_tasks) :: tasks
    integer :: rank, iteration
    double precision :: seconds
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call molecule_create()
    call ek_create(MPI_COMM_WORLD, tasks, 'workers=1,order=ascending')
    call ek_set_range(tasks, 'pair', n * (n + 1) / 2)
    seconds = 0
    do iteration = 1, 12
        fock = 0
        seconds = seconds - MPI_Wtime()
        call build()
        seconds = seconds + MPI_Wtime()
        call share()
        if (rank == 0) print '(a, i0, a, f18.12)', 'iteration ', iteration, &
            ': energy', energy()
        call occupy()
    end do
    if (rank == 0) print '(a, f8.4)', 'seconds: ', seconds
    call ek_destroy(tasks)
    call MPI_Finalize()
contains
    subroutine build()
        integer :: i, j, ij, next
        logical :: more
        more = ek_next(tasks, next)
        do while (more)                 ! again, if a number has descended
            ij = 0
            do i = 1, n
                do j = 1, i
                    ij = ij + 1
                    if (more .and. ij == next) then
                        call compute(i, j)
                        more = ek_next(tasks, next)
                    end if
                end do
            end do
        end do
    end subroutine
end program
