# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads framebuffers into NumPy arrays."""

import math

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor, fetch_framebuffer

import gl


@pytest.fixture
def framebuffer(egl):
    """A framebuffer of 8x4 pixels: RGBA8, and a float depth of 0.5."""
    egl.make_current()
    target = gl.Target(8, 4)
    target.attach(gl.COLOR_ATTACHMENT0, gl.RGBA8)
    target.attach(gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT32F)
    gl.ClearDepth(0.5)
    target.clear(1, 0.2, 0)
    return target.name


def read(framebuffer, shape, dtype, cuda, **options):
    tensor = Tensor.create(shape, dtype, stream=cuda)
    fetch_framebuffer(framebuffer, tensor, stream=cuda, **options)
    cuda.sync()
    return np.frombuffer(tensor.tobytes(), dtype).reshape(shape)


@pytest.mark.parametrize("attachment", [None, "color", "color0", 0x8CE0])
def test_color_is_read(framebuffer, cuda, attachment):
    pixels = read(framebuffer, (4, 8, 4), "u1", cuda, attachment=attachment)
    assert (pixels == (255, 51, 0, 255)).all()


def test_rectangle_is_read_as_float_planes(framebuffer, cuda):
    planes = read(framebuffer, (3, 2, 5), "f4", cuda, x=1, y=1, width=5, height=2, layout="chw")
    assert np.allclose(planes, np.reshape((1, 0.2, 0), (3, 1, 1)))
    older = read(framebuffer, (3, 2, 5), "f4", cuda, rectangle=(1, 1, 5, 2), layout="chw")
    assert (older == planes).all()
    with pytest.raises(ValueError, match="^rectangle: .*, but x, y, width or height is given"):
        read(framebuffer, (2, 5), "f4", cuda, rectangle=(1, 1, 5, 2), x=1)


def test_tiles_are_read_as_a_batch(egl, cuda):
    egl.make_current()
    screen = gl.Screen(8, 4)
    pixels = np.random.default_rng(7).integers(0, 256, (4, 8, 4), "u1")
    gl.write_texture(screen.texture, 8, 4, pixels.tobytes())
    batch = read(screen.name, (8, 2, 2, 3), "u1", cuda, columns=4, flip=True)
    tiles = pixels[::-1].reshape(2, 2, 4, 2, 4).swapaxes(1, 2).reshape(8, 2, 2, 4)
    assert (batch == tiles[..., :3]).all()


@pytest.mark.parametrize("far, distance", [(100, 1 / (0.5 / 0.25 + 0.5 / 100)), (math.inf, 0.5)])
def test_depth_is_read_as_distances(framebuffer, cuda, far, distance):
    assert (read(framebuffer, (4, 8), "f4", cuda, attachment="depth") == 0.5).all()
    distances = read(framebuffer, (4, 8), "f4", cuda, attachment="depth", near=0.25, far=far)
    assert np.allclose(distances, distance)


def test_either_plane_may_be_the_farther_one(framebuffer, cuda):
    gl.BindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.ClearDepth(0.25)
    gl.Clear(gl.DEPTH_BUFFER_BIT)
    for near, far, reverse in [(0.5, 4, True), (4, 0.5, False), (0.5, 4, False), (4, 0.5, True)]:
        first, last = (far, near) if reverse else (near, far)
        distances = read(
            framebuffer, (4, 8), "f4", cuda, attachment="depth", near=near, far=far,
            reverse_z=reverse,
        )
        assert np.allclose(distances, 1 / (0.75 / first + 0.25 / last))


def test_a_sample_is_read(egl, cuda):
    egl.make_current()
    target = gl.Target(8, 4)
    target.attach(gl.COLOR_ATTACHMENT0, gl.RGBA8, 4)
    target.attach(gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT32F, 4)
    gl.ClearDepth(0.25)
    target.clear(1, 0.2, 0)
    for sample in range(1, 5):
        assert (read(target.name, (4, 8, 4), "u1", cuda, sample=sample) == (255, 51, 0, 255)).all()
    color, depth = np.zeros((4, 8, 4), "u1"), np.zeros((4, 8), "f4")
    fetch_framebuffer(target.name, {"color": color, "depth": depth}, stream=cuda, sample=3)
    cuda.sync()
    assert (color == (255, 51, 0, 255)).all() and (depth == 0.25).all()
    buffer = gl.buffer(128)
    with GraphicsResource.from_gl_buffer(buffer, flags="read_only") as to:
        grinterop.copy_framebuffer(target.name, to, sample=4)
    assert gl.read_buffer(buffer, 128) == bytes((255, 51, 0, 255)) * 32
    with pytest.raises(ValueError, match="`sample` is 5, but .* has 4"):
        read(target.name, (4, 8, 4), "u1", cuda, sample=5)


def test_a_sample_of_pixels_without_samples_is_refused(framebuffer, cuda):
    with pytest.raises(ValueError, match="`sample` is 1, but .* has 0 samples: leave it 0"):
        read(framebuffer, (4, 8, 4), "u1", cuda, sample=1)


def test_staging_buffer_is_reused(framebuffer, cuda):
    with GraphicsResource.from_gl_buffer(gl.buffer(4 * 8 * 4), flags="read_only") as staging:
        for _ in range(3):
            assert read(framebuffer, (4, 8, 4), "u1", cuda, staging=staging)[0, 0, 1] == 51


def test_attachments_are_read_together(framebuffer, cuda):
    color = Tensor.create((4, 8, 3), "u1", stream=cuda)
    depth = Tensor.create((4, 8), "f4", stream=cuda)
    tensors = {"color": color, "depth": depth}
    fetch_framebuffer(framebuffer, tensors, stream=cuda, bgr=True, near=0.25, far=math.inf)
    cuda.sync()
    assert color.tobytes() == bytes((0, 51, 255)) * 32
    assert np.allclose(np.frombuffer(depth.tobytes(), "f4"), 0.5)
    for bad, options, match in (
        ({}, {}, "0 attachments were passed: pass 1 to 16"),
        (tensors, {"scale": 2}, "each attachment"),
        (tensors, {"attachment": "color"}, "keys of the dict"),
        ({"colour": color}, {}, "attachment"),
        ({i: color for i in range(17)}, {}, "17 attachments were passed: pass 1 to 16"),
        ({"color31": color}, {}, 'no attachment "color31"'),
    ):
        with pytest.raises(ValueError, match=match):
            fetch_framebuffer(framebuffer, bad, stream=cuda, **options)


def test_ring_of_copies_is_read_in_a_batch(framebuffer, cuda):
    slots = [GraphicsResource.create_gl_buffer(4 * 8 * 4, flags="read_only") for _ in range(6)]
    ring = grinterop.Ring(slots, producer="graphics")
    for frame in range(4):
        gl.BindFramebuffer(gl.FRAMEBUFFER, framebuffer)
        gl.ClearColor(frame / 255, 0, 0, 1)
        gl.Clear(gl.COLOR_BUFFER_BIT)
        with ring.acquire_write() as slot:
            grinterop.copy_framebuffer(framebuffer, slot.resource)
    pixels = [Tensor.create((4, 8, 4), "u1", stream=cuda) for _ in range(4)]
    with ring.acquire_read(4, stream=cuda) as batch:
        for buffer, tensor in zip(batch.buffers, pixels):
            grinterop.fetch(buffer, tensor, shape=(4, 8, 4), dtype="u1")
    cuda.sync()
    for frame, tensor in enumerate(pixels):
        assert tensor.tobytes() == bytes((frame, 0, 0, 255)) * 32
    with pytest.raises(TypeError, match="buffer"):
        grinterop.copy_framebuffer(framebuffer, pixels[0])
    with pytest.raises(grinterop.InvalidValueError, match="offset"):
        grinterop.copy_framebuffer(framebuffer, slots[0], offset=2)


def test_colours_become_nv12(framebuffer, cuda):
    gl.BindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.ClearColor(1, 0, 0, 1)
    gl.Clear(gl.COLOR_BUFFER_BIT)
    planes = Tensor.create((4, 8), "u1", stream=cuda), Tensor.create((2, 4, 2), "u1", stream=cuda)
    fetch_framebuffer(framebuffer, planes, stream=cuda, layout="nv12", matrix="bt601", flip=True)
    assert planes[0].tobytes() == bytes([81]) * 32 and planes[1].tobytes() == bytes([90, 240]) * 8
    high = Tensor.create((6, 8), "u2", stream=cuda)
    fetch_framebuffer(
        framebuffer, high, stream=cuda, layout="p016", full_range=True, bits=10, high_bits=True,
        chroma_position="top_left",
    )
    values = memoryview(high.tobytes()).cast("H")
    assert values[0] == 217 << 6 and (values[32], values[33]) == (395 << 6, 1023 << 6)


def test_invalid_framebuffer_reads_are_refused(framebuffer, cuda):
    with pytest.raises(ValueError, match="attachment"):
        read(framebuffer, (4, 8), "f4", cuda, attachment="depths")
    with pytest.raises(grinterop.InvalidValueError, match="nothing to read"):
        read(framebuffer, (4, 8), "u1", cuda, attachment="stencil")
    with pytest.raises(TypeError, match="staging"):
        read(framebuffer, (4, 8, 4), "u1", cuda, staging=framebuffer)
    with pytest.raises(TypeError, match="stream"):
        fetch_framebuffer(framebuffer, Tensor.create((4, 8), "f4", stream=cuda))
    planes = Tensor.create((4, 8), "u1", stream=cuda), Tensor.create((2, 4, 2), "u1", stream=cuda)
    with pytest.raises(grinterop.InvalidValueError, match="two planes were passed"):
        fetch_framebuffer(framebuffer, planes, stream=cuda)
    with pytest.raises(grinterop.InvalidValueError, match="not inside"):
        read(framebuffer, (4, 8, 4), "u1", cuda, width=9, height=4)
