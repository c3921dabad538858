# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Coroutines that wait for rings."""

import asyncio

import grinterop
import pytest

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
        for n in (1, 1):
            write(ring, cuda, n)
            await asyncio.sleep(0.01)
        assert [task.done() for task in tasks] == [True, False, False]
        write(ring, cuda)
        frames = [task.result().frames for task in tasks[:1]] + [(await tasks[1]).frames]
        assert frames == [(1,), (2, 3)] and not tasks[2].done()
        tasks[0].result().give_back()
        write(ring, cuda)
        with tasks[1].result(), await tasks[2] as slot:
            assert slot.frame == 4

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


def test_timeout_of_each_waiting_task(ring, cuda):  # noqa: F811
    async def main():
        loop = asyncio.get_running_loop()
        began = loop.time()
        tasks = await started(ring.read(), ring.read(timeout=0.05), ring.read(timeout=0.04))
        for task in tasks[1:]:
            with pytest.raises(grinterop.WaitTimeoutError, match="1 frame was not available"):
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
        calls = [ring.read(), ring.read()] if end == "close" else [ring.write(stream=cuda)] * 1
        tasks = await started(*calls)
        getattr(ring, end)()
        for task in tasks:
            with pytest.raises(error, match=text):
                await task

    run(main())
