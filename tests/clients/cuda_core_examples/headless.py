# SPDX-License-Identifier: Apache-2.0 OR MIT
"""headless.py PROGRAM FRAMES PICTURE: runs an OpenGL example of cuda.core without a display.

Saves the last frame as a PPM file, and prints the mean time per frame in microseconds, without
the first 5. The clock and the random numbers are the same in each run. GR_HOST_KERNELS, if set, is the command of a C++
compiler that builds the CUDA kernels for the software driver, in place of NVRTC.
"""

import functools
import os
import pathlib
import random
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import time

import pyglet

pyglet.options["headless"] = True
from pyglet import gl  # noqa: E402 - reads the option
from pyglet.event import EventDispatcher  # noqa: E402

RATE = 60  # frames per second of the clock
WARM = 5  # frames that are not timed
HOST_KERNELS = os.environ.get("GR_HOST_KERNELS")


class HostProgram:
    """Replaces cuda.core.Program: compiles the kernels into a shared object."""

    def __init__(self, source, code_type, options):
        self.source = source

    def compile(self, target, name_expressions=()):
        from cuda.core import ObjectCode

        names = re.findall(r"__global__\s+void\s+(\w+)", self.source)
        lines = ["#include <grinterop/cuhost.h>", self.source, *(f"GR_KERNEL({n})" for n in names)]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "kernels.cu")
            file.write_text("\n".join(lines) + "\n")
            subprocess.run([*shlex.split(HOST_KERNELS), file, "-o", f"{file}.so"], check=True)
            binary = pathlib.Path(f"{file}.so").read_bytes()
        return ObjectCode.from_cubin(binary, symbol_mapping={n: n.encode() for n in names})


def save(window, path):
    pixels = (gl.GLubyte * (3 * window.width * window.height))()
    gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
    gl.glReadPixels(0, 0, window.width, window.height, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, pixels)
    path.write_bytes(b"P6 %d %d 255\n" % (window.width, window.height) + bytes(pixels))


def draw(frames, path):
    """Replaces pyglet.app.run(): draws the frames of the only window, then closes it."""
    (window,) = pyglet.app.windows
    window.dispatch_event = functools.partial(EventDispatcher.dispatch_event, window)
    for frame in range(frames):
        if frame == min(WARM, frames - 1):
            gl.glFinish()
            began = time.perf_counter()
        time.monotonic = lambda now=frame / RATE: now
        window.switch_to()
        window.dispatch_event("on_draw")
        window.flip()
    gl.glFinish()
    seconds = time.perf_counter() - began
    print(f"{1e6 * seconds / max(frames - WARM, 1):.0f}")
    save(window, path)
    window.dispatch_event("on_close")


def main():
    program, frames, path = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    if HOST_KERNELS:
        import cuda.core

        cuda.core.Program = HostProgram
    pyglet.app.run = lambda interval=0: draw(frames, path)
    random.seed(1)
    time.monotonic = lambda: 0.0
    sys.argv = [program]
    runpy.run_path(program, run_name="__main__")


main()
