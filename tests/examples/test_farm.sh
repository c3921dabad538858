#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_farm.sh: runs examples/farm with one rank and with several, including slow, killed and
# failing ranks. It uses the CUDA driver that the environment names; run-test sets it.
#
# GR_TEST_FAULTS  if set, a kernel also fails on a GPU, whose OpenGL may be unusable afterwards

# Lists of options are meant to be split:
# shellcheck disable=SC2086

suite=farm
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
farm=$(built farm)

if [ -z "$farm" ]; then cannot "farm was not built: configure found no MPI"; fi
if ! command -v mpirun >/dev/null; then cannot "mpirun was not found (Debian: openmpi-bin)"; fi
if ! "$farm" --version >/dev/null 2>&1; then
    cannot "farm does not start: libmpi is missing, or another one; in a bundle share/build-farm" \
        "builds it anew"
fi

# Settings of Open MPI: allow root and more ranks than CPUs, use only this machine, and avoid what
# containers forbid.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
export OMPI_MCA_btl_vader_single_copy_mechanism=none
oversubscribe=
case $(mpirun --version 2>&1) in
*'Open MPI'* | *OpenRTE* | *PRRTE*) oversubscribe=--oversubscribe ;;
esac
mpirun() { timeout -k 5 120 mpirun $oversubscribe "$@"; }

# MPI holds memory until the process ends, so leaks are not checked.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"

enter_work_folder

# frames_of RANK: prints the number of frames that the rank drew according to the output; 0 if it
# printed none.
frames_of() {
    frames=$(sed -n "s/^rank $1 *\([0-9]*\) frames in .*/\1/p" out)
    echo "${frames:-0}"
}
sum() { sed -n 's/^checksum *//p' out; }
pictures() { find "$1" -name 'frame-*.png' | wc -l; }

small='--size 96x64 --mesh 48 --work 16'

# ---- One rank, and two: the same bytes ----

check one 0 "$farm" $small --frames 40 --out one &&
    says out '40 frames' '1 rank on 1 node' '0 were there' 'rank 0'
one=$(sum)
check one_pictures 0 test "$(pictures one)" = 40
check two 0 mpirun -n 2 "$farm" $small --frames 40 --out two &&
    says out '2 ranks on 1 node' 'slowest ' 'files '
begin two_sum
if [ -z "$one" ] || [ "$(sum)" != "$one" ]; then fail "checksum $(sum) instead of $one"; fi
begin two_shares
if [ "$(($(frames_of 0) + $(frames_of 1)))" != 40 ]; then fail "not 40 frames in all"; fi
check two_same 0 diff -r one two
check in_flight_1 0 mpirun -n 2 "$farm" $small --frames 40 --in-flight 1 --writers 1 --no-files
begin in_flight_1_sum
if [ "$(sum)" != "$one" ]; then fail "checksum $(sum) instead of $one"; fi
check no_files 0 mpirun -n 3 "$farm" $small --frames 40 --in-flight 64 --chunk 7 --no-files --out no
begin no_files_sum
if [ "$(sum)" != "$one" ]; then fail "checksum $(sum) instead of $one"; fi
check no_files_none 1 test -e no
# Different pictures must have a different checksum.
check other 0 "$farm" $small --frames 40 --first 2 --no-files
begin other_sum
if [ "$(sum)" = "$one" ]; then fail "the checksum of frames 1 to 40"; fi

# ---- Existing pictures are not drawn again ----

check nothing_left 0 mpirun -n 2 "$farm" $small --frames 40 --out two &&
    says out 'All 40 frames already exist in two'
rm two/00000/frame-00000017.png
: >two/00000/frame-00000005.png
# Catches: pictures that were truncated, or whose end was never written, counted as done.
whole=$(wc -c <one/00000/frame-00000006.png)
head -c $((whole / 2)) one/00000/frame-00000006.png >two/00000/frame-00000006.png
head -c $((whole / 2)) one/00000/frame-00000006.png >two/00000/frame-00000007.png
head -c $((whole - whole / 2)) /dev/zero >>two/00000/frame-00000007.png
head -c 8 one/00000/frame-00000008.png >two/00000/frame-00000008.png
head -c $((whole - 1)) one/00000/frame-00000006.png >two/00000/frame-00000009.png
echo 'half of it' >two/00000/.frame-00000017.elsewhere.1.part
echo mine >two/00000/notes.txt
check seven_left 0 mpirun -n 2 "$farm" $small --frames 41 --out two &&
    says out '34 exist' ' 7 frames in '
check notes_stay 0 rm two/00000/notes.txt
rm two/00000/frame-00000041.png
check seven_same 0 diff -r one two
# The frames are on both sides of a folder boundary.
check border 0 mpirun -n 2 "$farm" $small --first 998 --frames 4 --out far
check border_folders 0 test "$(echo far/*/*)" = "far/00000/frame-00000998.png \
far/00000/frame-00000999.png far/00001/frame-00001000.png far/00001/frame-00001001.png"
check border_left 0 mpirun -n 2 "$farm" $small --first 997 --frames 5 --out far &&
    says out '4 exist'

# ---- A file gets its name only when it is complete ----

# Large pictures take long to write. No incomplete picture may be visible meanwhile.
begin whole
half=
"$farm" --size 2048x1536 --mesh 8 --work 1 --frames 6 --writers 1 --out large >out 2>err &
job=$!
while kill -0 $job 2>/dev/null; do
    for picture in large/00000/frame-*.png; do
        if [ -e "$picture" ] && ! tail -c 8 "$picture" | grep -q IEND; then
            half=$picture
        fi
    done
done
if [ -n "$half" ]; then fail "$half was incomplete"; fi
if ! wait $job; then fail "the job failed"; fi
check whole_all 0 test "$(pictures large)" = 6

# ---- A slow rank draws fewer frames ----

tiny='--size 32x24 --mesh 8 --work 1'
check slow 0 mpirun -n 2 "$farm" $tiny --frames 40 --in-flight 1 --slow 1 --no-files &&
    says out 'slowest   rank 1' && says err 'frame 40 of 40'
begin slow_shares
if [ "$(frames_of 1)" -ge "$(frames_of 0)" ]; then fail "the slow rank did as many"; fi

# ---- A killed rank ends the job, and the next job draws the remaining frames ----

begin killed
mpirun -n 2 "$farm" $small --frames 40 --in-flight 1 --slow 2 --out killed >out 2>err &
job=$!
tries=0
while [ ! -d killed/00000 ] || [ "$(pictures killed)" -lt 4 ]; do
    tries=$((tries + 1))
    if [ $tries = 600 ]; then break; fi
    sleep 0.1
done
victim=$(sed -n 's/^rank 1 .*process \([0-9]*\),.*/\1/p' out)
if [ -z "$victim" ] || ! kill -9 "$victim"; then fail "there is no rank 1 to kill"; fi
wait $job
code=$?
case $code in 0 | 124) fail "the job ended with status $code" ;; esac
# mpirun does not wait for the other rank, which it killed and which has the lock of the folder.
other=$(sed -n 's/^rank 0 .*process \([0-9]*\),.*/\1/p' out)
tries=0
while [ $tries -lt 100 ] && kill -0 "$other" 2>/dev/null; do
    tries=$((tries + 1))
    sleep 0.1
done
begin killed_midway
done_before=$(pictures killed)
if [ "$done_before" -lt 4 ] || [ "$done_before" -ge 40 ]; then fail "$done_before pictures"; fi
begin killed_whole
half=
for picture in killed/00000/frame-*.png; do
    if ! cmp "$picture" "one${picture#killed}" >err 2>&1; then half=$picture; fi
done
if [ -n "$half" ]; then fail "$half is incomplete"; fi
check restarted 0 mpirun -n 2 "$farm" $small --frames 40 --out killed &&
    says out "$done_before exist" "$((40 - done_before)) frames in "
check restarted_same 0 diff -r one killed

# ---- A failing rank ends the job ----

mkdir -p taken/00000/frame-00000003.png
check write_fails bad mpirun -n 2 "$farm" $small --frames 12 --out taken &&
    says err 'frame-00000003.png cannot be written' 'ends the job'
check write_fails_no_half 0 test -z "$(find taken -name '.frame-00000003*')"
# Catches: a rank waited forever for a picture whose kernel had failed. Only one rank runs, so that
# no other rank ends the job. Such a wait exists only on a GPU, where CUDA and OpenGL share
# semaphores; with the software driver a failing kernel ends the process.
broken='--size 32x24 --mesh 8 --work 50000 --in-flight 1 --no-files'
if [ "${GR_CUDA_DRIVER-}" != soft ] && [ -z "${GR_TEST_FAULTS-}" ]; then
    skip kernel_fails "after a kernel that failed NVIDIA's driver 580 draws nothing in some" \
        "OpenGL contexts of every later program; GR_TEST_FAULTS=1 runs it"
else
    check kernel_fails bad timeout -k 5 60 "$farm" $broken --frames 3 --broken 3 &&
        case ${GR_CUDA_DRIVER-} in
        soft) says err 'kernel sea_at' 'which is NULL plus' ;;
        *) says err 'Cannot run the kernel' 'ends the job' ;;
        esac
fi
if [ "${GR_CUDA_DRIVER-}" != soft ]; then
    skip kernel_fails_two "on a GPU only one kernel may fail, in kernel_fails"
else
    check kernel_fails_two bad mpirun -n 2 "$farm" $broken --frames 6 --broken 5
fi
check driver_missing bad mpirun -n 1 "$farm" $small --frames 12 --out none : \
    -n 1 env GR_CUDA_DRIVER="$work/none.so" "$farm" $small --frames 12 --out none &&
    says err none.so 'That was rank 1'
check driver_missing_pictures 0 test "$(pictures none)" = 0
check nowhere bad mpirun -n 2 "$farm" $small --out nowhere/new &&
    says err nowhere/new 'No such file'

# ---- Two jobs ----

# The first job draws frames 1 to 300, which takes a minute unless the job is ended.
begin two_jobs
"$farm" $tiny --frames 300 --in-flight 1 --slow 0 --out jobs >out 2>err &
job=$!
tries=0
while [ ! -e jobs/00000/frame-00000001.png ] && kill -0 $job 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries = 600 ]; then break; fi
    sleep 0.1
done
if ! [ -e jobs/00000/frame-00000001.png ]; then fail "the first job did not begin"; fi
# Catches: jobs with different first frames drew the same frames, and removed each other's files.
for frames in '1 --frames 300' '290 --frames 20' '300 --frames 1'; do
    check "two_jobs_from_${frames%% *}" 1 "$farm" $tiny --first $frames --out jobs &&
        says err 'Another farm is working in jobs'
done
check two_jobs_others 0 "$farm" $tiny --first 301 --frames 4 --out jobs
# Catches: the lock file was removed, so that two later jobs could lock different files.
begin two_jobs_one_lock
lock=$(ls -i jobs/.farm.lock)
if [ -z "$lock" ]; then fail "there is no lock"; fi
check two_jobs_going 0 kill -9 $job
wait $job 2>/dev/null
check two_jobs_killed 0 "$farm" $tiny --first 299 --frames 4 --out jobs && says out '2 were there'
begin two_jobs_same_lock
if [ "$(ls -i jobs/.farm.lock)" != "$lock" ]; then fail "the lock is another file"; fi

# ---- Devices ----

# The software driver renders on one device, however many it has. With GPUs, rank N uses the GPU
# with the number N modulo the number of GPUs.
check devices 0 mpirun -n 3 env GR_SOFT_DEVICES=2 "$farm" $small --frames 40 --no-files
begin devices_named
named=$(sed -n 's/^rank .*, device \([0-9]*\): .*/\1/p' out | paste -s -d' ' -)
case ${GR_CUDA_DRIVER-}:$named in
'soft:0 0 0' | [!s]*:'0 0 0' | [!s]*:'0 1 0' | [!s]*:'0 1 2') ;;
*) fail "devices $named" ;;
esac
begin devices_sum
if [ "$(sum)" != "$one" ]; then fail "checksum $(sum) instead of $one"; fi

# ---- CPUs ----

if [ -n "$oversubscribe" ] && [ "$(nproc)" -gt 1 ]; then
    check bound 0 mpirun --bind-to core -n 1 "$farm" $tiny --frames 2 --no-files &&
        says out 'rank 0 may use 1 of' '--bind-to none'
    check unbound 0 mpirun --bind-to none -n 1 "$farm" $tiny --frames 2 --writers 2 --no-files
    begin unbound_says
    if grep -q bind-to out; then fail "prints a warning about bind-to"; fi
else
    begin bound
    echo 'skipped: bound: there is only one CPU, or mpirun is not from Open MPI'
fi

# ---- Usage ----

check help 0 "$farm" --help && says out Usage --no-files GR_CUDA_DRIVER
check version 0 "$farm" -V && says out 'farm (grinterop) '
check frames_none 2 "$farm" --frames 0 && says err 'from 1 to 50000000'
check in_flight_many 2 "$farm" --in-flight 65 && says err 'from 1 to 64'
check argument 2 "$farm" what && says err '"what"' --help

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
