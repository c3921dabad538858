# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Buffer that map() returns in a program that has loaded cuda.core.

It derives from cuda.core.Buffer, so cuda.core's launch(), copies and views accept it, and has all
members of grinterop.Buffer. The extension imports this module at the first mapping after cuda.core
was loaded.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NoReturn

from cuda.core import Buffer as _TheirBuffer

from . import _grinterop
from ._grinterop import Buffer as _OurBuffer

# Inherited from cuda.core, whose members are faster. The inherited __exit__() calls our close().
_THEIRS = {"handle", "size", "__enter__", "__exit__"}
_OF_EVERY_TYPE = {"__new__", "__doc__", "__module__", "__weakref__", "__weaklistoffset__"}


class Buffer(_TheirBuffer):  # type: ignore[misc]
    """One mapping of a resource, as grinterop.Buffer and cuda.core.Buffer at once.

    Closing the Buffer ends the mapping. To cuda.core, the Buffer is memory of another owner.
    """

    __slots__ = ("_mapping",)

    # isinstance(buffer, grinterop.Buffer) needs this: no class can derive from both C types.
    __class__ = property(lambda self: _OurBuffer)

    def set_deallocation_stream(self, stream: Any) -> NoReturn:
        """Not supported by a mapping: pass the stream to close() or unmap()."""
        raise RuntimeError(
            "a mapping has no deallocation stream: pass the stream to close() or unmap()"
        )


# Forward every member to the wrapped Buffer. attrgetter() adds no stack frame that a warning would
# report.
for _name, _ours in vars(_OurBuffer).items():
    if _name not in _THEIRS | _OF_EVERY_TYPE:
        setattr(Buffer, _name, property(attrgetter(f"_mapping.{_name}"), doc=_ours.__doc__))

# Without a memory resource, cuda.core's close() frees nothing: it only clears the pointer.
_grinterop._set_core(Buffer, Buffer._init, _TheirBuffer.close)
