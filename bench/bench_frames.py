#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench_frames for Python: frames in order, written through cuda.core and drawn by OpenGL.

Uses the same kernel, drawing and blocks as bench_frames. Its blocks alternate with blocks of raw
interop through cuda.bindings. bench_frames --with-python runs this script with the kernel and the
shaders. Needs cuda-core, cuda-bindings, and bench_gl.py and bench_map.py beside it.
"""

import argparse
import ctypes
import gc
import math
import sys
import time

import bench_gl
from bench_gl import Context, I, N, P, U
from bench_map import check, cuda_core, driver, quartiles

TARGET = 512
LEAST_FRAMES = 32
FULL_IF_WAITING, FULL_IF_THREAD_USED = 2, 0.9

GL_ARRAY_BUFFER, GL_POINTS, GL_FLOAT, GL_RGBA, GL_UNSIGNED_BYTE = 0x8892, 0, 0x1406, 0x1908, 0x1401
GL_FRAMEBUFFER, GL_RENDERBUFFER, GL_COLOR_ATTACHMENT0, GL_RGBA8 = 0x8D40, 0x8D41, 0x8CE0, 0x8058
GL_COLOR_BUFFER_BIT = 0x4000
GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, GL_LINK_STATUS = 0x8B31, 0x8B30, 0x8B82


class Gl(bench_gl.Gl):
    """The OpenGL calls that the bench makes, and the render target."""

    PROTOTYPES = {
        "glGenBuffers": (None, I, P), "glDeleteBuffers": (None, I, P), "glBindBuffer": (None, U, U),
        "glBufferStorage": (None, U, N, P, U), "glFinish": (None,), "glGetError": (U,),
        "glGenRenderbuffers": (None, I, P), "glBindRenderbuffer": (None, U, U),
        "glRenderbufferStorage": (None, U, U, I, I), "glGenFramebuffers": (None, I, P),
        "glBindFramebuffer": (None, U, U), "glFramebufferRenderbuffer": (None, U, U, U, U),
        "glViewport": (None, I, I, I, I), "glClear": (None, U),
        "glClearColor": (None, *4 * (ctypes.c_float,)),
        "glGenVertexArrays": (None, I, P), "glBindVertexArray": (None, U),
        "glEnableVertexAttribArray": (None, U), "glVertexAttribBinding": (None, U, U),
        "glVertexAttribFormat": (None, U, I, U, ctypes.c_ubyte, U),
        "glBindVertexBuffer": (None, U, U, N, I), "glDrawArrays": (None, U, I, I),
        "glReadPixels": (None, I, I, I, I, U, U, P), "glCreateShader": (U, U),
        "glShaderSource": (None, U, I, P, P), "glCompileShader": (None, U), "glCreateProgram": (U,),
        "glAttachShader": (None, U, U), "glLinkProgram": (None, U),
        "glGetProgramiv": (None, U, U, P), "glUseProgram": (None, U),
    }

    def __init__(self, egl, vertex, fragment):
        super().__init__(egl)
        self._make_target()
        self._make_program(vertex, fragment)

    def _make_target(self):
        self.glBindRenderbuffer(GL_RENDERBUFFER, colour := self.make("glGenRenderbuffers"))
        self.glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, TARGET, TARGET)
        self.glBindFramebuffer(GL_FRAMEBUFFER, self.make("glGenFramebuffers"))
        self.glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                       colour)
        self.glViewport(0, 0, TARGET, TARGET)
        self.glClearColor(0, 0, 0, 1)
        self.glBindVertexArray(self.make("glGenVertexArrays"))
        self.glEnableVertexAttribArray(0)
        self.glVertexAttribFormat(0, 4, GL_FLOAT, 0, 0)
        self.glVertexAttribBinding(0, 0)

    def _make_program(self, vertex, fragment):
        program = self.glCreateProgram()
        for kind, source in ((GL_VERTEX_SHADER, vertex), (GL_FRAGMENT_SHADER, fragment)):
            shader, text = self.glCreateShader(kind), ctypes.c_char_p(source.encode())
            self.glShaderSource(shader, 1, ctypes.byref(text), None)
            self.glCompileShader(shader)
            self.glAttachShader(program, shader)
        self.glLinkProgram(program)
        linked = I(0)
        self.glGetProgramiv(program, GL_LINK_STATUS, ctypes.byref(linked))
        if not linked.value:
            bench_gl.fail("OpenGL cannot link the shaders")
        self.glUseProgram(program)

    def buffer(self, size):
        self.glBindBuffer(GL_ARRAY_BUFFER, name := self.make("glGenBuffers"))
        self.glBufferStorage(GL_ARRAY_BUFFER, size, None, 0)
        return name

    def picture(self):
        pixels = (ctypes.c_ubyte * (TARGET * TARGET * 4))()
        self.glReadPixels(0, 0, TARGET, TARGET, GL_RGBA, GL_UNSIGNED_BYTE, pixels)
        return bytes(pixels)


class Bench:
    """One OpenGL context, one stream, and one buffer that both cuda.core and cuda.bindings map."""

    def __init__(self, ordinal, kernel, vertex, fragment):
        self.context = Context(ordinal)
        self.gl = Gl(self.context.egl, vertex, fragment)
        device = cuda_core.Device(ordinal)
        device.set_current()
        self.core_stream = device.create_stream()
        self.stream = driver.CUstream(int(self.core_stream.handle))
        self.module = check(driver.cuModuleLoadData(kernel))
        self.kernel = check(driver.cuModuleGetFunction(self.module, b"mesh"))

    def open_mesh(self, mesh):
        self.mesh = mesh
        self.name = self.gl.buffer(mesh * mesh * 16)
        self.resource = cuda_core.GraphicsResource.from_gl_buffer(self.name, flags="write_discard")
        self.handle = driver.CUgraphicsResource(int(self.resource.handle))

    def close_mesh(self):
        self.resource.close()
        self.gl.glDeleteBuffers(1, ctypes.byref(U(self.name)))

    def launch(self, pointer, left):
        phase = left % 61 * 23 % 61 / 61
        arguments = (int(pointer), self.mesh, phase), (P, I, ctypes.c_float)
        blocks = (self.mesh * self.mesh + 255) // 256
        check(driver.cuLaunchKernel(self.kernel, blocks, 1, 1, 256, 1, 1, 0, self.stream, arguments,
                                    0))

    def draw(self):
        self.gl.glClear(GL_COLOR_BUFFER_BIT)
        self.gl.glBindVertexBuffer(0, self.name, 0, 16)
        self.gl.glDrawArrays(GL_POINTS, 0, self.mesh * self.mesh)

    def raw(self, left):
        check(driver.cuGraphicsMapResources(1, self.handle, self.stream))
        self.launch(check(driver.cuGraphicsResourceGetMappedPointer(self.handle))[0], left)
        check(driver.cuGraphicsUnmapResources(1, self.handle, self.stream))
        self.draw()

    def core(self, left):
        buffer = self.resource.map(stream=self.core_stream)
        self.launch(buffer.handle, left)
        buffer.close()
        self.draw()

    def drain(self):
        self.gl.glFinish()
        check(driver.cuStreamSynchronize(self.stream))
        self.gl.glFinish()

    def block(self, frame, frames):
        """Measures one block: wall time and thread time in microseconds per frame, and the number
        of frames unfinished at the end.
        """
        cpu, start = time.thread_time(), time.perf_counter()
        for left in range(frames - 1, -1, -1):
            frame(left)
        enqueued, cpu = time.perf_counter(), time.thread_time() - cpu
        self.drain()
        end = time.perf_counter()
        wall = (end - start) / frames
        return wall * 1e6, cpu / frames * 1e6, (end - enqueued) / wall


def measure(bench, effort):
    for _ in range(2):
        base_us = bench.block(bench.raw, LEAST_FRAMES)[0]
        core_us = bench.block(bench.core, LEAST_FRAMES)[0]
    least = min(effort.frames, effort.most_seconds * 1e6 / core_us)
    frames = math.ceil(min(max(effort.block_seconds * 1e6 / core_us, least, 8), effort.most_frames))
    base_frames = math.ceil(min(max(effort.base_seconds * 1e6 / base_us, LEAST_FRAMES),
                                effort.most_frames))
    bench.block(bench.raw, 1)
    reference, samples, wrong = bench.gl.picture(), [], 0
    for i in range(effort.rounds):
        turn = [(bench.raw, base_frames), (bench.core, frames)]
        results = {}
        for frame, count in reversed(turn) if i % 2 else turn:
            results[frame] = bench.block(frame, count)
            wrong = max(wrong, sum(a != b for a, b in zip(reference, bench.gl.picture())))
        samples.append((*results[bench.core], results[bench.raw][0] / results[bench.core][0]))
    wall, cpu, waiting, times = (quartiles(list(values)) for values in zip(*samples))
    full = waiting[1] >= FULL_IF_WAITING and cpu[1] < FULL_IF_THREAD_USED * wall[1]
    return frames, wall, times, cpu[1], waiting[1], full, wrong


def report(mesh, result):
    frames, wall, times, cpu, waiting, full, wrong = result
    values = (*wall, *times, cpu, waiting)
    print("row", mesh, frames, *(f"{value:.9g}" for value in values), int(full), wrong, flush=True)


def read_options():
    parser = argparse.ArgumentParser(prog="bench_frames.py", description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", required=True, help="file of the kernel module")
    parser.add_argument("--vertex", required=True, help="source of the vertex shader")
    parser.add_argument("--fragment", required=True, help="source of the fragment shader")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--meshes", default="64,256,1024")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1200)
    parser.add_argument("--most-frames", type=int, default=20000)
    for name, seconds in (("block", 0.25), ("most", 0.45), ("base", 0.125)):
        parser.add_argument(f"--{name}-seconds", type=float, default=seconds)
    return parser.parse_args()


def main():
    options = read_options()
    if cuda_core is None:
        bench_gl.fail("cuda-core is needed")
    from importlib.metadata import version
    print(f"info Python {sys.version.split()[0]}, cuda-core {version('cuda-core')}, "
          f"cuda-bindings {version('cuda-bindings')}")
    with open(options.kernel, "rb") as file:
        kernel = file.read()
    check(driver.cuInit(0))
    bench = Bench(options.device, kernel, options.vertex, options.fragment)
    for mesh in map(int, options.meshes.split(",")):
        bench.open_mesh(mesh)
        gc.collect()
        gc.disable()
        report(mesh, measure(bench, options))
        gc.enable()
        bench.close_mesh()
    bench.core_stream.close()
    bench.context.close()


if __name__ == "__main__":
    main()
