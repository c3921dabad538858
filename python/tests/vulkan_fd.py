# SPDX-License-Identifier: Apache-2.0 OR MIT
"""File descriptors of Vulkan memory and semaphores, and of the software driver's semaphores."""

import ctypes
import fcntl
from ctypes import byref

import grinterop

import vk

SEMAPHORE_CREATE_INFO = 9
MEMORY_GET_FD_INFO = 1000074002
EXPORT_SEMAPHORE_CREATE_INFO = 1000077000
SEMAPHORE_GET_FD_INFO = 1000079000
SEMAPHORE_TYPE_CREATE_INFO = 1000207002
SEMAPHORE_SIGNAL_INFO = 1000207005
OPAQUE_FD = 1


GetFdInfo = vk.record("GetFdInfo", "type:i next:p object:q handle_type:i")
SemaphoreType = vk.record("SemaphoreType", "type:i next:p timeline:i value:q")
SemaphoreValue = vk.record("SemaphoreValue", "type:i next:p semaphore:q value:q")
Flags = vk.record("Flags", "type:i next:p flags:u")

FUNCTIONS = """
    CreateSemaphore(pppp)i DestroySemaphore(pqp) GetImageMemoryRequirements(pqp)
    GetMemoryFdKHR(ppp)i GetSemaphoreCounterValue(pqp)i GetSemaphoreFdKHR(ppp)i SignalSemaphore(pp)i
"""


def call(vulkan, name, *arguments):
    """Calls a device function of Vulkan."""
    return vk.load(vulkan, FUNCTIONS, name)(vulkan.device, *arguments)


def image_size(vulkan, resource):
    """The size of the device memory of a Vulkan image."""
    found = vk.MemoryRequirements()
    call(vulkan, "GetImageMemoryRequirements", resource.vk_image, byref(found))
    return found.size


def fd_of(vulkan, name, kind, handle):
    fd, info = ctypes.c_int(-1), GetFdInfo(kind, None, handle, OPAQUE_FD)
    assert call(vulkan, name, byref(info), byref(fd)) == 0
    return fd.value


def export(vulkan, resource):
    """A new descriptor of the memory of a Vulkan resource."""
    return fd_of(vulkan, "GetMemoryFdKHR", MEMORY_GET_FD_INFO, resource.vk_memory)


def semaphore(timeline=True, value=0):
    """A new descriptor of a semaphore that only the software driver can import."""
    create = ctypes.CDLL(grinterop.cuda_driver_path()).gr_softcuda_semaphore_create
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


class Timeline:
    """An exportable VkSemaphore of the device."""

    def __init__(self, vulkan):
        self.vulkan, self.handle = vulkan, ctypes.c_uint64()
        kind = SemaphoreType(SEMAPHORE_TYPE_CREATE_INFO, None, 1, 0)
        exported = Flags(EXPORT_SEMAPHORE_CREATE_INFO, ctypes.addressof(kind), OPAQUE_FD)
        info = Flags(SEMAPHORE_CREATE_INFO, ctypes.addressof(exported), 0)
        if call(vulkan, "CreateSemaphore", byref(info), None, byref(self.handle)):
            raise NotImplementedError("this Vulkan exports no semaphores")

    def export(self):
        """A new descriptor."""
        return fd_of(self.vulkan, "GetSemaphoreFdKHR", SEMAPHORE_GET_FD_INFO, self.handle)

    def signal(self, value):
        info = SemaphoreValue(SEMAPHORE_SIGNAL_INFO, None, self.handle, value)
        assert call(self.vulkan, "SignalSemaphore", byref(info)) == 0

    def value(self):
        found = ctypes.c_uint64()
        assert call(self.vulkan, "GetSemaphoreCounterValue", self.handle, byref(found)) == 0
        return found.value

    def destroy(self):
        call(self.vulkan, "DestroySemaphore", self.handle, None)
