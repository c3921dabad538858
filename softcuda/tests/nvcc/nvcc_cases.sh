#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The work folder and the sample program of the scripts in this folder. Each of them sources this
# file.
#
# suite  the name of the script without test_ and .sh

: "${suite:?}"
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
tools=$built_in
programs=$(cd "$(dirname "$0")" && pwd) || exit 99
source=$(cd "$programs/../../.." && pwd) || exit 99
nvcc=$tools/grinterop-nvcc
if [ ! -x "$nvcc" ]; then cannot "$nvcc was not built"; fi
if [ ! -d "$programs" ] || [ -z "${CXX:-}" ]; then
    cannot "needs the source folder and a compiler of a grinterop build"
fi

enter_work_folder
mkdir between
TMPDIR=$work/between
export TMPDIR

# shellcheck source=softcuda/tests/nvcc/built_nvcc.sh
. "$source/softcuda/tests/nvcc/built_nvcc.sh"

cat >one.cu <<'END'
#ifndef VALUE
#error "no VALUE"
#endif
#include "one.h"
__global__ void kernel(int *out)
{
    *out = VALUE + ONE;
}
int start(int *out)
{
    kernel<<<1, 1>>>(out);
    return sizeof(VALUE);
}
END
mkdir -p headers
echo '#define ONE 1' >headers/one.h
flags='-DVALUE=2 -Iheaders'
# shellcheck disable=SC2086 # a list of options
given() { "$nvcc" $flags "$@"; }

# ended: prints the summary. It is the last command of a script.
ended() {
    if [ $failures -gt $checks ]; then failures=$checks; fi
    echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
    [ $failures = 0 ]
}
