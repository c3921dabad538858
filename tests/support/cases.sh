#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Check functions for test scripts, which source this file. Each check runs a program and writes its
# output to the files out and err in the current folder.
#
# suite    the script's name is test_$suite.sh
# outputs  the files that a failed check shows

: "${suite:?}"
# built FILE: prints the path of a program or module. Searches the folder GR_TOOLS, in which a
# bundle has all programs and modules. If GR_TOOLS is unset, searches the current folder, which is
# then the build folder.
built_in=$(cd "${GR_TOOLS:-.}" && pwd) || exit 99
built() {
    find "$built_in" -maxdepth 4 \( -name ci -o -name python \) -prune -o \
        -type f -name "$1" -print | head -n 1
}

# cannot WORD...: skips the whole script and prints the reason.
cannot() {
    echo "skipped: $*"
    exit 77
}

# enter_work_folder: creates $work, which is deleted at the end of the script, and enters it.
enter_work_folder() {
    work=$(mktemp -d) || exit 99
    trap 'rm -rf "$work"' EXIT
    trap 'exit 99' HUP INT TERM
    cd "$work" || exit 99
}

checks=0
failures=0
outputs='out err'

# begin NAME: begins a check.
begin() {
    checks=$((checks + 1))
    name=$1 line=$checks
}

# fail WORD...: fails the current check; prints the reason and the program's output.
fail() {
    failures=$((failures + 1))
    echo "test_$suite.sh:$line:F:$suite:$name: $*"
    # shellcheck disable=SC2086 # a list of files
    sed 's/^/    /' $outputs 2>/dev/null
}

# check NAME STATUS COMMAND...: a check that passes if the command ends with that status. STATUS may
# be "bad": any status but 0 and the statuses of timeout. Further tests by the caller are part of
# the same check.
check() {
    begin "$1"
    wanted=$2
    shift 2
    "$@" >out 2>err
    code=$?
    case $wanted:$code in
    bad:0 | bad:124 | bad:137) ;;
    bad:*) return 0 ;;
    esac
    if [ $code != "$wanted" ]; then
        fail "exit status $code instead of $wanted: $*"
        return 1
    fi
}

# skip NAME REASON...: counts a check that cannot run on this machine, and prints the reason.
skip() {
    checks=$((checks + 1))
    skipped=$1
    shift
    echo "skipped: $skipped: $*"
}

# says FILE TEXT...: fails the current check unless the file contains each text.
says() {
    file=$1
    shift
    for text in "$@"; do
        if ! grep -qF -- "$text" "$file"; then
            fail "does not contain \"$text\""
            return 1
        fi
    done
}
