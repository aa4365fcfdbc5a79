! SPDX-License-Identifier: BSD-3-Clause
! What tests in Fortran share.  Kinds are explicit where MPI wants its own: the
! tests are compiled with -fdefault-integer-8, too.
module expect
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_int) :: rank, ranks
contains
    subroutine expect_begin()
        integer(c_int) :: level
        call MPI_Init_thread(MPI_THREAD_FUNNELED, level)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    end subroutine

    subroutine expect_that(is_so, what)
        logical, intent(in) :: is_so
        character(*), intent(in) :: what
        if (is_so) return
        print '(a, i0, 2a)', 'FAIL: rank ', rank, ': ', what
        flush (6)
        call MPI_Abort(MPI_COMM_WORLD, 1_c_int)
    end subroutine

    integer(c_int64_t) function sum_of(part) result(total)
        integer(c_int64_t), intent(in) :: part
        call MPI_Allreduce(part, total, 1_c_int, MPI_INTEGER8, MPI_SUM, &
            MPI_COMM_WORLD)
    end function
end module
