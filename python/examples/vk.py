# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Vulkan functions of frameworks.py, by ctypes: copies, and memory that the CPU can read.

The device is a grinterop.VulkanDevice, with integer handles.
"""

import ctypes
import re
from ctypes import Structure, byref, c_int32, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from ctypes import pointer

import gl

TRANSFER_SRC, TRANSFER_DST = 1, 2
IMAGE_SAMPLED, IMAGE_STORAGE = 4, 8
R8G8B8A8_UNORM = 37
LAYOUT_UNDEFINED, LAYOUT_GENERAL = 0, 1
WHOLE = (1 << 64) - 1
HOST_VISIBLE, HOST_COHERENT = 2, 4


_TYPES = {"b": c_uint8, "h": c_uint16, "i": c_int32, "u": c_uint32, "q": c_uint64, "p": c_void_p}


def record(name, fields, **more):
    """Declares a struct. A field has a name, a letter for its type, and the length of an array."""
    found = re.findall(r"(\w+):(\w)(\d*)", fields)
    declared = [(field, _TYPES[kind] * int(n) if n else _TYPES[kind]) for field, kind, n in found]
    return type(name, (Structure,), {"_fields_": [*declared, *more.items()]})


BufferCreateInfo = record(
    "BufferCreateInfo", "sType:i pNext:p flags:u size:q usage:u sharing:i count:u families:p"
)
MemoryAllocateInfo = record("MemoryAllocateInfo", "sType:i pNext:p allocationSize:q type:u")
MemoryRequirements = record("MemoryRequirements", "size:q alignment:q bits:u")
MemoryType = record("MemoryType", "properties:u heap:u")
MemoryHeap = record("MemoryHeap", "size:q flags:u")
MemoryProperties = record(
    "MemoryProperties", "count:u", types=MemoryType * 32, heap_count=c_uint32, heaps=MemoryHeap * 16
)
CommandPoolCreateInfo = record("CommandPoolCreateInfo", "sType:i pNext:p flags:u family:u")
CommandBufferAllocateInfo = record(
    "CommandBufferAllocateInfo", "sType:i pNext:p pool:q level:i count:u"
)
CommandBufferBeginInfo = record("CommandBufferBeginInfo", "sType:i pNext:p flags:u inheritance:p")
BufferCopy = record("BufferCopy", "source:q target:q size:q")
BufferImageCopy = record(
    "BufferImageCopy", "offset:q row:u height:u aspect:u level:u layer:u layers:u at:i3 extent:u3"
)

# As in gl.py, without the prefix "vk". Functions with a result are checked.
_FUNCTIONS = """
    AllocateCommandBuffers(ppp)i AllocateMemory(pppp)i BeginCommandBuffer(pp)i
    BindBufferMemory(pqqq)i CmdCopyBuffer(pqqup) CmdCopyBufferToImage(pqqiup)
    CmdCopyImageToBuffer(pqiqup) CreateBuffer(pppp)i CreateCommandPool(pppp)i DestroyBuffer(pqp)
    DestroyCommandPool(pqp) EndCommandBuffer(p)i FreeMemory(pqp) GetBufferMemoryRequirements(pqp)
    GetPhysicalDeviceMemoryProperties(pp) MapMemory(pqqqup)i QueueWaitIdle(p)i
"""


def load(device, table, name):
    """Loads a function of such a table."""
    find = ctypes.CFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(device.get_instance_proc_addr)
    return gl.prototype(table, name)(find(device.instance, f"vk{name}".encode()))


class Vulkan:
    """The functions, a command pool, and a staging buffer of `size` bytes."""

    def __init__(self, device, size):
        self.device, self.size = device, size
        self.pool = c_uint64()
        self.vkCreateCommandPool(
            device.device, byref(CommandPoolCreateInfo(sType=39, family=device.queue_family)), None,
            byref(self.pool),
        )
        self._make_staging()

    def __getattr__(self, name):
        """The functions: self.vkCreateBuffer(...)."""
        if not name.startswith("vk"):
            raise AttributeError(name)
        function = load(self.device, _FUNCTIONS, name[2:])

        def call(*arguments):
            if result := function(*arguments):
                raise RuntimeError(f"{name} returned {result}")

        setattr(self, name, call)
        return call

    def _make_staging(self):
        """A buffer in host-visible memory, mapped all the time."""
        device, self.buffer, self.memory = self.device.device, c_uint64(), c_uint64()
        info = BufferCreateInfo(sType=12, size=self.size, usage=TRANSFER_SRC | TRANSFER_DST)
        self.vkCreateBuffer(device, byref(info), None, byref(self.buffer))
        needs = MemoryRequirements()
        self.vkGetBufferMemoryRequirements(device, self.buffer, byref(needs))
        allocate = MemoryAllocateInfo(
            sType=5, allocationSize=needs.size, type=self._memory_type(needs.bits)
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
        for number in range(found.count):
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
