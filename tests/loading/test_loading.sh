#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# test_loading.sh: how grinterop is loaded: by a program with more rights than who started it, by
# one that unloads it again, and where the software driver is missing.
#
# GR_TOOLS  the folder of the programs, beside lib/; default: the build folder, where this is run

suite=loading
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
set_uid=$(built set_uid) unload=$(built unload)
library=$PWD/.libs/libgrinterop.so
if [ -n "${GR_TOOLS-}" ]; then library=$GR_TOOLS/../lib/libgrinterop.so.0; fi
if [ -z "$set_uid" ] || [ -z "$unload" ]; then
    echo "skipped: set_uid and unload were not built"
    exit 77
fi

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
cd "$work" || exit 99

# ---- A set-uid program ----

cp "$set_uid" ordinary
cp "$set_uid" set_uid
chmod 755 .
behind=${GR_CUDA_DRIVER:-soft}
export GR_CUDA_DRIVER="$work/named.so" GR_LOG=debug
check "an ordinary program takes the environment's driver" 0 ./ordinary &&
    says out ordinary "$work/named.so" && says err "grinterop error"
if [ "$(id -u)" != 0 ]; then
    skip "a set-uid program" "only root makes one of another user"
elif ! chown 65534 set_uid || ! chmod u+s set_uid || ! ./set_uid | grep -q set-uid; then
    skip "a set-uid program" "none runs in $work"
else
    # The library must be in the program: a set-uid one looks in the system's folders only.
    check "a set-uid program does not look into the environment" 0 ./set_uid &&
        says out set-uid driver
    if grep -qF named.so out err || [ -s err ]; then fail "the environment chose"; fi
fi

# ---- A library that is unloaded ----

unset GR_LOG
export GR_CUDA_DRIVER="$behind"
check "dlclose() in the middle of a mapping leaves grinterop in memory" 0 \
    "$unload" "$library" && says out "still there"
check "and exit() after it ends well" 0 "$unload" "$library" exit &&
    says out "still there"

# ---- A library without the software driver ----

# Catches: gr_cuda_load(true) advised gr_cuda_load(true) and did not name the missing file.
unset GR_CUDA_DRIVER GR_SOFT_DEVICES
mkdir alone
cp "$library" alone/libgrinterop.so
check_alone() {
    check "$1" 1 "$unload" "$work/alone/libgrinterop.so" && says err "$2" || return
    if grep -qF 'gr_cuda_load(true)' err; then fail "it advises what the program did"; fi
}
if CUDA_VISIBLE_DEVICES=-1 "$unload" "$work/alone/libgrinterop.so" >out 2>&1; then
    skip "a library without the software driver" "one is installed on this machine"
elif grep -qF "built without the software CUDA driver" out; then
    skip "a library without the software driver" "it is built so"
else
    export CUDA_VISIBLE_DEVICES=-1
    check_alone "a missing software driver is named" \
        "libgrinterop-softcuda.so is neither in $work/alone, the folder of grinterop"
    says err "The CUDA driver libcuda.so.1"
    echo "no driver" >alone/libgrinterop-softcuda.so
    check_alone "and so is one that is damaged" "$work/alone/libgrinterop-softcuda.so could not"
    says err "Install grinterop again"
    export GR_CUDA_DRIVER="$work/none.so"
    check_alone "a driver that GR_CUDA_DRIVER names has no other advice" "unset it for libcuda"
    export GR_CUDA_DRIVER=soft
    check_alone "nor has the software driver" "Install grinterop again"
fi

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
