# SPDX-License-Identifier: Apache-2.0 OR MIT
# Toolchain: clang-cl, without MSVC, for static libraries and programs. START is as in msvc.cmake.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(CMAKE_C_COMPILER NAMES clang-cl clang-cl-14 clang-cl-19 REQUIRED)
find_program(CMAKE_AR NAMES llvm-lib llvm-lib-14 llvm-lib-19 REQUIRED)
set(CMAKE_C_COMPILER_TARGET x86_64-pc-windows-msvc)
set(CMAKE_LINKER lld-link)
set(CMAKE_MSVC_RUNTIME_LIBRARY MultiThreadedDLL)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES START)
# start.c has no stack cookie (/GS).
string(CONCAT CMAKE_C_FLAGS_INIT "/GS- /clang:-nostdlibinc /D_UCRT /D_ACRTIMP= /imsvc ${START} "
    "/imsvc /usr/include/wine/wine/msvcrt /imsvc /usr/include/wine/wine/windows")
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT "/nodefaultlib /manifest:no /libpath:${START} "
    "/entry:mainCRTStartup ${START}/program.obj")
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
