#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_speed.sh: counts the instructions of calls with callgrind, and compares each count with the
# file limits, whose lines are "ROW LIMIT". A count has the instructions of one call in
# libgrinterop, without those of the CUDA driver and the C library. Limits are counts of Debian 12
# (gcc 12, -O2), which may grow by 1 % only; other compilers may take 10 % more. The script says
# which limits can be lowered. A higher limit needs its reason in the file.

suite=speed
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
here=$(cd "$(dirname "$0")" && pwd) || exit 99
speed=$(built speed)
layer=$(built exporter_layer.so)

case "${GR_CUDA_DRIVER-} $(uname -m)" in
'soft x86_64') ;;
*) cannot "the limits are for the software driver on x86-64" ;;
esac
case "${GR_SANITIZER:-no} ${CFLAGS-} " in
[!n]* | *sanitize*) cannot "the build has a sanitizer" ;;
*' -O2 '* | *' -O3 '*) ;;
*) cannot "the build is not optimized with -O2: CFLAGS is \"${CFLAGS-}\"" ;;
esac
case $(${CC:-cc} --version) in
*'Free Software Foundation'*) ;;
*) cannot "the compiler is not gcc" ;;
esac
command -v valgrind >/dev/null || cannot "there is no valgrind (Debian: valgrind)"
if [ -z "$speed" ] || [ -z "$layer" ]; then cannot "the program was not built"; fi

case $(${CC:-cc} -dumpversion) in
12 | 12.*) more=1 ;;
*) more=10 ;;
esac

enter_work_folder
# Vulkan exports semaphores, as on a GPU, and 1000 slots need many descriptors.
VK_LAYER_PATH=$(dirname "$layer")
VK_INSTANCE_LAYERS=VK_LAYER_GR_exporter
LD_BIND_NOW=1
export VK_LAYER_PATH VK_INSTANCE_LAYERS LD_BIND_NOW
# shellcheck disable=SC3045 # dash and bash have these options
ulimit -n "$(ulimit -H -n)"

check callgrind 0 valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=calls "$speed"
# 77: a row cannot run here.
if [ "$code" = 77 ]; then cannot "$(sed 's/^skipped: //' out)"; fi

# Each row has its own file. A line "ob=" names the library of the functions after it, and the line
# after "calls=" has the instructions of a called function, which has lines of its own. Each lookup
# of a live object counts as 37 instructions, which a hit at its first place takes, because the
# places in that table depend on addresses.
awk '
    FNR == 1 { row = ""; split("", name); split("", lookup) }
    /^desc: Trigger: Client Request: / { row = $5; calls[row] = $6 }
    /^c?ob=.* / { split($0, part, /[=) ]+/); name[part[2]] = $2 }
    /^c?fn=.* gr_live_has$/ { split($0, part, /[=) ]+/); lookup[part[2]] = 1 }
    /^ob=/ { split($0, part, /[=) ]+/); counted = name[part[2]] ~ /libgrinterop\.so/ }
    /^fn=/ { split($0, part, /[=) ]+/); looks_up = part[2] in lookup }
    /^cfn=/ { split($0, part, /[=) ]+/); called = part[2] }
    /^calls=/ {
        split($1, part, "=")
        if (called in lookup) sum[row] += 37 * part[2]
        getline
        next
    }
    /^[-+*0-9]/ && counted && !looks_up { sum[row] += $2 }
    END { for (row in calls) printf "%s %d\n", row, sum[row] / calls[row] }' calls.* | sort >counts

outputs=counts
while read -r row limit; do
    if [ "$row" = "#" ]; then continue; fi
    begin "$row"
    count=$(sed -n "s/^$row //p" counts)
    echo "$row: ${count:-no} instructions, limit $limit"
    if [ "${count:-0}" = 0 ]; then
        fail "was not counted"
    elif [ "$count" -gt $((limit * (100 + more) / 100)) ]; then
        fail "$count instructions are more than $more % over the limit of $limit in" \
            "tests/speed/limits"
    elif [ "$count" -lt $((limit * 95 / 100)) ]; then
        echo "the limit of $row can be lowered to $count"
    fi
done <"$here/limits"

# The cost of a frame must not depend on the number of slots.
for ring in ring shared_ring; do
    few=$(sed -n "s/^${ring}_2 //p" counts)
    many=$(sed -n "s/^${ring}_1000 //p" counts)
    check "${ring}_constant" 0 test "$many" -le $((few * 110 / 100))
done
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
