# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Vulkan functions of frameworks.py, by ctypes: copies, and memory that the CPU can read.

The device is a grinterop.VulkanDevice, with integer handles.
"""

import ctypes
from ctypes import POINTER, Structure, byref, c_int32, c_uint32, c_uint64, c_void_p, pointer

TRANSFER_SRC, TRANSFER_DST = 1, 2
IMAGE_SAMPLED, IMAGE_STORAGE = 4, 8
R8G8B8A8_UNORM = 37
LAYOUT_UNDEFINED, LAYOUT_GENERAL = 0, 1
WHOLE = (1 << 64) - 1
HOST_VISIBLE, HOST_COHERENT = 2, 4


def record(name, *fields):
    """Declares a Vulkan struct. `fields` must include `sType` and `pNext`."""
    return type(name, (Structure,), {"_fields_": list(fields)})


_head = (("sType", c_int32), ("pNext", c_void_p))
BufferCreateInfo = record(
    "BufferCreateInfo",
    *_head,
    ("flags", c_uint32),
    ("size", c_uint64),
    ("usage", c_uint32),
    ("sharingMode", c_int32),
    ("queueFamilyIndexCount", c_uint32),
    ("pQueueFamilyIndices", c_void_p),
)
MemoryAllocateInfo = record(
    "MemoryAllocateInfo", *_head, ("allocationSize", c_uint64), ("memoryTypeIndex", c_uint32)
)
MemoryRequirements = record(
    "MemoryRequirements", ("size", c_uint64), ("alignment", c_uint64), ("bits", c_uint32)
)
MemoryType = record("MemoryType", ("properties", c_uint32), ("heap", c_uint32))
MemoryHeap = record("MemoryHeap", ("size", c_uint64), ("flags", c_uint32))
MemoryProperties = record(
    "MemoryProperties",
    ("type_count", c_uint32),
    ("types", MemoryType * 32),
    ("heap_count", c_uint32),
    ("heaps", MemoryHeap * 16),
)
CommandPoolCreateInfo = record(
    "CommandPoolCreateInfo", *_head, ("flags", c_uint32), ("family", c_uint32)
)
CommandBufferAllocateInfo = record(
    "CommandBufferAllocateInfo", *_head, ("pool", c_uint64), ("level", c_int32), ("count", c_uint32)
)
CommandBufferBeginInfo = record(
    "CommandBufferBeginInfo", *_head, ("flags", c_uint32), ("inheritance", c_void_p)
)
BufferCopy = record("BufferCopy", ("source", c_uint64), ("target", c_uint64), ("size", c_uint64))
BufferImageCopy = record(
    "BufferImageCopy",
    ("offset", c_uint64),
    ("row", c_uint32),
    ("height", c_uint32),
    ("aspect", c_uint32),
    ("level", c_uint32),
    ("layer", c_uint32),
    ("layers", c_uint32),
    ("at", c_int32 * 3),
    ("extent", c_uint32 * 3),
)

_DEVICE = {
    "vkAllocateCommandBuffers": (c_void_p, POINTER(CommandBufferAllocateInfo), POINTER(c_void_p)),
    "vkAllocateMemory": (c_void_p, POINTER(MemoryAllocateInfo), c_void_p, POINTER(c_uint64)),
    "vkBeginCommandBuffer": (c_void_p, POINTER(CommandBufferBeginInfo)),
    "vkBindBufferMemory": (c_void_p, c_uint64, c_uint64, c_uint64),
    "vkCmdCopyBuffer": (c_void_p, c_uint64, c_uint64, c_uint32, POINTER(BufferCopy)),
    "vkCmdCopyBufferToImage": (
        c_void_p,
        c_uint64,
        c_uint64,
        c_int32,
        c_uint32,
        POINTER(BufferImageCopy),
    ),
    "vkCmdCopyImageToBuffer": (
        c_void_p,
        c_uint64,
        c_int32,
        c_uint64,
        c_uint32,
        POINTER(BufferImageCopy),
    ),
    "vkCreateBuffer": (c_void_p, POINTER(BufferCreateInfo), c_void_p, POINTER(c_uint64)),
    "vkCreateCommandPool": (c_void_p, POINTER(CommandPoolCreateInfo), c_void_p, POINTER(c_uint64)),
    "vkDestroyBuffer": (c_void_p, c_uint64, c_void_p),
    "vkDestroyCommandPool": (c_void_p, c_uint64, c_void_p),
    "vkEndCommandBuffer": (c_void_p,),
    "vkFreeMemory": (c_void_p, c_uint64, c_void_p),
    "vkGetBufferMemoryRequirements": (c_void_p, c_uint64, POINTER(MemoryRequirements)),
    "vkGetPhysicalDeviceMemoryProperties": (c_void_p, POINTER(MemoryProperties)),
    "vkMapMemory": (c_void_p, c_uint64, c_uint64, c_uint64, c_uint32, POINTER(c_void_p)),
    "vkQueueWaitIdle": (c_void_p,),
}
_SILENT = (
    "vkCmdCopyBuffer",
    "vkCmdCopyBufferToImage",
    "vkCmdCopyImageToBuffer",
    "vkDestroyBuffer",
    "vkDestroyCommandPool",
    "vkFreeMemory",
    "vkGetBufferMemoryRequirements",
    "vkGetPhysicalDeviceMemoryProperties",
)


class Vulkan:
    """The functions, a command pool, and a staging buffer of `size` bytes."""

    def __init__(self, device, size):
        self.device, self.size = device, size
        self._load()
        self.pool = c_uint64()
        self.vkCreateCommandPool(
            device.device,
            byref(CommandPoolCreateInfo(sType=39, family=device.queue_family)),
            None,
            byref(self.pool),
        )
        self._make_staging()

    def _load(self):
        prototype = ctypes.CFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)
        find = prototype(self.device.get_instance_proc_addr)
        for name, arguments in _DEVICE.items():
            silent = name in _SILENT
            kind = ctypes.CFUNCTYPE(None if silent else c_int32, *arguments)
            function = kind(find(self.device.instance, name.encode()))
            setattr(self, name, function if silent else self._checked(name, function))

    @staticmethod
    def _checked(name, function):
        def call(*arguments):
            result = function(*arguments)
            if result:
                raise RuntimeError(f"{name} returned {result}")

        return call

    def _make_staging(self):
        """A buffer in host-visible memory, mapped all the time."""
        device, self.buffer, self.memory = self.device.device, c_uint64(), c_uint64()
        info = BufferCreateInfo(sType=12, size=self.size, usage=TRANSFER_SRC | TRANSFER_DST)
        self.vkCreateBuffer(device, byref(info), None, byref(self.buffer))
        needs = MemoryRequirements()
        self.vkGetBufferMemoryRequirements(device, self.buffer, byref(needs))
        allocate = MemoryAllocateInfo(
            sType=5, allocationSize=needs.size, memoryTypeIndex=self._memory_type(needs.bits)
        )
        self.vkAllocateMemory(device, byref(allocate), None, byref(self.memory))
        self.vkBindBufferMemory(device, self.buffer, self.memory, 0)
        address = c_void_p()
        self.vkMapMemory(device, self.memory, 0, WHOLE, 0, byref(address))
        self.bytes = (ctypes.c_ubyte * self.size).from_address(address.value)

    def _memory_type(self, bits):
        found = MemoryProperties()
        self.vkGetPhysicalDeviceMemoryProperties(self.device.physical_device, byref(found))
        wanted = HOST_VISIBLE | HOST_COHERENT
        for number in range(found.type_count):
            if bits >> number & 1 and found.types[number].properties & wanted == wanted:
                return number
        raise RuntimeError("Vulkan has no host-visible memory")

    def run(self, resource, write, **options):
        """Submits the commands that `write` records, ordered with CUDA, and waits until they are
        done.
        """
        commands = c_void_p()
        allocate = CommandBufferAllocateInfo(sType=40, pool=self.pool, level=0, count=1)
        self.vkAllocateCommandBuffers(self.device.device, byref(allocate), byref(commands))
        self.vkBeginCommandBuffer(commands, byref(CommandBufferBeginInfo(sType=42, flags=1)))
        write(commands)
        self.vkEndCommandBuffer(commands)
        self.device.submit([resource], [commands.value], **options)
        self.vkQueueWaitIdle(self.device.queue)

    def close(self):
        """Destroys the Vulkan objects. The queue must be idle."""
        device = self.device.device
        self.vkQueueWaitIdle(self.device.queue)
        self.vkDestroyCommandPool(device, self.pool, None)
        self.vkDestroyBuffer(device, self.buffer, None)
        self.vkFreeMemory(device, self.memory, None)


def image_copy(width, height):
    """A copy region for a whole image with one level and a tightly packed buffer."""
    region = BufferImageCopy(aspect=1, layers=1)
    region.extent[:] = (width, height, 1)
    return pointer(region)


def buffer_copy(size):
    return pointer(BufferCopy(0, 0, size))
