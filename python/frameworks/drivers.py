# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Low-level frameworks: CUDA Python, PyCUDA and Warp."""

import importlib.metadata

import numpy

from .arrays import array_of
from .base import Framework, Unsupported

HOST, ARRAY = 1, 3


def whole(driver, shape):
    """Describes a copy of contiguous rows."""
    copy = driver.CUDA_MEMCPY2D()
    copy.WidthInBytes = shape[1] * shape[2]
    copy.Height = shape[0]
    return copy


class CUDAPython(Framework):
    name = "CUDA Python"
    modules = ("cuda.core", "cuda.bindings.driver")

    def begin(self):
        from cuda.bindings import driver
        from cuda.core import Device

        self.driver = driver
        self.device = Device(0)
        self.device.set_current()
        self.own_stream = self.device.create_stream()

    def version(self):
        core, bindings = (
            importlib.metadata.version(name) for name in ("cuda-core", "cuda-bindings")
        )
        return f"cuda.core {core}, cuda.bindings {bindings}"

    def ask(self, answer):
        """Returns the result of a driver call, or raises its error."""
        if answer[0] != self.driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(str(answer[0]))
        return answer[1] if len(answer) > 1 else None

    def take(self, tensor):
        from cuda.core.utils import StridedMemoryView

        return StridedMemoryView.from_any_interface(tensor, stream_ptr=-1)

    def pointer(self, array):
        return array.ptr

    def to_bytes(self, array):
        size = int(numpy.prod(array.shape))
        data = bytearray(size)
        self.ask(self.driver.cuMemcpyDtoH(data, array.ptr, size))
        return bytes(data)

    def write(self, array, data, shape):
        self.ask(self.driver.cuMemcpyHtoD(array.ptr, data, len(data)))

    def make(self, data, shape):
        import grinterop

        memory = self.device.allocate(len(data), stream=self.own_stream)
        self.own_stream.sync()
        self.ask(self.driver.cuMemcpyHtoD(int(memory.handle), data, len(data)))
        return grinterop.Tensor.wrap(int(memory.handle), shape, "uint8", owner=memory)

    def take_array(self, buffer, shape):
        data = numpy.zeros(shape, numpy.uint8)
        copy = whole(self.driver, shape)
        copy.srcMemoryType = self.driver.CUmemorytype(ARRAY)
        copy.srcArray = self.driver.CUarray(buffer.array())
        copy.dstMemoryType = self.driver.CUmemorytype(HOST)
        copy.dstHost = data.ctypes.data
        copy.dstPitch = shape[1] * shape[2]
        self.ask(self.driver.cuMemcpy2D(copy))
        return data.tobytes()

    def finish(self):
        self.ask(self.driver.cuCtxSynchronize())


class PyCUDA(Framework):
    name = "PyCUDA"
    modules = ("pycuda.driver", "pycuda.gpuarray")
    distributions = ("pycuda",)

    def begin(self):
        import pycuda.driver
        from pycuda import gpuarray

        self.driver, self.gpuarray = pycuda.driver, gpuarray
        pycuda.driver.init()
        self.context = pycuda.driver.Device(0).retain_primary_context()
        self.context.push()

    def take(self, tensor):
        return self.gpuarray.GPUArray(
            tensor.shape, numpy.uint8, base=tensor, gpudata=int(tensor.handle)
        )

    def pointer(self, array):
        return int(array.gpudata)

    def to_bytes(self, array):
        return array.get().tobytes()

    def write(self, array, data, shape):
        array.set(array_of(data, shape))

    def make(self, data, shape):
        return self.gpuarray.to_gpu(array_of(data, shape))

    def take_array(self, buffer, shape):
        data = numpy.zeros(shape, numpy.uint8)
        copy = self.driver.Memcpy2D()
        try:
            copy.set_src_array(self.driver.Array.from_handle(buffer.array()))
        except AttributeError:
            raise Unsupported("it cannot wrap an existing CUDA array") from None
        copy.set_dst_host(data)
        copy.width_in_bytes = copy.dst_pitch = shape[1] * shape[2]
        copy.height = shape[0]
        copy(aligned=True)
        return data.tobytes()

    def finish(self):
        self.context.synchronize()

    def close(self):
        # If a context is left on PyCUDA's stack, PyCUDA aborts the process.
        self.context.pop()


class Warp(Framework):
    name = "Warp"
    modules = ("warp",)
    distributions = ("warp-lang",)

    def begin(self):
        import warp

        warp.config.quiet = True
        warp.init()
        if not warp.is_cuda_available():
            raise ImportError("Warp finds no GPU")
        self.warp = warp

    def take(self, tensor):
        return self.warp.from_dlpack(tensor)

    def pointer(self, array):
        return array.ptr

    def to_bytes(self, array):
        return array.numpy().tobytes()

    def write(self, array, data, shape):
        self.warp.copy(array, self.make(data, shape))

    def make(self, data, shape):
        return self.warp.array(array_of(data, shape), dtype=self.warp.uint8, device="cuda:0")

    def take_array(self, buffer, shape):
        from .warp_kernel import sample

        warp = self.warp
        image = warp.Texture2D(
            device="cuda:0",
            normalized_coords=False,
            filter_mode=warp.TextureFilterMode.CLOSEST,
            cuda_array=buffer.array(),
        )
        texels = warp.zeros((shape[0], shape[1]), dtype=warp.vec4f, device="cuda:0")
        warp.launch(sample, dim=(shape[1], shape[0]), inputs=[image, texels], device="cuda:0")
        warp.synchronize()
        return numpy.rint(texels.numpy() * 255).astype(numpy.uint8).tobytes()

    def finish(self):
        self.warp.synchronize()
