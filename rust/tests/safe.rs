// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The safe layer: bytes and errors.
use grinterop::sys::{self, *};
use grinterop::*;
use std::thread;

const SIZE: usize = 256;

fn bytes(first: u8) -> Vec<u8> {
    (0..SIZE).map(|i| first.wrapping_add(i as u8)).collect()
}

fn gl_buffer(flags: u32) -> Resource {
    Resource::create_gl_buffer(SIZE, flags).unwrap()
}

/// Runs a test with a CUDA context and an OpenGL context.
fn with_gl(test: impl FnOnce(Stream)) {
    let _egl = EglContext::create(0, false).unwrap();
    with_cuda(test);
}

fn with_cuda(test: impl FnOnce(Stream)) {
    cuda_load(true).unwrap();
    let cuda = CudaContext::create(0).unwrap();
    test(cuda.stream());
}

#[test]
fn structs_have_the_sizes_of_c() {
    let api = include_str!("../../docs/api.json");
    macro_rules! sizes {
        ($($name:ident)*) => {
            $(let line = format!("{{\"name\": \"{}\", \"size\": {},", stringify!($name),
                                 std::mem::size_of::<sys::$name>());
            assert!(api.contains(&line), "{line}");)*
        };
    }
    sizes!(gr_error gr_map_options gr_gl_options gr_publish_options gr_tensor_desc gr_tensor_info
        gr_ring_options gr_ring_info gr_slot gr_vk_device_desc gr_vk_buffer_desc gr_vk_image_desc
        gr_vk_submit_desc gr_vk_use gr_egl_options gr_vk_headless_options gr_vk_headless_info);
}

#[test]
fn a_published_tensor_is_fetched() {
    with_gl(|stream| {
        let buffer = gl_buffer(GR_READ_WRITE);
        let tensor = Tensor::from_slice(&[SIZE as i64], &bytes(3), stream).unwrap();
        buffer.publish(&tensor, &PublishOptions::default(), stream).unwrap();
        let mut back = Tensor::create::<u8>(&[16], GR_MEMORY_DEVICE, stream).unwrap();
        let part = PublishOptions { offset: 32, ..Default::default() };
        buffer.fetch(&mut back, &part, stream).unwrap();
        assert_eq!(back.to_vec::<u8>(stream).unwrap(), bytes(35)[..16]);
        assert_eq!(back.to_vec::<f32>(stream).unwrap_err().status, GR_ERR_INVALID_VALUE);
        let numbers = Tensor::from_slice(&[4], &[1f32, 2.0, 3.0, 4.0], stream).unwrap();
        buffer.publish(&numbers, &PublishOptions::default(), stream).unwrap();
        let scaled =
            PublishOptions { scale: Some([2.0; 4]), bias: Some([1.0; 4]), ..Default::default() };
        let mut floats = Tensor::create::<f32>(&[4], GR_MEMORY_DEVICE, stream).unwrap();
        buffer.fetch(&mut floats, &scaled, stream).unwrap();
        assert_eq!(floats.to_vec::<f32>(stream).unwrap(), [3.0, 5.0, 7.0, 9.0]);
        let outside = PublishOptions { offset: SIZE - 8, ..Default::default() };
        let refused = buffer.fetch(&mut floats, &outside, stream).unwrap_err();
        assert_eq!((refused.status, refused.call.as_str()), (GR_ERR_INVALID_VALUE, "gr_fetch"));
    });
}

#[test]
fn a_mapping_ends_with_its_scope() {
    with_gl(|stream| {
        let buffer = gl_buffer(GR_READ_WRITE);
        {
            let mapping = buffer.map(stream).unwrap();
            assert_ne!(mapping.ptr(), 0);
            assert_eq!(mapping.size(), SIZE);
            let second = buffer.map(stream).err().unwrap();
            assert_eq!((second.status, second.call.as_str()), (GR_ERR_STATE, "gr_map_with"));
        }
        let part = MapOptions { offset: 64, size: 32, ..Default::default() };
        let mapping = buffer.map_with(stream, part).unwrap();
        assert_eq!(mapping.size(), 32);
        mapping.release().unwrap();
        buffer.map(stream).unwrap().release().unwrap();
        assert!(buffer.describe().contains("256"), "{}", buffer.describe());
        buffer.close().unwrap();
        assert_eq!(Stream::OF_MAP.synchronize().unwrap_err().status, GR_ERR_INVALID_VALUE);
    });
}

#[test]
fn errors_have_the_cause_and_the_remedy() {
    with_gl(|_| {
        let error = Resource::from_gl_buffer(12345, GR_READ_WRITE).err().unwrap();
        assert_eq!(error.status, GR_ERR_INVALID_VALUE);
        assert!(error.to_string().starts_with(&error.message), "{error}");
        assert!(error.to_string().contains("(gr_from_gl_buffer"), "{error}");
        assert_eq!(last_error(), error);
    });
}

#[test]
fn frames_arrive_in_order_and_a_dropped_slot_is_free_again() {
    with_gl(|stream| {
        let slots = (0..3).map(|_| gl_buffer(GR_READ_WRITE)).collect();
        let ring = Ring::create(slots, GR_SIDE_CUDA, GR_RING_LOSSLESS).unwrap();
        let empty = ring.acquire_read(Stream::NONE, 0).err().unwrap();
        assert_eq!(empty.status, GR_ERR_NOT_READY);
        drop(ring.acquire_write(stream, 0).unwrap());
        assert_eq!(ring.info().unwrap().free, 3);
        for first in 1..=2 {
            let slot = ring.acquire_write(stream, 0).unwrap();
            let tensor = Tensor::from_slice(&[SIZE as i64], &bytes(first), stream).unwrap();
            slot.publish(&tensor, &PublishOptions::default()).unwrap();
            slot.hand_over().unwrap();
        }
        for frame in 1..=2 {
            let slot = ring.acquire_read(Stream::NONE, 0).unwrap();
            assert_eq!(slot.frame(), frame);
            assert_ne!(slot.gl_name(), 0);
            slot.give_back().unwrap();
        }
        assert_eq!(ring.info().unwrap().read, 2);
        let slot = ring.acquire_write(stream, 0).unwrap();
        assert_eq!(slot.give_back().unwrap_err().status, GR_ERR_STATE);
        assert_eq!(ring.info().unwrap().free, 3);
        ring.stop();
        assert_eq!(ring.acquire_write(stream, 0).err().unwrap().status, GR_ERR_STOPPED);
    });
}

#[test]
fn vulkan_and_cuda_share_a_ring_in_two_threads() {
    with_cuda(|stream| {
        let headless = VulkanHeadless::create(0, false).unwrap();
        let device = VulkanDevice::from_headless(&headless, 0).unwrap();
        let slots: Vec<_> = (0..3)
            .map(|_| device.create_vk_buffer(SIZE as u64, 1 | 2, GR_READ_WRITE).unwrap())
            .collect();
        assert!(slots.iter().all(|slot| !slot.vk_buffer().is_null()));
        let mut ring = Ring::create(slots, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS).unwrap();
        let (mut writer, mut reader) = ring.split();
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..10 {
                    let mut slot = writer.acquire(Stream::NONE, 10_000).unwrap();
                    let all = VulkanUse::default();
                    unsafe { slot.vk_submit(&[], &all, &all).unwrap() };
                    slot.hand_over().unwrap();
                }
            });
            for frame in 1..=10 {
                let slot = reader.acquire(stream, 10_000).unwrap();
                assert_eq!(slot.frame(), frame);
                assert_ne!(slot.ptr(), 0);
                slot.give_back().unwrap();
            }
        });
        assert_eq!(ring.info().unwrap().read, 10);
    });
}

#[test]
fn a_submit_that_was_not_submitted_is_undone() {
    with_cuda(|stream| {
        let headless = VulkanHeadless::create(0, false).unwrap();
        let device = VulkanDevice::from_headless(&headless, 0).unwrap();
        let buffer = device.create_vk_buffer(SIZE as u64, 3, GR_READ_WRITE).unwrap();
        let submit = Submit::begin(&[&buffer]).unwrap();
        assert_eq!(buffer.map(stream).err().unwrap().status, GR_ERR_STATE);
        drop(submit);
        buffer.map(stream).unwrap().release().unwrap();
        let mut submit = Submit::begin(&[&buffer]).unwrap();
        let all = VulkanUse::default();
        unsafe { submit.vk_submit(&[], Some(&all), None).unwrap() };
        drop(submit);
        // Vulkan has kept the buffer.
        assert_eq!(buffer.map(stream).err().unwrap().status, GR_ERR_STATE);
    });
}
