#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_bench.sh: tests the benchmarks themselves. bench_frames uses tiny meshes: each row that this
# machine supports must draw the right picture. bench_map runs with ten resources, bench_publish
# reads some framebuffers, and bench_softcuda compares the results of kernels and loops.
# Times are not checked. run-test selects the CUDA driver through the environment.
#
# GR_TOOLS  the directory of the programs; default: the build directory

# Option lists are split on purpose:
# shellcheck disable=SC2086

suite=bench
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
frames=$(built bench_frames)
map=$(built bench_map)
processes=$(built bench_processes)
publish=$(built bench_publish)
vulkan=$(built bench_vulkan)
softcuda=$(built bench_softcuda)

for program in "$frames" "$map" "$processes" "$publish"; do
    if [ -z "$program" ]; then cannot "the benchmarks were not built"; fi
done

compare=$(cd "$(dirname "$0")" && pwd)/compare

enter_work_folder

# measured FILE ROW...: the JSON file has each row, and no attempt to measure the rows failed.
measured() {
    file=$1
    shift
    for row in "$@"; do
        if ! awk -v row="\"row\": \"$row\"" '
            /"row": / { is = index($0, row) }
            is && /"measured": true/ { good++ }
            is && /"measured": false/ { bad++ }
            END { exit !good || bad }' "$file"; then
            fail "row $row was not measured"
            return 1
        fi
    done
}

# says_not FILE TEXT: the file does not contain the text.
says_not() {
    if grep -F -- "$2" "$1" >/dev/null; then
        fail "says \"$2\""
        return 1
    fi
}

finish() {
    if [ $failures -gt $checks ]; then failures=$checks; fi
    echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
    [ $failures = 0 ]
    exit
}

check usage_device 2 "$frames" --device first
check usage_map 2 "$map" --many 1
check many 0 "$map" --quick --only room/one,many/ --json map.json &&
    measured map.json room/one many/copy/1 many/copy/1024 many/interop/64
if python3 -c 'import matplotlib' 2>/dev/null && [ -e "${compare%/*}/chart.py" ]; then
    check chart 0 python3 "${compare%/*}/chart.py" map.json map.svg && says map.svg '</svg>'
else
    skip chart 'there is no matplotlib, or no bench/chart.py'
fi
check usage_gl 2 "$frames" --gl-device none
if [ "${GR_CUDA_DRIVER-}" = soft ] && [ -x "$softcuda" ]; then
    check usage_softcuda 2 "$softcuda" --samples 0
    check softcuda_processor 0 "$softcuda" --quick --only kernels --cpu-time \
        --json processor.json &&
        measured processor.json 'saxpy 4096, 64' && says out 'us of CPU time'
    check softcuda 0 "$softcuda" --quick --json softcuda.json &&
        measured softcuda.json 'saxpy 4096, 64' 'stencil 64^2, 16 x 16' 'a block of 1024' \
            'sums of 16384, blocks of 256' 'buffer 64 KiB' 'image 512^2' &&
        says_not out WRONG
else
    skip softcuda "$softcuda was not built, or this is about a GPU"
fi
check nowhere 1 "$map" --quick --only register/one --json nowhere/file.json

if [ "${GR_CUDA_DRIVER-}" != soft ] && grep -F 'not built for a GPU' err >/dev/null; then
    skip rows 'nvcc was missing when the kernels were built'
    finish
fi

# ---- On one device ----

check frames 0 "$frames" --quick --only bound,raw,grinterop,ring/1,staged/,hand/,read/ \
    --json frames.json &&
    measured frames.json bound raw grinterop read/bound read/raw read/grinterop read/cleared/raw \
        read/cleared/grinterop &&
    says_not out WRONG
copies='copy copy/1 copy/4 read/copy read/copy/1 read/copy/4'
check frames_copy 0 "$frames" --quick --only draw,transfer,copy,read/copy \
    --json frames-copy.json &&
    measured frames-copy.json draw transfer $copies &&
    says_not out WRONG
check latency 0 "$frames" --quick --meshes 16 --only raw,ring/1,staged/4 --latency 1000 \
    --json latency.json &&
    says latency.json '"latency_us": {"median"' '"worst_latency_us": ' '"kernel_to_draw_us": '
# Without Vulkan the rows have the reason instead of times.
check frames_vulkan 0 "$frames" --quick --only vulkan/ --json frames-vulkan.json &&
    says_not out WRONG
check framebuffers 0 "$publish" --quick --only 'depth 24,in_flight ' --json publish.json &&
    measured publish.json 'depth 24, distance' 'in_flight 8, colour' 'in_flight 8, both' &&
    says publish.json '"by_hand_cpu_us": ' '"grinterop_cpu_us": '
check rings 0 "$publish" --only Rings,One --quick --json rings.json &&
    says rings.json '"row": "batches of 16"' '"row": "in_flight 16"' '"cpu_us": {"median"'
if command -v python3 >/dev/null && [ -e "$compare" ]; then
    check compare_usage 2 python3 "$compare" publish.json
    check compare_same 0 python3 "$compare" publish.json publish.json
    sed 's/"median": [0-9.]*/"median": 1e9/' publish.json >slower.json
    check compare_slower 1 python3 "$compare" publish.json slower.json &&
        says out 'slower: depth 24, distance, 1920 x 1080, grinterop_us'
    check compare_faster 0 python3 "$compare" slower.json publish.json && says out 'faster: '
else
    skip compare 'there is no Python, or no bench/compare'
fi
# A row fails unless the last frame has the right bytes.
check processes 0 "$processes" --quick --json processes.json &&
    grep -F '"row": "ring/threads"' processes.json &&
    grep -F '"row": "ring/processes"' processes.json
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    check frames_rows 0 test -s frames.json &&
        measured frames.json ring/1 ring/16 hand/1 hand/16 read/ring/1 staged/4 staged/16 \
            read/staged/4 read/staged/16 read/cleared/staged/4 read/cleared/staged/16
    check vulkan_rows 0 test -s frames-vulkan.json &&
        measured frames-vulkan.json vulkan/draw vulkan/1 vulkan/16 vulkan/copy/1 vulkan/copy/4
    check staged 0 "$vulkan" --quick --only graphics/1,staged/64K,staged/image --json vulkan.json &&
        measured vulkan.json graphics/1 staged/64K/0 staged/image/16
fi

# ---- OpenGL on the CPU ----

software='--quick --gl-device software'
if [ "${GR_CUDA_DRIVER-}" != soft ] &&
    ! "$frames" $software --only draw --meshes 16 >out 2>err; then
    skip on_the_processor "$(tail -n 1 err)"
else
    check on_the_processor 0 "$frames" $software --json frames-software.json &&
        measured frames-software.json draw bound transfer $copies read/bound &&
        says out 'us_a_frame / that of draw|transfer: ' &&
        says_not out WRONG
fi

# ---- CUDA on one device, OpenGL on another ----

second='--quick --only bound --meshes 16 --cuda-device 1 --gl-device 0'
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    export GR_SOFT_DEVICES=2
    check second_device 0 "$frames" $second
elif ! "$frames" $second >out 2>err; then
    skip second_device "$(tail -n 1 err)"
    finish
fi
check frames_two 0 "$frames" --quick --meshes 16 --cuda-device 1 --gl-device 0 --json frames.json &&
    measured frames.json bound raw transfer copy image/interop image/copy copy/4 hand/1 hand/16 \
        read/raw read/copy/4 &&
    says_not out WRONG
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    check two_shared 0 test -s frames.json &&
        measured frames.json peer image/peer ring/1 ring/16 staged/4 read/peer read/ring/1 \
            vulkan/peer/1 vulkan/peer/4
fi
finish
