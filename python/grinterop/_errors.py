# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Exceptions, one class per library status, and the warning that destructors issue.

All exceptions derive from CUDAError, named as in cuda.core, and from the matching built-in
exception if there is one. If cuda.core is loaded, they also derive from cuda.core's CUDAError, so
an `except` clause may name either class. In the same way CUDAWarning derives from the CUDAWarning
of cuda.core 1.3 or later.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import NamedTuple

from . import _grinterop

DOMAINS = ("", "cuda", "opengl", "egl", "vulkan", "errno")


class Error(NamedTuple):
    """The fields of gr_last_error(): see last_error()."""

    status: str
    domain: str
    code: int
    code_name: str
    call: str
    message: str


class CUDAError(Exception):
    """A library call failed. Nothing has changed, unless `status` is "GR_ERR_PARTIAL".

    status     the kind of error: "GR_ERR_CUDA", ...
    domain     the origin of the code: "cuda", "opengl", "egl", "vulkan", "errno" or ""
    code       the number that the driver or the system returned, or 0
    code_name  its name, such as "CUDA_ERROR_ALREADY_MAPPED", or ""
    call       the function that failed
    message    what was found, and what to do about it
    """

    status: str = ""
    domain: str = ""
    code: int = 0
    code_name: str = ""
    call: str = ""
    message: str = ""


class InvalidValueError(CUDAError, ValueError):
    """An argument is wrong (GR_ERR_INVALID_VALUE)."""


class StateError(CUDAError, RuntimeError):
    """The object is in the wrong state (GR_ERR_STATE)."""


class UnsupportedError(CUDAError, NotImplementedError):
    """Not supported on this system (GR_ERR_UNSUPPORTED)."""


class NoDriverError(CUDAError):
    """No CUDA driver could be started (GR_ERR_NO_DRIVER)."""


class OutOfMemoryError(CUDAError, MemoryError):
    """Out of host or device memory (GR_ERR_NO_MEMORY)."""


class WaitTimeoutError(CUDAError, TimeoutError):
    """Not ready within the time allowed (GR_ERR_TIMEOUT, GR_ERR_NOT_READY)."""


class ExchangeError(CUDAError, BufferError):
    """A tensor can't be exported to or imported from another framework."""


class StoppedError(CUDAError):
    """Another thread stopped the ring (GR_ERR_STOPPED)."""


class DeviceLostError(CUDAError):
    """The device is lost (GR_ERR_DEVICE_LOST)."""


class PartialError(CUDAError):
    """The call was carried out in part (GR_ERR_PARTIAL)."""


class CUDAWarning(RuntimeWarning):
    """A destructor failed: the resources of the dropped object may have leaked."""


_CLASSES = {
    "GR_ERR_INVALID_VALUE": InvalidValueError,
    "GR_ERR_STATE": StateError,
    "GR_ERR_UNSUPPORTED": UnsupportedError,
    "GR_ERR_NO_DRIVER": NoDriverError,
    "GR_ERR_NO_MEMORY": OutOfMemoryError,
    "GR_ERR_TIMEOUT": WaitTimeoutError,
    "GR_ERR_NOT_READY": WaitTimeoutError,
    "GR_ERR_STOPPED": StoppedError,
    "GR_ERR_DEVICE_LOST": DeviceLostError,
    "GR_ERR_PARTIAL": PartialError,
}

# The names of the library functions in Python.
_FUNCTIONS = {
    "gr_buffer_array": "Buffer.array",
    "gr_buffer_copy_to_linear": "Buffer.copy_from_image",
    "gr_buffer_copy_from_linear": "Buffer.copy_to_image",
    "gr_buffer_fetch": "fetch",
    "gr_buffer_image_info": "Buffer.image_info",
    "gr_buffer_mipmapped_array": "Buffer.mipmapped_array",
    "gr_buffer_ptr": "Buffer.handle",
    "gr_buffer_publish": "publish",
    "gr_buffer_release": "Buffer.close",
    "gr_buffer_release_many": "Buffers.close",
    "gr_buffer_size": "Buffer.size",
    "gr_buffer_surface": "Buffer.surface",
    "gr_buffer_tensor": "Buffer.tensor",
    "gr_buffer_texture": "Buffer.texture",
    "gr_buffer_texture_with": "Buffer.texture",
    "gr_cuda_context_create": "CudaContext",
    "gr_cuda_load": "load",
    "gr_dtype_parse": "dtype",
    "gr_egl_create": "EglContext",
    "gr_egl_make_current": "EglContext.make_current",
    "gr_fetch": "fetch",
    "gr_fetch_framebuffer": "fetch_framebuffer",
    "gr_flags_parse": "flags",
    "gr_from_external_memory": "GraphicsResource",
    "gr_from_gl_buffer": "GraphicsResource.from_gl_buffer",
    "gr_from_gl_buffer_with": "GraphicsResource.from_gl_buffer",
    "gr_from_gl_image": "GraphicsResource.from_gl_image",
    "gr_from_gl_image_with": "GraphicsResource.from_gl_image",
    "gr_from_same_memory": "GraphicsResource.from_same_memory",
    "gr_from_vk_buffer": "VulkanDevice.from_vk_buffer",
    "gr_from_vk_image": "VulkanDevice.from_vk_image",
    "gr_gl_buffer_create": "GraphicsResource.create_gl_buffer",
    "gr_gl_cuda_device": "gl_cuda_device",
    "gr_gl_image_create": "GraphicsResource.create_gl_image",
    "gr_gl_probe": "probe",
    "gr_last_error": "last_error",
    "gr_map": "GraphicsResource.map",
    "gr_map_linear": "GraphicsResource.map_linear",
    "gr_map_many": "map_many",
    "gr_publish": "publish",
    "gr_resource_close": "GraphicsResource.close",
    "gr_resource_receive": "GraphicsResource.receive",
    "gr_resource_send": "GraphicsResource.send",
    "gr_resource_set_sync": "GraphicsResource.set_sync",
    "gr_resource_unmap": "GraphicsResource.unmap",
    "gr_resource_wait": "GraphicsResource.wait",
    "gr_ring_acquire_read": "Ring.acquire_read",
    "gr_ring_acquire_write": "Ring.acquire_write",
    "gr_ring_cancel_read": "Slots.cancel",
    "gr_ring_cancel_write": "Slots.cancel",
    "gr_ring_create": "Ring",
    "gr_ring_descriptor": "Ring.descriptor",
    "gr_ring_fetch_tensor": "fetch",
    "gr_ring_free": "Ring.close",
    "gr_ring_get_info": "Ring.info",
    "gr_ring_give_back": "Slots.give_back",
    "gr_ring_hand_over": "Slots.hand_over",
    "gr_ring_publish_tensor": "publish",
    "gr_ring_resize": "Ring.resize",
    "gr_semaphore_import": "Semaphore",
    "gr_semaphore_signal": "Semaphore.signal",
    "gr_semaphore_wait": "Semaphore.wait",
    "gr_submit_begin": "Submit",
    "gr_submit_commit": "Submit.commit",
    "gr_submit_free": "Submit.close",
    "gr_tensor_alloc": "Tensor.alloc",
    "gr_tensor_array_interface": "Tensor.__cuda_array_interface__",
    "gr_tensor_clone": "Tensor.clone",
    "gr_tensor_collect": "collect",
    "gr_tensor_copy": "Tensor.copy_to",
    "gr_tensor_copy_to_host": "Tensor.tobytes",
    "gr_tensor_dlpack": "Tensor.__dlpack__",
    "gr_tensor_dlpack_legacy": "Tensor.__dlpack__",
    "gr_tensor_from_dlpack": "Tensor.from_dlpack",
    "gr_tensor_from_dlpack_legacy": "Tensor.from_dlpack",
    "gr_tensor_get_info": "Tensor",
    "gr_tensor_used_on": "Tensor.used_on",
    "gr_tensor_view": "Tensor.view",
    "gr_tensor_wait": "Tensor.wait",
    "gr_tensor_wrap": "Tensor.wrap",
    "gr_vk_buffer_create": "VulkanDevice.create_buffer",
    "gr_vk_device_wrap": "VulkanDevice",
    "gr_vk_headless_create": "VulkanDevice.headless",
    "gr_vk_image_create": "VulkanDevice.create_image",
    "gr_vk_submit": "VulkanDevice.submit",
}

_TYPES = {"U": "uint", "I": "int", "F": "float", "C": "complex", "BF": "bfloat"}


def _quoted(match: re.Match[str]) -> str:
    return f'"{"".join(match.groups()).lower()}"'


# Texts with C names, and those of Python, in the order of replacement.
_NAMES = [
    (r"gr_cuda_load\(true\)", "load(allow_software=True)"),
    (r"gr_egl_make_current\(NULL\)", "EglContext.release_current()"),
    (r"gr_vk_buffer\(\) or gr_vk_image\(\)", "vk_buffer or vk_image"),
    (r" \(gr_vk_device_(?:get_info\(\)|extensions\(\) lists them)\)", ""),
    (r", or make the semaphore by gr_semaphore_from_vk\(\)", ""),
    (r"create it by gr_vk_semaphore_create.*", "import it by Semaphore.from_fd()."),
    (r"record the barriers by gr_vk_cmd_from.*", "pass first=False and last=False."),
    (r": send the ring by gr_ring_send\(\)", ": send other resources"),
    (r": use the gr_receive function .*", ": only resources can be received."),
    (r"buffer was passed to gr_buffer_release_later\(\)", "Buffer was dropped"),
    (r"\bgr_convert_\w+", "publish"),
    (r"has (?:bits that are not in|unknown bits: pass) gr_transport(?: bits|: pass.*values)",
     "is unknown: pass the name of a transport"),
    (r" in gr_(?:gl_options|vk_device_desc)\.transports", " in transports"),
    (r"(?:, here or)? in gr_vk_device_desc\b", " of VulkanDevice()"),
    (r"\bgr_(?:gl_options|ring_options|tensor_desc)\.(\w+)", r"\1"),
    (r"\bgr_external_image_desc\b", "image"),
    (r"pass GR_STREAM_NONE", "omit `stream`"),
    (r" \(GR_STREAM_NONE\)", ""),
    (r"GR_STREAM_NONE is", "Omitting `stream` is"),
    (r"GR_STREAM_OF_MAP", "None"),
    (r"GR_STREAM_LEGACY", "1 (legacy)"),
    (r"GR_STREAM_PER_THREAD", "2 (per thread)"),
    (r"GR_SEMAPHORE_NONE", "None"),
    (r"GR_FORMAT_UNSIGNED_INT8", '"u8"'),
    (r"compressed GR_FORMAT", "compressed format"),
    (r"GR_CHOICE_NO", "False"),
    (r"GR_CHOICE_YES", "True"),
    (r"`normalized_coordinates`", "`normalized`"),
    (r"\bz_(near|far)\b", r"\1"),
    (r"`chroma` of `conversion` does not apply to a framebuffer(.*): leave it 0",
     r"two planes do not apply to a framebuffer\1: pass one tensor"),
    (r" of `conversion`", ""),
    (r"pass the second plane as `chroma`", "pass a sequence of both planes"),
    (r"with `chroma` set", "with two planes"),
    (r"`chroma` is set", "two planes were passed"),
    (r"`chroma`", "the second plane"),
    (r"`offset` and `target`", "`offset`, `shape`, `dtype` and `strides`"),
    (r"\bgr_(dtype|memory|layout|yuv_matrix|filter|address|choice)\b", r"\1"),
    (r"\bNULL\b", "None"),
    (r"\btrue\b", "True"),
    (r"\bfalse\b", "False"),
    (r"\bGR_DTYPE_(U|I|F|C|BF)([0-9]+)\b", lambda match: f'"{_TYPES[match[1]]}{match[2]}"'),
    (r"\bGL_(COLOR|DEPTH|STENCIL)_ATTACHMENT([0-9]*)\b", _quoted),
    (r"\bGR_(?:TRANSPORT|LAYOUT|FILTER|ADDRESS|MEMORY|SIDE|RING)_([A-Z0-9]+)\b", _quoted),
    (r"\bGR_(READ_ONLY|READ_WRITE|WRITE_DISCARD|SURFACE_LOAD_STORE|TEXTURE_GATHER)\b", _quoted),
]
_FUNCTION = re.compile(r"\b(gr_\w+)(\(\))?( of grinterop/\w+\.h)?")


def _function(match: re.Match[str]) -> str:
    name = _FUNCTIONS.get(match[1])
    if name is None:
        return match[0]
    is_property = name == "Buffer.handle"
    return name + (match[2] if match[2] and not is_property else "")


def _python_names(text: str) -> str:
    """Replaces the C names of functions and values in a library message by those of Python."""
    for pattern, name in _NAMES:
        text = re.sub(pattern, name, text)
    return _FUNCTION.sub(_function, text)


_shared: dict[type, type] = {}


def _restore(own: type, args: tuple, fields: dict) -> BaseException:
    """An exception that was pickled, for the cuda.core of this process."""
    error = _shared_with_cuda_core(own)(*args)
    error.__dict__.update(fields)
    return error


def _shared_with_cuda_core(own: type) -> type:
    """The class `own`. If cuda.core is loaded, a subclass of `own` that also derives from
    cuda.core's CUDAError or CUDAWarning.
    """
    name = "CUDAWarning" if issubclass(own, Warning) else "CUDAError"
    # CUDAError and CUDAWarning are public since cuda.core 1.3.
    modules = map(sys.modules.get, ("cuda.core", "cuda.core._utils.cuda_utils"))
    theirs = next((found for one in modules if (found := getattr(one, name, None))), None)
    if theirs is None:
        return own
    if own not in _shared:
        body = {
            "__module__": own.__module__,
            "__doc__": own.__doc__,
            "__reduce__": lambda self: (_restore, (own, self.args, self.__dict__)),
        }
        _shared[own] = type(own.__name__, (own, theirs), body)
    return _shared[own]


def _make(status, domain, code, code_name, call, message, exchange=False):
    """The exception for an error. Called by the extension."""
    call, message = _python_names(call), _python_names(message)
    parts = [code_name, message] if code_name else [message or status]
    if call:
        parts[-1] += f" ({call})"
    own = ExchangeError if exchange else _CLASSES.get(status, CUDAError)
    error = _shared_with_cuda_core(own)(": ".join(parts))
    error.status, error.domain, error.code = status, DOMAINS[domain], code
    error.code_name, error.call, error.message = code_name, call, message
    return error


def _warn(dropped, error):
    """Warns that a destructor failed. Called by the extension."""
    if isinstance(error, Warning):  # the warning filters turned it into an exception
        raise error
    text = f"a {dropped.__name__} object was dropped, and its end failed: {error}"
    warnings.warn(text, _shared_with_cuda_core(CUDAWarning), stacklevel=2)


def last_error() -> Error | None:
    """The last error of the calling thread, or None."""
    status, domain, code, name, call, message = _grinterop._last_error()
    if status == "GR_OK":
        return None
    return Error(status, DOMAINS[domain], code, name, _python_names(call), _python_names(message))


_grinterop._set_makers(_make, _warn)
