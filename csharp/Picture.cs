// SPDX-License-Identifier: Apache-2.0 OR MIT
// Writes floats to an OpenGL texture, and reads its bytes.
using System;
using System.Runtime.InteropServices;
using Grinterop;
using static Grinterop.Gr;

static unsafe class Picture
{
    const uint Texture2D = 0x0DE1, Rgba8 = 0x8058;

    static void Check(bool works)
    {
        if (!works)
            throw new Exception(Marshal.PtrToStringAnsi((IntPtr)gr_last_error()->message));
    }

    static IntPtr Wrap(Array values, IntPtr stream, gr_dtype type, params long[] shape)
    {
        var data = GCHandle.Alloc(values, GCHandleType.Pinned).AddrOfPinnedObject(); // for good
        fixed (long* sizes = shape)
        {
            var desc = new gr_tensor_desc {
                struct_size = (ulong)sizeof(gr_tensor_desc), dtype = type, shape = sizes,
                ndim = (uint)shape.Length, memory = gr_memory.GR_MEMORY_HOST,
            };
            var tensor = gr_tensor_from_memory(&desc, data, stream, null, IntPtr.Zero);
            Check(tensor != IntPtr.Zero);
            return tensor;
        }
    }

    static void Main()
    {
        Check(gr_cuda_load(true) == gr_status.GR_OK);
        gr_egl* egl = gr_egl_create(null); // or the context of the window
        Check(egl != null);
        var cuda = gr_cuda_context_create(0);
        Check(cuda != IntPtr.Zero);
        var stream = gr_cuda_context_get_info(cuda)->stream;

        var desc = new gr_gl_image_desc {
            struct_size = (ulong)sizeof(gr_gl_image_desc), target = Texture2D,
            internal_format = Rgba8, width = 32, height = 16,
        };
        var texture = gr_create_gl_image(&desc, GR_SURFACE_LOAD_STORE, null);
        Check(texture != IntPtr.Zero);
        var floats = new float[16 * 32 * 4];
        for (int i = 0; i < floats.Length; i++)
            floats[i] = i % 256 / 255f;
        var bytes = new byte[floats.Length];
        var from = Wrap(floats, stream, gr_dtype.GR_DTYPE_F32, 16, 32, 4);
        var to = Wrap(bytes, stream, gr_dtype.GR_DTYPE_U8, 16, 32, 4);
        Check(gr_publish(texture, from, null, stream) == gr_status.GR_OK);
        Check(gr_fetch(texture, to, null, stream) == gr_status.GR_OK);
        Check(gr_resource_close(texture, stream) == gr_status.GR_OK);
        gr_tensor_free(from);
        gr_tensor_free(to);
        gr_cuda_context_free(cuda); // waits for the work in its stream

        for (int i = 0; i < bytes.Length; i++)
            if (bytes[i] != i % 256)
                throw new Exception("byte " + i + " is " + bytes[i]);
        Console.WriteLine(Marshal.PtrToStringAnsi((IntPtr)egl->description));
        gr_egl_free(egl);
    }
}
