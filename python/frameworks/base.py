# SPDX-License-Identifier: Apache-2.0
"""The interface between the matrix and a framework."""

import importlib
import importlib.metadata


class NoWay(Exception):
    """The framework has no such way. The reason goes into the matrix."""


class Framework:
    """One row. A method that is not overridden is a way that the framework lacks."""

    name = ""
    modules = ()
    distributions = ()

    # The kinds of grinterop memory that it accepts.
    memory = "device"

    def __init__(self, stream):
        """Imports the modules. An ImportError becomes the reason why the row did not run."""
        self.stream = stream
        for module in self.modules:
            importlib.import_module(module)
        self.begin()

    def begin(self):
        """What has to be done once."""

    def version(self):
        found = []
        for name in self.distributions:
            try:
                found.append(importlib.metadata.version(name))
                break
            except importlib.metadata.PackageNotFoundError:
                continue
        return ", ".join(found) or getattr(
            importlib.import_module(self.modules[0]), "__version__", "unknown"
        )

    def take(self, tensor):
        """Its own array in the memory of a grinterop.Tensor."""
        raise NoWay("it takes no memory of others")

    def pointer(self, array):
        """The address of the array's first element."""
        return array.__cuda_array_interface__["data"][0]

    def to_bytes(self, array):
        """The array's elements, by the framework's own copy."""
        raise NoWay("it copies nothing to the CPU")

    def write(self, array, data, shape):
        """Writes bytes of that shape to the array by the framework's own operations."""
        raise NoWay("its arrays can't be written to")

    def make(self, data, shape):
        """A uint8 array with those bytes, in memory of the framework."""
        raise NoWay("it makes no arrays of bytes")

    def produce(self, shape):
        """An array to show, with the bytes that must arrive and the options for publish()."""
        data = pattern(shape, 3)
        return self.make(data, shape), data, {}

    def take_array(self, buffer, shape):
        """Wraps a mapped image in its own object, without a copy; returns its bytes."""
        raise NoWay("it has no object for a CUDA array")

    def finish(self):
        """Waits for all of its queued work."""

    def close(self):
        """Called after its last use in the process."""


def pattern(shape, seed):
    """Bytes without equal neighbours, different for each seed."""
    count = 1
    for size in shape:
        count *= size
    return bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 255 for i in range(count))
