# SPDX-License-Identifier: Apache-2.0 OR MIT
"""DLPack and the CUDA array interface: capsules, streams, versions and different kinds of
producers.
"""

import ctypes
import gc
import weakref
from types import SimpleNamespace

import grinterop
import numpy as np
import pytest
from grinterop import Tensor

import vk
from conftest import elsewhere, interface, pinned, refuses, run_python


# ---- Exports -------------------------------------------------------------------------------------


def test_numpy_imports_without_a_copy(cuda):
    tensor = Tensor.create((4, 3), "i4", stream=cuda)
    if not grinterop.cuda_is_software():
        pytest.skip("on a GPU NumPy gets a copy")
    array = np.from_dlpack(tensor)
    assert array.ctypes.data == tensor.handle and array.shape == (4, 3)
    array[:] = 7
    assert (np.from_dlpack(tensor) == 7).all()


def test_asarray_shares_host_memory(cuda, resource):
    """Catches: numpy.asarray() created an array whose only element was the tensor object."""
    host = Tensor.from_dlpack(np.arange(12, dtype="i4").reshape(4, 3))
    assert (np.asarray(host) == np.arange(12).reshape(4, 3)).all()
    assert np.asarray(host).ctypes.data == host.handle
    assert np.asarray(host, "f8").dtype == "f8" and np.array(host).ctypes.data != host.handle
    device = host.clone(stream=cuda)
    cuda.sync()
    with resource.map(stream=cuda) as buffer:
        if grinterop.cuda_is_software():
            assert (np.asarray(device) == np.asarray(host)).all()
            assert np.asarray(buffer).shape == (4096,)
        else:
            for one in (device, buffer):
                refuses(TypeError, lambda: np.asarray(one), match="can't read GPU memory")


def test_max_version_selects_the_capsule(cuda):
    tensor = Tensor.create((4,), stream=cuda)
    for arguments, name in [
        ({}, '"dltensor"'), ({"max_version": None}, '"dltensor"'),
        ({"max_version": (0, 8)}, '"dltensor"'), ({"max_version": (1, 0)}, '"dltensor_versioned"'),
        ({"max_version": (2, 0)}, '"dltensor_versioned"'),
    ]:
        assert name in repr(tensor.__dlpack__(**arguments))


def test_unused_capsule_is_freed(cuda):
    array = np.arange(16)
    seen = weakref.ref(array)
    tensor = Tensor.from_dlpack(array)
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))]
    del array, tensor
    gc.collect()
    assert seen() is not None
    capsules.pop()
    assert seen() is not None
    capsules.pop()
    grinterop.Tensor.collect()
    assert seen() is None


def test_capsule_is_imported_once(cuda):
    for version in (None, (1, 0)):
        capsule = Tensor.create((4,), stream=cuda).__dlpack__(max_version=version)
        taken = Tensor.from_dlpack(capsule)
        assert "used_dltensor" in repr(capsule) and taken.shape == (4,)
        refuses(BufferError, lambda: Tensor.from_dlpack(capsule), match="once")


def test_export_accepts_only_valid_streams(cuda):
    tensor = Tensor.create((4,), stream=cuda)
    for stream in (None, 1, 2, -1, cuda.stream, cuda):
        assert tensor.__dlpack__(stream=stream)
        assert tensor.__dlpack__(stream)
    refuses(BufferError, lambda: tensor.__dlpack__(stream=0), match="stream=0")
    refuses(ValueError, lambda: tensor.__dlpack__(stream=-2))
    refuses(TypeError, lambda: tensor.__dlpack__(stream="1"))


def test_invalid_export_arguments_are_refused(cuda):
    tensor = Tensor.create((4,), stream=cuda)
    for arguments in [{"max_version": 1}, {"max_version": (1,)}, {"dl_device": 1}, {"other": 1}]:
        refuses(TypeError, lambda: tensor.__dlpack__(**arguments))
    refuses(TypeError, lambda: tensor.__dlpack__(1, 2), lambda: tensor.__dlpack__(1, stream=1))


def test_dl_device_must_be_that_of_the_tensor_or_cpu(cuda):
    tensor = Tensor.create((4,), stream=cuda)
    own = tensor.__dlpack_device__()
    assert own == ((1, 0) if grinterop.cuda_is_software() else (2, tensor.device))
    assert tensor.__dlpack__(dl_device=own, copy=False)
    assert tensor.__dlpack__(dl_device=(1, 0))
    refuses(BufferError, lambda: tensor.__dlpack__(dl_device=(4, 0)))
    if not grinterop.cuda_is_software():
        refuses(BufferError, lambda: tensor.__dlpack__(dl_device=(1, 0), copy=False), match="copy")


def test_export_refuses_unsupported_strides():
    array = np.arange(12, dtype="i4")
    tensor = Tensor.from_dlpack(array).view((3,), "i4", (-4,), 8)
    refuses(BufferError, tensor.__dlpack__, match="negative")
    same = tensor.view(negative_strides=True)
    assert (np.from_dlpack(same) == [2, 1, 0]).all()
    odd = tensor.view((2,), "i2", (3,))
    refuses(BufferError, lambda: odd.__dlpack__(max_version=(1, 0)), match="stride")


def test_export_keeps_read_only():
    array = np.arange(4)
    array.flags.writeable = False
    tensor = Tensor.from_dlpack(array)
    assert tensor.is_read_only
    assert not np.from_dlpack(tensor).flags.writeable
    refuses(BufferError, tensor.__dlpack__, match="read-only")
    view = Tensor.create(4).view(read_only=True)
    assert view.__cuda_array_interface__["data"][1] is True
    with pytest.raises(AttributeError, match="Tensor.__dlpack__"):
        tensor.__cuda_array_interface__


# ---- Imports -------------------------------------------------------------------------------------


class Producer:
    """Wraps an object that has a tensor. Exports the tensor like a producer of the given kind."""

    def __init__(self, array, kind, device=(1, 0)):
        self.array, self.kind, self.device, self.asked = array, kind, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        if self.kind == "legacy" and "max_version" in arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        if self.kind == "refusing":
            raise BufferError("not today")
        if self.kind == "nonsense":
            return 42
        return self.array.__dlpack__(max_version=arguments.get("max_version"))


def test_import_requests_versioned_capsules_first():
    for kind, asked in (("versioned", 1), ("legacy", 2)):
        producer = Producer(np.arange(6), kind)
        assert np.from_dlpack(Tensor.from_dlpack(producer)).sum() == 15
        assert len(producer.asked) == asked and "max_version" in producer.asked[0]
        assert "stream" not in producer.asked[-1]


def test_import_passes_the_stream_to_device_producers(cuda):
    for stream, number in ((None, 1), (cuda, cuda.stream), (2, 2), (0, 1)):
        producer = Producer(np.arange(6), "versioned", device=(2, 0))
        Tensor.from_dlpack(producer, stream=stream)
        assert producer.asked[0]["stream"] == number


def test_import_queries_the_device_again_if_the_stream_is_refused(cuda):
    """The device is queried for the first tensor of a type, and after one in host memory."""

    class Counted(Producer):
        def __dlpack_device__(self):
            counts.append(self.device)
            return self.device

        def __dlpack__(self, **arguments):
            if self.device == (1, 0) and "stream" in arguments:
                raise RuntimeError("no stream")
            return super().__dlpack__(**arguments)

    counts = []
    for device in ((2, 0), (2, 0), (1, 0), (1, 0), (2, 0)):
        tensor = Tensor.from_dlpack(Counted(np.arange(6), "versioned", device), stream=cuda)
        assert np.from_dlpack(tensor).sum() == 15
    assert counts == [(2, 0), (1, 0), (1, 0), (2, 0)]


# The first fields of DLManagedTensorVersioned.
Managed = vk.record("Managed", "before:q5 device_type:i device_id:i")
FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
STREAM = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


# DLPackExchangeAPI
Functions = vk.record(
    "Functions", "version:u2 older:p allocate:p", from_object=FROM_OBJECT,
    unused=ctypes.c_void_p * 2, current_stream=STREAM,
)


def with_functions(tensor, stream=0, major=1, fails=False, **attributes):
    """An object whose type has DLPack's C functions, which say that it is on a CUDA device, and
    whose __dlpack__() raises an exception."""
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_New.restype = ctypes.py_object

    def from_object(_, out):
        if fails:
            return -1
        capsule = ctypes.py_object(tensor.__dlpack__(max_version=(1, 0)))
        out[0] = python.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        python.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        Managed.from_address(out[0]).device_type = 2
        return 0

    def current_stream(kind, device, out):
        assert (kind, device) == (2, 0)
        out[0] = stream
        return 0

    def refuse(*_, **__):
        raise BufferError("the slow way")

    functions = Functions(
        (major, 3), None, None, FROM_OBJECT(from_object), (None, None), STREAM(current_stream)
    )
    capsule = python.PyCapsule_New(ctypes.byref(functions), b"dlpack_exchange_api", None)
    members = {"__dlpack_c_exchange_api__": capsule, "__dlpack__": refuse, "kept": functions}
    members["__dlpack_device__"] = lambda self: (2, 0)
    return type("Producer", (), members | attributes)()


def test_c_exchange_functions_import_without_python_calls(cuda):
    tensor = Tensor.from_dlpack(np.arange(12, dtype="f4")).clone(stream=cuda)
    taken = Tensor.from_dlpack(with_functions(tensor, cuda.stream), stream=cuda)
    assert taken.handle == tensor.handle and taken.tobytes() == tensor.tobytes()
    taken.close()
    taken = Tensor.from_dlpack(with_functions(tensor, requires_grad=False))
    assert taken.handle == tensor.handle


@pytest.mark.parametrize(
    "changes", [{"stream": 2}, {"major": 2}, {"fails": True}, {"requires_grad": True}], ids=str
)
def test_dlpack_is_called_where_the_c_functions_do_not_suffice(cuda, changes):
    """They do not order streams, and PyTorch's ignore requires_grad."""
    tensor = Tensor.from_dlpack(np.arange(12, dtype="f4")).clone(stream=cuda)
    producer = with_functions(tensor, **{"stream": cuda.stream} | changes)
    refuses(BufferError, lambda: Tensor.from_dlpack(producer, stream=cuda), match="the slow way")


def test_complex_tensors_are_imported_by_dlpack(cuda):
    """Catches: PyTorch's C functions ignore the conjugate bit."""
    tensor = Tensor.from_dlpack(np.arange(12, dtype="c8")).clone(stream=cuda)
    with pytest.raises(BufferError, match="the slow way"):
        Tensor.from_dlpack(with_functions(tensor, cuda.stream), stream=cuda)


def test_failures_of_producers_are_raised():
    refuses(BufferError, lambda: Tensor.from_dlpack(Producer(None, "refusing")), match="not today")
    with pytest.raises(TypeError, match="not a capsule"):
        Tensor.from_dlpack(Producer(None, "nonsense"))
    for nothing in (None, 3, "text", object(), [1, 2, 3]):
        refuses(TypeError, lambda: Tensor.from_dlpack(nothing), match="not a tensor")
    with pytest.raises(AttributeError):
        Tensor.from_dlpack(type("Half", (), {"__dlpack__": lambda self: None})())


def test_unsupported_dtypes_are_refused():
    refuses(BufferError, lambda: Tensor.from_dlpack(np.zeros(3, "f2").astype(np.longdouble)))


class Interface:
    def __init__(self, array, **changes):
        self.array = array
        own = array.__array_interface__
        self.__cuda_array_interface__ = {
            "shape": own["shape"], "typestr": own["typestr"], "data": own["data"],
            "strides": own["strides"], "version": 3,
        } | changes


def test_array_interface_is_imported(cuda):
    array = pinned(np.arange(24, dtype="i4").reshape(2, 3, 4))[:, ::2]
    for stream in (None, 1, 2, cuda.stream):
        tensor = Tensor.from_dlpack(Interface(array, stream=stream))
        assert tensor.strides == array.strides
        if grinterop.cuda_is_software():
            assert (np.from_dlpack(tensor) == array).all()
    owner = Interface(array)
    seen = weakref.ref(owner)
    tensor = Tensor.from_dlpack(owner)
    del owner
    assert seen() is not None
    del tensor
    grinterop.Tensor.collect()
    assert seen() is None


@pytest.mark.parametrize(
    "changes, error",
    [
        ({"mask": 1}, BufferError), ({"shape": None}, TypeError), ({"typestr": None}, TypeError),
        ({"typestr": "|O8"}, Exception), ({"typestr": ">i4"}, Exception),
        ({"data": None}, TypeError), ({"data": (1,)}, TypeError),
        ({"data": ("1", False)}, TypeError), ({"data": (1.0, False)}, TypeError),
        ({"data": (np.float32(1), False)}, TypeError), ({"data": (-1, False)}, ValueError),
        ({"strides": (1,)}, ValueError), ({"strides": "ab"}, TypeError),
        ({"shape": (-1, 1, 1)}, Exception), ({"shape": 2**70}, OverflowError),
        ({"stream": -1}, ValueError), ({"stream": object()}, TypeError),
        ({"stream": 0}, ValueError), ({"stream": np.int64(0)}, ValueError),
    ],
)
def test_invalid_array_interfaces_are_refused(changes, error):
    with pytest.raises(error):
        Tensor.from_dlpack(Interface(np.arange(24, dtype="i4").reshape(2, 3, 4), **changes))
    grinterop.Tensor.collect()


class OldArray:
    """A NumPy array before 2.1, whose __dlpack__() refuses it."""

    def __init__(self, array, error):
        self.array, self.error = array, error

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, stream=None):
        raise self.error

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


def test_array_interface_of_host_memory_is_refused(cuda):
    with pytest.raises(BufferError, match="does not know the memory"):
        Tensor.from_dlpack(Interface(np.zeros(64, "u1")))


@pytest.mark.parametrize("error", [BufferError("read-only"), TypeError("bool")])
def test_arrays_of_old_numpy_are_imported(error):
    array = (np.arange(24).reshape(4, 6) % 2 == 0)[:, 1:]
    array.setflags(write=False)
    tensor = Tensor.from_dlpack(OldArray(array, error))
    assert tensor.memory == "host" and tensor.dtype == "bool" and tensor.is_read_only
    assert (np.from_dlpack(tensor) == array).all()
    wrong = OldArray(np.array([None]), error)
    refuses(type(error), lambda: Tensor.from_dlpack(wrong), match=str(error))
    with pytest.raises(RuntimeError, match="mine"):
        Tensor.from_dlpack(OldArray(array, RuntimeError("mine")))


def test_array_interface_must_be_a_dict():
    with pytest.raises(TypeError, match="dict"):
        Tensor.from_dlpack(type("Odd", (), {"__cuda_array_interface__": 3})())


def test_array_interface_is_exported(cuda):
    tensor = Tensor.create((4, 3), "f4", stream=cuda)
    interface = tensor.__cuda_array_interface__
    assert interface["shape"] == (4, 3) and interface["typestr"] == "<f4"
    assert interface["data"] == (tensor.handle, False) and interface["strides"] is None
    assert interface["version"] == 3 and interface["stream"] == cuda.stream
    assert tensor.view((2, 3), "f4", (24, 4)).__cuda_array_interface__["strides"] == (24, 4)
    host = Tensor.create((4,), memory="host")
    assert not hasattr(host, "__cuda_array_interface__")


def test_planes_are_imported(cuda):
    luma, chroma = np.zeros((48, 64), "u1"), np.zeros((24, 32, 2), "u1")
    for pair in ((luma, chroma), [Interface(pinned(luma)), Interface(pinned(chroma))]):
        picture = Tensor.from_dlpack(pair, layout="nv12")
        assert picture.layout == "nv12" and picture.shape == (48, 64)
        assert picture.chroma.shape == (24, 32, 2)
    first, second = (Tensor.from_dlpack(plane) for plane in (luma, chroma))
    assert Tensor.from_dlpack((first, second)).chroma is second and first.chroma is None
    refuses(TypeError, lambda: Tensor.from_dlpack((luma, None)))
    three = Tensor.from_dlpack((first, chroma, second), layout="yuv420")
    assert three.chroma.shape == (24, 32, 2) and three.chroma_v is second
    refuses(TypeError, lambda: Tensor.from_dlpack((luma, chroma, None)))


def test_calls_use_all_planes(cuda):
    """Catches: copies, clones and views used the first plane only, and lost the others silently."""
    y, u, v = (np.full(shape, k, "u1") for k, shape in enumerate([(4, 6), (2, 3), (2, 3)], 5))
    whole = b"".join(one.tobytes() for one in (y, u, v))
    for count in (2, 3):
        some = (y, u, v)[:count]
        tensor, wanted = Tensor.from_dlpack(some), whole[: 24 + 6 * (count - 1)]
        assert tensor.tobytes() == wanted and [one.shape for one in tensor.planes] == [
            one.shape for one in some
        ]
        assert not any(one.chroma for one in tensor.planes)
        out = [np.zeros_like(one) for one in some]
        tensor.copy_to(out, stream=cuda)
        cuda.sync()
        assert b"".join(one.tobytes() for one in out) == wanted
        into = Tensor.from_dlpack([np.zeros_like(one) for one in some])
        into.copy_from(tensor, stream=cuda)
        for made in (into, tensor.clone("host", stream=cuda), tensor.view(read_only=True)):
            assert made.tobytes(stream=cuda) == wanted and len(made.planes) == count
        view = tensor.view(layout="nv12", read_only=True)
        assert view.layout == "nv12" and all(one.is_read_only for one in view.planes)
        for name in ("wait", "used_on"):
            tensor = Tensor.from_dlpack(some)
            getattr(tensor, name)(cuda)
            tensor.planes[-1].close()
            refuses(RuntimeError, lambda: getattr(tensor, name)(cuda), match="Tensor has been")
    assert len(Tensor.from_dlpack(y).planes) == 1


def test_copies_of_planes_that_differ_change_nothing(cuda):
    source = Tensor.from_dlpack((np.ones((4, 4), "u1"), np.ones((2, 2), "u1")))
    for planes, text in [
        ([np.zeros((4, 4), "u1")], "has 1 plane, but the source has 2"),
        ([np.zeros((4, 4), "u1"), np.zeros((2, 3), "u1")], "shapes differ"),
        ([np.zeros((4, 4), "u1"), np.zeros((2, 2), "u2")], "have the types uint16 and uint8"),
    ]:
        to = planes if len(planes) > 1 else planes[0]
        refuses(ValueError, lambda to=to: source.copy_to(to, stream=cuda), match=text)
        cuda.sync()
        assert not any(one.any() for one in planes)


def test_calls_without_a_meaning_for_planes_are_refused(cuda):
    """Catches: exports and new shapes used the first plane only."""
    y, uv = np.ones((4, 4), "u1"), np.ones((2, 2, 2), "u1")
    planes = Tensor.from_dlpack((y, uv))
    for error, call in [
        (BufferError, lambda: memoryview(planes)),
        (BufferError, planes.__dlpack__),
        (BufferError, lambda: np.asarray(planes)),
        (AttributeError, lambda: planes.__cuda_array_interface__),
        (ValueError, lambda: planes.view((16,))),
        (ValueError, lambda: planes.view(dtype="int8")),
        (ValueError, lambda: planes.view(strides=(1, 1))),
        (ValueError, lambda: planes.view(offset=1)),
        (ValueError, lambda: Tensor.from_dlpack((planes, uv))),
        (ValueError, lambda: grinterop.GraphicsResource.create_gl_buffer_of((y, uv))),
    ]:
        refuses(error, call, match=r"several planes: pass each of Tensor\.planes")


@pytest.mark.parametrize("dtype", ["V2", [("a", "u1"), ("b", "u1")]])
def test_structs_of_two_bytes_are_refused(cuda, dtype):
    """Catches: they were imported as bfloat16, whose typestr is <V2."""
    refuses(BufferError, lambda: Tensor.from_dlpack(np.zeros(4, dtype)))
    memory = Tensor.create(4, "uint16", stream=cuda)
    for typestr in ("<V2", np.dtype(dtype).str):
        interface_of = interface(memory.handle, shape=(4,), typestr=typestr)
        producer = SimpleNamespace(__cuda_array_interface__=interface_of)
        if typestr == "<V2":
            assert Tensor.from_dlpack(producer).dtype == "bfloat16"
        else:
            refuses(BufferError, lambda: Tensor.from_dlpack(producer), match="structs or raw bytes")


def test_import_accepts_an_explicit_layout():
    array = np.zeros((3, 4, 5), "u1")
    assert Tensor.from_dlpack(array, layout="chw").layout == "chw"
    tensor = Tensor.from_dlpack(array)
    assert Tensor.from_dlpack(tensor) is tensor
    assert Tensor.from_dlpack(tensor, layout="chw").layout == "chw" and tensor.layout == "shape"
    refuses(ValueError, lambda: Tensor.from_dlpack(array, layout="nchw"), match="layout")


# ---- Exports: freeing, threads and exit ----------------------------------------------------------


def test_export_is_freed_on_any_thread(cuda):
    array = np.arange(16)
    seen = weakref.ref(array)
    held = [np.from_dlpack(Tensor.from_dlpack(array))]
    del array
    elsewhere(held.clear)
    grinterop.Tensor.collect()
    assert seen() is None


def test_many_threads_exchange_tensors(cuda):
    def work():
        for i in range(200):
            array = np.full(64, i)
            tensor = Tensor.from_dlpack(array)
            del array
            assert np.from_dlpack(tensor.view((32,), "i8")).sum() == 32 * i

    elsewhere(*[work] * 4)


END = """
import grinterop, numpy as np, sys
cuda = grinterop.CudaContext(0)
tensor = grinterop.Tensor.create((16,), stream=cuda)
array = np.from_dlpack(tensor, device=None if grinterop.cuda_is_software() else "cpu")
imported = grinterop.Tensor.from_dlpack(np.arange(4))
capsule = tensor.__dlpack__()
used = tensor.__dlpack__(max_version=(1, 0))
taken = grinterop.Tensor.from_dlpack(used)
class Owner: pass
wrapped = grinterop.Tensor.from_memory(array.ctypes.data, (4,), owner=Owner(), memory="host")
{last}
"""


@pytest.mark.parametrize(
    "last",
    [
        "",
        "sys.stderr = None",
        "cuda.close()",
        "cuda.close(); del cuda, tensor",
        "sys.modules['keep'] = [array, imported, capsule, taken, wrapped, tensor]",
        "import os; os._exit(0)",
        "import threading; threading.Thread(target=lambda: __import__('time').sleep(.1)).start()",
    ],
)
def test_exit_with_live_exports_succeeds(last):
    done = run_python("-c", END.format(last=last))
    assert (done.returncode, done.stderr) == (0, "")
