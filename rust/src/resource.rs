// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Resources and their mappings.
use std::{mem, ptr};

use crate::{check, last_error, sized, sys, text, PublishOptions, Result, Stream, Tensor};

owned! {
    /// An object of OpenGL, Vulkan or another API that is registered with CUDA.
    ///
    /// One thread at a time may use it, so it is `Send`, but not `Sync`.
    Resource, gr_resource, gr_resource_free
}
unsafe impl Send for Resource {}

/// Options of a map.
#[derive(Debug, Clone, Copy, Default)]
pub struct MapOptions {
    /// Such as [`sys::GR_MAP_WRITE_DISCARD`]; 0: as registered.
    pub access: sys::gr_map_access,
    /// The part of a buffer to map; a size of 0 means up to the end.
    pub offset: usize,
    pub size: usize,
}

impl Resource {
    /// Registers an OpenGL buffer. `flags` are those of C, such as [`sys::GR_WRITE_DISCARD`].
    pub fn from_gl_buffer(name: u32, flags: u32) -> Result<Self> {
        unsafe { Resource::own(sys::gr_from_gl_buffer(name, flags)) }
    }

    /// Registers an OpenGL texture or renderbuffer.
    pub fn from_gl_image(name: u32, target: u32, flags: u32) -> Result<Self> {
        unsafe { Resource::own(sys::gr_from_gl_image(name, target, flags)) }
    }

    /// Creates an OpenGL buffer of `size` bytes: [`Resource::gl_name`].
    pub fn create_gl_buffer(size: usize, flags: u32) -> Result<Self> {
        unsafe { Resource::own(sys::gr_create_gl_buffer(size, flags, ptr::null())) }
    }

    /// The OpenGL buffer, texture or renderbuffer.
    pub fn gl_name(&self) -> Result<u32> {
        match unsafe { sys::gr_gl_name(self.as_ptr()) } {
            0 => Err(last_error()),
            name => Ok(name),
        }
    }

    /// Hands the resource to CUDA until the mapping ends.
    pub fn map<'a>(&'a self, stream: Stream<'a>) -> Result<Mapping<'a>> {
        self.map_with(stream, MapOptions::default())
    }

    pub fn map_with<'a>(&'a self, stream: Stream<'a>, options: MapOptions) -> Result<Mapping<'a>> {
        let options = sized!(gr_map_options {
            access: options.access,
            offset: options.offset,
            size: options.size,
        });
        unsafe { Mapping::own(sys::gr_map_with(self.as_ptr(), stream.raw, &options)) }
    }

    /// Maps the resource, writes the tensor to it, and releases it.
    pub fn publish(&self, tensor: &Tensor, how: &PublishOptions, stream: Stream) -> Result<()> {
        how.call(|options| unsafe {
            sys::gr_publish(self.as_ptr(), tensor.as_ptr(), options, stream.raw)
        })
    }

    /// Maps the resource, reads it into the tensor, and releases it.
    pub fn fetch(&self, tensor: &mut Tensor, how: &PublishOptions, stream: Stream) -> Result<()> {
        how.call(|options| unsafe {
            sys::gr_fetch(self.as_ptr(), tensor.as_ptr(), options, stream.raw)
        })
    }

    /// Waits until CUDA has done its work with the resource.
    /// # Safety
    /// The stream of the last map or call still exists.
    pub unsafe fn wait(&self, timeout_ms: u32) -> Result<()> {
        check(unsafe { sys::gr_resource_wait(self.as_ptr(), timeout_ms) })
    }

    /// Unregisters the object, before OpenGL or Vulkan deletes it. Errors say what was lost.
    pub fn close(self) -> Result<()> {
        check(unsafe { sys::gr_resource_close(self.as_ptr(), Stream::OF_MAP.raw) })
    }

    /// One line about the resource.
    pub fn describe(&self) -> String {
        let print = |to, size| unsafe { sys::gr_resource_describe(self.as_ptr(), to, size) };
        let mut bytes = vec![0u8; print(ptr::null_mut(), 0).max(0) as usize + 1];
        print(bytes.as_mut_ptr().cast(), bytes.len());
        text(bytes.as_ptr().cast())
    }
}

owned! {
    /// A mapped resource, which its end hands back to the graphics API in stream order. A failure
    /// of that end is the last error; [`Mapping::release`] returns it.
    Mapping<'a>, gr_buffer, gr_buffer_release_later
}

impl<'a> Mapping<'a> {
    /// The address in CUDA, for work in the stream of the map; 0 for an image.
    pub fn ptr(&self) -> u64 {
        unsafe { sys::gr_buffer_ptr(self.as_ptr()) }
    }

    /// The size in bytes; 0 for an image.
    pub fn size(&self) -> usize {
        unsafe { sys::gr_buffer_size(self.as_ptr()) }
    }

    /// Ends the mapping in the stream of the map.
    pub fn release(self) -> Result<()> {
        let raw = self.as_ptr();
        let status = unsafe { sys::gr_buffer_release(raw) };
        // After other errors the buffer is still mapped, and the end of this object tries again.
        if matches!(status, sys::GR_OK | sys::GR_ERR_PARTIAL) {
            mem::forget(self);
        }
        check(status)
    }
}
