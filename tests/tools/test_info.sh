#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_info.sh: runs grinterop-info on this machine and in simulated faulty environments: no driver,
# drivers that do not start, crash or hang, no EGL or Vulkan driver, inaccessible device nodes,
# containers without OpenGL. It uses the CUDA driver that the environment names; run-test sets it.
#
# GR_TOOLS  the folder of the program; default: the build folder, the current one

suite=info
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
tools=$built_in
info=$tools/grinterop-info
tests=$(cd "$(dirname "$0")" && pwd) || exit 99
if [ ! -x "$info" ]; then cannot "$info was not built"; fi
schema=$tests/grinterop-info.schema.json
if [ ! -e "$schema" ]; then schema=$tests/../../tools/info/grinterop-info.schema.json; fi
failing=$(built fault_driver.so)

enter_work_folder
export GR_CUDA_DRIVER="${GR_CUDA_DRIVER:-soft}"
behind=$GR_CUDA_DRIVER
# These variables would change the findings.
unset NVIDIA_DRIVER_CAPABILITIES NVIDIA_VISIBLE_DEVICES DISPLAY
export LC_ALL=C

# tells TEXT...: checks that the output contains each text, regardless of line breaks.
tells() {
    tr -s ' \n' '  ' <out >flat
    for text in "$@"; do
        grep -F -- "$text" flat >/dev/null || { fail "does not say \"$text\""; return 1; }
    done
}

# is OK ID...: checks that the findings are present and marked OK: true, false or null.
is() {
    ok=$1
    shift
    for id in "$@"; do
        grep -F "{\"id\": \"$id\", \"ok\": $ok," out >/dev/null ||
            { fail "$id is not $ok"; return 1; }
    done
}

# ---- The command line ----

check help 0 "$info" --help && tells --verbose --json --probe --limit "Exit status"
check version 0 "$info" --version && tells "grinterop-info (grinterop)"
check unknown_option 2 "$info" --everything
check operand 2 "$info" everything
check no_limit 2 "$info" --limit 0
check no_finder 2 "$info" --find everything

# The manual page, which the build creates by --man, has the contents of --help and is valid roff.
check man 0 "$info" --man && tells '.TH GRINTEROP\-INFO 1' '.SH "EXIT STATUS"'
cp out page.1
"$info" --help | grep -o -e '--[a-z][a-z]*' | sed 's/-/\\-/g' | while read -r option; do
    grep -F -e "$option" page.1 >/dev/null || echo "$option"
done >missing
if [ -s missing ]; then fail "the page lacks" "$(cat missing)"; fi
# groff_warns PAGE: succeeds if groff prints warnings about the page.
groff_warns() { groff -man -ww -z "$1" 2>&1 | grep .; }
if ! command -v groff >/dev/null || ! echo '.TH X 1' | groff -man -z 2>/dev/null; then
    skip man_warnings "there is no groff with the macros of man"
else
    check man_warnings 1 groff_warns page.1
    { cat page.1 && echo '.SX "no such macro"'; } >wrong.1
    check groff_finds_a_wrong_page 0 groff_warns wrong.1
fi

# ---- This machine ----

check text_report 0 "$info" && tells "ways between graphics and CUDA work here" CUDA OpenGL Vulkan \
    "+ CUDA device 0:" "copies through host memory"
lines=$(wc -l <out)
check verbose 0 "$info" --verbose && tells uuid: renderer: GL_EXT_memory_object path:
if [ "$(wc -l <out)" -le "$lines" ]; then fail "--verbose says no more"; fi
check json 0 "$info" --json && is true cuda/device/0 opengl/0 opengl/0/copy
if grep -F '"id": "vulkan/0", "ok": true' out >/dev/null; then vulkan=0; else vulkan=1; fi
cp out report.json
if grep -F '"id": "opengl/0/peer", "ok": true' report.json >/dev/null; then
    check frames_in_flight 0 cat report.json && tells "Frames in flight (\`in_flight\`)"
fi

# An "end", a quote, a backslash and invalid UTF-8 do not end the list or break the JSON report.
odd=$(printf 'a "\\\360\237\246\206\355\240\200 legend')
check odd_values 0 env VK_LOADER_LAYERS_ENABLE="$odd" "$info" --json && tells "ENABLE=a \\\"\\\\" \
    'version/grinterop"'
cp out odd.json
# Some parent processes ignore SIGCHLD, and children inherit that.
deaf() { (trap '' CHLD && exec "$@"); }
check sigchld_ignored 0 deaf "$info" --json && is true cuda/device/0
into_full() { "$@" >/dev/full; }
if [ -w /dev/full ]; then check full 1 into_full "$info" --json; fi

# Python checks the schema, but completely only if jsonschema is installed.
cat >validate.py <<'END'
import json, sys
report, schema = (json.load(open(path, encoding='utf-8')) for path in sys.argv[1:])
assert set(schema['required']) <= set(report), 'a field is missing'
assert report['schema'] == schema['properties']['schema']['const'], 'another schema'
findings = [f for section in report['sections'] for f in section['findings']]
assert all(f['text'] for f in findings if f['ok'] is False), 'a problem without a sentence'
ids = [f['id'] for f in findings]
assert len(ids) == len(set(ids)), 'an id is there twice'
good = sum(f['ok'] is True for f in findings if 'path' in f['facts'])
assert good == report['paths']['working'], 'the sum is wrong'
tried = [f for section in report['sections'] for f in section['findings']
         if section['name'] == 'probes']
assert len(tried) == report.get('probes', {'tried': 0})['tried'], 'the probes are another number'
try:
    import jsonschema
except ImportError:
    print('skipped: schema: Python has no jsonschema, so the fields alone were looked at')
    sys.exit(0)
jsonschema.validate(report, schema)
try:
    jsonschema.validate(dict(report, works='yes'), schema)
except jsonschema.ValidationError:
    sys.exit(0)
raise AssertionError('the schema takes all')
END
# valid NAME REPORT: checks the JSON report.
if command -v python3 >/dev/null; then
    valid() { check "$1" 0 python3 validate.py "$2" "$schema"; }
else
    valid() { check "$1" 0 grep -c '"schema": 1' "$2"; }
fi
valid schema report.json
valid odd_schema odd.json

# With LC_ALL=C there are no check marks; a UTF-8 locale, if installed, prints them.
if [ "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ]; then
    check utf8_check_marks 0 env LC_ALL=C.UTF-8 "$info" && tells "✓ CUDA device 0:"
else
    skip utf8_check_marks "there is no locale C.UTF-8"
fi

# A finder process may print too much: 13000 device nodes exceed the capacity of the report.
mkdir -p crowd/dev/dri
(cd crowd/dev/dri && seq -f "renderD%012.0f" 13000 | xargs touch)
check too_many_device_nodes 0 "$info" --root "$work/crowd" --json &&
    is false surroundings && tells "More than 1024 KiB were found"

# ---- The CUDA driver ----

undriven() { GR_CUDA_DRIVER=/nonexistent/libcuda.so.1 "$info" "$@"; }
check no_driver 1 undriven && tells "nothing works here, since no CUDA driver starts" \
    "/nonexistent/libcuda.so.1 could not" "set it to soft"
check no_driver_json 1 undriven --json && is false cuda/driver &&
    tells '"works": false' '"driver": ""'
check other_library 1 env GR_CUDA_DRIVER=libm.so.6 "$info" && tells "is not a CUDA driver"
if [ "$behind" = soft ]; then
    check software_instead 0 env -u GR_CUDA_DRIVER -u GR_SOFT_DEVICES CUDA_VISIBLE_DEVICES=-1 \
        "$info" && tells "x no CUDA driver" "on the software CUDA driver"
    check not_instead 1 env -u GR_SOFT_DEVICES CUDA_VISIBLE_DEVICES=-1 \
        GR_CUDA_DRIVER=libcuda.so.1 "$info"
fi

# broken FUNCTION=CODE ARGUMENT...: runs grinterop-info with a driver in which this function fails.
broken() {
    first=$1
    shift
    ${by-} env FAULT_DRIVER_TARGET="$behind" FAULT_DRIVER_FIRST="$first" \
        GR_CUDA_DRIVER="$failing" "$info" "$@"
}

if [ ! -e "$failing" ]; then
    skip init "the driver that fails was not built: $failing"
else
    check init_100 1 broken cuInit=100 && tells "sees no GPU" NVIDIA_VISIBLE_DEVICES
    check init_304 1 broken cuInit=304 && tells sandbox
    check init_803 1 broken cuInit=803 && tells "have different versions"
    check init_804 1 broken cuInit=804 && tells cuda-compat
    check init_999 1 broken cuInit=999 && tells nvidia_uvm
    check init_json 1 broken cuInit=999 --json && is false cuda/driver &&
        tells '"code": "CUDA_ERROR_UNKNOWN"'
    check init_crashes 1 broken cuInit=crash && tells "A driver crashed" Vulkan
    check init_hangs 1 broken cuInit=hang --limit 1 && tells "no answer within 1 s" Vulkan
    check count_crashes 1 broken cuDeviceGetCount=crash && tells "A driver crashed"
    # Only one finder process crashes: EGL and Vulkan do not load libcuda.so.1, so their findings
    # are complete.
    if [ "$behind" = soft ]; then
        mkdir libcuda
        ln -s "$failing" libcuda/libcuda.so.1
        check libcuda_crashes 1 env GR_CUDA_DRIVER=libcuda.so.1 FAULT_DRIVER_TARGET=soft \
            FAULT_DRIVER_FIRST=cuInit=crash \
            LD_LIBRARY_PATH="$work/libcuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$info" --json &&
            is false cuda && is null egl/device/0
        if [ "$(grep -c 'A driver crashed' out)" != 1 ]; then fail "crashes more than once"; fi
    fi
    # The other finder processes continue: Vulkan does not need the OpenGL finder.
    check register_crashes $vulkan broken cuGraphicsGLRegisterBuffer=crash --json &&
        is true opengl/0 && is false opengl:0
    check register_hangs $vulkan broken cuGraphicsGLRegisterBuffer=hang --limit 5 --json &&
        is true opengl/0 && is false opengl:0
    check register_fails 0 broken cuGraphicsGLRegisterBuffer=999 --json &&
        is true opengl/0/copy && is false opengl/0/interop
fi

# ---- Probes with bytes ----

check probe 0 "$info" --probe && tells "a buffer registered with CUDA (interop)" \
    "; 0 unexpected failures"
check probe_json 0 "$info" --probe --json && is true probe/opengl/0/buffer/copy \
    probe/opengl/0/image/copy probe/opengl/0/ring && tells '"failed": 0}'
for path in buffer/interop buffer/shared image/interop image/shared; do
    if [ "$behind" = soft ]; then is true "probe/opengl/0/$path"; fi
done
if [ $vulkan = 0 ]; then
    is true probe/vulkan/0/buffer probe/vulkan/0/image probe/vulkan/0/ring \
        probe/vulkan/0/buffer/copy probe/vulkan/0/image/copy \
        probe/vulkan/0/buffer/peer probe/vulkan/0/image/peer
else
    skip probe_vulkan "there is no Vulkan on CUDA device 0"
fi
# The test kernels are PTX, which only the driver of a GPU compiles.
if [ "$behind" = soft ]; then tells '"kernel": "no"'; else tells '"kernel": "yes"'; fi
cp out probed.json
valid probe_schema probed.json
check probe_nothing 1 undriven --probe
check probe_unknown 0 "$info" --find probe/nothing/0/buffer
if grep '^finding' out >/dev/null; then fail "probes what there is not"; fi
# --find also probes a software driver that is already in use.
check probe_software 0 env GR_CUDA_DRIVER=soft "$info" --find probe/software/opengl/0/buffer/interop
if [ "$behind" = soft ]; then
    grep '^finding.+.*probe/software/opengl/0/buffer/interop' out >/dev/null ||
        fail "the software driver does not work"
    check probe_no_egl $vulkan env __EGL_VENDOR_LIBRARY_FILENAMES="$work/none.json" "$info" \
        --probe --json && is false opengl/0
    if grep -F '"id": "probe/opengl' out >/dev/null; then fail "probes OpenGL without OpenGL"; fi
    check probe_no_egl_software 0 env __EGL_VENDOR_LIBRARY_FILENAMES="$work/none.json" \
        "$info" --find probe/software/opengl/0/buffer/interop && tells "names $work/none.json"
    if ! grep '^fact.expected.no' out >/dev/null; then fail "Mesa has to be there"; fi
fi

if [ -e "$failing" ]; then
    # The copy and import transports do not call the function that crashes or hangs.
    check probe_crashes 3 broken cuGraphicsMapResources=crash --probe --json &&
        is false probe/opengl/0/buffer/interop probe/opengl/0/image/interop &&
        is true probe/opengl/0/buffer/copy probe/opengl/0/image/copy &&
        tells "A driver crashed in gr_map()"
    check probe_hangs 3 broken cuGraphicsMapResources=hang --probe --limit 5 --json &&
        is false probe/opengl/0/buffer/interop probe/opengl/0/image/interop &&
        is true probe/opengl/0/buffer/copy probe/opengl/0/image/copy &&
        tells "a driver hangs in gr_map()"
    check probe_map_fails 3 broken cuGraphicsMapResources=999 --probe --json &&
        is false probe/opengl/0/buffer/interop && is true probe/opengl/0/buffer/copy &&
        tells '"code": "CUDA_ERROR_UNKNOWN"'
    # A crash in the finder process before the probe does not prevent the probe of any transport.
    check probe_after_a_crash 3 broken cuGraphicsGLRegisterImage=crash --probe --json &&
        is false probe/opengl/0/image/interop && is true probe/opengl/0/buffer/interop
    # The driver reports success for a copy that it does not make.
    check probe_wrong_copy 3 broken cuMemcpyHtoDAsync=0 --probe --json &&
        is false probe/opengl/0/buffer/interop &&
        tells "OpenGL read other bytes than CUDA wrote" "of 1048576 are wrong"
    if [ $vulkan = 0 ]; then is false probe/vulkan/0/buffer probe/vulkan/0/ring; fi
fi

# ---- EGL and Vulkan drivers ----

mkdir empty
echo '{"ICD": {"library_path": "libEGL_nowhere.so.0"}}' >nowhere.json
gl="$info --json"
# NVIDIA's Vulkan finds no driver if EGL has none.
alone=$vulkan
if grep -F '"software": "no"' report.json >/dev/null; then alone=1; fi
# shellcheck disable=SC2086 # a command with its option
{
    check no_egl_file $alone env __EGL_VENDOR_LIBRARY_FILENAMES="$work/none.json" $gl &&
        is false opengl/0 egl/drivers && tells "none.json (not there)"
    check no_egl_library $alone env __EGL_VENDOR_LIBRARY_FILENAMES="$work/nowhere.json" $gl &&
        is false opengl/0 && tells "libEGL_nowhere.so.0 cannot be loaded"
    check no_egl_driver $alone env -u __EGL_VENDOR_LIBRARY_FILENAMES \
        __EGL_VENDOR_LIBRARY_DIRS="$work/empty" $gl &&
        is false opengl/0 && tells "has no .json file"
    check no_vulkan 0 env VK_DRIVER_FILES="$work/none.json" VK_ICD_FILENAMES="$work/none.json" \
        $gl && is false vulkan/0 vulkan/loader && is true opengl/0 && tells "may hide it"
    check no_graphics 1 env VK_DRIVER_FILES="$work/none.json" VK_ICD_FILENAMES="$work/none.json" \
        __EGL_VENDOR_LIBRARY_FILENAMES="$work/none.json" "$info" &&
        tells "no way between graphics and CUDA works here"
}

# ---- OpenGL on the CPU, and two GPUs ----

software=$(awk '/"id": "egl\/device\// { split($0, part, "\""); id = part[4] }
    id && /"software": "yes"/ { sub(/.*\//, "", id); print id; exit } /"facts"/ { id = "" }' \
    report.json)
if [ -z "$software" ]; then
    skip rendering_on_the_cpu "EGL has no device with EGL_MESA_device_software"
else
    check rendering_on_the_cpu 0 "$info" --find "renderer:$software" && grep 'copy' out >lines &&
        mv lines out && tells "renderer/$software/copy"
    if ! grep '^finding.+' out >/dev/null; then fail "OpenGL on the CPU does not use copy"; fi
fi
if [ "$behind" = soft ]; then export GR_SOFT_DEVICES=2; fi
if [ "$behind" != soft ] && ! grep -F '"cuda/device/1"' report.json >/dev/null; then
    skip two_gpus "there is one GPU"
else
    check two_gpus 0 "$info" --probe --json && is true cuda/device/1 opengl/0/cuda/1/copy &&
        is null cuda/peer/0/1 cuda/peer/1/0 && is true probe/opengl/0/cuda/1/buffer/copy \
        probe/opengl/0/cuda/1/ring
    if grep -F '"reaches": "yes"' out >/dev/null; then is true probe/cuda/0/cuda/1/peer; fi
    if [ "$behind" = soft ]; then
        is true probe/opengl/0/cuda/1/buffer/peer probe/opengl/0/cuda/1/image/peer
    fi
    if [ "$behind" = soft ] && [ $vulkan = 0 ]; then
        is true probe/vulkan/0/cuda/1/buffer/peer probe/vulkan/0/cuda/1/image/peer
    fi
fi
if [ "$behind" = soft ] && [ -e "$failing" ]; then
    check two_gpus_wrong_copy 3 broken cuMemcpyPeerAsync=0 --probe --json &&
        is false probe/cuda/0/cuda/1/peer && tells "access control (ACS)"
fi
unset GR_SOFT_DEVICES

# ---- OpenGL in a window ----

if grep -F '"id": "glx' report.json >/dev/null; then fail "asks a display that is not named"; fi
check no_display 0 env DISPLAY=:7654 "$info" --json && is null glx && is true opengl/0 &&
    tells "no X server answers there"
if ! xvfb-run -a true 2>/dev/null; then
    skip display "xvfb-run starts no X server"
else
    # Without -noreset Xvfb resets after its last client has left, and refuses clients meanwhile.
    in_display() { xvfb-run -a -s '-screen 0 640x480x24 -noreset' "$@"; }
    check display 0 in_display "$info" --probe --json && is true glx glx/copy \
        probe/glx/0/buffer/copy probe/glx/0/image/copy probe/glx/0/ring
    if [ "$behind" = soft ]; then is true glx/interop probe/glx/0/buffer/interop; fi
    [ "$behind" != soft ] || ! grep -F '"id": "glx/device"' out >/dev/null ||
        fail "does not know what draws"
    # by_window FUNCTION=CODE ARGUMENT...: like broken(), on an X display.
    by_window() (by=in_display && broken "$@")
    if [ -e "$failing" ]; then
        check display_crashes $vulkan by_window cuGraphicsGLRegisterBuffer=crash --json &&
            is true glx && is false glx:0
        check no_device_on_display 0 by_window cuGLGetDevices=100 --json && is null glx/device &&
            is true glx/copy
    fi
fi

# ---- The surroundings of the drivers, simulated in a folder that replaces / ----

around() { "$info" --root "$work/root" --find surroundings; }

mkdir -p root/dev/dri
check no_nodes 0 around && tells "no NVIDIA device nodes" "--gpus all"
touch root/dev/nvidiactl root/dev/nvidia0
check no_uvm 0 around && tells "/dev/nvidia-uvm is missing" "nvidia-modprobe -u"
touch root/dev/nvidia-uvm root/dev/dri/renderD128
check all_nodes 0 around && tells "/dev/nvidia-uvm is there" "/dev/dri/renderD128 is there"
if grep '^finding.-' out >/dev/null; then fail "finds a problem where there is none"; fi

# A Jetson Orin. Catches: the advice was to create /dev/nvidia-uvm, which a Jetson does not have.
mkdir -p root/dev/nvgpu/igpu0
touch root/dev/nvmap root/dev/nvgpu/igpu0/ctrl
rm root/dev/nvidia-uvm
check tegra 0 around && tells "/dev/nvmap is there" "/dev/nvgpu/igpu0/ctrl is there"
if grep '^finding.-' out >/dev/null; then fail "finds a problem where there is none"; fi
rm root/dev/nvmap
check no_nvmap 0 around && tells "/dev/nvmap is missing" "--runtime nvidia"
rm -r root/dev/nvgpu
touch root/dev/nvidia-uvm

chmod 755 "$work"
chmod 000 root/dev/nvidia0 root/dev/dri/renderD128
user=
if [ "$(id -u)" = 0 ]; then user='setpriv --reuid=65534 --clear-groups'; fi
# shellcheck disable=SC2086 # a command with its options, or nothing
if ! $user "$info" --version >/dev/null 2>&1; then
    skip inaccessible_nodes "root opens every file, and no other user can run $info"
else
    check inaccessible_nodes 0 $user "$info" --root "$work/root" --find surroundings &&
        tells "/dev/nvidia0 is not accessible to this user" \
            "/dev/dri/renderD128 is not accessible" "join its group"
fi

export NVIDIA_VISIBLE_DEVICES=all
check default_container 0 around && tells "is not set, which is utility,compute" \
    "NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility"
export NVIDIA_DRIVER_CAPABILITIES=compute,graphics,utility
check whole_container 0 around && tells "the container has CUDA and OpenGL"
export NVIDIA_DRIVER_CAPABILITIES=compute,video
check part_container 0 around && tells "OpenGL and Vulkan need graphics" "is compute,video"
unset NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES

for card in 0 1; do mkdir -p root/sys/class/drm/card$card/device; done
echo 0x10de >root/sys/class/drm/card0/device/vendor
echo 0x10de >root/sys/class/drm/card1/device/vendor
check one_gpu_vendor 0 around
if grep -F 'two vendors' out >/dev/null; then fail "takes one maker for two"; fi
echo 0x8086 >root/sys/class/drm/card1/device/vendor
check two_gpu_vendors 0 around && tells "two vendors" __NV_PRIME_RENDER_OFFLOAD=1
mkdir -p root/proc/driver/nvidia
echo 'NVRM version: NVIDIA UNIX Module 580.65.06' >root/proc/driver/nvidia/version
check kernel_driver 0 around && tells "Module 580.65.06"

# wrong ID, right ID: check that the finding is a problem, or is not.
wrong() { grep "^finding.-.*$1	" out >/dev/null || fail "$1 is not reported as a problem"; }
right() { ! grep "^finding.-.*$1	" out >/dev/null || fail "$1 is reported as a problem"; }

if [ ! -e "$failing" ]; then
    skip versions "there is no library to take for libcuda.so.1: $failing"
else
    mkdir -p versions/compat
    for file in libcuda.so.580.65.06 libcuda.so.570.1 libcuda.so.1.1 compat/libcuda.so.585.1; do
        cp "$failing" versions/$file
    done
    # from FILE: prints the findings with this file as the CUDA driver.
    from() {
        env FAULT_DRIVER_TARGET=libc.so.6 GR_CUDA_DRIVER="$work/versions/$1" \
            "$info" --root "$work/root" --find surroundings
    }
    check version_equal 0 from libcuda.so.580.65.06 && right surroundings/version/CUDA &&
        tells "NVIDIA's driver for CUDA is 580.65.06"
    check version_differs 0 from libcuda.so.570.1 && tells "two versions of NVIDIA's driver" 803 \
        "The kernel has 580.65.06" && wrong surroundings/version/CUDA
    # The file name on a Jetson. Catches: grinterop-info took 1.1 for the version of the driver.
    check version_tegra 0 from libcuda.so.1.1 && right surroundings/version/CUDA
    check version_compat 0 from compat/libcuda.so.585.1 && tells "forward compatibility" 804 &&
        right surroundings/version/CUDA
    check version_library 0 around && tells "version/grinterop" libgrinterop
fi

if ! command -v "${CC:-cc}" >/dev/null; then
    skip driver_lacks_a_library "there is no compiler"
else # the libraries that run-test preloads for sanitizers would break the linker
    echo >empty.c
    env -u LD_PRELOAD "${CC:-cc}" -shared -o libmissing.so.6 empty.c
    env -u LD_PRELOAD "${CC:-cc}" -shared -o libGLX_nvidia.so.0 -Wl,--no-as-needed ./libmissing.so.6
    rm libmissing.so.6
    check driver_lacks_a_library 0 env LD_LIBRARY_PATH="$work:${LD_LIBRARY_PATH-}" "$info" \
        --find surroundings && tells libmissing.so.6 "GLX and Vulkan" "libxext6" &&
        wrong surroundings/version/GLX && right surroundings/version/EGL
fi

check no_nouveau 0 around && right surroundings/nouveau
mkdir -p root/sys/module/nouveau root/etc
rm root/proc/driver/nvidia/version
check nouveau 0 around && wrong surroundings/nouveau && tells "which disables nouveau"
echo on-demand >root/etc/prime-discrete
check switched_on 0 around && right surroundings/prime
echo off >root/etc/prime-discrete
check switched_off 0 around && wrong surroundings/prime && tells "prime-select on-demand"

in_container() { (export APPTAINER_CONTAINER=here.sif && around); }
check apptainer 0 in_container && tells "Start it with --nv"
mkdir -p root/.singularity.d/libs
touch root/.singularity.d/libs/libcuda.so.1
check apptainer_nv 0 in_container
if grep -F apptainer out >/dev/null; then fail "asks for --nv, which was given"; fi

mkdir -p root/proc/sys/kernel root/usr/lib/wsl/lib
echo 5.15.90.1-microsoft-standard-WSL2 >root/proc/sys/kernel/osrelease
check wsl 0 around && tells "this is WSL" && wrong surroundings/wsl/driver && tells "wsl --shutdown"
touch root/usr/lib/wsl/lib/libcuda.so.1
check wsl_driver 0 around && right surroundings/wsl/driver

check rights 0 around && right surroundings/rights
if [ "$(id -u)" != 0 ]; then
    skip more_rights "only root can make a program that is setuid to another user"
else
    cp "$(readlink -f "$info")" setuid-info
    chmod 4755 setuid-info
    set_uid() { setpriv --reuid=65534 --clear-groups "$work/setuid-info" --find surroundings; }
    if set_uid 2>/dev/null | grep -q '^end'; then
        check more_rights 0 set_uid && tells "more privileges than its user"
    else
        skip more_rights "no program that is setuid runs here"
    fi
fi
check variables 0 env CUDA_VISIBLE_DEVICES=1 GR_COMPAT=copy GR_LOG=info "$info" \
    --find surroundings && tells CUDA_VISIBLE_DEVICES=1 "numbers them in this order" \
    GR_COMPAT=copy "programs that use compat.h" GR_LOG=info "logs on standard error"

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
