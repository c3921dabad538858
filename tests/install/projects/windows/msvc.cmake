# SPDX-License-Identifier: Apache-2.0 OR MIT
# Toolchain: clang and lld-link for the ABI of MSVC, without MSVC. The headers and import libraries
# of Windows and of the C library are Wine's (Debian: libwine-dev). .ci/run puts the rest into the
# folder START: start.c compiled for programs and for DLLs, opengl32.lib, and GL/gl.h.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET x86_64-pc-windows-msvc)
set(CMAKE_MSVC_RUNTIME_LIBRARY MultiThreadedDLL)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES START)
# Calls of the C library go by the stubs of the import libraries, because start.c defines atexit().
string(CONCAT CMAKE_C_FLAGS_INIT "-nostdlibinc -D_UCRT -D_ACRTIMP= -isystem ${START} "
    "-isystem /usr/include/wine/wine/msvcrt -isystem /usr/include/wine/wine/windows")
string(CONCAT link "-fuse-ld=lld -nostdlib -Wno-unused-command-line-argument "
    "-Xlinker /nodefaultlib -Xlinker /libpath:${START} -Xlinker /entry:")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link}mainCRTStartup ${START}/program.obj")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link}_DllMainCRTStartup ${START}/dll.obj")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${CMAKE_SHARED_LINKER_FLAGS_INIT}")
set(libraries)
foreach(library ucrtbase kernel32 ntdll gdi32 user32)
    string(APPEND libraries " /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/lib${library}.a")
endforeach()
set(CMAKE_C_STANDARD_LIBRARIES "${libraries}" CACHE STRING "")
