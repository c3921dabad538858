# SPDX-License-Identifier: Apache-2.0 OR MIT
# Toolchain: clang-cl and lld-link, without MSVC, as in msvc.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/msvc.cmake)
unset(CMAKE_C_COMPILER)
find_program(CMAKE_C_COMPILER NAMES clang-cl clang-cl-14 clang-cl-19 REQUIRED)
find_program(CMAKE_AR NAMES llvm-lib llvm-lib-14 llvm-lib-19 REQUIRED)
set(CMAKE_LINKER lld-link)
# start.c has no stack cookie (/GS).
string(CONCAT CMAKE_C_FLAGS_INIT "/GS- /clang:-nostdlibinc /D_UCRT /D_ACRTIMP= /imsvc ${START} "
    "/imsvc /usr/include/wine/wine/msvcrt /imsvc /usr/include/wine/wine/windows")
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT "/nodefaultlib /manifest:no /libpath:${START} "
    "/entry:mainCRTStartup ${START}/program.obj")
