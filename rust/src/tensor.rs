// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tensors, and copies between them and resources.
use std::os::raw::c_uint;
use std::ptr;

use crate::{check, last_error, sized, sys, Error, Result, Stream};

owned! {
    /// Memory with a shape and an element type, in the order of a stream.
    Tensor<'s>, gr_tensor, gr_tensor_free
}
unsafe impl Send for Tensor<'_> {}

/// A type of elements.
///
/// # Safety
/// Any bytes are a valid value, and `DTYPE` has the size of the type.
pub unsafe trait Element: Copy + Default + 'static {
    const DTYPE: sys::gr_dtype;
}
macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => {
        $(unsafe impl Element for $type {
            const DTYPE: sys::gr_dtype = sys::$dtype;
        })*
    };
}
elements!(u8: GR_DTYPE_U8, u16: GR_DTYPE_U16, u32: GR_DTYPE_U32, i8: GR_DTYPE_I8);
elements!(i16: GR_DTYPE_I16, i32: GR_DTYPE_I32, f32: GR_DTYPE_F32, f64: GR_DTYPE_F64);

impl<'s> Tensor<'s> {
    /// New memory of the kind `memory`, such as [`sys::GR_MEMORY_DEVICE`].
    pub fn create<T: Element>(shape: &[i64], memory: u32, stream: Stream<'s>) -> Result<Self> {
        let desc = sized!(gr_tensor_desc {
            dtype: T::DTYPE,
            ndim: shape.len() as c_uint,
            shape: shape.as_ptr(),
            memory: memory,
        });
        unsafe { Tensor::own(sys::gr_tensor_create(&desc, stream.raw)) }
    }

    /// Device memory with the values of `from`. Waits for the stream.
    pub fn from_slice<T: Element>(shape: &[i64], from: &[T], stream: Stream<'s>) -> Result<Self> {
        let mut made = Tensor::create::<T>(shape, sys::GR_MEMORY_DEVICE, stream)?;
        made.copy_from_host(from, stream)?;
        Ok(made)
    }

    /// The properties of the tensor.
    pub fn info(&self) -> Result<&sys::gr_tensor_info> {
        unsafe { sys::gr_tensor_get_info(self.as_ptr()).as_ref() }.ok_or_else(last_error)
    }

    /// Writes all elements, the last dimension fastest. Waits for the stream.
    pub fn copy_from_host<T: Element>(&mut self, from: &[T], stream: Stream) -> Result<()> {
        self.has_type::<T>()?;
        let bytes = std::mem::size_of_val(from);
        check(unsafe {
            sys::gr_tensor_copy_from_host(self.as_ptr(), from.as_ptr().cast(), bytes, stream.raw)
        })?;
        stream.synchronize()
    }

    /// All elements, the last dimension fastest. Waits for the stream.
    pub fn to_vec<T: Element>(&self, stream: Stream) -> Result<Vec<T>> {
        self.has_type::<T>()?;
        let bytes = self.info()?.bytes;
        let mut to = vec![T::default(); bytes / std::mem::size_of::<T>()];
        check(unsafe {
            sys::gr_tensor_copy_to_host(self.as_ptr(), to.as_mut_ptr().cast(), bytes, stream.raw)
        })?;
        stream.synchronize()?;
        Ok(to)
    }

    fn has_type<T: Element>(&self) -> Result<()> {
        let dtype = self.info()?.dtype;
        if dtype == T::DTYPE {
            return Ok(());
        }
        let message = format!("The tensor has dtype {dtype}, and the slice {}.", T::DTYPE);
        Err(Error::of(sys::GR_ERR_INVALID_VALUE, "Tensor", message))
    }
}

/// How to publish or fetch. The default copies and converts the whole level 0 of layer 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct PublishOptions {
    /// Such as [`sys::GR_LAYOUT_CHW`]; 0: the layout of the tensor.
    pub layout: sys::gr_layout,
    pub bgr: bool,
    pub flip: bool,
    pub srgb: bool,
    /// Four numbers, one per channel, for value * scale + bias.
    pub scale: Option<[f32; 4]>,
    pub bias: Option<[f32; 4]>,
    /// The fourth channel if the source has none.
    pub alpha: Option<f32>,
    pub level: u32,
    pub layer: u32,
    /// For a buffer: the offset of the first element in bytes.
    pub offset: usize,
    /// For an image: x, y, width and height.
    pub rectangle: Option<[u32; 4]>,
}

impl PublishOptions {
    pub(crate) fn call(
        &self,
        call: impl FnOnce(*const sys::gr_publish_options) -> sys::gr_status,
    ) -> Result<()> {
        fn at<T>(of: &Option<T>) -> *const T {
            of.as_ref().map_or(ptr::null(), |value| value)
        }
        let [x, y, width, height] = self.rectangle.unwrap_or_default();
        let options = sized!(gr_publish_options {
            layout: self.layout,
            bgr: self.bgr,
            flip: self.flip,
            srgb: self.srgb,
            scale: at(&self.scale).cast(),
            bias: at(&self.bias).cast(),
            alpha: at(&self.alpha),
            level: self.level,
            layer: self.layer,
            offset: self.offset,
            x: x,
            y: y,
            width: width,
            height: height,
        });
        check(call(&options))
    }
}

/// Reads the colours of an OpenGL framebuffer into a tensor, in stream order. Row 0 is the lowest.
pub fn fetch_framebuffer(framebuffer: u32, tensor: &mut Tensor, stream: Stream) -> Result<()> {
    check(unsafe {
        sys::gr_fetch_framebuffer(framebuffer, tensor.as_ptr(), ptr::null(), stream.raw)
    })
}
