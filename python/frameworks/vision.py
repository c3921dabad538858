# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Imaging frameworks: CV-CUDA, nvImageCodec and PyNvVideoCodec."""

import functools
import subprocess
import sys
from pathlib import Path

import numpy

import grinterop

from .arrays import array_of
from .base import Framework, Unsupported

DATA = Path(__file__).resolve().parents[1] / "data"


def device_tensor(data, shape, stream):
    """A GPU tensor with these bytes, as the input of a framework."""
    tensor = grinterop.Tensor.alloc(shape, "uint8", stream=stream)
    host = array_of(data, shape)
    tensor.copy_from(
        grinterop.Tensor.wrap(host.ctypes.data, shape, "uint8", memory="host", owner=host),
        stream=stream,
    )
    stream.sync()
    return tensor


class CVCUDA(Framework):
    name = "CV-CUDA"
    modules = ("cvcuda",)
    distributions = ("cvcuda-cu13", "cvcuda-cu12")

    def begin(self):
        import cvcuda

        self.cvcuda = cvcuda

    def take(self, tensor):
        return self.cvcuda.as_tensor(tensor, "HWC")

    def pointer(self, array):
        return array.cuda().__cuda_array_interface__["data"][0]

    def to_bytes(self, array):
        self.finish()
        return grinterop.Tensor.from_dlpack(array.cuda()).tobytes(stream=self.stream)

    def write(self, array, data, shape):
        source = self.take(device_tensor(data, shape, self.stream))
        self.cvcuda.copymakeborder_into(array, source, top=0, left=0)

    def make(self, data, shape):
        # Flips the input twice, so that the result comes from a CV-CUDA operator.
        flipped = array_of(data, shape)[::-1, ::-1].tobytes()
        source = self.take(device_tensor(flipped, shape, self.stream))
        return self.cvcuda.flip(source, -1).cuda()

    def finish(self):
        self.cvcuda.Stream.current.sync()


class NvImageCodec(Framework):
    name = "nvImageCodec"
    modules = ("nvidia.nvimgcodec",)
    distributions = ("nvidia-nvimgcodec-cu13", "nvidia-nvimgcodec-cu12")

    def begin(self):
        from nvidia import nvimgcodec

        self.codec = nvimgcodec
        self.decoder = nvimgcodec.Decoder()

    def take(self, tensor):
        return self.codec.as_image(tensor)

    def to_bytes(self, array):
        return numpy.asarray(array.cpu()).tobytes()

    def produce(self, shape):
        image = self.decoder.decode((DATA / "quadrants.jpg").read_bytes())
        if image is None:
            raise Unsupported("it could not decode a JPEG")
        return image, self.to_bytes(image), {"shape": tuple(image.shape)}


@functools.cache
def has_encoder():
    """Checks in another process whether there is an encoder: without one, the check destroys the
    CUDA context.
    """
    question = 'import PyNvVideoCodec as c; c.CreateEncoder(256, 256, "ABGR", False)'
    asked = subprocess.run([sys.executable, "-c", question], capture_output=True, timeout=60)
    return asked.returncode == 0


class PyNvVideoCodec(Framework):
    name = "PyNvVideoCodec"
    modules = ("PyNvVideoCodec",)
    distributions = ("PyNvVideoCodec",)

    def begin(self):
        import PyNvVideoCodec

        self.codec = PyNvVideoCodec

    def frames(self, **options):
        """Yields the decoded frames of the film."""
        demuxer = self.codec.CreateDemuxer(filename=str(DATA / "quadrants.h264"))
        decoder = self.codec.CreateDecoder(
            gpuid=0,
            codec=demuxer.GetNvCodecId(),
            cudacontext=0,
            cudastream=0,
            usedevicememory=True,
            **options,
        )
        for packet in demuxer:
            yield from decoder.Decode(packet)

    def take(self, tensor):
        if not has_encoder():
            raise Unsupported("only its encoder accepts memory, and this GPU has no encoder")
        self.codec.CreateEncoder(256, 256, "ABGR", False).Encode(tensor)
        raise Unsupported("only its encoder accepts memory, and it returns a film")

    def produce(self, shape):
        # The memory of a frame belongs to the decoder, and the film keeps the decoder alive.
        self.film = self.frames(outputColorType=self.codec.OutputColorType.RGB)
        frame = next(self.film)
        tensor = grinterop.Tensor.from_dlpack(frame)
        return frame, tensor.tobytes(stream=self.stream), {"shape": tuple(tensor.shape)}


def nv12(frame):
    """Imports a decoded frame. DLPack passes both planes of the frame as one tensor."""
    return grinterop.Tensor.from_dlpack(frame, layout="nv12")
