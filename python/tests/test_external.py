# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory and semaphores of other APIs and processes, imported by descriptors and handles."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy
import pytest

import grinterop
from grinterop import GraphicsResource, Ring, Semaphore, Tensor

import vulkan_fd

from conftest import refuses

TRANSFER = 3
RGBA8 = 37
SIZE = 65536


@pytest.fixture
def drawn(vulkan):
    """A Vulkan buffer that needs no semaphores for its use by CUDA."""
    resource = vulkan.create_vk_buffer(SIZE, TRANSFER)
    resource.set_sync(None, None)
    yield resource
    resource.close()


@pytest.fixture
def software():
    if not grinterop.cuda_is_software():
        pytest.skip("a GPU imports only semaphores of Vulkan")


def put(resource, value, cuda):
    with resource.map(stream=cuda) as buffer:
        buffer.fill(value, stream=cuda)
    cuda.sync()


def bytes_of(resource, cuda):
    with resource.map(stream=cuda) as buffer:
        return buffer.tensor().tobytes(stream=cuda)


# ---- Memory --------------------------------------------------------------------------------------


def test_from_fd_shares_the_memory(vulkan, drawn, cuda):
    put(drawn, b"\x07", cuda)
    fd = vulkan_fd.export(vulkan, drawn)
    memory = GraphicsResource.from_fd(fd, SIZE)
    assert not (grinterop.cuda_is_software() and vulkan_fd.is_open(fd))
    assert (memory.api, memory.transport, memory.kind) == ("external", "external", "buffer")
    assert memory.size == SIZE and memory.handle and memory.vk_memory is None
    memory.set_sync(None, None)
    assert bytes_of(memory, cuda) == b"\x07" * SIZE
    put(memory, b"\x08", cuda)
    memory.close()
    assert bytes_of(drawn, cuda) == b"\x08" * SIZE


def test_offset_and_length_select_a_part_of_the_memory(vulkan, drawn, cuda):
    put(drawn, b"\x01", cuda)
    fd = vulkan_fd.export(vulkan, drawn)
    part = GraphicsResource.from_fd(fd, SIZE, offset=4096, length=256)
    whole = GraphicsResource.from_same_memory(part, flags="read_only")
    part.set_sync(None, None)
    whole.set_sync(None, None)
    assert (part.size, whole.size) == (256, SIZE)
    put(part, b"\x02", cuda)
    assert bytes_of(whole, cuda) == b"\x01" * 4096 + b"\x02" * 256 + b"\x01" * (SIZE - 4352)


def test_map_without_semaphores_is_refused(vulkan, drawn, cuda):
    memory = GraphicsResource.from_fd(vulkan_fd.export(vulkan, drawn), SIZE)
    with pytest.raises(grinterop.StateError, match=r"GraphicsResource\.set_sync\(\), or None"):
        memory.map(stream=cuda)


def test_caller_keeps_a_refused_descriptor(vulkan, drawn):
    fd = vulkan_fd.export(vulkan, drawn)
    for keywords in (
        {"kind": "dma-buf"}, {"kind": "sideways"}, {"offset": SIZE + 1}, {"length": SIZE + 1},
        {"flags": "sideways"}, {"image": {"width": 4, "height": 4, "channels": 4}},
        {"image": {"width": 4, "height": 4, "channels": 3, "format": "u8"}},
        {"image": {"width": 4, "height": 4, "channels": 4, "format": "u9"}},
        {"image": {"breadth": 4}}, {"image": 3},
    ):
        with pytest.raises((grinterop.CUDAError, ValueError, TypeError)):
            GraphicsResource.from_fd(fd, SIZE, **keywords)
        assert vulkan_fd.is_open(fd)
    os.close(fd)
    for wrong in (-1, fd):
        refuses(grinterop.CUDAError, lambda: GraphicsResource.from_fd(wrong, SIZE))


def test_imported_image_has_the_described_format(vulkan, cuda):
    drawn = vulkan.create_vk_image(RGBA8, 64, 32, TRANSFER, flags="surface_load_store")
    vulkan.submit([drawn], layout=0)
    texels = (numpy.arange(32 * 64 * 4) * 7).astype(numpy.uint8).reshape(32, 64, 4)
    host = Tensor.from_dlpack(texels)
    grinterop.publish(drawn, host.clone(stream=cuda), stream=cuda)
    cuda.sync()
    image = GraphicsResource.from_fd(
        vulkan_fd.export(vulkan, drawn), vulkan_fd.image_size(vulkan, drawn), dedicated=True,
        image={"width": 64, "height": 32, "format": "u8", "channels": 4, "normalized": True},
    )
    image.set_sync(None, None)
    with image.map(stream=cuda) as buffer:
        assert buffer.image_info()["width"] == 64 and buffer.image_info()["format"] == "u8"
    found = Tensor.create((32, 64, 4), "uint8", stream=cuda)
    grinterop.fetch(image, found, stream=cuda)
    assert found.tobytes(stream=cuda) == texels.tobytes()


def test_windows_and_nvsci_handles_are_refused(cuda):
    from_win32 = GraphicsResource.from_win32
    calls = [
        lambda: GraphicsResource.from_nvscibuf(4096, SIZE),
        lambda: Semaphore.from_nvscisync(8),
        lambda: from_win32("Local\\memory", SIZE),
        lambda: Semaphore.from_win32("Local\\fence"),
    ]
    for kind in "opaque opaque-kmt d3d12-heap d3d12-resource d3d11-resource".split():
        calls.append(lambda kind=kind: from_win32(8, SIZE, kind=kind, dedicated=True))
    for kind in "timeline binary binary-kmt d3d12-fence d3d11-fence keyed-mutex".split():
        calls.append(lambda kind=kind: Semaphore.from_win32(8, kind=kind))
    for call in calls:
        refuses(grinterop.CUDAError, call)
    refuses(ValueError, lambda: from_win32("a\0b", SIZE), match="null")
    refuses(TypeError, lambda: from_win32(None, SIZE))


# ---- Semaphores ----------------------------------------------------------------------------------


def test_timeline_orders_two_streams(software, cuda):
    fd = vulkan_fd.semaphore(value=3)
    other = grinterop.CudaContext(0)
    with Semaphore.from_fd(fd, value=3) as semaphore:
        assert not vulkan_fd.is_open(fd)
        assert semaphore.is_timeline and semaphore.handle and "3" in semaphore.describe()
        tensor = Tensor.create((4,), stream=other)
        semaphore.wait(other, 4)
        semaphore.signal(stream=cuda, value=4)
        assert len(tensor.tobytes(stream=other)) == 4
        refuses(ValueError, lambda: semaphore.signal(cuda, 4))
        refuses(ValueError, lambda: semaphore.wait(cuda, 4, key=1))
        refuses(TypeError, lambda: semaphore.wait("stream", 4))
    assert semaphore.is_closed
    for call in (lambda: semaphore.wait(cuda), semaphore.describe, lambda: semaphore.handle):
        refuses(RuntimeError, call, match="closed")
    other.close()


def test_vulkan_timeline_orders_a_stream(vulkan, cuda):
    """Needs a GPU or GR_TEST_EXPORTS=1, since lavapipe does not export semaphores."""
    try:
        timeline = vulkan_fd.Timeline(vulkan)
    except NotImplementedError as error:
        pytest.skip(str(error))
    with Semaphore.from_fd(timeline.export()) as semaphore:
        semaphore.wait(cuda, 1)
        semaphore.signal(cuda, 2)
        assert timeline.value() == 0
        timeline.signal(1)
        cuda.sync()
        assert timeline.value() == 2
    timeline.destroy()


def test_program_orders_the_work_itself(software, vulkan, drawn, cuda):
    """As in the README, the program orders the work; a CUDA stream stands for the renderer."""
    numpy_bytes = numpy.full(SIZE, 9, numpy.uint8)
    rendered, computed = (Semaphore.from_fd(vulkan_fd.semaphore()) for _ in range(2))
    renderer = grinterop.CudaContext(0)
    memory = GraphicsResource.from_fd(vulkan_fd.export(vulkan, drawn), SIZE, flags="write_discard")
    memory.set_sync(None, None)
    rendered.wait(cuda, 1)
    grinterop.publish(memory, numpy_bytes, stream=cuda)
    computed.signal(cuda, 1)
    rendered.signal(renderer, 1)
    computed.wait(renderer, 1)
    assert bytes_of(drawn, renderer) == numpy_bytes.tobytes()
    renderer.close()


def test_binary_semaphore_refuses_values(software, cuda):
    semaphore = Semaphore.from_fd(vulkan_fd.semaphore(timeline=False), kind="binary")
    assert not semaphore.is_timeline
    semaphore.signal(cuda)
    semaphore.wait(cuda)
    cuda.sync()
    refuses(ValueError, lambda: semaphore.signal(cuda, 1))


def test_caller_keeps_a_refused_semaphore(cuda):
    read, write = os.pipe()
    for kind in ("timeline", "binary", "sideways"):
        refuses((grinterop.CUDAError, ValueError), lambda: Semaphore.from_fd(read, kind=kind))
        assert vulkan_fd.is_open(read)
    os.close(read)
    os.close(write)
    refuses(RuntimeError, Semaphore)


def test_maps_wait_for_and_signal_semaphores(software, vulkan, drawn, cuda):
    ready = Semaphore.from_fd(vulkan_fd.semaphore())
    done = Semaphore.from_fd(vulkan_fd.semaphore())
    memory = GraphicsResource.from_fd(vulkan_fd.export(vulkan, drawn), SIZE)
    memory.set_sync(ready, done)
    assert bytes_of(memory, cuda)
    assert bytes_of(memory, cuda)
    done.wait(cuda, 2)
    cuda.sync()
    for wrong in ((ready, ready), (3, None)):
        refuses((ValueError, TypeError), lambda: memory.set_sync(*wrong))
    refuses(TypeError, lambda: memory.set_sync(None))
    ready.close()
    done.close()
    assert bytes_of(memory, cuda)
    closed = Semaphore.from_fd(vulkan_fd.semaphore())
    closed.close()
    refuses(RuntimeError, lambda: memory.set_sync(closed, None), match="closed")


def test_submit_orders_maps(software, vulkan, drawn, cuda):
    """The stream `renderer` stands for the graphics API: it uses separate imports of the
    semaphores.
    """
    fds = vulkan_fd.semaphore(), vulkan_fd.semaphore()
    ready, done, ready_there, done_there = (
        Semaphore.from_fd(fd) for fd in (os.dup(fds[0]), os.dup(fds[1]), *fds)
    )
    there = {ready.handle: ready_there, done.handle: done_there}
    renderer = grinterop.CudaContext(0)
    memory = GraphicsResource.from_fd(vulkan_fd.export(vulkan, drawn), SIZE)
    memory.set_sync(ready, done)
    for frame in range(1, 4):
        with grinterop.Submit([memory]) as submit:
            assert submit.waits == ([(done.handle, frame - 1)] if frame > 1 else [])
            assert submit.signals == [(ready.handle, frame)]
            for handle, value in submit.waits:
                there[handle].wait(renderer, value)
            signals = submit.signals
        mapping = memory.map(stream=cuda)
        with mapping as buffer:
            timer = threading.Timer(0.05, there[signals[0][0]].signal, (renderer, signals[0][1]))
            timer.start()
            buffer.fill(bytes([frame]), stream=cuda)
        cuda.sync()
        timer.join()
        assert bytes_of(drawn, cuda) == bytes([frame]) * SIZE
    renderer.close()


def test_submit_can_be_cancelled(software, vulkan, drawn, cuda):
    memory = GraphicsResource.from_fd(vulkan_fd.export(vulkan, drawn), SIZE)
    fd = vulkan_fd.semaphore()
    ready_there = Semaphore.from_fd(os.dup(fd))
    ready, done = Semaphore.from_fd(fd), Semaphore.from_fd(vulkan_fd.semaphore())
    memory.set_sync(ready, done)
    with pytest.raises(KeyError):
        with grinterop.Submit([memory]) as submit:
            refuses(grinterop.StateError, lambda: memory.map(stream=cuda))
            raise KeyError
    assert submit.is_closed
    for call in (submit.commit, lambda: submit.waits, lambda: submit.signals):
        refuses(RuntimeError, call, match="closed")
    assert bytes_of(memory, cuda)
    with grinterop.Submit(iter([memory])) as submit:
        submit.commit()
        refuses(grinterop.StateError, submit.commit)
        submit.close()
    for wrong in ([], [3], 3, [memory, memory]):
        refuses((TypeError, grinterop.CUDAError), lambda: grinterop.Submit(wrong))
    ready_there.signal(cuda, 2)
    assert bytes_of(memory, cuda)


def test_waiting_stream_does_not_keep_the_gil(software, cuda):
    """Catches: a call kept the GIL while its stream waited for the signal of another thread."""
    semaphore = Semaphore.from_fd(vulkan_fd.semaphore())
    other = grinterop.CudaContext(0)
    semaphore.wait(other, 1)
    timer = threading.Timer(0.1, lambda: semaphore.signal(cuda, 1))
    timer.start()
    other.sync()
    timer.join()
    other.close()


# ---- Two processes -------------------------------------------------------------------------------

HEAD = """
import socket, sys
import grinterop
from grinterop import GraphicsResource, Semaphore
cuda = grinterop.CudaContext(0)
peer = socket.socket(fileno=int(sys.argv[1]))
SIZE = 65536
"""


def child(program):
    """Starts a program that has one end of a socket. Returns the process and the other end."""
    here, there = socket.socketpair()
    with there:
        process = subprocess.Popen(
            [sys.executable, "-c", HEAD + program, str(there.fileno())], pass_fds=[there.fileno()]
        )
    return process, here


def test_another_process_imports_descriptors(software, vulkan, drawn, cuda):
    put(drawn, b"\x05", cuda)
    process, peer = child(
        """
_, (memory, ready, done), *_ = socket.recv_fds(peer, 1, 3)
memory = GraphicsResource.from_fd(memory, SIZE)
memory.set_sync(Semaphore.from_fd(ready), Semaphore.from_fd(done))
with memory.map(stream=cuda) as buffer:
    assert buffer.tensor().tobytes(stream=cuda) == b"\\x05" * SIZE
    buffer.fill(b"\\x06", stream=cuda)
peer.recv(1)
"""
    )
    ready, done = vulkan_fd.semaphore(), vulkan_fd.semaphore()
    fds = [vulkan_fd.export(vulkan, drawn), ready, done]
    with peer:
        socket.send_fds(peer, [b"1"], fds)
        os.close(fds[0])
        done_here = Semaphore.from_fd(done)
        done_here.wait(cuda, 1)
        assert bytes_of(drawn, cuda) == b"\x06" * SIZE
        os.close(ready)
    assert process.wait(30) == 0


def test_another_process_receives_a_resource(drawn, cuda):
    put(drawn, b"\x05", cuda)
    process, peer = child(
        """
memory, data = GraphicsResource.receive(peer, timeout=30)
assert data == b"mesh" and memory.api == "external"
memory.set_sync(None, None)
with memory.map(stream=cuda) as buffer:
    assert buffer.tensor().tobytes(stream=cuda) == b"\\x05" * SIZE
    buffer.fill(b"\\x06", stream=cuda)
cuda.sync()
peer.send(b"1")
"""
    )
    with peer:
        drawn.send(peer, b"mesh", timeout=30)
        assert peer.recv(1) == b"1"
        assert bytes_of(drawn, cuda) == b"\x06" * SIZE
    assert process.wait(30) == 0


def test_wait_for_a_peer_times_out(drawn, cuda):
    here, there = socket.socketpair()
    with here, there:
        refuses(TimeoutError, lambda: GraphicsResource.receive(here, timeout=0))
        refuses(TimeoutError, lambda: GraphicsResource.receive(here, timeout=0.06))
        there.send(b"no message of ours, but longer than a header")
        refuses(ValueError, lambda: GraphicsResource.receive(here, timeout=1))
    refuses(TypeError, lambda: drawn.send("socket"))
    refuses((ValueError, grinterop.CUDAError), lambda: drawn.send(12345))


@pytest.mark.parametrize("where", ["before", "in a header", "in a send", "in a full send"])
def test_control_c_interrupts_a_wait(drawn, where):
    """Catches: within a message nothing ended the wait."""
    here, there = socket.socketpair()
    with here, there:
        there.settimeout(10)
        if where == "in a header":
            there.send(b"g")
        if where == "in a full send":
            here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            while "send" in where:
                drawn.send(here, bytes(60000), timeout=10)
            GraphicsResource.receive(here, timeout=10)
        timer.join()
        assert time.monotonic() - began < 5
        if where == "before":  # the socket is still usable
            drawn.send(there)
            GraphicsResource.receive(here)[0].close()
        elif where == "in a header":
            assert there.recv(1) == b""


def test_control_c_interrupts_the_send_of_a_ring(egl, cuda):
    """Catches: it was handled only after the message."""
    egl.make_current()
    here, there = socket.socketpair()
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    ring = Ring([GraphicsResource.create_gl_buffer(SIZE, transports="shared")])
    with here, there, ring:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            ring.send(here, "consumer", bytes(60000), timeout=10)
        assert time.monotonic() - began < 5
        timer.join()
        with ring.acquire_write(stream=cuda) as slot:  # this process still has the ring
            assert slot.frame == 1


def test_other_signals_do_not_interrupt_a_message(drawn, cuda):
    here, there = socket.socketpair()
    calls = threading.Semaphore(0)
    handler = signal.signal(signal.SIGALRM, lambda *_: calls.release())
    with here, there:
        relay, source = socket.socketpair()
        drawn.send(source, b"mesh")
        data, fds, _, _ = socket.recv_fds(relay, 65536, 10)
        data += relay.recv(65536)

        def send_in_parts():
            socket.send_fds(there, [data[:9]], fds)
            handled.extend(calls.acquire(timeout=5) for _ in range(3))
            there.send(data[9:])

        handled, thread = [], threading.Thread(target=send_in_parts)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        thread.start()
        memory, mesh = GraphicsResource.receive(here, timeout=10)
        signal.setitimer(signal.ITIMER_REAL, 0)
        thread.join()
    signal.signal(signal.SIGALRM, handler)
    assert mesh == b"mesh" and handled == [True] * 3
    for one in (memory, relay, source):
        one.close()
    for fd in fds:
        os.close(fd)
