# SPDX-License-Identifier: Apache-2.0 OR MIT
"""File descriptors of Vulkan memory and semaphores, and of the software driver's semaphores."""

import ctypes
import fcntl

import grinterop

SEMAPHORE_CREATE_INFO = 9
MEMORY_GET_FD_INFO = 1000074002
EXPORT_SEMAPHORE_CREATE_INFO = 1000077000
SEMAPHORE_GET_FD_INFO = 1000079000
SEMAPHORE_TYPE_CREATE_INFO = 1000207002
SEMAPHORE_SIGNAL_INFO = 1000207005
OPAQUE_FD = 1


class GetFdInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("object", ctypes.c_uint64),
        ("handle_type", ctypes.c_int),
    ]


class Requirements(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
        ("types", ctypes.c_uint32),
    ]


def function(vulkan, name, result, *arguments):
    """Loads a device function of Vulkan."""
    get_instance = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    address = get_instance(vulkan.get_instance_proc_addr)(vulkan.instance, name)
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *arguments)(address)


def image_size(vulkan, resource):
    """The size of the device memory of a Vulkan image."""
    found = Requirements()
    ask = function(vulkan, b"vkGetImageMemoryRequirements", None, ctypes.c_uint64, ctypes.c_void_p)
    ask(vulkan.device, resource.vk_image, ctypes.addressof(found))
    return found.size


def export(vulkan, resource):
    """A new descriptor of the memory of a Vulkan resource, from vkGetMemoryFdKHR()."""
    fd = ctypes.c_int(-1)
    info = GetFdInfo(MEMORY_GET_FD_INFO, None, resource.vk_memory, OPAQUE_FD)
    get_fd = function(vulkan, b"vkGetMemoryFdKHR", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    assert get_fd(vulkan.device, ctypes.addressof(info), ctypes.addressof(fd)) == 0
    return fd.value


def semaphore(timeline=True, value=0):
    """A new descriptor of a semaphore that only the software driver can import."""
    create = ctypes.CDLL(grinterop.driver_path()).gr_softcuda_semaphore_create
    fd = ctypes.c_int(-1)
    assert create(ctypes.c_int(timeline), ctypes.c_ulonglong(value), ctypes.byref(fd)) == 0
    return fd.value


def is_open(fd):
    try:
        fcntl.fcntl(fd, fcntl.F_GETFD)
    except OSError:
        return False
    return True


# ---- Semaphores of Vulkan ------------------------------------------------------------------------


class SemaphoreType(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("timeline", ctypes.c_int),
        ("value", ctypes.c_uint64),
    ]


class Flags(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("next", ctypes.c_void_p), ("flags", ctypes.c_uint32)]


class SemaphoreValue(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("semaphore", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    ]


class Timeline:
    """An exportable VkSemaphore of the device."""

    def __init__(self, vulkan):
        self.vulkan, self.handle = vulkan, ctypes.c_uint64()
        kind = SemaphoreType(SEMAPHORE_TYPE_CREATE_INFO, None, 1, 0)
        exported = Flags(EXPORT_SEMAPHORE_CREATE_INFO, ctypes.addressof(kind), OPAQUE_FD)
        info = Flags(SEMAPHORE_CREATE_INFO, ctypes.addressof(exported), 0)
        create = function(vulkan, b"vkCreateSemaphore", ctypes.c_int, *[ctypes.c_void_p] * 3)
        handle = ctypes.addressof(self.handle)
        if create(vulkan.device, ctypes.addressof(info), None, handle):
            raise NotImplementedError("this Vulkan exports no semaphores")

    def export(self):
        """A new descriptor, from vkGetSemaphoreFdKHR()."""
        fd = ctypes.c_int(-1)
        info = GetFdInfo(SEMAPHORE_GET_FD_INFO, None, self.handle, OPAQUE_FD)
        get_fd = function(
            self.vulkan, b"vkGetSemaphoreFdKHR", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p
        )
        assert get_fd(self.vulkan.device, ctypes.addressof(info), ctypes.addressof(fd)) == 0
        return fd.value

    def signal(self, value):
        info = SemaphoreValue(SEMAPHORE_SIGNAL_INFO, None, self.handle, value)
        call = function(self.vulkan, b"vkSignalSemaphore", ctypes.c_int, ctypes.c_void_p)
        assert call(self.vulkan.device, ctypes.addressof(info)) == 0

    def value(self):
        found = ctypes.c_uint64()
        ask = function(
            self.vulkan,
            b"vkGetSemaphoreCounterValue",
            ctypes.c_int,
            ctypes.c_uint64,
            ctypes.c_void_p,
        )
        assert ask(self.vulkan.device, self.handle, ctypes.addressof(found)) == 0
        return found.value

    def destroy(self):
        call = function(self.vulkan, b"vkDestroySemaphore", None, ctypes.c_uint64, ctypes.c_void_p)
        call(self.vulkan.device, self.handle, None)
