# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Blocking calls release the GIL, and only one thread at a time can use a resource."""

import ctypes
import os
import signal
import threading
import time

import grinterop
import numpy as np
import pytest

import gl
from conftest import elsewhere

HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@pytest.fixture
def launch_host(cuda):
    """Queues a Python function on the stream. The function needs the GIL to run."""
    library = ctypes.CDLL("libcuda.so.1")
    held = []

    def launch(function):
        held.append(HostFunction(lambda _: function()))
        assert library.cuLaunchHostFunc(ctypes.c_void_p(cuda.stream), held[-1], None) == 0

    yield launch
    cuda.sync()


def slow(done, seconds=0.05):
    def run():
        time.sleep(seconds)
        done.append(threading.get_ident())

    return run


@pytest.mark.parametrize("read", [np.asarray, np.from_dlpack, lambda t: np.frombuffer(t, "u1")])
@pytest.mark.parametrize("memory", ["pinned", "managed"])
def test_readers_on_the_cpu_wait_for_queued_writes(read, memory, cuda, launch_host):
    """Catches: memoryview() and numpy.asarray() did not wait for copy_from()."""
    tensor = grinterop.Tensor.create(64, memory=memory, stream=cuda)
    tensor.copy_from(np.zeros(64, "u1"), stream=cuda)
    source = grinterop.Tensor.from_dlpack(np.full(64, 7, "u1")).clone(stream=cuda)
    launch_host(slow([]))
    tensor.copy_from(source, stream=cuda)
    assert read(tensor)[63] == 7


def test_blocking_calls_release_the_gil(vbo, cuda, launch_host):
    done = []
    resource = grinterop.GraphicsResource.from_gl_buffer(vbo)
    tensor = grinterop.Tensor.create((16,), stream=cuda)
    back = np.zeros(4096, "u1")
    waits = [
        lambda: resource.map(stream=cuda).close(),
        lambda: grinterop.map_many([resource], stream=cuda).close(),
        lambda: (resource.map(stream=cuda), resource.close()),
        lambda: tensor.tobytes(stream=cuda),
        lambda: np.from_dlpack(tensor) if grinterop.cuda_is_software() else cuda.sync(),
        lambda: grinterop.fetch(again, back, stream=cuda),
        lambda: again.wait(),
        lambda: tensor.close(),
        cuda.sync,
    ]
    again = grinterop.GraphicsResource.from_gl_buffer(vbo)
    for number, wait in enumerate(waits):
        launch_host(slow(done, 0.01))
        wait()
        cuda.sync()
        assert len(done) == number + 1
    again.close()


@pytest.mark.parametrize(
    "use",
    [
        lambda buffer: buffer.tensor(),
        lambda buffer: buffer.tensor((16,)),
        lambda buffer: buffer.__dlpack_device__(),
        lambda buffer: buffer.__cuda_array_interface__,
        lambda buffer: buffer.device_id,
        lambda buffer: buffer.__dlpack__(copy=True),
    ],
)
def test_tensors_of_mappings_release_the_gil(use, resource, cuda, launch_host):
    """Catches: with the GIL, a call ended an earlier tensor, whose end waits for the stream."""
    done = []
    pinned = grinterop.Tensor.create((4096,), memory="pinned", stream=cuda)
    buffer = resource.map(stream=cuda)
    launch_host(slow(done))
    pinned.copy_from(buffer.tensor(), stream=cuda)
    pinned.close()
    cuda.sync()
    launch_host(slow(done))
    use(buffer)
    cuda.sync()
    assert len(done) == 2
    buffer.close()


def test_call_of_a_second_thread_is_refused(resource, cuda, launch_host):
    if not grinterop.cuda_is_software():
        pytest.skip("on a GPU a release does not wait")
    done, caught = [], []
    buffer = resource.map(stream=cuda)
    launch_host(slow(done, 0.3))

    def intrude():
        time.sleep(0.1)
        for call in (buffer.close, resource.unmap, resource.close, resource.wait):
            try:
                call()
            except RuntimeError as error:
                caught.append(str(error))

    thread = threading.Thread(target=intrude)
    thread.start()
    buffer.close()
    thread.join()
    assert len(caught) == 4 and all("another thread" in text for text in caught)
    assert buffer.is_closed and done


def test_threads_map_separate_resources_in_parallel(cuda):
    """Each thread also has an OpenGL context of its own."""
    def work():
        own = grinterop.CudaContext(0)
        egl = grinterop.EglContext(0)
        name = gl.buffer(1024)
        with grinterop.GraphicsResource.from_gl_buffer(name) as resource:
            for value in range(50):
                with resource.map(stream=own) as buffer:
                    buffer.fill(value, stream=own)
                assert gl.read_buffer(name, 1024) == bytes([value]) * 1024
        egl.close()
        own.close()

    elsewhere(*[work] * 4)


@pytest.mark.filterwarnings("ignore:1 tensor outlived:ResourceWarning")
def test_one_thread_closes_or_drops_what_others_map(vulkan, cuda):
    """Each call succeeds or says why not. Without the GIL the calls overlap everywhere."""
    end, texts, mapped = time.monotonic() + 20, set(), []
    shared = [vulkan.create_vk_buffer(4096, 0x23)]

    def goes_on():
        return len(mapped) < 200 and time.monotonic() < end

    def replace():
        while goes_on():
            time.sleep(0.001)
            try:
                shared[0].close()
            except RuntimeError as error:
                texts.add(str(error))
            shared[0] = vulkan.create_vk_buffer(4096, 0x23)

    def use():
        while goes_on():
            try:
                resource = shared[0]
                buffer = resource.map(stream=cuda)
                mapped.append(buffer.tensor((64,)).shape)
                del resource
                assert buffer.resource is None or repr(buffer.resource)
                buffer.close()
            except RuntimeError as error:
                texts.add(str(error))

    elsewhere(replace, use, use)
    assert mapped, texts
    shared[0].close()
    allowed = "another thread", "has been closed", "already mapped"
    assert all(any(text in one for text in allowed) for one in texts), texts


def child_ends(pid, seconds=20):
    """Waits for a child and returns its exit code. Kills a child that hangs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (ended := os.waitpid(pid, os.WNOHANG))[0]:
            return os.waitstatus_to_exitcode(ended[1])
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_gets_errors_while_threads_of_the_parent_work(cuda):
    """The locks that other threads hold at a fork must not stop the child."""
    stop, rounds = threading.Event(), []

    def work():
        while not stop.is_set():
            tensor = grinterop.Tensor.create(64, stream=cuda)
            tensor.copy_from(np.full(64, 7, "u1"), stream=cuda)
            rounds.append(tensor.tobytes() == bytes([7]) * 64)
            tensor.close()

    kept = grinterop.Tensor.create(64, stream=cuda)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    kept.close()
                    grinterop.Tensor.create(64, stream=cuda)
                except grinterop.CUDAError as error:
                    code = 7 if "fork" in str(error) else 2
                finally:
                    os._exit(code)
            assert child_ends(pid) == 7
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert rounds and all(rounds)
