# SPDX-License-Identifier: Apache-2.0 OR MIT
# MPI: an example for many GPUs

AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--without-mpi], [omit examples/farm, which runs on many GPUs by MPI
         (default: built if mpicc is found)])])
AC_ARG_VAR([MPICC], [MPI's compiler, which is queried for its options (default: mpicc)])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])

dnl Prints the options that mpicc passes to the compiler. The mpicc of Open MPI has an option for
dnl this; that of MPICH shows the whole command.
gr_ask_mpi()
{
    MPI_CFLAGS=`"$MPICC" --showme:compile 2>/dev/null` &&
        MPI_LIBS=`"$MPICC" --showme:link 2>/dev/null` && return
    MPI_CFLAGS=`"$MPICC" -compile_info 2>/dev/null`
    MPI_LIBS=`"$MPICC" -link_info 2>/dev/null | $SED 's/^@<:@^ @:>@* //'`
}

gr_mpi=no
gr_mpi_why="it needs all parts"
AS_IF([test "x$with_mpi" = xno], [gr_mpi_why="--without-mpi"],
    [test $gr_everything = yes], [
    AS_IF([test -z "$MPICC"], [AC_PATH_PROG([MPICC], [mpicc], [no])])
    gr_mpi_why="mpicc was not found (Debian: libopenmpi-dev, openmpi-bin)"
    AS_IF([test "x$MPICC" != xno], [
        gr_ask_mpi
        dnl Keeps only the options for the compiler. The MPI headers become system headers, so that
        dnl they cause no warnings.
        MPI_CFLAGS=`echo "$MPI_CFLAGS" | tr ' ' '\n' | $SED -n 's/^-I/-isystem /; /^-@<:@iDp@:>@/p' |
            tr '\n' ' '`
        gr_saved_libs=$LIBS
        gr_saved=$CFLAGS
        CFLAGS="$CFLAGS $MPI_CFLAGS"
        LIBS="$MPI_LIBS $LIBS"
        AC_MSG_CHECKING([whether $MPICC has MPI 3])
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
            [[long one = 1, before;
              return MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, MPI_WIN_NULL);]])],
            [gr_mpi=yes],
            [gr_mpi_why="no program with mpi.h links with the options of $MPICC, see config.log"])
        AC_MSG_RESULT([$gr_mpi])
        CFLAGS=$gr_saved
        LIBS=$gr_saved_libs])])
AS_IF([test "x$with_mpi" = xyes && test $gr_mpi = no],
    [AC_MSG_ERROR([$gr_mpi_why. Without --with-mpi examples/farm is omitted.])])
AM_CONDITIONAL([HAVE_MPI], [test $gr_mpi = yes])
