# SPDX-License-Identifier: Apache-2.0 OR MIT
"""CUDA arrays as tensors, as ovrtx and Warp exchange them."""

from types import SimpleNamespace

import pytest

import grinterop
from grinterop import GraphicsResource, Tensor

import gl
from conftest import refuses

TEXELS = bytes(i * 5 % 256 for i in range(16 * 16 * 4))


@pytest.fixture
def image(egl):
    egl.make_current()
    name = gl.texture(16, 16, data=TEXELS)
    resource = GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, flags="surface_load_store")
    yield resource
    resource.close()


def test_mapped_image_gives_array_tensors(image, cuda):
    with image.map(stream=cuda) as buffer:
        tensor = buffer.tensor(memory="array")
        assert tensor.memory == "array" and tensor.array == buffer.array() and tensor.handle == 0
        assert tensor.shape == (16, 16, 4) and tensor.dtype == "uint8" and tensor.layout == "hwc"
        assert tensor.__dlpack_device__() == (2, tensor.device)
        assert not hasattr(tensor, "__cuda_array_interface__")
        assert tensor.tobytes(stream=cuda) == TEXELS
        linear = tensor.clone(stream=cuda)
        assert linear.memory == "device" and linear.array == 0 and linear.handle
        assert linear.tobytes(stream=cuda) == TEXELS
        refuses(BufferError, lambda: memoryview(tensor))
        tensor.close()


def test_array_is_exchanged_by_dlpack(image, cuda):
    with image.map(stream=cuda) as buffer:
        tensor = buffer.tensor(memory="array")
        # Of an object of another framework only the DLPack methods can be used.
        renderer = SimpleNamespace(
            __dlpack__=tensor.__dlpack__, __dlpack_device__=tensor.__dlpack_device__
        )
        with Tensor.from_dlpack(renderer, stream=cuda) as taken:
            assert taken.memory == "array" and taken.array == tensor.array
            assert taken.tobytes(stream=cuda) == TEXELS
        with Tensor.from_dlpack(tensor.__dlpack__(max_version=(1, 3))) as taken:
            assert taken.array == tensor.array
        with Tensor.from_memory(tensor.array, None, memory="array", read_only=True) as wrapped:
            assert wrapped.array == tensor.array and wrapped.is_read_only
            assert wrapped.tobytes(stream=cuda) == TEXELS
        tensor.close()


def test_array_is_published(image, egl, cuda):
    other = GraphicsResource.from_gl_image(gl.texture(16, 16), gl.TEXTURE_2D)
    with image.map(stream=cuda) as buffer:
        with buffer.tensor(memory="array") as tensor:
            grinterop.publish(other, tensor, stream=cuda)
    found = Tensor.create((16, 16, 4), stream=cuda)
    grinterop.fetch(other, found, stream=cuda)
    assert found.tobytes(stream=cuda) == TEXELS
    other.close()


def test_invalid_array_tensors_are_refused(image, resource, cuda):
    with image.map(stream=cuda) as buffer:
        for arguments in ({"shape": (4, 4, 4)}, {"dtype": "float32"}):
            refuses(ValueError, lambda: buffer.tensor(memory="array", **arguments))
    with resource.map(stream=cuda) as buffer:
        refuses((ValueError, RuntimeError), lambda: buffer.tensor(memory="array"))
    refuses(
        grinterop.CUDAError,
        lambda: Tensor.create((4, 4, 4), memory="array"),
        lambda: Tensor.from_memory(0, None, memory="array"),
    )
