// SPDX-License-Identifier: Apache-2.0 OR MIT
// Rust with foreign functions: CUDA fills an OpenGL buffer, OpenGL reads it back.
#![allow(non_upper_case_globals)]

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::ptr::null;

#[repr(C)]
struct GrError {
    status: c_int,
    domain: c_int,
    code: c_int,
    code_name: *const c_char,
    call: *const c_char,
    message: *const c_char,
}

#[repr(C)]
struct CudaContext {
    context: Handle,
    stream: Handle,
}

type Handle = *mut c_void;
type GenBuffers = extern "C" fn(c_int, *mut c_uint);
type BindBuffer = extern "C" fn(c_uint, c_uint);
type BufferData = extern "C" fn(c_uint, isize, *const c_void, c_uint);
type GetBufferSubData = extern "C" fn(c_uint, isize, isize, *mut u8);
type Memset = extern "C" fn(u64, u8, usize, Handle) -> c_int;

#[link(name = "grinterop")]
extern "C" {
    fn gr_last_error() -> *const GrError;
    fn gr_cuda_load(allow_software: bool) -> c_int;
    fn gr_cuda_context_create(device: c_int) -> *mut CudaContext;
    fn gr_cuda_context_free(context: *mut CudaContext);
    fn gr_cuda_driver_path() -> *const c_char;
    fn gr_egl_create(options: *const c_void) -> Handle;
    fn gr_egl_free(egl: Handle);
    fn gr_from_gl_buffer(name: c_uint, flags: c_uint) -> Handle;
    fn gr_resource_free(resource: Handle);
    fn gr_map(resource: Handle, stream: Handle) -> Handle;
    fn gr_buffer_ptr(buffer: Handle) -> u64;
    fn gr_buffer_release(buffer: Handle) -> c_int;
}

extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> Handle;
    fn dlsym(handle: Handle, name: *const c_char) -> Handle;
}

// Function pointers, as libepoxy exports them.
#[link(name = "epoxy")]
extern "C" {
    static epoxy_glGenBuffers: GenBuffers;
    static epoxy_glBindBuffer: BindBuffer;
    static epoxy_glBufferData: BufferData;
    static epoxy_glGetBufferSubData: GetBufferSubData;
}

const SIZE: usize = 1000;
const WRITE_DISCARD: c_uint = 2;
const ARRAY_BUFFER: c_uint = 0x8892;
const DYNAMIC_DRAW: c_uint = 0x88E8;

unsafe fn check(made: Handle, what: &str) -> Handle {
    if made.is_null() {
        let message = CStr::from_ptr((*gr_last_error()).message);
        panic!("{}: {}", what, message.to_string_lossy());
    }
    made
}

unsafe fn memset() -> Memset {
    let driver = check(dlopen(gr_cuda_driver_path(), 1), "the CUDA driver"); // RTLD_LAZY
    let symbol = dlsym(driver, b"cuMemsetD8Async\0".as_ptr() as *const c_char);
    std::mem::transmute(check(symbol, "cuMemsetD8Async"))
}

unsafe fn fill_and_read(stream: Handle) -> [u8; SIZE] {
    let mut name = 0;
    epoxy_glGenBuffers(1, &mut name);
    epoxy_glBindBuffer(ARRAY_BUFFER, name);
    epoxy_glBufferData(ARRAY_BUFFER, SIZE as isize, null(), DYNAMIC_DRAW);
    let resource = check(gr_from_gl_buffer(name, WRITE_DISCARD), "the buffer");
    let mapped = check(gr_map(resource, stream), "the map");
    assert_eq!(memset()(gr_buffer_ptr(mapped), 42, SIZE, stream), 0);
    assert_eq!(gr_buffer_release(mapped), 0);
    let mut read = [0; SIZE];
    epoxy_glGetBufferSubData(ARRAY_BUFFER, 0, SIZE as isize, read.as_mut_ptr());
    gr_resource_free(resource);
    read
}

fn main() {
    unsafe {
        assert_eq!(gr_cuda_load(true), 0);
        let context = gr_cuda_context_create(0);
        check(context as Handle, "the CUDA context");
        let egl = check(gr_egl_create(null()), "the OpenGL context");
        assert!(fill_and_read((*context).stream).iter().all(|&byte| byte == 42));
        gr_egl_free(egl);
        gr_cuda_context_free(context);
    }
}
