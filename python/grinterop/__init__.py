# SPDX-License-Identifier: Apache-2.0 OR MIT
"""CUDA works directly on memory that OpenGL or Vulkan draws with.

    from grinterop import GraphicsResource

    resource = GraphicsResource.from_gl_buffer(name, flags="write_discard")
    with resource.map(stream=stream) as buffer:
        ...  # kernels on `stream` write to buffer.handle

GraphicsResource has the same names, arguments and exceptions as cuda.core.GraphicsResource.

- Streams: objects with `__cuda_stream__()`, such as a CudaContext; PyTorch, CuPy and Numba streams;
  or a handle as an int, where 0 is the legacy default stream.
- Dtypes: 'float32', `'<f4'`, numpy.float32, numpy.dtype('f4') or torch.float32.
- Timeouts: seconds; None waits forever.
- Errors: CUDAError, also derived from ValueError, RuntimeError etc. where one fits.
"""

import atexit as _atexit
import typing as _typing
from collections import abc as _abc

from . import _ring as _ring
from ._errors import (
    CUDAError, CUDAWarning, DeviceLostError, Error, ExchangeError, InvalidValueError, NoDriverError,
    OutOfMemoryError, PartialError, StateError, StoppedError, UnsupportedError, WaitTimeoutError,
    _python_names, last_error,
)
from ._files import get_include, get_library
from ._grinterop import (
    Buffer, CudaContext, EglContext, GraphicsResource, Ring, Semaphore, Slots, Submit, Tensor,
    VulkanDevice, _at_exit, _gl_probe, _map_many, _parse_register_flags, _release_many, clear_error,
    copy_framebuffer, cuda_driver_path, cuda_is_software, cuda_load, fetch, fetch_framebuffer,
    gl_cuda_device, library_version, publish, set_log,
)
from ._memory import exportable_memory

if _typing.TYPE_CHECKING:
    from typing_extensions import Self

    from ._grinterop import _Event, _Stream

__all__ = [
    "Buffer", "Buffers", "CUDAError", "CUDAWarning", "CudaContext", "DeviceLostError", "EglContext",
    "Error", "ExchangeError", "GraphicsResource", "InvalidValueError", "NoDriverError",
    "OutOfMemoryError", "PartialError", "Probe", "Ring", "Semaphore", "Slots", "StateError",
    "StoppedError", "Submit", "Tensor", "UnsupportedError", "VulkanDevice", "WaitTimeoutError",
    "clear_error", "copy_framebuffer", "cuda_driver_path", "cuda_is_software", "cuda_load",
    "exportable_memory", "fetch", "fetch_framebuffer", "get_include", "get_library",
    "gl_cuda_device", "gl_probe", "last_error", "library_version", "map_many", "publish", "set_log",
]

__version__ = library_version()
_atexit.register(_at_exit)


class Probe(_typing.NamedTuple):
    """The result of gl_probe(). True in a condition if the transport works."""

    usable: bool
    reason: str

    def __bool__(self) -> bool:
        return self.usable


def gl_probe(
    transport: _typing.Literal["interop", "shared", "copy", "peer"] = "interop",
) -> Probe:
    """Whether a transport ("interop", "shared", "copy" or "peer") works between the current OpenGL
    context and CUDA, and why."""
    usable, reason = _gl_probe(transport)
    return Probe(usable, _python_names(reason))


class Buffers(list[Buffer]):
    """The Buffers that map_many() returned. Leaving a `with` statement releases all of them."""

    def close(self, stream: "_Stream | None" = None, *, wait_event: "_Event" = None) -> None:
        """Releases all Buffers on `stream`, after `wait_event`. If `stream` is None, each Buffer is
        released on the stream of its map.

        Consecutive buffers with the same transport share one driver call.
        """
        _release_many(self, stream, wait_event)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def map_many(
    resources: _abc.Sequence[GraphicsResource], *, stream: "_Stream",
    wait_event: "_Event" = None, ready_event: "_Event" = None,
    offset: _typing.SupportsIndex = 0, size: _typing.SupportsIndex = 0,
    parts: "_abc.Sequence[tuple[_typing.SupportsIndex, _typing.SupportsIndex]] | None" = None,
) -> Buffers:
    """Maps several resources with one driver call: all or none.

    The map waits for `wait_event` and records `ready_event` when CUDA can use the data. `offset`
    and `size` select bytes of each buffer; a size of 0 means up to its end. `parts` has an offset
    and a size for each of them instead.
    """
    return Buffers(_map_many(resources, stream, wait_event, ready_event, offset, size, parts))


# The names of 0.2.0.
load: _abc.Callable[..., None] = cuda_load
is_software: _abc.Callable[[], bool] = cuda_is_software
driver_path: _abc.Callable[[], str] = cuda_driver_path
probe: _abc.Callable[..., Probe] = gl_probe
collect: _abc.Callable[..., None] = Tensor.collect
for _class, _old, _new in (
    (Buffer, "copy_from_image", "copy_to_linear"), (Buffer, "copy_to_image", "copy_from_linear"),
    (Tensor, "alloc", "create"), (VulkanDevice, "create_buffer", "create_vk_buffer"),
    (Tensor, "wrap", "from_memory"), (VulkanDevice, "create_image", "create_vk_image"),
):
    setattr(_class, _old, vars(_class)[_new])
