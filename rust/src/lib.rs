// SPDX-License-Identifier: Apache-2.0 OR MIT
//! grinterop: CUDA on memory that OpenGL or Vulkan draws with.
//!
//! The names follow from those of C by the rule in CONTRIBUTING.md: `gr_map()` is
//! [`Resource::map`]. The comments of the C headers are the reference. [`sys`] has all of C.
//!
//! Types without `Send` stay on the thread of their OpenGL or CUDA context.

#![deny(unsafe_op_in_unsafe_fn)]

use std::ffi::CStr;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};
use std::{fmt, mem, ptr};

#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#[rustfmt::skip]
pub mod sys;

/// A type that owns an object of C, and frees it at its end.
macro_rules! owned {
    ($(#[$about:meta])* $name:ident$(<$life:lifetime>)?, $raw:ident, $free:ident) => {
        $(#[$about])*
        pub struct $name$(<$life>)? {
            raw: std::ptr::NonNull<crate::sys::$raw>,
            $(lives: std::marker::PhantomData<&$life ()>,)?
        }
        impl$(<$life>)? $name$(<$life>)? {
            /// The object of C, which this object still owns.
            pub fn as_ptr(&self) -> *mut crate::sys::$raw {
                self.raw.as_ptr()
            }
            /// # Safety
            /// The caller owns `raw`, and passes the ownership. NULL is the last error.
            pub unsafe fn own(raw: *mut crate::sys::$raw) -> crate::Result<Self> {
                let raw = std::ptr::NonNull::new(raw).ok_or_else(crate::last_error)?;
                Ok(Self { raw, $(lives: std::marker::PhantomData::<&$life ()>)? })
            }
        }
        impl$(<$life>)? Drop for $name$(<$life>)? {
            fn drop(&mut self) {
                unsafe { crate::sys::$free(self.as_ptr()) };
            }
        }
    };
}

mod resource;
mod ring;
mod tensor;
mod vulkan;

pub use resource::{MapOptions, Mapping, Resource};
pub use ring::{Ring, Role, Slot};
pub use tensor::{fetch_framebuffer, Element, PublishOptions, Tensor};
pub use vulkan::*;

/// A struct of C with its size and the given fields.
macro_rules! sized {
    ($raw:ident { $($field:ident: $value:expr),* $(,)? }) => {{
        let mut made = crate::sys::$raw::default();
        made.struct_size = std::mem::size_of::<crate::sys::$raw>();
        $(made.$field = $value;)*
        made
    }};
}
pub(crate) use sized;

// ---- Errors -------------------------------------------------------------------------------------

/// The last error of the thread, copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The class, such as [`sys::GR_ERR_STATE`].
    pub status: sys::gr_status,
    /// The kind of `code`, such as [`sys::GR_DOMAIN_CUDA`].
    pub domain: sys::gr_error_domain,
    /// The code of the driver or the system; 0: neither was involved.
    pub code: i32,
    /// The name of `code`, or an empty string.
    pub code_name: String,
    /// The function that failed.
    pub call: String,
    /// The cause and the remedy.
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Error>;

/// The last error of this thread.
pub fn last_error() -> Error {
    let last = unsafe { &*sys::gr_last_error() };
    Error {
        status: last.status,
        domain: last.domain,
        code: last.code,
        code_name: text(last.code_name),
        call: text(last.call),
        message: text(last.message),
    }
}

impl Error {
    fn of(status: sys::gr_status, call: &str, message: String) -> Error {
        let (domain, code_name) = (sys::GR_DOMAIN_NONE, String::new());
        Error { status, domain, code: 0, code_name, call: call.to_string(), message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let colon = if self.code_name.is_empty() { "" } else { ": " };
        write!(f, "{} ({}{colon}{})", self.message, self.call, self.code_name)
    }
}

impl std::error::Error for Error {}

fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

fn check(status: sys::gr_status) -> Result<()> {
    if status == sys::GR_OK {
        Ok(())
    } else {
        Err(last_error())
    }
}

// ---- CUDA ---------------------------------------------------------------------------------------

/// Loads the CUDA driver; with `allow_software` the software driver if there is no other.
pub fn cuda_load(allow_software: bool) -> Result<()> {
    check(unsafe { sys::gr_cuda_load(allow_software) })
}

/// A stream of CUDA, which lives at least for `'s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream<'s> {
    raw: sys::CUstream,
    lives: PhantomData<&'s ()>,
}

impl<'s> Stream<'s> {
    /// For the release and the close: the stream of the map.
    pub const OF_MAP: Stream<'static> = Stream::constant(-1);
    /// The legacy default stream.
    pub const LEGACY: Stream<'static> = Stream::constant(1);
    /// The default stream of the calling thread.
    pub const PER_THREAD: Stream<'static> = Stream::constant(2);
    /// For the graphics side of a ring, and for tensors without a stream.
    pub const NONE: Stream<'static> = Stream::constant(-2);

    const fn constant(value: isize) -> Stream<'static> {
        Stream { raw: value as sys::CUstream, lives: PhantomData }
    }

    /// A stream of the CUDA driver; NULL is the legacy default stream.
    ///
    /// # Safety
    /// The stream must be valid for `'s`.
    pub unsafe fn from_raw(stream: *mut c_void) -> Stream<'s> {
        let raw = unsafe { sys::gr_stream_or_default(stream.cast()) };
        Stream { raw, lives: PhantomData }
    }

    /// The handle, for calls of the CUDA driver.
    pub fn as_raw(self) -> *mut c_void {
        self.raw.cast()
    }

    /// Waits until the work in the stream is done.
    pub fn synchronize(self) -> Result<()> {
        if self == Stream::OF_MAP || self == Stream::NONE {
            let message = "This constant is no stream.".to_string();
            return Err(Error::of(sys::GR_ERR_INVALID_VALUE, "cuStreamSynchronize", message));
        }
        type Synchronize = unsafe extern "C" fn(sys::CUstream) -> c_int;
        const NAME: &str = "cuStreamSynchronize\0";
        unsafe extern "C" fn fill(found: *mut c_void, find: sys::gr_cuda_find_fn) {
            let find = find.expect("grinterop passes a function");
            unsafe { *found.cast::<*mut c_void>() = find(NAME.as_ptr().cast(), 2000, 0) };
        }
        let (mut found, mut made) = (ptr::null_mut::<c_void>(), ptr::null_mut());
        let at: *mut *mut c_void = &mut found;
        unsafe { sys::gr_cuda_table(&mut made, Some(fill), at.cast()) };
        if found.is_null() {
            return Err(last_error());
        }
        let code = unsafe { mem::transmute::<*mut c_void, Synchronize>(found)(self.raw) };
        if code == 0 {
            return Ok(());
        }
        let message = "The CUDA driver refused, or work in the stream failed.".to_string();
        let error = Error::of(sys::GR_ERR_CUDA, "cuStreamSynchronize", message);
        Err(Error { domain: sys::GR_DOMAIN_CUDA, code, ..error })
    }
}

owned! {
    /// The primary context of a CUDA device, current on this thread, with a stream.
    CudaContext, gr_cuda_context, gr_cuda_context_free
}

impl CudaContext {
    pub fn create(device: i32) -> Result<CudaContext> {
        unsafe { CudaContext::own(sys::gr_cuda_context_create(device)) }
    }

    pub fn stream(&self) -> Stream<'_> {
        let info = unsafe { &*sys::gr_cuda_context_get_info(self.as_ptr()) };
        Stream { raw: info.stream, lives: PhantomData }
    }
}

// ---- OpenGL without a window --------------------------------------------------------------------

owned! {
    /// An OpenGL context without a window, current on the thread that creates it.
    EglContext, gr_egl, gr_egl_free
}

impl EglContext {
    /// The newest OpenGL on a CUDA device, or OpenGL ES with `es`.
    pub fn create(cuda_device: i32, es: bool) -> Result<EglContext> {
        let options = sized!(gr_egl_options { cuda_device: cuda_device, es: es });
        unsafe { EglContext::own(sys::gr_egl_create(&options)) }
    }

    /// One line: the version of OpenGL, the renderer, and the EGL platform or device.
    pub fn description(&self) -> String {
        text(unsafe { self.raw.as_ref() }.description)
    }
}
