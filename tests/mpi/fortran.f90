! The module mpi: the calls reach the library, and the window is of the flavour that was made.
program fortran
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer :: win, failed
  integer(kind=MPI_ADDRESS_KIND) :: base
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at, flavor
  integer :: me, n, next
  logical :: found
  integer(8), asynchronous :: value, got, one, old
  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, failed)
  call MPI_Comm_size(MPI_COMM_WORLD, n, failed)
  next = mod(me + 1, n)
  bytes = 4096
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, failed)
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, flavor, found, failed)
  if (.not. found .or. flavor /= MPI_WIN_FLAVOR_ALLOCATE) stop 'wrong flavour'
  call MPI_Win_lock_all(0, win, failed)
  value = 100 + me; at = 3; one = 1; got = 0
  call MPI_Put(value, 1, MPI_INTEGER8, next, at, 1, MPI_INTEGER8, win, failed)
  call MPI_Win_flush(next, win, failed)
  call MPI_Get(got, 1, MPI_INTEGER8, next, at, 1, MPI_INTEGER8, win, failed)
  call MPI_Win_flush(next, win, failed)
  at = 5
  call MPI_Fetch_and_op(one, old, MPI_INTEGER8, next, at, MPI_REPLACE, win, failed)
  call MPI_Win_unlock_all(win, failed)
  call MPI_Win_free(win, failed)
  if (me == 0 .and. got == 100) print *, 'right'
  call MPI_Finalize(failed)
end program
