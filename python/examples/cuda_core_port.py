#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A program written for cuda.core.GraphicsResource that also runs with grinterop.

    python3 cuda_core_port.py cuda.core      the original
    python3 cuda_core_port.py grinterop      the same picture

In each frame CUDA writes a curtain of lines to the OpenGL vertex buffer, through the mapped
pointer. The only difference is the module that GraphicsResource is imported from.
"""

import ctypes
import hashlib
import importlib
import math

import gl
import output

try:
    from cuda.bindings import driver
    from cuda.core import Device
except ImportError as error:
    output.missing("cuda.core and cuda.bindings", error)

LINES, POINTS = 48, 256
VERTEX = """
    layout(location = 0) in vec4 point;
    out vec3 tint;
    void main()
    {
        tint = 0.5 + 0.5 * cos(vec3(0.0, 1.6, 3.0) + point.z * 5.0 + point.x);
        gl_Position = vec4(point.xy, 0, 1);
    }"""
FRAGMENT = """
    in vec3 tint;
    out vec4 color;
    void main() { color = vec4(tint, 1); }"""


def curtain(time):
    """The vertices: x, y, and the depth of their line from 0 to 1."""
    numbers = (ctypes.c_float * (4 * LINES * POINTS))()
    for line in range(LINES):
        down = line / (LINES - 1)
        for i in range(POINTS):
            x = 2 * i / (POINTS - 1) - 1
            wave = math.sin(4 * x + time + 5 * down) + 0.5 * math.sin(9 * x - 2 * time + 3 * down)
            at = 4 * (line * POINTS + i)
            numbers[at : at + 4] = [x, 1.6 * down - 0.8 + 0.12 * wave, down, 1]
    return numbers


def check(answer):
    if answer[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(answer[0]))


class Curtain:
    def __init__(self, GraphicsResource, width, height):
        size = 16 * LINES * POINTS
        self.buffer = gl.buffer(size)
        self.resource = GraphicsResource.from_gl_buffer(self.buffer, flags="write_discard")
        self.array = gl.vertices(self.buffer, 4)
        self.program = gl.program(VERTEX, FRAGMENT)
        self.screen = gl.Screen(width, height)

    def write(self, stream, time):
        """The only use of GraphicsResource: map it on a stream, then read its pointer and size."""
        vertices = curtain(time)
        with self.resource.map(stream=stream) as buffer:
            assert self.resource.is_mapped and buffer.size == ctypes.sizeof(vertices)
            pointer = int(buffer.handle)
            check(driver.cuMemcpyHtoDAsync(pointer, vertices, buffer.size, stream.handle))
        stream.sync()

    def draw(self):
        self.screen.clear(0.02, 0.02, 0.04)
        gl.UseProgram(self.program)
        gl.BindVertexArray(self.array)
        for line in range(LINES):
            gl.DrawArrays(gl.LINE_STRIP, line * POINTS, POINTS)
        return self.screen.read()

    def close(self):
        self.resource.close()


def main():
    parser = output.options(__doc__.splitlines()[0], 4, "cuda_core_port")
    parser.add_argument("module", help="cuda.core or grinterop")
    chosen = output.parse(parser)
    _, egl = output.begin()
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    module = importlib.import_module(chosen.module)
    print(f"GraphicsResource of {chosen.module}; {egl.describe()}")
    picture = Curtain(module.GraphicsResource, chosen.width, chosen.height)
    digest = hashlib.sha256()
    for frame in range(chosen.frames):
        picture.write(stream, frame / 5)
        pixels = picture.draw()
        digest.update(pixels)
        path = chosen.output / f"cuda_core_port-{frame:04}.png"
        output.write_png(path, chosen.width, chosen.height, pixels)
    picture.close()
    print(f"{chosen.frames} frames in {chosen.output}, pixels {digest.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
