# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Mappings as tensors: they need no copy, and are revoked when the mapping ends."""

import gc

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor

import gl
from conftest import elsewhere, refuses, run_python


def test_mapping_is_a_tensor_of_its_bytes(resource, vbo, cuda):
    with resource.map(stream=cuda) as buffer:
        with buffer.tensor() as tensor:
            assert tensor.shape == (4096,) and tensor.dtype == "uint8"
            assert tensor.handle == buffer.handle and tensor.nbytes == 4096
        with buffer.tensor((8, 16, 4), "f4", offset=256) as tensor:
            assert tensor.handle == buffer.handle + 256
            tensor.copy_from(np.arange(512, dtype="f4").reshape(8, 16, 4), stream=cuda)
    expected = np.arange(512, dtype="f4").tobytes()
    assert gl.read_buffer(vbo, 4096)[256 : 256 + 2048] == expected
    assert gl.read_buffer(vbo, 256) == bytes(range(256))


def test_numpy_writes_to_the_opengl_buffer(resource, vbo, cuda):
    if not grinterop.cuda_is_software():
        pytest.skip("on a GPU NumPy gets a copy")
    with resource.map(stream=cuda) as buffer:
        array = np.from_dlpack(buffer)
        assert array.ctypes.data == buffer.handle
        array[:] = 9
        del array
    assert gl.read_buffer(vbo, 4096) == b"\t" * 4096


def test_device_is_cached_until_the_mapping_ends(resource, cuda):
    handle = cuda.__cuda_stream__()[1]
    with resource.map(stream=cuda) as first:
        device = first.__dlpack_device__()
        assert device[0] == (1 if grinterop.cuda_is_software() else 2)
    with resource.map(stream=cuda) as second:
        assert second.__dlpack_device__() == device == second.__dlpack_device__()
        with second.tensor() as tensor:
            assert tensor.__dlpack_device__() == device
        # These exports are never consumed: on the stream of the map, on another stream, and
        # unordered.
        for stream in [handle, 1, -1]:
            second.__dlpack__(stream=stream, max_version=(1, 0))
            name = "".join(["str", "eam"])  # equal to the interned name, but another object
            second.__dlpack__(**{name: stream}, max_version=(1, 0))
        refuses(BufferError, lambda: second.__dlpack__(stream=0))
        for stream in [-2, 1 << 64, (1 << 64) - 1]:
            refuses(ValueError, lambda: second.__dlpack__(stream=stream))
    for buffer in [first, second]:
        refuses(RuntimeError, buffer.__dlpack_device__)


def test_tensors_outside_the_mapping_are_refused(resource, cuda):
    with resource.map(stream=cuda) as buffer:
        for arguments in [
            ((4097,),), ((1025,), "f4"), ((2,), "u1", (4096,)), ((1,), "u1", None, 4096)
        ]:
            refuses(grinterop.InvalidValueError, lambda: buffer.tensor(*arguments))
        refuses(TypeError, lambda: buffer.tensor(dtype="f4"), match="shape")
    refuses(RuntimeError, buffer.tensor, buffer.__dlpack__, match="closed")
    refuses(RuntimeError, buffer.__dlpack_device__, match="closed")
    assert not hasattr(buffer, "__cuda_array_interface__")


def test_mapped_image_becomes_a_tensor_by_a_copy(egl, cuda):
    egl.make_current()
    name = gl.texture(8, 4, data=bytes(range(128)))
    with GraphicsResource.from_gl_image(name, gl.TEXTURE_2D) as picture:
        with picture.map_linear(stream=cuda) as pixels, pixels.tensor() as tensor:
            assert tensor.shape == (4, 8, 4) and tensor.strides[0] == pixels.pitch
            assert tensor.tobytes(stream=cuda) == bytes(range(128))
            tensor.copy_from(np.full((4, 8, 4), 3, "u1"), stream=cuda)
        assert gl.read_texture(name, 8, 4) == b"\3" * 128
        with picture.map(stream=cuda) as image:
            refuses(BufferError, image.__dlpack__)
            refuses(grinterop.StateError, image.tensor)
            assert not hasattr(image, "__cuda_array_interface__")


def test_read_only_resource_has_read_only_tensors(vbo, cuda):
    with GraphicsResource.from_gl_buffer(vbo, flags="read_only") as resource:
        with resource.map(stream=cuda) as buffer:
            with buffer.tensor() as tensor:
                assert tensor.is_read_only
            if grinterop.cuda_is_software():
                array = np.from_dlpack(buffer)
                assert not array.flags.writeable and bytes(array[:4]) == b"\0\1\2\3"
                del array
            refuses(BufferError, buffer.__dlpack__, match="read-only")
            assert buffer.__cuda_array_interface__["data"] == (buffer.handle, True)


# ---- When the mapping ends -----------------------------------------------------------------------


@pytest.mark.parametrize("end", ["close", "with", "unmap", "resource", "many"])
def test_unmap_revokes_tensors(vbo, cuda, end):
    resource = GraphicsResource.from_gl_buffer(vbo)
    buffer = resource.map(stream=cuda)
    tensor = buffer.tensor((16,), "f4")
    view = tensor.view((8,))
    with pytest.warns(ResourceWarning, match="2 tensors outlived") as warned:
        if end == "close":
            buffer.close()
        elif end == "with":
            with buffer:
                pass
        elif end == "unmap":
            resource.unmap()
        elif end == "resource":
            resource.close()
        else:
            grinterop.Buffers([buffer]).close()
    assert warned[0].filename == (grinterop.__file__ if end == "many" else __file__)
    for left in (tensor, view):
        assert left.is_revoked and left.handle == 0 and repr(left).endswith(" revoked>")
        refuses(BufferError, left.__dlpack__)
        refuses(grinterop.StateError, left.tobytes)
        assert not hasattr(left, "__cuda_array_interface__")
    resource.close()


@pytest.mark.parametrize("of", ["buffer", "tensor"])
def test_unmap_revokes_imports_of_own_capsules(resource, cuda, of):
    """Catches: they kept the address of the memory after the unmap."""
    buffer = resource.map(stream=cuda)
    exporter = buffer if of == "buffer" else buffer.tensor()
    imported = Tensor.from_dlpack(exporter.__dlpack__(stream=cuda), stream=cuda)
    late = exporter.__dlpack__(stream=cuda)
    del exporter
    with pytest.warns(ResourceWarning):
        resource.unmap()
    assert imported.is_revoked and imported.handle == 0
    refuses(grinterop.StateError, imported.tobytes, match="mapping has ended")
    refuses(BufferError, lambda: Tensor.from_dlpack(late), match="mapping that has ended")


def test_unmap_warns_of_live_exports(resource, cuda):
    buffer = resource.map(stream=cuda)
    capsule = buffer.__dlpack__()
    with pytest.warns(ResourceWarning, match="1 tensor outlived"):
        buffer.close()
    del capsule
    with resource.map(stream=cuda) as buffer:
        pass


def test_export_warning_as_error_still_unmaps(resource, cuda):
    import warnings

    buffer = resource.map(stream=cuda)
    tensor = buffer.tensor()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refuses(ResourceWarning, buffer.close)
    assert buffer.is_closed and not resource.is_mapped and tensor.is_revoked


def test_tensor_keeps_a_dropped_mapping(vbo, cuda):
    buffer = GraphicsResource.from_gl_buffer(vbo).map(stream=cuda)
    tensor = buffer.tensor((16,))
    held = [tensor.__dlpack__(max_version=(1, 0))]
    if grinterop.cuda_is_software():
        held = [np.from_dlpack(tensor)]
    del buffer
    gc.collect()
    assert not tensor.is_revoked and tensor.handle
    del tensor
    if grinterop.cuda_is_software():
        held[0][:] = 5
    elsewhere(held.clear)
    again = GraphicsResource.from_gl_buffer(vbo)
    with again.map(stream=cuda) as buffer:
        pass
    again.close()
    if grinterop.cuda_is_software():
        assert gl.read_buffer(vbo, 16) == b"\5" * 16


def test_mapping_is_imported_as_a_tensor(resource, cuda):
    with resource.map(stream=cuda) as buffer:
        with Tensor.from_dlpack(buffer) as tensor:
            assert tensor.handle == buffer.handle
        with Tensor.from_dlpack(buffer.__dlpack__()) as tensor:
            assert tensor.shape == (4096,)


END = """
import sys
import grinterop, numpy as np, gl
cuda = grinterop.CudaContext(0)
egl = grinterop.EglContext(0)
resource = grinterop.GraphicsResource.from_gl_buffer(gl.buffer(64))
buffer = resource.map(stream=cuda)
tensor = buffer.tensor((4, 4), "f4")
array = np.from_dlpack(tensor) if grinterop.cuda_is_software() else None
capsule = buffer.__dlpack__()
{last}
"""


@pytest.mark.parametrize(
    "last",
    [
        "", "egl.close()", "cuda.close()", "egl.close(); cuda.close()", "del resource, buffer",
        "del resource, buffer; egl.close()", "resource = None; del egl",
        "del cuda, egl, resource, buffer, tensor; sys.modules['keep'] = [array, capsule]",
        "import os; os._exit(0)",
    ],
)
def test_exit_with_live_mapping_tensors_succeeds(last):
    done = run_python("-W", "ignore", "-c", END.format(last=last))
    assert done.returncode == 0
    if grinterop.cuda_is_software() and "cuda.close()" in last:
        assert "is mapped while its CUDA context ends: CUDA's bytes are lost" in done.stderr
    else:
        assert done.stderr == ""
