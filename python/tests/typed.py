# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The documented programs, as type checkers see them. check-types runs mypy and pyright on this
file; nothing runs it. An ignored line must be an error.
"""

import numpy
from typing_extensions import assert_type

import grinterop
from grinterop import Buffer, CudaContext, GraphicsResource, Ring, Slots, Tensor


class Resource(GraphicsResource):
    pass


def mappings(name: int, cuda: CudaContext) -> None:
    with GraphicsResource.from_gl_buffer(name, stream=cuda) as buffer:
        assert_type(buffer, Buffer)
    with GraphicsResource.from_gl_buffer(name, flags="write_discard") as resource:
        assert_type(resource, GraphicsResource)
    with Resource.from_gl_image(name, 0x0DE1) as mine:
        assert_type(mine, Resource)
    with resource.map(stream=cuda, flags=["read_only"]) as buffer:
        assert_type(buffer, Buffer)
        assert_type(buffer.tensor((4, 4), numpy.float32), Tensor)
        assert_type(buffer.image_info()["width"], int)
        buffer.fill(b"\0\1", stream=buffer.stream)
    with grinterop.map_many([resource], stream=0) as buffers:
        assert_type(buffers[0], Buffer)
    resource.map()  # type: ignore[call-arg]
    resource.map(stream="s")  # type: ignore[arg-type]


def rings(ring: Ring, cuda: CudaContext) -> None:
    with ring.acquire_write(stream=cuda) as slot:
        assert_type(slot, Slots[Buffer])
        assert_type(slot.buffer.handle, int)
    with ring.acquire_read(2, timeout=0.5) as slots:
        assert_type(slots.buffer, None)
        assert_type(slots.resources, tuple[GraphicsResource, ...])
    any_side(slot)
    any_side(slots)


async def awaited(ring: Ring) -> None:
    with await ring.write(stream=1) as slot:
        assert_type(slot, Slots[Buffer])
    assert_type(await ring.read(), Slots[None])


def any_side(slots: Slots) -> None:
    assert_type(slots.buffer, Buffer | None)


def tensors(resource: GraphicsResource, cuda: CudaContext) -> None:
    pixels = numpy.zeros((2, 2, 4), numpy.uint8)
    tensor = Tensor.from_dlpack(pixels).clone(stream=cuda)
    assert_type(tensor, Tensor)
    assert_type(memoryview(tensor).nbytes, int)
    grinterop.publish(resource, tensor, stream=cuda, layout="hwc", scale=(1, 0.5))
    grinterop.publish(resource, (pixels, tensor), stream=cuda, layout="nv12")
    grinterop.fetch(resource, pixels, stream=cuda)
    images = {"color": pixels, "depth": tensor}
    grinterop.fetch_framebuffer(0, images, stream=cuda)
    mixed = {"color": pixels, 0x8CE1: tensor, numpy.int32(0x8D00): pixels}
    grinterop.fetch_framebuffer(0, mixed, stream=cuda)
    level = numpy.uint32(0)
    grinterop.publish(resource, pixels, stream=cuda, level=level, layer=level, bits=level)
    resource.map_linear(level, numpy.int64(0), stream=cuda)
    GraphicsResource.create_gl_buffer(64, flags=level, transports=["interop", "copy"])
    GraphicsResource.create_gl_buffer(64, transports=[None])  # type: ignore[list-item]
    assert_type(tensor.planes, tuple[Tensor, ...])
    grinterop.fetch_framebuffer(0, pixels, stream=cuda, attachment="color1")
    grinterop.publish(resource, tensor, stream=cuda, layout="hcw")  # type: ignore[arg-type]
    grinterop.publish(resource, 5, stream=cuda)  # type: ignore[arg-type]


def errors() -> None:
    try:
        grinterop.cuda_load(allow_software=True)
    except grinterop.CUDAError as error:
        assert_type(error.code_name, str)
    last = grinterop.last_error()
    if last:
        assert_type(last.status, str)
    assert_type(grinterop.gl_probe("shared").reason, str)
