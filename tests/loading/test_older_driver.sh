#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_older_driver.sh: runs test programs on a driver with only the functions of CUDA 11.2, the
# oldest version that grinterop supports, and on a driver without memory pools.
# tests/drivers/fault_driver.c simulates both.
#
# GR_TOOLS  the folder of the programs, beside lib/; default: the build folder, the current one

suite=older_driver
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
driver=$(built fault_driver.so)
if [ -z "$driver" ]; then cannot "fault_driver.so was not built"; fi

enter_work_folder

export FAULT_DRIVER_TARGET="${GR_CUDA_DRIVER:-soft}" GR_CUDA_DRIVER="$driver"
# The groups with the tag "bytes" convert more formats by the same calls.
export CK_EXCLUDE_TAGS=bytes
for test in bad_context events external publish tensor threads vk_sync; do
    check "CUDA 11.2: test_$test" 0 env FAULT_DRIVER_CUDA=11020 "$(built test_$test)" &&
        says out '100%: Checks: '
done
check "no memory pools: test_tensor_copy" 0 env FAULT_DRIVER_LACKS=cuMemAllocAsync, \
    "$(built test_tensor_copy)" && says out '100%: Checks: '

echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
