# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The OpenGL functions that the tests call, by ctypes. grinterop creates the context."""

import ctypes

_gl = ctypes.CDLL("libGL.so.1")

ARRAY_BUFFER = 0x8892
DYNAMIC_DRAW = 0x88E8
TEXTURE_2D = 0x0DE1
TEXTURE_MIN_FILTER = 0x2801
NEAREST = 0x2600
RGBA = 0x1908
RGBA8 = 0x8058
RGBA32F = 0x8814
R32F = 0x822E
RED = 0x1903
UNSIGNED_BYTE = 0x1401
FLOAT = 0x1406
FRAMEBUFFER = 0x8D40
RENDERBUFFER = 0x8D41


def _generate(function):
    name = ctypes.c_uint()
    function(1, ctypes.byref(name))
    return name.value


def buffer(size, data=None):
    """A buffer of `size` bytes, filled with `data` if given."""
    name = _generate(_gl.glGenBuffers)
    _gl.glBindBuffer(ARRAY_BUFFER, name)
    _gl.glBufferData(ARRAY_BUFFER, ctypes.c_ssize_t(size), data, DYNAMIC_DRAW)
    return name


def read_buffer(name, size):
    """The contents of a buffer, read by OpenGL."""
    data = ctypes.create_string_buffer(size)
    _gl.glBindBuffer(ARRAY_BUFFER, name)
    _gl.glGetBufferSubData(ARRAY_BUFFER, ctypes.c_ssize_t(0), ctypes.c_ssize_t(size), data)
    return data.raw


def write_buffer(name, data):
    """Writes to a buffer with OpenGL."""
    _gl.glBindBuffer(ARRAY_BUFFER, name)
    _gl.glBufferSubData(ARRAY_BUFFER, ctypes.c_ssize_t(0), ctypes.c_ssize_t(len(data)), data)


def delete_buffer(name):
    _gl.glDeleteBuffers(1, ctypes.byref(ctypes.c_uint(name)))


_FORMATS = {RGBA8: (RGBA, UNSIGNED_BYTE, 4), RGBA32F: (RGBA, FLOAT, 16), R32F: (RED, FLOAT, 4)}


def texture(width, height, internal_format=RGBA8, data=None):
    """A 2D texture with one level."""
    name = _generate(_gl.glGenTextures)
    layout, kind, _ = _FORMATS[internal_format]
    _gl.glBindTexture(TEXTURE_2D, name)
    _gl.glTexParameteri(TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST)
    _gl.glTexImage2D(TEXTURE_2D, 0, internal_format, width, height, 0, layout, kind, data)
    return name


def read_texture(name, width, height, internal_format=RGBA8):
    """The contents of a texture, read by OpenGL."""
    layout, kind, texel = _FORMATS[internal_format]
    data = ctypes.create_string_buffer(width * height * texel)
    _gl.glBindTexture(TEXTURE_2D, name)
    _gl.glGetTexImage(TEXTURE_2D, 0, layout, kind, data)
    return data.raw


def framebuffer(width, height, color, depth):
    """A framebuffer with a colour and a depth renderbuffer, cleared to these values."""
    name = _generate(_gl.glGenFramebuffers)
    _gl.glBindFramebuffer(FRAMEBUFFER, name)
    for attachment, kind in ((0x8CE0, RGBA8), (0x8D00, 0x8CAC)):
        renderbuffer = _generate(_gl.glGenRenderbuffers)
        _gl.glBindRenderbuffer(RENDERBUFFER, renderbuffer)
        _gl.glRenderbufferStorage(RENDERBUFFER, kind, width, height)
        _gl.glFramebufferRenderbuffer(FRAMEBUFFER, attachment, RENDERBUFFER, renderbuffer)
    _gl.glClearColor(*(ctypes.c_float(value) for value in color))
    _gl.glClearDepth(ctypes.c_double(depth))
    _gl.glClear(0x4100)
    return name


def finish():
    """Waits until OpenGL is idle."""
    _gl.glFinish()


def error():
    return _gl.glGetError()
