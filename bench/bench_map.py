#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""bench_map for Python: what a map and release cost through cuda.bindings and cuda.core.

Uses the same rows, blocks and medians as bench_map, so that the tables can be compared.
Needs cuda-bindings, and cuda-core for its column; OpenGL and EGL are called through ctypes.
"""

import argparse
import ctypes
import datetime
import gc
import json
import math
import sys
import time

try:
    from cuda.bindings import driver
except ImportError as error:
    sys.exit(f"bench_map.py: cuda-bindings is needed: {error}")
try:
    import cuda.core as cuda_core
except ImportError:
    cuda_core = None

RESOURCES = 32
WARM_UP_BLOCKS, LEAST_BLOCKS = 3, 10
CHUNK_FRAMES = 50
FULL_IF_SLOWER, FULL_IF_QUEUED = 1.1, 2
FILL_VALUE = 0x3F800000
SUBJECTS = ("cuda.bindings", "cuda.core")
PARTS = {
    "room": "Map and release, room in the queues (drained before each block): CPU time",
    "map": "Map and release, queues full: sustained time",
    "frame": "Map, CUDA fills, release, OpenGL copies, queues full: sustained time",
    "register": "Register and unregister (drained before each block)",
}
NAN = math.nan


# ---- OpenGL without a window --------------------------------------------------------------------

EGL_CUDA_DEVICE_NV = 0x323A
EGL_PLATFORM_DEVICE_EXT = 0x313F
EGL_PLATFORM_SURFACELESS_MESA = 0x31DD
EGL_OPENGL_API = 0x30A2
EGL_NONE = 0x3038
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT = 0x3033, 1
EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT = 0x3040, 8
EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION = 0x3098, 0x30FB

GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER = 0x8F36, 0x8F37
GL_DYNAMIC_DRAW = 0x88E8
GL_RENDERER, GL_VERSION = 0x1F01, 0x1F02
# The newest first: for a request of 3.3, NVIDIA returns exactly 3.3.
GL_VERSIONS = ((4, 6), (4, 5), (4, 4), (4, 3), (4, 2), (4, 1), (4, 0), (3, 3))

P, I, U, N = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_ssize_t


class Egl:
    """The libEGL functions that create a context without a surface."""

    PROTOTYPES = {
        "eglGetProcAddress": (P, ctypes.c_char_p),
        "eglQueryString": (ctypes.c_char_p, P, I),
        "eglInitialize": (U, P, P, P),
        "eglBindAPI": (U, U),
        "eglChooseConfig": (U, P, P, P, I, P),
        "eglCreateContext": (P, P, P, P, P),
        "eglMakeCurrent": (U, P, P, P, P),
        "eglDestroyContext": (U, P, P),
        "eglGetError": (I,),
    }

    def __init__(self):
        library = ctypes.CDLL("libEGL.so.1", mode=ctypes.RTLD_GLOBAL)
        for name, (result, *arguments) in self.PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def function(self, name, result, *arguments):
        address = self.eglGetProcAddress(name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None

    def devices(self):
        """Every EGL device with its CUDA ordinal, or None if it reports none."""
        query = self.function("eglQueryDevicesEXT", U, I, P, P)
        attribute = self.function("eglQueryDeviceAttribEXT", U, P, I, P)
        if query is None or attribute is None:
            return []
        found, count = (P * 16)(), I(0)
        if not query(16, found, ctypes.byref(count)):
            return []
        result = []
        for device in found[: count.value]:
            value = N(-1)
            known = attribute(device, EGL_CUDA_DEVICE_NV, ctypes.byref(value))
            result.append((device, value.value if known and value.value >= 0 else None))
        return result


class Context:
    """A current OpenGL context on the EGL device of CUDA device `ordinal`."""

    def __init__(self, ordinal):
        self.egl = Egl()
        self.display = self._display(ordinal)
        if not self.egl.eglInitialize(self.display, None, None):
            self._fail("eglInitialize")
        self.egl.eglBindAPI(EGL_OPENGL_API)
        wanted = (I * 5)(EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                         EGL_NONE)
        config, count = P(), I(0)
        chosen = self.egl.eglChooseConfig(self.display, wanted, ctypes.byref(config), 1,
                                          ctypes.byref(count))
        if not chosen or not count.value:
            self._fail("eglChooseConfig")
        for major, minor in GL_VERSIONS:
            version = (I * 5)(EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor,
                              EGL_NONE)
            self.context = self.egl.eglCreateContext(self.display, config, None, version)
            if self.context:
                break
        if not self.context:
            self._fail("eglCreateContext")
        if not self.egl.eglMakeCurrent(self.display, None, None, self.context):
            self._fail("eglMakeCurrent")

    def _display(self, ordinal):
        get = self.egl.function("eglGetPlatformDisplayEXT", P, U, P, P)
        if get is None:
            sys.exit("bench_map.py: EGL has no eglGetPlatformDisplayEXT")
        devices = self.egl.devices()
        for device, cuda in devices:
            if cuda == ordinal:
                return get(EGL_PLATFORM_DEVICE_EXT, device, None)
        if any(cuda is not None for _, cuda in devices):
            sys.exit(f"bench_map.py: none of {len(devices)} EGL devices is CUDA device {ordinal}")
        # No EGL device reports a CUDA ordinal: Mesa, for the software CUDA driver.
        return get(EGL_PLATFORM_SURFACELESS_MESA, None, None)

    def _fail(self, call):
        sys.exit(f"bench_map.py: {call} failed, EGL error {self.egl.eglGetError():#x}")

    def close(self):
        self.egl.eglMakeCurrent(self.display, None, None, None)
        self.egl.eglDestroyContext(self.display, self.context)


class Gl:
    """The OpenGL calls that the bench makes."""

    PROTOTYPES = {
        "glGenBuffers": (None, I, P),
        "glDeleteBuffers": (None, I, P),
        "glBindBuffer": (None, U, U),
        "glBufferData": (None, U, N, P, U),
        "glBufferStorage": (None, U, N, P, U),
        "glGetBufferSubData": (None, U, N, N, P),
        "glCopyBufferSubData": (None, U, U, N, N, N),
        "glFinish": (None,),
        "glGetError": (U,),
        "glGetString": (ctypes.c_char_p, U),
    }

    def __init__(self, egl, mutable):
        for name, prototype in self.PROTOTYPES.items():
            setattr(self, name, egl.function(name, *prototype))
        self.mutable = mutable
        version = self.glGetString(GL_VERSION).decode()
        if not mutable and tuple(map(int, version.split()[0].split(".")[:2])) < (4, 4):
            sys.exit("bench_map.py: glBufferStorage needs OpenGL 4.4; --mutable does without it")

    def buffer(self, size):
        name = U(0)
        self.glGenBuffers(1, ctypes.byref(name))
        self.glBindBuffer(GL_COPY_WRITE_BUFFER, name.value)
        if self.mutable:
            self.glBufferData(GL_COPY_WRITE_BUFFER, size, bytes(size), GL_DYNAMIC_DRAW)
        else:
            self.glBufferStorage(GL_COPY_WRITE_BUFFER, size, bytes(size), 0)
        return name.value


# ---- What is measured ---------------------------------------------------------------------------


def check(result):
    """Returns the values of a cuda.bindings call without its status; raises if that is an error."""
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"bench_map.py: the CUDA driver reports {status!r}")
    return values[0] if len(values) == 1 else values


class Bench:
    """One OpenGL context, one stream, and 32 buffers that are registered once for both subjects."""

    def __init__(self, ordinal, size, mutable):
        self.size, self.words = size, size // 4
        self.context = Context(ordinal)
        self.gl = Gl(self.context.egl, mutable)
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
        """Whether OpenGL copied what CUDA wrote."""
        self.drain()
        word, good = ctypes.c_float(0), True
        for offset in (0, self.words * 4 - 4):
            self.gl.glGetBufferSubData(GL_COPY_WRITE_BUFFER, offset, 4, ctypes.byref(word))
            good = good and word.value == 1
        return good and self.gl.glGetError() == 0

    # Each frame maps `count` buffers, gets their pointers and releases them: one after the other
    # (pairs), all mapped before the first release (singly), or in one call (batch).

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
    """The description of one row of the table; frame functions by subject, None if missing."""

    def __init__(self, key, label, count, calls, room_frames, full_frames, frames):
        self.key, self.label, self.count, self.calls = key, label, count, calls
        self.part = key.split("/")[0]
        self.room_frames, self.full_frames = room_frames, full_frames
        self.frames = [frames[0], frames[1] if cuda_core else None]
        self.subjects = [s for s, frame in enumerate(self.frames) if frame]


PAIRS = (Bench.bindings_pairs, Bench.core_pairs)
SINGLY = (Bench.bindings_singly, Bench.core_singly)
BATCH = (Bench.bindings_batch, None)  # cuda.core maps one resource at a time
REGISTER = (Bench.bindings_register, Bench.core_register)
# The same numbers as bench_kinds in map/rows.c, which gives the reasons.
KINDS = [
    Kind("room/one", "one resource", 1, 1, 16, 0, PAIRS),
    Kind("room/pairs", "32 pairs", RESOURCES, RESOURCES, 1, 0, PAIRS),
    Kind("room/singly", "32 singly", RESOURCES, RESOURCES, 1, 0, SINGLY),
    Kind("room/batch", "32 in one batch", RESOURCES, 1, 4, 0, BATCH),
    Kind("map/one", "one resource", 1, 1, 16, 100, PAIRS),
    Kind("map/pairs", "32 pairs", RESOURCES, RESOURCES, 1, 5, PAIRS),
    Kind("map/singly", "32 singly", RESOURCES, RESOURCES, 1, 50, SINGLY),
    Kind("map/batch", "32 in one batch", RESOURCES, 1, 4, 100, BATCH),
    Kind("frame/one", "one resource", 1, 1, 16, 100, PAIRS),
    Kind("frame/pairs", "32 pairs", RESOURCES, RESOURCES, 1, 5, PAIRS),
    Kind("frame/singly", "32 singly", RESOURCES, RESOURCES, 1, 50, SINGLY),
    Kind("frame/batch", "32 in one batch", RESOURCES, 1, 2, 50, BATCH),
    Kind("register/one", "one resource", 1, 1, 8, 0, REGISTER),
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
    """Measures one row in blocks of alternating subjects, A B B A."""

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
        """One block of each subject, in alternating order, while there is time."""
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
        last = self.kind.subjects[0]  # the subject whose frames are queued

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
            sys.exit("bench_map.py: OpenGL did not copy what CUDA wrote, so the frames are "
                     "invalid; no results are shown")

    def row(self):
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
        return {
            "kind": self.kind,
            "blocks": len(self.wall[0]),
            "wall": [quartiles(self.wall[0]), quartiles(self.wall[1])],
            "cpu": [quartiles(self.cpu[0])[1], quartiles(self.cpu[1])[1]],
            "ratio": quartiles(self.ratios),
            "halves": quartiles(self.halves)[1],
            "queued": self.queued,
            "full": self.full,
        }


def progress(kind, block, blocks):
    if sys.stderr.isatty():
        place = KINDS.index(kind) + 1
        print(f"\r\033[Kbench_map.py: row {place} of {len(KINDS)}, {kind.key}: "
              f"block {block + 1} of {blocks}", end="", file=sys.stderr, flush=True)


# ---- Reporting ----------------------------------------------------------------------------------


def number(value):
    if math.isnan(value):
        return "-"
    return f"{value:.{0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 10 else 3}f}"


def spread(value):
    low, median, high = value
    if math.isnan(median):
        return "-"
    digits = 0 if median >= 1000 else 1 if median >= 100 else 2 if median >= 10 else 3
    return f"{median:.{digits}f} [{low:.{digits}f} {high:.{digits}f}]"


def ratio_of_medians(row):
    return row["wall"][1][1] / row["wall"][0][1]


def added_ns(row):
    """The extra cost of a map and release for the second subject."""
    return (row["wall"][1][1] - row["wall"][0][1]) * 1e3 / row["kind"].calls


def is_batch(kind):
    return kind.calls == 1 and kind.count > 1


def queues(row):
    if not row["kind"].full_frames:
        if math.isnan(row["halves"]):
            return "room (a block is one frame)"
        return f"room (2nd half of a block x{row['halves']:.2f})"
    if row["full"]:
        return f"full ({row['queued']:.0f} frames waiting)"
    return "NOT full (enqueueing is the bottleneck)"


def notes(row):
    added = added_ns(row)
    if row["kind"].part != "room" or math.isnan(added):
        return queues(row)
    return f"{added:+.0f} ns a {'batch' if is_batch(row['kind']) else 'pair'}; {queues(row)}"


def print_table(rows):
    part = None
    for row in rows:
        kind = row["kind"]
        if kind.part != part:
            part = kind.part
            print(f"\n{PARTS[part]}; us per frame, median [quartiles]")
            added = "added (difference of medians); " if part == "room" else ""
            print(f"  {'':15} {'blocks':>6} {SUBJECTS[0]:>21} {SUBJECTS[1]:>21} {'ratio':>7} "
                  f"{'of block pairs':>21} {'':8} {'thread CPU, both':>17}  {added}queues")
        print(f"  {kind.label:15} {row['blocks']:>6} "
              f"{spread(row['wall'][0]):>21} {spread(row['wall'][1]):>21} "
              f"{number(ratio_of_medians(row)):>7} {spread(row['ratio']):>21} {'':8} "
              f"{number(row['cpu'][0]):>8} {number(row['cpu'][1]):>8}  {notes(row)}")
    print_batches(rows)


def print_batches(rows):
    medians = {row["kind"].key: row["wall"][0][1] for row in rows}
    print(f"\n{'What a batch of 32 saves, times':38} {SUBJECTS[0]:>14}")
    for many, words in (
            ("pairs", "each resource is mapped and released before the next one"),
            ("singly", "all 32 are mapped, one call each, then all 32 are released")):
        print(f"  32 {many} / batch: {words}")
        for part, label in (("room", "room in the queues"), ("map", "queues full, map and release"),
                            ("frame", "queues full, with fills and copies")):
            times = medians[f"{part}/{many}"] / medians[f"{part}/batch"]
            print(f"    {label:34} {number(times):>14}")


# bench_map reads the values of a "row" line in this order: wall q1, median, q3 and thread CPU of
# the first subject; the same of the second; ratio of block pairs q1, median, q3; second half to
# first; frames queued; full; blocks.


def print_for_bench_map(info, rows):
    for line in describe(info):
        print(f"info\t{line}")
    for row in rows:
        first, second = row["wall"]
        values = (*first, row["cpu"][0], *second, row["cpu"][1], *row["ratio"], row["halves"],
                  row["queued"], row["full"], row["blocks"])
        print("\t".join(["row", row["kind"].key, *(f"{value:.9g}" for value in values)]))


def describe(info):
    lines = ["bench_map.py: cuda.bindings and cuda.core, side by side"]
    if info["software_driver"]:
        lines.append("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU.")
    storage = "mutable storage (glBufferData)"
    if info["immutable_storage"]:
        storage = "immutable storage (glBufferStorage)"
    return lines + [
        f"  versions {info['versions']}",
        f"  driver   {info['driver']}",
        f"  device   {info['device']}",
        f"  OpenGL   {info['opengl']}",
        f"  date     {info['date']}",
        f"  buffers  {info['buffer_bytes']} bytes each, {storage}, registered for write_discard; "
        "both map the same objects",
        "  blocks   of each subject, in turn (A B B A): drained, up to "
        f"{info['blocks_at_most']} or {info['room_seconds']:g} s a row; with the queues full, "
        f"{info['full_blocks']}; no garbage collection within",
    ]


def gather_info(bench, effort):
    from importlib.metadata import version

    cuda = check(driver.cuDriverGetVersion())
    device = check(driver.cuDeviceGetName(256, bench.device)).split(b"\0")[0].decode()
    gl = bench.gl
    packages = ("cuda-bindings", "cuda-core") if cuda_core else ("cuda-bindings",)
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": f"Python {sys.version.split()[0]}, {versions}",
        "driver": f"CUDA {cuda // 1000}.{cuda % 1000 // 10}",
        "software_driver": "software" in device.lower(),
        "device": device,
        "opengl": f"{gl.glGetString(GL_RENDERER).decode()}, {gl.glGetString(GL_VERSION).decode()}",
        "blocks_at_most": effort.blocks,
        "room_seconds": effort.room_seconds,
        "full_blocks": effort.full_blocks,
        "buffer_bytes": bench.size,
        "immutable_storage": not effort.mutable,
    }


def json_row(row):
    def clean(value):
        return value if math.isfinite(value) else None

    def named(value):
        return dict(zip(("q1", "median", "q3"), map(clean, value)))

    result = {"row": row["kind"].key, "blocks": row["blocks"]}
    for subject, name in enumerate(SUBJECTS):
        result[name] = {"wall_us": named(row["wall"][subject]),
                        "thread_cpu_us": clean(row["cpu"][subject])}
    result["ratio_of_medians"] = clean(ratio_of_medians(row))
    result["ratio_of_block_pairs"] = named(row["ratio"])
    added = "added_ns_a_batch" if is_batch(row["kind"]) else "added_ns_a_pair"
    result[added] = clean(added_ns(row))
    result["second_half_to_first"] = clean(row["halves"])
    result["frames_queued"] = clean(row["queued"])
    result["queues_full"] = row["full"] == 1
    return result


def write_json(path, info, rows):
    table = {"baseline": SUBJECTS[0], "subject": SUBJECTS[1], "rows": [json_row(r) for r in rows]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**info, "tables": [table]}, file, indent=1)
        file.write("\n")


def whole(least):
    def parse(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more")
        return value

    return parse


def read_options():
    parser = argparse.ArgumentParser(
        prog="bench_map.py", description="Measures map, pointer and release of registered OpenGL "
        "buffers through cuda.bindings and cuda.core, alternating.")
    parser.add_argument("--device", type=whole(0), default=0, help="the CUDA device to use (0)")
    parser.add_argument("--blocks", type=whole(2), default=601,
                        help="maximum number of drained blocks of each subject in a row (601)")
    parser.add_argument("--room-seconds", type=float, default=4,
                        help="time limit of a row of drained blocks (4)")
    parser.add_argument("--full-blocks", type=whole(2), default=11,
                        help="blocks of each subject in a row with the queues full (11)")
    parser.add_argument("--frames", type=whole(2), default=100,
                        help="maximum frames in such a block (100; fewer if they take long)")
    parser.add_argument("--bytes", type=whole(4), default=65536, help="size of each buffer (65536)")
    parser.add_argument("--fill-frames", type=whole(1), default=1500,
                        help="maximum number of frames to fill the queues with (1500)")
    parser.add_argument("--fill-seconds", type=float, default=0.5,
                        help="time limit for filling the queues (0.5)")
    parser.add_argument("--mutable", action="store_true",
                        help="buffers by glBufferData (default: glBufferStorage, immutable)")
    parser.add_argument("--quick", action="store_true",
                        help="61 drained blocks, 3 full ones of up to 20 frames")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers as JSON")
    parser.add_argument("--rows", action="store_true", help="print rows for bench_map, no table")
    options = parser.parse_args()
    if options.quick:
        options.blocks, options.room_seconds = 61, 0.5
        options.full_blocks, options.frames = 3, 20
        options.fill_frames, options.fill_seconds = 600, 0.2
    return options


def main():
    options = read_options()
    bench = Bench(options.device, options.bytes, options.mutable)
    info = gather_info(bench, options)
    if not options.rows:
        print("\n".join(describe(info)), flush=True)
        if cuda_core is None:
            print("  cuda.core is not installed: its column stays empty")
    rows = [Measurement(bench, kind, options).row() for kind in KINDS]
    bench.close()
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if options.rows:
        print_for_bench_map(info, rows)
    else:
        print_table(rows)
    if options.json:
        write_json(options.json, info, rows)


if __name__ == "__main__":
    main()
