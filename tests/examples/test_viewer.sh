#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_viewer.sh: runs examples/viewer in a window on an Xvfb screen, driven by keys and mouse, and
# in a Wayland compositor that has its own window on that screen. The script compares the screen
# with the stills that the viewer writes, and the stills with the pictures of the examples without a
# window. It uses the CUDA driver that the environment names; run-test sets it.
#
# GR_EXAMPLE_DATA  the folder of the reference pictures; default: beside this script
# GR_GLFW_WAYLAND  a folder with a libglfw.so.3 for Wayland, if the system's supports only X11

# Lists of options are meant to be split:
# shellcheck disable=SC2086

suite=viewer
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
here=$(cd "$(dirname "$0")" && pwd) || exit 99
screen_png=$(built screen_png)
references=${GR_EXAMPLE_DATA:-$here/reference}
viewer=$(built viewer)
compare=$(built compare_png)

case ${GR_SANITIZER-} in
*thread*) cannot "ThreadSanitizer stops at X11's order of locks and Mesa's unloaded driver" ;;
esac
if [ -z "$viewer" ]; then cannot "viewer was not built: configure found no GLFW"; fi
if ! "$viewer" --version >/dev/null 2>&1; then cannot "viewer does not start: is libglfw there?"; fi
if ! command -v Xvfb >/dev/null; then cannot "Xvfb was not found (Debian: xvfb)"; fi
if ! command -v xdotool >/dev/null; then cannot "xdotool was not found (Debian: xdotool)"; fi

work=$(mktemp -d) || exit 99
server=
poor=
compositor=
manager=
shown=
finish() {
    for process in $shown $manager $compositor $poor $server; do kill "$process" 2>/dev/null; done
    wait
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 99' HUP INT TERM
cd "$work" || exit 99

outputs='out err live.out live.err'

# soon COMMAND...: waits up to a minute until the command succeeds. After one timeout, it only waits
# a few seconds.
patience=600
soon() {
    tries=$patience
    until "$@"; do
        tries=$((tries - 1))
        if [ $tries -le 0 ]; then
            patience=30
            return 1
        fi
        sleep 0.1
    done
}

# size FILE: prints the width and height in the header of a PNG file.
size() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'; }

# ---- The screen ----

mkdir screen
# Without -noreset Xvfb resets after its last client has left, and refuses clients meanwhile.
Xvfb -displayfd 3 -noreset -screen 0 640x480x24 -fbdir screen -nolisten tcp \
    3>display >server.out 2>&1 &
server=$!
if ! soon test -s display; then
    sed 's/^/    /' server.out
    cannot "Xvfb does not start here"
fi
DISPLAY=:$(cat display)
export DISPLAY
# Unsets the variables that run-test sets for programs without a window. Mesa holds memory until the
# process ends, so leaks are not checked.
unset EGL_PLATFORM WAYLAND_DISPLAY
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"

limits='--mean 1.0 --tolerance 8 --share 2.5'
small='--size 192x120 --mesh 96 --particles 4096 --tensor 93x61'

# ---- Keys and mouse ----

# show OPTION...: starts a viewer in the background. Once its window has a title, $window is set.
show() {
    rm -f live-*.png
    GR_LOG=warning timeout 300 "$viewer" $small --paused --still live.png "$@" \
        >live.out 2>live.err &
    shown=$!
    stills=0
    soon named '^[a-z]*, paused, ' && xdotool mousemove 96 60 || return
    # Without a window manager the keys go to the window below the pointer.
    [ -z "$manager" ] || soon focused
}
focused() { [ "$(xdotool getwindowfocus -f 2>/dev/null)" = "$window" ]; }

# named PATTERN: whether a window has such a title. Sets $window.
named() {
    window=$(xdotool search --onlyvisible --name "$1" 2>/dev/null) && [ -n "$window" ]
}

has_still() { grep -q "live-$number.png" live.out; }

# still NAME: presses the key s, which writes the picture NAME.png.
still() {
    stills=$((stills + 1))
    number=$(printf '%04d' $stills)
    check "still_$1" 0 xdotool key s
    soon has_still || fail "there is no still"
    mv "live-$number.png" "$1.png"
}

seen() {
    "$screen_png" screen/Xvfb_screen0 "$2" "$3" seen.png &&
        "$compare" --max 0 seen.png "$1.png"
}

# screen NAME WIDTH HEIGHT: checks that the screen shows the still NAME.png. Earlier frames are
# equal, since time is paused.
screen() {
    begin "screen_$1"
    soon seen "$@" >out 2>err || fail "the screen shows something else"
}

# idle: whether the viewer uses almost no CPU time for half a second.
idle() { ticks=$(cpu_time) && sleep 0.5 && [ $(($(cpu_time) - ticks)) -le 1 ]; }
cpu_time() { awk '{ print $14 + $15 }' "/proc/$(xdotool getwindowpid "$window")/stat"; }

# storm WIDTH HEIGHT: resizes, moves, minimises and restores the window, which then has that size.
# Without a window manager nothing minimises a window, so this unmaps it, as a window manager does.
storm() {
    for step in 1 2 3 4 5 6; do
        xdotool windowsize "$window" $((90 + 40 * step)) $((240 - 30 * step)) \
            windowmove "$window" $((20 * step)) $((10 * step)) || return
    done
    if [ -z "$manager" ]; then
        xdotool windowunmap --sync "$window" windowsize "$window" "$1" "$2" sleep 0.3 \
            windowmap --sync "$window" windowmove "$window" 0 0
    else
        xdotool windowminimize --sync "$window" && soon idle || return
        xdotool windowactivate --sync "$window" windowsize "$window" "$1" "$2" \
            windowmove "$window" 0 0
    fi
}

press_q() { xdotool key q; }

# close_button: sends the message of a close button, or makes the window manager send it.
close_button() {
    python3 - "$window" $manager <<'END'
import ctypes, sys
x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
display = ctypes.c_void_p(x11.XOpenDisplay(None))
protocols, delete, close = (x11.XInternAtom(display, name, 0) for name in (
    b"WM_PROTOCOLS", b"WM_DELETE_WINDOW", b"_NET_CLOSE_WINDOW"))
window, client_message = int(sys.argv[1]), 33
to, mask, message = ((x11.XDefaultRootWindow(display), 0x180000, (close, 32)) if sys.argv[2:]
                     else (window, 0, (protocols, 32, delete)))
event = (ctypes.c_long * 24)(client_message, 0, 0, 0, window, *message)
sent = x11.XSendEvent(display, ctypes.c_ulong(to), 0, ctypes.c_long(mask), event)
x11.XSync(display, 0)
sys.exit(not sent)
END
}

# closed NAME COMMAND OPTION...: checks that the command closes a window with frames in flight, that
# the viewer reports the missing still, and that it has freed everything.
closed() {
    case_name=$1 closing=$2
    shift 2
    check "run_$case_name" 0 show --frames 1000000 "$@" && xdotool key space
    check "storm_$case_name" 0 storm 240 150
    if [ -n "$manager" ]; then
        # The pointer must not cover the window.
        check "still_$case_name" 0 xdotool key space key s mousemove 639 479
        soon grep -qF live.png live.out
        screen live 240 150
        xdotool key space
    fi
    check "close_$case_name" 0 $closing || kill "$shown"
    begin "closed_$case_name"
    wait "$shown"
    code=$? shown=
    [ $code = 1 ] || fail "the viewer ended with status $code instead of 1"
    says live.err 'The window was closed after ' ' of 1000000 frames: no still was written.'
    check "freed_$case_name" 1 grep -e 'the process ends with' live.out live.err
}

# ended: checks that the key q ends the program with status 0.
ended() {
    check "quit" 0 xdotool key q
    begin status
    wait "$shown" || fail "the viewer ended with status $?"
    shown=
}

# The particles at their start, when no earlier frame has left trails.
check fresh 0 "$viewer" $small --size 240x150 --scene particles --frames 1 -o fresh.png

contexts=
for context in native egl; do
    interface=GLX
    if [ $context = egl ]; then interface=EGL; fi
    "$viewer" $small -c $context --frames 1 -o surface.png >out 2>err
    missing=$(grep 'does not support this display' err)
    if [ -n "$missing" ]; then
        skip $context "$missing"
        continue
    fi
    check "surface_$context" 0 "$viewer" $small -c $context --frames 1 -o surface.png &&
        says out CUDA "by $interface" "$(pwd -P)/surface.png, 192x120"
    check "surface_picture_$context" 0 "$compare" $limits surface.png "$references/sinewave.png"

    contexts="$contexts $context"
    check "show_$context" 0 show --context $context || continue
    check "title_$context" 0 named "^surface, paused, [a-z]*, OpenGL by $interface\$"
    still first
    check "first_$context" 0 "$compare" --max 0 surface.png first.png
    screen first 192 120
    check drag 0 xdotool mousedown 1 mousemove 130 66 mouseup 1
    still turned
    check turned_seen 1 "$compare" --share 20 first.png turned.png
    screen turned 192 120
    check back 0 xdotool key r
    still back
    check back_same 0 "$compare" --max 0 first.png back.png
    check wheel 0 xdotool click 4 click 4 click 4
    still near
    check near_seen 1 "$compare" --share 20 first.png near.png
    check wheel_back 0 xdotool click 5 click 5 click 5
    still far
    check far_same 0 "$compare" --max 0 first.png far.png
    check resize 0 xdotool windowsize --sync "$window" 240 150
    still wide
    check wide_size 0 test "$(size wide.png)" = 240x150
    screen wide 240 150
    check "tensor_$context" 0 xdotool key 4
    check tensor_title 0 soon named '^tensor, paused'
    still tensor
    screen tensor 240 150
    check "filter_$context" 0 xdotool key 3
    check filter_title 0 soon named '^filter, paused'
    still filtered
    screen filtered 240 150
    # The filtered part begins in the middle, right of the line.
    check filter_seen 1 "$compare" --share 10 wide.png filtered.png
    check filter_half 0 "$compare" --share 53 wide.png filtered.png
    # After a resize the viewer shares new textures.
    check filter_resize 0 xdotool windowsize --sync "$window" 200 130
    still narrow
    check narrow_size 0 test "$(size narrow.png)" = 200x130
    screen narrow 200 130
    check filter_back 0 xdotool windowsize --sync "$window" 240 150
    still again
    check filter_same 0 "$compare" --max 0 filtered.png again.png
    # The OpenGL state that one scene leaves behind must not affect another scene.
    check surface_back 0 xdotool key 1
    check surface_title 0 soon named '^surface, paused'
    still same
    check same_again 0 "$compare" --max 0 wide.png same.png
    check "particles_$context" 0 xdotool key 2
    check particles_title 0 soon named '^particles, paused'
    still sparks
    check sparks_same 0 "$compare" --max 0 fresh.png sparks.png
    screen sparks 240 150
    check run 0 xdotool key space
    check runs_title 0 soon named '^particles, [0-9.]* ms per frame, [a-z]*, OpenGL'
    check storm 0 storm 240 150
    check surface_again 0 xdotool key 1 key space
    check stops_title 0 soon named '^surface, paused'
    still later
    check later_seen 1 "$compare" --share 5 wide.png later.png
    screen later 240 150
    ended
    closed "$context" close_button --context $context --scene particles
done
closed filter press_q --scene filter

# ---- Wayland ----

# wayland OPTION...: runs the viewer without an X server.
wayland() {
    env -u DISPLAY WAYLAND_DISPLAY=viewer \
        LD_LIBRARY_PATH="$glfw${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        timeout 300 "$viewer" $small "$@"
}

# compose OPTION...: starts Weston in the background. Returns false if Weston does not start.
compose() {
    rm -f "$XDG_RUNTIME_DIR/viewer"*
    weston --no-config --socket=viewer --log=weston.log "$@" >weston.out 2>&1 &
    compositor=$!
    soon answers
}
answers() { [ -S "$XDG_RUNTIME_DIR/viewer" ] || ! kill -0 "$compositor" 2>/dev/null; }
dismiss() {
    kill "$compositor"
    wait "$compositor"
    compositor=
}

# by_compositor NAME: checks that the screen shows the still NAME.png, except for the pointer of the
# compositor in a corner.
by_compositor() {
    begin "screen_wayland_$1"
    soon seen_but_pointer "$1" >out 2>err || fail "the screen shows something else"
}
seen_but_pointer() {
    "$screen_png" screen/Xvfb_screen0 240 150 seen.png &&
        "$compare" --tolerance 0 --share 0.3 seen.png "$1.png"
}

# Wayland must show the same as X11.
scenes_by_keys() {
    window=$(xdotool search --class weston) && xdotool windowfocus "$window" &&
        xdotool mousemove 239 149
    by_compositor wide
    for scene in 4:tensor 3:filtered 2:fresh 1:wide; do
        check "wayland_${scene#*:}" 0 xdotool key "${scene%:*}"
        by_compositor "${scene#*:}"
        still wayland
        check "wayland_still_${scene#*:}" 0 "$compare" --max 0 "${scene#*:}.png" wayland.png
    done
}

glfw=${GR_GLFW_WAYLAND-}
# Weston 12 renamed this option of Weston 10.
pixman=--use-pixman
if weston --help 2>/dev/null | grep -e --renderer >/dev/null; then pixman=--renderer=pixman; fi
export XDG_RUNTIME_DIR="$work/run"
mkdir -m 700 run
if ! command -v weston >/dev/null; then
    skip wayland "weston was not found (Debian: weston)"
elif ! compose --backend=x11-backend.so $pixman --shell=kiosk-shell.so --idle-time=0 \
    --width=240 --height=150 || [ ! -S run/viewer ]; then
    sed 's/^/    /' weston.log
    skip wayland "Weston does not start in a window"
elif wayland --frames 1 -o wayland.png >out 2>err; grep -F 'X11:' err >/dev/null; then
    skip wayland "GLFW here is for X11 alone: set GR_GLFW_WAYLAND (Debian 12: libglfw3-wayland)"
else
    for context in native egl; do
        check wayland_$context 0 wayland --size 240x150 -b -c $context --frames 2 --paused \
            -o wayland.png && says out 'by EGL' wayland.png
        check wayland_same_$context 0 "$compare" --max 0 wide.png wayland.png
    done
    rm -f live-*.png
    stills=0
    wayland --size 240x150 --borderless --paused --still live.png >live.out 2>live.err &
    shown=$!
    scenes_by_keys
    check wayland_runs 0 xdotool key space
    sleep 1
    check wayland_stops 0 xdotool key space
    still moved
    check wayland_moved 1 "$compare" --share 1 wide.png moved.png
    ended
    dismiss
    # Catches: the wait for the next frame of an invisible window never ended.
    if compose --backend=headless-backend.so $pixman --idle-time=1 && [ -S run/viewer ]; then
        sleep 2
        check unseen 0 wayland --frames 20 -o wayland.png
        dismiss
    else
        skip unseen "Weston does not start without a screen"
    fi
fi

# ---- A window manager ----

# It comes last because its pointer remains on the screen.
if command -v blackbox >/dev/null; then
    HOME=$work blackbox >manager.out 2>&1 &
    manager=$!
    check manager 0 soon xdotool get_desktop
    for context in $contexts; do
        closed managed_$context close_button --context $context --scene particles
    done
else
    skip managed "blackbox was not found (Debian: blackbox)"
fi

# ---- A display without GLX, and on which EGL cannot draw ----

Xvfb -displayfd 3 -noreset -screen 0 64x64x8 -nolisten tcp 3>poor >poor.out 2>&1 &
poor=$!
check poor_server 0 soon test -s poor
on_poor() { env DISPLAY=":$(cat poor)" "$viewer" $small "$@"; }
check poor_glx 1 on_poor && says err 'GLX extension not found' 'add --context egl'
check poor_egl 1 on_poor --context egl && says err 'GLFW: EGL: ' 'Use --context native'
kill $poor
wait $poor
poor=

# ---- Same pictures as without a window ----

check particles 0 "$viewer" $small --scene particles --frames 3 -o sparks.png
check particles_alone 0 "$(built particles)" --size 192x120 --particles 4096 --measure 0 \
    --frames 3 -o alone
check particles_same 0 "$compare" --max 0 sparks.png alone/particles-0003.png
check tensor 0 "$viewer" $small --scene tensor --time 2 --frames 1 -o tensor.png
check tensor_alone 0 "$(built publish)" --size 192x120 --tensor 93x61 --time 2 -o alone.png
check tensor_same 0 "$compare" --max 0 tensor.png alone.png
check odd_size 0 "$viewer" --size 33x17 --mesh 2 --frames 2 -o odd.png
check odd_size_kept 0 test "$(size odd.png)" = 33x17

# ---- Usage and errors ----

check help 0 "$viewer" --help && says out Usage --context '(2 to 2048, default 512)' GR_CUDA_DRIVER
check version 0 "$viewer" -V && says out 'viewer (grinterop) '
check argument 2 "$viewer" what && says err '"what"' --help
check scene_unknown 2 "$viewer" --scene moon && says err '"moon"' surface
check context_unknown 2 "$viewer" --context wgl && says err '"wgl"' 'native or egl'
check no_display 1 env DISPLAY= "$viewer" && says err DISPLAY xvfb-run
# The viewer must fail before it opens a window.
check no_folder 1 env DISPLAY= "$viewer" --frames 1 -o nowhere/new.png &&
    says err nowhere/new.png 'No such file'
check folder_for_keys 1 env DISPLAY= "$viewer" --still nowhere/new.png && says err 'No such file'
check still_is_folder 1 env DISPLAY= "$viewer" --frames 1 -o "$work" && says err 'Is a directory'
check no_driver 1 env GR_CUDA_DRIVER="$work/no_such_driver.so" "$viewer" $small --frames 1 &&
    says err no_such_driver.so

if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
