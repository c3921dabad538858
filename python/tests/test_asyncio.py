# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Coroutines that wait for rings."""

import asyncio
import functools
import gc
import os
import re
import socket
import time
import weakref

import grinterop
import pytest
from grinterop import GraphicsResource, Ring
from grinterop._ring import _Changes

import gl
from conftest import elsewhere, refuses
from test_external import SIZE, child
from test_ring import resources, ring  # noqa: F401


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


async def started(*coroutines):
    """Tasks that wait."""
    tasks = [asyncio.create_task(one) for one in coroutines]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in tasks)
    return tasks


def write(ring, cuda, n=1):  # noqa: F811
    ring.acquire_write(n, stream=cuda).hand_over()


def test_both_sides_wait_in_one_loop(ring, cuda):  # noqa: F811
    async def read():
        for frame in range(1, 21):
            with await ring.read() as slot:
                assert slot.frame == frame
                await asyncio.sleep(0)

    async def fill():
        for _ in range(20):
            with await ring.write(stream=cuda) as slot:
                assert slot.buffer.handle
                await asyncio.sleep(0)

    async def both():
        await asyncio.gather(read(), fill())

    run(both())
    assert ring.info()["read"] == 20


def test_waiting_tasks_get_frames_in_order(ring, cuda):  # noqa: F811
    async def main():
        tasks = await started(ring.read(), ring.read(2), ring.read())
        write(ring, cuda)
        with await tasks[0] as slot:
            assert slot.frame == 1
        write(ring, cuda)
        await asyncio.sleep(0.01)
        assert not tasks[1].done()
        write(ring, cuda)
        assert (await tasks[1]).frames == (2, 3) and not tasks[2].done()
        write(ring, cuda)
        with tasks[1].result(), await tasks[2] as slot:
            assert slot.frame == 4

    run(main())


def test_wrong_arguments_are_refused_at_once(ring, cuda):  # noqa: F811
    """Catches: behind another task, read(99) waited for its turn, or said "not available"."""

    async def main():
        (first,) = await started(ring.read())
        for n, stream, error in [
            ("x", None, TypeError), (0, None, ValueError), (99, None, ValueError),
            (-1, None, ValueError), (1, "x", TypeError), (1, cuda, ValueError),
        ]:
            with pytest.raises(error):
                await asyncio.wait_for(ring.read(n, stream=stream), 5)
        (second,) = await started(ring.read(3))
        write(ring, cuda)
        with await first as slot:
            assert slot.frame == 1
        write(ring, cuda, 3)
        with await second as slots:
            assert slots.frames == (2, 3, 4)

    run(main())


@pytest.mark.parametrize("turns", range(6))
def test_cancelled_task_acquires_nothing(ring, cuda, turns):  # noqa: F811
    """A task is cancelled at each step between the frame and its result."""

    async def main():
        first, second = await started(ring.read(), ring.read())
        write(ring, cuda)
        for _ in range(turns):
            await asyncio.sleep(0)
        was_done = first.done()
        first.cancel()
        slots = await (first if was_done else second)
        assert slots.frame == 1 and ring.info()["reading"] == 1
        slots.give_back()
        second.cancel()

    run(main())
    assert ring.info()["reading"] == 0


@pytest.mark.parametrize("timeout", [0, 0.05])
def test_timeout_does_not_overtake_an_earlier_call(ring, cuda, timeout):  # noqa: F811
    """Catches: at its timeout a task took the frame that an earlier one waited for."""

    async def poll(first, refused):
        while not first.done():
            with pytest.raises(grinterop.WaitTimeoutError) as caught:
                await ring.read(timeout=timeout)
            assert first.done() or "1 frame was not available" in str(caught.value)
            assert first.done() or "earlier calls are waiting for frames" in str(caught.value)
            refused.release()

    async def main():
        write(ring, cuda)
        (first,) = await started(ring.read(2))
        refused = asyncio.Semaphore(0)
        later = asyncio.create_task(poll(first, refused))
        for _ in range(3):
            await refused.acquire()
        write(ring, cuda)
        with await first as slots:
            assert slots.frames == (1, 2)
        await later

    run(main())


def test_task_that_waits_for_several_frames_does_not_poll(ring, cuda, monkeypatch):  # noqa: F811
    """Catches: it tried 1,000 times a second while one frame was there."""
    tries, wait = [], _Changes.next

    def count(changes, end):
        tries.append(end)
        return wait(changes, end)

    monkeypatch.setattr(_Changes, "next", count)

    async def main():
        write(ring, cuda)
        (task,) = await started(ring.read(2))
        await asyncio.sleep(0.05)
        assert 1 <= len(tries) <= 2
        write(ring, cuda)
        began = time.monotonic()
        with await task as slots:
            assert slots.frames == (1, 2) and time.monotonic() - began < 0.5

    run(main())


def test_slots_dropped_on_another_thread_come_back(ring, cuda):  # noqa: F811
    async def main():
        held = [ring.acquire_write(3, stream=cuda)]
        (task,) = await started(ring.write(stream=cuda))
        elsewhere(held.clear)
        with await task as slot:
            assert slot.frame == 1

    run(main())


def test_timeout_of_each_waiting_task(ring, cuda):  # noqa: F811
    async def main():
        loop = asyncio.get_running_loop()
        began = loop.time()
        calls = [ring.read(), ring.read(timeout=0.05), ring.read(timeout=0.04)]
        tasks = [asyncio.create_task(one) for one in calls]
        for task, ms in zip(tasks[1:], (50, 40)):
            words = rf"1 frame was not available within {ms} ms.*\(Ring.read\)"
            with pytest.raises(grinterop.WaitTimeoutError, match=words):
                await task
        assert 0.05 <= loop.time() - began < 5
        with pytest.raises(TimeoutError):
            await ring.read(timeout=0)
        for wrong in (-1, float("nan")):
            with pytest.raises(ValueError, match="timeout"):
                await ring.read(timeout=wrong)
        write(ring, cuda)
        with await tasks[0] as slot:
            assert slot.frame == 1

    run(main())


@pytest.mark.parametrize("end", ["stop", "close"])
def test_end_of_the_ring_raises_in_all_waiting_tasks(ring, cuda, end):  # noqa: F811
    error, text = {
        "stop": (grinterop.StoppedError, "has been stopped"),
        "close": (RuntimeError, "Ring has been closed"),
    }[end]

    async def main():
        if end == "stop":
            write(ring, cuda, 3)
        call = ring.read if end == "close" else lambda: ring.write(stream=cuda)
        tasks = await started(call(), call())
        getattr(ring, end)()
        for task in tasks:
            with pytest.raises(error, match=text):
                await task

    run(main())


def test_collector_frees_tasks_of_a_closed_loop(resources, capfd):  # noqa: F811
    """Catches: such tasks kept their ring until the process exited, and failed at the end."""
    gc.collect()
    ring, loop = Ring(resources), asyncio.new_event_loop()  # noqa: F811
    seen, handled = weakref.ref(ring), []
    loop.set_exception_handler(lambda _, context: handled.append(context["message"]))
    loop.run_until_complete(started(ring.read(), ring.read(2), ring.read()))
    loop.close()
    del ring
    gc.collect()
    assert seen() is None and handled == ["Task was destroyed but it is pending!"] * 3
    assert "Exception ignored" not in capfd.readouterr().err


@pytest.mark.parametrize("before", [True, False], ids=["before the copy", "after it"])
def test_ring_closed_before_the_wait_is_refused(ring, monkeypatch, before):  # noqa: F811
    """Catches: OSError, or a wait for the file that got the number of the descriptor."""
    copy, copies = os.dup, []

    def closing(descriptor):
        if before:
            ring.close()
        copies.append(copy(descriptor))
        ring.close()
        return copies[-1]

    monkeypatch.setattr(os, "dup", closing)
    refuses(RuntimeError, lambda: run(ring.read()), match="closed")
    for one in copies:
        with pytest.raises(OSError):
            os.fstat(one)


# ---- Two processes -------------------------------------------------------------------------------

PEER = """
import asyncio
from grinterop import Ring

async def main():
    ring, role = Ring.receive(peer, timeout=30)
    assert repr(ring).startswith("<Ring received slots=2 ")
    for frame in range(1, 11):
        if role.startswith(b"producer"):
            with await ring.write(stream=cuda) as slot:
                assert slot.resource is None
                slot.buffer.fill(bytes([frame]), stream=cuda)
        else:
            with await ring.read(stream=cuda) as slot:
                assert slot.buffer.tensor().tobytes(stream=cuda) == bytes([frame]) * SIZE
    await asyncio.sleep(60 if b"stays" in role else 0)
    ring.close()

asyncio.run(main())
"""


@pytest.fixture
def shared(egl):
    """Sends a ring of OpenGL buffers to a new process that uses CUDA for the other role."""
    egl.make_current()
    made = [GraphicsResource.create_gl_buffer(SIZE, transports="shared") for _ in range(2)]
    process = None

    def send(role, also=b""):
        nonlocal process
        process, peer = child(PEER)
        ring = Ring(made, producer="cuda" if role == "consumer" else "graphics")
        other = {"consumer": b"producer", "producer": b"consumer"}[role]
        ring.send(peer, role, other + also, timeout=30)
        return ring, process, peer

    yield send
    process.kill()
    process.wait()


async def use(ring, role):
    """The side of OpenGL."""
    for frame in range(1, 11):
        if role == "consumer":
            with await ring.read() as slot:
                assert gl.read_buffer(slot.resource.gl_name, SIZE) == bytes([frame]) * SIZE
        else:
            with await ring.write() as slot:
                gl.write_buffer(slot.resource.gl_name, bytes([frame]) * SIZE)


@pytest.mark.parametrize("role", ["consumer", "producer"])
def test_two_processes_wait_for_each_other(shared, role):
    ring, process, peer = shared(role)

    async def main():
        await use(ring, role)
        with pytest.raises(grinterop.CUDAError, match="The other process, the ring's"):
            for _ in range(3):
                (await ring.read()) if role == "consumer" else (await ring.write()).hand_over()

    with peer:
        run(main())
        assert process.wait(30) == 0
    ring.close()


def test_end_of_the_other_process_raises_in_the_waiting_task(shared):
    ring, process, peer = shared("consumer", b" stays")

    async def main():
        await use(ring, "consumer")
        tasks = await started(ring.read(), ring.read(timeout=20))
        process.kill()
        for task in tasks:
            with pytest.raises(grinterop.CUDAError, match="the ring's producer") as caught:
                await task
            assert caught.value.status == "GR_ERR_SYSTEM"

    with peer:
        run(main())
    ring.close()


def test_timeouts_of_sockets_are_named(ring, resources):  # noqa: F811
    """Catches: a send to a process that does not read blamed work of the ring, and a timeout of 0
    had another status with await, as had other timeouts of receive().
    """
    here, there = socket.socketpair()
    send, late = functools.partial(ring.send, here, "consumer"), "No message arrived (yet|wi.*ms)"
    with here, there:
        here.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                here.send(bytes(4096))
        for call, words in (
            (send, "has no room (.*): the other process does not read"),
            (functools.partial(resources[0].send, here), "has no room (.*): the other process"),
            (functools.partial(Ring.receive, here), late),
            (functools.partial(GraphicsResource.receive, here), late),
            (ring.acquire_read, "1 frame was not available (yet|within.*ms)\\. The ring"),
            (lambda timeout: run(ring.read(timeout=timeout)), "1 frame was .* (yet|wi.*ms)\\."),
        ):
            for timeout, when, status in (
                (0, "yet", "GR_ERR_NOT_READY"), (0.06, "within 60 ms", "GR_ERR_TIMEOUT")
            ):
                with pytest.raises(grinterop.WaitTimeoutError) as caught:
                    call(timeout=timeout)
                found = re.search(words, str(caught.value))
                assert found and found[1] == when and caught.value.status == status, caught.value
    with pytest.raises(TypeError, match="^timeout: expected a number"):
        run(ring.read(timeout="1"))


def test_wrong_messages_of_rings_are_refused(ring):  # noqa: F811
    here, there = socket.socketpair()
    with here, there:
        refuses(TimeoutError, lambda: Ring.receive(here, timeout=0))
        refuses(ValueError, lambda: ring.send(here, "both"), match="role")
        there.send(b"no message of ours, but longer than a header")
        refuses(ValueError, lambda: Ring.receive(here, timeout=1))
        refuses(TypeError, lambda: ring.send("here", "consumer"), match="^socket: expected a soc")
        refuses(TypeError, lambda: ring.send(here, "consumer", "x"), match="^data: expected bytes")
    refuses(OSError, lambda: ring.send(12345, "consumer"))
    with socket.socket(socket.AF_UNIX) as alone:
        refuses(ValueError, lambda: ring.send(alone, "consumer"), match="The socket is not connec")
