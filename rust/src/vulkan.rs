// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Devices, buffers and submits of Vulkan, by the raw handles that ash and wgpu-hal have.
use std::os::raw::c_void;
use std::ptr;

use crate::{check, sized, sys, text, Error, Resource, Result};

owned! {
    /// A Vulkan device and the CUDA device that uses its resources.
    VulkanDevice, gr_vk_device, gr_vk_device_free
}
unsafe impl Send for VulkanDevice {}

impl VulkanDevice {
    /// Wraps a VkDevice. `struct_size` of the desc is set here.
    ///
    /// # Safety
    /// The handles are valid, and outlive this object and all that is created from it.
    pub unsafe fn from_vk(mut desc: sys::gr_vk_device_desc) -> Result<Self> {
        desc.struct_size = std::mem::size_of_val(&desc);
        unsafe { VulkanDevice::own(sys::gr_vk_device_from_vk(&desc)) }
    }

    /// Wraps a device without a window, which lives as long as its wraps.
    pub fn from_headless(headless: &VulkanHeadless, transports: u32) -> Result<Self> {
        unsafe { VulkanDevice::own(sys::gr_vk_device_from_headless(headless.as_ptr(), transports)) }
    }

    /// Creates a buffer with memory that CUDA imports: [`Resource::vk_buffer`].
    pub fn create_vk_buffer(&self, size: u64, usage: u32, flags: u32) -> Result<Resource> {
        const BUFFER_CREATE_INFO: u32 = 12;
        let info = sys::VkBufferCreateInfo {
            sType: BUFFER_CREATE_INFO,
            size,
            usage,
            ..Default::default()
        };
        unsafe { Resource::own(sys::gr_create_vk_buffer(self.as_ptr(), &info, flags)) }
    }

    /// Shares an existing buffer. `struct_size` of the desc is set here.
    ///
    /// # Safety
    /// The handles are valid and fit each other. The buffer exists at each submit of the resource.
    pub unsafe fn from_vk_buffer(
        &self,
        mut desc: sys::gr_vk_buffer_desc,
        flags: u32,
    ) -> Result<Resource> {
        desc.struct_size = std::mem::size_of_val(&desc);
        unsafe { Resource::own(sys::gr_from_vk_buffer(self.as_ptr(), &desc, flags)) }
    }

    /// Shares an existing image. `struct_size` of the desc is set here.
    ///
    /// # Safety
    /// As for [`VulkanDevice::from_vk_buffer`].
    pub unsafe fn from_vk_image(
        &self,
        mut desc: sys::gr_vk_image_desc,
        flags: u32,
    ) -> Result<Resource> {
        desc.struct_size = std::mem::size_of_val(&desc);
        unsafe { Resource::own(sys::gr_from_vk_image(self.as_ptr(), &desc, flags)) }
    }

    /// One line: the names, the UUID, and how memory and semaphores are shared.
    pub fn description(&self) -> String {
        let info = unsafe { sys::gr_vk_device_get_info(self.as_ptr()).as_ref() };
        info.map(|info| text(info.description)).unwrap_or_default()
    }
}

owned! {
    /// A Vulkan device for tests, tools and programs without a window.
    VulkanHeadless, gr_vk_headless, gr_vk_headless_free
}

impl VulkanHeadless {
    pub fn create(cuda_device: i32, validation: bool) -> Result<Self> {
        let options =
            sized!(gr_vk_headless_options { cuda_device: cuda_device, validation: validation });
        unsafe { VulkanHeadless::own(sys::gr_vk_headless_create(&options)) }
    }

    /// The handles, which live as long as this object.
    pub fn info(&self) -> &sys::gr_vk_headless_info {
        unsafe { &*sys::gr_vk_headless_get_info(self.as_ptr()) }
    }

    /// A function of the device or the instance, whose name ends with a zero byte. NULL is an error.
    pub fn function(&self, name: &str) -> Result<*const c_void> {
        assert!(name.ends_with('\0'), "the name must end with a zero byte");
        let info = self.info();
        let find = info.get_instance_proc_addr.expect("headless devices have it");
        unsafe { find(info.instance, name.as_ptr().cast()) }
            .map(|function| function as *const c_void)
            .ok_or_else(|| Error::of(sys::GR_ERR_UNSUPPORTED, "vkGetInstanceProcAddr", name.into()))
    }
}

impl Resource {
    /// The Vulkan buffer.
    pub fn vk_buffer(&self) -> sys::VkBuffer {
        unsafe { sys::gr_vk_buffer(self.as_ptr()) }
    }
}

/// Hands new resources to CUDA, by a submit without commands.
///
/// # Safety
/// No other thread uses the queue of the device, and `layout` is that of the images.
pub unsafe fn vk_hand_over(resources: &[&Resource], layout: sys::VkImageLayout) -> Result<()> {
    let raw: Vec<_> = resources.iter().map(|resource| resource.as_ptr()).collect();
    check(unsafe { sys::gr_vk_hand_over(raw.as_ptr(), raw.len(), layout) })
}

/// How commands use resources. The default is all commands, all accesses and the layout GENERAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VulkanUse {
    pub stages: sys::VkPipelineStageFlags2,
    pub access: sys::VkAccessFlags2,
    pub layout: sys::VkImageLayout,
}

impl Default for VulkanUse {
    fn default() -> Self {
        const ALL_COMMANDS: u64 = 0x10000;
        const MEMORY_READ_WRITE: u64 = 0x8000 | 0x10000;
        const GENERAL: u32 = 1;
        VulkanUse { stages: ALL_COMMANDS, access: MEMORY_READ_WRITE, layout: GENERAL }
    }
}

/// The usual submit, in one call: the commands use the resources as `how`.
///
/// # Safety
/// As for [`Submit::vk_submit`].
pub unsafe fn vk_submit_commands(
    resources: &[&Resource],
    commands: sys::VkCommandBuffer,
    how: &VulkanUse,
) -> Result<()> {
    let raw: Vec<_> = resources.iter().map(|resource| resource.as_ptr()).collect();
    let (at, n) = (raw.as_ptr(), raw.len());
    check(unsafe {
        sys::gr_vk_submit_commands(at, n, commands, how.stages, how.access, how.layout)
    })
}

owned! {
    /// A submit of the graphics API. Its end undoes it, unless it was submitted.
    Submit<'a>, gr_submit, gr_submit_free
}

impl<'a> Submit<'a> {
    /// A submit that uses the resources, which nobody may map until its end.
    pub fn begin(resources: &[&'a Resource]) -> Result<Submit<'a>> {
        let raw: Vec<_> = resources.iter().map(|resource| resource.as_ptr()).collect();
        unsafe { Submit::own(sys::gr_submit_begin(raw.as_ptr(), raw.len())) }
    }

    /// Submits the commands, with the semaphores and barriers for CUDA, to the queue of the device.
    /// Without `last` Vulkan keeps the resources.
    ///
    /// # Safety
    /// The command buffers are valid and have no barriers for CUDA, and no other thread uses the
    /// queue.
    pub unsafe fn vk_submit(
        &mut self,
        commands: &[sys::VkCommandBuffer],
        first: Option<&VulkanUse>,
        last: Option<&VulkanUse>,
    ) -> Result<()> {
        unsafe { submit(self.as_ptr(), commands, first, last) }
    }
}

/// # Safety
/// As for [`Submit::vk_submit`].
pub(crate) unsafe fn submit(
    submit: *mut sys::gr_submit,
    commands: &[sys::VkCommandBuffer],
    first: Option<&VulkanUse>,
    last: Option<&VulkanUse>,
) -> Result<()> {
    const SUBMIT_INFO_2: u32 = 1000314004;
    const COMMAND_BUFFER_SUBMIT_INFO: u32 = 1000314006;
    let infos: Vec<_> = commands
        .iter()
        .map(|commands| sys::VkCommandBufferSubmitInfo {
            sType: COMMAND_BUFFER_SUBMIT_INFO,
            commandBuffer: *commands,
            ..Default::default()
        })
        .collect();
    let info = sys::VkSubmitInfo2 {
        sType: SUBMIT_INFO_2,
        commandBufferInfoCount: infos.len() as u32,
        pCommandBufferInfos: infos.as_ptr(),
        ..Default::default()
    };
    let to_c = |from: &VulkanUse| {
        sized!(gr_vk_use { stages: from.stages, access: from.access, layout: from.layout })
    };
    let (first, last) = (first.map(to_c), last.map(to_c));
    let desc = sized!(gr_vk_submit_desc {
        info: &info,
        first: first.as_ref().map_or(ptr::null(), |at| at),
        last: last.as_ref().map_or(ptr::null(), |at| at),
    });
    check(unsafe { sys::gr_vk_submit(submit, &desc) })
}
