# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rings: slots that alternate between CUDA and OpenGL."""

import re
import socket
import threading
import time

import grinterop
import pytest
from grinterop import GraphicsResource, Ring

import gl
from conftest import refuses


@pytest.fixture
def resources(egl):
    egl.make_current()
    names = [gl.buffer(256) for _ in range(3)]
    made = [GraphicsResource.from_gl_buffer(name, flags="write_discard") for name in names]
    yield made
    for resource in made:
        resource.close()
    for name in names:
        gl.delete_buffer(name)


@pytest.fixture
def ring(resources):
    made = Ring(resources)
    yield made
    made.close()


def test_frame_passes_from_cuda_to_opengl_and_back(ring, resources, cuda):
    with ring.acquire_write(stream=cuda) as slot:
        assert len(slot) == 1 and slot.frame == 1 and slot.resource is resources[slot.index]
        assert slot.buffer.handle and slot.buffer.size == 256
        buffer = slot.buffer
        refuses(RuntimeError, buffer.close, match="ring")
        assert ring.info()["writing"] == 1
    assert buffer.is_closed and buffer.handle == 0
    with ring.acquire_read() as slot:
        assert slot.frame == 1 and slot.buffer is None
        assert slot.resource.gl_name == resources[0].gl_name
    assert ring.info().pop("newest_age_ns") > 0
    assert set(re.findall("``(\\w+)``", Ring.info.__doc__)) == set(ring.info())
    assert ring.info() | {"free": 3, "newest_age_ns": 9} == {
        "written": 1, "read": 1, "dropped": 0, "slots": 3, "free": 3, "writing": 0, "ready": 0,
        "reading": 0, "newest_age_ns": 9,
    }


def test_buffers_end_with_their_context(egl, doomed):
    """Catches: after a PartialError the Buffers of the slots referred to freed memory."""
    stream, destroy = doomed
    egl.make_current()
    made = [GraphicsResource.create_gl_buffer(64) for _ in range(2)]
    ring = Ring(made)
    slots = ring.acquire_write(2, stream=stream)
    buffers = slots.buffers
    destroy()
    refuses(grinterop.PartialError, slots.hand_over)
    assert all(buffer.is_closed and buffer.size == 0 for buffer in buffers)
    assert slots.buffers == (None, None)
    slots.cancel()
    ring.close()
    for resource in made:
        with pytest.warns(RuntimeWarning, match=r"destroyed.*\(GraphicsResource.close\)|destroyed"):
            resource.close()


def test_messages_about_the_stream_use_python_names(ring, cuda):
    with pytest.raises(ValueError, match="a stream, but none was passed. Pass the st") as wrong:
        ring.acquire_write()
    assert 'set producer to "graphics"' in str(wrong.value)
    assert "such as a CudaContext, or 1 (legacy) or 2 (per thread) for a def" in str(wrong.value)
    assert "GR_" not in str(wrong.value)
    with pytest.raises(ValueError, match="a CUDA stream: omit `stream`. ") as wrong:
        ring.acquire_read(stream=cuda)
    assert "GR_" not in str(wrong.value)


def test_several_slots_are_acquired_at_once(ring, cuda):
    with ring.acquire_write(3, stream=cuda) as slots:
        assert slots.frames == (1, 2, 3) and len(set(slots.indices)) == 3
        assert len({buffer.handle for buffer in slots.buffers}) == 3
    refuses(ValueError, lambda: ring.acquire_write(0, stream=cuda), match="the ring has 3 slots")
    refuses(TimeoutError, lambda: ring.acquire_write(stream=cuda, timeout=0))
    began = time.monotonic()
    refuses(grinterop.WaitTimeoutError, lambda: ring.acquire_write(stream=cuda, timeout=0.05))
    assert time.monotonic() - began >= 0.05
    slots = ring.acquire_read(2)
    slots.cancel()
    with ring.acquire_read(3) as slots:
        assert slots.frames == (1, 2, 3)


def test_slots_are_handed_over_once(ring, cuda):
    slots = ring.acquire_write(stream=cuda)
    refuses(RuntimeError, slots.give_back, match="hand")
    slots.hand_over()
    refuses(RuntimeError, slots.hand_over, slots.cancel, match="already")
    for name in ("buffer", "resource", "frame", "index", "buffers"):
        refuses(RuntimeError, lambda: getattr(slots, name), match="already")
    slots = ring.acquire_read()
    refuses(RuntimeError, slots.hand_over, match="give_back")
    slots.give_back()


def test_buffer_of_an_ended_slot_says_how_it_ended(ring, cuda):
    refuses(
        RuntimeError,
        lambda: ring.acquire_write(stream=cuda).buffer.tensor((64,)),
        lambda: ring.acquire_write(stream=cuda).buffer.fill(0, stream=cuda),
        match="its Slots object was dropped: keep that object",
    )
    with ring.acquire_write(stream=cuda) as slot:
        buffer = slot.buffer
    refuses(RuntimeError, buffer.tensor, match="its slot was handed over")


def test_tensor_of_an_ended_slot_names_the_call_and_the_ring(ring, cuda):
    """Catches: copy_from() reported a call of copy_to(), and advised to map the resource."""
    with pytest.warns(ResourceWarning), ring.acquire_write(stream=cuda) as slot:
        tensor = slot.buffer.tensor()
    other = grinterop.Tensor.create(256, memory="pinned")
    for call in (tensor.copy_from, tensor.copy_to):
        with pytest.raises(grinterop.StateError, match="or acquire another slot") as wrong:
            call(other, stream=cuda)
        assert wrong.value.call == f"Tensor.{call.__name__}"


def test_exception_cancels_slots(ring, cuda):
    with pytest.raises(ZeroDivisionError), ring.acquire_write(stream=cuda):
        1 / 0
    assert ring.info()["written"] == 0
    ring.acquire_write(stream=cuda)
    assert ring.info()["writing"] == 0


def test_close_with_acquired_slots_is_refused(ring, cuda):
    slots = ring.acquire_write(stream=cuda)
    refuses(RuntimeError, ring.close, match="1 slots")
    slots.cancel()


def test_ring_owns_its_resources(ring, resources, cuda):
    refuses(grinterop.StateError, lambda: resources[0].map(stream=cuda))
    ring.close()
    ring.close()
    assert ring.is_closed
    resources[0].map(stream=cuda).close()
    for call in (ring.acquire_read, ring.info, lambda: ring.descriptor("producer")):
        refuses(RuntimeError, call, match="closed")
    ring.stop()


def test_mailbox_returns_the_newest_frame(resources, cuda):
    with Ring(resources, mode="newest") as ring:
        for _ in range(7):
            with ring.acquire_write(stream=cuda):
                pass
        with ring.acquire_read() as slot:
            assert slot.frame == 7
        assert ring.info()["dropped"] == 6


def test_both_ends_of_a_shared_ring_count_all_frames(egl, cuda):
    """Catches: without an acquire, info() and repr() of a shared ring did not change."""
    egl.make_current()
    made = [GraphicsResource.create_gl_buffer(256, transports="shared") for _ in range(2)]
    here, there = socket.socketpair()
    with here, there, Ring(made, mode="newest") as consumer:
        consumer.send(here, "consumer", timeout=30)
        with Ring.receive(there, timeout=30)[0] as producer:
            assert consumer.info()["newest_age_ns"] == producer.info()["newest_age_ns"] == 0
            before = time.monotonic_ns()
            for _ in range(5):
                producer.acquire_write(stream=cuda).hand_over()
            for end in (producer, consumer):
                counts = end.info()
                assert (counts["written"], counts["dropped"], counts["ready"]) == (5, 3, 2)
                assert 0 < counts["newest_age_ns"] < time.monotonic_ns() - before
            assert " ready=2 " in repr(consumer)
            with producer.acquire_write(stream=cuda) as slot:
                assert slot.buffer.size == 256 and slot.resource is None
        egl.make_current()
        with pytest.raises(grinterop.CUDAError, match="The other process") as gone:
            for _ in range(4):
                consumer.acquire_read(timeout=30).give_back()
        assert (gone.value.status, gone.value.code_name) == ("GR_ERR_SYSTEM", "")


def test_invalid_rings_are_refused(resources):
    for arguments in [([],), ([resources[0], resources[0]],)]:
        refuses(grinterop.CUDAError, lambda: Ring(*arguments))
    refuses(TypeError, lambda: Ring([None]))
    refuses(ValueError, lambda: Ring(resources, mode="random"), match="mode")
    refuses(ValueError, lambda: Ring(resources, producer="both"), match="producer")


def test_resize_replaces_the_resources(ring, resources, cuda, egl):
    with ring.acquire_write(stream=cuda):
        pass
    more = [GraphicsResource.from_gl_buffer(gl.buffer(512)) for _ in range(2)]
    ring.resize(more)
    with ring.acquire_write(stream=cuda) as slot:
        assert slot.resource in more
    with ring.acquire_read() as slot:
        assert slot.resource in resources
    with ring.acquire_read() as slot:
        assert slot.resource in more
    ring.close()


def test_ring_descriptors_become_readable(ring, cuda):
    import select

    consumer = ring.descriptor("consumer")
    assert not select.select([consumer], [], [], 0)[0]
    with ring.acquire_write(stream=cuda):
        pass
    assert select.select([consumer], [], [], 1)[0]


def test_stop_ends_a_wait(egl, cuda):
    egl.make_current()
    made = [GraphicsResource.create_gl_buffer(256, transports="shared") for _ in range(2)]
    ring = Ring(made)
    caught = []

    def wait():
        try:
            with ring.acquire_write(2, stream=cuda):
                pass
            ring.acquire_write(stream=cuda)
        except grinterop.StoppedError as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while ring.info()["written"] < 2:
        time.sleep(0.001)
    time.sleep(0.02)
    refuses(RuntimeError, lambda: ring.acquire_write(stream=cuda), match="another thread")
    refuses(RuntimeError, ring.close, match="another thread")
    ring.stop()
    thread.join()
    assert len(caught) == 1
    ring.close()
    for resource in made:
        resource.close()
