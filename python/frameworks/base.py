# SPDX-License-Identifier: Apache-2.0
"""What the matrix asks of a framework."""

import importlib
import importlib.metadata


class NoWay(Exception):
    """The framework has no such way. The reason goes into the matrix."""


class Framework:
    """One row. A method that is not overridden is a way that the framework has not."""

    name = ""
    modules = ()
    distributions = ()

    # Which memory of grinterop's it takes.
    memory = "device"

    def __init__(self, stream):
        """Imports the modules: an ImportError is the reason why the row did not run."""
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
        """Its own array on a grinterop.Tensor's memory."""
        raise NoWay("it takes no memory of others")

    def pointer(self, array):
        """Where the array's first element is."""
        return array.__cuda_array_interface__["data"][0]

    def to_bytes(self, array):
        """The array's elements, by the framework's own copy."""
        raise NoWay("it copies nothing to the CPU")

    def write(self, array, data, shape):
        """Writes bytes, which are of that shape, into the array by work of the framework's own."""
        raise NoWay("its arrays can't be written to")

    def make(self, data, shape):
        """An array of the framework's own memory, of those bytes, of uint8."""
        raise NoWay("it makes no arrays of bytes")

    def produce(self, shape):
        """Something that it made and would show, with the bytes that have to arrive, and options
        for publish()."""
        data = pattern(shape, 3)
        return self.make(data, shape), data, {}

    def take_array(self, buffer, shape):
        """A mapped image as an object of its own, without a copy; returns its bytes."""
        raise NoWay("it has no object for an image of CUDA's")

    def finish(self):
        """Waits for all that it has begun."""

    def close(self):
        """The end of the process's last use of it."""


def pattern(shape, seed):
    """Bytes of which no two neighbours are equal, others for each seed."""
    count = 1
    for size in shape:
        count *= size
    return bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 255 for i in range(count))
