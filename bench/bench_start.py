#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench_start: the time from the start of a program to its first mapped OpenGL buffer.

Each run is a new process: it creates a windowless OpenGL context, loads a library, registers a
buffer and maps it; then it registers more buffers, unregisters all, and exits. The start of Python
is not included. The ways are raw calls of the CUDA driver and grinterop's C library, both through
ctypes, the Python package grinterop, and cuda.core. Needs bench_gl.py in the same folder.
"""

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import time

from bench_gl import Context, Gl, N, P, U

BUFFER, DYNAMIC_DRAW, SIZE = 0x8892, 0x88E8, 4096
LEGACY_STREAM, WRITE_DISCARD = 1, 2


class Buffers(Gl):
    PROTOTYPES = {"glGenBuffers": (None, U, P), "glBindBuffer": (None, U, U),
                  "glBufferData": (None, U, N, P, U)}

    def buffer(self):
        self.glBindBuffer(BUFFER, name := self.make("glGenBuffers"))
        self.glBufferData(BUFFER, SIZE, None, DYNAMIC_DRAW)
        return name


# ---- The ways: each returns the functions register(name), map(resource), unmap(mapping) and
# close(resource) ----


def raw():
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        if code := getattr(cuda, name)(*arguments):
            raise RuntimeError(f"{name} returned {code}")

    def register(name):
        resource = P()
        call("cuGraphicsGLRegisterBuffer", ctypes.byref(resource), name, WRITE_DISCARD)
        return resource

    def map_one(resource):
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
        call("cuGraphicsMapResources", 1, ctypes.byref(resource), P(LEGACY_STREAM))
        call("cuGraphicsResourceGetMappedPointer_v2", ctypes.byref(pointer), ctypes.byref(size),
             resource)
        return resource

    context = P()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    return (register, map_one,
            lambda it: call("cuGraphicsUnmapResources", 1, ctypes.byref(it), P(LEGACY_STREAM)),
            lambda it: call("cuGraphicsUnregisterResource", it))


def library():
    gr = ctypes.CDLL(os.environ.get("GR_LIBRARY", "libgrinterop.so.0"))
    for name, result, arguments in (("gr_from_gl_buffer", P, (U, U)), ("gr_map", P, (P, P)),
                                    ("gr_buffer_ptr", ctypes.c_uint64, (P,)),
                                    ("gr_buffer_release", U, (P,)), ("gr_resource_free", None, (P,))):
        function = getattr(gr, name)
        function.restype, function.argtypes = result, arguments

    def map_one(resource):
        buffer = gr.gr_map(resource, LEGACY_STREAM)
        if not gr.gr_buffer_ptr(buffer):
            raise RuntimeError("grinterop could not map a buffer; GR_LOG=error prints the reason")
        return buffer

    return (lambda name: gr.gr_from_gl_buffer(name, WRITE_DISCARD), map_one, gr.gr_buffer_release,
            gr.gr_resource_free)


def classes(module, stream):
    of = module.GraphicsResource
    return (lambda name: of.from_gl_buffer(name, flags="write_discard"),
            lambda resource: resource.map(stream=stream), lambda mapping: mapping.close(),
            lambda resource: resource.close())


def package():
    import grinterop

    return classes(grinterop, LEGACY_STREAM)


def cuda_core():
    import cuda.core

    cuda.core.Device(0).set_current()
    return classes(cuda.core, cuda.core.LEGACY_DEFAULT_STREAM)


WAYS = {"raw": raw, "library": library, "package": package, "cuda.core": cuda_core}

# ---- Runs ----


def child(way, number, begin):
    gl_context = Context(0)
    gl = Buffers(gl_context.egl)
    with_gl = time.monotonic()
    register, map_one, unmap, close = WAYS[way]()
    resources = [register(gl.buffer())]
    mapping = map_one(resources[0])
    mapped = time.monotonic()
    unmap(mapping)
    resources += [register(gl.buffer()) for _ in range(number - 1)]
    registered = time.monotonic()
    for resource in resources:
        close(resource)
    now = time.monotonic()
    print(with_gl - begin, mapped - with_gl, (registered - mapped) / number * 1e3,
          (now - registered) / number * 1e3, now, flush=True)


def run(way, number):
    """Returns the ms of the OpenGL context, of the way to the first mapped buffer, and of the exit,
    and the µs to register and to unregister a buffer.
    """
    done = subprocess.run([sys.executable, __file__, "--child", way, "--resources", str(number)],
                          stdout=subprocess.PIPE, text=True, check=False)
    end = time.monotonic()
    if done.returncode:
        return None
    *spent, last = map(float, done.stdout.split())
    return [1e3 * value for value in (*spent, end - last)]


def main():
    begin = time.monotonic()
    parser = argparse.ArgumentParser(prog="bench_start.py", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="processes of each way")
    parser.add_argument("--resources", type=int, default=10000, help="registered buffers")
    parser.add_argument("--only", default=",".join(WAYS), help="ways, separated by commas")
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.resources, begin)
        return
    print("way         context ms  first map ms  register us  unregister us  exit ms")
    failed = False
    runs = {way: [] for way in options.only.split(",")}
    for _ in range(options.runs):  # the ways alternate, so that all see the same machine
        for way, rows in runs.items():
            rows.append(run(way, options.resources))
    for way, rows in runs.items():
        if None in rows:
            failed = True
            print(f"{way:10}  failed")
        else:
            cells = [statistics.median(column) for column in zip(*rows)]
            print(f"{way:10}" + "".join(f"{cell:12.3f}" for cell in cells))
    sys.exit(failed)


if __name__ == "__main__":
    main()
