#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a map from Python against C and cuda.core, in one process and on one buffer.

    PYTHONPATH=... python3 bench.py [--rounds N] [--repeats N] [--batch N] [--without-core]
                                    [--json FILE]

Each value is the median of the repeats, in microseconds per round; the rows with many resources
give the time per resource. The repeats of all rows are interleaved, so a machine that slows down
affects all rows. CUDA and OpenGL are idle before each row, and a row has few rounds, so no queue
fills up: the time is spent in the calling thread and does not include waits.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

# Replaces the folder of this script in sys.path: the package grinterop in that folder has no
# extension unless it was built there.
sys.path[0] = str(Path(__file__).resolve().parent / "examples")

import grinterop  # noqa: E402
from grinterop import GraphicsResource, _grinterop, map_many  # noqa: E402

import gl  # noqa: E402

# The buffers are small, since on the software driver a map copies them.
SIZE = 4096


def seconds_of(function, rounds):
    began = time.perf_counter()
    for _ in range(rounds):
        function()
    return time.perf_counter() - began


def map_functions(resources, stream):
    """Three functions that map and release: the first resource by calls, the first resource by
    `with`, and all resources one by one.
    """
    first = resources[0]

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

    return one, scope, singles


def own_rows(resources, stream):
    """Rows by name: functions that take the number of rounds and return the seconds."""
    one, scope, singles = map_functions(resources, stream)
    resource, count, handle = resources[0], len(resources), stream.__cuda_stream__()[1]

    def exported():
        buffer = resource.map(stream=stream)
        buffer.__dlpack__(handle, max_version=(1, 0))
        buffer.close()

    def many():
        with map_many(resources, stream=stream) as buffers:
            for buffer in buffers:
                buffer.handle

    return {
        "C: map, pointer, release": lambda n: _grinterop._bench_map(resource, stream, n),
        "grinterop: map, pointer, release": lambda n: seconds_of(one, n),
        "grinterop: the same by `with`": lambda n: seconds_of(scope, n),
        "C: map, DLPack, release": lambda n: _grinterop._bench_export(resource, stream, n),
        "grinterop: map, DLPack, release": lambda n: seconds_of(exported, n),
        f"grinterop: {count} at once": lambda n: seconds_of(many, n) / count,
        f"grinterop: {count} one by one": lambda n: seconds_of(singles, n) / count,
    }


def core_rows(names, stream):
    """The same rows with cuda.core, which registers the same OpenGL buffers itself."""
    from cuda.core import GraphicsResource as CoreResource

    resources = [CoreResource.from_gl_buffer(name) for name in names]
    one, scope, singles = map_functions(resources, stream)
    first, count, handle = resources[0], len(resources), int(stream.handle)

    def exported():
        buffer = first.map(stream=stream)
        buffer.__dlpack__(stream=handle, max_version=(1, 0))
        buffer.close()

    return {
        "cuda.core: map, pointer, release": lambda n: seconds_of(one, n),
        "cuda.core: the same by `with`": lambda n: seconds_of(scope, n),
        "cuda.core: map, DLPack, release": lambda n: seconds_of(exported, n),
        f"cuda.core: {count} one by one": lambda n: seconds_of(singles, n) / count,
    }


def torch_rows(resource, core, stream):
    """Rows with a PyTorch tensor, if PyTorch is installed."""
    import torch

    outer = torch.cuda.ExternalStream(int(stream.handle))

    def own():
        with resource.map(stream=stream) as buffer:
            torch.from_dlpack(buffer)

    def theirs():
        with core.map(stream=stream) as buffer:
            torch.from_dlpack(buffer)

    def within(function):
        def run(n):
            with torch.cuda.stream(outer):
                return seconds_of(function, n)

        return run

    return {
        "grinterop: map, torch tensor, release": within(own),
        "cuda.core: map, torch tensor, release": within(theirs),
    }


def all_rows(names, cuda, with_core):
    """Returns the rows, the reasons for missing rows, and the stream."""
    missing = []
    stream, resources = cuda, [GraphicsResource.from_gl_buffer(name) for name in names]
    try:
        if not with_core:
            raise ImportError("--without-core")
        from cuda.core import Device

        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        theirs = core_rows(names, stream)
    except Exception as error:
        theirs = {}
        missing.append(f"cuda.core: {error}")
    rows = own_rows(resources, stream) | theirs
    if theirs:
        try:
            from cuda.core import GraphicsResource as CoreResource

            core = CoreResource.from_gl_buffer(names[0])
            extra = torch_rows(resources[0], core, stream)
            for row in extra.values():
                row(1)
            rows |= extra
        except Exception as error:
            missing.append(f"PyTorch: {error}")
    return rows, missing, stream


def measure(rows, rounds, repeats, settle):
    found = {name: [] for name in rows}
    for name, row in rows.items():
        row(max(1, rounds // 10))
    for _ in range(repeats):
        for name, row in rows.items():
            count = max(1, rounds // 16) if " one by one" in name or "at once" in name else rounds
            settle()
            found[name].append(row(count) / count * 1e6)
    return {name: statistics.median(times) for name, times in found.items()}


def report(found):
    for name, time_us in found.items():
        print(f"{name:40} {time_us:9.3f} us")
    for what, limit in (("map, pointer, release", 0.8), ("map, DLPack, release", 1.0)):
        more = found[f"grinterop: {what}"] - found[f"C: {what}"]
        print(f"{what}: {more:.3f} us more than in C; the limit is {limit}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, help="default: 40, on the software driver 200")
    parser.add_argument("--repeats", type=int, help="default: 200, on the software driver 15")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument(
        "--without-core",
        action="store_true",
        help="don't load cuda.core: map() returns the plain Buffer, not cuda.core's",
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    grinterop.load(allow_software=True)
    cuda = grinterop.CudaContext(0)
    egl = grinterop.EglContext(0)
    print(egl.describe())
    print(f"driver {grinterop.driver_path()}, Python {sys.version.split()[0]}")
    names = [gl.buffer(SIZE) for _ in range(options.batch)]
    rows, missing, stream = all_rows(names, cuda, not options.without_core)
    software = grinterop.is_software()
    rounds = options.rounds or (200 if software else 40)
    repeats = options.repeats or (15 if software else 200)

    def settle():
        stream.sync()
        gl.Finish()

    found = measure(rows, rounds, repeats, settle)
    report(found)
    if grinterop.is_software():
        print("The software driver copies at each map, which hides the cost of Python.")
    for line in missing:
        print(f"left out: {line}")
    if options.json:
        options.json.write_text(json.dumps({"rows": found, "left_out": missing}, indent=1) + "\n")


if __name__ == "__main__":
    main()
