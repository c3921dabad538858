#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_python.sh [OPTION...]: builds the Python package against this build folder and runs its
# tests, with the options of pytest's that are given. It takes the CUDA driver that the environment
# names; run-test sets it.
#
# What the tests need beside (NumPy, cuda.core, Numba, pytest, ...) goes into a virtual environment
# of its own, in python/ of the build folder, by the pins of python/tests/requirements.txt.
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

case ${GR_SANITIZER:-no} in
no) ;;
*) skip "Python is not built with the sanitizer $GR_SANITIZER" ;;
esac
[ -f .libs/libgrinterop.so ] || skip "there is no .libs/libgrinterop.so in $PWD"
[ -w "$top" ] || skip "the source folder can't be written to, and neither can a package be built"
command -v "$python" >/dev/null || skip "there is no $python (Debian: python3)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    skip "$("$python" --version) is too old for the tests: NumPy wants 3.11"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    skip "Python makes no virtual environments (Debian: python3-venv)"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    skip "Python.h is missing (Debian: python3-dev)"

# ---- What it needs ----

# The stamp gets its contents last, so that an installation that was broken off is begun again.
mkdir -p "$place" || exit 99
if ! cmp -s "$requirements" "$place/installed"; then
    rm -rf "$place/venv" "$place/installed"
    "$python" -m venv "$place/venv" || exit 99
    "$place/venv/bin/python" -m pip install --disable-pip-version-check --quiet \
        --only-binary :all: -r "$requirements" >"$place/pip.log" 2>&1 ||
        skip "the packages could not be installed: $(grep -m1 ERROR "$place/pip.log")"
    cp "$requirements" "$place/installed" || exit 99
fi

# ---- The package ----

# In a copy, so that the source folder stays as it is.
rm -rf "$place/source.new"
cp -R "$top/python" "$place/source.new" && rm -rf "$place/source" &&
    mv "$place/source.new" "$place/source" || exit 99
warnings=
if grep -q '^WARN_CFLAGS = .*-Werror' Makefile; then warnings=-Werror; fi
(cd "$place/source" && GRINTEROP_BUILD=$OLDPWD CFLAGS="${CFLAGS-} $warnings" \
    "$place/venv/bin/python" setup.py -q build_ext --inplace --build-temp "$place/objects" \
    >"$place/build.log" 2>&1) || {
    cat "$place/build.log"
    exit 1
}

# ---- The tests ----

# Programs that open libcuda.so.1 themselves have to meet the driver that grinterop uses.
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    export GR_CUDA_DRIVER=libcuda.so.1
    export LD_LIBRARY_PATH="$PWD/softcuda/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
export PYTHONPATH="$place/source" PYTHONDONTWRITEBYTECODE=1
cd "$place" && exec "$place/venv/bin/python" -m pytest -q -p no:cacheprovider \
    -c "$place/source/tests/pytest.ini" "$place/source/tests" "$@"
