# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Frameworks with arrays: NumPy, PyTorch, CuPy, JAX and Numba."""

import os

import grinterop
import numpy

from .base import Framework, Unsupported

# By default, the first JAX operation allocates three quarters of the GPU memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def array_of(data, shape):
    return numpy.frombuffer(data, numpy.uint8).reshape(shape).copy()


class NumPy(Framework):
    name = "NumPy"
    modules = ("numpy",)
    distributions = ("numpy",)

    def begin(self):
        # NumPy runs on the CPU. On a GPU, NumPy needs pinned memory, which both the CPU and the GPU
        # can access.
        self.memory = "device" if grinterop.is_software() else "pinned"

    def take(self, tensor):
        if tensor.__dlpack_device__()[0] == 2:
            raise Unsupported("it has no GPU arrays")
        return numpy.from_dlpack(tensor)

    def pointer(self, array):
        return array.ctypes.data

    def to_bytes(self, array):
        return array.tobytes()

    def write(self, array, data, shape):
        array[...] = array_of(data, shape)

    def make(self, data, shape):
        return array_of(data, shape)


class PyTorch(Framework):
    name = "PyTorch"
    modules = ("torch",)
    distributions = ("torch",)

    def begin(self):
        import torch

        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.zeros(1, device=self.device)

    def take(self, tensor):
        return self.torch.from_dlpack(tensor)

    def pointer(self, array):
        return array.data_ptr()

    def to_bytes(self, array):
        return array.cpu().numpy().tobytes()

    def write(self, array, data, shape):
        array.copy_(self.make(data, shape))

    def make(self, data, shape):
        return self.torch.from_numpy(array_of(data, shape)).to(self.device)

    def finish(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()


class CuPy(Framework):
    name = "CuPy"
    modules = ("cupy",)
    distributions = ("cupy-cuda13x", "cupy-cuda12x", "cupy")

    def begin(self):
        import cupy

        self.cupy = cupy
        cupy.zeros(1)

    def take(self, tensor):
        return self.cupy.from_dlpack(tensor)

    def pointer(self, array):
        return array.data.ptr

    def to_bytes(self, array):
        return self.cupy.asnumpy(array).tobytes()

    def write(self, array, data, shape):
        array[...] = self.make(data, shape)

    def make(self, data, shape):
        return self.cupy.asarray(array_of(data, shape))

    def finish(self):
        self.cupy.cuda.Device().synchronize()


class JAX(Framework):
    name = "JAX"
    modules = ("jax",)
    distributions = ("jax",)

    def begin(self):
        import jax

        self.jax = jax
        self.gpu = jax.default_backend() == "gpu"

    def take(self, tensor):
        return self.jax.dlpack.from_dlpack(tensor)

    def pointer(self, array):
        return array.unsafe_buffer_pointer()

    def to_bytes(self, array):
        return numpy.asarray(array).tobytes()

    def write(self, array, data, shape):
        raise Unsupported("its arrays are immutable")

    def make(self, data, shape):
        made = self.jax.numpy.asarray(array_of(data, shape))
        return made.block_until_ready()

    def finish(self):
        self.jax.effects_barrier()


class Numba(Framework):
    name = "Numba"
    modules = ("numba.cuda",)
    distributions = ("numba-cuda",)

    def begin(self):
        from numba import cuda

        self.cuda = cuda

    def version(self):
        import numba

        return f"{numba.__version__}, numba-cuda {super().version()}"

    def take(self, tensor):
        return self.cuda.as_cuda_array(tensor)

    def pointer(self, array):
        return int(array.device_ctypes_pointer.value)

    def to_bytes(self, array):
        return array.copy_to_host().tobytes()

    def write(self, array, data, shape):
        array.copy_to_device(array_of(data, shape))

    def make(self, data, shape):
        return self.cuda.to_device(array_of(data, shape))

    def finish(self):
        self.cuda.synchronize()
