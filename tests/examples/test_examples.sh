#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_examples.sh: runs the examples as a user would and checks their pictures, exit statuses and
# messages. It uses the CUDA driver that the environment names; run-test sets it.
#
# GR_EXAMPLE_DATA  the folder of lake.png and of the reference pictures; default: beside
#                  this script and in ../examples
#
# It is a shell script because it tests what a shell sees. `test_examples.sh --reference FOLDER`
# instead rewrites the reference pictures.

# Lists of options are meant to be split:
# shellcheck disable=SC2086

suite=examples
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
here=$(cd "$(dirname "$0")" && pwd) || exit 99
make_png=$(built make_png)
references=${GR_EXAMPLE_DATA:-$here/reference}
lake=${GR_EXAMPLE_DATA:-$here/../../examples/postprocess}/lake.png
kernels=${GR_EXAMPLE_DATA:-$PWD/kernels}
hello=$(built hello)
sinewave=$(built sinewave)
postprocess=$(built postprocess)
publish=$(built publish)
particles=$(built particles)
twoproc=$(built twoproc)
compare=$(built compare_png)

for program in "$hello" \
    "$sinewave" "$postprocess" "$publish" "$particles" "$twoproc" "$compare" \
    "$make_png"; do
    if [ -z "$program" ]; then cannot "the examples were not built (is libpng missing?)"; fi
done

# Small pictures with few vertices: sanitizers and software OpenGL are slow.
wave='--size 192x120 --mesh 96'
# More pixels than the input picture has, so that the minification filter of OpenGL does not matter.
easel='--size 192x120 --radius 5'

if [ "${1-}" = --reference ]; then
    "$sinewave" $wave -o "$2/sinewave.png" &&
        "$make_png" coloured "$2/input.png" &&
        "$postprocess" $easel "$2/input.png" "$2/postprocess.png" &&
        "$postprocess" $easel -f sobel "$2/input.png" "$2/sobel.png" &&
        rm "$2/input.png"
    exit
fi

enter_work_folder

# like NAME LIMITS PICTURE REFERENCE: checks that the picture is close to its reference, if there is
# one.
like() {
    if [ -e "$references/$4" ]; then
        check "$1" 0 "$compare" $2 "$3" "$references/$4"
    else
        skip "$1" "there is no reference picture $4"
    fi
}

# size FILE: prints the width and height in the header of a PNG file.
size() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'; }

# ---- compare_png, which the other checks use ----

for made in flat100:flat.png spot103:spot.png one-row:row.png; do
    "$make_png" "${made%:*}" "${made#*:}" || exit 99
done

check same 0 "$compare" --max 0 --mean 0 --share 0 flat.png flat.png &&
    says out 'largest difference 0, mean 0.0000, 0.000 % of the pixels'
# One of 48 x 32 pixels differs, by 3 in 3 of its 4 values.
check numbers 0 "$compare" flat.png spot.png &&
    says out 'largest difference 3, mean 0.0015, 0.065 % of the pixels differ by more than 0'
check max_kept 0 "$compare" --max 3 flat.png spot.png
check max_exceeded 1 "$compare" --max 2.9 flat.png spot.png &&
    says out 'largest difference is more than 2.9'
check mean_exceeded 1 "$compare" --mean 0.001 flat.png spot.png &&
    says out 'mean difference is more than'
check share_exceeded 1 "$compare" --share 0.06 flat.png spot.png &&
    says out 'share of differing pixels'
check share_tolerant 0 "$compare" --share 0 --tolerance 3 flat.png spot.png
check other_size 1 "$compare" flat.png row.png && says out 'the sizes differ: 48x32 and 48x1'
# One of two pixels differs, by 10 in one of its 4 values.
printf 'P6 2 1 255\nabcdef' >two.ppm
printf 'P6\n2 1\n255\nabcdep' >other.ppm
printf 'P6 2 1 255\nabcde' >short.ppm
printf 'P6 2 1 65535\nabcdef' >wide.ppm
check ppm 0 "$compare" two.ppm other.ppm &&
    says out 'largest difference 10, mean 1.2500, 50.000 % of the pixels differ by more than 0'
check ppm_and_png 1 "$compare" flat.png two.ppm && says out 'the sizes differ: 48x32 and 2x1'
check ppm_short 2 "$compare" two.ppm short.ppm && says err short.ppm 'ends too early'
check ppm_wide 2 "$compare" wide.ppm two.ppm && says err wide.ppm 'a picture of bytes'
check ppm_other 2 "$compare" --max 0 two.ppm missing.ppm && says err missing.ppm 'No such file'
check compare_usage 2 "$compare" flat.png && says err Usage
check compare_missing 2 "$compare" flat.png missing.png && says err missing.png 'No such file'
check compare_number 2 "$compare" --max many flat.png flat.png && says err '--max takes a number'

# ---- hello and its variants: each is one file, and finds its kernels in the current folder ----

# hello_ring draws with two threads and ends at a different moment each time, so its picture has no
# reference. Points may differ by a pixel between OpenGL implementations. hello_vulkan draws the
# same picture as hello_image.
points='--mean 2.0 --tolerance 8 --share 4'
for twin in hello hello_image hello_ring; do
    check "${twin}_without_kernels" 1 "$(built $twin)" && says err './' ': CUDA_ERROR_'
done
for twin in hello hello_vulkan; do
    check ${twin}_cpp_without_kernels 1 "$(built ${twin}_cpp)" &&
        says err "${twin}_cpp: " '(./hello.' CUDA_ERROR_
done
cp "$kernels/hello.so" "$kernels/hello.fatbin" .
if [ "${GR_CUDA_DRIVER-}" != soft ] && [ ! -s hello.fatbin ]; then
    skip hello "nvcc was missing when the kernels were built"
else
    check hello 0 "$hello" && like hello_picture "$points" hello.png hello.png
    check hello_cpp 0 "$hello"_cpp &&
        like hello_cpp_picture "$points" hello_cpp.png hello.png
    check hello_image 0 "$hello"_image &&
        like hello_image_picture '--mean 1.0' hello_image.png hello_image.png
    check hello_vulkan 0 "$hello"_vulkan &&
        like hello_vulkan_picture '--mean 2.0' hello_vulkan.png hello_image.png
    check hello_vulkan_cpp 0 "$hello"_vulkan_cpp &&
        check hello_vulkan_cpp_same 0 "$compare" --max 0 hello_vulkan_cpp.png hello_vulkan.png
    check hello_ring 0 "$hello"_ring &&
        says out '60 frames were read and 0 dropped; the newest is ' && cp out ring.txt &&
        check hello_ring_age 1 grep -F ' 0.000 ms old' ring.txt &&
        check hello_ring_size 0 test "$(size hello_ring.png)" = 960x540
    check hello_ring_drawn 1 "$compare" --mean 1.0 hello_ring.png hello.png
fi

check hello_engine 0 "$hello"_engine && says out 'CUDA read 3 frames'
check hello_tensor 0 "$hello"_tensor && says out 'OpenGL has the 1000 vertices'

# ---- sinewave ----

check sinewave 0 "$sinewave" $wave -o wave.png &&
    says out CUDA OpenGL "$(pwd -P)/wave.png, 192x120"
cp out wave.txt
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    check says_software 0 grep -F 'no GPU is used' wave.txt
elif [ -e /dev/nvidiactl ]; then
    check says_no_software 1 grep -F 'no GPU is used' wave.txt
fi
check sinewave_size 0 test "$(size wave.png)" = 192x120
# OpenGL implementations sample edges differently, so single pixels may differ greatly.
limits='--mean 1.0 --tolerance 8 --share 2.5'
check sinewave_picture 0 "$compare" $limits wave.png "$references/sinewave.png"
check sinewave_again 0 "$sinewave" $wave --output again.png
check sinewave_steady 0 "$compare" --max 0 wave.png again.png

check sequence 0 "$sinewave" $wave --frames 3 -o film.png && says out film-0001.png film-0003.png
check sequence_names 0 test "$(echo film*)" = 'film-0001.png film-0002.png film-0003.png'
check sequence_start 0 "$compare" --max 0 wave.png film-0001.png
check sequence_moves 1 "$compare" --share 1 film-0001.png film-0003.png
check time 0 "$sinewave" $wave --time 0.0666667 -o later.png
check sequence_time 0 "$compare" $limits later.png film-0003.png
# The limits are narrow enough to distinguish two moments of the wave.
check limits_tell 1 "$compare" $limits later.png "$references/sinewave.png"
check no_suffix 0 "$sinewave" $wave --frames 1 -o plain &&
    check no_suffix_name 0 test -s plain-0001.png
check odd_size 0 "$sinewave" --size 33x17 --mesh 2 -o odd.png
check odd_size_kept 0 test "$(size odd.png)" = 33x17

# ---- postprocess ----

for kind in grey coloured transparent; do "$make_png" $kind $kind.png || exit 99; done
check postprocess 0 "$postprocess" $easel coloured.png soft.png &&
    says out CUDA OpenGL 48x32 'blur over 5 pixels' "$(pwd -P)/soft.png, 192x120"
check postprocess_size 0 test "$(size soft.png)" = 192x120
check postprocess_picture 0 "$compare" $limits soft.png "$references/postprocess.png"
check sobel 0 "$postprocess" $easel --filter sobel coloured.png edges.png && says out sobel
# The Sobel filter draws edges one pixel wide. Where OpenGL implementations differ at an edge, the
# filter amplifies the difference.
sobel_limits='--mean 2.0 --tolerance 24 --share 5'
check sobel_picture 0 "$compare" $sobel_limits edges.png "$references/sobel.png"
check sobel_limits_tell 1 "$compare" $sobel_limits soft.png "$references/sobel.png"
check postprocess_again 0 "$postprocess" $easel coloured.png again.png
check postprocess_steady 0 "$compare" --max 0 soft.png again.png
# OpenGL alone draws the part left of the split, whatever filter is selected.
check drawn 0 "$postprocess" $easel --split 100 coloured.png drawn.png
check drawn_sobel 0 "$postprocess" $easel --split 100 -f sobel coloured.png again.png
check drawn_same 0 "$compare" --max 0 drawn.png again.png
# A blur with radius 0 passes each byte through CUDA unchanged.
check radius_none 0 "$postprocess" $easel --radius 0 --split 0 coloured.png again.png
check radius_none_same 0 "$compare" --max 0 drawn.png again.png
check radius_one 0 "$postprocess" $easel --radius 1 --split 0 coloured.png slight.png
check radius_one_seen 1 "$compare" --share 1 drawn.png slight.png
check radius_one_slight 0 "$compare" --mean 2.5 drawn.png slight.png
check radius_most 0 "$postprocess" $easel --radius 64 --split 0 coloured.png strong.png
check radius_most_seen 1 "$compare" --mean 5 drawn.png strong.png
# The filter begins at the split: it changes at most half of the pixels, plus the dividing line.
check split_half 0 "$compare" --share 53 drawn.png soft.png
check all_filtered 0 "$postprocess" $easel --split 0 -f sobel coloured.png again.png
check all_filtered_seen 1 "$compare" --share 53 drawn.png again.png
"$postprocess" $easel grey.png hill.png >/dev/null 2>&1
for kind in grey16 grey-alpha rgb rgba palette interlaced; do
    "$make_png" $kind kind.png || exit 99
    check "filter_$kind" 0 "$postprocess" $easel kind.png kind_hill.png
    check "filter_same_$kind" 0 "$compare" --max 0 hill.png kind_hill.png
done
check filter_transparent 0 "$postprocess" $easel transparent.png nothing.png
check filter_transparent_seen 1 "$compare" --share 10 nothing.png hill.png
for kind in one-pixel one-row; do
    "$make_png" $kind small.png || exit 99
    check "filter_$kind" 0 "$postprocess" $easel small.png small_hill.png
done
check easel_turned 0 "$postprocess" $easel --rotate -30 coloured.png turned.png
check easel_turned_seen 1 "$compare" --share 5 soft.png turned.png
check easel_odd 0 "$postprocess" --size 33x17 --radius 64 coloured.png odd.png
check easel_odd_kept 0 test "$(size odd.png)" = 33x17
check lake 0 "$postprocess" "$lake" lake.png && says out 480x320 'lake.png, 1280x720'

# ---- publish ----

panel='--size 192x120 --tensor 93x61'
check publish 0 "$publish" $panel -o panel.png &&
    says out CUDA OpenGL "$(pwd -P)/panel.png, 192x120"
check publish_size 0 test "$(size panel.png)" = 192x120
check publish_again 0 "$publish" $panel -o again.png
check publish_steady 0 "$compare" --max 0 panel.png again.png
# A tensor of another size shows the same picture. Another moment shows a different picture.
check publish_large 0 "$publish" --size 192x120 --tensor 384x252 -o large.png
check publish_same 0 "$compare" --mean 4 panel.png large.png
check publish_later 0 "$publish" $panel --time 20 -o later.png
check publish_seen 1 "$compare" --mean 4 panel.png later.png

# ---- particles ----

sparks='--size 96x64 --particles 4096 --measure 0'
check particles 0 "$particles" $sparks --frames 6 -o sparks &&
    says out CUDA OpenGL "$(pwd -P)/sparks/particles-0006.png, 96x64"
check particles_names 0 test "$(echo sparks/* | wc -w)" = 6
check particles_move 1 "$compare" --share 5 sparks/particles-0001.png sparks/particles-0006.png
# A skipped or repeated frame would change the trails in all later frames.
check particles_in_order 0 "$particles" $sparks --frames 6 --in-order -o order
for buffers in 1 3 64; do
    check "particles_$buffers" 0 "$particles" $sparks --frames 6 --in-flight $buffers -o ring
    check "particles_same_$buffers" 0 "$compare" --max 0 \
        order/particles-0006.png ring/particles-0006.png
done
check particles_measure 0 "$particles" --size 96x64 -n 4096 --frames 0 --measure 20 -o none &&
    says out 'in order' 'in flight' 'frames per second'
check particles_no_folder 1 test -e none
check particles_nowhere 1 "$particles" $sparks -o nowhere/sparks &&
    says err nowhere/sparks 'No such file'

# ---- twoproc ----

check twoproc 0 "$twoproc" $wave --frames 6 -o two.png &&
    says out CUDA 'Drawn    6 frames' "$(pwd -P)/two.png, 192x120"
check twoproc_kill 0 "$twoproc" $wave --frames 40 --kill -o killed.png &&
    says out 'Killing the computing process'
check twoproc_nowhere 1 "$twoproc" $wave --frames 2 -o nowhere/two.png && says err nowhere/two.png

# ---- Usage ----

check sinewave_help 0 "$sinewave" --help &&
    says out Usage --mesh '(2 to 2048, default 512)' GR_CUDA_DRIVER
check sinewave_version 0 "$sinewave" --version && says out 'sinewave (grinterop) '
check postprocess_help 0 "$postprocess" --help && says out Usage --split GR_CUDA_DRIVER
check postprocess_version 0 "$postprocess" -V && says out 'postprocess (grinterop) '
check twoproc_help 0 "$twoproc" --help && says out Usage --kill GR_CUDA_DRIVER
check twoproc_version 0 "$twoproc" -V && says out 'twoproc (grinterop) '
check particles_help 0 "$particles" --help && says out Usage --in-flight GR_CUDA_DRIVER
check particles_version 0 "$particles" -V && says out 'particles (grinterop) '
check particles_none 2 "$particles" --particles 0 && says err 'from 1 to 4194304'
check particles_many 2 "$particles" --in-flight 65 && says err 'from 1 to 64'
check particles_argument 2 "$particles" what && says err '"what"' --help
check no_output 2 "$postprocess" grey.png && says err Usage
check filter_unknown 2 "$postprocess" --filter sharp grey.png new.png &&
    says err '"sharp"' 'blur or sobel'
check radius_huge 2 "$postprocess" --radius 65 grey.png new.png && says err 'from 0 to 64'
check radius_word 2 "$postprocess" --radius wide grey.png new.png && says err '"wide"'
check split_huge 2 "$postprocess" --split 101 grey.png new.png && says err --split
check rotate_huge 2 "$postprocess" --rotate 90 grey.png new.png && says err --rotate
check easel_size 2 "$postprocess" --size small grey.png new.png && says err '"small"'
check easel_overwrite 2 "$postprocess" grey.png ./grey.png && says err 'overwrite the input'
check no_argument 2 "$postprocess" && says err Usage
check three_arguments 2 "$postprocess" grey.png new.png flat.png && says err Usage
check extra_argument 2 "$sinewave" what && says err '"what"' --help
check unknown_option 2 "$sinewave" --colour && says err --help
check size_word 2 "$sinewave" --size large && says err '"large"' 1280x720
check size_rest 2 "$sinewave" --size 64x64x && says err '"64x64x"'
check size_zero 2 "$sinewave" --size 0x100 && says err '"0x100"'
check size_huge 2 "$sinewave" --size 99999999999999999999x100 && says err --size
check mesh_small 2 "$sinewave" --mesh 1 && says err 'from 2 to 2048'
check mesh_rest 2 "$sinewave" --mesh 64k && says err '"64k"'
check frames_none 2 "$sinewave" --frames 0 && says err --frames
check time_word 2 "$sinewave" --time nan && says err '"nan"'
check time_huge 2 "$sinewave" --time 1e9 && says err --time

# ---- Files that can't be read or written ----

echo 'This is no picture.' >text.png
: >empty.png
check easel_empty 1 "$postprocess" empty.png new.png && says err empty.png
check easel_missing 1 "$postprocess" missing.png new.png && says err missing.png 'No such file'
check easel_no_png 1 "$postprocess" text.png new.png &&
    says err text.png 'cannot be read as a PNG file'
head -c 20000 "$lake" >half.png
check easel_half_png 1 "$postprocess" half.png new.png &&
    says err half.png 'cannot be read as a PNG file'
check easel_folder 1 "$postprocess" . new.png && says err 'cannot be'
check easel_nothing_new 1 test -e new.png
check easel_nowhere 1 "$postprocess" $easel grey.png nowhere/new.png &&
    says err nowhere/new.png 'No such file'
check output_nowhere 1 "$sinewave" $wave -o nowhere/wave.png &&
    says err nowhere/wave.png 'No such file'
mkdir folder
check output_folder 1 "$sinewave" $wave -o folder && says err folder 'cannot be written'
if [ -c /dev/full ]; then
    check disk_full 1 "$sinewave" $wave -o /dev/full && says err 'No space left'
    check device_stays 0 test -c /dev/full
fi
# No partial file may remain if writing fails. The size limit leaves room for the files of drivers.
if [ "${GR_CUDA_DRIVER-}" = soft ]; then
    check file_limit 1 sh -c 'trap "" XFSZ; ulimit -f 400; exec "$@"' sh \
        "$sinewave" --size 1600x900 --mesh 2 -o limit.png && says err 'limit.png cannot be written'
    check no_half_file 1 test -e limit.png
fi

# ---- No driver ----

check no_driver 1 env GR_CUDA_DRIVER="$work/no_such_driver.so" "$sinewave" $wave -o none.png &&
    says err no_such_driver.so
check no_driver_postprocess 1 env GR_CUDA_DRIVER="$work/no_such_driver.so" \
    "$postprocess" $easel grey.png none.png && says err no_such_driver.so
check no_driver_particles 1 env GR_CUDA_DRIVER="$work/no_such_driver.so" "$particles" -o none &&
    says err no_such_driver.so
check no_driver_no_file 1 test -e none.png

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
