# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The interface between the matrix and a framework."""

import importlib
import importlib.metadata


class Unsupported(Exception):
    """The framework can't do this. The message goes into the matrix as the reason."""


class Framework:
    """One row of the matrix. A method that is not overridden is not supported by the framework."""

    name = ""
    modules = ()
    distributions = ()

    # The kind of grinterop memory that the framework accepts.
    memory = "device"

    def __init__(self, stream):
        """Imports the modules. An ImportError becomes the reason why the row did not run."""
        self.stream = stream
        for module in self.modules:
            importlib.import_module(module)
        self.begin()

    def begin(self):
        """One-time setup."""

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
        """Wraps a grinterop.Tensor in an array of the framework, without a copy."""
        raise Unsupported("it cannot import memory")

    def pointer(self, array):
        """The address of the first element of the array."""
        return array.__cuda_array_interface__["data"][0]

    def to_bytes(self, array):
        """The elements of the array, copied by the framework."""
        raise Unsupported("it cannot copy to the CPU")

    def write(self, array, data, shape):
        """Writes bytes of that shape to the array with operations of the framework."""
        raise Unsupported("its arrays can't be written to")

    def make(self, data, shape):
        """Makes a uint8 array with those bytes, in memory of the framework."""
        raise Unsupported("it cannot create arrays of bytes")

    def produce(self, shape):
        """Returns an array to publish, its bytes, and a dict. The dict has the shape of the array
        if that differs from `shape`, otherwise it is empty.
        """
        data = pattern(shape, 3)
        return self.make(data, shape), data, {}

    def take_array(self, buffer, shape):
        """Wraps a mapped image in an object of the framework, without a copy. Returns the image's
        bytes.
        """
        raise Unsupported("it has no object for a CUDA array")

    def finish(self):
        """Waits for all queued work of the framework."""

    def close(self):
        """Called after the last use of the framework in the process."""


def pattern(shape, seed):
    """Test bytes: neighbours differ, and each seed gives other bytes."""
    count = 1
    for size in shape:
        count *= size
    return bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 255 for i in range(count))
