#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Programs as new users write them, from README and the documents alone. Each program checks bytes.
# A script that sources this file needs an installed grinterop that pkg-config finds, and sets
#
#     programs   the folder of the programs
#     work       a folder to build them in
#     try        a function: try WHAT COMMAND... is one case
#
# CC and CXX are the compilers, and PROGRAM_FLAGS more options for them. $kinds are the kinds of
# programs to build; default: all.

: "${CC:=cc}" "${CXX:=c++}" "${programs:?}" "${work:?}"
: "${kinds:=texture compat ring vulkan window c++ python rust}"

# kind KIND: succeeds if programs of this kind are to be built.
kind() { case " $kinds " in *" $1 "*) true ;; *) false ;; esac; }

# has WHAT COMMAND...: succeeds if COMMAND succeeds. Otherwise prints that WHAT is skipped.
has() {
    wanted=$1
    shift
    if "$@" >/dev/null 2>&1; then return 0; fi
    echo "skipped: $wanted: there is no $*"
    return 1
}

# build COMPILER SOURCE PROGRAM PACKAGES OPTION...
# shellcheck disable=SC2046,SC2086 # lists of options
build() {
    compiler=$1 from=$programs/$2 to=$work/$3 packages=$4
    shift 4
    $compiler -Wall -Wextra -Werror $PROGRAM_FLAGS "$@" "$from" -o "$to" \
        $(pkg-config --cflags --libs grinterop $packages)
}

# in_work COMMAND...: runs the command in the folder with the kernels.
in_work() (cd "$work" && "$@")

# Programs in C, compiled with pkg-config.
if kind texture; then
    try "build a kernel for the software driver" build "$CXX -x c++ -std=c++17" paint.cu paint.so \
        "" -O2 -fPIC -shared
    try "build a texture program" build "$CC -std=c11" texture.c texture epoxy
    try "run the texture program" in_work ./texture
fi
if kind compat; then
    try "build a program that includes compat.h" build "$CC -std=c11" compat.c compat \
        "grinterop-compat epoxy"
    try "run the program that includes compat.h" in_work ./compat
fi
if kind ring; then
    try "build a ring program with two threads" build "$CC -std=c11 -pthread" ring.c ring epoxy
    try "run the ring program" in_work ./ring
fi
if kind vulkan && has "Vulkan" pkg-config --exists vulkan; then
    try "build a Vulkan program" build "$CC -std=c11" vulkan.c vulkan vulkan
    try "run the Vulkan program" in_work ./vulkan
fi

# A program with a window, on a new X server.
if kind window && has "a window" pkg-config --exists glfw3 &&
    has "a window" xvfb-run -a true; then
    try "build a window program" build "$CC -std=c11" window.c window "glfw3 epoxy"
    try "run the window program" in_work env -u EGL_PLATFORM -u WAYLAND_DISPLAY xvfb-run -a \
        -s '-screen 0 640x480x24' ./window
fi

# Programs in other languages.
if kind c++; then
    try "build a C++ program" build "$CXX -std=c++17" objects.cc objects epoxy
    try "run the C++ program" in_work ./objects
fi
if kind python && has "Python by ctypes" command -v python3; then
    try "run a Python program with ctypes only" in_work env \
        LD_LIBRARY_PATH="$(pkg-config --variable=libdir grinterop)" python3 "$programs/plain.py"
fi
# shellcheck disable=SC2317 # try calls it
build_rust() {
    rustc --edition 2021 --cap-lints allow "$programs/main.rs" -o "$work/rust" \
        -L native="$(pkg-config --variable=libdir grinterop)" \
        -C link-arg=-Wl,-rpath,"$(pkg-config --variable=libdir grinterop)"
}
if kind rust && has "Rust" command -v rustc; then
    try "build a Rust program" build_rust
    try "run the Rust program" in_work ./rust
fi
