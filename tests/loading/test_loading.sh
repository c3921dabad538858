#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_loading.sh: loads grinterop in a program with more privileges than its caller, in a program
# that unloads it again, and without the software driver.
#
# GR_TOOLS  the folder with the programs and lib/; default: the build folder, the current one

suite=loading
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
set_uid=$(built set_uid) unload=$(built unload)
library=$PWD/.libs/libgrinterop.so
if [ -n "${GR_TOOLS-}" ]; then library=$GR_TOOLS/../lib/libgrinterop.so.1; fi
if [ -z "$set_uid" ] || [ -z "$unload" ]; then cannot "set_uid and unload were not built"; fi

enter_work_folder

# ---- A set-uid program ----

cp "$set_uid" ordinary
cp "$set_uid" set_uid
chmod 755 .
behind=${GR_CUDA_DRIVER:-soft}
export GR_CUDA_DRIVER="$work/named.so" GR_LOG=debug
check "an ordinary program uses the environment's driver" 0 ./ordinary &&
    says out ordinary "$work/named.so" && says err "grinterop error"
if [ "$(id -u)" != 0 ]; then
    skip "a set-uid program" "only root can create one for another user"
elif ! chown 65534 set_uid || ! chmod u+s set_uid || ! ./set_uid | grep -q set-uid; then
    skip "a set-uid program" "$work does not allow one"
else
    # The library must be linked statically: a set-uid program searches only the folders of the
    # system.
    check "a set-uid program ignores the environment" 0 ./set_uid &&
        says out set-uid driver
    if grep -qF named.so out err || [ -s err ]; then fail "the environment chose"; fi
fi

# ---- Unloading the library ----

unset GR_LOG
export GR_CUDA_DRIVER="$behind"
check "dlclose() during a mapping leaves grinterop in memory" 0 \
    "$unload" "$library" && says out "still there"
check "exit() after dlclose() succeeds" 0 "$unload" "$library" exit &&
    says out "still there"

# ---- A library without the software driver ----

# Catches: gr_cuda_load(true) advised to call gr_cuda_load(true) and did not name the missing file.
unset GR_CUDA_DRIVER GR_SOFT_DEVICES
mkdir alone
cp "$library" alone/libgrinterop.so
check_alone() {
    check "$1" 1 "$unload" "$work/alone/libgrinterop.so" && says err "$2" || return
    if grep -qF 'gr_cuda_load(true)' err; then fail "it recommends what the program did"; fi
}
if CUDA_VISIBLE_DEVICES=-1 "$unload" "$work/alone/libgrinterop.so" >out 2>&1; then
    skip "a library without the software driver" "one is installed on this machine"
elif grep -qF "built without the software CUDA driver" out; then
    skip "a library without the software driver" "it is built so"
else
    export CUDA_VISIBLE_DEVICES=-1
    check_alone "a missing software driver is named" \
        "libgrinterop-softcuda.so was not found in the library's folder ($work/alone)"
    says err "The CUDA driver libcuda.so.1"
    echo "no driver" >alone/libgrinterop-softcuda.so
    check_alone "a damaged software driver is named" \
        "$work/alone/libgrinterop-softcuda.so could not"
    says err "Install grinterop again"
    export GR_CUDA_DRIVER="$work/none.so"
    check_alone "the advice for a missing GR_CUDA_DRIVER is to unset it" "unset it for libcuda"
    export GR_CUDA_DRIVER=libcuda.so.1
    check_alone "a libcuda.so.1 named by GR_CUDA_DRIVER fails" "The CUDA driver libcuda.so.1"
    if grep -qF 'unset it' err; then fail "it recommends the file that failed"; fi
    export GR_CUDA_DRIVER=soft
    check_alone "the advice for a damaged software driver" "Install grinterop again"
fi

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
