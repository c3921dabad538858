# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Threads that make random calls on every Python object at the same time.

    python3 random_threads.py --seed 1 --seconds 1800

Some calls have random arguments, and some arguments make further calls when they are read or
dropped. Nothing may crash or hang, calls may raise only documented exceptions, and OpenGL may
report no error except that memory is short. All work uses one stream, and no memory is read after
its mapping ends, since the driver's behaviour then is undefined. If cuda.core is installed, its
objects are used too, and mappings are cuda.core Buffers.
"""

import argparse
import collections
import ctypes
import faulthandler
import os
import random
import sys
import threading
import time
import traceback
import warnings

import grinterop
import numpy as np

os.environ.setdefault("force_gl_names_reuse", "true")  # Mesa then does as NVIDIA's driver

from random_calls import ALLOWED, BYTES, CALLS, KINDS, Acts, core, multisampled

# Allowed messages of a RuntimeError that is not a grinterop.CUDAError.
STATES = (
    "another thread",
    "has been closed",
    "slots acquired for",
    "already mapped",
    "is not mapped",
    "already been handed over",
    "Ring",
    "ring",
    "read_only",
    "on the thread that created it",
)


class Worker:
    """One thread: its contexts, its random generator, and the objects shared by all threads."""

    def __init__(self, number, options, shared, stream):
        self.random = random.Random(f"{options.seed}.{number}")
        self.kinds, self.shared, self.pools = options.only.split(","), shared, shared.pools
        self.stream, self.streams = stream, [stream, stream, stream.stream, Acts(self, 0)]
        if core:
            self.streams.append(core.Device(0).create_stream(stream))
        self.host = np.zeros(16 * BYTES, "u1")  # outlives all copies
        self.calls, self.errors = collections.Counter(), collections.Counter()
        self.last, self.failed = "", None
        self.end, self.current = options.end, (KINDS[0], None)
        self.thread = threading.Thread(target=self.run, name=f"worker-{number}")

    def run(self):
        try:
            self.own_cuda = grinterop.CudaContext(0)
            self.own_egl = grinterop.EglContext(0, es=self.random.randrange(3) == 0)
            self.framebuffer = multisampled(16)
            self.vulkan = grinterop.VulkanDevice.headless(transports="any")
            self.copied = self.vulkan.create_vk_buffer(BYTES, 0x3)  # must outlive its copies
            if core:
                core.Device(0).set_current()
            while time.monotonic() < self.end:
                self.step()
        except BaseException:
            self.failed = f"after {self.last}:\n{traceback.format_exc()}"

    def step(self):
        kind, found = self.pick()
        name, call = self.random.choice(CALLS[kind])
        arguments = [self] if kind == "new" else [self, found]
        self.current = (kind, found) if found is not None else self.current
        if self.random.randrange(4) == 0:
            self.shared.hold(self.stream.stream, self.random.choice([100, 1000, 3000]))
        self.last = f"{kind}.{name}"
        self.calls[self.last] += 1
        try:
            call(*arguments)
        except ALLOWED as error:
            if getattr(error, "domain", "") == "opengl" and not isinstance(error, MemoryError):
                raise  # a check of the library let a wrong call of OpenGL pass
            self.errors[type(error).__name__] += 1
        except RuntimeError as error:
            if type(error) is not RuntimeError or not any(text in str(error) for text in STATES):
                raise
            self.errors["RuntimeError"] += 1
            text = str(error)
            if kind != "new" and ("closed" in text or "already been handed over" in text):
                self.forget(kind, found)

    def pick(self):
        """An object; usually the one that all threads currently use."""
        dice = self.random.random()
        if dice < 0.02:
            return "new", None
        if dice < 0.04:
            kind = self.random.choice(self.kinds)
            self.shared.hot = kind, self.any(kind)
        kind, found = self.shared.hot
        if dice > 0.7 or found is None:
            kind = self.random.choice(self.kinds)
            found = self.any(kind)
        return (kind, found) if found is not None else ("new", None)

    def any(self, kind):
        pool = list(self.pools[kind])
        return self.random.choice(pool) if pool else None

    def put(self, kind, made):
        pool = self.pools[kind]
        pool.append(made)
        if len(pool) > 6:
            del pool[self.random.randrange(6)]

    def forget(self, kind, gone):
        """Drops an object to make room. Some objects stay, so that closed objects are used too."""
        pool = self.pools[kind]
        if self.random.randrange(2):
            try:
                pool.remove(gone)
            except ValueError:
                pass  # the other thread removed it first

    def some(self, kind, most=3):
        pool = list(self.pools[kind])
        return [self.random.choice(pool) for _ in range(self.random.randint(1, most)) if pool]

    def flags(self):
        return self.random.choice([None, "read_only", "write_discard", "surface_load_store"])

    def array(self):
        """An object that can be read as a tensor."""
        pick = self.random.randrange(6 if core else 5)
        if pick == 5:
            return self.any("cores")
        if pick == 4:
            return Acts(self, BYTES)
        if pick == 0:
            return self.any("tensors")
        if pick == 1:
            return self.any("buffers")
        if pick == 2:
            return np.zeros(self.random.choice([BYTES, (16, 16, 4)]), "u1")
        return [np.zeros((16, 16), "u1"), np.zeros((8, 8, 2), "u1")]


class Shared:
    """The state shared by all threads."""

    def __init__(self):
        self.pools = {kind: [] for kind in KINDS}
        self.hot = KINDS[0], None
        self.driver, libc = ctypes.CDLL(grinterop.cuda_driver_path()), ctypes.CDLL(None)
        self.sleep = ctypes.cast(libc.usleep, ctypes.c_void_p)

    def hold(self, stream, microseconds):
        """Keeps the stream busy, so that calls that wait for the stream take time."""
        self.driver.cuLaunchHostFunc(
            ctypes.c_void_p(stream), self.sleep, ctypes.c_void_p(microseconds)
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default=str(os.getpid()))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--without-core", action="store_true", help="without cuda.core")
    parser.add_argument("--only", default=",".join(KINDS), help="kinds of objects, comma-separated")
    options = parser.parse_args()
    faulthandler.enable()
    faulthandler.dump_traceback_later(options.seconds + 120, exit=True)
    warnings.simplefilter("ignore")
    sys.setswitchinterval(0.0005)
    version = f"cuda.core {core.__version__}" if core else "without cuda.core"
    threads = f"{options.threads} threads"
    print(f"seed {options.seed}, {threads}, {options.seconds:g} s, {version}", flush=True)
    options.end = time.monotonic() + options.seconds
    grinterop.cuda_load(allow_software=True)
    stream = grinterop.CudaContext(0)
    if core:
        core.Device(0).set_current()
    shared = Shared()
    workers = [Worker(i, options, shared, stream) for i in range(options.threads)]
    for worker in workers:
        worker.thread.start()
    for worker in workers:
        worker.thread.join()
    calls = sum((worker.calls for worker in workers), collections.Counter())
    errors = sum((worker.errors for worker in workers), collections.Counter())
    print(f"{sum(calls.values())} calls of {len(calls)} kinds; raised: {dict(errors)}")
    for worker in workers:
        if worker.failed:
            print(f"{worker.thread.name} failed {worker.failed}")
    return any(worker.failed for worker in workers)


if __name__ == "__main__":
    sys.exit(main())
