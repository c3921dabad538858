# SPDX-License-Identifier: Apache-2.0 OR MIT
"""OpenGL for the Python benchmarks: a windowless context on a CUDA device, loaded with ctypes."""

import ctypes
import os
import sys

EGL_CUDA_DEVICE_NV = 0x323A
EGL_PLATFORM_DEVICE_EXT = 0x313F
EGL_PLATFORM_SURFACELESS_MESA = 0x31DD
EGL_OPENGL_API = 0x30A2
EGL_NONE = 0x3038
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT = 0x3033, 1
EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT = 0x3040, 8
EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION = 0x3098, 0x30FB

# The newest version comes first: for a request of 3.3, NVIDIA returns exactly 3.3.
GL_VERSIONS = ((4, 6), (4, 5), (4, 4), (4, 3), (4, 2), (4, 1), (4, 0), (3, 3))

P, I, U, N = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_ssize_t


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


class Egl:
    """The libEGL functions that create a context without a surface."""

    PROTOTYPES = {
        "eglGetProcAddress": (P, ctypes.c_char_p),
        "eglQueryString": (ctypes.c_char_p, P, I),
        "eglInitialize": (U, P, P, P),
        "eglBindAPI": (U, U),
        "eglChooseConfig": (U, P, P, P, I, P),
        "eglCreateContext": (P, P, P, P, P),
        "eglMakeCurrent": (U, P, P, P, P),
        "eglDestroyContext": (U, P, P),
        "eglGetError": (I,),
    }

    def __init__(self):
        library = ctypes.CDLL("libEGL.so.1", mode=ctypes.RTLD_GLOBAL)
        for name, (result, *arguments) in self.PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def function(self, name, result, *arguments):
        address = self.eglGetProcAddress(name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None

    def devices(self):
        """Every EGL device with its CUDA device number, or None if EGL reports no number."""
        query = self.function("eglQueryDevicesEXT", U, I, P, P)
        attribute = self.function("eglQueryDeviceAttribEXT", U, P, I, P)
        if query is None or attribute is None:
            return []
        found, count = (P * 16)(), I(0)
        if not query(16, found, ctypes.byref(count)):
            return []
        result = []
        for device in found[: count.value]:
            value = N(-1)
            known = attribute(device, EGL_CUDA_DEVICE_NV, ctypes.byref(value))
            result.append((device, value.value if known and value.value >= 0 else None))
        return result


class Context:
    """Makes an OpenGL context current on the EGL device of CUDA device `ordinal`."""

    def __init__(self, ordinal):
        self.egl = Egl()
        self.display = self._display(ordinal)
        if not self.egl.eglInitialize(self.display, None, None):
            self._fail("eglInitialize")
        self.egl.eglBindAPI(EGL_OPENGL_API)
        wanted = (I * 5)(EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                         EGL_NONE)
        config, count = P(), I(0)
        chosen = self.egl.eglChooseConfig(self.display, wanted, ctypes.byref(config), 1,
                                          ctypes.byref(count))
        if not chosen or not count.value:
            self._fail("eglChooseConfig")
        for major, minor in GL_VERSIONS:
            version = (I * 5)(EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor,
                              EGL_NONE)
            self.context = self.egl.eglCreateContext(self.display, config, None, version)
            if self.context:
                break
        if not self.context:
            self._fail("eglCreateContext")
        if not self.egl.eglMakeCurrent(self.display, None, None, self.context):
            self._fail("eglMakeCurrent")

    def _display(self, ordinal):
        get = self.egl.function("eglGetPlatformDisplayEXT", P, U, P, P)
        if get is None:
            fail("EGL has no eglGetPlatformDisplayEXT")
        devices = self.egl.devices()
        for device, cuda in devices:
            if cuda == ordinal:
                return get(EGL_PLATFORM_DEVICE_EXT, device, None)
        if any(cuda is not None for _, cuda in devices):
            fail(f"none of {len(devices)} EGL devices is CUDA device {ordinal}")
        # No EGL device has a CUDA device number, so this EGL is Mesa, for the software CUDA driver.
        return get(EGL_PLATFORM_SURFACELESS_MESA, None, None)

    def _fail(self, call):
        fail(f"{call} failed, EGL error {self.egl.eglGetError():#x}")

    def close(self):
        self.egl.eglMakeCurrent(self.display, None, None, None)
        self.egl.eglDestroyContext(self.display, self.context)


class Gl:
    """The OpenGL functions that a subclass lists in PROTOTYPES."""

    PROTOTYPES = {}

    def __init__(self, egl):
        for name, prototype in self.PROTOTYPES.items():
            setattr(self, name, egl.function(name, *prototype))

    def make(self, function, *arguments):
        name = U(0)
        getattr(self, function)(1, ctypes.byref(name), *arguments)
        return name.value
