// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shares a Vulkan buffer of raw handles, as ash and wgpu-hal have them: CUDA writes it, commands
//! of Vulkan fill its second half, and CUDA reads it. Engines pass their own device in place of
//! VulkanHeadless. `cargo run --example vulkan_buffer`
use grinterop::sys::*;
use grinterop::*;
use std::os::raw::c_void;
use std::{mem, ptr};

const SIZE: u64 = 4096;
const OPAQUE_FD: u32 = 1;
const TRANSFER: u32 = 1 | 2; // VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT

/// vk!(headless, name(arguments)): calls a function of Vulkan, which must succeed.
macro_rules! vk {
    ($headless:expr, $name:ident($($value:expr => $type:ty),*)) => {{
        let found = $headless.function(concat!(stringify!($name), "\0")).unwrap();
        let call: unsafe extern "C" fn($($type),*) -> i32 = unsafe { mem::transmute(found) };
        let result = unsafe { call($($value),*) };
        assert!(result == 0, "{} returned {result}", stringify!($name));
    }};
    // Functions without a result.
    ($headless:expr, void $name:ident($($value:expr => $type:ty),*)) => {{
        let found = $headless.function(concat!(stringify!($name), "\0")).unwrap();
        let call: unsafe extern "C" fn($($type),*) = unsafe { mem::transmute(found) };
        unsafe { call($($value),*) }
    }};
}
type None = *const c_void;

/// A buffer that can be exported, and its memory, as an engine makes them.
fn make_buffer(vulkan: &VulkanHeadless) -> gr_vk_buffer_desc {
    let device = vulkan.info().device;
    let external = VkExternalMemoryBufferCreateInfo {
        sType: 1000072000,
        handleTypes: OPAQUE_FD,
        ..Default::default()
    };
    let info = VkBufferCreateInfo {
        sType: 12,
        pNext: (&external as *const VkExternalMemoryBufferCreateInfo).cast(),
        size: SIZE,
        usage: TRANSFER,
        ..Default::default()
    };
    let (mut buffer, mut memory) = (ptr::null_mut(), ptr::null_mut());
    vk!(vulkan, vkCreateBuffer(device => VkDevice, &info => *const VkBufferCreateInfo,
        ptr::null() => None, &mut buffer => *mut VkBuffer));
    let mut needs = VkMemoryRequirements::default();
    vk!(vulkan, void vkGetBufferMemoryRequirements(device => VkDevice, buffer => VkBuffer,
        &mut needs => *mut VkMemoryRequirements));

    let mut types = VkPhysicalDeviceMemoryProperties::default();
    vk!(vulkan, void vkGetPhysicalDeviceMemoryProperties(
        vulkan.info().physical_device => VkPhysicalDevice,
        &mut types => *mut VkPhysicalDeviceMemoryProperties));
    let of_device =
        |i: &u32| needs.memoryTypeBits >> i & types.memoryTypes[*i as usize].propertyFlags & 1 == 1;
    let dedicated =
        VkMemoryDedicatedAllocateInfo { sType: 1000127001, buffer, ..Default::default() };
    let export = VkExportMemoryAllocateInfo {
        sType: 1000072002,
        pNext: (&dedicated as *const VkMemoryDedicatedAllocateInfo).cast(),
        handleTypes: OPAQUE_FD,
    };
    let allocate = VkMemoryAllocateInfo {
        sType: 5,
        pNext: (&export as *const VkExportMemoryAllocateInfo).cast(),
        allocationSize: needs.size,
        memoryTypeIndex: (0..types.memoryTypeCount).find(of_device).expect("device memory"),
    };
    vk!(vulkan, vkAllocateMemory(device => VkDevice, &allocate => *const VkMemoryAllocateInfo,
        ptr::null() => None, &mut memory => *mut VkDeviceMemory));
    vk!(vulkan, vkBindBufferMemory(device => VkDevice, buffer => VkBuffer,
        memory => VkDeviceMemory, 0 => u64));
    gr_vk_buffer_desc {
        buffer,
        memory,
        memory_size: needs.size,
        size: SIZE,
        dedicated: true,
        ..Default::default()
    }
}

/// Commands that fill the second half of the buffer with bytes of 7.
fn record(vulkan: &VulkanHeadless, buffer: VkBuffer) -> (VkCommandPool, VkCommandBuffer) {
    let (device, family) = (vulkan.info().device, vulkan.info().graphics_family);
    let pool_info =
        VkCommandPoolCreateInfo { sType: 39, queueFamilyIndex: family, ..Default::default() };
    let mut pool = ptr::null_mut();
    vk!(vulkan, vkCreateCommandPool(device => VkDevice,
        &pool_info => *const VkCommandPoolCreateInfo, ptr::null() => None,
        &mut pool => *mut VkCommandPool));
    let info = VkCommandBufferAllocateInfo {
        sType: 40,
        commandPool: pool,
        commandBufferCount: 1,
        ..Default::default()
    };
    let mut commands = ptr::null_mut();
    vk!(vulkan, vkAllocateCommandBuffers(device => VkDevice,
        &info => *const VkCommandBufferAllocateInfo, &mut commands => *mut VkCommandBuffer));
    let begin = VkCommandBufferBeginInfo { sType: 42, ..Default::default() };
    vk!(vulkan, vkBeginCommandBuffer(commands => VkCommandBuffer,
        &begin => *const VkCommandBufferBeginInfo));
    vk!(vulkan, void vkCmdFillBuffer(commands => VkCommandBuffer, buffer => VkBuffer,
        SIZE / 2 => u64, SIZE / 2 => u64, 0x07070707 => u32));
    vk!(vulkan, vkEndCommandBuffer(commands => VkCommandBuffer));
    (pool, commands)
}

fn main() -> grinterop::Result<()> {
    grinterop::cuda_load(true)?;
    let cuda = CudaContext::create(0)?;
    let stream = cuda.stream();
    let vulkan = VulkanHeadless::create(0, false)?;
    let device = VulkanDevice::from_headless(&vulkan, 0)?;
    println!("{}", device.description());

    let made = make_buffer(&vulkan);
    let (raw, memory) = (made.buffer, made.memory);
    let buffer = unsafe { device.from_vk_buffer(made, GR_READ_WRITE)? };
    let bytes: Vec<u8> = (0..SIZE).map(|i| i as u8).collect();
    let tensor = Tensor::from_slice(&[SIZE as i64], &bytes, stream)?;
    buffer.publish(&tensor, &PublishOptions::default(), stream)?;

    let (pool, commands) = record(&vulkan, raw);
    unsafe { vk_submit_commands(&[&buffer], commands, &VulkanUse::default())? };

    let mut read = Tensor::create::<u8>(&[SIZE as i64], GR_MEMORY_DEVICE, stream)?;
    buffer.fetch(&mut read, &PublishOptions::default(), stream)?;
    let half = SIZE as usize / 2;
    let read = read.to_vec::<u8>(stream)?;
    assert_eq!(read[..half], bytes[..half]);
    assert!(read[half..].iter().all(|byte| *byte == 7));
    println!("CUDA and Vulkan wrote {SIZE} bytes in one buffer");

    let handle = vulkan.info().device;
    vk!(vulkan, vkQueueWaitIdle(vulkan.info().graphics => VkQueue));
    buffer.close()?;
    vk!(vulkan, void vkDestroyCommandPool(handle => VkDevice, pool => VkCommandPool,
        ptr::null() => None));
    vk!(vulkan, void vkDestroyBuffer(handle => VkDevice, raw => VkBuffer,
        ptr::null() => None));
    vk!(vulkan, void vkFreeMemory(handle => VkDevice, memory => VkDeviceMemory,
        ptr::null() => None));
    Ok(())
}
