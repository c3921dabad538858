#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_python.sh [OPTION...]: builds the Python package against this build folder and runs its
# tests with the given pytest options. It uses the CUDA driver from the environment, which run-test
# sets.
#
# The dependencies of the tests (NumPy, cuda.core, Numba, pytest, ...) are installed into a virtual
# environment in python/ of the build folder, in the versions of python/tests/requirements.txt.
#
# With ThreadSanitizer only random_threads.py runs, which needs only NumPy.
#
# GR_PYTHON  the Python to use; default python3

top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd) || exit 99
place=$PWD/python
python=${GR_PYTHON:-python3}
requirements=$top/python/tests/requirements.txt

skip() {
    echo "skipped: python: $*"
    exit 77
}

# ---- Whether it can run here ----

sanitizer=${GR_SANITIZER:-no}
case $sanitizer in
no) ;;
thread)
    tsan=$(${CC:-gcc} -print-file-name=libtsan.so)
    [ -f "$tsan" ] || skip "${CC:-gcc} has no libtsan.so"
    ;;
*) skip "Python is not built with the sanitizer $sanitizer" ;;
esac
[ -f .libs/libgrinterop.so ] || skip "there is no .libs/libgrinterop.so in $PWD"
[ -w "$top" ] || skip "the source folder is read-only, so no package can be built"
command -v "$python" >/dev/null || skip "there is no $python (Debian: python3)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    skip "$("$python" --version) is too old for the tests: NumPy needs 3.11"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    skip "Python cannot create virtual environments (Debian: python3-venv)"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    skip "Python.h is missing (Debian: python3-dev)"
command -v cmake >/dev/null || skip "there is no cmake"

# ---- Dependencies ----

# The stamp is written last, so that an interrupted installation is started again.
mkdir -p "$place" || exit 99
if [ "$sanitizer" = thread ]; then
    grep '^numpy==' "$requirements" >"$place/numpy.txt" || exit 99
    requirements=$place/numpy.txt
fi
if ! cmp -s "$requirements" "$place/installed"; then
    rm -rf "$place/venv" "$place/installed"
    "$python" -m venv "$place/venv" || exit 99
    "$place/venv/bin/python" -m pip install --disable-pip-version-check --quiet \
        --only-binary :all: -r "$requirements" >"$place/pip.log" 2>&1 ||
        skip "the packages could not be installed: $(grep -m1 ERROR "$place/pip.log")"
    cp "$requirements" "$place/installed" || exit 99
fi

# ---- The package ----

rm -rf "$place/source.new"
cp -R "$top/python" "$place/source.new" && rm -rf "$place/source" &&
    mv "$place/source.new" "$place/source" || exit 99
warnings=
if grep -q '^WARN_CFLAGS = .*-Werror' Makefile; then warnings=-Werror; fi
if [ "$sanitizer" = thread ]; then warnings="$warnings -fsanitize=thread"; fi
{
    cmake -S "$top/python" -B "$place/objects" -DGRINTEROP_BUILD="$PWD" \
        -DPython_EXECUTABLE="$place/venv/bin/python" -DCMAKE_C_FLAGS="${CFLAGS-} $warnings" &&
        cmake --build "$place/objects" && cmake --install "$place/objects" --prefix "$place/source"
} >"$place/build.log" 2>&1 || {
    cat "$place/build.log"
    exit 1
}

# ---- The tests ----

# Programs that open libcuda.so.1 themselves must get the driver that grinterop uses.
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    export GR_CUDA_DRIVER=libcuda.so.1
    export LD_LIBRARY_PATH="$PWD/softcuda/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
export PYTHONPATH="$place/source" PYTHONDONTWRITEBYTECODE=1 GR_SOURCE="$top"
if [ "$sanitizer" = thread ]; then
    # The stream and the default streams copy the same memory without an order.
    { cat "$top/tests/support/suppressions/tsan.supp" && echo "race:soft_copy_run"; } \
        >"$place/tsan.supp" || exit 99
    export TSAN_OPTIONS="$TSAN_OPTIONS:suppressions=$place/tsan.supp"
    cd "$place/source/tests" || exit 99
    LD_PRELOAD=$tsan "$place/venv/bin/python" \
        random_threads.py --without-core --threads 4 --seconds 20 || exit
    echo "100%: Checks: 1, Failures: 0, Errors: 0"
    exit 0
fi
cd "$place" && exec "$place/venv/bin/python" -m pytest -q -p no:cacheprovider \
    -c "$place/source/tests/pytest.ini" "$place/source/tests" "$@"
