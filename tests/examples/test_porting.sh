#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_porting.sh: builds each step of examples/porting by its own Makefile, runs it, and checks
# that it draws the same picture as the first one. It uses the CUDA driver that the environment
# names; run-test sets it.
#
# GR_TOOLS     the folder of grinterop-nvcc and of the libraries; default: the build folder, the
#              current one
#
# `test_porting.sh --pictures` rewrites the pictures in the documents, from the first step and from
# all steps: examples/porting/1-unchanged/expected.png and docs/pictures/porting.png.

suite=porting
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
tools=$built_in
source=$(cd "$(dirname "$0")/../.." && pwd) || exit 99
compare=$(built compare_png)
soft=
if [ "${GR_CUDA_DRIVER-}" = soft ]; then soft=yes; fi

case ${GR_SANITIZER-} in
*thread*) cannot "ThreadSanitizer stops at X11's order of locks and Mesa's unloaded driver" ;;
esac
if [ ! -d "$source/examples/porting" ] || [ -z "${CXX:-}" ]; then
    cannot "the programs and a compiler are where grinterop is built"
fi
if [ -z "$compare" ]; then cannot "the examples were not built: is libpng there?"; fi
for command in make pkg-config; do
    command -v $command >/dev/null || cannot "there is no $command"
done
if [ -n "$soft" ] && [ ! -e "$tools/.libs/libgrinterop-softcudart.so" ]; then
    cannot "libgrinterop-softcudart was not built"
fi
# xvfb-run needs xauth, which Debian does not install with it.
screen=
if xvfb-run -a true 2>/dev/null; then screen=yes; fi
no_screen="xvfb-run starts no X server (Debian: xvfb, xauth)"
PATH=$PATH:/usr/local/cuda/bin
nvcc=$(command -v nvcc)
if [ -z "$soft" ] && [ -z "$nvcc" ]; then cannot "what runs on a GPU is built by nvcc"; fi

enter_work_folder
cp -R "$source/examples/porting" "$work/porting" || exit 99
chmod -R u+w "$work/porting"

# ---- What a grinterop installation provides ----

# shellcheck source=softcuda/tests/nvcc/built_nvcc.sh
. "$source/softcuda/tests/nvcc/built_nvcc.sh"
mkdir bin pkgconfig
options=$(sanitize | sed 's/\\/&&/g') # the shell takes one of two backslashes
cat >bin/grinterop-nvcc <<END
#!/bin/sh
exec "$tools/grinterop-nvcc" $options "\$@"
END
chmod +x bin/grinterop-nvcc
cat >pkgconfig/grinterop.pc <<END
Name: grinterop
Description: of the build folder
Version: 0
Libs: -L$tools/.libs -lgrinterop
Cflags: -I$source/include -I$source/softcuda/include ${GR_CUDA_INCLUDE:+-I$GR_CUDA_INCLUDE}
END
cat >pkgconfig/grinterop-compat.pc <<END
Name: grinterop-compat
Description: of the build folder
Version: 0
Requires: grinterop
Libs: -L$tools/.libs -lgrinterop-compat
END
PATH=$work/bin:$PATH
PKG_CONFIG_PATH=$work/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$tools/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
# Mesa holds memory until the process ends, so leaks are not checked.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
# Mesa draws the windows while CUDA uses a GPU, so grinterop may choose any transport.
if [ -z "$soft" ]; then export GR_COMPAT=any; fi
# Unsets settings of the make that runs this script, and the user's display.
unset MAKEFLAGS MFLAGS MAKELEVEL DISPLAY WAYLAND_DISPLAY

# shellcheck source=tests/examples/porting_vulkan.sh
. "$source/tests/examples/porting_vulkan.sh"

# ---- The steps ----

# like_first PICTURE: checks that the picture equals the picture that the first step has drawn on
# this machine, and is close to the recorded picture. OpenGL implementations sample edges
# differently, so single pixels may differ greatly.
like_first() {
    drawn=$work/porting/1-unchanged/picture.ppm
    if [ -n "$soft" ] && [ -e "$drawn" ]; then
        "$compare" --mean 0.05 --tolerance 2 --share 0.5 "$1" "$drawn" || return
    fi
    "$compare" --mean 0.5 --tolerance 8 --share 1 "$1" "$work/porting/1-unchanged/expected.png"
}

# has_window: whether the step has an OpenGL window. A Vulkan step draws its frames without a window
# here; vulkan_step checks its window.
has_window() { grep -q '^PACKAGES = .*glfw3.*epoxy' Makefile; }

# missing: prints what the step needs but the machine lacks, or nothing.
missing() {
    # shellcheck disable=SC2013 # words are wanted
    for package in $(sed -n 's/^PACKAGES = //p' Makefile); do
        pkg-config --exists "$package" || echo "there is no $package"
    done
    if has_window && [ -z "$screen" ]; then echo "$no_screen"; fi
    if grep -q '^GLSLANG = ' Makefile && ! command -v glslangValidator >/dev/null; then
        echo "there is no glslangValidator (Debian: glslang-tools)"
    fi
    if [ -x ci ] && ! command -v compare >/dev/null; then
        echo "there is no compare (Debian: imagemagick)"
    fi
    if [ -n "$soft" ]; then return; fi
    if [ -x ci ]; then
        echo "it is for machines without a GPU"
    elif has_window && [ "$step" != 1-unchanged ]; then
        echo "the OpenGL of Xvfb is not the GPU's, and nothing tells this step to copy"
    fi
}

# in_window COMMAND...: runs the command, on a screen if the step has a window.
in_window() {
    if has_window; then set -- xvfb-run -a -s '-screen 0 1280x1024x24' "$@"; fi
    "$@"
}

# draw FRAMES PICTURE: runs the step as its README describes.
draw() { in_window ./ripples --frames "$1" --picture "$2"; }

steps=
for folder in porting/[1-9]-*; do
    step=${folder#porting/}
    cd "$work/$folder" || exit 99
    # The copied folder may contain files that were built by hand in the source folder.
    check "clean_$step" 0 make clean
    lacks=$(missing | head -n 1)
    if [ -n "$lacks" ]; then
        skip "$step" "$lacks"
        continue
    fi
    if [ -x ci ]; then
        check "$step" 0 ./ci || continue
        says out ' pixels differ'
    else
        compiler=nvcc
        if [ -n "$soft" ]; then compiler=grinterop-nvcc; fi
        check "build_$step" 0 make NVCC=$compiler || continue
        if grep -q 'warning:' err; then fail "warnings"; fi
        check "draw_$step" 0 draw 24 picture.ppm || continue
    fi
    check "picture_$step" 0 like_first picture.ppm && steps="$steps $step"
    # The limits are narrow enough to distinguish successive frames.
    check "moves_$step" 0 draw 25 next.ppm && check "limits_$step" 1 like_first next.ppm
    if has_vulkan; then vulkan_step "$step"; fi
    # nvcc must be able to compile the same source.
    if [ -n "$soft" ] && [ -n "$nvcc" ] && [ ! -x ci ]; then
        rm -rf ../nvcc
        cp -R . ../nvcc
        check "nvcc_$step" 0 make -B -C ../nvcc NVCC="$nvcc"
    fi
done

# ---- Errors that the READMEs of the steps quote ----

# told STEP TEXT: checks that the README of the step contains this text, regardless of line breaks.
told() {
    tr '\n' ' ' <"$work/porting/$1/README.md" | tr -s ' ' >told
    grep -qF -- "$2" told || fail "$1/README.md does not say \"$2\""
}

# drew NAME STEP: whether the step drew its picture; if not, skips the case NAME.
drew() {
    case " $steps " in *" $2 "*) return ;; esac
    skip "$1" "step $2 has drawn nothing"
    return 1
}

# wrong NAME STEP TEXT COMMAND...: checks that the command fails with this text, which the README of
# the step quotes.
wrong() {
    drew "$1" "$2" || return
    wrong=$3
    told=$2
    cd "$work/porting/$2" || exit 99
    named=$1
    shift 3
    check "$named" 1 "$@" && says err "$wrong" && told "$told" "$wrong"
}

# mistake NAME EXPRESSION TEXT: like wrong(), for the third step after the sed expression has
# changed it.
mistake() {
    drew "mistake_$1" 3-own-calls || return
    cd "$work/porting/3-own-calls" || exit 99
    cp ripples.cu kept.cu
    sed "$2" kept.cu >ripples.cu
    if cmp -s ripples.cu kept.cu; then
        begin "mistake_$1" && fail "sed changes nothing"
    else
        check "build_$1" 0 make NVCC=grinterop-nvcc &&
            wrong "mistake_$1" 3-own-calls "$3" draw 3 wrong.ppm
    fi
    cp kept.cu ripples.cu
}

if [ -z "$soft" ]; then
    skip mistakes "they are made on the software driver"
else
    wrong transport 1-unchanged 'GR_TRANSPORT_SHARED needs storage that grinterop allocates' \
        in_window env GR_COMPAT=shared GR_LOG=error ./ripples --frames 1 &&
        says err 'operation not supported'
    wrong no_screen 2-without-a-gpu 'GLFW finds no display' ./ripples
    mistake stream 's/shared.tiles}, stream)/shared.tiles}, NULL)/' \
        'The stream is NULL. Pass GR_STREAM_LEGACY or GR_STREAM_PER_THREAD'
    mistake kept 's/grinterop::release_many(mapped);/for (auto \&m : mapped) m.detach();/' \
        'The resource is already mapped. Release its buffer before it is mapped again'
    mistake name 's/gr_from_gl_buffer(vbo,/gr_from_gl_buffer(99,/' \
        'There is no OpenGL buffer 99 in the current context'
    wrong no_egl 4-headless 'No EGL device belongs to CUDA device 0; found:' \
        env __EGL_VENDOR_LIBRARY_FILENAMES=/nothing.json ./ripples
    case $steps in *5-vulkan*) vulkan_mistakes ;; esac
fi

# ---- The pictures in the documents ----

cd "$work/porting" || exit 99
if [ "${1-}" = --pictures ]; then
    small='-strip -define png:compression-level=9 -define png:compression-filter=5'
    # shellcheck disable=SC2086 # lists of options
    convert 1-unchanged/picture.ppm $small "$source/examples/porting/1-unchanged/expected.png"
    # The pool, without the dark areas above and below.
    # shellcheck disable=SC2046,SC2086
    montage $(printf '%s/picture.ppm ' $steps) -crop 512x288+0+118 +repage -tile 3x \
        -geometry 256x144+2+2 $small "PNG24:$source/docs/pictures/porting.png"
fi

echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
