# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Unmodified cuda.core and numba-cuda on the same driver as grinterop, and cuda.core programs whose
import is changed to grinterop."""

import ctypes
import os
import sys
import threading
import time
import urllib.error
import urllib.request

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor

import gl
from conftest import end_mapping, refuses, run_python
from test_threads import launch_host, slow  # noqa: F401

core = pytest.importorskip("cuda.core")
from cuda.core.utils import StridedMemoryView  # noqa: E402


@pytest.fixture
def stream(egl):
    egl.make_current()
    device = core.Device(0)
    device.set_current()
    return device.create_stream()


# ---- cuda.core -----------------------------------------------------------------------------------


def test_cuda_core_stream_is_accepted(resource, stream):
    with resource.map(stream=stream) as buffer:
        assert buffer.stream is stream
    with resource.map(stream=core.Device(0).default_stream) as buffer:
        assert buffer.handle


def test_cuda_core_views_a_mapping_without_copy(resource, stream):
    with resource.map(stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, shape=(1024,), dtype=np.dtype("f4"))
        assert view.ptr == int(buffer.handle) and view.shape == (1024,)
        assert view.is_device_accessible
        for make in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
            view = make(buffer, stream_ptr=-1)
            assert view.ptr == buffer.handle and view.shape == (4096,)
            del view


def test_cuda_core_memory_is_published(resource, vbo, stream):
    memory = core.Device(0).allocate(4096, stream=stream)
    memory.fill(3, stream=stream)
    grinterop.publish(resource, memory, stream=stream)
    assert gl.read_buffer(vbo, 4096) == b"\3" * 4096
    with resource.map(stream=stream) as buffer:
        memory.fill(4, stream=stream)
        buffer.copy_from(memory, stream=stream)
    assert gl.read_buffer(vbo, 4096) == b"\4" * 4096
    with resource.map(stream=stream) as buffer:
        buffer.fill(b"\5\6", stream=stream)
        assert buffer.copy_to(memory, stream=stream) is memory
    stream.sync()
    assert Tensor.from_dlpack(memory, stream=stream).tobytes(stream=stream) == b"\5\6" * 2048


def filled(buffer, value, stream):
    """The first bytes after a fill, or the class of the exception."""
    try:
        buffer.fill(0xEE, stream=stream)
        buffer.fill(value, stream=stream)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)
    return Tensor.from_dlpack(buffer, stream=stream).tobytes(stream=stream)[:8]


@pytest.mark.parametrize(
    "value",
    [7, 255, 256, -1, 2**70, True, b"", b"a", b"ab", b"abc", b"abcd", b"abcdefgh", bytearray(b"ab")]
    + [kind(3) for kind in (np.uint8, np.int8, np.uint16, np.int32, np.int64, np.bool_)]
    + [np.float16(1), np.float32(1), np.float64(1), np.array(5, "u2"), np.array([1, 2], "u1")]
    + [np.array([1, 2], ">u2"), memoryview(b"abcd"), ctypes.c_uint16(5), (ctypes.c_ubyte * 4)(1, 2)]
    + ["a", "", None, 1.0, [1], object()],
    ids=repr,
)
def test_fill_writes_the_bytes_of_cuda_core(resource, stream, value):
    """Catches: of a NumPy integer only the low byte was written."""
    memory = core.Device(0).allocate(4096, stream=stream)
    with resource.map(stream=stream) as buffer:
        assert filled(buffer, value, stream) == filled(memory, value, stream)


def test_stream_cannot_end_the_mapping_of_a_cuda_core_buffer(resource, vbo, stream):
    """Catches: publish() read the freed Buffer after a stream had deleted a member."""

    class Deleting:
        def __cuda_stream__(self):
            with pytest.raises((AttributeError, TypeError)):
                del buffer._mapping
            with pytest.raises((AttributeError, TypeError)):
                buffer._mapping = None
            return stream.__cuda_stream__()

    with resource.map(stream=stream) as buffer:
        grinterop.publish(buffer, np.full(4096, 9, "u1"), stream=Deleting())
    assert gl.read_buffer(vbo, 4096) == b"\x09" * 4096


def test_mapping_is_a_cuda_core_buffer(resource, vbo, stream):
    """Catches: launch() and copies of cuda.core refused the result of map()."""
    holder = pytest.importorskip("cuda.core._kernel_arg_handler").ParamHolder
    memory = core.Device(0).allocate(4096, stream=stream)
    memory.fill(6, stream=stream)
    with resource.map(stream=stream) as buffer:
        assert isinstance(buffer, core.Buffer) and isinstance(buffer, grinterop.Buffer)
        assert buffer.resource is resource and buffer.pitch == 0 and "size=4096" in repr(buffer)
        holder((buffer,))
        memory.copy_to(buffer, stream=stream)
        memory.copy_from(buffer, stream=stream)
        with pytest.raises(RuntimeError, match="pass the stream to close"):
            buffer.set_deallocation_stream(stream)
    assert gl.read_buffer(vbo, 4096) == b"\6" * 4096
    assert buffer.is_closed and buffer.handle == buffer.size == 0
    refuses(RuntimeError, lambda: memory.copy_from(buffer, stream=stream), match="closed")


def test_buffer_without_a_mapping_is_closed(resource, stream):
    """Catches: cuda.core's private constructor makes objects of our type, which used none."""
    with resource.map(stream=stream) as buffer:
        kind = type(buffer)
    empty = kind._init(4096, 16)
    assert empty.is_closed and empty.resource is None and "closed" in repr(empty)
    refuses(RuntimeError, empty.tensor, match="closed")
    with pytest.raises(AttributeError):
        empty._mapping = 5
    assert empty.is_closed and empty.close() is None


@pytest.mark.parametrize("end", ["close", "unmap", "resource", "many"])
def test_unmapping_clears_the_cuda_core_buffer(resource, stream, end):
    buffer = resource.map(stream=stream)
    memory = core.Device(0).allocate(4096, stream=stream)
    if end == "close":
        buffer.close(stream)
    else:
        end_mapping(end, resource, buffer)
    assert buffer.is_closed and core.Buffer.handle.__get__(buffer) == 0
    refuses(RuntimeError, lambda: memory.copy_from(buffer, stream=stream), match="closed")


def test_copy_keeps_both_mappings_open(three_buffers, stream, cuda, launch_host):  # noqa: F811
    """Catches: the other mapping ended while the copy was queued, which freed the memory that
    the copy used.
    """
    if not grinterop.cuda_is_software():
        pytest.skip("on a GPU a release does not wait")
    own = three_buffers[0].map(stream=stream)
    other = three_buffers[1].map(stream=cuda)
    caught = []

    def copy():
        time.sleep(0.1)
        for call in (own.copy_to, own.copy_from):
            try:
                call(other, stream=stream)
            except RuntimeError as error:
                caught.append(str(error))

    launch_host(slow([], 0.4))
    thread = threading.Thread(target=copy)
    thread.start()
    other.close()
    thread.join()
    assert len(caught) == 2 and all("another thread is in a call" in text for text in caught)


def test_all_ways_to_map_return_cuda_core_buffers(three_buffers, stream):
    def is_one(buffer):
        return isinstance(buffer, core.Buffer)

    with grinterop.map_many(three_buffers, stream=stream) as buffers:
        assert all(map(is_one, buffers))
        with pytest.raises(ValueError, match="mismatch"):
            core.Device(0).allocate(4096, stream=stream).copy_to(buffers[0], stream=stream)
    ring = grinterop.Ring(three_buffers)
    with ring.acquire_write(2, stream=stream) as slots:
        buffer = slots.buffer
        assert all(map(is_one, slots.buffers)) and slots.buffer is buffer
    assert buffer.handle == 0 and buffer.is_closed
    ring.close()
    image = GraphicsResource.from_gl_image(gl.texture(8, 8), gl.TEXTURE_2D)
    with image.map(stream=stream) as buffer:
        assert not is_one(buffer) and buffer.array()
    with image.map_linear(stream=stream) as buffer:
        assert is_one(buffer) and buffer.pitch >= 32 and buffer.size >= 256
    image.close()


def test_texture_module_accepts_a_mapped_image(stream):
    texture = pytest.importorskip("cuda.core.texture")
    typing = pytest.importorskip("cuda.core.typing")
    image = GraphicsResource.from_gl_image(
        gl.texture(16, 8), gl.TEXTURE_2D, flags="surface_load_store"
    )
    with image.map(stream=stream) as buffer:
        assert buffer.texture(
            filter=typing.FilterModeType.LINEAR, address=(typing.AddressModeType.WRAP,) * 3,
            normalized=True,
        )
        array = texture.OpaqueArray._from_handle(buffer.array(), owning=False)
        assert (array.shape, array.format, array.num_channels) == ((16, 8), "uint8", 4)
        wrapped = grinterop.Tensor.from_memory(array.handle, None, memory="array", owner=array)
        assert wrapped.shape == (8, 16, 4)
        described = texture.ResourceDescriptor.from_opaque_array(array)
        options = texture.TextureObjectOptions()
        with core.Device(0).create_texture_object(resource=described, options=options) as sampled:
            assert sampled.handle
        with core.Device(0).create_surface_object(resource=described) as written:
            assert written.handle
    image.close()


WITHOUT = """
import sys
import grinterop, gl
stream, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
resource = grinterop.GraphicsResource.from_gl_buffer(gl.buffer(64))
with resource.map(stream=stream) as buffer:
    assert type(buffer) is grinterop.Buffer and "cuda.core" not in sys.modules
import cuda.core
with resource.map(stream=stream) as buffer:
    assert isinstance(buffer, cuda.core.Buffer), type(buffer)
"""


def test_map_without_cuda_core_returns_a_grinterop_buffer():
    found = run_python("-c", WITHOUT)
    assert found.returncode == 0, found.stderr


def test_cuda_core_event_is_accepted(three_buffers, stream):
    event = stream.record()
    ready = stream.device.create_event()
    with grinterop.map_many(three_buffers, stream=stream, wait_event=event, ready_event=ready):
        ready.sync()
        assert ready.is_done


@pytest.fixture
def three_buffers(egl):
    egl.make_current()
    made = [GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(3)]
    yield made
    for one in made:
        one.close()


def test_cuda_core_error_catches_grinterop_errors(egl):
    try:
        from cuda.core import CUDAError  # from 1.3 on
    except ImportError:
        from cuda.core._utils.cuda_utils import CUDAError

    with pytest.raises(CUDAError) as caught:
        GraphicsResource.from_gl_buffer(4711)
    assert isinstance(caught.value, grinterop.CUDAError)


# ---- numba-cuda ----------------------------------------------------------------------------------


@pytest.fixture
def numba():
    return pytest.importorskip("numba.cuda")


def test_numba_uses_a_mapping_without_copy(resource, vbo, stream, numba):
    with resource.map(stream=stream) as buffer, buffer.tensor((32, 32), "f4") as tensor:
        array = numba.as_cuda_array(tensor)
        assert array.shape == (32, 32) and array.strides == (128, 4)
        assert array.device_ctypes_pointer.value == buffer.handle
        array.copy_to_device(np.full((32, 32), 2, "f4"))
        assert (array.copy_to_host() == 2).all()
    assert gl.read_buffer(vbo, 4096) == np.full(1024, 2, "f4").tobytes()


def test_numba_arrays_are_published(resource, vbo, stream, numba):
    values = np.arange(1024, dtype="f4").reshape(32, 32)
    array = numba.to_device(values)
    # Numba reports no stream, although the copy that it queued may still be running.
    numba.synchronize()
    with Tensor.from_dlpack(array) as tensor:
        assert tensor.handle == array.device_ctypes_pointer.value and tensor.shape == (32, 32)
    grinterop.publish(resource, array, stream=stream)
    assert gl.read_buffer(vbo, 4096) == values.tobytes()
    grinterop.publish(resource, array[::2, 1::4], stream=stream)
    assert gl.read_buffer(vbo, 512) == values[::2, 1::4].tobytes()


# ---- The tests of cuda.core ----------------------------------------------------------------------

COMMIT = "08f74293aad33d38b76f6090c089bbc580f160bb"
PLACE = f"https://raw.githubusercontent.com/NVIDIA/cuda-python/{COMMIT}/"


def fetch_theirs(path):
    """The path of a file of cuda-python, from the folder GR_CUDA_PYTHON or downloaded."""
    folder = os.environ.get("GR_CUDA_PYTHON")
    if folder:
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            return file.read()
    try:
        with urllib.request.urlopen(PLACE + path, timeout=20) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, TimeoutError) as error:
        pytest.skip(f"cuda-python's tests could not be fetched: {error.reason}")


def outcomes(folder, module):
    """Runs the cuda.core tests with the GraphicsResource of that module. Returns lines of `outcome
    name reason`, and all output.
    """
    log = folder / f"{module}.txt"
    paths = [os.path.dirname(__file__), str(folder), *sys.path]
    names = {"GR_GRAPHICS_MODULE": module, "GR_OUTCOMES": str(log)}
    names["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    options = ["-q", "-p", "no:cacheprovider", "-p", "their_tests", "-c", os.devnull]
    done = run_python("-m", "pytest", *options, folder / "test_graphics.py", **names)
    return log.read_text().splitlines() if log.exists() else [], done.stdout + done.stderr


def test_cuda_core_tests_pass_with_grinterop(tmp_path):
    """Catches: map() did not return a cuda.core.Buffer, which only skipped the tests."""
    package = tmp_path / "cuda_python_test_helpers"
    package.mkdir()
    (package / "__init__.py").touch()
    for path in (
        "cuda_python_test_helpers/cuda_python_test_helpers/graphics.py",
        "cuda_core/tests/test_graphics.py",
    ):
        place = package if "helpers" in path else tmp_path
        (place / os.path.basename(path)).write_text(fetch_theirs(path))
    theirs, _ = outcomes(tmp_path, "cuda.core")
    ours, output = outcomes(tmp_path, "grinterop")
    assert ours and [line for line in ours if not line.startswith("passed ")] == [], output
    assert len(ours) == len(theirs) and set(theirs) <= set(ours), theirs
