#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a map from Python against C and cuda.core, on one buffer, and publish().

    PYTHONPATH=... python3 bench.py [--rounds N] [--repeats N] [--batch N] [--plain] [--maps]
                                    [--json FILE] [--loops FILE]

The rows "C" are loops of the library python_loops.so, which `make check` builds from
bench/python_loops.c; without it they are left out.

Each value is the median of the repeats, in microseconds per round; the rows with many resources
give the time per resource. The repeats of all rows are interleaved, so a machine that slows down
affects all rows. CUDA and OpenGL are idle before each row, and a row has few rounds, so no queue
fills up: the time is spent in the calling thread and does not include waits. The rows of rings are
frames with full queues, until OpenGL has finished.
"""

import argparse
import contextlib
import ctypes
import itertools
import json
import statistics
import sys
import time
from pathlib import Path

# Replaces the folder of this script in sys.path: the package grinterop in that folder has no
# extension unless it was built there.
sys.path[0] = str(Path(__file__).resolve().parent / "examples")

import grinterop  # noqa: E402
from grinterop import GraphicsResource, map_many  # noqa: E402

import gl  # noqa: E402

# The buffers are small, since on the software driver a map copies them.
SIZE = 4096
FRAMEWORKS = ("PyTorch", "CuPy", "JAX")
RGBA8 = 0x8058


def seconds_of(function, rounds):
    began = time.perf_counter()
    for _ in range(rounds):
        function()
    return time.perf_counter() - began


def map_rows(module, resources, stream):
    """Rows that map and release: the first resource in three ways, and all one by one."""
    first, count, handle = resources[0], len(resources), stream.__cuda_stream__()[1]

    def one():
        buffer = first.map(stream=stream)
        buffer.handle
        buffer.close()

    def scope():
        with first.map(stream=stream) as buffer:
            buffer.handle

    def singles():
        buffers = [resource.map(stream=stream) for resource in resources]
        for buffer in buffers:
            buffer.handle
            buffer.close()

    def exported():
        buffer = first.map(stream=stream)
        buffer.__dlpack__(stream=handle, max_version=(1, 0))
        buffer.close()

    return {
        f"{module}: map, pointer, release": lambda n: seconds_of(one, n),
        f"{module}: the same by `with`": lambda n: seconds_of(scope, n),
        f"{module}: map, DLPack, release": lambda n: seconds_of(exported, n),
        f"{module}: {count} one by one": lambda n: seconds_of(singles, n) / count,
    }


def own_rows(resources, stream):
    """Rows by name: functions that take the number of rounds and return the seconds."""
    count = len(resources)

    def many():
        with map_many(resources, stream=stream) as buffers:
            for buffer in buffers:
                buffer.handle

    at_once = {f"grinterop: {count} at once": lambda n: seconds_of(many, n) / count}
    return map_rows("grinterop", resources, stream) | at_once


def c_rows(path, stream):
    """The rows in C, with a resource of their own."""
    loops, handle = ctypes.CDLL(str(path)), ctypes.c_void_p(stream.__cuda_stream__()[1])
    loops.loop_resource.restype = ctypes.c_void_p
    resource = ctypes.c_void_p(loops.loop_resource(gl.buffer(SIZE)))

    def row(function):
        function.restype = ctypes.c_double
        return lambda n: function(resource, handle, n)

    return {
        "C: map, pointer, release": row(loops.loop_map),
        "C: map, DLPack, release": row(loops.loop_export),
        "C: publish": row(loops.loop_publish),
    }


def core_rows(core, resources, stream):
    """The same rows with resources of cuda.core, and a row for its Buffer alone, which a map of
    grinterop returns if cuda.core is loaded.
    """

    def alone():
        core.Buffer.from_handle(SIZE, SIZE).close()

    return {
        "cuda.core: Buffer without a map": lambda n: seconds_of(alone, n),
        **map_rows("cuda.core", resources, stream),
    }


def torch_row(resource, stream):
    """A row with a PyTorch tensor, if PyTorch is installed."""
    import torch

    outer = torch.cuda.ExternalStream(stream.__cuda_stream__()[1])

    def one():
        with resource.map(stream=stream) as buffer:
            torch.from_dlpack(buffer)

    def row(n):
        with torch.cuda.stream(outer):
            return seconds_of(one, n)

    row(1)
    return row


def framework_array(name, shape, dtype, handle):
    """Zeros of a framework on the device of CUDA, and a context in which it works on that stream.
    Raises an exception if the framework is missing.
    """
    software = grinterop.cuda_is_software()
    if name == "PyTorch":
        import torch

        outer = None if software else torch.cuda.stream(torch.cuda.ExternalStream(handle))
        device = "cpu" if software else "cuda"
        return torch.zeros(shape, dtype=getattr(torch, dtype), device=device), outer
    if name == "CuPy":
        import cupy

        return cupy.zeros(shape, dtype), cupy.cuda.ExternalStream(handle)
    import jax

    return jax.numpy.zeros(shape, dtype).block_until_ready(), None


def publish_rows(resource, stream, missing):
    """publish() of unchanged bytes, so that the GPU has little to do. Also times the import of the
    tensor, and the framework's part of it (not for PyTorch, which is imported by its C functions).
    """
    handle = stream.__cuda_stream__()[1]
    asked = {"max_version": (1, 3)} | ({} if grinterop.cuda_is_software() else {"stream": handle})
    rows = {}
    for name in FRAMEWORKS:
        try:
            array, context = framework_array(name, SIZE, "uint8", handle)
            with context or contextlib.nullcontext():
                grinterop.publish(resource, array, stream=stream)
        except Exception as error:
            missing.append(f"publish from {name}: {error}")
            continue

        def row(n, array=array, context=context):
            with context or contextlib.nullcontext():
                return seconds_of(lambda: grinterop.publish(resource, array, stream=stream), n)

        def imports(n, array=array, context=context):
            with context or contextlib.nullcontext():
                return seconds_of(lambda: grinterop.Tensor.from_dlpack(array, stream=stream), n)

        def exports(n, array=array, context=context):
            with context or contextlib.nullcontext():
                return seconds_of(lambda: array.__dlpack__(**asked), n)

        rows[f"grinterop: publish from {name}"] = row
        rows[f"grinterop: import from {name}"] = imports
        rows[f"{name}: __dlpack__() alone"] = exports
    return rows


def ring_rows(stream):
    """publish() to a ring; OpenGL copies each frame, as a draw would read it."""
    rows = {}
    sizes = ((64, 36),) if grinterop.cuda_is_software() else ((1920, 1080), (3840, 2160))
    rings = {
        "in order": (1, 1), "4 in flight": (4, 1), "16 in flight": (16, 1),
        "batches of 16": (32, 16),
    }
    for (width, height), (name, (slots, group)) in itertools.product(sizes, rings.items()):
        frame, context = framework_array(
            "PyTorch", (3, height, width), "float16", stream.__cuda_stream__()[1]
        )
        target = gl.texture(width, height)
        ring = grinterop.Ring(
            [
                GraphicsResource.create_gl_image(
                    gl.TEXTURE_2D, RGBA8, width, height, flags="surface_load_store"
                )
                for _ in range(slots)
            ]
        )

        def one(ring=ring, frame=frame, target=target, group=group, size=(width, height)):
            if group == 1:
                grinterop.publish(ring, frame, stream=stream, layout="chw")
            else:
                with ring.acquire_write(group, stream=stream) as slots:
                    for buffer in slots.buffers:
                        grinterop.publish(buffer, frame, layout="chw")
            with ring.acquire_read(group) as slots:
                for resource in slots.resources:
                    copied = (resource.gl_name, gl.TEXTURE_2D, 0, 0, 0, 0)
                    gl.CopyImageSubData(*copied, target, gl.TEXTURE_2D, 0, 0, 0, 0, *size, 1)

        def row(n, one=one, context=context, group=group):
            with context or contextlib.nullcontext():
                began = time.perf_counter()
                for _ in range(0, n, group):
                    one()
                gl.Finish()
                return time.perf_counter() - began

        rows[f"ring, {width} x {height}, {name}"] = row
    return rows


def all_rows(names, cuda, plain, loops, only_maps=False):
    """Returns the rows, the reasons for missing rows, and the stream."""
    missing, stream, theirs, core_resources = [], cuda, {}, []
    try:
        import cuda.core as core

        device = core.Device(0)
        device.set_current()
        stream = device.create_stream()
        core_resources = [core.GraphicsResource.from_gl_buffer(name) for name in names]
        theirs = core_rows(core, core_resources, stream)
    except Exception as error:
        missing.append(f"cuda.core: {error}")
    if plain:  # grinterop looks here for cuda.core
        sys.modules.pop("cuda.core", None)
    resources = [GraphicsResource.from_gl_buffer(name) for name in names]
    rows = own_rows(resources, stream) | theirs
    try:
        rows |= c_rows(loops, stream)
    except OSError as error:
        missing.append(f"C: {error}")
    try:
        rows["grinterop: map, torch tensor, release"] = torch_row(resources[0], stream)
        if theirs:
            rows["cuda.core: map, torch tensor, release"] = torch_row(core_resources[0], stream)
    except Exception as error:
        missing.append(f"PyTorch: {error}")
    if only_maps:
        return rows, missing, stream
    rows |= publish_rows(resources[0], stream, missing)
    try:
        rows |= ring_rows(stream)
    except Exception as error:
        missing.append(f"rings: {error}")
    return rows, missing, stream


def measure(rows, rounds, repeats, settle):
    found = {name: [] for name in rows}
    for name, row in rows.items():
        row(max(1, rounds // 10))
    for _ in range(repeats):
        for name, row in rows.items():
            count = max(1, rounds // 16) if " one by one" in name or "at once" in name else rounds
            count = max(16, count // 8 * 16) if name.startswith("ring") else count
            settle()
            found[name].append(row(count) / count * 1e6)
    return {name: statistics.median(times) for name, times in found.items()}


def report(found):
    for name, time_us in found.items():
        print(f"{name:40} {time_us:9.3f} us")
    for what, limit in (("map, pointer, release", 0.8), ("map, DLPack, release", 1.0)):
        if f"C: {what}" not in found:
            continue
        more = found[f"grinterop: {what}"] - found[f"C: {what}"]
        print(f"{what}: {more:.3f} us more than in C; the limit is {limit}")
    for name in FRAMEWORKS:
        row = found.get(f"grinterop: publish from {name}")
        if row is not None and "C: publish" in found:
            more = row - found["C: publish"]
            parts = found[f"grinterop: import from {name}"], found[f"{name}: __dlpack__() alone"]
            print(
                f"publish from {name}: {more:.3f} us more than in C; the limit is 6. An import "
                f"takes {parts[0]:.3f} us, and __dlpack__() of {name} {parts[1]:.3f} us"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, help="default: 40, on the software driver 200")
    parser.add_argument("--repeats", type=int, help="default: 200, on the software driver 15")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument(
        "--plain", action="store_true",
        help="hide cuda.core: map() returns the plain Buffer, not cuda.core's",
    )
    parser.add_argument("--maps", action="store_true", help="without the rows of publish()")
    parser.add_argument("--json", type=Path)
    here = Path(__file__).resolve().parents[1]
    places = here / "share/python_loops.so", here / "build/bench/.libs/python_loops.so"
    parser.add_argument("--loops", type=Path, default=next(filter(Path.exists, places), places[0]))
    options = parser.parse_args()
    grinterop.cuda_load(allow_software=True)
    cuda = grinterop.CudaContext(0)
    egl = grinterop.EglContext(0)
    print(egl.describe())
    print(f"driver {grinterop.cuda_driver_path()}, Python {sys.version.split()[0]}")
    names = [gl.buffer(SIZE) for _ in range(options.batch)]
    rows, missing, stream = all_rows(names, cuda, options.plain, options.loops, options.maps)
    software = grinterop.cuda_is_software()
    rounds = options.rounds or (200 if software else 40)
    repeats = options.repeats or (15 if software else 200)

    def settle():
        stream.sync()
        gl.Finish()

    found = measure(rows, rounds, repeats, settle)
    report(found)
    if grinterop.cuda_is_software():
        print("The software driver copies at each map, which hides the cost of Python.")
    for line in missing:
        print(f"left out: {line}")
    if options.json:
        options.json.write_text(json.dumps({"rows": found, "left_out": missing}, indent=1) + "\n")


if __name__ == "__main__":
    main()
