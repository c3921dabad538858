# SPDX-License-Identifier: Apache-2.0 OR MIT
"""While a call uses an object, other threads or Python code that the call runs use it, too."""

import ctypes
import gc
import sys
import threading
import time
import weakref

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Ring, Tensor

import gl
import vk
from conftest import elsewhere, interface, pinned, refuses
from test_programs import run
from test_threads import launch_host, slow  # noqa: F401


class Running:
    """Runs a call in another thread, where a host function in the stream blocks it until the end of
    the scope, or as long as it likes. The scope begins when the thread is blocked.
    """

    def __init__(self, call, gate=None):
        self.error, self.gate, self.begun = None, gate, threading.Event()
        self.thread = threading.Thread(target=self.run, args=(call,))

    def run(self, call):
        self.begun.set()
        try:
            call()
        except Exception as error:
            self.error = error

    def __enter__(self):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(100)  # the thread keeps the GIL until its call waits without it
        self.thread.start()
        self.begun.wait()
        sys.setswitchinterval(interval)
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            time.sleep(0.5)
        assert self.error is None
        return self

    def __exit__(self, *exception):
        if self.gate:
            self.gate.set()
        self.thread.join()
        assert self.error is None


def refused(*calls):
    """Checks that each call is refused because another thread is in a call."""
    refuses(RuntimeError, *calls, match="another thread is in a call")


@pytest.fixture
def held(launch_host):  # noqa: F811
    if not grinterop.cuda_is_software():
        pytest.skip("on a GPU the stream is in order without waiting on the CPU")
    # a mapping of an earlier test that the collector ended now would wait for the stream
    gc.collect()
    gc.disable()
    yield lambda: launch_host(slow([], 1))
    gc.enable()


@pytest.fixture
def gated(held, launch_host):  # noqa: F811
    """Blocks the stream until the event that it returns is set."""
    def block():
        gate, entered = threading.Event(), threading.Event()
        launch_host(lambda: (entered.set(), gate.wait(20)))
        assert entered.wait(20)  # its own wait for the GIL would end the turn of another thread
        return gate
    return block


# ---- Another thread ------------------------------------------------------------------------------


def test_close_during_a_tensor_call_is_refused(cuda, gated):
    """Catches: a use after free when one thread closed a tensor that another thread copied."""
    tensor = Tensor.create((64,), stream=cuda)
    for call in (lambda: tensor.tobytes(stream=cuda), lambda: tensor.copy_to(other, stream=cuda)):
        other = np.zeros(64, "u1")
        with Running(call, gated()):
            refused(tensor.close, lambda: tensor.__exit__(None, None, None))
            assert tensor.shape == (64,) and not tensor.is_closed
    tensor.close()
    assert tensor.is_closed and repr(tensor) == "<Tensor closed>"


def test_threads_read_the_same_tensor(cuda, held):
    tensor = Tensor.create((64,), stream=cuda)
    held()
    with Running(lambda: tensor.tobytes(stream=cuda)):
        assert len(tensor.clone(stream=cuda).tobytes(stream=cuda)) == 64


def test_tobytes_needs_no_current_context(cuda):
    """Catches: the wait for the copy failed, so the destination of the copy was freed too early."""
    tensor = Tensor.create((64,), stream=cuda)
    tensor.copy_from(np.arange(64, dtype="u1"), stream=cuda)
    for stream in (None, 2):
        assert elsewhere(lambda: tensor.tobytes(stream=stream)) == [bytes(range(64))]


def test_default_streams_are_those_of_the_resource(vbo, doomed):
    """Catches: fill(), copy_to() and copy_from() needed a current context, and tobytes() waited for
    the default stream of another context.
    """
    _, destroy = doomed
    legacy, library, ended = 1, ctypes.CDLL("libcuda.so.1"), []
    first, second = GraphicsResource.from_gl_buffer(vbo), GraphicsResource.create_gl_buffer(4096)
    one, two = first.map(stream=legacy), second.map(stream=legacy)
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: (time.sleep(0.2), ended.append(1)))
    assert library.cuLaunchHostFunc(ctypes.c_void_p(legacy), wait, None) == 0

    def work():
        one.fill(7, stream=legacy)
        one.copy_to(two, stream=legacy)
        one.copy_from(two, stream=legacy)
        return one.tensor().tobytes(stream=legacy), list(ended)

    assert elsewhere(work) == [(bytes([7]) * 4096, [1])]
    for resource in (first, second):
        resource.close()
    destroy()


def test_unmap_during_a_tensor_call_is_refused(resource, cuda, gated):
    """Catches: tobytes() read memory that another thread had unmapped."""
    buffer = resource.map(stream=cuda)
    view = buffer.tensor().view((4096,))
    with Running(lambda: view.tobytes(stream=cuda), gated()):
        refused(buffer.close, resource.unmap, resource.close, grinterop.Buffers([buffer]).close)
        assert resource.is_mapped
    view.close()
    buffer.close()


def test_handing_over_slots_during_a_tensor_call_is_refused(egl, cuda, gated):
    egl.make_current()
    made = [GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(2)]
    ring = Ring(made)
    slots = ring.acquire_write(stream=cuda)
    tensor = slots.buffer.tensor()
    with Running(lambda: tensor.tobytes(stream=cuda), gated()):
        refused(slots.hand_over, slots.cancel)
        assert slots.frame == 1
    tensor.close()
    slots.hand_over()
    ring.close()


def test_close_during_a_context_call_is_refused(held):
    cuda = grinterop.CudaContext(0)
    gate, library = threading.Event(), ctypes.CDLL("libcuda.so.1")
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait(20))
    assert library.cuLaunchHostFunc(ctypes.c_void_p(cuda.stream), wait, None) == 0
    with Running(cuda.sync, gate):
        refused(cuda.close)
    cuda.close()


def test_many_threads_use_the_same_tensor(cuda):
    """Catches: clone() raced with close(), and kept_end() read a freed entry."""
    class Owner:
        pass

    memory = np.arange(64, dtype="u1")
    shared = [Tensor.from_memory(memory.ctypes.data, (64,), memory="host", owner=Owner())]
    end = time.monotonic() + 1

    def replace(tensor):
        tensor.close()
        shared[0] = Tensor.from_memory(memory.ctypes.data, (64,), memory="host", owner=Owner())
        grinterop.Tensor.collect(0)

    def read(tensor):
        tensor.clone("host", stream=cuda).close()
        assert tensor.view((8, 8)).tobytes(stream=cuda) == memory.tobytes()

    def work(call):
        while time.monotonic() < end:
            try:
                call(shared[0])
            except (RuntimeError, TimeoutError) as error:
                text = str(error)
                assert "closed" in text or "another thread" in text or "still used" in text

    elsewhere(*[lambda: work(replace), lambda: work(read)] * 2)


# ---- Python code that a call runs ----------------------------------------------------------------


class Acts:
    """An object that is a number, a stream and a float. It runs a function when a call reads it."""

    def __init__(self, act, value=1, stream=None):
        self.act, self.value, self.stream = act, value, stream

    def __index__(self):
        self.act()
        return self.value

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())

    def __cuda_stream__(self):
        value = self.__index__()
        return self.stream.__cuda_stream__() if self.stream else (0, value)


def quietly(call):
    """Runs the function and ignores refusals."""

    def act():
        try:
            call()
        except RuntimeError:
            pass

    return act


def test_argument_that_closes_the_tensor_does_no_harm(cuda):
    """Catches: a use after free."""
    for use in (
        lambda tensor, acts: tensor.view((acts, 4)),
        lambda tensor, acts: tensor.view(strides=(acts,)),
        lambda tensor, acts: tensor.view(offset=acts),
        lambda tensor, acts: tensor.clone(stream=acts),
        lambda tensor, acts: tensor.tobytes(stream=acts),
        lambda tensor, acts: tensor.copy_to(np.zeros(64, "u1"), stream=acts),
        lambda tensor, acts: tensor.wait(acts),
        lambda tensor, acts: tensor.used_on(acts),
        lambda tensor, acts: tensor.__dlpack__(stream=acts),
        lambda tensor, acts: tensor.__dlpack__(max_version=(acts, 0)),
        lambda tensor, acts: tensor.__dlpack__(dl_device=(acts, 0)),
        lambda tensor, acts: Tensor.from_dlpack([tensor, Interface(acts)], layout="nv12"),
    ):
        tensor = Tensor.create((64,), stream=cuda)
        with pytest.raises(RuntimeError):
            use(tensor, Acts(tensor.close))
            tensor.close()
            tensor.wait(1)


class Interface:
    def __init__(self, acts):
        self.memory = pinned(np.zeros(64, "u1"))
        self.acts = acts

    @property
    def __cuda_array_interface__(self):
        return interface(self.memory.ctypes.data, shape=(self.acts, 8))


def test_argument_that_ends_the_mapping_does_no_harm(resource, cuda):
    """Catches: a use after free."""
    other = Tensor.create((4096,), stream=cuda)
    for use in (
        lambda buffer, acts: buffer.tensor((acts,)),
        lambda buffer, acts: buffer.fill(1, stream=acts),
        lambda buffer, acts: buffer.copy_from(buffer, stream=acts),
        lambda buffer, acts: buffer.copy_from_linear(acts, stream=cuda),
        lambda buffer, acts: buffer.__dlpack__(stream=acts),
        lambda buffer, acts: grinterop.publish(buffer, other, shape=(acts,)),
        lambda buffer, acts: grinterop.publish(buffer, other, scale=acts),
        lambda buffer, acts: grinterop.publish(buffer, Interface(acts)),
        lambda buffer, acts: buffer.close(acts),
    ):
        for call in ("close", "unmap"):
            buffer = resource.map(stream=cuda)
            act = buffer.close if call == "close" else resource.unmap
            try:
                # Acts as the stream of the map, since close() is ordered only with that stream.
                use(buffer, Acts(quietly(act), stream=cuda))
            except (RuntimeError, ValueError):
                pass
            buffer.close()


def test_argument_that_closes_the_resource_does_no_harm(vbo, cuda):
    for use in (
        lambda resource, acts: resource.map(stream=acts),
        lambda resource, acts: resource.map_linear(stream=acts),
        lambda resource, acts: resource.wait(acts),
        lambda resource, acts: resource.unmap(stream=acts),
        lambda resource, acts: resource.close(acts),
        lambda resource, acts: grinterop.map_many([resource], stream=acts),
        lambda resource, acts: grinterop.publish(resource, np.zeros(8, "u1"), stream=acts),
    ):
        resource = GraphicsResource.from_gl_buffer(vbo)
        try:
            use(resource, Acts(quietly(resource.close)))
        except RuntimeError:
            pass
        resource.close()


def test_with_fails_if_its_stream_closes_the_resource(vbo):
    """Catches: the stream was used after the resource had released its reference."""
    made = []
    acts = Acts(lambda: made and made[0].close())
    made.append(GraphicsResource.from_gl_buffer(vbo, stream=acts))
    del acts
    with pytest.raises(RuntimeError):
        with made[0]:
            pass


def test_image_that_changes_when_it_is_read_does_no_harm(cuda):
    """Catches: the format was read after the dict had released it."""
    image = {"width": 4, "height": 4, "format": "".join(["no", "ne"])}
    image["channels"] = Acts(image.clear, 4)
    with pytest.raises(ValueError, match="'none' is not a valid format"):
        GraphicsResource.from_fd(0, 64, image=image)


def test_stream_that_closes_the_tensor_later_does_no_harm(cuda):
    """Catches: the chroma planes were used after the tensor had released them."""
    planes = [Tensor.create((4, 4), stream=cuda), Tensor.create((2, 2, 2), stream=cuda)]
    tensor = Tensor.from_dlpack(planes, layout="nv12")
    del planes
    reads = []

    def act():
        reads.append(1)
        if len(reads) == 2:
            tensor.close()
            reads.append([b"\xff" * size for size in range(400)])

    try:
        Tensor.from_dlpack(tensor, stream=Acts(act, stream=cuda))
    except RuntimeError:
        pass


@pytest.mark.parametrize("where", ["shape", "strides", "data", "stream", "typestr"])
def test_array_interface_may_clear_itself_when_read(where, cuda):
    """Catches: entries of the dict were read after the dict had released them."""

    class Empties:
        def __init__(self):
            self.memory = pinned(np.zeros(64, "u1"))
            empty = Acts(self.empty, 8)
            self.interface = interface(self.memory.ctypes.data, strides=(8, 1), stream=1)
            if where == "shape":
                self.interface["shape"] = [empty, 8]
            elif where == "strides":
                self.interface["strides"] = [empty, 1]
            elif where == "data":
                self.interface["data"] = (Acts(self.empty, self.memory.ctypes.data), [0])
            elif where == "stream":
                self.interface["stream"] = Acts(self.empty, 1)
            else:
                self.interface["typestr"] = Named(self.empty)

        def empty(self):
            self.interface.clear()
            gc.collect()

        @property
        def __cuda_array_interface__(self):
            return self.interface

    tensor = Tensor.from_dlpack(Empties())
    assert tensor.shape == (8, 8)


class Named:
    def __init__(self, act):
        self.act = act

    @property
    def name(self):
        self.act()
        return "uint8"


# ---- Code that runs at the end of an object ------------------------------------------------------


ENDS = """
import sys, weakref
import grinterop
{imports}
cuda, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
class Renderer:
    def __init__(self):
        self.resource = grinterop.GraphicsResource.create_gl_buffer(64)
    def __cuda_stream__(self):
        return cuda.__cuda_stream__()
class MapsAgain(Renderer):
    def __del__(self):
        made.extend((self.resource, self.resource.map(stream=cuda)))
made = []
for kind in (Renderer, MapsAgain):
    renderer = kind()
    buffer, seen = renderer.resource.map(stream=renderer), weakref.ref(renderer.resource)
    del renderer
    {close}
    assert sys.getrefcount(buffer) == 2 and buffer.is_closed
    assert bool(seen()) == bool(made)
made[0].unmap()
assert made[1].is_closed
"""


@pytest.mark.parametrize(
    "close, imports",
    [
        ("buffer.close()", ""),
        ("with buffer: pass", ""),
        ("grinterop.Buffers([buffer]).close()", ""),
        ("buffer.close()", "import cuda.core as core"),
    ],
)
def test_stream_may_own_the_resource(close, imports, cuda):
    """Catches: the resource was read after the end of its stream, the Buffer was released twice,
    and a mapping that the stream made at its end was forgotten.
    """
    if imports:
        pytest.importorskip("cuda.core")
    run(ENDS.format(close=close, imports=imports))


def test_weak_reference_may_use_the_buffer_of_a_dropped_resource(vbo, cuda):
    """Catches: the resource was freed twice."""
    resource, found = GraphicsResource.from_gl_buffer(vbo), []
    buffer = resource.map(stream=cuda)
    tensor = buffer.tensor()
    weakref.finalize(resource, lambda: found.append((buffer.size, buffer.resource, tensor.shape)))
    del resource
    assert found == [(4096, None, (4096,))]
    tensor.close()
    buffer.close()


def test_weak_reference_may_use_the_buffer_of_dropped_slots(egl, cuda):
    """Catches: the slots were freed twice."""
    egl.make_current()
    ring, found = Ring([GraphicsResource.create_gl_buffer(64) for _ in range(2)]), []
    slots = ring.acquire_write(stream=cuda)
    buffer = slots.buffer
    weakref.finalize(slots, lambda: found.append((buffer.is_closed, repr(buffer))))
    del slots
    assert found == [(True, "<Buffer closed>")] and ring.info()["free"] == 2


# ---- Exceptions in flight ------------------------------------------------------------------------


DLTensor = vk.record(
    "DLTensor", "data:p type:i id:i ndim:i code:b bits:b lanes:h shape:p strides:p byte_offset:q"
)
Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DLManagedTensor = vk.record(
    "DLManagedTensor", "", tensor=DLTensor, context=ctypes.c_void_p, deleter=Deleter
)


def produced(deleted):
    """A capsule whose deleter runs Python code."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    memory, shape = (ctypes.c_uint8 * 8)(), (ctypes.c_int64 * 1)(8)
    managed = DLManagedTensor()
    managed.tensor = DLTensor(
        ctypes.addressof(memory), 1, 0, 1, 1, 8, 1, ctypes.addressof(shape), None, 0
    )

    def delete(_):
        deleted.append(int("7"))

    managed.deleter = Deleter(delete)
    deleted_keep.append((memory, shape, managed, managed.deleter))
    return new(ctypes.addressof(managed), b"dltensor", None)


deleted_keep = []


def test_deleter_runs_without_an_exception_set(cuda):
    """Catches: a SystemError and then a crash instead of the exception in flight."""
    deleted = []

    def take(*_):
        raise AssertionError("the second argument failed")

    for count in range(1, 4):
        # The tensor is a local variable, freed as the stack is unwound.
        refuses(ZeroDivisionError, lambda: take(Tensor.from_dlpack(produced(deleted)), 1 / 0))
        with pytest.raises(ValueError, match="mine"):
            take([Tensor.from_dlpack(produced(deleted)) for _ in range(2)], int("mine"))
        assert len(deleted) == 3 * count


def test_owner_destructor_runs_without_an_exception_set(cuda):
    """Runs code in an owner's destructor, and in the callback of a weak reference to a tensor."""
    ended = []

    class Owner:
        def __init__(self):
            self.memory = np.zeros(8, "u1")

        def __del__(self):
            ended.append(int("7"))

    def wrapped():
        owner = Owner()
        return Tensor.from_memory(owner.memory.ctypes.data, (8,), memory="host", owner=owner)

    refuses(ZeroDivisionError, lambda: print(wrapped(), 1 / 0))
    refuses(ZeroDivisionError, lambda: print(wrapped().__dlpack__(), 1 / 0))
    grinterop.Tensor.collect()
    assert len(ended) == 2


# ---- Timeouts ------------------------------------------------------------------------------------


def test_timeout_message_has_the_total_time(egl, cuda):
    egl.make_current()
    made = [GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(2)]
    with Ring(made) as ring:
        began = time.monotonic()
        with pytest.raises(grinterop.WaitTimeoutError, match="within 170 ms"):
            ring.acquire_read(timeout=0.17)
        assert time.monotonic() - began >= 0.17
        with pytest.raises(grinterop.WaitTimeoutError, match="not available yet"):
            ring.acquire_read(timeout=0)
