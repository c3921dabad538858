# SPDX-License-Identifier: Apache-2.0
"""The Buffer that map() returns in a program that has loaded cuda.core.

It is a cuda.core.Buffer, so that launch(), copies and views of cuda.core take it, and everything
that grinterop.Buffer has is here, too. The extension imports this module when it is needed: the
first mapping after cuda.core was loaded.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NoReturn

from cuda.core import Buffer as _TheirBuffer

from . import _grinterop
from ._grinterop import Buffer as _OurBuffer

# cuda.core's own are right here, and faster: its __exit__() calls close(), which is ours.
_THEIRS = {"handle", "size", "__enter__", "__exit__"}
_OF_EVERY_TYPE = {"__new__", "__doc__", "__module__", "__weakref__", "__weaklistoffset__"}


class Buffer(_TheirBuffer):  # type: ignore[misc]
    """One mapping of a resource, as grinterop.Buffer and cuda.core.Buffer at once.

    Closing it unmaps. To cuda.core it is memory of somebody else, until the mapping ends.
    """

    __slots__ = ("_mapping",)

    # For isinstance(): a class of C can't derive from both.
    __class__ = property(lambda self: _OurBuffer)

    def set_deallocation_stream(self, stream: Any) -> NoReturn:
        """Refused: the stream is an argument of close() and unmap()."""
        raise RuntimeError(
            "a mapping has no deallocation stream: give the stream to close() or unmap()"
        )


# Each member is that of the Buffer behind it. attrgetter() adds no frame that a warning would name.
for _name, _ours in vars(_OurBuffer).items():
    if _name not in _THEIRS | _OF_EVERY_TYPE:
        setattr(Buffer, _name, property(attrgetter(f"_mapping.{_name}"), doc=_ours.__doc__))

# cuda.core's close() frees nothing here, since there is no memory resource: it forgets the pointer.
_grinterop._set_core(Buffer, Buffer._init, _TheirBuffer.close)
