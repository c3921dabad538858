# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The streams that calls accept, and how long they are kept."""

import ctypes
import types
import weakref

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor

from conftest import interface, refuses
from test_threads import launch_host, slow  # noqa: F401


class Stream:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


class OldStream:
    __cuda_stream__ = (0, 1)


class OnlyInt:
    """Converts to an integer like CUstream of cuda.bindings."""

    def __int__(self):
        return 1


class CupyStream:
    ptr = 2

    def wait_event(self, event):
        pass


class NumbaStream:
    handle = np.uint64(2)

    def auto_synchronize(self):
        pass


@pytest.mark.parametrize(
    "stream",
    [
        0, 1, 2, np.int64(1), Stream((0, 0)), Stream([0, 1]), Stream((np.int32(0), np.uint64(2))),
        Stream(np.array([0, 1])), Stream((0, OnlyInt())), OldStream(), CupyStream(), NumbaStream(),
    ],
    ids=repr,
)
def test_map_accepts_each_kind_of_stream(resource, stream):
    with resource.map(stream=stream) as buffer:
        assert buffer.handle


@pytest.mark.parametrize(
    "stream, error",
    [
        (None, TypeError), ("1", TypeError), (1.5, TypeError), (object(), TypeError),
        (-1, ValueError), (2**64 - 1, ValueError), (2**64 - 2, ValueError), (2**70, ValueError),
        (Stream(None), RuntimeError), (Stream((1, 0)), RuntimeError), (Stream((0,)), RuntimeError),
        (Stream((0, None)), RuntimeError), (Stream((0, -1)), ValueError),
        (Stream((0, 1.0)), RuntimeError), (Stream((0.0, 1)), RuntimeError),
        (Stream("01"), RuntimeError), (Stream([0, 1, 2]), RuntimeError), (Stream(5), RuntimeError),
    ],
)
def test_invalid_streams_are_refused(resource, stream, error):
    refuses(error, lambda: resource.map(stream=stream))
    assert not resource.is_mapped


class Allocation:
    ptr = handle = 2
    size = 4096


def test_other_objects_with_a_handle_are_no_streams_events_or_buffers(resource, vbo, cuda):
    """Catches: a resource was taken for the legacy stream, and an address reached the driver."""
    tensor = Tensor.create(4)
    with GraphicsResource.from_gl_buffer(vbo, flags="read_only") as other:
        with other.map(stream=cuda) as buffer:
            for wrong in (other, buffer, tensor, Allocation(), Allocation):
                with pytest.raises(TypeError, match="expected a CUDA stream"):
                    resource.map(stream=wrong)
                with pytest.raises(TypeError, match="expected a CUDA event"):
                    grinterop.map_many([resource], stream=cuda, wait_event=wrong)
            for wrong in (other, tensor, Allocation()):
                with pytest.raises(TypeError, match="expected a Buffer"):
                    buffer.copy_to(wrong, stream=cuda)
    assert not resource.is_mapped


def test_map_requires_stream_as_its_only_keyword_argument(resource):
    refuses(
        TypeError,
        lambda: resource.map(),
        lambda: resource.map(stream=1, other=2),
        lambda: resource.map(other=2),
        lambda: resource.map(1),
        match="map\\(\\) .* argument",
    )


def test_none_is_not_a_stream(resource, cuda):
    """Catches: "missing keyword-only argument stream", although it was passed."""
    tensor = Tensor.create(4096)
    calls = {
        "publish": lambda **stream: grinterop.publish(resource, tensor, **stream),
        "fetch": lambda **stream: grinterop.fetch(resource, tensor, **stream),
        "fetch_framebuffer": lambda **stream: grinterop.fetch_framebuffer(0, tensor, **stream),
        "map_linear": resource.map_linear,
    }
    for name, call in calls.items():
        needs = rf"{name}\(\) needs the keyword-only argument stream: pass a CudaContext"
        refuses(TypeError, call, match=needs)
        refuses(TypeError, lambda: call(stream=None), match="None is not a CUDA stream: pass a")
    refuses(TypeError, lambda: resource.map(stream=None), match="None is not a CUDA stream")
    with resource.map(stream=cuda) as buffer:
        grinterop.publish(buffer, tensor, stream=None)


def test_mapping_keeps_its_stream(resource):
    stream = Stream((0, 1))
    seen = weakref.ref(stream)
    buffer = resource.map(stream=stream)
    del stream
    assert seen() is not None
    buffer.close()
    assert seen() is None


def test_map_fails_if_its_stream_closes_the_resource(vbo):
    resource = GraphicsResource.from_gl_buffer(vbo)

    class Closing:
        def __cuda_stream__(self):
            resource.close()
            return (0, 1)

    refuses(RuntimeError, lambda: resource.map(stream=Closing()), match="has been closed")


# ---- Exceptions of the program -------------------------------------------------------------------


class Raises:
    """Raises `error` when one attribute is read or, if that is __cuda_stream__, called."""

    wait_event = auto_synchronize = elapsed_time = is_timing_enabled = None

    def __init__(self, attribute, error):
        self.attribute, self.error = attribute, error

    def __getattr__(self, name):
        if name != self.attribute:
            raise AttributeError(name)
        if name == "__cuda_stream__":
            return self.fail
        raise self.error

    def fail(self):
        raise self.error


class Number:
    def __init__(self, error):
        self.error = error

    def __int__(self):
        raise self.error

    __index__ = __int__


class Handle:
    auto_synchronize = elapsed_time = None

    def __init__(self, error):
        self.handle = Number(error)


class Later:
    def __index__(self):
        return int("0")


def test_exceptions_of_a_stream_or_event_propagate(resource):
    """Catches: each of them became "expected a CUDA stream"."""
    tensor = Tensor.create((4,), memory="host")
    for kind in (RuntimeError, KeyboardInterrupt, AttributeError, TypeError):
        error = kind("mine")
        # An AttributeError of the attribute itself says that there is none.
        names = () if type(error) is AttributeError else ("cuda_stream", "cuda_event", "handle")
        raising = [Handle(error), *(Raises(name, error) for name in names)]
        for one in [Raises("__cuda_stream__", error), *raising[:2], *raising[3:]]:
            refuses(type(error), lambda: resource.map(stream=one), match="mine")
            refuses(type(error), lambda: tensor.__dlpack__(stream=one), match="mine")
        for one in [*raising[:1], *raising[2:]]:
            with pytest.raises(type(error), match="mine"):
                grinterop.map_many([resource], stream=1, wait_event=one)
    assert not resource.is_mapped


def test_exceptions_of_a_tensor_propagate():
    """Catches: each of them became "not a tensor" or "not a dtype"."""
    error = KeyboardInterrupt("mine")
    for name in ("__dlpack__", "__cuda_array_interface__"):
        refuses(KeyboardInterrupt, lambda: Tensor.from_dlpack(Raises(name, error)), match="mine")
    for name in ("name", "__name__"):
        refuses(KeyboardInterrupt, lambda: Tensor.create((4,), Raises(name, error)), match="mine")
    with pytest.raises(ValueError, match="ambiguous"):
        Tensor.create((4,)).__dlpack__(copy=np.array([1, 2]))


def test_first_exception_of_a_call_propagates(resource):
    """Catches: a later argument was read while the exception was set."""
    later = Later()
    for first in ({"level": "x"}, {"level": 0, "layer": 1.5}):
        with pytest.raises(TypeError):
            grinterop.publish(resource, np.zeros(4, "u1"), stream=1, offset=later, **first)


@pytest.fixture
def other_stream(cuda):
    """A stream that does not wait for any other, as an int."""
    library, stream = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    assert library.cuStreamCreate(ctypes.byref(stream), 1) == 0
    yield stream.value
    assert library.cuStreamDestroy_v2(stream) == 0


@pytest.mark.parametrize("kind", ["tensor", "buffer", "interface", "chroma", "dlpack"])
def test_import_orders_the_stream(resource, cuda, other_stream, launch_host, kind):  # noqa: F811
    """Catches: work on the stream of from_dlpack() read what was there before the producer's."""
    library = ctypes.CDLL("libcuda.so.1")
    seen = (ctypes.c_ubyte * 64)()
    with resource.map(stream=cuda) as buffer:
        tensor = Tensor.create((8, 8), stream=cuda) if kind != "buffer" else buffer.tensor()
        address, size = (ctypes.c_uint64(n) for n in (tensor.handle, 64))
        library.cuMemsetD8Async(address, 0, size, ctypes.c_void_p(cuda.stream))
        cuda.sync()
        launch_host(slow([], 0.1))
        library.cuMemsetD8Async(address, 7, size, ctypes.c_void_p(cuda.stream))
        plane = types.SimpleNamespace(
            __cuda_array_interface__=interface(tensor.handle, stream=cuda.stream)
        )
        objects = {
            "tensor": tensor,
            "buffer": buffer,
            "interface": plane,
            "chroma": [np.zeros((16, 8), "u1"), plane],
            "dlpack": types.SimpleNamespace(
                __dlpack__=tensor.__dlpack__, __dlpack_device__=tensor.__dlpack_device__
            ),
        }
        made = Tensor.from_dlpack(objects[kind], stream=other_stream)
        stream = ctypes.c_void_p(other_stream)
        assert library.cuMemcpyDtoHAsync_v2(seen, address, size, stream) == 0
        assert library.cuStreamSynchronize(stream) == 0
        assert bytes(seen) == b"\7" * 64
        del made, tensor, objects
