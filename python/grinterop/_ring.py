# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ring.read() and Ring.write(), which wait in an asyncio event loop."""

from __future__ import annotations

import math
import os
import select
from collections import deque
from typing import Any

from ._errors import InvalidValueError, WaitTimeoutError, _make
from ._grinterop import Ring, Slots, _milliseconds

# Ring._lines has the tasks of an event loop that wait for a role of the ring, in order. Each has a
# future, which ends when the task is the first: only the first one polls the descriptor. The ring
# owns them, so that the collector frees the tasks of a loop that was closed before they ended.


def _wake(future: Any) -> None:
    if not future.done() and not future.get_loop().is_closed():
        future.set_result(None)


async def _until(future: Any, loop: Any, end: float) -> None:
    timer = loop.call_at(end, _wake, future) if end < math.inf else None
    try:
        await future
    finally:
        if timer:
            timer.cancel()


def _copy_descriptor(ring: Ring, role: Any) -> int:
    """If the ring is closed, a copy of its descriptor stays valid, and becomes readable."""
    copy = -1
    try:
        copy = os.dup(ring.descriptor(role))
        ring.descriptor(role)  # raises if another thread closed the ring before the copy
    except OSError:
        ring.descriptor(role)  # likewise
        raise
    except BaseException:
        if copy >= 0:
            os.close(copy)
        raise
    return copy


class _Changes:
    """Waits until more slots than before can be acquired."""

    def __init__(self, ring: Ring, role: Any, loop: Any) -> None:
        self._fd, self._loop = _copy_descriptor(ring, role), loop
        self._epoll = select.epoll()
        self._epoll.register(self._fd, select.EPOLLIN | select.EPOLLET)

    def close(self) -> None:
        self._epoll.close()
        os.close(self._fd)

    async def next(self, end: float) -> None:
        future = self._loop.create_future()
        self._loop.add_reader(self._epoll.fileno(), _wake, future)
        try:
            # Slots that another thread dropped may come back by a call of this thread only.
            await _until(future, self._loop, min(end, self._loop.time() + 1))
        finally:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._epoll.fileno())
        self._epoll.poll(0)


async def _acquire_first(acquire: Any, role: Any, n: int, stream: Any, end: float) -> Slots:
    import asyncio

    loop, changes = asyncio.get_running_loop(), None
    try:
        while True:
            try:
                slots: Slots = acquire(n, stream=stream, timeout=0)
                return slots
            except WaitTimeoutError:
                if loop.time() >= end:
                    raise
            changes = changes or _Changes(acquire.__self__, role, loop)
            await changes.next(end)
    finally:
        if changes:
            changes.close()


def _check(acquire: Any, n: Any, stream: Any) -> None:
    """Raises what acquire() raises for wrong arguments, and acquires nothing."""
    try:
        acquire(0, stream=stream, timeout=0)
    except InvalidValueError as error:
        if not error.message.startswith("n is 0"):
            raise
    if not hasattr(type(n), "__index__") or not 0 < n <= acquire.__self__.info()["slots"]:
        try:
            acquire(n, stream=stream, timeout=0).cancel()  # valid only for frames of replaced slots
        except WaitTimeoutError:
            pass


async def _acquire(acquire: Any, role: Any, n: int, stream: Any, timeout: float | None) -> Slots:
    import asyncio

    limit = _milliseconds(timeout)
    loop, lines = asyncio.get_running_loop(), acquire.__self__._lines
    end = math.inf if limit is None else loop.time() + limit / 1000
    if lines.get((loop, role)):
        _check(acquire, n, stream)
    line = lines.setdefault((loop, role), deque())
    own = loop.create_future()
    line.append(own)
    what = "frame" if role == "consumer" else "slot"
    missing = f"{n} {what} was" if n == 1 else f"{n} {what}s were"
    text = f"{missing} not available yet, since earlier calls are waiting for {what}s."
    try:
        if line[0] is not own:
            await _until(own, loop, end)
        if line[0] is own:
            return await _acquire_first(acquire, role, n, stream, end)
    except WaitTimeoutError as error:
        text = error.message
    finally:
        line.remove(own)
        if line:
            _wake(line[0])
        else:
            del lines[loop, role]
    when = f"within {limit} ms" if limit else "yet"
    status = "GR_ERR_TIMEOUT" if limit else "GR_ERR_NOT_READY"
    call = acquire.__qualname__.replace("acquire_", "")
    raise _make(status, 0, 0, "", call, text.replace("yet", when, 1))


async def _read(
    self: Ring, n: int = 1, *, stream: Any = None, timeout: float | None = None
) -> Slots:
    return await _acquire(self.acquire_read, "consumer", n, stream, timeout)


async def _write(
    self: Ring, n: int = 1, *, stream: Any = None, timeout: float | None = None
) -> Slots:
    return await _acquire(self.acquire_write, "producer", n, stream, timeout)


# They replace functions in C that only have the docstrings of the stub.
for _name, _function in (("read", _read), ("write", _write)):
    _function.__name__, _function.__qualname__ = _name, f"Ring.{_name}"
    _function.__doc__ = getattr(Ring, _name).__doc__
    setattr(Ring, _name, _function)
