// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Frames in flight between CUDA and a graphics API.
use std::marker::PhantomData;
use std::ptr;

use crate::{
    check, last_error, sized, sys, PublishOptions, Resource, Result, Stream, Tensor, VulkanUse,
};

owned! {
    /// A ring of slots between a producer and a consumer. [`Ring::split`] is for two threads.
    Ring, gr_ring, gr_ring_free
}
unsafe impl Send for Ring {}

impl Ring {
    /// A ring whose slots are the resources, which only slots reach from then on. CUDA or the
    /// graphics API writes: [`sys::GR_SIDE_CUDA`]. The mode is [`sys::GR_RING_LOSSLESS`] or NEWEST.
    pub fn create(
        resources: Vec<Resource>,
        producer: sys::gr_side,
        mode: sys::gr_ring_mode,
    ) -> Result<Self> {
        let raw: Vec<_> = resources.iter().map(Resource::as_ptr).collect();
        let options = sized!(gr_ring_options { producer: producer, mode: mode });
        unsafe { Ring::own(sys::gr_ring_create(raw.as_ptr(), raw.len(), &options)) }
    }

    /// The two sides, each for one thread.
    pub fn split(&mut self) -> (Role<'_>, Role<'_>) {
        let role = |writes| Role { ring: self.as_ptr(), writes, lives: PhantomData };
        (role(true), role(false))
    }

    /// Acquires a slot to write to, within `timeout_ms`. The graphics side passes [`Stream::NONE`].
    pub fn acquire_write<'a>(&'a self, stream: Stream<'a>, timeout_ms: u32) -> Result<Slot<'a>> {
        unsafe { Slot::acquire(self.as_ptr(), true, stream, timeout_ms) }
    }

    /// Acquires the next frame to read.
    pub fn acquire_read<'a>(&'a self, stream: Stream<'a>, timeout_ms: u32) -> Result<Slot<'a>> {
        unsafe { Slot::acquire(self.as_ptr(), false, stream, timeout_ms) }
    }

    /// Ends all waits and all writing.
    pub fn stop(&self) {
        unsafe { sys::gr_ring_stop(self.as_ptr()) };
    }

    /// The counts of frames and slots.
    pub fn info(&self) -> Result<sys::gr_ring_info> {
        unsafe { sys::gr_ring_get_info(self.as_ptr()).as_ref() }.copied().ok_or_else(last_error)
    }
}

/// One side of a ring, which one thread at a time may use.
pub struct Role<'r> {
    ring: *mut sys::gr_ring,
    writes: bool,
    lives: PhantomData<&'r Ring>,
}
unsafe impl Send for Role<'_> {}

impl Role<'_> {
    /// As [`Ring::acquire_write`] or [`Ring::acquire_read`].
    pub fn acquire<'a>(&'a mut self, stream: Stream<'a>, timeout_ms: u32) -> Result<Slot<'a>> {
        unsafe { Slot::acquire(self.ring, self.writes, stream, timeout_ms) }
    }

    pub fn stop(&self) {
        unsafe { sys::gr_ring_stop(self.ring) };
    }
}

type End = unsafe extern "C" fn(*mut sys::gr_ring, *const *const sys::gr_slot, usize) -> u32;

/// An acquired slot. If it is not handed on, its end gives it up.
pub struct Slot<'a> {
    raw: *const sys::gr_slot,
    ring: *mut sys::gr_ring,
    writes: bool,
    lives: PhantomData<&'a ()>,
}

impl<'a> Slot<'a> {
    /// # Safety
    /// The ring lives for `'a`.
    unsafe fn acquire(
        ring: *mut sys::gr_ring,
        writes: bool,
        stream: Stream<'a>,
        timeout_ms: u32,
    ) -> Result<Slot<'a>> {
        let acquire = if writes { sys::gr_ring_acquire_write } else { sys::gr_ring_acquire_read };
        let mut raw = ptr::null();
        check(unsafe { acquire(ring, stream.raw, &mut raw, 1, timeout_ms) })?;
        Ok(Slot { raw, ring, writes, lives: PhantomData })
    }

    fn slot(&self) -> &sys::gr_slot {
        unsafe { &*self.raw }
    }

    /// The number of the frame, from 1.
    pub fn frame(&self) -> u64 {
        self.slot().frame
    }

    /// The index of the resource in the array that the ring was created with.
    pub fn index(&self) -> usize {
        self.slot().index as usize
    }

    /// On the CUDA side: the address of a buffer.
    pub fn ptr(&self) -> u64 {
        unsafe { sys::gr_buffer_ptr(self.slot().buffer) }
    }

    /// On the OpenGL side: the buffer or image.
    pub fn gl_name(&self) -> u32 {
        unsafe { sys::gr_gl_name(self.slot().resource) }
    }

    /// On the CUDA side: writes a tensor to the slot.
    pub fn publish(&self, tensor: &Tensor, how: &PublishOptions) -> Result<()> {
        how.call(|options| unsafe {
            let buffer = self.slot().buffer;
            sys::gr_buffer_publish(buffer, tensor.as_ptr(), options, Stream::OF_MAP.raw)
        })
    }

    /// On the CUDA side: reads the slot into a tensor.
    pub fn fetch(&self, tensor: &mut Tensor, how: &PublishOptions) -> Result<()> {
        how.call(|options| unsafe {
            let buffer = self.slot().buffer;
            sys::gr_buffer_fetch(buffer, tensor.as_ptr(), options, Stream::OF_MAP.raw)
        })
    }

    /// On the Vulkan side: submits the commands that use the slot.
    ///
    /// # Safety
    /// As for [`crate::Submit::vk_submit`].
    pub unsafe fn vk_submit(
        &mut self,
        commands: &[sys::VkCommandBuffer],
        first: &VulkanUse,
        last: &VulkanUse,
    ) -> Result<()> {
        unsafe { crate::vulkan::submit(self.slot().submit, commands, Some(first), Some(last)) }
    }

    /// Hands the written frame to the consumer.
    pub fn hand_over(self) -> Result<()> {
        self.end(sys::gr_ring_hand_over)
    }

    /// Gives the read frame back to the producer.
    pub fn give_back(self) -> Result<()> {
        self.end(sys::gr_ring_give_back)
    }

    fn end(self, call: End) -> Result<()> {
        let ended = check(unsafe { call(self.ring, &self.raw, 1) });
        if ended.is_ok() {
            std::mem::forget(self);
        }
        ended
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let cancel = if self.writes { sys::gr_ring_cancel_write } else { sys::gr_ring_cancel_read };
        unsafe { cancel(self.ring, &self.raw, 1) };
    }
}
