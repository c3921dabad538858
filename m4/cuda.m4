# SPDX-License-Identifier: Apache-2.0 OR MIT
# CUDA headers: of the software driver, the kernels, the tests and the examples. The library itself
# needs none.

AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
        [CUDA Toolkit, or a folder with its headers
         (default: $CUDA_HOME, /usr/local/cuda, the system's);
         --without-cuda: only the library, grinterop-info and what the Python package needs])])
AC_ARG_VAR([CUDA_HOME], [CUDA Toolkit, if --with-cuda does not name one])

gr_cuda_advice="
  The software driver, the tests and the examples are built with the headers of the CUDA Toolkit, 12.0 or newer;
  a GPU is not needed. Do one of these:
  - install the toolkit and pass --with-cuda=DIR, its folder, or set CUDA_HOME;
  - run ./bootstrap check, which fetches the headers from the vendor's Python packages;
  - fetch them yourself: unpack the wheels of nvidia-cuda-runtime and nvidia-cuda-crt (pip download) into one
    folder and pass --with-cuda=FOLDER/nvidia/cu13;
  - pass --without-cuda, which builds the library alone."

dnl Sets gr_cuda_include to the folder of cuda.h below $1. Leaves it empty if there is none.
gr_find_cuda()
{
    gr_cuda_include=
    for gr_dir in "$1/include" "$1"/targets/*/include "$1"; do
        if test -f "$gr_dir/cuda.h"; then
            gr_cuda_include=$gr_dir
            return 0
        fi
    done
    return 1
}

AC_MSG_CHECKING([for the CUDA headers])
gr_cuda_home=
CUDA_CPPFLAGS=
AS_CASE([$with_cuda],
    [no], [gr_cuda_include=],
    [''|yes], [
        for gr_home in ${CUDA_HOME:+"$CUDA_HOME"} /usr/local/cuda; do
            gr_find_cuda "$gr_home" && gr_cuda_home=$gr_home && break
        done],
    [AS_IF([gr_find_cuda "$with_cuda"], [gr_cuda_home=$with_cuda], [
        AC_MSG_RESULT([no])
        AC_MSG_ERROR([there is no cuda.h in $with_cuda/include or $with_cuda.$gr_cuda_advice])])])
AS_IF([test -n "$gr_cuda_include"],
    [dnl The folder goes into make's rules.
     CUDA_INCLUDEDIR=`cd "$gr_cuda_include" && pwd`
     CUDA_CPPFLAGS="-isystem $CUDA_INCLUDEDIR"],
    [test "x$with_cuda" = xno], [CUDA_INCLUDEDIR=],
    [dnl Found by the preprocessor: the system's folders, or CPPFLAGS.
     CUDA_INCLUDEDIR=`echo '#include <cuda.h>' | $CC $CPPFLAGS -M -x c - 2>/dev/null |
        tr ' ' '\n' | $SED -n 's,/cuda\.h$,,p' | $SED 1q`])
AC_MSG_RESULT([${CUDA_INCLUDEDIR:-no}])

gr_cuda_why=
CUDA_VERSION=0
AS_IF([test -n "$CUDA_INCLUDEDIR"], [
    dnl cudaTypedefs.h has the function types of the driver; kernels need crt/host_defines.h.
    for gr_header in cudaTypedefs.h cudaGL.h vector_types.h vector_functions.h crt/host_defines.h; do
        AS_IF([test -f "$CUDA_INCLUDEDIR/$gr_header"], [],
            [gr_cuda_why="$CUDA_INCLUDEDIR has cuda.h but not $gr_header"])
    done
    AC_MSG_CHECKING([for the CUDA version])
    CUDA_VERSION=`$SED -n 's/^#define CUDA_VERSION *\(@<:@0-9@:>@*\).*/\1/p' "$CUDA_INCLUDEDIR/cuda.h"`
    AC_MSG_RESULT([$CUDA_VERSION])
    AS_IF([test "${CUDA_VERSION:-0}" -ge 12000], [],
        [gr_cuda_why="$CUDA_INCLUDEDIR is CUDA ${CUDA_VERSION:-of an unknown version}"])],
    [test "x$with_cuda" != xno], [gr_cuda_why="cuda.h was not found"])
dnl Without --with-cuda, configure goes on without headers.
AS_IF([test -n "$gr_cuda_why"], [
    AS_IF([test -n "$with_cuda"], [AC_MSG_ERROR([$gr_cuda_why.$gr_cuda_advice])])
    AC_MSG_WARN([$gr_cuda_why: only the library, grinterop-info and the Python package are built.$gr_cuda_advice])
    CUDA_INCLUDEDIR= CUDA_CPPFLAGS=])
AS_IF([test -z "$CUDA_INCLUDEDIR"], [
    AS_IF([test "x$gr_softcuda_asked" = xyes],
        [AC_MSG_ERROR([The software driver needs the headers of CUDA.$gr_cuda_advice])])
    enable_softcuda=no])
AM_CONDITIONAL([HAVE_CUDA], [test -n "$CUDA_INCLUDEDIR"])

dnl The runtime API changed with CUDA 13, and libgrinterop-softcudart implements that version only.
gr_softcudart=no
AS_IF([test "x$enable_softcuda" != xno && test "$CUDA_VERSION" -ge 13000 &&
       test -f "$CUDA_INCLUDEDIR/cuda_runtime_api.h"], [gr_softcudart=yes])
AM_CONDITIONAL([HAVE_SOFTCUDART], [test $gr_softcudart = yes])

dnl bench_softcuda compares kernels with OpenMP loops.
AC_LANG_PUSH([C++])
AC_OPENMP
AC_LANG_POP([C++])
AM_CONDITIONAL([HAVE_SOFT_BENCH], [test $gr_softcudart = yes && test -n "$OPENMP_CXXFLAGS"])

AC_SUBST([CUDA_INCLUDEDIR])
AC_SUBST([CUDA_CPPFLAGS])
