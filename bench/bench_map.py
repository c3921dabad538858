#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench_map for Python: what a map and release cost through cuda.bindings and cuda.core.

Uses the same rows, blocks and medians as bench_map. bench_map --with-python runs this script and
prints its rows. Needs cuda-bindings, cuda-core for the cuda.core column, and bench_gl.py in the
same folder.
"""

import argparse
import ctypes
import datetime
import gc
import math
import sys
import time

import bench_gl
from bench_gl import Context, I, N, P, U

try:
    from cuda.bindings import driver
except ImportError as error:
    bench_gl.fail(f"cuda-bindings is needed: {error}")
try:
    import cuda.core as cuda_core
except ImportError:
    cuda_core = None

RESOURCES = 32
WARM_UP_BLOCKS, LEAST_BLOCKS = 3, 10
CHUNK_FRAMES = 50
FULL_IF_SLOWER, FULL_IF_QUEUED = 1.1, 2
FILL_VALUE = 0x3F800000
NAN = math.nan

GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER = 0x8F36, 0x8F37
GL_RENDERER, GL_VERSION = 0x1F01, 0x1F02


class Gl(bench_gl.Gl):
    """The OpenGL calls that the bench makes."""

    PROTOTYPES = {
        "glGenBuffers": (None, I, P),
        "glBindBuffer": (None, U, U),
        "glBufferStorage": (None, U, N, P, U),
        "glGetBufferSubData": (None, U, N, N, P),
        "glCopyBufferSubData": (None, U, U, N, N, N),
        "glFinish": (None,),
        "glGetError": (U,),
        "glGetString": (ctypes.c_char_p, U),
    }

    def buffer(self, size):
        self.glBindBuffer(GL_COPY_WRITE_BUFFER, name := self.make("glGenBuffers"))
        self.glBufferStorage(GL_COPY_WRITE_BUFFER, size, bytes(size), 0)
        return name


# ---- The measured frames ------------------------------------------------------------------------


def check(result):
    """Returns the values of a cuda.bindings call without its status. Raises an exception if the
    status is an error.
    """
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"bench_map.py: the CUDA driver reports {status!r}")
    return values[0] if len(values) == 1 else values


class Bench:
    """One OpenGL context, one stream, and 32 buffers, each registered once for both subjects."""

    def __init__(self, ordinal, size):
        self.size, self.words = size, size // 4
        self.context = Context(ordinal)
        self.gl = Gl(self.context.egl)
        check(driver.cuInit(0))
        self.device = check(driver.cuDeviceGet(ordinal))
        self._open_stream(ordinal)
        self.names = [self.gl.buffer(size) for _ in range(RESOURCES)]
        self.spare, self.sink = self.gl.buffer(size), self.gl.buffer(size)
        self.resources, self.handles = [], []
        for name in self.names:
            if cuda_core:
                resource = cuda_core.GraphicsResource.from_gl_buffer(name, flags="write_discard")
                self.resources.append(resource)
                self.handles.append(driver.CUgraphicsResource(int(resource.handle)))
            else:
                self.handles.append(self._register(name))
        # cuda.bindings takes a batch as the address of an array of handles.
        self.array = (P * RESOURCES)(*(int(handle) for handle in self.handles))
        self.batch = ctypes.addressof(self.array)

    def _open_stream(self, ordinal):
        if cuda_core:
            self.core_device = cuda_core.Device(ordinal)
            self.core_device.set_current()
            self.core_stream = self.core_device.create_stream()
            self.stream = driver.CUstream(int(self.core_stream.handle))
        else:
            self.cuda = check(driver.cuDevicePrimaryCtxRetain(self.device))
            check(driver.cuCtxSetCurrent(self.cuda))
            self.stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    @staticmethod
    def _register(name):
        discard = driver.CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
        return check(driver.cuGraphicsGLRegisterBuffer(name, int(discard)))

    def close(self):
        for resource in self.resources:
            resource.close()
        if not self.resources:
            for handle in self.handles:
                check(driver.cuGraphicsUnregisterResource(handle))
        if cuda_core:
            self.core_stream.close()
        else:
            check(driver.cuStreamDestroy(self.stream))
            check(driver.cuDevicePrimaryCtxRelease(self.device))
        self.context.close()

    def drain(self):
        check(driver.cuStreamSynchronize(self.stream))
        self.gl.glFinish()

    def fill(self, pointers):
        for pointer in pointers:
            check(driver.cuMemsetD32Async(pointer, FILL_VALUE, self.words, self.stream))

    def copy(self, names):
        for name in names:
            self.gl.glBindBuffer(GL_COPY_READ_BUFFER, name)
            self.gl.glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, self.size)

    def work_done(self):
        """Whether OpenGL copied the values that CUDA wrote."""
        self.drain()
        word, good = ctypes.c_float(0), True
        for offset in (0, self.words * 4 - 4):
            self.gl.glGetBufferSubData(GL_COPY_WRITE_BUFFER, offset, 4, ctypes.byref(word))
            good = good and word.value == 1
        return good and self.gl.glGetError() == 0

    # Each frame maps `count` buffers, gets their pointers and releases them: one buffer after the
    # other (pairs), all mapped before the first release (singly), or all in one call (batch).

    def bindings_pairs(self, count, work):
        for handle, name in zip(self.handles[:count], self.names):
            check(driver.cuGraphicsMapResources(1, handle, self.stream))
            pointer = check(driver.cuGraphicsResourceGetMappedPointer(handle))[0]
            if work:
                self.fill((pointer,))
            check(driver.cuGraphicsUnmapResources(1, handle, self.stream))
            if work:
                self.copy((name,))

    def bindings_singly(self, count, work):
        pointers = []
        for handle in self.handles[:count]:
            check(driver.cuGraphicsMapResources(1, handle, self.stream))
            pointers.append(check(driver.cuGraphicsResourceGetMappedPointer(handle))[0])
        if work:
            self.fill(pointers)
        for handle in self.handles[:count]:
            check(driver.cuGraphicsUnmapResources(1, handle, self.stream))
        if work:
            self.copy(self.names[:count])

    def bindings_batch(self, count, work):
        check(driver.cuGraphicsMapResources(count, self.batch, self.stream))
        pointers = [check(driver.cuGraphicsResourceGetMappedPointer(handle))[0]
                    for handle in self.handles[:count]]
        if work:
            self.fill(pointers)
        check(driver.cuGraphicsUnmapResources(count, self.batch, self.stream))
        if work:
            self.copy(self.names[:count])

    def core_pairs(self, count, work):
        for resource, name in zip(self.resources[:count], self.names):
            buffer = resource.map(stream=self.core_stream)
            pointer = buffer.handle
            if work:
                self.fill((pointer,))
            buffer.close()
            if work:
                self.copy((name,))

    def core_singly(self, count, work):
        buffers = [resource.map(stream=self.core_stream) for resource in self.resources[:count]]
        pointers = [buffer.handle for buffer in buffers]
        if work:
            self.fill(pointers)
        for buffer in buffers:
            buffer.close()
        if work:
            self.copy(self.names[:count])

    def bindings_register(self, _count, _work):
        check(driver.cuGraphicsUnregisterResource(self._register(self.spare)))

    def core_register(self, _count, _work):
        cuda_core.GraphicsResource.from_gl_buffer(self.spare, flags="write_discard").close()


class Kind:
    """One row of the table. A frame function is None if that subject can't run the row."""

    def __init__(self, key, count, room_frames, full_frames, frames):
        self.key, self.part, self.count = key, key.split("/")[0], count
        self.room_frames, self.full_frames = room_frames, full_frames
        self.frames = [frames[0], frames[1] if cuda_core else None]
        self.subjects = [s for s, frame in enumerate(self.frames) if frame]


PAIRS = (Bench.bindings_pairs, Bench.core_pairs)
SINGLY = (Bench.bindings_singly, Bench.core_singly)
BATCH = (Bench.bindings_batch, None)  # cuda.core maps one resource at a time, so it has no batch.
REGISTER = (Bench.bindings_register, Bench.core_register)
# The numbers are the same as in bench_kinds in map/rows.c, where they are explained.
KINDS = [
    Kind("room/one", 1, 16, 0, PAIRS),
    Kind("room/pairs", RESOURCES, 1, 0, PAIRS),
    Kind("room/singly", RESOURCES, 1, 0, SINGLY),
    Kind("room/batch", RESOURCES, 4, 0, BATCH),
    Kind("map/one", 1, 16, 100, PAIRS),
    Kind("map/pairs", RESOURCES, 1, 5, PAIRS),
    Kind("map/singly", RESOURCES, 1, 50, SINGLY),
    Kind("map/batch", RESOURCES, 4, 100, BATCH),
    Kind("frame/one", 1, 16, 100, PAIRS),
    Kind("frame/pairs", RESOURCES, 1, 5, PAIRS),
    Kind("frame/singly", RESOURCES, 1, 50, SINGLY),
    Kind("frame/batch", RESOURCES, 2, 50, BATCH),
    Kind("register/one", 1, 8, 0, REGISTER),
]


# ---- Measuring ----------------------------------------------------------------------------------


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e3


def thread_cpu_us():
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) / 1e3


def quartiles(values):
    """First quartile, median and third quartile, interpolated between neighbours."""
    values = sorted(values)
    if not values:
        return (NAN, NAN, NAN)

    def at(fraction):
        place = fraction * (len(values) - 1)
        low = int(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (place - low) * (values[high] - values[low])

    return (at(0.25), at(0.5), at(0.75))


class Measurement:
    """Measures one row in blocks of alternating subjects: A B B A."""

    def __init__(self, bench, kind, effort):
        self.bench, self.kind, self.effort = bench, kind, effort
        self.wall, self.cpu = ([], []), ([], [])
        self.ratios, self.halves = [], []
        self.queued = self.full = NAN

    def enqueue(self, subject, frames):
        frame, bench = self.kind.frames[subject], self.bench
        count, work = self.kind.count, self.kind.part == "frame"
        for _ in range(frames):
            frame(bench, count, work)

    def timed(self, subject, frames):
        half = frames // 2
        cpu, start = thread_cpu_us(), now_us()
        self.enqueue(subject, half)
        middle = now_us()
        self.enqueue(subject, frames - half)
        end = now_us()
        cpu = (thread_cpu_us() - cpu) / frames
        halves = ((end - middle) / (frames - half)) / ((middle - start) / half) if half else NAN
        return (end - start) / frames, cpu, halves

    def drained(self, subject):
        self.bench.drain()
        return self.timed(subject, self.kind.room_frames)

    def block_pairs(self, block_of, blocks, seconds):
        """Measures blocks of both subjects, in alternating order, until the time is up."""
        subjects, end = self.kind.subjects, now_us() + seconds * 1e6
        for block in range(blocks):
            if block >= LEAST_BLOCKS and block % 2 == 0 and now_us() > end:
                break
            progress(self.kind, block, blocks)
            samples = {}
            for turn in range(len(subjects)):
                subject = subjects[(block + turn) % len(subjects)]
                samples[subject] = block_of(subject)
            for subject, (wall, cpu, _) in samples.items():
                self.wall[subject].append(wall)
                self.cpu[subject].append(cpu)
            if len(samples) == 2:
                self.ratios.append(samples[1][0] / samples[0][0])
            self.halves.append(sum(sample[2] for sample in samples.values()) / len(samples))

    def measure_drained(self):
        for _ in range(WARM_UP_BLOCKS):
            for subject in self.kind.subjects:
                self.drained(subject)
        self.block_pairs(self.drained, self.effort.blocks, self.effort.room_seconds)
        self.bench.drain()

    def count_queued(self, frame_us):
        start = now_us()
        self.bench.drain()
        return (now_us() - start) / frame_us

    def fill_queues(self):
        """Determines how many frames the queues hold, and leaves them full."""
        subjects = self.kind.subjects
        start, pace, frames = now_us(), 0, min(CHUNK_FRAMES, self.kind.full_frames)
        for chunk in range(-(-self.effort.fill_frames // frames)):
            pace = self.timed(subjects[chunk % len(subjects)], frames)[0]
            if now_us() - start > self.effort.fill_seconds * 1e6:
                break
        depth = math.ceil(self.count_queued(pace))
        depth = min(max(depth, 1), self.effort.fill_frames)
        self.enqueue(subjects[0], depth + depth // 4)
        return depth

    def measure_full(self):
        alone = min(self.drained(0)[0] for _ in range(WARM_UP_BLOCKS))
        depth = self.fill_queues()
        frames = min(self.kind.full_frames, self.effort.frames)
        last = self.kind.subjects[0]  # The subject whose frames are queued.

        def block(subject):
            nonlocal last
            if subject != last:
                self.enqueue(subject, depth)
            last = subject
            return self.timed(subject, frames)

        self.block_pairs(block, self.effort.full_blocks, math.inf)
        self.queued = self.count_queued(self.wall[0][-1])
        slower = quartiles(self.wall[0])[1] > alone * FULL_IF_SLOWER
        self.full = float(slower and self.queued >= FULL_IF_QUEUED)
        self.halves = []
        if self.kind.part == "frame" and not self.bench.work_done():
            bench_gl.fail("OpenGL did not copy what CUDA wrote, so the frames are invalid; "
                          "no results are shown")

    def run(self):
        """Measures the row without garbage collection, as timeit does."""
        gc.collect()
        gc.disable()
        try:
            if self.kind.full_frames:
                self.measure_full()
            else:
                self.measure_drained()
        finally:
            gc.enable()

    def values(self):
        """The numbers of a row, in the order in which bench_map reads them."""
        for subject in (0, 1):
            yield from quartiles(self.wall[subject])
            yield quartiles(self.cpu[subject])[1]
        yield from quartiles(self.ratios)
        yield from (quartiles(self.halves)[1], self.queued, self.full, len(self.wall[0]))


def progress(kind, block, blocks):
    if sys.stderr.isatty():
        place = KINDS.index(kind) + 1
        print(f"\r\033[Kbench_map.py: row {place} of {len(KINDS)}, {kind.key}: "
              f"block {block + 1} of {blocks}", end="", file=sys.stderr, flush=True)


# ---- Reporting ----------------------------------------------------------------------------------


def facts(bench, effort):
    """The lines that bench_map prints before the table."""
    from importlib.metadata import version

    cuda = check(driver.cuDriverGetVersion())
    device = check(driver.cuDeviceGetName(256, bench.device)).split(b"\0")[0].decode()
    packages = ("cuda-bindings", "cuda-core") if cuda_core else ("cuda-bindings",)
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    renderer, opengl = (bench.gl.glGetString(name).decode() for name in (GL_RENDERER, GL_VERSION))
    yield "bench_map.py: cuda.bindings and cuda.core, side by side"
    if "software" in device.lower():
        yield "SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU."
    yield f"  versions Python {sys.version.split()[0]}, {versions}"
    yield f"  driver   CUDA {cuda // 1000}.{cuda % 1000 // 10}"
    yield f"  device   {device}"
    yield f"  OpenGL   {renderer}, {opengl}"
    yield f"  date     {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    yield (f"  buffers  {bench.size} bytes each, immutable storage (glBufferStorage), registered "
           "for write_discard; both map the same objects")
    yield (f"  blocks   of each subject, in turn (A B B A): drained, up to {effort.blocks} or "
           f"{effort.room_seconds:g} s a row; with the queues full, {effort.full_blocks}; "
           "no garbage collection within")


def read_options():
    parser = argparse.ArgumentParser(prog="bench_map.py", description=__doc__.splitlines()[0])
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--bytes", type=int, default=65536)
    for name, count in (("blocks", 601), ("full-blocks", 11), ("frames", 100),
                        ("fill-frames", 1500)):
        parser.add_argument(f"--{name}", type=int, default=count)
    for name, seconds in (("room", 4), ("fill", 0.5)):
        parser.add_argument(f"--{name}-seconds", type=float, default=seconds)
    return parser.parse_args()


def main():
    options = read_options()
    bench = Bench(options.device, options.bytes)
    for line in facts(bench, options):
        print(f"info\t{line}", flush=True)
    for kind in KINDS:
        measurement = Measurement(bench, kind, options)
        measurement.run()
        print("row", kind.key, *(f"{value:.9g}" for value in measurement.values()), sep="\t",
              flush=True)
    bench.close()
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
