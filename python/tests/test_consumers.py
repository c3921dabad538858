# SPDX-License-Identifier: Apache-2.0
"""cuda.core and numba-cuda as they are, on the driver that grinterop uses; and programs of
cuda.core's whose import is changed."""

import os
import subprocess
import sys
import urllib.error
import urllib.request

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor

import gl

core = pytest.importorskip("cuda.core")
from cuda.core.utils import StridedMemoryView  # noqa: E402


@pytest.fixture
def stream(egl):
    egl.make_current()
    device = core.Device(0)
    device.set_current()
    return device.create_stream()


# ---- cuda.core -----------------------------------------------------------------------------------


def test_a_stream_of_cuda_cores(resource, stream):
    with resource.map(stream=stream) as buffer:
        assert buffer.stream is stream
    with resource.map(stream=core.Device(0).default_stream) as buffer:
        assert buffer.handle


def test_views_of_a_mapping(resource, stream):
    with resource.map(stream=stream) as buffer:
        view = StridedMemoryView.from_buffer(buffer, shape=(1024,), dtype=np.dtype("f4"))
        assert view.ptr == int(buffer.handle) and view.shape == (1024,)
        assert view.is_device_accessible
        for make in (StridedMemoryView.from_any_interface, StridedMemoryView.from_dlpack):
            view = make(buffer, stream_ptr=-1)
            assert view.ptr == buffer.handle and view.shape == (4096,)
            del view


def test_memory_of_cuda_cores_is_published(resource, vbo, stream):
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


def test_an_event_of_cuda_cores(three_buffers, stream):
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


def test_its_error_catches_ours(egl):
    from cuda.core._utils.cuda_utils import CUDAError

    with pytest.raises(CUDAError) as caught:
        GraphicsResource.from_gl_buffer(4711)
    assert isinstance(caught.value, grinterop.CUDAError)


# ---- numba-cuda ----------------------------------------------------------------------------------


@pytest.fixture
def numba():
    return pytest.importorskip("numba.cuda")


def test_numba_takes_a_mapping(resource, vbo, stream, numba):
    with resource.map(stream=stream) as buffer, buffer.tensor((32, 32), "f4") as tensor:
        array = numba.as_cuda_array(tensor)
        assert array.shape == (32, 32) and array.strides == (128, 4)
        assert array.device_ctypes_pointer.value == buffer.handle
        array.copy_to_device(np.full((32, 32), 2, "f4"))
        assert (array.copy_to_host() == 2).all()
    assert gl.read_buffer(vbo, 4096) == np.full(1024, 2, "f4").tobytes()


def test_numbas_arrays_are_published(resource, vbo, stream, numba):
    values = np.arange(1024, dtype="f4").reshape(32, 32)
    array = numba.to_device(values)
    # Numba names no stream, although its copy may be under way.
    numba.synchronize()
    with Tensor.from_dlpack(array) as tensor:
        assert tensor.handle == array.device_ctypes_pointer.value and tensor.shape == (32, 32)
    grinterop.publish(resource, array, stream=stream)
    assert gl.read_buffer(vbo, 4096) == values.tobytes()
    grinterop.publish(resource, array[::2, 1::4], stream=stream)
    assert gl.read_buffer(vbo, 512) == values[::2, 1::4].tobytes()


# ---- cuda.core's own tests -----------------------------------------------------------------------

COMMIT = "08f74293aad33d38b76f6090c089bbc580f160bb"
PLACE = f"https://raw.githubusercontent.com/NVIDIA/cuda-python/{COMMIT}/"
CHANGES = [
    ("    Buffer,\n    Device,\n    GraphicsResource,\n", "    Device,\n"),
    ("from cuda.core._graphics import _parse", "from grinterop import _parse"),
    ("import pytest\n", "import pytest\nfrom grinterop import Buffer, GraphicsResource\n"),
]
CONFTEST = """
import pytest
from cuda.core import Device
@pytest.fixture
def init_cuda():
    device = Device(0)
    device.set_current()
    return device
"""


def fetch_theirs(path):
    """A file of cuda-python's: from the folder that GR_CUDA_PYTHON names, or over the network."""
    folder = os.environ.get("GR_CUDA_PYTHON")
    if folder:
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            return file.read()
    try:
        with urllib.request.urlopen(PLACE + path, timeout=20) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, TimeoutError) as error:
        pytest.skip(f"cuda-python's tests could not be fetched: {error.reason}")


def test_cuda_cores_own_tests_with_another_import(tmp_path):
    tests = fetch_theirs("cuda_core/tests/test_graphics.py")
    helpers = "cuda_python_test_helpers/cuda_python_test_helpers/graphics.py"
    package = tmp_path / "cuda_python_test_helpers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "graphics.py").write_text(fetch_theirs(helpers))
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for theirs, ours in CHANGES:
        assert theirs in tests
        tests = tests.replace(theirs, ours, 1 if theirs == "import pytest\n" else -1)
    (tmp_path / "test_graphics.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "failed" not in done.stdout
