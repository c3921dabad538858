# SPDX-License-Identifier: Apache-2.0 OR MIT
"""File descriptors of Vulkan memory, and semaphores of the software driver, for the tests."""

import ctypes
import fcntl

import grinterop

MEMORY_GET_FD_INFO = 1000074002
OPAQUE_FD = 1


class GetFdInfo(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("memory", ctypes.c_uint64),
        ("handle_type", ctypes.c_int),
    ]


class Requirements(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
        ("types", ctypes.c_uint32),
    ]


def function(vulkan, name, result, *arguments):
    """A device function of Vulkan."""
    get_instance = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    address = get_instance(vulkan.get_instance_proc_addr)(vulkan.instance, name)
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *arguments)(address)


def image_size(vulkan, resource):
    """The size of the memory of a Vulkan image."""
    found = Requirements()
    ask = function(
        vulkan, b"vkGetImageMemoryRequirements", None, ctypes.c_uint64, ctypes.c_void_p
    )
    ask(vulkan.device, resource.vk_image, ctypes.addressof(found))
    return found.size


def export(vulkan, resource):
    """A new descriptor of the memory of a Vulkan resource, by vkGetMemoryFdKHR."""
    fd = ctypes.c_int(-1)
    info = GetFdInfo(MEMORY_GET_FD_INFO, None, resource.vk_memory, OPAQUE_FD)
    get_fd = function(
        vulkan, b"vkGetMemoryFdKHR", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p
    )
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
