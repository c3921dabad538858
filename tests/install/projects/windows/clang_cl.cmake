# SPDX-License-Identifier: Apache-2.0 OR MIT
# Toolchain: clang-cl, without MSVC, to compile static libraries. START is as in msvc.cmake.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(CMAKE_C_COMPILER NAMES clang-cl clang-cl-14 clang-cl-19 REQUIRED)
find_program(CMAKE_AR NAMES llvm-lib llvm-lib-14 llvm-lib-19 REQUIRED)
set(CMAKE_C_COMPILER_TARGET x86_64-pc-windows-msvc)
set(CMAKE_LINKER lld-link)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES START)
string(CONCAT CMAKE_C_FLAGS_INIT "/clang:-nostdlibinc /D_UCRT /D_ACRTIMP= /imsvc ${START} "
    "/imsvc /usr/include/wine/wine/msvcrt /imsvc /usr/include/wine/wine/windows")
