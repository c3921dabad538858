# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ring.read() and Ring.write(), which wait in an asyncio event loop."""

from __future__ import annotations

import math
import os
from collections import deque
from typing import Any

from ._errors import WaitTimeoutError, _make
from ._grinterop import Ring, Slots

# Ring._lines has the tasks of an event loop that wait for a role of the ring, in order. Each has a
# future, which ends when the task is the first: only the first one polls the descriptor. The ring
# owns them, so that the collector frees the tasks of a loop that was closed before they ended.


def _wake(future: Any) -> None:
    if not future.done() and not future.get_loop().is_closed():
        future.set_result(None)


async def _until(future: Any, loop: Any, end: float | None) -> None:
    timer = None if end is None else loop.call_at(end, _wake, future)
    try:
        await future
    finally:
        if timer:
            timer.cancel()


async def _readable(ring: Ring, role: Any, loop: Any, end: float | None) -> None:
    # The ring may be closed meanwhile. A copy of its descriptor stays valid, and becomes readable.
    fd = os.dup(ring.descriptor(role))
    future = loop.create_future()
    try:
        loop.add_reader(fd, _wake, future)
        try:
            await _until(future, loop, end)
        finally:
            if not loop.is_closed():
                loop.remove_reader(fd)
    finally:
        os.close(fd)


async def _acquire(acquire: Any, role: Any, n: int, stream: Any, timeout: float | None) -> Slots:
    import asyncio

    if timeout is not None and not timeout >= 0:
        raise ValueError(f"a timeout must be None or seconds, 0 or more, but is {timeout!r}")
    ring, loop = acquire.__self__, asyncio.get_running_loop()
    end = None if timeout is None else loop.time() + timeout
    lines = ring._lines
    line = lines.setdefault((loop, role), deque())
    own = loop.create_future()
    line.append(own)
    try:
        if line[0] is not own:
            await _until(own, loop, end)
        is_woken = False
        while True:
            try:
                slots: Slots = acquire(n, stream=stream, timeout=0)
                return slots
            except WaitTimeoutError as error:
                if timeout is not None and end is not None and loop.time() >= end:
                    when = f"within {math.ceil(timeout * 1000)} ms" if timeout else "yet"
                    call = error.call.replace("acquire_", "")
                    text = error.message.replace("yet", when, 1)
                    raise _make("GR_ERR_TIMEOUT", 0, 0, "", call, text) from None
            if is_woken:  # the descriptor is readable, but fewer than n slots are there
                await asyncio.sleep(0.001)
            await _readable(ring, role, loop, end)
            is_woken = True
    finally:
        line.remove(own)
        if line:
            _wake(line[0])
        else:
            del lines[loop, role]


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
