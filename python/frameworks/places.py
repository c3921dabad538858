# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The graphics objects of the matrix: OpenGL and Vulkan buffers and images with known bytes."""

import gl
import grinterop
import vk
from grinterop import GraphicsResource


class Place:
    """A uint8 buffer or image, which the graphics API fills and reads."""

    def __init__(self, shape):
        self.shape = shape
        self.size = shape[0] * shape[1] * shape[2]

    def before(self):
        """Called before CUDA uses the object."""

    def after(self):
        """Called before the graphics API uses the object."""

    def close(self):
        self.resource.close()


class GLBuffer(Place):
    title, kind = "OpenGL buffer", "buffer"

    def __init__(self, shape):
        super().__init__(shape)
        self.name = gl.buffer(self.size)
        self.resource = GraphicsResource.from_gl_buffer(self.name)

    def fill(self, data):
        gl.write_buffer(self.name, data)

    def read(self):
        return gl.read_buffer(self.name, self.size)


class GLImage(Place):
    title, kind = "OpenGL image", "image"

    def __init__(self, shape):
        super().__init__((shape[0], shape[1], 4))
        self.name = gl.texture(shape[1], shape[0])
        self.resource = GraphicsResource.from_gl_image(
            self.name, gl.TEXTURE_2D, flags="surface_load_store"
        )

    def fill(self, data):
        gl.write_texture(self.name, self.shape[1], self.shape[0], data)

    def read(self):
        return gl.read_texture(self.name, self.shape[1], self.shape[0])


class VulkanPlace(Place):
    """Returns the Vulkan device, which all objects of the process share."""

    device = None

    def __init__(self, shape, flags):
        super().__init__(shape)
        if not VulkanPlace.device:
            VulkanPlace.device = grinterop.VulkanDevice.headless(0)
        self.vulkan = vk.Vulkan(self.device, self.size)
        self.resource = self.make(flags)
        # Releases the new image to CUDA. Its contents are undefined.
        self.device.submit([self.resource], layout=vk.LAYOUT_UNDEFINED)

    def fill(self, data):
        self.vulkan.bytes[:] = data
        self.vulkan.run(self.resource, self.copy_in, layout=vk.LAYOUT_GENERAL)

    def read(self):
        self.vulkan.run(self.resource, self.copy_out, layout=vk.LAYOUT_GENERAL)
        return bytes(self.vulkan.bytes)

    def close(self):
        self.vulkan.close()
        super().close()


class VulkanBuffer(VulkanPlace):
    title, kind = "Vulkan buffer", "buffer"

    def __init__(self, shape):
        super().__init__(shape, None)

    def make(self, flags):
        usage = vk.TRANSFER_SRC | vk.TRANSFER_DST
        return self.device.create_buffer(self.size, usage, flags=flags)

    def copy_in(self, commands):
        self.vulkan.vkCmdCopyBuffer(
            commands, self.vulkan.buffer, self.resource.vk_buffer, 1, vk.buffer_copy(self.size)
        )

    def copy_out(self, commands):
        self.vulkan.vkCmdCopyBuffer(
            commands, self.resource.vk_buffer, self.vulkan.buffer, 1, vk.buffer_copy(self.size)
        )


class VulkanImage(VulkanPlace):
    title, kind = "Vulkan image", "image"

    def __init__(self, shape):
        super().__init__((shape[0], shape[1], 4), "surface_load_store")

    def make(self, flags):
        usage = vk.TRANSFER_SRC | vk.TRANSFER_DST | vk.IMAGE_SAMPLED
        height, width, _ = self.shape
        return self.device.create_image(vk.R8G8B8A8_UNORM, width, height, usage, flags=flags)

    def region(self):
        return vk.image_copy(self.shape[1], self.shape[0])

    def copy_in(self, commands):
        self.vulkan.vkCmdCopyBufferToImage(
            commands,
            self.vulkan.buffer,
            self.resource.vk_image,
            vk.LAYOUT_GENERAL,
            1,
            self.region(),
        )

    def copy_out(self, commands):
        self.vulkan.vkCmdCopyImageToBuffer(
            commands,
            self.resource.vk_image,
            vk.LAYOUT_GENERAL,
            self.vulkan.buffer,
            1,
            self.region(),
        )


KINDS = (GLBuffer, GLImage, VulkanBuffer, VulkanImage)
