# SPDX-License-Identifier: Apache-2.0 OR MIT
# nvcc, and the compilers of shaders and of kernels for the software driver

AC_ARG_VAR([NVCC], [CUDA's compiler, "no" for none (default: the toolkit's, then the one on PATH)])
AC_ARG_VAR([NVCCFLAGS], [its options (default: -arch=all-major)])
AS_IF([test -z "$NVCC"], [AC_PATH_PROG([NVCC], [nvcc], [no],
    [${gr_cuda_home:+$gr_cuda_home/bin$PATH_SEPARATOR}$PATH])])
AS_IF([test -z "$NVCCFLAGS"], [NVCCFLAGS=-arch=all-major])
AS_IF([test "x$NVCC" != xno], [
    echo 'extern "C" __global__ void probe(float *out) { *out = 1; }' >conftest.cu
    gr_nvcc_works=no
    AC_MSG_CHECKING([whether $NVCC works])
    for gr_flag in '' -allow-unsupported-compiler; do
        echo "$NVCC $NVCCFLAGS $gr_flag -fatbin" >&AS_MESSAGE_LOG_FD
        AS_IF(["$NVCC" $NVCCFLAGS $gr_flag -fatbin -o conftest.fatbin conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
            [gr_nvcc_works=yes; NVCCFLAGS="$NVCCFLAGS${gr_flag:+ $gr_flag}"; break])
    done
    rm -f conftest.cu conftest.fatbin
    AC_MSG_RESULT([$gr_nvcc_works])
    AS_IF([test $gr_nvcc_works = no],
        [AC_MSG_WARN([$NVCC fails, see config.log: kernels for the GPU are not built])
         NVCC=no])])
AM_CONDITIONAL([HAVE_NVCC], [test "x$NVCC" != xno])

dnl Compressed library kernels have a seventh of the size. Drivers older than CUDA 12.4 can't read
dnl them, but such drivers can't run any output of nvcc 13 either.
AC_SUBST([NVCC_SIZE_FLAGS])
AS_IF([test "x$NVCC" != xno], [
    AC_MSG_CHECKING([whether $NVCC compresses])
    printf '%s\n' '#if __CUDACC_VER_MAJOR__ < 13' '#error' '#endif' >conftest.cu
    AS_IF(["$NVCC" $NVCCFLAGS -compress-mode=size -fatbin -o conftest.fatbin conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
        [NVCC_SIZE_FLAGS=-compress-mode=size
         AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])
    rm -f conftest.cu conftest.fatbin])

# ---- Vulkan shaders -------------------------------------------------------------------------------

AC_ARG_VAR([GLSLANG], [compiler of Vulkan's shaders, "no" for none (default: glslangValidator)])
AS_IF([test -z "$GLSLANG"], [AC_CHECK_PROGS([GLSLANG], [glslangValidator glslang], [no])])
AM_CONDITIONAL([HAVE_GLSLANG], [test "x$GLSLANG" != xno])

# ---- The same kernels for the software driver ------------------------------------------------------

AS_IF([test $gr_everything = yes], [
AC_LANG_PUSH([C++])
gr_saved=$CXXFLAGS
GR_CXX([CXX17], [201402L], [-std=c++17])
AS_IF([test -z "$CXX17_FLAG"],
    [AC_MSG_ERROR([the kernels of tests and examples need a C++17 compiler: install g++, or name one in CXX])])
GR_CXX([CXX20], [201703L], [-std=c++20 -std=c++2a])
GR_CXX([CXX23], [202002L], [-std=c++23 -std=c++2b])
CXXFLAGS=$gr_saved
AC_LANG_POP([C++])
])
AC_SUBST([CXX20_FLAG])
AC_SUBST([CXX23_FLAG])
