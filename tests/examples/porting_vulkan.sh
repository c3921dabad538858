#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Checks of the Vulkan step of examples/porting, in addition to the picture that it draws without a
# window. The step reports missing features, shows the same picture in its window, and causes no
# message of the validation layer. test_porting.sh sources this file.

: "${tools:?}" "${compare:?}" "${work:?}" "${screen?}" "${no_screen:?}"
screen_png=$(built screen_png)

has_vulkan() { grep -q '^PACKAGES = .*vulkan' Makefile; }

# validated COMMAND...: runs the command with the validation layer, which prints messages to the
# standard output.
validated() (
    export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
    "$@"
)

# quiet NAME: checks that the validation layer printed no message about the last program.
quiet() {
    cp out said
    check "quiet_$1" 1 grep -E 'VUID|UNASSIGNED' said
}

# The picture file of the last frame is a pipe. Until the pipe is read, the window shows the
# previous frame, the 24th.
cat >"$work/shown" <<'END'
#!/bin/sh
# shown SCREEN_PNG COMPARE SCREEN: exits with 0 if the screen shows picture.ppm.
rm -f last.ppm
mkfifo last.ppm
./ripples --frames 25 --picture last.ppm &
program=$!
tries=600
same=1
while [ $same != 0 ] && [ $tries -gt 0 ] && kill -0 $program 2>/dev/null; do
    sleep 0.1
    tries=$((tries - 1))
    "$1" "$3" 512 512 seen.png && "$2" --max 0 seen.png picture.ppm >seen 2>&1 && same=0
done
[ $same = 0 ] || cat seen
timeout 20 cat last.ppm >/dev/null
wait $program && exit $same
END

# in_view: runs the program in a window on a screen that can be captured.
in_view() {
    mkdir -p screen
    xvfb-run -a -s "-screen 0 640x512x24 -fbdir $PWD/screen" \
        sh "$work/shown" "$screen_png" "$compare" screen/Xvfb_screen0
}

# vulkan_step STEP: called in the folder of the step, which has written picture.ppm there.
vulkan_step() {
    VK_LOADER_DEBUG=layer validated ./ripples --frames 1 >out 2>layers
    if ! grep -F VK_LAYER_KHRONOS_validation layers >/dev/null; then
        skip "layer_$1" "the validation layer is missing (Debian: vulkan-validationlayers)"
    fi
    check "validated_$1" 0 validated ./ripples --frames 24 --picture same.ppm && quiet "$1"
    check "same_$1" 0 cmp picture.ppm same.ppm
    check "no_display_$1" 1 ./ripples && says err 'no display' '--frames N'
    check "no_picture_$1" 1 ./ripples --frames 1 --picture nowhere/new.ppm && says err nowhere
    if [ "${GR_CUDA_DRIVER-}" != soft ]; then
        skip "screen_$1" "Xvfb's screen is not the GPU's"
    elif [ -z "$screen" ]; then
        skip "screen_$1" "$no_screen"
    elif [ ! -x "$screen_png" ]; then
        skip "screen_$1" "$screen_png was not built"
    else
        check "screen_$1" 0 validated in_view && quiet "screen_$1"
    fi
}

# vulkan_mistakes: checks the errors that the README of the fifth step quotes.
vulkan_mistakes() {
    cd "$work/porting/5-vulkan" || exit 99
    cp vulkan.cpp kept.cpp
    # The changed program omits the call that counts the device extensions. It therefore queries a
    # list of 0 names and enables none.
    sed 's/check(gr_vk_device_extensions(&desc, nullptr, &count));//;
        /check(gr_vk_device_extensions(&desc, &ext/d' kept.cpp >vulkan.cpp
    check build_extensions 0 make NVCC=grinterop-nvcc &&
        wrong extensions 5-vulkan \
            'The device supports these, but they were not enabled: VK_KHR_external_memory_fd' \
            ./ripples --frames 1
    mv kept.cpp vulkan.cpp
}
