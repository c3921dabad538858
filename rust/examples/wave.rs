// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws a wave without a window: CUDA has its points in an OpenGL vertex buffer, OpenGL draws
//! them, and CUDA reads the picture. `cargo run --example wave [FILE.ppm]`
use grinterop::{
    cuda_load, fetch_framebuffer, sys, CudaContext, EglContext, PublishOptions, Resource,
};
use std::ffi::CString;
use std::os::raw::{c_char, c_void};
use std::{env, fs, mem, ptr};

const WIDTH: usize = 320;
const HEIGHT: usize = 120;
const POINTS: usize = 4 * WIDTH;

#[link(name = "EGL")]
extern "C" {
    fn eglGetProcAddress(name: *const c_char) -> *const c_void;
}

/// gl!(name(arguments) -> result): calls a function of the current OpenGL context.
macro_rules! gl {
    ($name:ident($($value:expr => $type:ty),*) $(-> $result:ty)?) => {{
        let name = CString::new(stringify!($name)).unwrap();
        let found = unsafe { eglGetProcAddress(name.as_ptr()) };
        assert!(!found.is_null(), "OpenGL has no {}", stringify!($name));
        type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
        unsafe { mem::transmute::<*const c_void, Function>(found)($($value),*) }
    }};
}

fn shader(kind: u32, source: &str, program: u32) {
    let (text, length) = (source.as_ptr().cast::<c_char>(), source.len() as i32);
    let made = gl!(glCreateShader(kind => u32) -> u32);
    gl!(glShaderSource(made => u32, 1 => i32, &text => *const *const c_char,
        &length => *const i32));
    gl!(glCompileShader(made => u32));
    gl!(glAttachShader(program => u32, made => u32));
}

/// Draws points of two floats from `buffer` in a new framebuffer, whose name it returns.
fn draw(buffer: u32) -> u32 {
    let (mut framebuffer, mut colours, mut array) = (0u32, 0u32, 0u32);
    gl!(glGenFramebuffers(1 => i32, &mut framebuffer => *mut u32));
    gl!(glGenRenderbuffers(1 => i32, &mut colours => *mut u32));
    gl!(glBindRenderbuffer(0x8d41 => u32, colours => u32));
    gl!(glRenderbufferStorage(0x8d41 => u32, 0x8058 => u32, WIDTH as i32 => i32,
        HEIGHT as i32 => i32)); // GL_RGBA8
    gl!(glBindFramebuffer(0x8d40 => u32, framebuffer => u32));
    gl!(glFramebufferRenderbuffer(0x8d40 => u32, 0x8ce0 => u32, 0x8d41 => u32, colours => u32));
    gl!(glViewport(0 => i32, 0 => i32, WIDTH as i32 => i32, HEIGHT as i32 => i32));

    let program = gl!(glCreateProgram() -> u32);
    shader(
        0x8b31,
        "#version 330\nlayout(location = 0) in vec2 at;\n\
        void main() { gl_Position = vec4(at, 0, 1); }\n",
        program,
    );
    shader(0x8b30, "#version 330\nout vec4 c;\nvoid main() { c = vec4(1, 0.5, 0, 1); }\n", program);
    gl!(glLinkProgram(program => u32));
    gl!(glUseProgram(program => u32));

    gl!(glGenVertexArrays(1 => i32, &mut array => *mut u32));
    gl!(glBindVertexArray(array => u32));
    gl!(glBindBuffer(0x8892 => u32, buffer => u32)); // GL_ARRAY_BUFFER
    gl!(glEnableVertexAttribArray(0 => u32));
    gl!(glVertexAttribPointer(0 => u32, 2 => i32, 0x1406 => u32, 0 => u8, 0 => i32,
        ptr::null() => *const c_void)); // GL_FLOAT
    gl!(glClear(0x4000 => u32)); // GL_COLOR_BUFFER_BIT
    gl!(glDrawArrays(0 => u32, 0 => i32, POINTS as i32 => i32)); // GL_POINTS
    framebuffer
}

fn main() -> grinterop::Result<()> {
    cuda_load(true)?;
    let egl = EglContext::create(0, false)?;
    println!("{}", egl.description());
    let cuda = CudaContext::create(0)?;
    let stream = cuda.stream();

    let wave: Vec<f32> = (0..POINTS)
        .map(|i| 2.0 * (i as f32 + 0.5) / POINTS as f32 - 1.0)
        .flat_map(|x| [x, 0.9 * (6.0 * x).sin()])
        .collect();
    let points = grinterop::Tensor::from_slice(&[POINTS as i64, 2], &wave, stream)?;
    let buffer = Resource::create_gl_buffer(8 * POINTS, sys::GR_WRITE_DISCARD)?;
    buffer.publish(&points, &PublishOptions::default(), stream)?;

    let framebuffer = draw(buffer.gl_name()?);
    let shape = [HEIGHT as i64, WIDTH as i64, 3];
    let mut picture = grinterop::Tensor::create::<u8>(&shape, sys::GR_MEMORY_DEVICE, stream)?;
    fetch_framebuffer(framebuffer, &mut picture, stream)?;
    let pixels = picture.to_vec::<u8>(stream)?;

    // Each column has the point of the wave, and no point far from it.
    for x in 0..WIDTH {
        let at = 2.0 * (x as f32 + 0.5) / WIDTH as f32 - 1.0;
        let middle = (0.5 + 0.45 * (6.0 * at).sin()) * HEIGHT as f32;
        let lit = |y: &usize| pixels[3 * (y * WIDTH + x)] == 255;
        let rows: Vec<usize> = (0..HEIGHT).filter(lit).collect();
        let near = |y: &usize| (*y as f32 + 0.5 - middle).abs() < 5.0;
        assert!(!rows.is_empty() && rows.iter().all(near), "column {x}: {rows:?} at {middle}");
    }
    if let Some(file) = env::args().nth(1) {
        let mut bytes = format!("P6 {WIDTH} {HEIGHT} 255\n").into_bytes();
        pixels.chunks(3 * WIDTH).rev().for_each(|row| bytes.extend(row));
        fs::write(file, bytes).expect("the picture could not be written");
    }
    buffer.close()
}
