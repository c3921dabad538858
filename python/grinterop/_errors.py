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
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

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

    Attributes:
        status: The kind of error: "GR_ERR_CUDA", ...
        domain: The origin of the code: "cuda", "opengl", "egl", "vulkan", "errno" or "".
        code: The number that the driver or the system returned, or 0.
        code_name: Its name, such as "CUDA_ERROR_ALREADY_MAPPED", or "".
        call: The function that failed.
        message: What was found, and what to do about it.
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
    "GR_ERR_INVALID_VALUE": InvalidValueError, "GR_ERR_STATE": StateError,
    "GR_ERR_UNSUPPORTED": UnsupportedError, "GR_ERR_NO_DRIVER": NoDriverError,
    "GR_ERR_NO_MEMORY": OutOfMemoryError, "GR_ERR_TIMEOUT": WaitTimeoutError,
    "GR_ERR_NOT_READY": WaitTimeoutError, "GR_ERR_STOPPED": StoppedError,
    "GR_ERR_DEVICE_LOST": DeviceLostError, "GR_ERR_PARTIAL": PartialError,
}

# The classes of the functions whose names begin so.
_NOUNS = {
    "buffer": "Buffer", "cuda_context": "CudaContext", "egl": "EglContext",
    "resource": "GraphicsResource", "ring": "Ring Slots", "semaphore": "Semaphore",
    "submit": "Submit", "tensor": "Tensor", "vk_device": "VulkanDevice",
}
# Names that do not follow from the rule in CONTRIBUTING, which check-names compares: those of C
# without "gr_", and those of Python. A comment has the reason of the lines below it.
_IN_PYTHON = """
    # cuda.core, protocols and NumPy have these names.
    buffer_ptr=Buffer.handle buffer_release=Buffer.close tensor_copy=Tensor.copy_to
    tensor_array_interface=Tensor.__cuda_array_interface__ tensor_to_dlpack=Tensor.__dlpack__
    tensor_copy_to_host=Tensor.tobytes
    # A `with` statement ends all, and a dict has all attachments.
    buffer_release_many=Buffers.close fetch_framebuffer_many=fetch_framebuffer
    # There is a method for each kind of handle, such as from_fd().
    from_external_memory=GraphicsResource semaphore_from_handle=Semaphore
    # The usual way to make the object is its class.
    submit_begin=Submit vk_device_from_vk=VulkanDevice vk_headless_create=VulkanDevice.headless
    vk_device_from_headless=VulkanDevice.headless
    # One call makes, submits and commits a Submit.
    vk_hand_over=VulkanDevice.submit vk_submit=VulkanDevice.submit
    # A slot has its role. Only the level of the log is set.
    ring_cancel_read=Slots.cancel ring_cancel_write=Slots.cancel log_add=set_log
"""
_EXCEPTIONS = dict(re.findall(r"(\w+)=(\S+)", _IN_PYTHON))

_TYPES = {"U": "uint", "I": "int", "F": "float", "C": "complex", "BF": "bfloat"}


def _quoted(match: re.Match[str]) -> str:
    return f'"{"".join(match.groups()).lower()}"'


# Texts with C names, and those of Python, in the order of replacement.
_NAMES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"gr_cuda_load\(true\)", "cuda_load(allow_software=True)"),
    (r"gr_egl_make_current\(NULL\)", "EglContext.release_current()"),
    (r" \(gr_vk_device_(?:get_info\(\)|extensions\(\) lists them)\)", ""),
    (r"\bThe (?:descriptor|socket) \d+ is\b", "The socket is"),  # that of a copy
    (r"\bof socket \d+", "of the socket"),
    (r"n is 0\. Pass the length of `resources`", "`resources` is empty"),
    (r"\bn is 0: a ring\b", "`resources` is empty: a ring"),
    (r"\bn is (\S+): pass at most\b", r"`resources` has \1: pass at most"),
    (r", or make the semaphore by gr_semaphore_from_vk\(\)", ""),
    (r"create it by gr_semaphore_create_vk.*", "import it by Semaphore.from_fd()."),
    (r"record the barriers by gr_vk_cmd_from.*", "pass first=False and last=False."),
    (r": use the gr_receive function .*", ": use the receive() of the class that was sent."),
    (r"buffer was passed to gr_buffer_release_later\(\)", "Buffer was dropped"),
    (r"\bgr_convert_\w+", "publish"),
    (r"has unknown bits: pass gr_transport bits", "is unknown: pass the name of a transport"),
    (r" in gr_(?:gl_options|vk_device_desc)\.transports", " in transports"),
    (r"(?:, here or)? in gr_vk_device_desc\b", " of VulkanDevice()"),
    (r"\bgr_(?:gl_options|ring_options|tensor_desc)\.(\w+)", r"\1"),
    (r"pass GR_STREAM_NONE", "omit `stream`"),
    (r" \(GR_STREAM_NONE\)", ""),
    (r"GR_STREAM_NONE is", "Omitting `stream` is"),
    (r"Pass the stream of that work", "Pass the stream of that work, such as a CudaContext"),
    (r"GR_STREAM_OF_MAP", "None"),
    (r"GR_STREAM_LEGACY", "1 (legacy)"),
    (r"GR_STREAM_PER_THREAD", "2 (per thread)"),
    (r"GR_SEMAPHORE_NONE", "None"),
    (r"GR_ALL_LAYERS", '"all"'),
    (r"GR_FORMAT_UNSIGNED_INT8", '"u8"'),
    (r"compressed GR_FORMAT", "compressed format"),
    (r"GR_CHOICE_NO", "False"),
    (r"GR_CHOICE_YES", "True"),
    (r"leave `(\w+)` 0\b", r"omit `\1`"),
    (r"`transports` \(\S+\) does not", "`transports` does not"),
    (r"`size` is (\S+), but a message has room for only (\S+) application bytes",
     r"`data` has \1 bytes, but a message has room for only \2"),
    (r"`normalized_coordinates`", "`normalized`"),
    (r"\bz_(near|far)\b", r"\1"),
    (r" of `conversion`", ""),
    (r"Set the part's size to 0; the size of the memory has its own field",
     "Set `length` to 0; `size` is that of the memory"),
    (r"Offset and size must be a range(.*)\. A size of 0", r"Offset and length must be a range\1. "
     "A length of 0"),
    (r"`offset` and the offset of `target`", "`offset` and `shape`"),
    (r"pass the second plane as `chroma`", "pass a sequence of both planes"),
    (r"with `chroma` set", "with several planes"),
    (r"`chroma` is set", "two planes were passed"),
    (r"`chroma_v` is set", "three planes were passed"),
    (r"pass Y, U as `chroma` and V as `chroma_v`", "pass a sequence of Y, U and V"),
    (r"`chroma`", "the second plane"),
    (r"`chroma_v`", "the third plane"),
    (r"`offset` and `target`", "`offset`, `shape`, `dtype` and `strides`"),
    (r"\bgr_(dtype|flags)_parse\b", r"\1"),
    (r"\bgr_(dtype|memory|layout|yuv_matrix|chroma_position|filter|address|choice)\b", r"\1"),
    (r"\bNULL\b", "None"),
    (r"\btrue\b", "True"),
    (r"\bfalse\b", "False"),
    (r"\bGR_DTYPE_(U|I|F|C|BF)([0-9]+)\b", lambda match: f'"{_TYPES[match[1]]}{match[2]}"'),
    (r"\bGL_(COLOR|DEPTH|STENCIL)_ATTACHMENT([0-9]*)\b", _quoted),
    (r"\bGR_CHROMA_([A-Z_]+)\b", _quoted),
    (r"another shape of `target`", "another `shape`"),
    (r"`target` is (?:NULL|None): (.*) by `target`", r"`shape` was not passed: \1 by `shape`"),
    (r"\bGR_(?:TRANSPORT|LAYOUT|FILTER|ADDRESS|MEMORY|SIDE|RING)_([A-Z0-9]+)\b", _quoted),
    (r"\bGR_(READ_ONLY|READ_WRITE|WRITE_DISCARD|SURFACE_LOAD_STORE|TEXTURE_GATHER)\b", _quoted),
]
_FUNCTION = re.compile(r"\bgr_(\w+)(\(\))?( of grinterop/\w+\.h)?")


def _by_rule(name: str) -> str | None:
    """The Python name of a C function without "gr_"; None if Python does not have it."""
    package = sys.modules["grinterop"]
    name = name.removesuffix("_with").replace("_get_", "_")
    places = [("GraphicsResource", name), ("VulkanDevice", name)]
    for noun, owners in _NOUNS.items():
        if name.startswith(noun + "_"):
            verb = name.removeprefix(noun + "_").replace("free", "close")
            places = [(owner, verb) for owner in owners.split()]
    for owner, verb in places:
        if hasattr(getattr(package, owner), verb):
            return f"{owner}.{verb}"
        if verb in ("create", "info"):
            return owner
    return verb if hasattr(package, verb) else None


def _function(match: re.Match[str]) -> str:
    name = _EXCEPTIONS.get(match[1]) or _by_rule(match[1])
    if name is None:
        return match[0]
    owner, _, member = name.partition(".")
    found = getattr(getattr(sys.modules["grinterop"], owner, None), member, None)
    return name if isinstance(found, types.GetSetDescriptorType) else name + (match[2] or "")


def _python_names(text: str) -> str:
    """Replaces the C names of functions and values in a library message by those of Python."""
    for pattern, name in _NAMES:
        text = re.sub(pattern, name, text)
    return _FUNCTION.sub(_function, text)


_Raised = TypeVar("_Raised", bound=Exception)
_shared: dict[type, type] = {}


def _restore(own: type[_Raised], args: tuple[Any, ...], fields: dict[str, Any]) -> _Raised:
    """An exception that was pickled, for the cuda.core of this process."""
    error = _shared_with_cuda_core(own)(*args)
    error.__dict__.update(fields)
    return error


def _shared_with_cuda_core(own: type[_Raised]) -> type[_Raised]:
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


def _make(
    status: str, domain: int, code: int, code_name: str, call: str, message: str,
    exchange: bool = False,
) -> CUDAError:
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


def _warn(dropped: type, error: Exception) -> None:
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


_grinterop._set_makers(_make, _warn, _python_names)
