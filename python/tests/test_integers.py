# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Integers that do not fit into a parameter are refused, and not wrapped modulo 2^32 or 2^64."""

import os
import random

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Semaphore, Tensor, VulkanDevice

import gl
from conftest import refuses

TRANSFER = 3
RGBA8 = 37
IMAGE_NAMES = "width height depth levels placed_levels layers channels".split()


def replaced(call, *good):
    """Variants of a call, each of which replaces one of its arguments."""
    return [lambda v, i=i: call(*good[:i], v, *good[i + 1 :]) for i in range(len(good))]


def named(call, *names):
    """Variants of a call, each with one keyword argument."""
    return [lambda v, name=name: call(**{name: v}) for name in names]


@pytest.fixture
def calls(egl, cuda, vulkan, resource, tmp_path):
    """The calls with each integer parameter, by the bits of the parameter."""
    egl.make_current()
    texture = gl.texture(8, 8, data=bytes(256))
    image = GraphicsResource.from_gl_image(texture, gl.TEXTURE_2D, flags="surface_load_store")
    buffer = image.map(stream=cuda)
    bytes_of = resource.map(stream=cuda)
    tensor = Tensor.create((8, 8, 4), stream=cuda)
    ring = grinterop.Ring([GraphicsResource.create_gl_buffer(64)])
    fd = os.open(tmp_path, os.O_RDONLY)
    R, vk = GraphicsResource, vulkan

    def read(**four):
        grinterop.fetch_framebuffer(0, tensor, stream=cuda, **four)

    def publish(**options):
        grinterop.publish(buffer, tensor, stream=cuda, **options)

    def fetch(**options):
        grinterop.fetch(buffer, tensor, stream=cuda, **options)

    def external(**sizes):
        R.from_fd(fd, 64, image={"format": "u8", **sizes})

    yield {
        32: [
            R.from_gl_buffer,
            lambda v: R.from_gl_buffer(1, flags=v),
            lambda v: R.from_gl_buffer(1, flags="read_only", in_flight=v),
            lambda v: R.create_gl_buffer(64, flags="read_only", in_flight=v),
            *replaced(R.from_gl_image, 1, gl.TEXTURE_2D),
            *replaced(R.create_gl_image, gl.TEXTURE_2D, gl.RGBA8, 4, 4, 0, 0),
            *named(read, "x", "y", "width", "height", "columns"),
            lambda v: read(rectangle=(0, 0, 1, v)),
            lambda v: grinterop.fetch_framebuffer(v, tensor, stream=cuda),
            lambda v: grinterop.fetch_framebuffer(0, tensor, stream=cuda, attachment=v),
            *named(publish, "level", "layer", "x", "y", "width", "height"),
            *named(fetch, "level", "layer", "layers", "z", "depth", "columns"),
            *named(lambda **o: buffer.copy_to_linear(tensor.handle, **o), "z", "depth", "layers"),
            *named(lambda **o: buffer.copy_from_linear(tensor.handle, **o), "x", "y", "width"),
            lambda v: image.map_linear(v, 0, stream=cuda),
            lambda v: image.map_linear(0, v, stream=cuda),
            *replaced(buffer.array, 0, 0),
            *replaced(buffer.surface, 0, 0),
            *named(buffer.texture, "level", "layer", "level_count", "anisotropy"),
            *replaced(buffer.copy_to_linear, tensor.handle, 0, 0)[1:],
            *replaced(buffer.copy_from_linear, tensor.handle, 0, 0)[1:],
            *named(external, *IMAGE_NAMES[3:]),
            lambda v: VulkanDevice(1, 1, 1, 1, v, get_instance_proc_addr=1),
            lambda v: vk.create_vk_buffer(64, v),
            *replaced(vk.create_vk_image, RGBA8, 4, 4, TRANSFER),
            *named(lambda **o: vk.create_vk_image(37, 4, 4, 3, **o), "depth", "levels", "layers"),
            *replaced(vk.from_vk_image, 1, 1, 1, RGBA8, 4, 4, TRANSFER)[3:],
            lambda v: vk.from_vk_image(1, 1, 1, RGBA8, 4, 4, TRANSFER, in_flight=v),
            lambda v: vk.from_vk_buffer(1, 1, 64, 64, in_flight=v),
            lambda v: vk.submit([], layout=v),
        ],
        63: [
            R.create_gl_buffer,
            lambda v: ring.acquire_write(v, stream=cuda, timeout=0),
            lambda v: ring.acquire_read(v, timeout=0),
            *named(publish, "offset"),
            *named(fetch, "offset"),
            *named(lambda **o: grinterop.map_many([resource], stream=cuda, **o), "offset", "size"),
            lambda v: grinterop.map_many([resource], stream=cuda, parts=[(v, 0)]),
            lambda v: bytes_of.tensor((1,), offset=v),
            lambda v: tensor.view((1,), offset=v),
            *named(lambda **o: buffer.copy_to_linear(tensor.handle, **o), "pitch", "slice"),
            *named(lambda **o: buffer.copy_from_linear(tensor.handle, **o), "pitch", "slice"),
            lambda v: R.from_fd(fd, v),
            *named(lambda **o: R.from_fd(fd, 64, **o), "offset", "length"),
            *named(external, *IMAGE_NAMES[:3]),
            lambda v: R.from_win32(1, v),
            lambda v: R.from_nvscibuf(1, v),
            *named(lambda **o: R.from_same_memory(image, **o), "offset", "length"),
        ],
        64: [
            lambda v: Tensor.from_memory(v, 4),
            buffer.copy_to_linear,
            lambda v: Semaphore.from_fd(fd, value=v),
            lambda v: Semaphore.from_win32(1, value=v),
            Semaphore.from_nvscisync,
            *replaced(VulkanDevice, 1, 1, 1, 1, 0)[:4],
            lambda v: VulkanDevice(1, 1, 1, 1, 0, get_instance_proc_addr=v),
            lambda v: vk.create_vk_buffer(v, TRANSFER),
            *replaced(vk.from_vk_buffer, 1, 1, 64, 64),
            lambda v: vk.from_vk_buffer(1, 1, 64, 64, offset=v),
            *replaced(vk.from_vk_image, 1, 1, 1, RGBA8, 4, 4, TRANSFER)[:3],
            lambda v: vk.from_vk_image(1, 1, 1, RGBA8, 4, 4, TRANSFER, offset=v),
            *named(lambda **o: vk.submit([], **o), "stages", "access", "fence", "queue"),
            lambda v: vk.submit([], [v]),
        ],
    }
    os.fstat(fd)
    os.close(fd)
    buffer.close()
    bytes_of.close()
    image.close()


class Integer:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_integers_that_do_not_fit_are_refused(calls):
    """Catches: publish(level=2**32) wrote level 0, and from_fd(size=2**64 + 64) took the fd."""
    chosen = random.Random(1)
    for bits, all_calls in calls.items():
        for call in all_calls:
            negative = [-1, np.int64(-1), -(2**31), -(2**63), -(2**70), -chosen.getrandbits(40) - 1]
            for value in negative:
                words = f"{int(value)} is negative"
                refuses(grinterop.InvalidValueError, lambda: call(value), match=words)
            for value in [2**bits, 2**64 + 1, 2**70, 2**bits + chosen.getrandbits(60)]:
                refuses(OverflowError, lambda: call(Integer(value)), match="does not fit")
            for value in [1.5, 1.0, np.float32(1), "1", b"1", [1]]:
                refuses((TypeError, ValueError), lambda: call(value))


@pytest.mark.parametrize("value", [-1, -0.5, float("nan")])
def test_invalid_timeouts_are_in_the_message(value):
    refuses(ValueError, lambda: grinterop.Tensor.collect(value), match=f"but is {value}")
