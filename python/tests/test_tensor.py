# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tensors: their properties, memory and lifetime."""

import ctypes
import gc
import hashlib
import io
import types
import weakref

import grinterop
import numpy as np
import pytest
from grinterop import Tensor
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import refuses


class Owner:
    """An object that owns memory."""


def wrapped(size=64, owner=None, **more):
    """A tensor of `size` host bytes (0, 1, 2, ...) and the owner of the memory."""
    owner = owner or Owner()
    owner.bytes = ctypes.create_string_buffer(bytes(range(size)), size)
    shape = more.pop("shape", (size,))
    pointer = ctypes.addressof(owner.bytes)
    return Tensor.from_memory(pointer, shape, owner=owner, memory="host", **more)


def test_tensor_reports_its_properties(cuda):
    with Tensor.create((4, 8, 3), "float32", stream=cuda, layout="hwc") as tensor:
        assert tensor.shape == (4, 8, 3) and tensor.strides == (96, 12, 4) and tensor.ndim == 3
        assert tensor.dtype == "float32" and tensor.typestr == "<f4" and tensor.itemsize == 4
        assert tensor.nbytes == 384 and tensor.layout == "hwc" and tensor.memory == "device"
        assert tensor.handle and tensor.device == 0 and tensor.is_compact
        assert not tensor.is_read_only and not tensor.is_revoked and tensor.chroma is None
        assert "float32 (4, 8, 3) hwc" in repr(tensor)
    assert tensor.is_closed and "closed" in repr(tensor)
    refuses(RuntimeError, lambda: tensor.shape, match="closed")
    assert not hasattr(tensor, "__cuda_array_interface__")
    tensor.close()


@pytest.mark.parametrize("memory", ["host", "pinned", "managed"])
def test_host_memory_has_the_buffer_protocol(cuda, memory):
    values = np.arange(6, dtype="f4").reshape(2, 3)
    tensor = Tensor.create((2, 3), "float32", memory=memory)
    tensor.copy_from(values, stream=cuda)
    cuda.sync()
    view = memoryview(tensor)
    assert (view.format, view.shape, view.strides, view.readonly) == ("f", (2, 3), (12, 4), False)
    view[1, 2] = 9
    assert bytes(tensor)[:20] == values.tobytes()[:20] and np.frombuffer(tensor, "f4")[5] == 9
    refuses(RuntimeError, view.obj.close)
    tensor.close()
    assert view[1, 2] == 9
    refuses(RuntimeError, lambda: memoryview(tensor), match="closed")


@pytest.mark.parametrize("code", "B H I Q b h i q e f d ? Zf Zd".split())
def test_buffer_has_the_format_of_the_dtype(code):
    dtype = np.dtype({"Zf": "c8", "Zd": "c16"}.get(code, code))
    tensor = Tensor.create((2, 3), dtype, memory="host")
    assert memoryview(tensor).format == code and np.asarray(memoryview(tensor)).dtype == dtype


def test_buffers_are_refused(cuda):
    tensor = Tensor.create((4, 4), memory="host")
    refuses(BufferError, lambda: memoryview(Tensor.create(4)), match="GPU memory")
    refuses(BufferError, lambda: memoryview(tensor.view((4,), "bfloat16")), match="bfloat16|dtype")
    columns = tensor.view((4, 4), strides=(1, 4))
    assert memoryview(columns).f_contiguous and not memoryview(columns).c_contiguous
    refuses(BufferError, lambda: hashlib.sha1(columns), match="contiguous")
    locked = tensor.view(read_only=True)
    assert memoryview(locked).readonly
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(bytes(16)).readinto(locked)


@pytest.mark.parametrize("dtype", ["u1", "<i4", "float16", "bfloat16", np.float64, np.dtype("u2")])
def test_dtype_names_are_accepted(cuda, dtype):
    tensor = Tensor.create(3, dtype, stream=cuda)
    assert tensor.shape == (3,)
    if dtype != "bfloat16":
        assert np.dtype(tensor.dtype) == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["f3", ">f4", "", 3, object()])
def test_invalid_dtypes_are_refused(cuda, dtype):
    refuses(grinterop.CUDAError, lambda: Tensor.create((2,), dtype, stream=cuda))


@pytest.mark.parametrize("dtype", [">f4", np.dtype(">f4"), np.dtype(">i8"), np.dtype(">c8")])
def test_big_endian_dtypes_are_refused(resource, cuda, dtype):
    """Catches: np.dtype(">f4") was taken for float32."""
    tensor, array = Tensor.create((4, 4), stream=cuda), np.zeros(64, "u1")
    interface = {"shape": (2,), "typestr": dtype, "data": (array.ctypes.data, False), "version": 3}
    imported = types.SimpleNamespace(__cuda_array_interface__=interface)
    with resource.map(stream=cuda) as buffer:
        refuses(
            grinterop.UnsupportedError,
            lambda: Tensor.create((2,), dtype, stream=cuda),
            lambda: Tensor.from_memory(array.ctypes.data, (2,), dtype, memory="host"),
            lambda: Tensor.from_dlpack(imported),
            lambda: tensor.view((2,), dtype),
            lambda: buffer.tensor((2,), dtype),
            lambda: grinterop.publish(buffer, tensor, dtype=dtype),
            lambda: grinterop.fetch(buffer, tensor, dtype=dtype),
            match="big-endian",
        )
        refuses(BufferError, lambda: grinterop.publish(buffer, np.zeros(4, dtype)))
    assert Tensor.create((2,), np.dtype(">u1"), stream=cuda).dtype == "uint8"


@pytest.mark.parametrize("dtype", ["<f4\0x", "float32\0", "\0f4"])
def test_dtype_with_a_null_character_is_refused(cuda, dtype):
    """Catches: the text after a null character was ignored."""
    refuses(ValueError, lambda: Tensor.create((2,), dtype, stream=cuda), match="null character")
    with pytest.raises(ValueError, match="Unknown register flag"):
        grinterop._grinterop._parse_register_flags("read_only\0x")


@pytest.mark.parametrize(
    "shape, error",
    [
        ((-1,), ValueError), ((1,) * 9, ValueError), ((2**40, 2**40), ValueError),
        ((2**70,), OverflowError), ((1.5,), TypeError), ("ab", TypeError), (None, TypeError),
    ],
)
def test_invalid_shapes_are_refused(cuda, shape, error):
    if shape is None:
        assert Tensor.create(shape, stream=cuda).shape == ()
        return
    refuses(error, lambda: Tensor.create(shape, stream=cuda))


def array_of(tensor):
    """The tensor as a NumPy array: on a GPU, a host copy."""
    if grinterop.cuda_is_software():
        return np.from_dlpack(tensor)
    return np.from_dlpack(tensor, device="cpu")


def test_shapes_may_be_arrays(cuda):
    """Catches: "only integer scalar arrays can be converted"."""
    for shape, wanted in ((np.array([3, 4], "i4"), (3, 4)), (np.int64(5), (5,)), ([], ())):
        assert Tensor.create(shape, stream=cuda).shape == wanted


def test_tensor_may_have_no_elements_or_dimensions(cuda):
    empty = Tensor.create((3, 0, 2), "f4", stream=cuda)
    assert empty.nbytes == 0 and empty.tobytes() == b"" and array_of(empty).shape == (3, 0, 2)
    one = Tensor.create((), "f4", stream=cuda)
    assert one.ndim == 0 and one.nbytes == 4 and array_of(one).shape == ()


def test_owner_outlives_all_tensors_of_its_memory():
    owner = Owner()
    seen = weakref.ref(owner)
    tensor = wrapped(owner=owner)
    del owner
    view = tensor.view((8,), "f8")
    array = np.from_dlpack(view)
    capsule = view.__dlpack__()
    holders = [capsule, array, view, tensor]
    del capsule, array, view, tensor
    while holders:
        gc.collect()
        assert seen() is not None, len(holders)
        holders.pop()
    gc.collect()
    grinterop.Tensor.collect()
    assert seen() is None


def test_view_shares_the_memory():
    tensor = wrapped()
    view = tensor.view((2, 4), "u2", (16, 4), 2)
    assert view.handle == tensor.handle + 2 and view.strides == (16, 4)
    expected = np.lib.stride_tricks.as_strided(
        np.arange(64, dtype="u1")[2:].view("u2"), (2, 4), (16, 4)
    )
    assert (np.from_dlpack(view) == expected).all()
    same = tensor.view(read_only=True)
    assert same.shape == tensor.shape and same.is_read_only
    assert tensor.view(layout="hwc").layout == "hwc"
    assert tensor.view(strides=(0,)).strides == (0,)
    back = tensor.view((3,), "u1", (-1,), 2)
    assert back.view(negative_strides=True).handle == back.handle
    for wrong in [((65,),), ((8,), "f8", (16,)), ((8,), "u1", None, 57), ((8,), "u1", (1, 1))]:
        refuses(ValueError, lambda: tensor.view(*wrong))
    refuses(ValueError, lambda: tensor.view((8,), offset=-1))


def test_wait_and_used_on_accept_only_streams(cuda):
    tensor = Tensor.create((16,), stream=cuda)
    tensor.wait(cuda)
    tensor.wait(1)
    tensor.used_on(cuda)
    for call in (tensor.wait, tensor.used_on):
        refuses(TypeError, lambda: call(None))
        refuses(ValueError, lambda: call(-1))


def test_collect_refuses_negative_timeouts(cuda):
    Tensor.create((1024,), stream=cuda).close()
    grinterop.Tensor.collect()
    grinterop.Tensor.collect(timeout=1)
    refuses(ValueError, lambda: grinterop.Tensor.collect(-1))


def test_alloc_accepts_each_memory_kind(cuda):
    for kind in ("device", "host", "pinned", "managed"):
        assert Tensor.create((4,), stream=cuda, memory=kind).memory == kind
    refuses(ValueError, lambda: Tensor.create((4,), stream=cuda, memory="paper"), match="memory")


# ---- Comparison with NumPy -----------------------------------------------------------------------


@st.composite
def views(draw):
    """A block of bytes, and a strided view of it."""
    ndim = draw(st.integers(0, 4))
    size = draw(st.sampled_from([1, 2, 4, 8]))
    shape = draw(st.lists(st.integers(0, 4), min_size=ndim, max_size=ndim))
    strides = draw(st.lists(st.integers(-40, 40), min_size=ndim, max_size=ndim))
    return (
        256, size, tuple(shape), tuple(stride * size for stride in strides),
        draw(st.integers(0, 31)) * 8,
    )


def span(size, shape, strides):
    """The byte offsets, relative to element 0, of the first byte accessed and of the end."""
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * stride for n, stride in zip(shape, strides)]
    return sum(min(0, r) for r in reach), sum(max(0, r) for r in reach) + size


@settings(max_examples=400, deadline=None)
@given(views())
def test_views_equal_numpy_views(case):
    total, size, shape, strides, offset = case
    memory = np.arange(total, dtype="u1")
    low, high = span(size, shape, strides)
    inside = 0 <= offset + low and offset + high <= total
    base = Tensor.from_dlpack(memory)
    dtype = f"u{size}"
    if not inside:
        with pytest.raises(grinterop.InvalidValueError):
            base.view(shape, dtype, strides, offset, negative_strides=True)
        return
    view = base.view(shape, dtype, strides, offset, negative_strides=True)
    assert view.shape == shape
    expected = np.lib.stride_tricks.as_strided(
        memory[offset:] if 0 in shape else memory[offset : offset + size].view(dtype), shape,
        strides,
    )
    if 0 in shape:
        assert np.from_dlpack(view).shape == shape
    else:
        assert (np.from_dlpack(view) == expected).all()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=4),
    st.sampled_from("u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 ?".split()),
    st.integers(0, 23),
    st.lists(st.sampled_from([1, 2, 3]), min_size=4, max_size=4),
)
def test_random_arrays_survive_a_round_trip(shape, dtype, order, steps):
    array = (np.arange(int(np.prod(shape))) % 251).astype(dtype).reshape(shape)
    axes = sorted(range(len(shape)), key=lambda axis: (order // (axis + 1), axis))
    cut = tuple(slice(None, None, step) for step, _ in zip(steps, shape))
    array = array.transpose(axes)[cut] if shape else array
    back = np.from_dlpack(Tensor.from_dlpack(array))
    assert back.dtype == array.dtype and back.shape == array.shape and (back == array).all()
