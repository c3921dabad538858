# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Resources and mappings: the interface of cuda.core, the additions of grinterop, and failures."""

import ctypes
import gc
import re
import weakref
from contextlib import nullcontext

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource

import gl
from conftest import elsewhere, end_mapping, refuses


def test_mapping_has_a_pointer_until_it_ends(resource, cuda):
    with resource.map(stream=cuda) as buffer:
        assert isinstance(buffer, grinterop.Buffer)
        assert resource.is_mapped and not buffer.is_closed
        assert buffer.handle != 0 and buffer.size == 4096
        assert buffer.resource is resource and buffer.stream is cuda
        assert buffer.is_device_accessible and not buffer.is_host_accessible
    assert buffer.handle == 0 and buffer.size == 0 and buffer.is_closed
    assert not resource.is_mapped
    refuses(RuntimeError, lambda: buffer.is_device_accessible, match="closed")


def test_second_map_is_refused(resource, cuda):
    """Catches: the message did not say what to do."""
    resource.map(stream=cuda)
    refuses(
        RuntimeError,
        lambda: resource.map(stream=cuda),
        lambda: grinterop.map_many([resource], stream=cuda),
        match=r"already mapped: close its Buffer or call unmap\(\)",
    )
    resource.unmap()
    refuses(RuntimeError, resource.unmap, match="not mapped")


def test_messages_name_python_functions(vbo, cuda):
    """Catches: messages named gr_from_gl_buffer_with, GR_LAYOUT_CHW or grinterop/egl.h."""
    image = GraphicsResource.from_gl_image(gl.texture(8, 8), gl.TEXTURE_2D)
    planes = grinterop.Tensor.from_dlpack(np.zeros((4, 8, 8), "u1"))
    mistakes = [
        (lambda: GraphicsResource.from_gl_buffer(4711), "GraphicsResource.from_gl_buffer"),
        (
            lambda: GraphicsResource.from_gl_buffer(vbo, transports="copy", share_group=True),
            '"interop"',
        ),
        (
            lambda: GraphicsResource.from_gl_buffer(
                vbo, flags="read_only", transports="copy", in_flight=2
            ),
            '"peer"',
        ),
    ]
    with image.map(stream=cuda) as buffer:
        mistakes += [
            (lambda: grinterop.publish(buffer, planes), '`layout` to "chw"'),
            (lambda: buffer.handle, "Buffer.texture\\(\\)"),
            (lambda: buffer.surface(), '"surface_load_store"'),
        ]
        for mistake, words in mistakes:
            with pytest.raises(grinterop.CUDAError, match=words) as caught:
                mistake()
            assert not re.search(r"\bgr_|GR_|\.h\b", str(caught.value)), caught.value
            assert caught.value.call == grinterop.last_error().call
    image.close()


def test_repr_names_kind_and_state(resource, cuda):
    """Catches: the repr() of a shared resource was <GraphicsResource handle=0x0>."""
    handle = f"handle={resource.handle:#x}"
    assert repr(resource) == (
        f"<GraphicsResource buffer size=4096 transport=interop {handle} not mapped>"
    )
    with resource.map(stream=cuda):
        assert repr(resource).endswith(f"{handle} mapped>")
    resource.close()
    assert repr(resource) == "<GraphicsResource buffer size=4096 transport=interop closed>"
    shared = GraphicsResource.create_gl_buffer(4096)
    assert repr(shared).startswith("<GraphicsResource buffer size=4096 transport=")
    assert "0x0" not in repr(shared)
    shared.close()


def test_dropped_buffer_stays_mapped(resource, cuda):
    seen = weakref.ref(resource.map(stream=cuda))
    gc.collect()
    assert seen() is not None and resource.is_mapped
    resource.unmap(stream=cuda)
    assert seen() is None and not resource.is_mapped


def test_buffer_outlives_its_resource(vbo, cuda):
    buffer = GraphicsResource.from_gl_buffer(vbo).map(stream=cuda)
    gc.collect()
    assert buffer.handle != 0 and buffer.resource is None
    buffer.close()
    buffer.close()
    assert buffer.is_closed


def test_mapping_ends_if_resource_and_buffer_are_dropped(vbo, cuda):
    buffer = GraphicsResource.from_gl_buffer(vbo).map(stream=cuda)
    del buffer
    again = GraphicsResource.from_gl_buffer(vbo)
    again.map(stream=cuda)
    again.close()


def test_close_ends_the_mapping(vbo, cuda):
    resource = GraphicsResource.from_gl_buffer(vbo)
    buffer = resource.map(stream=cuda)
    resource.close(stream=cuda)
    assert resource.is_closed and not resource.is_mapped and buffer.handle == 0
    assert resource.handle == 0 and "closed" in repr(resource) and resource
    resource.close()
    for call in (lambda: resource.map(stream=cuda), resource.unmap, resource.wait):
        refuses(RuntimeError, call, match="has been closed")


def test_with_maps_a_resource_that_has_a_stream(vbo, cuda):
    with GraphicsResource.from_gl_buffer(vbo, stream=cuda) as buffer:
        assert isinstance(buffer, grinterop.Buffer) and buffer.size == 4096
        resource = buffer.resource
    assert buffer.is_closed and resource.is_closed


def test_with_closes_a_resource_without_a_stream(vbo):
    with GraphicsResource.from_gl_buffer(vbo) as resource:
        assert isinstance(resource, GraphicsResource) and not resource.is_mapped
    assert resource.is_closed


def test_exception_in_with_ends_the_mapping(resource, cuda):
    with pytest.raises(ZeroDivisionError), resource.map(stream=cuda):
        1 / 0
    assert not resource.is_mapped


def test_resource_reports_its_properties(resource, vbo):
    assert resource.size == 4096 and resource.flags == 0 and resource.kind == "buffer"
    assert resource.api == "opengl" and resource.transport == "interop"
    assert resource.gl_name == vbo and resource.gl_target == gl.ARRAY_BUFFER
    assert resource.handle == resource.resource_handle != 0
    assert hex(resource.handle) in repr(resource)
    assert "4096 bytes" in resource.describe()
    assert not isinstance(resource, grinterop.Buffer)


@pytest.mark.parametrize(
    "flags, value",
    [(None, 0), ("none", 0), ("read_only", 1), ("write_discard", 2), (("none",), 0), ([], 0)],
)
def test_flags_may_be_names(vbo, flags, value):
    with GraphicsResource.from_gl_buffer(vbo, flags=flags) as resource:
        assert resource.flags == value


@pytest.mark.parametrize("flags", ["bogus", ("read_only", "bogus"), [1], "", " ", ("",)])
def test_unknown_flags_are_refused(vbo, flags):
    with pytest.raises(ValueError, match="Unknown register flag"):
        GraphicsResource.from_gl_buffer(vbo, flags=flags)


def test_conflicting_flags_are_refused(vbo):
    with pytest.raises(grinterop.CUDAError):
        GraphicsResource.from_gl_buffer(vbo, flags=("read_only", "write_discard"))


@pytest.mark.parametrize("name", [0, 4711, 2**32 - 1])
def test_unknown_opengl_names_are_refused(egl, name):
    egl.make_current()
    with pytest.raises(grinterop.CUDAError) as caught:
        GraphicsResource.from_gl_buffer(name)
    assert caught.value.status == "GR_ERR_INVALID_VALUE"
    assert isinstance(caught.value, ValueError)
    assert grinterop.last_error().message in str(caught.value)


def test_opengl_name_may_be_any_integer_type(egl):
    class Name:  # like numpy.uint32, which PyOpenGL returns
        def __index__(self):
            return name

    egl.make_current()
    name = gl.buffer(1024)
    with GraphicsResource.from_gl_buffer(Name()) as resource:
        assert not resource.is_closed
    gl.delete_buffer(name)


def test_types_cannot_be_instantiated():
    for type_ in (GraphicsResource, grinterop.Buffer):
        refuses(RuntimeError, type_, match="cannot be instantiated directly")
        refuses(TypeError, lambda: type_(1), lambda: type_(name=1), match="takes no arguments")


def test_text_is_not_taken_for_a_bool(resource, cuda):
    """Catches: load("soft") allowed the software driver, and flip="no" flipped."""
    refuses(
        TypeError,
        lambda: grinterop.cuda_load("soft"),
        lambda: GraphicsResource.create_gl_buffer(64, packed="no"),
        lambda: GraphicsResource.from_gl_buffer(1, share_group="no"),
        lambda: GraphicsResource.from_fd(0, 64, dedicated=()),
        lambda: grinterop.publish(resource, np.zeros(4096, "u1"), stream=cuda, flip="no"),
        lambda: grinterop.Tensor.create(4).view(read_only="no"),
        lambda: grinterop.Tensor.create(4).__dlpack__(copy="no"),
        match="expected True or False",
    )
    assert grinterop.Tensor.create(4).view(read_only=np.True_).is_read_only


# ---- Several resources ---------------------------------------------------------------------------


@pytest.fixture
def three(egl):
    egl.make_current()
    names = [gl.buffer(1024) for _ in range(3)]
    resources = [GraphicsResource.from_gl_buffer(name) for name in names]
    yield resources
    for resource in resources:
        resource.close()
    for name in names:
        gl.delete_buffer(name)


def test_map_many_maps_and_releases_all(three, cuda):
    with grinterop.map_many(three, stream=cuda) as buffers:
        assert len({buffer.handle for buffer in buffers}) == 3
        assert all(resource.is_mapped for resource in three)
    assert not any(resource.is_mapped for resource in three)
    assert all(buffer.is_closed for buffer in buffers)
    buffers.close()


def test_release_many_skips_closed_buffers(three, cuda):
    buffers = grinterop.map_many(three, stream=cuda)
    buffers[1].close()
    buffers.close(cuda)
    assert not any(resource.is_mapped for resource in three)


def test_map_many_maps_all_or_none(three, cuda):
    three[1].map(stream=cuda)
    with pytest.raises(RuntimeError, match="1 is already mapped"):
        grinterop.map_many(three, stream=cuda)
    assert [resource.is_mapped for resource in three] == [False, True, False]
    three[1].unmap()
    with pytest.raises(grinterop.InvalidValueError):
        grinterop.map_many([three[0], three[0]], stream=cuda)
    refuses(grinterop.InvalidValueError, lambda: grinterop.map_many([], stream=cuda))
    refuses(TypeError, lambda: grinterop.map_many([three[0], None], stream=cuda))
    assert not any(resource.is_mapped for resource in three)


def test_release_many_refuses_a_duplicate(three, cuda):
    buffers = grinterop.map_many(three, stream=cuda)
    refuses(RuntimeError, lambda: grinterop.Buffers([buffers[0], buffers[0]]).close())
    assert all(resource.is_mapped for resource in three)
    refuses(TypeError, lambda: grinterop.Buffers([buffers[0], None]).close())
    buffers.close()


def test_map_many_maps_a_part_of_each(three, cuda):
    with grinterop.map_many(three, stream=cuda, offset=256, size=128) as buffers:
        assert [buffer.size for buffer in buffers] == [128] * 3
    with pytest.raises(grinterop.InvalidValueError):
        grinterop.map_many(three, stream=cuda, offset=1024, size=1)


def test_map_many_maps_different_parts(three, cuda):
    parts = [(256, 128), (0, 0), (8, np.int64(4))]
    with grinterop.map_many(three, stream=cuda, parts=parts) as buffers:
        assert [buffer.size for buffer in buffers] == [128, 1024, 4]
    for wrong in (parts[:2], [(1, 2, 3)] * 3, [1, 2, 3], 7, [("1", 2)] * 3, [(1024, 0)] * 3):
        with pytest.raises((TypeError, ValueError)):
            grinterop.map_many(three, stream=cuda, parts=wrong)


# ---- Images --------------------------------------------------------------------------------------


@pytest.fixture
def picture(egl):
    egl.make_current()
    name = gl.texture(8, 4, data=bytes(range(128)))
    made = GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, flags="surface_load_store")
    yield made
    made.close()


def test_mapped_image_has_arrays_and_no_pointer(picture, cuda):
    assert picture.kind == "image"
    with picture.map(stream=cuda) as image:
        info = image.image_info()
        assert (info["width"], info["height"], info["channels"]) == (8, 4, 4)
        assert info["format"] == "u8" and info["normalized"] and not info["srgb"]
        assert image.array() and image.mipmapped_array()
        assert image.surface() == image.surface(level=0, layer=0)
        assert image.texture(filter="linear", address=("wrap", "clamp", "border"), normalized=True)
        refuses(grinterop.StateError, lambda: image.handle)
        refuses(grinterop.InvalidValueError, lambda: image.array(1))
        refuses(ValueError, lambda: image.texture(filter="cubic"), match="filter")
        assert "image" in repr(image)
    refuses(RuntimeError, image.array, match="closed")


def test_resource_keeps_its_surfaces_and_textures(picture, cuda):
    refuses(grinterop.StateError, picture.surface, picture.texture, match="map it first")
    seen = set()
    for _ in range(3):
        with picture.map(stream=cuda) as image:
            assert image.surface() == picture.surface() == picture.surface(level=0, layer=0)
            assert image.texture(filter="linear") == picture.texture(filter="linear")
            seen.add((picture.surface(), picture.texture(), picture.texture(filter="linear")))
            refuses(grinterop.InvalidValueError, lambda: picture.surface(1))
    assert len(seen) == 1 and len(set(seen.pop())) == 3


def test_linear_image_copies_the_image(picture, cuda):
    with picture.map_linear(stream=cuda) as pixels:
        assert pixels.handle and pixels.pitch >= 32
    refuses(TypeError, picture.map_linear, match="stream")
    refuses(grinterop.InvalidValueError, lambda: picture.map_linear(3, stream=cuda))


def test_texels_are_copied_from_and_to_images(picture, cuda):
    data = ctypes.create_string_buffer(128)
    with picture.map(stream=cuda) as image:
        image.copy_to_linear(ctypes.addressof(data), host=True)
        cuda.sync()
        assert data.raw == bytes(range(128))
        data.raw = bytes(reversed(range(128)))
        image.copy_from_linear(ctypes.addressof(data), host=True, stream=cuda)
        cuda.sync()
    assert gl.read_texture(picture.gl_name, 8, 4) == data.raw


def test_rectangles_are_copied_from_and_to_images(picture, cuda):
    wanted = np.arange(128, dtype=np.uint8).reshape(4, 8, 4)
    data = np.zeros((2, 3, 4), np.uint8)
    with picture.map(stream=cuda) as image:
        image.copy_to_linear(data.ctypes.data, host=True, x=4, y=1, width=3, height=2)
        cuda.sync()
        assert (data == wanted[1:3, 4:7]).all()
        image.copy_from_linear(data.ctypes.data, host=True, x=5, y=2)
        cuda.sync()
    wanted[2:4, 5:8] = data
    assert gl.read_texture(picture.gl_name, 8, 4) == wanted.tobytes()


def test_levels_may_end_at_max_level(egl, cuda):
    """Each pixel has the number of its level."""
    egl.make_current()
    name = gl.texture(8, 4, data=b"\0" * 128)
    gl._call("TexParameteri", gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, 1)
    level_1 = (gl.TEXTURE_2D, 1, gl.RGBA8, 4, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, b"\1" * 32)
    gl._call("TexImage2D", *level_1)
    with GraphicsResource.from_gl_image(name, gl.TEXTURE_2D) as resource:
        with resource.map(stream=cuda) as image:
            assert image.image_info()["levels"] == 2
            refuses(grinterop.InvalidValueError, lambda: image.array(2))
            for level, size in ((0, 128), (1, 32)):
                data = np.full(size, 9, np.uint8)
                image.copy_to_linear(data.ctypes.data, level, host=True)
                cuda.sync()
                assert (data == level).all()


# ---- Objects that grinterop creates --------------------------------------------------------------


def test_grinterop_creates_the_storage(egl, cuda):
    egl.make_current()
    with GraphicsResource.create_gl_buffer(4096, flags="write_discard", transports="any") as made:
        assert made.gl_name and made.size == 4096
        with made.map(stream=cuda) as buffer:
            assert buffer.handle
    refuses(grinterop.InvalidValueError, lambda: GraphicsResource.create_gl_buffer(0))
    refuses(grinterop.InvalidValueError, lambda: GraphicsResource.create_gl_buffer(-1))


def test_packed_buffers_have_separate_contents(egl, cuda):
    egl.make_current()
    texts = [bytes([i + 1]) * 1024 for i in range(4)]
    made = [
        GraphicsResource.create_gl_buffer(1024, transports="shared", packed=True) for _ in texts
    ]
    for target, text in zip(made, texts):
        name = gl.buffer(1024, text)
        with GraphicsResource.from_gl_buffer(name) as source:
            with source.map(stream=cuda) as bytes_of, target.map(stream=cuda) as buffer:
                buffer.copy_from(bytes_of, stream=cuda)
        gl.delete_buffer(name)
    assert [gl.read_buffer(target.gl_name, 1024) for target in made] == texts
    for target in made:
        target.close()


def test_copied_resource_has_no_cuda_handle(vbo, cuda):
    with GraphicsResource.from_gl_buffer(vbo, transports="copy") as resource:
        assert resource.transport == "copy" and resource.handle == 0
        with resource.map(stream=cuda) as buffer:
            assert buffer.handle
    with GraphicsResource.from_gl_buffer(vbo, transports=("shared", "copy")) as resource:
        assert resource.transport == "copy"
    with GraphicsResource.from_gl_buffer(vbo, transports=["without copy"]) as resource:
        assert resource.transport == "interop"
    for wrong, text in [("carrier pigeon", "transport"), (["copy", "mail"], "mail"), ([], "empty"),
                        (["copy", None], "None")]:
        with pytest.raises(ValueError, match=text):
            GraphicsResource.from_gl_buffer(vbo, transports=wrong)
    with pytest.raises(TypeError, match="transports"):
        GraphicsResource.from_gl_buffer(vbo, transports=4)


# ---- Frames in flight ----------------------------------------------------------------------------

FLIGHT = {"transports": "peer", "in_flight": 2}


def test_frames_in_flight_write_a_buffer(egl, cuda):
    egl.make_current()
    name = gl.buffer(4096)
    addresses = []
    with GraphicsResource.from_gl_buffer(name, flags="write_discard", **FLIGHT) as resource:
        assert resource.transport == "peer" and "2 staging buffers" in resource.describe()
        for frame in range(5):
            with resource.map(stream=cuda) as buffer:
                addresses.append(buffer.handle)
                buffer.fill(frame + 1, stream=cuda)
            assert gl.read_buffer(name, 4096) == bytes([frame + 1]) * 4096
    assert addresses[0] != addresses[1] and len(set(addresses)) == 2
    gl.delete_buffer(name)


def test_frames_in_flight_read_a_buffer(egl, cuda):
    egl.make_current()
    name = gl.buffer(4096)
    seen = [np.zeros(4096, "u1") for _ in range(5)]
    with GraphicsResource.from_gl_buffer(name, flags="read_only", **FLIGHT) as resource:
        for frame, data in enumerate(seen):
            gl.write_buffer(name, bytes([frame + 1]) * 4096)
            grinterop.fetch(resource, data, stream=cuda)
    cuda.sync()
    assert [set(data) for data in seen] == [{frame + 1} for frame in range(5)]
    gl.delete_buffer(name)


def test_frames_in_flight_of_an_image(egl, cuda):
    egl.make_current()
    name = gl.texture(8, 4)
    pictures = [np.full((4, 8, 4), frame + 1, "u1") for frame in range(5)]
    images = [name, gl.TEXTURE_2D]
    with GraphicsResource.from_gl_image(*images, flags="write_discard", **FLIGHT) as written:
        with GraphicsResource.from_gl_image(*images, flags="read_only", **FLIGHT) as read:
            for picture in pictures:
                grinterop.publish(written, picture, stream=cuda)
                assert gl.read_texture(name, 8, 4) == picture.tobytes()
                data = np.zeros_like(picture)
                grinterop.fetch(read, data, stream=cuda)
                cuda.sync()
                assert (data == picture).all()


def test_frames_in_flight_of_created_objects(egl, cuda):
    egl.make_current()
    options = {"flags": "write_discard", **FLIGHT}
    picture = np.arange(128, dtype="u1").reshape(4, 8, 4)
    with GraphicsResource.create_gl_buffer(4096, **options) as made:
        assert made.transport == "peer"
        with made.map(stream=cuda) as buffer:
            buffer.fill(7, stream=cuda)
        assert gl.read_buffer(made.gl_name, 4096) == b"\7" * 4096
    with GraphicsResource.create_gl_image(gl.TEXTURE_2D, gl.RGBA8, 8, 4, **options) as made:
        assert made.transport == "peer"
        grinterop.publish(made, picture, stream=cuda)
        assert gl.read_texture(made.gl_name, 8, 4) == picture.tobytes()


def test_frames_in_flight_that_are_impossible_are_refused(egl, vbo):
    egl.make_current()
    texture = gl.texture(8, 4)

    def calls(**options):
        yield lambda: GraphicsResource.from_gl_buffer(vbo, **options)
        yield lambda: GraphicsResource.from_gl_image(texture, gl.TEXTURE_2D, **options)
        yield lambda: GraphicsResource.create_gl_buffer(4096, **options)
        yield lambda: GraphicsResource.create_gl_image(gl.TEXTURE_2D, gl.RGBA8, 8, 4, **options)

    invalid = grinterop.InvalidValueError
    for count in (1, 65):
        made = calls(flags="write_discard", in_flight=count)
        refuses(invalid, *made, match=f"`in_flight` is {count}: pass 2 to 64")
    refuses(invalid, *calls(in_flight=2), match="the resource is read_write")
    refuses(
        invalid,
        *calls(flags="read_only", transports="interop", in_flight=2),
        match="`in_flight` needs",
    )
    refuses(TypeError, *calls(flags="read_only", in_flight="2"))


# ---- Threads -------------------------------------------------------------------------------------


def test_map_on_a_thread_without_context_fails(resource, cuda):
    with pytest.raises(grinterop.CUDAError) as caught:
        elsewhere(lambda: resource.map(stream=cuda))
    assert caught.value.status == "GR_ERR_GL" and not resource.is_mapped


def test_buffer_may_be_mapped_again_after_a_drop_on_another_thread(vbo, cuda):
    held = [GraphicsResource.from_gl_buffer(vbo).map(stream=cuda)]
    elsewhere(held.clear)
    again = GraphicsResource.from_gl_buffer(vbo)
    again.map(stream=cuda)
    again.close()


def test_wait_on_a_mapped_resource_is_refused(resource, cuda):
    with resource.map(stream=cuda):
        refuses(grinterop.StateError, resource.wait)
    resource.wait()
    resource.wait(timeout=0.5)
    refuses(ValueError, lambda: resource.wait(-1))
    refuses(TypeError, lambda: resource.wait("soon"))


# ---- Copies and fills ----------------------------------------------------------------------------


def test_fill_accepts_one_two_or_four_bytes(resource, vbo, cuda):
    for value, expected in [(7, b"\7"), (b"\1\2", b"\1\2"), (b"abcd", b"abcd")]:
        with resource.map(stream=cuda) as buffer:
            buffer.fill(value, stream=cuda)
        assert gl.read_buffer(vbo, 4096) == expected * (4096 // len(expected))
    with resource.map(stream=cuda) as buffer:
        refuses(TypeError, lambda: buffer.fill(1), match="stream")
    refuses(RuntimeError, lambda: buffer.fill(1, stream=cuda), match="closed")


def test_mappings_copy_to_each_other(three, cuda):
    first, second, third = three
    with grinterop.map_many(three, stream=cuda) as (a, b, c):
        a.fill(1, stream=cuda)
        b.fill(2, stream=cuda)
        assert a.copy_to(c, stream=cuda) is c
        b.copy_from(a, stream=cuda)
        refuses(ValueError, lambda: a.copy_to(stream=cuda), match="destination")
        refuses(TypeError, lambda: a.copy_to(b"1", stream=cuda), match="Buffer")
    for resource in three:
        assert gl.read_buffer(resource.gl_name, 1024) == b"\1" * 1024


def test_read_only_memory_is_not_written(vbo, cuda):
    with GraphicsResource.from_gl_buffer(vbo, flags="read_only") as resource:
        with resource.map(stream=cuda) as buffer:
            assert buffer.is_read_only
            refuses(RuntimeError, lambda: buffer.fill(1, stream=cuda), match="read_only")


def test_flags_of_a_map_hold_once(vbo, cuda):
    resource = GraphicsResource.from_gl_buffer(vbo, transports="copy")
    with resource.map(stream=cuda, flags="read_only") as buffer:
        assert buffer.is_read_only and buffer.tensor().is_read_only
        refuses(RuntimeError, lambda: buffer.fill(9, stream=cuda), match="read_only")
    with resource.map(stream=cuda, flags="write_discard") as buffer:
        assert not buffer.is_read_only
        buffer.fill(8, stream=cuda)
    with resource.map(stream=cuda) as buffer:
        assert not buffer.is_read_only
    assert gl.read_buffer(vbo, 4096) == b"\10" * 4096
    refuses(ValueError, lambda: resource.map(stream=cuda, flags="texture_gather"), match="a map")
    resource.close()
    with GraphicsResource.from_gl_buffer(vbo, flags="read_only") as reading:
        refuses(
            grinterop.InvalidValueError,
            lambda: reading.map(stream=cuda, flags="read_write"),
            match="register it read_write",
        )


def end_with(buffer):
    with buffer:
        pass


@pytest.mark.parametrize("end", ["close", "with", "unmap", "resource", "many"])
def test_mapping_ends_with_its_context(end, vbo, doomed):
    """Catches: Buffer and resource stayed mapped after a PartialError, and the Buffer of a dropped
    resource referred to freed memory.
    """
    stream, destroy = doomed
    resource = GraphicsResource.from_gl_buffer(vbo)
    buffer = resource.map(stream=stream)
    destroy()
    ways = {"close": lambda *_: buffer.close(), "with": lambda *_: end_with(buffer)}
    refuses(grinterop.PartialError, lambda: ways.get(end, end_mapping)(end, resource, buffer))
    assert buffer.is_closed and buffer.size == 0 and not resource.is_mapped
    assert resource.is_closed == (end == "resource")
    buffer.close()
    with pytest.warns(RuntimeWarning, match="destroyed") if end != "resource" else nullcontext():
        resource.close()
    del resource
    assert repr(buffer) == "<Buffer closed>"


def test_close_accepts_at_most_a_stream(resource, cuda):
    for arguments, named in [((), {}), ((cuda,), {}), ((None,), {}), ((), {"stream": cuda})]:
        buffer = resource.map(stream=cuda)
        buffer.close(*arguments, **named)
        assert buffer.is_closed
    buffer = resource.map(stream=cuda)
    for arguments, named in [((1, 2), {}), ((1,), {"stream": 1}), ((), {"other": 1})]:
        refuses(TypeError, lambda: buffer.close(*arguments, **named))
    refuses(TypeError, lambda: buffer.close("stream"))
    assert not buffer.is_closed
    buffer.close()


def test_share_group_maps_in_a_sharing_context(egl, vbo, cuda):
    image = gl.texture(16, 16, data=bytes(range(256)) * 4)
    resources = [
        GraphicsResource.from_gl_buffer(vbo, share_group=True),
        GraphicsResource.from_gl_image(image, gl.TEXTURE_2D, share_group=True),
    ]
    alone = GraphicsResource.from_gl_buffer(vbo)
    try:
        with grinterop.EglContext(0, share=egl):
            for resource in resources:
                resource.map(stream=cuda).close()
            resources[0].close()
            with pytest.raises(grinterop.CUDAError, match="share_group lets either be current"):
                alone.map(stream=cuda)
        with grinterop.EglContext(0):
            with pytest.raises(grinterop.CUDAError, match="is not in that share group"):
                resources[1].map(stream=cuda)
        egl.make_current()
        refuses(
            ValueError,
            lambda: GraphicsResource.from_gl_buffer(vbo, transports="copy", share_group=True),
            match="`share_group` needs",
        )
    finally:
        egl.make_current()
        resources[1].close()
        alone.close()


def test_egl_context_shares_objects_of_another_or_none(egl, vbo):
    try:
        with grinterop.EglContext(0, share=None):
            with pytest.raises(ValueError, match="There is no OpenGL buffer"):
                GraphicsResource.from_gl_buffer(vbo)
        with grinterop.EglContext(0, share=egl):
            GraphicsResource.from_gl_buffer(vbo).close()
        refuses(TypeError, lambda: grinterop.EglContext(0, share=1), match="expected an EglContext")
    finally:
        egl.make_current()


def test_egl_context_of_opengl_es(egl, cuda):
    try:
        with grinterop.EglContext(0, es=True) as es:
            assert es.describe().startswith("OpenGL ES 3.")
            refuses(ValueError, lambda: grinterop.EglContext(share=egl, es=True), match="`share`")
            buffer = gl.buffer(64, bytes(range(64)))
            for transports in "interop", "copy":
                with GraphicsResource.from_gl_buffer(buffer, transports=transports) as resource:
                    with resource.map(stream=cuda) as mapped:
                        assert mapped.size == 64
    finally:
        egl.make_current()


def test_a_map_follows_replaced_storage(egl, cuda):
    name = gl.buffer(4096)
    refuses(TypeError, lambda: GraphicsResource.from_gl_buffer(name, follow_storage="no"))
    resource = GraphicsResource.from_gl_buffer(name, follow_storage=True)
    for size in (8192, 64):
        gl._call("BindBuffer", gl.ARRAY_BUFFER, name)
        gl._call("BufferData", gl.ARRAY_BUFFER, size, None, gl.DYNAMIC_DRAW)
        buffer = resource.map(stream=cuda)
        assert buffer.size == size
        buffer.close()
    resource.close()


def resize_texture(name, width, height, data):
    """Replaces the storage. NVIDIA's driver refuses that while the texture is registered, but it
    returns the name of a deleted texture again.
    """
    new = (gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, data)
    gl._call("BindTexture", gl.TEXTURE_2D, name)
    gl._call("TexImage2D", gl.TEXTURE_2D, 0, *new)
    if gl._call("GetError"):
        gl._call("DeleteTextures", 1, ctypes.byref(ctypes.c_uint(name)))
        assert gl.texture(width, height, data=data) == name


def test_a_map_follows_an_image_that_was_resized(egl, cuda):
    egl.make_current()
    name = gl.texture(8, 4, data=bytes(range(128)))
    refuses(
        TypeError,
        lambda: GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, follow_storage="no"),
    )
    flags = "surface_load_store"
    alone = GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, transports="copy")
    with GraphicsResource.from_gl_image(
        name, gl.TEXTURE_2D, flags=flags, follow_storage=True
    ) as resource:
        resource.map(stream=cuda).close()
        for width, height in ((16, 8), (5, 3)):
            texels = np.arange(4 * width * height, dtype=np.uint32).astype(np.uint8)
            resize_texture(name, width, height, texels.tobytes())
            with pytest.raises(grinterop.StateError, match="set follow_storage"):
                alone.map(stream=cuda)
            with resource.map(stream=cuda) as image:
                info = image.image_info()
                assert (info["width"], info["height"]) == (width, height)
                data = np.zeros_like(texels)
                image.copy_to_linear(data.ctypes.data, host=True)
                cuda.sync()
                assert (data == texels).all()
                data ^= 255
                image.copy_from_linear(data.ctypes.data, host=True, stream=cuda)
                cuda.sync()
            assert gl.read_texture(name, width, height) == data.tobytes()
    alone.close()
