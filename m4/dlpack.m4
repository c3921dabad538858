# SPDX-License-Identifier: Apache-2.0 OR MIT
# DLPack header

AC_ARG_WITH([dlpack],
    [AS_HELP_STRING([--with-dlpack=DIR],
        [a folder with dlpack/dlpack.h of DLPack 1 (default: the system's);
         --without-dlpack: its calls report GR_ERR_UNSUPPORTED])])

gr_dlpack_advice="
  Do one of these:
  - run ./bootstrap check, which fetches the header from a Python package;
  - unpack a package that ships it (apache-tvm-ffi, by pip download) and pass --with-dlpack=FOLDER, the one
    that has dlpack/dlpack.h in it;
  - pass --without-dlpack: the library then has no tensors by DLPack."

dnl Sets gr_dlpack_version to "major.minor" of the header.
gr_read_dlpack()
{
    gr_dlpack_version=`$SED -n 's/^#define DLPACK_MAJOR_VERSION *//p' "$1"`.`
        $SED -n 's/^#define DLPACK_MINOR_VERSION *//p' "$1"`
    AS_IF([test "$gr_dlpack_version" = .], [gr_dlpack_version=`
        $SED -n 's/^#define DLPACK_VERSION *\(@<:@0-9@:>@*\)0$/0.\1/p' "$1"`])
}

AC_MSG_CHECKING([for DLPack's header])
DLPACK_CPPFLAGS=
DLPACK_INCLUDEDIR=no
AS_CASE([$with_dlpack],
    [no], [],
    [''|yes], [
        gr_dir=`echo '#include <dlpack/dlpack.h>' | $CC $CPPFLAGS -M -x c - 2>/dev/null |
            tr ' ' '\n' | $SED -n 's,/dlpack/dlpack\.h$,,p' | $SED 1q`
        AS_IF([test -n "$gr_dir"], [DLPACK_INCLUDEDIR=$gr_dir])],
    [for gr_dir in "$with_dlpack/include" "$with_dlpack"; do
        AS_IF([test -f "$gr_dir/dlpack/dlpack.h"], [
            DLPACK_INCLUDEDIR=`cd "$gr_dir" && pwd`
            DLPACK_CPPFLAGS="-isystem $DLPACK_INCLUDEDIR"
            break])
    done])
AC_MSG_RESULT([$DLPACK_INCLUDEDIR])
gr_dlpack_why="--without-dlpack"
AS_IF([test "x$DLPACK_INCLUDEDIR" != xno], [
    gr_read_dlpack "$DLPACK_INCLUDEDIR/dlpack/dlpack.h"
    AS_CASE([$gr_dlpack_version],
        [1.*], [],
        [gr_dlpack_why="$DLPACK_INCLUDEDIR/dlpack/dlpack.h is DLPack ${gr_dlpack_version:-of no known version}, not 1"
         DLPACK_INCLUDEDIR=no])],
    [test "x$with_dlpack" != xno],
    [gr_dlpack_why="dlpack/dlpack.h was not found"
     AS_CASE([$with_dlpack], [''|yes], [],
        [gr_dlpack_why="$gr_dlpack_why in $with_dlpack/include or $with_dlpack"])])
AS_IF([test "x$DLPACK_INCLUDEDIR" = xno], [
    DLPACK_CPPFLAGS=-DGR_WITHOUT_DLPACK
    AS_CASE([$with_dlpack],
        [no], [],
        [''], [AC_MSG_WARN([$gr_dlpack_why: the library is built without DLPack.$gr_dlpack_advice])],
        [AC_MSG_ERROR([$gr_dlpack_why.$gr_dlpack_advice])])])
dnl Compilers search /usr/include by default. If the option named it, it would come before the
dnl folders of the C++ headers and hide them.
AS_IF([test "x$DLPACK_INCLUDEDIR" = x/usr/include], [DLPACK_CPPFLAGS=])
AM_CONDITIONAL([HAVE_DLPACK], [test "x$DLPACK_INCLUDEDIR" != xno])
AC_SUBST([DLPACK_INCLUDEDIR])
AC_SUBST([DLPACK_CPPFLAGS])
