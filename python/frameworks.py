#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exchanges bytes between each framework and OpenGL and Vulkan objects, in every possible way.

    python3 frameworks.py                      a table of the installed frameworks
    python3 frameworks.py --out DIR            DIR/frameworks.md and DIR/frameworks.json as well
    python3 frameworks.py --only NumPy,CuPy    only these frameworks

Each framework runs in its own process with a time limit. The exit status is 1 if wrong bytes
arrived or a framework crashed. A way counts as "without a copy" if the pointer of the array is the
pointer of the mapping.
"""

import argparse
import contextlib
import datetime
import gc
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import traceback
from pathlib import Path

# This folder comes last in sys.path: in the source tree its package grinterop lacks the extension.
HERE = Path(__file__).resolve().parent
sys.path[:] = sys.path[1:] + [str(HERE), str(HERE / "examples")]

import numpy  # noqa: E402

import gl  # noqa: E402
import grinterop  # noqa: E402
import vk  # noqa: E402

JPEG, FILM = HERE / "data" / "quadrants.jpg", HERE / "data" / "quadrants.h264"
SHAPE = (240, 320, 4)

# By default, the first JAX operation allocates three quarters of the GPU memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


class Unsupported(Exception):
    """The framework can't do this. The message goes into the table as the reason."""


class Different(Exception):
    """The received bytes differ from those sent."""


def array_of(data, shape):
    return numpy.frombuffer(data, numpy.uint8).reshape(shape).copy()


def pattern(shape, seed):
    """Test bytes: neighbours differ, and each seed gives other bytes."""
    return bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 255 for i in range(math.prod(shape)))


# ---- Frameworks ----------------------------------------------------------------------------------


def refuse(reason):
    def method(self, *_):
        raise Unsupported(reason)

    return method


class Framework:
    """One row of the table, with what holds for most frameworks."""

    packages, memory = (), "device"  # memory: the kind of grinterop memory that it accepts
    own = None  # whether graphics uses the memory of its array, in place of the other way round
    begin = finish = close = lambda f: None  # finish: waits for all queued work
    # wraps a grinterop.Tensor in an array without a copy, and returns the address of the array
    take = lambda f, tensor: f.m.from_dlpack(tensor)  # noqa: E731
    pointer = lambda f, a: a.__cuda_array_interface__["data"][0]  # noqa: E731
    # copy bytes out of an array, into it, and into a new one; read an image by its CUDA array
    to_bytes = lambda f, a: numpy.asarray(a).tobytes()  # noqa: E731
    write = refuse("its arrays can't be written to")
    make = refuse("it cannot create arrays of bytes")
    take_array = refuse("it has no object for a CUDA array")

    def __init__(self, stream):
        """Imports the modules. An ImportError becomes the reason why the row did not run."""
        self.stream = stream
        for module in self.modules:
            self.m = importlib.import_module(module)
        self.begin()

    def version(self):
        """The versions of the packages that are there, with their names if there are several."""
        found = {}
        for name in self.packages:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found[name] = importlib.metadata.version(name)
        return ", ".join(found.values() if len(found) == 1 else map(" ".join, found.items()))

    def produce(self, shape):
        """Returns an array to publish, its bytes and its shape."""
        data = pattern(shape, 3)
        return self.make(data, shape), data, shape


# ---- Methods that are longer than an expression --------------------------------------------------


def begin_cuda_python(self):
    self.device = importlib.import_module("cuda.core").Device(0)
    self.device.set_current()
    self.own_stream = self.device.create_stream()
    self.view = importlib.import_module("cuda.core.utils").StridedMemoryView


def ask(self, answer):
    """Raises the error of a call of cuda.bindings."""
    if answer[0] != self.m.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(answer[0]))


def view_bytes(self, array):
    data = bytearray(array.shape[0] * array.shape[1] * array.shape[2])
    self.ask(self.m.cuMemcpyDtoH(data, array.ptr, len(data)))
    return bytes(data)


def make_memory(self, data, shape):
    memory = self.device.allocate(len(data), stream=self.own_stream)
    self.own_stream.sync()
    self.ask(self.m.cuMemcpyHtoD(int(memory.handle), data, len(data)))
    return grinterop.Tensor.from_memory(int(memory.handle), shape, "uint8", owner=memory)


def read_array(self, buffer, shape):
    data, types = array_of(bytes(shape[0] * shape[1] * shape[2]), shape), self.m.CUmemorytype
    copy, source = self.m.CUDA_MEMCPY2D(), self.m.CUarray(buffer.array())
    copy.WidthInBytes, copy.dstPitch, copy.Height = shape[1] * 4, shape[1] * 4, shape[0]
    copy.srcMemoryType, copy.srcArray = types.CU_MEMORYTYPE_ARRAY, source
    copy.dstMemoryType, copy.dstHost = types.CU_MEMORYTYPE_HOST, data.ctypes.data
    self.ask(self.m.cuMemcpy2D(copy))
    return data.tobytes()


def begin_pycuda(self):
    self.m.init()
    self.context = self.m.Device(0).retain_primary_context()
    self.context.push()


def begin_warp(self):
    self.m.config.quiet = True
    self.m.init()
    if not self.m.is_cuda_available():
        raise ImportError("Warp finds no GPU")


# Warp reads the source of a kernel and resolves names in its module.
WARP_KERNEL = """
import warp
@warp.kernel
def sample(image: warp.Texture2D, texels: warp.array2d(dtype=warp.vec4f)):
    x, y = warp.tid()
    at = warp.vec2f(float(x) + 0.5, float(y) + 0.5)
    texels[y, x] = warp.texture_sample(image, at, dtype=warp.vec4f)
"""


def sample_array(self, buffer, shape):
    warp = self.m
    nearest = warp.TextureFilterMode.CLOSEST
    image = warp.Texture2D(
        device="cuda:0", normalized_coords=False, filter_mode=nearest, cuda_array=buffer.array()
    )
    texels = warp.zeros((shape[0], shape[1]), dtype=warp.vec4f, device="cuda:0")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "warp_kernel.py").write_text(WARP_KERNEL)
        sys.path.append(folder)
        kernel = importlib.import_module("warp_kernel").sample
        warp.launch(kernel, dim=(shape[1], shape[0]), inputs=[image, texels], device="cuda:0")
        sys.path.remove(folder)
        warp.synchronize()
    return (texels.numpy() * 255).round().astype("uint8").tobytes()


def cvcuda_bytes(self, array):
    self.finish()
    return grinterop.Tensor.from_dlpack(array.cuda()).tobytes(stream=self.stream)


def cvcuda_of(self, data, shape):
    """A tensor of CV-CUDA with these bytes."""
    tensor = grinterop.Tensor.from_dlpack(array_of(data, shape)).clone(stream=self.stream)
    self.stream.sync()
    return self.take(tensor)


def make_cvcuda(self, data, shape):
    """Flips the input twice, so that the result comes from a CV-CUDA operator."""
    flipped = array_of(data, shape)[::-1, ::-1].tobytes()
    return self.m.flip(self.of(flipped, shape), -1).cuda()


def decode_jpeg(self, shape):
    image = self.m.Decoder().decode(JPEG.read_bytes())
    if image is None:
        raise Unsupported("it could not decode a JPEG")
    return image, self.to_bytes(image), tuple(image.shape)


def decode_film(self, shape):
    demuxer = self.m.CreateDemuxer(filename=str(FILM))
    # The memory of a frame belongs to the decoder, which must stay alive.
    self.decoder = self.m.CreateDecoder(
        **{"gpuid": 0, "cudacontext": 0, "cudastream": 0, "usedevicememory": True},
        codec=demuxer.GetNvCodecId(),
        outputColorType=self.m.OutputColorType.RGB,
    )
    frame = next(frame for packet in demuxer for frame in self.decoder.Decode(packet))
    tensor = grinterop.Tensor.from_dlpack(frame)
    return frame, tensor.tobytes(stream=self.stream), tuple(tensor.shape)


# ---- The table -----------------------------------------------------------------------------------

# The members of each class; the last of the modules is self.m.
FRAMEWORKS = {
    "PyTorch": {
        "modules": ("torch",), "packages": ("torch",),
        "begin": lambda f: setattr(f, "on", "cuda" if f.m.cuda.is_available() else "cpu"),
        "pointer": lambda f, a: a.data_ptr(),
        "to_bytes": lambda f, a: a.cpu().numpy().tobytes(),
        "write": lambda f, a, d, s: a.copy_(f.make(d, s)),
        "make": lambda f, d, s: f.m.from_numpy(array_of(d, s)).to(f.on),
        "finish": lambda f: f.on == "cuda" and f.m.cuda.synchronize(),
    },
    "CuPy": {
        "modules": ("cupy",), "packages": ("cupy-cuda13x", "cupy-cuda12x", "cupy"),
        "begin": lambda f: f.m.zeros(1), "pointer": lambda f, a: a.data.ptr,
        "to_bytes": lambda f, a: f.m.asnumpy(a).tobytes(),
        "write": lambda f, a, d, s: a.set(array_of(d, s)),
        "make": lambda f, d, s: f.m.asarray(array_of(d, s)),
        "finish": lambda f: f.m.cuda.Device().synchronize(),
    },
    "CUDA Python": {
        "modules": ("cuda.core", "cuda.bindings.driver"), "begin": begin_cuda_python,
        "packages": ("cuda-core", "cuda-bindings"), "ask": ask,
        "take": lambda f, tensor: f.view.from_any_interface(tensor, stream_ptr=-1),
        "pointer": lambda f, a: a.ptr,
        "write": lambda f, a, d, s: f.ask(f.m.cuMemcpyHtoD(a.ptr, d, len(d))),
        "to_bytes": view_bytes, "make": make_memory, "take_array": read_array,
        "finish": lambda f: f.ask(f.m.cuCtxSynchronize()),
    },
    "NumPy": {
        "modules": ("numpy",), "packages": ("numpy",),
        # On a GPU, NumPy needs pinned memory, which both the CPU and the GPU can access.
        "begin": lambda f: setattr(
            f, "memory", "device" if grinterop.cuda_is_software() else "pinned"
        ),
        "take": lambda f, t: (
            f.m.from_dlpack(t) if t.__dlpack_device__()[0] != 2
            else refuse("it has no GPU arrays")(f)
        ),
        "pointer": lambda f, a: a.ctypes.data,
        "write": lambda f, a, d, s: a.__setitem__(..., array_of(d, s)),
        "make": lambda f, d, s: array_of(d, s),
    },
    "JAX": {
        "modules": ("jax",), "packages": ("jax",),
        "begin": lambda f: f.m.default_backend(),
        "take": lambda f, tensor: f.m.dlpack.from_dlpack(tensor),
        "pointer": lambda f, a: a.unsafe_buffer_pointer(),
        "write": refuse("its arrays are immutable"),
        "make": lambda f, d, s: f.m.numpy.asarray(array_of(d, s)).block_until_ready(),
        "finish": lambda f: f.m.effects_barrier(),
    },
    "Numba": {
        "modules": ("numba.cuda",), "packages": ("numba", "numba-cuda"),
        "take": lambda f, tensor: f.m.as_cuda_array(tensor),
        "pointer": lambda f, a: int(a.device_ctypes_pointer.value),
        "to_bytes": lambda f, a: a.copy_to_host().tobytes(),
        "write": lambda f, a, d, s: a.copy_to_device(array_of(d, s)),
        "make": lambda f, d, s: f.m.to_device(array_of(d, s)),
        "finish": lambda f: f.m.synchronize(),
    },
    "PyCUDA": {
        "modules": ("pycuda.gpuarray", "pycuda.driver"), "packages": ("pycuda",),
        "begin": begin_pycuda,
        "take": lambda f, tensor: sys.modules["pycuda.gpuarray"].GPUArray(
            tensor.shape, "uint8", base=tensor, gpudata=int(tensor.handle)
        ),
        "pointer": lambda f, a: int(a.gpudata),
        "to_bytes": lambda f, a: a.get().tobytes(),
        "write": lambda f, a, d, s: a.set(array_of(d, s)),
        "make": lambda f, d, s: sys.modules["pycuda.gpuarray"].to_gpu(array_of(d, s)),
        "take_array": refuse("it cannot wrap an existing CUDA array"),
        "finish": lambda f: f.context.synchronize(),
        # If a context is left on PyCUDA's stack, PyCUDA aborts the process.
        "close": lambda f: f.context.pop(),
    },
    "Warp": {
        "modules": ("warp",), "packages": ("warp-lang",),
        "begin": begin_warp, "take_array": sample_array,
        "pointer": lambda f, a: a.ptr,
        "to_bytes": lambda f, a: a.numpy().tobytes(),
        "write": lambda f, a, d, s: f.m.copy(a, f.make(d, s)),
        "make": lambda f, d, s: f.m.array(array_of(d, s), dtype=f.m.uint8, device="cuda:0"),
        "finish": lambda f: f.m.synchronize(),
    },
    "CV-CUDA": {
        "modules": ("cvcuda",), "packages": ("cvcuda-cu13", "cvcuda-cu12"),
        "take": lambda f, tensor: f.m.as_tensor(tensor, "HWC"),
        "pointer": lambda f, a: a.cuda().__cuda_array_interface__["data"][0],
        "to_bytes": cvcuda_bytes, "make": make_cvcuda, "of": cvcuda_of,
        "write": lambda f, a, d, s: f.m.copymakeborder_into(a, f.of(d, s), top=0, left=0),
        "finish": lambda f: f.m.Stream.current.sync(),
    },
    "nvImageCodec": {
        "modules": ("nvidia.nvimgcodec",),
        "packages": ("nvidia-nvimgcodec-cu13", "nvidia-nvimgcodec-cu12"),
        "take": lambda f, tensor: f.m.as_image(tensor),
        "to_bytes": lambda f, a: numpy.asarray(a.cpu()).tobytes(),
        "produce": decode_jpeg,
    },
    "PyNvVideoCodec": {
        "modules": ("PyNvVideoCodec",), "packages": ("PyNvVideoCodec",),
        "take": refuse("only its encoder accepts memory, and it returns a film"),
        "produce": decode_film,
    },
}


def allocate_own(self):
    """An array whose memory OpenGL and Vulkan can use."""
    with grinterop.exportable_memory():
        self.array = self.make(pattern(SHAPE, 9), SHAPE)
    self.finish()
    return self.array


def with_own(its):
    def begin(self):
        its["begin"](self)
        if grinterop.cuda_is_software():
            raise ImportError("its own memory needs a GPU")

    return {**its, "begin": begin, "own": allocate_own, "take": lambda f, tensor: f.array}


FRAMEWORKS |= {
    f"exportable_memory() of {name}": with_own(FRAMEWORKS[name]) for name in ("PyTorch", "CuPy")
}

# ---- Graphics objects ----------------------------------------------------------------------------


def gl_place(kind, make_own):
    """An OpenGL object with functions that fill, read and close it."""
    height, width, _ = SHAPE
    if make_own:
        resource = grinterop.GraphicsResource.create_gl_buffer_of(make_own())
        its = resource.gl_name, height * width * 4
        put, get = lambda data: gl.write_buffer(its[0], data), lambda: gl.read_buffer(*its)
    elif kind == "buffer":
        its = gl.buffer(height * width * 4), height * width * 4
        resource = grinterop.GraphicsResource.from_gl_buffer(its[0])
        put, get = lambda data: gl.write_buffer(its[0], data), lambda: gl.read_buffer(*its)
    else:
        its = gl.texture(width, height), width, height
        register = grinterop.GraphicsResource.from_gl_image
        resource = register(its[0], gl.TEXTURE_2D, flags="surface_load_store")
        put, get = lambda data: gl.write_texture(*its, data), lambda: gl.read_texture(*its)
    return resource, put, get, resource.close


def vulkan_place(device, kind, make_own):
    """The same with a Vulkan object, which a buffer of Vulkan fills and reads."""
    height, width, _ = SHAPE
    size, usage = height * width * 4, vk.TRANSFER_SRC | vk.TRANSFER_DST
    own = vk.Vulkan(device, size)
    if kind == "buffer":
        if make_own:
            resource = device.create_vk_buffer_of(make_own(), usage)
        else:
            resource = device.create_vk_buffer(size, usage)
        its, region = (resource.vk_buffer,), vk.buffer_copy(size)
        put = get = own.vkCmdCopyBuffer
    else:
        resource = device.create_vk_image(
            vk.R8G8B8A8_UNORM, width, height, usage | vk.IMAGE_SAMPLED, flags="surface_load_store"
        )
        its, region = (resource.vk_image, vk.LAYOUT_GENERAL), vk.image_copy(width, height)
        put, get = own.vkCmdCopyBufferToImage, own.vkCmdCopyImageToBuffer
    # Releases the new object to CUDA. Its contents are undefined.
    device.submit([resource], layout=vk.LAYOUT_UNDEFINED)

    def exchange(data=None):
        if data:
            own.bytes[:] = data
        copy, ends = (put, (own.buffer, *its)) if data else (get, (*its, own.buffer))
        own.run(resource, lambda it: copy(it, *ends, 1, region), layout=vk.LAYOUT_GENERAL)
        return bytes(own.bytes)

    return resource, exchange, exchange, lambda: (own.close(), resource.close())


# ---- Cells: every way from a graphics object to the framework or back ----------------------------


def compare(found, wanted):
    if len(found) != len(wanted):
        raise Different(f"{len(found)} bytes arrived, and {len(wanted)} were sent")
    if wrong := [i for i in range(len(wanted)) if found[i] != wanted[i]]:
        raise Different(f"{len(wrong)} of {len(wanted)} bytes differ, the first at {wrong[0]}")


def one_line(error):
    """An exception as text for the table."""
    text = " ".join(str(error).split()) or type(error).__name__
    kind = "" if isinstance(error, (Unsupported, Different)) else f"{type(error).__name__}: "
    return (kind + text)[:300]


class Cells:
    """All cells of one framework with one graphics object."""

    def __init__(self, framework, stream, kind, place):
        self.framework, self.stream, self.kind = framework, stream, kind
        self.resource, self.put, self.get, self.close = place

    def filled(self, seed):
        self.put(pattern(SHAPE, seed))
        return pattern(SHAPE, seed)

    def taken(self, tensor):
        array = self.framework.take(tensor)
        self.framework.finish()
        if self.framework.pointer(array) != tensor.handle:
            raise Different("the array is a copy: it has another pointer")
        return array

    @contextlib.contextmanager
    def mapped(self):
        with self.resource.map(stream=self.stream) as buffer:
            self.stream.sync()
            yield buffer
            self.framework.finish()

    def out_mapping(self):
        """The framework reads its array, which is the mapping."""
        data = self.filled(1)
        with self.mapped() as buffer:
            compare(self.framework.to_bytes(self.taken(buffer.tensor(SHAPE, "uint8"))), data)

    def out_array(self):
        """The framework wraps the CUarray of the image in one of its objects."""
        data = self.filled(2)
        with self.mapped() as buffer:
            compare(self.framework.take_array(buffer, SHAPE), data)

    def out_fetch(self):
        """Calls fetch() with a tensor, which the framework then imports."""
        data, memory = self.filled(3), self.framework.memory
        tensor = grinterop.Tensor.create(SHAPE, "uint8", stream=self.stream, memory=memory)
        grinterop.fetch(self.resource, tensor, stream=self.stream)
        self.stream.sync()
        compare(self.framework.to_bytes(self.taken(tensor)), data)

    def in_mapping(self):
        """The framework writes to its array, which is the mapping."""
        data = pattern(SHAPE, 4)
        self.filled(5)
        with self.mapped() as buffer:
            self.framework.write(self.taken(buffer.tensor(SHAPE, "uint8")), data, SHAPE)
        compare(self.get(), data)

    def in_publish(self):
        """Calls publish() with a tensor of the framework. RGB gets an opaque alpha channel."""
        self.filled(6)
        made, data, shape = self.framework.produce(SHAPE)
        self.framework.finish()
        grinterop.publish(self.resource, made, stream=self.stream)
        self.stream.sync()
        found = self.get()
        if self.kind == "image" and shape[-1] == 3:
            found, alpha = bytes(b for i, b in enumerate(found) if i % 4 != 3), found[3::4]
            compare(alpha, bytes([255]) * len(alpha))
        compare(found[: len(data)], data)

    def attempt(self, direction, way):
        """The result of one way. A publish and a fetch are one copy."""
        try:
            getattr(self, f"{direction}_{way}")()
        except Exception as error:
            result = "none" if isinstance(error, Unsupported) else "failed"
            return {"way": way, "result": result, "reason": one_line(error)}
        return {"way": way, "result": "works", "copies": int(way in ("publish", "fetch"))}


# ---- The process of one framework: writes lines of JSON ------------------------------------------

PLACES = ("OpenGL buffer", "OpenGL image", "Vulkan buffer", "Vulkan image")
WAYS = {
    "buffer": {"out": ("mapping", "fetch"), "in": ("mapping", "publish")},
    "image": {"out": ("array", "fetch"), "in": ("publish",)},
}
OWN_WAYS = {"buffer": {"out": ("mapping",), "in": ("mapping",)}, "image": {}}


def ways_of(name, place):
    return (OWN_WAYS if "own" in FRAMEWORKS[name] else WAYS)[place.split()[1]]


def run_child(name, pipe):
    def say(**what):
        print(json.dumps(what), file=pipe, flush=True)

    grinterop.cuda_load(allow_software=True)
    context, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
    about = gl.describe() if grinterop.cuda_is_software() else egl.describe()
    versions = f"grinterop {grinterop.__version__}, Python {sys.version.split()[0]}"
    say(machine={"software": grinterop.cuda_is_software(), "gpu": about, "versions": versions})
    try:
        framework = type(name, (Framework,), FRAMEWORKS[name])(context)
    except Exception as error:
        return say(absent=one_line(error))
    say(version=framework.version())
    vulkan = grinterop.VulkanDevice.headless(0)
    say(vulkan=vulkan.describe().removeprefix("Vulkan device ").split(" (UUID")[0])
    try:
        for title in PLACES:
            kind, own = title.split()[1], framework.own
            if not ways_of(name, title):
                continue
            place = vulkan_place(vulkan, kind, own) if title[0] == "V" else gl_place(kind, own)
            cells = Cells(framework, context, kind, place)
            for direction, ways in ways_of(name, title).items():
                say(cell=[title, direction], ways=[cells.attempt(direction, way) for way in ways])
            cells.close()
        del cells
        gc.collect()
        framework.close()
    except Exception:
        say(trouble=traceback.format_exc(limit=3))


# ---- All frameworks ------------------------------------------------------------------------------


def run(name, limit, folder):
    """Runs a framework in a process. Returns its row. The process writes to a file, since it would
    block on a full pipe.
    """
    row, said, log = {"name": name, "cells": {}, "trouble": []}, folder / "said", folder / "log"
    command = [sys.executable, __file__, "--child", name, "--pipe"]
    with open(said, "w") as pipe, open(log, "w") as text:
        try:
            files = {"stdin": subprocess.DEVNULL, "stdout": text, "stderr": text}
            command, files["pass_fds"] = [*command, str(pipe.fileno())], (pipe.fileno(),)
            status = subprocess.run(command, timeout=limit, check=False, **files).returncode
            ended = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        except subprocess.TimeoutExpired:
            status, ended = 1, f"not done after {limit:g} s"
    for line in map(json.loads, said.read_text().splitlines()):
        if "cell" in line:
            row["cells"][" ".join(line["cell"])] = line["ways"]
        elif "trouble" in line:
            row["trouble"].append(line["trouble"])
        else:
            row.update(line)
    if status:
        row["trouble"].append(f"{ended}: {log.read_text(errors='replace').strip()[-200:]}")
    return row


def cell(ways, notes):
    works = [way["copies"] for way in ways if way["result"] == "works"]
    if works:
        return str(min(works))
    text = "; ".join(f"{way['way']}: {way['reason']}" for way in ways) or "not run"
    return f"no ({notes.setdefault(text, len(notes) + 1)})"


def document(rows):
    """The machine, the table and the reasons, as docs/frameworks.md has them."""
    its = next((row for row in rows if "vulkan" in row), {"machine": {}})
    about = f"{datetime.date.today()}, {its['machine'].get('gpu')}. Vulkan: {its.get('vulkan')}. "
    texts, notes = [about + str(its["machine"].get("versions"))], {}
    lines = [["", *PLACES], ["---"] * 5]
    for row in (row for row in rows if row["cells"]):
        found = [
            [cell(row["cells"].get(f"{at} {way}", []), notes) for way in ways_of(row["name"], at)]
            for at in PLACES
        ]
        lines.append([f"{row['name']} {row['version']}", *(", ".join(pair) for pair in found)])
    texts += ["\n".join("| " + " | ".join(line) + " |" for line in lines)]
    texts += [f"{i}. {text}" for text, i in notes.items()]
    texts += [f"- {row['name']} was not run: {row['absent']}" for row in rows if "absent" in row]
    texts += [f"- {r['name']}: {' '.join(t.split())}" for r in rows for t in r["trouble"]]
    return "\n\n".join(text if text[:1] == "|" else textwrap.fill(text, 100) for text in texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for frameworks.md and frameworks.json")
    parser.add_argument("--only", default=",".join(FRAMEWORKS), help="names, with commas between")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each; 60")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--pipe", type=int, default=1, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        with os.fdopen(chosen.pipe, "w") as pipe:
            return run_child(chosen.child, pipe)
    names, rows = [name.strip() for name in chosen.only.split(",")], []
    if unknown := set(names) - set(FRAMEWORKS):
        parser.error(f"no framework is called {', '.join(unknown)}; there are: {chosen.only}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run(name, chosen.limit, Path(folder)))
        print(f"{name}: {len(rows[-1]['cells'])} cells", flush=True)
    print(text := document(rows))
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / "frameworks.md").write_text(text + "\n")
        (chosen.out / "frameworks.json").write_text(json.dumps(rows, indent=1) + "\n")
    ways = [way for row in rows for cell_ways in row["cells"].values() for way in cell_ways]
    failed = any(way["result"] == "failed" for way in ways)
    return int(failed or any(row["trouble"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
