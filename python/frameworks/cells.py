# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cells of the matrix. A cell tries every way from one graphics object to a framework or back.

A way counts as "without a copy" if the pointer of the array is the pointer of the mapping. The
bytes that the copies and kernels of grinterop write are counted.
"""

import grinterop

from .base import Unsupported, pattern


class Different(Exception):
    """The received bytes differ from those sent."""


def compare(found, wanted):
    if found == wanted:
        return
    if len(found) != len(wanted):
        raise Different(f"{len(found)} bytes arrived, and {len(wanted)} were sent")
    at = next(i for i in range(len(wanted)) if found[i] != wanted[i])
    wrong = sum(a != b for a, b in zip(found, wanted))
    raise Different(f"{wrong} of {len(wanted)} bytes differ, the first at {at}")


def one_line(error):
    """An exception as text for the matrix."""
    text = " ".join(str(error).split()) or type(error).__name__
    kind = "" if isinstance(error, (Unsupported, Different)) else f"{type(error).__name__}: "
    return (kind + text)[:300]


def attempt(way, copies, run, *arguments):
    """The result of one way; `copies` is the number of copies that it needs."""
    before = grinterop.bytes_moved()
    try:
        note = run(*arguments)
    except Unsupported as error:
        return {"way": way, "result": "none", "reason": one_line(error)}
    except Exception as error:
        return {"way": way, "result": "failed", "reason": one_line(error)}
    moved = grinterop.bytes_moved() - before
    if copies == 0 and moved:
        return {"way": way, "result": "failed", "reason": f"{moved} bytes were copied"}
    return {"way": way, "result": "works", "copies": copies, "moved": moved, "note": note or ""}


class Cells:
    """All cells of one framework."""

    def __init__(self, framework, stream):
        self.framework, self.stream = framework, stream

    # ---- Out: from graphics to the framework -----------------------------------------------------

    def filled(self, place, seed):
        data = pattern(place.shape, seed)
        place.fill(data)
        place.before()
        return data

    def out_mapping(self, place):
        """Checks that the framework's array is the mapping."""
        framework, data = self.framework, self.filled(place, 1)
        with place.resource.map(stream=self.stream) as buffer:
            self.stream.sync()
            tensor = buffer.tensor(place.shape, "uint8")
            array = framework.take(tensor)
            framework.finish()
            if framework.pointer(array) != buffer.handle:
                raise Different("the array is a copy: its pointer is not that of the mapping")
            compare(framework.to_bytes(array), data)
            framework.finish()
            del array, tensor
        return "pointer equal"

    def out_array(self, place):
        """The framework wraps the CUarray of the image in one of its objects."""
        data = self.filled(place, 2)
        with place.resource.map(stream=self.stream) as buffer:
            self.stream.sync()
            compare(self.framework.take_array(buffer, place.shape), data)
            self.framework.finish()
        return "its array"

    def out_fetch(self, place):
        """Calls fetch() with a tensor, which the framework then imports."""
        framework, data = self.framework, self.filled(place, 3)
        tensor = grinterop.Tensor.alloc(
            place.shape, "uint8", stream=self.stream, memory=framework.memory
        )
        grinterop.fetch(place.resource, tensor, stream=self.stream)
        self.stream.sync()
        array = framework.take(tensor)
        framework.finish()
        if framework.pointer(array) != tensor.handle:
            raise Different("the array is a copy: its pointer is not that of the tensor")
        compare(framework.to_bytes(array), data)
        return "fetch"

    def out(self, place):
        if place.kind == "buffer":
            return [
                attempt("mapping", 0, self.out_mapping, place),
                attempt("fetch", 1, self.out_fetch, place),
            ]
        return [
            attempt("array", 0, self.out_array, place),
            attempt("fetch", 1, self.out_fetch, place),
        ]

    # ---- In: from the framework to graphics ------------------------------------------------------

    def in_mapping(self, place):
        """The framework writes to its array, which is the mapping."""
        framework, data = self.framework, pattern(place.shape, 4)
        self.filled(place, 5)
        with place.resource.map(stream=self.stream) as buffer:
            self.stream.sync()
            array = framework.take(buffer.tensor(place.shape, "uint8"))
            if framework.pointer(array) != buffer.handle:
                raise Different("the array is a copy: its pointer is not that of the mapping")
            framework.write(array, data, place.shape)
            framework.finish()
            del array
        place.after()
        compare(place.read(), data)
        return "pointer equal"

    def in_publish(self, place):
        """Calls publish() with a tensor of the framework."""
        self.filled(place, 6)
        made, data, found = self.framework.produce(place.shape)
        shape = found.get("shape", place.shape)
        self.framework.finish()
        grinterop.publish(place.resource, made, stream=self.stream)
        self.stream.sync()
        place.after()
        if place.kind == "image":
            compare(place.read(), with_alpha(data, shape))
        else:
            compare(place.read()[: len(data)], data)
        return "publish"

    def into(self, place):
        ways = [attempt("publish", 1, self.in_publish, place)]
        if place.kind == "buffer":
            ways.insert(0, attempt("mapping", 0, self.in_mapping, place))
        return ways


def with_alpha(data, shape):
    """RGB bytes with an opaque alpha channel added."""
    if shape[-1] == 4:
        return data
    whole = bytearray(b"\xff" * (len(data) // 3 * 4))
    for channel in range(3):
        whole[channel::4] = data[channel::3]
    return bytes(whole)
