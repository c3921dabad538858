# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Vulkan devices by integer handles. test_frameworks.py checks that the bytes arrive."""

import ctypes
import gc

import numpy
import pytest

import grinterop
from grinterop import VulkanDevice

import vk

from conftest import refuses

TRANSFER = 3
RGBA8, A2B10G10R10 = 37, 64
PACKED = {4: 1 / 31, A2B10G10R10: 1 / 1023, 122: 1 / 32, 123: 1 / 512}  # and their steps


@pytest.fixture(params=["without copy", "copy"])
def vulkan(cuda, request):
    with VulkanDevice.headless(0, transports=request.param) as device:
        yield device


def test_headless_device_has_handles(vulkan):
    handles = (vulkan.instance, vulkan.physical_device, vulkan.device, vulkan.queue)
    assert all(handles) and vulkan.get_instance_proc_addr
    assert vulkan.cuda_device == 0 and not vulkan.is_closed
    assert "CUDA device 0" in vulkan.describe()


@pytest.mark.parametrize("has_instance", [True, False])
def test_device_is_wrapped_by_handles_alone(vulkan, has_instance):
    again = VulkanDevice(
        vulkan.instance if has_instance else 0, vulkan.physical_device, vulkan.device, vulkan.queue,
        vulkan.queue_family,
        get_instance_proc_addr=vulkan.get_instance_proc_addr if has_instance else 0,
    )
    assert "by copies" not in again.describe()
    resource = again.create_vk_buffer(4096, TRANSFER)
    assert resource.vk_buffer and resource.vk_memory and resource.vk_image is None
    assert resource.api == "vulkan" and resource.size == 4096 and resource.gl_name is None


def test_buffer_maps_after_a_submit(vulkan, cuda):
    resource = vulkan.create_vk_buffer(256, TRANSFER, flags="write_discard")
    vulkan.submit([resource], layout=0)
    with resource.map(stream=cuda) as buffer:
        assert buffer.handle and buffer.size == 256
    resource.close()


def test_submit_takes_any_number_of_resources_and_commands(vulkan, cuda):
    resources = [vulkan.create_vk_buffer(256, TRANSFER) for _ in range(65)]
    helper, commands = vk.Vulkan(vulkan, 256), (ctypes.c_void_p * 65)()
    allocate = vk.CommandBufferAllocateInfo(sType=40, pool=helper.pool, count=len(commands))
    helper.vkAllocateCommandBuffers(vulkan.device, ctypes.byref(allocate), commands)
    for one in map(ctypes.c_void_p, commands):
        helper.vkBeginCommandBuffer(one, ctypes.byref(vk.CommandBufferBeginInfo(sType=42)))
        helper.vkEndCommandBuffer(one)
    vulkan.submit(resources, commands, layout=0)
    with grinterop.map_many(resources, stream=cuda) as buffers:
        assert all(buffer.handle for buffer in buffers)
    for resource in resources:
        resource.close()
    helper.close()


def test_frames_in_flight(cuda):
    with VulkanDevice.headless(0, transports="any") as device:
        shared = device.create_vk_buffer(256, TRANSFER)
        options = {"memory": 0, "memory_size": 0, "size": 256, "in_flight": 2}
        written = device.from_vk_buffer(shared.vk_buffer, flags="write_discard", **options)
        read = device.from_vk_buffer(shared.vk_buffer, flags="read_only", **options)
        assert "2 staging buffers of 256 bytes" in written.describe()
        seen = [numpy.zeros(256, "u1") for _ in range(5)]
        addresses = set()
        for frame, data in enumerate(seen):
            with written.map(stream=cuda) as buffer:
                addresses.add(buffer.handle)
                buffer.fill(frame + 1, stream=cuda)
            device.submit([written])
            device.submit([read])
            grinterop.fetch(read, data, stream=cuda)
        cuda.sync()
        assert [set(data) for data in seen] == [{frame + 1} for frame in range(5)]
        assert len(addresses) == (2 if written.transport == "peer" else 1)
        for resource in (written, read, shared):
            resource.close()


def test_frames_in_flight_that_are_impossible_are_refused(vulkan):
    image = [1, 0, 0, RGBA8, 8, 4, TRANSFER]
    for count in (1, 65):
        for call in (
            lambda n=count: vulkan.from_vk_buffer(1, 0, 0, 64, flags="read_only", in_flight=n),
            lambda n=count: vulkan.from_vk_image(*image, flags="read_only", in_flight=n),
        ):
            with pytest.raises(grinterop.InvalidValueError, match="pass 2 to 64"):
                call()
    with pytest.raises(grinterop.InvalidValueError, match="read_write"):
        vulkan.from_vk_buffer(1, 0, 0, 64, in_flight=2)


def test_publish_fills_a_vulkan_image(vulkan, cuda):
    image = vulkan.create_vk_image(RGBA8, 8, 4, TRANSFER, flags="surface_load_store")
    assert image.vk_image and image.vk_buffer is None and image.kind == "image"
    vulkan.submit([image], layout=0)
    tensor = grinterop.Tensor.create((4, 8, 4), "uint8", stream=cuda)
    grinterop.publish(image, tensor, stream=cuda)
    found = grinterop.Tensor.create((4, 8, 4), "uint8", stream=cuda)
    grinterop.fetch(image, found, stream=cuda)
    assert found.tobytes(stream=cuda) == tensor.tobytes(stream=cuda)


@pytest.mark.parametrize("format", PACKED)
def test_packed_images_are_converted(vulkan, cuda, format):
    image = vulkan.create_vk_image(format, 8, 4, TRANSFER)
    vulkan.submit([image], layout=0)
    red = numpy.tile(numpy.array([1, 0.5, 0, 1], "f4"), (4, 8, 1))
    found, y = numpy.empty_like(red), numpy.empty((12, 8), "u2")
    grinterop.publish(image, red, stream=cuda)
    grinterop.fetch(image, found, stream=cuda)
    assert abs(found - red).max() <= 0.5 * PACKED[format]
    grinterop.fetch(image, y, stream=cuda, layout="yuv444", bits=10, full_range=True)
    assert (abs(y[:4] - (0.2126 + 0.7152 * found[0, 0, 1]) * 1023) <= 1).all()
    with pytest.raises(grinterop.UnsupportedError, match="10:10:10:2|11:11:10|9:9:9:5|5:6:5"):
        grinterop.publish(image, y, stream=cuda, layout="yuv444", bits=10)


def test_resources_keep_the_device(cuda):
    vulkan = VulkanDevice.headless(0)
    resource = vulkan.create_vk_buffer(64, TRANSFER)
    vulkan.close()
    del vulkan
    gc.collect()
    assert resource.vk_buffer
    resource.close()


def test_tensors_keep_the_device(cuda):
    """Catches: the VkDevice was destroyed before the buffer, which a tensor kept alive."""
    numpy = pytest.importorskip("numpy")
    vulkan = VulkanDevice.headless(0)
    resource = vulkan.create_vk_buffer(64, TRANSFER)
    vulkan.submit([resource], layout=0)
    buffer = resource.map(stream=cuda)
    tensor = buffer.tensor()
    array = numpy.from_dlpack(tensor) if grinterop.cuda_is_software() else tensor
    if grinterop.cuda_is_software():
        array[:] = 7
    del buffer, resource, vulkan, tensor
    gc.collect()
    if grinterop.cuda_is_software():
        assert array.sum() == 7 * 64
    del array
    gc.collect()
    grinterop.Tensor.collect()


def test_describe_reports_copies(cuda):
    with VulkanDevice.headless(transports="copy") as vulkan:
        assert "by copies through host memory" in vulkan.describe()
        resource = vulkan.create_vk_buffer(64, TRANSFER)
        assert "transport copy" in resource.describe()
        resource.close()
    with VulkanDevice.headless(transports="peer") as vulkan:
        resource = vulkan.create_vk_buffer(64, TRANSFER)
        assert "transport peer" in resource.describe()
        resource.close()
    with VulkanDevice.headless(transports="any") as vulkan:
        assert "by copies" not in vulkan.describe()


def test_closed_device_is_refused(vulkan):
    vulkan.close()
    vulkan.close()
    assert vulkan.is_closed
    for call in (vulkan.describe, lambda: vulkan.create_vk_buffer(4, 1), lambda: vulkan.submit([])):
        refuses(RuntimeError, call, match="closed")


def test_invalid_vulkan_arguments_are_refused(vulkan):
    refuses(ValueError, lambda: VulkanDevice(0, 0, 0, 0, 0))
    refuses(ValueError, lambda: VulkanDevice.headless(transports="shared"), match="transport")
    refuses(ValueError, lambda: vulkan.create_vk_buffer(0, TRANSFER))
    refuses(ValueError, lambda: vulkan.create_vk_buffer(16, TRANSFER, flags="sideways"))
    refuses(grinterop.CUDAError, lambda: vulkan.create_vk_image(0, 8, 8, TRANSFER))
    refuses(TypeError, lambda: vulkan.submit([3]))
    resource = vulkan.create_vk_buffer(16, TRANSFER)
    refuses(ValueError, lambda: vulkan.submit([resource] * 2), match="listed twice")
    refuses(TypeError, lambda: vulkan.submit([resource], [3, "4"]), match="commands")
