# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The OpenGL functions of the examples, frameworks.py, the bench and the tests, loaded with ctypes.

Create a grinterop.EglContext before calling them. Functions are loaded with eglGetProcAddress(), so
libGL is not needed.
"""

import ctypes
import re
from ctypes import byref, c_char_p, c_double, c_float, c_int, c_ssize_t, c_ubyte, c_uint
from ctypes import c_uint64, c_void_p

ARRAY_BUFFER, COPY_READ_BUFFER = 0x8892, 0x8F36
DYNAMIC_DRAW = 0x88E8
TEXTURE_2D, TEXTURE0 = 0x0DE1, 0x84C0
TEXTURE_2D_ARRAY, TEXTURE_CUBE_MAP, TEXTURE_3D = 0x8C1A, 0x8513, 0x806F
TEXTURE_MIN_FILTER, TEXTURE_MAG_FILTER = 0x2801, 0x2800
TEXTURE_MAX_LEVEL = 0x813D
NEAREST, LINEAR = 0x2600, 0x2601
RGBA, RED, DEPTH_COMPONENT = 0x1908, 0x1903, 0x1902
RGBA8, RGBA16F, RGBA32F, R32F = 0x8058, 0x881A, 0x8814, 0x822E
RGB10_A2, R11F_G11F_B10F, RGB9_E5, RGB565 = 0x8059, 0x8C3A, 0x8C3D, 0x8D62
UNSIGNED_BYTE, FLOAT = 0x1401, 0x1406
DEPTH_COMPONENT24, DEPTH_COMPONENT32F = 0x81A6, 0x8CAC
FRAMEBUFFER, RENDERBUFFER, FRAMEBUFFER_COMPLETE = 0x8D40, 0x8D41, 0x8CD5
COLOR_ATTACHMENT0, DEPTH_ATTACHMENT = 0x8CE0, 0x8D00
VERTEX_SHADER, FRAGMENT_SHADER = 0x8B31, 0x8B30
COMPILE_STATUS, LINK_STATUS = 0x8B81, 0x8B82
COLOR_BUFFER_BIT, DEPTH_BUFFER_BIT = 0x4000, 0x0100
DEPTH_TEST = 0x0B71
POINTS, LINES, LINE_STRIP = 0, 1, 3
TRIANGLES, TRIANGLE_STRIP = 4, 5
PROGRAM_POINT_SIZE = 0x8642
PACK_ALIGNMENT, UNPACK_ALIGNMENT = 0x0D05, 0x0CF5
RENDERER, VERSION = 0x1F01, 0x1F02

# Each function: its name, and a letter for each argument and for the result.
_LETTERS = {"u": c_uint, "i": c_int, "f": c_float, "d": c_double, "n": c_ssize_t, "p": c_void_p}
_LETTERS |= {"b": c_ubyte, "q": c_uint64, "s": c_char_p}
_FUNCTIONS = """
    ActiveTexture(u) AttachShader(uu) BindBuffer(uu) BindFramebuffer(uu) BindRenderbuffer(uu)
    BindTexture(uu) BindVertexArray(u) BufferData(unpu) BufferSubData(unnp)
    CheckFramebufferStatus(u)u Clear(u) ClearDepth(d) ClearColor(ffff) CompileShader(u)
    CopyBufferSubData(uunnn) CopyImageSubData(uuuuuuuuuuuuuuu) CreateProgram()u CreateShader(u)u
    DeleteBuffers(ip) DeleteTextures(ip) DrawArrays(uii) DrawArraysInstanced(uiii) Enable(u)
    EnableVertexAttribArray(u) Finish() FramebufferRenderbuffer(uuuu)
    FramebufferTexture2D(uuuui) GenBuffers(ip) GenFramebuffers(ip) GenRenderbuffers(ip)
    GenTextures(ip) GenVertexArrays(ip) GetBufferSubData(unnp) GetError()u
    GetProgramInfoLog(uips) GetProgramiv(uup) GetShaderInfoLog(uips) GetShaderiv(uup)
    GetString(u)s GetTexImage(uiuup) GetUniformLocation(us)i LinkProgram(u) PixelStorei(ui)
    ReadPixels(iiiiuup) RenderbufferStorageMultisample(uiuii) ShaderSource(uipp)
    TexImage2D(uiiiiiuup) TexParameteri(uui) TexSubImage2D(uiiiiiuup) Uniform4f(iffff)
    UniformMatrix4fv(iibp) UseProgram(u) VertexAttribPointer(uiuuip) Viewport(iiii)
"""
_found: dict = {}


def prototype(table, name):
    """The type of a function in such a table, or None."""
    found = re.search(rf"\b{name}\((\w*)\)(\w?)", table)
    letters: list = [_LETTERS.get(letter) for letter in (found[2], *found[1])] if found else []
    return ctypes.CFUNCTYPE(*letters) if found else None


def __getattr__(name):
    """OpenGL functions without the "gl" prefix: gl.Clear(...)."""
    if name not in _found:
        kind = prototype(_FUNCTIONS, name)
        if not kind:
            raise AttributeError(f"gl.py has no {name}")
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetProcAddress.restype = c_void_p
        address = egl.eglGetProcAddress(f"gl{name}".encode())
        if not address:
            raise RuntimeError(f"this OpenGL has no gl{name}()")
        _found[name] = kind(address)
    return _found[name]


def _call(name, *arguments):
    return __getattr__(name)(*arguments)


def _generate(kind):
    name = c_uint()
    _call(f"Gen{kind}", 1, byref(name))
    return name.value


def check(where):
    """Raises a pending OpenGL error."""
    error = _call("GetError")
    if error:
        raise RuntimeError(f"{where}: OpenGL error 0x{error:04x}")


def describe():
    """The OpenGL renderer."""
    return " / ".join(_call("GetString", what).decode() for what in (RENDERER, VERSION))


# ---- Buffers -------------------------------------------------------------------------------------


def buffer(size, data=None):
    """A buffer of `size` bytes."""
    name = _generate("Buffers")
    _call("BindBuffer", ARRAY_BUFFER, name)
    _call("BufferData", ARRAY_BUFFER, size, data, DYNAMIC_DRAW)
    check(f"a buffer of {size} bytes")
    return name


def delete_buffer(name):
    _call("DeleteBuffers", 1, byref(c_uint(name)))


def write_buffer(name, data):
    _call("BindBuffer", ARRAY_BUFFER, name)
    _call("BufferSubData", ARRAY_BUFFER, 0, len(data), data)


def read_buffer(name, size):
    """Reads a copy: of imported memory, NVIDIA's driver returns bytes that it read before."""
    data = ctypes.create_string_buffer(size)
    copy = buffer(size)
    _call("BindBuffer", COPY_READ_BUFFER, name)
    _call("CopyBufferSubData", COPY_READ_BUFFER, ARRAY_BUFFER, 0, 0, size)
    _call("GetBufferSubData", ARRAY_BUFFER, 0, size, data)
    delete_buffer(copy)
    return data.raw


# ---- Textures ------------------------------------------------------------------------------------

_LAYOUTS = {
    RGBA8: (RGBA, UNSIGNED_BYTE, 4), RGBA16F: (RGBA, FLOAT, 16), RGBA32F: (RGBA, FLOAT, 16),
    R32F: (RED, FLOAT, 4), DEPTH_COMPONENT24: (DEPTH_COMPONENT, FLOAT, 4),
}


def texture(width, height, internal_format=RGBA8, data=None, filter=NEAREST):
    """A 2D texture with one level."""
    name = _generate("Textures")
    layout, kind, _ = _LAYOUTS[internal_format]
    _call("BindTexture", TEXTURE_2D, name)
    _call("TexParameteri", TEXTURE_2D, TEXTURE_MIN_FILTER, filter)
    _call("TexParameteri", TEXTURE_2D, TEXTURE_MAG_FILTER, filter)
    _call("PixelStorei", UNPACK_ALIGNMENT, 1)
    _call("TexImage2D", TEXTURE_2D, 0, internal_format, width, height, 0, layout, kind, data)
    check(f"a texture of {width} x {height}")
    return name


def write_texture(name, width, height, data, internal_format=RGBA8):
    layout, kind, _ = _LAYOUTS[internal_format]
    _call("BindTexture", TEXTURE_2D, name)
    _call("PixelStorei", UNPACK_ALIGNMENT, 1)
    _call("TexSubImage2D", TEXTURE_2D, 0, 0, 0, width, height, layout, kind, data)


def read_texture(name, width, height, internal_format=RGBA8):
    layout, kind, texel = _LAYOUTS[internal_format]
    data = ctypes.create_string_buffer(width * height * texel)
    _call("BindTexture", TEXTURE_2D, name)
    _call("PixelStorei", PACK_ALIGNMENT, 1)
    _call("GetTexImage", TEXTURE_2D, 0, layout, kind, data)
    return data.raw


# ---- Drawing -------------------------------------------------------------------------------------


def _check(name, kind, status_of, what):
    """Raises the log of a shader or program if it did not compile or link."""
    status = c_int()
    _call(f"Get{kind}iv", name, status_of, byref(status))
    if not status.value:
        log = ctypes.create_string_buffer(4096)
        _call(f"Get{kind}InfoLog", name, len(log), None, log)
        raise RuntimeError(f"{what}: {log.value.decode()}")
    return name


def _compile(kind, source):
    shader, text = _call("CreateShader", kind), c_char_p(source.encode())
    _call("ShaderSource", shader, 1, byref(text), None)
    _call("CompileShader", shader)
    return _check(shader, "Shader", COMPILE_STATUS, "a shader")


def program(vertex, fragment):
    """Links a program of two shaders. Prepends #version to both."""
    name = _call("CreateProgram")
    for kind, source in ((VERTEX_SHADER, vertex), (FRAGMENT_SHADER, fragment)):
        _call("AttachShader", name, _compile(kind, "#version 330 core\n" + source))
    _call("LinkProgram", name)
    return _check(name, "Program", LINK_STATUS, "a program")


def uniform(name, program_name):
    return _call("GetUniformLocation", program_name, name.encode())


def vertex_array():
    """A vertex array without attributes, for shaders that compute the vertices."""
    return _generate("VertexArrays")


def vertices(buffer_name, numbers):
    """A vertex array: attribute 0 has that many floats, which are tightly packed in the buffer."""
    name = vertex_array()
    _call("BindVertexArray", name)
    _call("BindBuffer", ARRAY_BUFFER, buffer_name)
    _call("EnableVertexAttribArray", 0)
    _call("VertexAttribPointer", 0, numbers, FLOAT, 0, 0, None)
    return name


def colored_points(buffer_name):
    """A vertex array: attribute 0 has three floats, attribute 1 an RGBA8 colour."""
    name = vertices(buffer_name, 3)
    _call("VertexAttribPointer", 0, 3, FLOAT, 0, 16, None)
    _call("EnableVertexAttribArray", 1)
    _call("VertexAttribPointer", 1, 4, UNSIGNED_BYTE, 1, 16, c_void_p(12))
    return name


class Target:
    """A framebuffer to draw to. attach() adds its renderbuffers."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.name = _generate("Framebuffers")

    def attach(self, attachment, internal_format, samples=0):
        """Adds a renderbuffer. All renderbuffers of a framebuffer have the same number of samples.
        """
        name = _generate("Renderbuffers")
        _call("BindRenderbuffer", RENDERBUFFER, name)
        size = (self.width, self.height)
        _call("RenderbufferStorageMultisample", RENDERBUFFER, samples, internal_format, *size)
        self.bind()
        _call("FramebufferRenderbuffer", FRAMEBUFFER, attachment, RENDERBUFFER, name)
        self._check()

    def _check(self):
        if _call("CheckFramebufferStatus", FRAMEBUFFER) != FRAMEBUFFER_COMPLETE:
            raise RuntimeError("the framebuffer is not complete")

    def bind(self):
        _call("BindFramebuffer", FRAMEBUFFER, self.name)
        _call("Viewport", 0, 0, self.width, self.height)

    def clear(self, red=0, green=0, blue=0, alpha=1):
        self.bind()
        _call("ClearColor", red, green, blue, alpha)
        _call("Clear", COLOR_BUFFER_BIT | DEPTH_BUFFER_BIT)


class Screen(Target):
    """The render target, an RGBA8 texture in a framebuffer, since there is no window."""

    def __init__(self, width, height):
        super().__init__(width, height)
        self.texture = texture(width, height)
        self.bind()
        _call("FramebufferTexture2D", FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, self.texture, 0)
        self._check()

    def read(self):
        """The RGBA bytes of the screen, from the bottom row up."""
        data = ctypes.create_string_buffer(4 * self.width * self.height)
        self.bind()
        _call("PixelStorei", PACK_ALIGNMENT, 1)
        _call("ReadPixels", 0, 0, self.width, self.height, RGBA, UNSIGNED_BYTE, data)
        check("reading what was drawn")
        return data.raw


class Picture:
    """Draws a texture to a rectangle of the screen, in coordinates from -1 to 1."""

    VERTEX = """
        uniform vec4 place;
        out vec2 at;
        void main()
        {
            at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
            gl_Position = vec4(mix(place.xy, place.zw, at), 0, 1);
        }"""
    FRAGMENT = """
        uniform sampler2D image;
        in vec2 at;
        out vec4 color;
        void main() { color = texture(image, at); }"""

    def __init__(self):
        self.program = program(self.VERTEX, self.FRAGMENT)
        self.place = uniform("place", self.program)
        self.array = vertex_array()

    def draw(self, texture_name, left=-1.0, low=-1.0, right=1.0, high=1.0):
        _call("UseProgram", self.program)
        _call("BindVertexArray", self.array)
        _call("ActiveTexture", TEXTURE0)
        _call("BindTexture", TEXTURE_2D, texture_name)
        _call("Uniform4f", self.place, left, low, right, high)
        _call("DrawArrays", TRIANGLE_STRIP, 0, 4)
        check("drawing a texture")
