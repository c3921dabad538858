# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Dropping an object whose destructor fails issues a CUDAWarning and has no other effect."""

import ctypes
import pickle
import sys
import time
import warnings
import weakref

import grinterop
import pytest
from grinterop import CUDAWarning, EglContext, GraphicsResource, Ring

import gl
from conftest import elsewhere, run_python
from test_safety import Running


@pytest.fixture
def ring(egl):
    egl.make_current()
    with Ring([GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(2)]) as made:
        yield made
        egl.make_current()


@pytest.fixture
def stuck(cuda):
    """Returns the only reference to a context that can't be freed on this thread."""
    return elsewhere(lambda: grinterop.CudaContext(0))


@pytest.fixture
def unraisable(monkeypatch):
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(args.exc_value))
    return found


# ---- Failures ------------------------------------------------------------------------------------


def test_context_dropped_on_another_thread_warns(stuck):
    text = "a CudaContext object was dropped.*on the thread that created it"
    with pytest.warns(CUDAWarning, match=text) as caught:
        stuck.clear()
    assert caught[0].filename == __file__ and issubclass(CUDAWarning, RuntimeWarning)


def test_dropped_slots_warn_if_cuda_fails(ring, cuda):
    if not grinterop.cuda_is_software():
        pytest.skip("a GPU's driver does not check handles")
    slots = ring.acquire_write(stream=cuda)
    handle = ctypes.c_void_p(slots.resource.handle)
    driver = ctypes.CDLL(grinterop.cuda_driver_path())
    assert driver.cuGraphicsUnmapResources(1, ctypes.byref(handle), None) == 0
    with pytest.warns(CUDAWarning, match="a Slots object was.*CUDA_ERROR_NOT_MAPPED"):
        del slots
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ring.close()


@pytest.mark.parametrize("mapped", [False, True])
def test_dropped_resource_warns_if_cuda_fails(vbo, cuda, mapped):
    if not grinterop.cuda_is_software():
        pytest.skip("a GPU's driver does not check handles")
    driver = ctypes.CDLL(grinterop.cuda_driver_path())
    resource = GraphicsResource.from_gl_buffer(vbo)
    handle = ctypes.c_void_p(resource.handle)
    if mapped:
        resource.map(stream=cuda)
        result = driver.cuGraphicsUnmapResources(1, ctypes.byref(handle), None)
    else:
        result = driver.cuGraphicsUnregisterResource(handle)
    assert result == 0
    error = "CUDA_ERROR_NOT_MAPPED" if mapped else "CUDA_ERROR_INVALID_HANDLE"
    with pytest.warns(CUDAWarning, match=f"a GraphicsResource object was.*{error}") as caught:
        del resource
    assert len(caught) == 1


# ---- What a warning must not change --------------------------------------------------------------


def test_warning_keeps_the_exception_in_flight(stuck):
    with pytest.warns(CUDAWarning), pytest.raises(ZeroDivisionError) as caught:
        [stuck.pop(), 1 / 0]
    assert caught.value.__context__ is None


def test_warning_as_error_is_unraisable(stuck, unraisable):
    with warnings.catch_warnings(), pytest.raises(ZeroDivisionError):
        warnings.simplefilter("error", CUDAWarning)
        [stuck.pop(), 1 / 0]
    assert [type(error) for error in unraisable] == [CUDAWarning]


def test_tensor_warning_as_error_is_unraisable(ring, cuda, unraisable):
    """Catches: the ResourceWarning of dropped slots was lost if the warning filters made it an
    error.
    """
    slots = ring.acquire_write(stream=cuda)
    tensor = slots.buffer.tensor()
    del slots
    assert tensor.is_revoked and [type(error) for error in unraisable] == [ResourceWarning]


def test_ctrl_c_during_a_warning_is_not_lost(stuck, monkeypatch):
    def interrupt(*arguments, **keywords):
        raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", interrupt)
        with pytest.raises(KeyboardInterrupt):
            stuck.clear()
            time.sleep(0)  # the handler runs between two instructions


# ---- No failures ---------------------------------------------------------------------------------


@pytest.fixture
def no_warning(unraisable):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert not unraisable


class Stream:
    def __init__(self, cuda):
        self.cuda = cuda

    def __cuda_stream__(self):
        return (0, self.cuda.stream)


@pytest.mark.parametrize("end", ["acquire", "close"])
def test_slots_dropped_without_context_come_back(ring, cuda, egl, no_warning, end):
    """Catches: they stayed acquired for ever."""
    stream = Stream(cuda)
    slots, seen = ring.acquire_write(2, stream=stream), weakref.ref(stream)
    resources = slots.resources
    grinterop.clear_error()
    EglContext.release_current()
    del slots, stream
    assert not grinterop.last_error() and ring.info()["writing"] == 2
    if end == "close":
        ring.close()
    assert seen() is not None  # the slots are still mapped on it
    egl.make_current()
    if end == "close":
        resources[0].map(stream=cuda).close()
        return
    with ring.acquire_write(2, stream=cuda, timeout=0) as slots:
        assert slots.frames == (1, 2) and seen() is None


def test_slots_dropped_during_a_wait_come_back(egl, cuda, no_warning):
    """Catches: the wait then never ended."""
    egl.make_current()
    frames = []
    with Ring([GraphicsResource.create_gl_buffer(64, transports="shared")]) as ring:
        slots = ring.acquire_write(stream=cuda)

        def wait():
            with ring.acquire_write(stream=cuda, timeout=20) as slot:
                frames.append(slot.frame)

        with Running(wait):
            del slots
        assert frames == [1]


def test_resource_freed_later_does_not_warn(vbo, cuda, egl, unraisable):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mapped in (False, True):
            resource = GraphicsResource.from_gl_buffer(vbo)
            if mapped:
                resource.map(stream=cuda)
            grinterop.clear_error()
            EglContext.release_current()
            del resource
            egl.make_current()
            assert not grinterop.last_error()
    assert not unraisable


def test_buffer_or_tensor_keeps_the_mapping(vbo, cuda):
    resource = GraphicsResource.from_gl_buffer(vbo)
    buffer = resource.map(stream=cuda)
    tensor = buffer.tensor()
    del resource
    assert buffer.handle and tensor.handle == buffer.handle
    del buffer
    assert tensor.handle


CHILD = """
import sys, warnings
warnings.simplefilter("error")
import grinterop, gl
from grinterop import CudaContext, EglContext, GraphicsResource
"""

# The registration ends with its context, and at exit Python destroys objects in no particular
# order.
GONE = """
cuda, egl = CudaContext(0), EglContext(0)
first, second = (GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(2))
cuda.close()
del first
"""

# Simulates the names of cuda.core 1.3. In 1.2 they are not public.
PUBLIC = """
import pickle, threading, types
core = sys.modules["cuda.core"] = types.ModuleType("cuda.core")
class CUDAError(Exception): pass
class CUDAWarning(Warning): pass
core.CUDAError, core.CUDAWarning = CUDAError, CUDAWarning
try:
    EglContext(0, 99)
except grinterop.InvalidValueError as error:
    raise SystemExit("another error was expected")
except CUDAError as caught:
    error = caught
    assert isinstance(error, grinterop.CUDAError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and vars(again) == vars(error) and str(again) == str(error)
held, found = [], []
thread = threading.Thread(target=lambda: held.append(CudaContext(0)))
thread.start()
thread.join()
sys.unraisablehook = lambda args: found.append(args.exc_value)
held.clear()
assert len(found) == 1 and isinstance(found[0], CUDAWarning), found
assert isinstance(found[0], grinterop.CUDAWarning)
assert type(pickle.loads(pickle.dumps(found[0]))) is type(found[0])
print(pickle.dumps(error).hex(), end="")
"""


@pytest.mark.parametrize("program", [GONE, PUBLIC], ids=["gone", "public"])
def test_program_exits_without_failure(program):
    found = run_python("-c", CHILD + program)
    assert (found.returncode, found.stderr) == (0, "")
    if program == PUBLIC:  # this process may have no cuda.core
        error = pickle.loads(bytes.fromhex(found.stdout))
        assert isinstance(error, grinterop.CUDAError) and error.status == "GR_ERR_GL"
