# SPDX-License-Identifier: Apache-2.0 OR MIT
# Wine's import libraries of Windows and of the C library, for both toolchains.
set(libraries)
foreach(library ucrtbase kernel32 ntdll gdi32 user32)
    string(APPEND libraries " /usr/lib/x86_64-linux-gnu/wine/x86_64-windows/lib${library}.a")
endforeach()
set(CMAKE_C_STANDARD_LIBRARIES "${libraries}" CACHE STRING "")
