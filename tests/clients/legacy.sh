#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# legacy.sh BUILD OUT [OTHER]: fetches NVIDIA's samples that draw with OpenGL, builds them unchanged
# with the build folder's grinterop-nvcc and the GLUT of glut_headless.c, and runs them on the
# software driver: see softcuda/docs/legacy.md. Prints a line for each window, whose picture is
# OUT/NAME.ppm, and for each comparison with the samples' own reference. With OTHER, an OUT folder
# of another machine, each picture is also compared with that machine's.
#
# NVCC       the compiler. With nvcc, grinterop replaces CUDA's graphics calls, and a GPU renders.
# SAMPLES    a checkout of the samples; default OUT/cuda-samples, which is fetched
# GR_PYTHON  the Python to use; default python3
#
# It needs the headers of EGL, OpenGL, GLU and GLUT (Debian: libegl-dev, libgl-dev,
# libglu1-mesa-dev, libglut-dev).

set -u
if [ $# != 2 ] && [ $# != 3 ]; then
    echo "usage: legacy.sh BUILD OUT [OTHER]" >&2
    exit 2
fi
source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
tools=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 1
other=${3:+$(cd "$3" && pwd)}
samples=${SAMPLES:-$out/cuda-samples}
commit=c94ff366aed18c797b8a85dfaac7817b0228b420
failures=0

introduction=Samples/0_Introduction
domain=Samples/5_Domain_Specific
programs="$domain/simpleGL $introduction/simpleCUDA2GL $introduction/simpleTexture3D
    $domain/postProcessGL $domain/Mandelbrot Samples/2_Concepts_and_Techniques/boxFilter
    $domain/nbody $domain/volumeRender"

# ---- Fetch and build ----

# shellcheck disable=SC2086 # a list of folders
fetch() {
    git init -q "$samples" && cd "$samples" &&
        git remote add origin https://github.com/NVIDIA/cuda-samples &&
        git sparse-checkout set Common $programs &&
        git fetch -q --depth 1 --filter=blob:none origin $commit && git checkout -q FETCH_HEAD
}

if [ ! -d "$samples/Common" ] && ! (fetch); then
    echo "legacy: the samples can't be fetched; set SAMPLES to a folder that contains them" >&2
    exit 1
fi
samples=$(cd "$samples" && pwd) || exit 1

${CC:-cc} -std=c11 -O2 -Wall -Wextra -shared -fPIC -Wl,-soname,libglut.so.3 -o "$out/libglut.so.3" \
    "$source/tests/clients/glut_headless.c" -lEGL -lOpenGL -lm || exit 1
ln -sf libglut.so.3 "$out/libglut.so"

# Variables for built_nvcc.sh.
CXX=${CXX:-g++}
# shellcheck disable=SC2034 # used by built_nvcc.sh
CUDA_CPPFLAGS=$(sed -n 's/^CUDA_INCLUDEDIR = //p' "$tools/Makefile")
# shellcheck source=softcuda/tests/nvcc/built_nvcc.sh
. "$source/softcuda/tests/nvcc/built_nvcc.sh"
if [ -n "${NVCC:-}" ]; then
    unset NVCC_CCBIN
    compile() { "$NVCC" -include grinterop/compat.h "-I$source/include" "$@" \
        -lgrinterop-compat -lgrinterop; }
else
    compile() { "$tools/grinterop-nvcc" "$@"; }
fi

# A program runs in its folder, which contains its data.
folder_of() {
    for folder in $programs; do
        case $folder in */"$1") echo "$samples/$folder" ;; esac
    done
}

for folder in $programs; do
    name=${folder##*/}
    cd "$samples/$folder" || exit 1
    sources=$(find . -maxdepth 1 -name '*.cu' -o -maxdepth 1 -name '*.cpp')
    # shellcheck disable=SC2086 # a list of files
    [ -x "$out/$name" ] ||
        compile -O2 -w "-I$samples/Common" -o "$out/$name" $sources "-L$out" "-L$tools/.libs" \
            -lglut -lGLU -lOpenGL >"$out/$name.build.log" 2>&1 || {
        echo "$name: FAILED to build: $out/$name.build.log"
        failures=$((failures + 1))
    }
done

# ---- Run ----

# Two samples only run if DISPLAY is set. They never open that display.
export DISPLAY=:none GR_LOG="${GR_LOG:-error}"
export LD_LIBRARY_PATH="$out:$tools/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# run NAME KIND ARGUMENT...: runs a sample.
run() {
    name=$1 kind=$2
    shift 2
    (cd "$(folder_of "$name")" && exec timeout -k 10 300 "$out/$name" "$@") \
        >"$out/$name.$kind.log" 2>&1
    ended=$?
    [ $ended = 0 ] || failures=$((failures + 1))
    echo "$name: $kind${*:+ $*}: status $ended"
}

# picture NAME FRAMES ARGUMENT...: saves the window of a sample after that many frames.
picture() {
    export GLUT_FRAMES="$2" GLUT_PICTURE="$out/$1.ppm"
    rm -f "$GLUT_PICTURE"
    name=$1
    shift 2
    run "$name" window "$@"
    unset GLUT_PICTURE
    if [ -n "$other" ] && [ "$ended" = 0 ]; then
        "${GR_PYTHON:-python3}" "$source/tests/clients/compare_pictures.py" \
            "$out/$name.ppm" "$other/$name.ppm" || failures=$((failures + 1))
    fi
}

picture simpleGL 30
picture simpleCUDA2GL 3
picture simpleTexture3D 30
picture postProcessGL 10
picture boxFilter 5
# Only the first frame is compared: later frames depend on the speed of the machine.
picture Mandelbrot 1
picture nbody 20 -numbodies=1024
picture volumeRender 1

run simpleGL reference -file=ref_simpleGL.bin
run simpleCUDA2GL reference -file=ref_simpleCUDA2GL.ppm
run simpleTexture3D reference -file=ref_texture3D.bin
run boxFilter reference -file=ref_14.ppm -radius=14
run Mandelbrot reference -mode=0 -file=Mandelbrot_fp32.ppm
run nbody reference -compare -numbodies=1024
run volumeRender reference -file=ref_volume.ppm
[ $failures = 0 ]
