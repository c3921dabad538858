#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The checks of a test script, which sources this: each runs a program whose output goes into the
# files out and err of the current folder.
#
# suite    the script's name is test_$suite.sh
# outputs  the files that a failed check shows

: "${suite:?}"
# built FILE: where a program or a module lies: below the folder GR_TOOLS, where all of a bundle's
# are in one, by default below the build folder, where make and its user run tests.
built_in=$(cd "${GR_TOOLS:-.}" && pwd) || exit 99
built() {
    find "$built_in" -maxdepth 4 \( -name ci -o -name python \) -prune -o \
        -type f -name "$1" -print | head -n 1
}

checks=0
failures=0
outputs='out err'

# begin NAME: one check.
begin() {
    checks=$((checks + 1))
    name=$1 line=$checks
}

# fail WORD...: the check that was begun last has failed; says why, with the program's output.
fail() {
    failures=$((failures + 1))
    echo "test_$suite.sh:$line:F:$suite:$name: $*"
    # shellcheck disable=SC2086 # a list of files
    sed 's/^/    /' $outputs 2>/dev/null
}

# check NAME STATUS COMMAND...: one check, passed if the command ends with that status, or for "bad"
# with any but 0 and those of timeout. The caller's further questions belong to the same check.
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

# skip NAME REASON...: one check that can't be made here.
skip() {
    checks=$((checks + 1))
    skipped=$1
    shift
    echo "skipped: $skipped: $*"
}

# says FILE TEXT...: the file holds each text.
says() {
    file=$1
    shift
    for text in "$@"; do
        if ! grep -qF -- "$text" "$file"; then
            fail "does not say \"$text\""
            return 1
        fi
    done
}
