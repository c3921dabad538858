# SPDX-License-Identifier: Apache-2.0 OR MIT
# Compiler options

dnl GR_CXX(NAME, AFTER, OPTIONS): sets NAME_FLAG to the first option that selects an edition of C++ after AFTER.
dnl CXX20 and CXX23 are only for `make editions`.
AC_DEFUN([GR_CXX], [
    $1[]_FLAG=
    AC_MSG_CHECKING([whether $CXX compiles $1])
    for gr_flag in $3; do
        CXXFLAGS="$gr_saved $gr_flag"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <tuple>
#if __cplusplus <= $2
#error
#endif]])],
            [$1[]_FLAG=$gr_flag; break])
    done
    AC_MSG_RESULT([${$1[]_FLAG:-no}])])

dnl GR_FLAG(VARIABLE, FLAG): adds FLAG to VARIABLE if the C compiler accepts it for compiling and linking.
AC_DEFUN([GR_FLAG], [
    AC_MSG_CHECKING([whether $CC accepts $2])
    gr_saved=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()],
        [AC_MSG_RESULT([yes]); $1="$$1 $2"],
        [AC_MSG_RESULT([no])])
    CFLAGS=$gr_saved
])

WARN_CFLAGS='-Wall -Wextra -Wpedantic'
AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST],
        [build everything with the compiler's sanitizers: address,undefined or thread])])
SANITIZER_FLAGS=
AS_CASE([$enable_sanitizer],
    [''|no], [enable_sanitizer=no],
    [yes], [AC_MSG_ERROR([--enable-sanitizer needs a list, for example address,undefined])],
    [GR_FLAG([SANITIZER_FLAGS],
        [-DGR_CHECK_LOCKS -fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer])
     AS_IF([test -z "$SANITIZER_FLAGS"], [AC_MSG_ERROR([$CC cannot build with the sanitizers $enable_sanitizer.
  Their run-time libraries may be missing (Debian: libclang-rt-dev for clang).])])])
dnl make fuzz links its targets with libFuzzer, which only clang has.
AS_CASE([$enable_sanitizer], [*fuzzer*], [
    AC_MSG_CHECKING([whether $CC has libFuzzer])
    gr_saved=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=fuzzer"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) { (void)bytes; return size > 9; }]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([$CC cannot link with -fsanitize=fuzzer: use clang, with its run-time libraries
  (Debian: clang and libclang-rt-dev), or leave fuzzer-no-link out of --enable-sanitizer.])])
    CFLAGS=$gr_saved])
AC_SUBST([SANITIZER_FLAGS])
AC_SUBST([enable_sanitizer])
dnl grinterop-info prints its own man page during the build, where a program with a sanitizer may
dnl not run.
AM_CONDITIONAL([MAN_PAGES], [test $gr_windows = no && test "$cross_compiling" != yes &&
    test "$enable_sanitizer" = no])

dnl The linker reports undefined symbols in the library. With sanitizers this check is off, because
dnl the program defines the symbols of the sanitizer.
SHARED_LDFLAGS=
AS_IF([test "$enable_sanitizer" = no], [GR_FLAG([SHARED_LDFLAGS], [-Wl,-z,defs])])
AC_SUBST([SHARED_LDFLAGS])
