#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_csharp.sh: the declarations that make-native makes compile, and the example runs, by mono.

suite=csharp
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
source=$(cd "${top_srcdir:?}" && pwd) || exit 99
command -v mcs >/dev/null || cannot "mcs was not found (Debian: mono-mcs mono-runtime)"
export LD_LIBRARY_PATH="$built_in/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

enter_work_folder
check "Native.cs is made" 0 python3 "$source/csharp/make-native"
mv out Native.cs && cp "$source/csharp/Picture.cs" .
check "it compiles" 0 mcs -warnaserror -unsafe -out:picture.exe Native.cs Picture.cs
check "floats become bytes" 0 mono picture.exe
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
