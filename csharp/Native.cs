// SPDX-License-Identifier: Apache-2.0 OR MIT
// Made by csharp/make-native.
using System;
using System.Runtime.InteropServices;

namespace Grinterop
{
    public enum gr_status
    {
        GR_OK = 0,
        GR_ERR_INVALID_VALUE = 1,
        GR_ERR_STATE = 2,
        GR_ERR_CUDA = 3,
        GR_ERR_GL = 4,
        GR_ERR_VULKAN = 5,
        GR_ERR_UNSUPPORTED = 6,
        GR_ERR_NO_DRIVER = 7,
        GR_ERR_NO_MEMORY = 8,
        GR_ERR_TIMEOUT = 9,
        GR_ERR_SYSTEM = 10,
        GR_ERR_NOT_READY = 11,
        GR_ERR_STOPPED = 12,
        GR_ERR_DEVICE_LOST = 13,
        GR_ERR_PARTIAL = 14,
    }

    public enum gr_error_domain
    {
        GR_DOMAIN_NONE = 0,
        GR_DOMAIN_CUDA = 1,
        GR_DOMAIN_OPENGL = 2,
        GR_DOMAIN_EGL = 3,
        GR_DOMAIN_VULKAN = 4,
        GR_DOMAIN_ERRNO = 5,
    }

    public enum gr_log_level
    {
        GR_LOG_NONE = 0,
        GR_LOG_ERROR = 1,
        GR_LOG_WARNING = 2,
        GR_LOG_INFO = 3,
        GR_LOG_DEBUG = 4,
    }

    public enum gr_map_access
    {
        GR_MAP_AS_REGISTERED = 0,
        GR_MAP_READ_ONLY = 1,
        GR_MAP_WRITE_DISCARD = 2,
        GR_MAP_READ_WRITE = 3,
    }

    public enum gr_kind
    {
        GR_KIND_BUFFER = 1,
        GR_KIND_IMAGE = 2,
    }

    public enum gr_graphics_api
    {
        GR_GRAPHICS_OPENGL = 1,
        GR_GRAPHICS_VULKAN = 2,
        GR_GRAPHICS_EXTERNAL = 3,
    }

    public enum gr_transport
    {
        GR_TRANSPORT_INTEROP = 1,
        GR_TRANSPORT_SHARED = 2,
        GR_TRANSPORT_COPY = 4,
        GR_TRANSPORT_EXTERNAL = 8,
        GR_TRANSPORT_PEER = 16,
        GR_TRANSPORT_ANY = 31,
    }

    public enum gr_side
    {
        GR_SIDE_CUDA = 0,
        GR_SIDE_GRAPHICS = 1,
    }

    public enum gr_ring_mode
    {
        GR_RING_LOSSLESS = 0,
        GR_RING_NEWEST = 1,
    }

    public enum gr_ring_role
    {
        GR_RING_PRODUCER = 1,
        GR_RING_CONSUMER = 2,
    }

    public enum gr_dtype
    {
        GR_DTYPE_U8 = 1,
        GR_DTYPE_U16 = 2,
        GR_DTYPE_U32 = 3,
        GR_DTYPE_U64 = 4,
        GR_DTYPE_I8 = 5,
        GR_DTYPE_I16 = 6,
        GR_DTYPE_I32 = 7,
        GR_DTYPE_I64 = 8,
        GR_DTYPE_F16 = 9,
        GR_DTYPE_BF16 = 10,
        GR_DTYPE_F32 = 11,
        GR_DTYPE_F64 = 12,
        GR_DTYPE_BOOL = 13,
        GR_DTYPE_C64 = 14,
        GR_DTYPE_C128 = 15,
    }

    public enum gr_layout
    {
        GR_LAYOUT_SHAPE = 0,
        GR_LAYOUT_HWC = 1,
        GR_LAYOUT_CHW = 2,
        GR_LAYOUT_NV12 = 3,
        GR_LAYOUT_P016 = 4,
        GR_LAYOUT_NV16 = 5,
        GR_LAYOUT_YUV444 = 6,
        GR_LAYOUT_YUV420 = 7,
        GR_LAYOUT_YUV422 = 8,
        GR_LAYOUT_YUYV = 9,
        GR_LAYOUT_UYVY = 10,
    }

    public enum gr_memory
    {
        GR_MEMORY_DEVICE = 0,
        GR_MEMORY_HOST = 1,
        GR_MEMORY_PINNED = 2,
        GR_MEMORY_MANAGED = 3,
        GR_MEMORY_ARRAY = 4,
    }

    public enum gr_dlpack
    {
        GR_DLPACK_VERSIONED = 0,
        GR_DLPACK_LEGACY = 1,
    }

    public enum gr_yuv_matrix
    {
        GR_YUV_BT709 = 0,
        GR_YUV_BT601 = 1,
        GR_YUV_BT2020 = 2,
    }

    public enum gr_chroma_position
    {
        GR_CHROMA_CENTER = 0,
        GR_CHROMA_LEFT = 1,
        GR_CHROMA_TOP_LEFT = 2,
    }

    public enum gr_address
    {
        GR_ADDRESS_CLAMP = 0,
        GR_ADDRESS_BORDER = 1,
        GR_ADDRESS_WRAP = 2,
        GR_ADDRESS_MIRROR = 3,
    }

    public enum gr_filter
    {
        GR_FILTER_POINT = 0,
        GR_FILTER_LINEAR = 1,
    }

    public enum gr_choice
    {
        GR_CHOICE_DEFAULT = 0,
        GR_CHOICE_YES = 1,
        GR_CHOICE_NO = 2,
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void gr_log_fn(IntPtr a0, gr_log_level a1, byte* a2);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate IntPtr gr_cuda_find_fn(byte* a0, int a1, ulong a2);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void gr_cuda_fill_fn(IntPtr a0, IntPtr a1);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    public unsafe delegate void gr_tensor_end_fn(IntPtr a0);

    [StructLayout(LayoutKind.Explicit, Size = 40)]
    public unsafe struct gr_error
    {
        [FieldOffset(0)] public gr_status status;
        [FieldOffset(4)] public gr_error_domain domain;
        [FieldOffset(8)] public int code;
        [FieldOffset(16)] public byte* code_name;
        [FieldOffset(24)] public byte* call;
        [FieldOffset(32)] public byte* message;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_map_part
    {
        [FieldOffset(0)] public ulong offset;
        [FieldOffset(8)] public ulong size;
    }

    [StructLayout(LayoutKind.Explicit, Size = 56)]
    public unsafe struct gr_map_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr wait_event;
        [FieldOffset(16)] public IntPtr ready_event;
        [FieldOffset(24)] public gr_map_access access;
        [FieldOffset(32)] public ulong offset;
        [FieldOffset(40)] public ulong size;
        [FieldOffset(48)] public gr_map_part* parts;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_buffer_info
    {
        [FieldOffset(0)] public IntPtr stream;
        [FieldOffset(8)] public ulong pitch;
        [FieldOffset(16)] public uint tensors;
        [FieldOffset(24)] public IntPtr context;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_release_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr wait_event;
    }

    [StructLayout(LayoutKind.Explicit, Size = 48)]
    public unsafe struct gr_resource_info
    {
        [FieldOffset(0)] public gr_kind kind;
        [FieldOffset(4)] public gr_graphics_api api;
        [FieldOffset(8)] public gr_transport transport;
        [FieldOffset(12)] public uint flags;
        [FieldOffset(16)] public ulong size;
        [FieldOffset(24)] public byte mapped;
        [FieldOffset(25)] public byte closed;
        [FieldOffset(32)] public IntPtr graphics;
        [FieldOffset(40)] public IntPtr external_memory;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_cuda_context_info
    {
        [FieldOffset(0)] public IntPtr context;
        [FieldOffset(8)] public IntPtr stream;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_egl
    {
        [FieldOffset(0)] public IntPtr display;
        [FieldOffset(8)] public IntPtr config;
        [FieldOffset(16)] public IntPtr context;
        [FieldOffset(24)] public byte* description;
    }

    [StructLayout(LayoutKind.Explicit, Size = 40)]
    public unsafe struct gr_egl_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public int cuda_device;
        [FieldOffset(12)] public int major;
        [FieldOffset(16)] public int minor;
        [FieldOffset(20)] public byte compatibility;
        [FieldOffset(21)] public byte debug;
        [FieldOffset(24)] public gr_egl* share;
        [FieldOffset(32)] public byte es;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_external_image_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public ulong width;
        [FieldOffset(16)] public ulong height;
        [FieldOffset(24)] public ulong depth;
        [FieldOffset(32)] public uint levels;
        [FieldOffset(36)] public uint placed_levels;
        [FieldOffset(40)] public uint layers;
        [FieldOffset(44)] public byte cube;
        [FieldOffset(48)] public uint format;
        [FieldOffset(52)] public uint channels;
        [FieldOffset(56)] public byte color_attachment;
        [FieldOffset(57)] public byte depth_texture;
        [FieldOffset(58)] public byte srgb;
        [FieldOffset(59)] public byte normalized;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_external_part_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public ulong offset;
        [FieldOffset(16)] public ulong size;
        [FieldOffset(24)] public gr_external_image_desc* image;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_external_memory_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public uint type;
        [FieldOffset(12)] public int fd;
        [FieldOffset(16)] public IntPtr win32_handle;
        [FieldOffset(24)] public IntPtr win32_name;
        [FieldOffset(32)] public IntPtr nvscibuf;
        [FieldOffset(40)] public ulong size;
        [FieldOffset(48)] public byte dedicated;
        [FieldOffset(56)] public gr_external_part_desc* part;
    }

    [StructLayout(LayoutKind.Explicit, Size = 48)]
    public unsafe struct gr_semaphore_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public uint type;
        [FieldOffset(12)] public int fd;
        [FieldOffset(16)] public IntPtr win32_handle;
        [FieldOffset(24)] public IntPtr win32_name;
        [FieldOffset(32)] public IntPtr nvscisync;
        [FieldOffset(40)] public ulong value;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_semaphore_info
    {
        [FieldOffset(0)] public IntPtr external;
        [FieldOffset(8)] public byte timeline;
    }

    [StructLayout(LayoutKind.Explicit, Size = 56)]
    public unsafe struct gr_semaphore_point
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr semaphore;
        [FieldOffset(16)] public ulong value;
        [FieldOffset(24)] public ulong key;
        [FieldOffset(32)] public uint timeout_ms;
        [FieldOffset(40)] public IntPtr nvsci_fence;
        [FieldOffset(48)] public byte skip_nvscibuf;
    }

    [StructLayout(LayoutKind.Explicit, Size = 48)]
    public unsafe struct gr_submit
    {
        [FieldOffset(0)] public ulong wait_count;
        [FieldOffset(8)] public IntPtr* waits;
        [FieldOffset(16)] public ulong* wait_values;
        [FieldOffset(24)] public ulong signal_count;
        [FieldOffset(32)] public IntPtr* signals;
        [FieldOffset(40)] public ulong* signal_values;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_ring_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public gr_side producer;
        [FieldOffset(12)] public gr_ring_mode mode;
    }

    [StructLayout(LayoutKind.Explicit, Size = 40)]
    public unsafe struct gr_slot
    {
        [FieldOffset(0)] public IntPtr resource;
        [FieldOffset(8)] public IntPtr buffer;
        [FieldOffset(16)] public gr_submit* submit;
        [FieldOffset(24)] public ulong frame;
        [FieldOffset(32)] public uint index;
    }

    [StructLayout(LayoutKind.Explicit, Size = 56)]
    public unsafe struct gr_ring_info
    {
        [FieldOffset(0)] public ulong written;
        [FieldOffset(8)] public ulong read;
        [FieldOffset(16)] public ulong dropped;
        [FieldOffset(24)] public uint slots;
        [FieldOffset(28)] public uint free;
        [FieldOffset(32)] public uint writing;
        [FieldOffset(36)] public uint ready;
        [FieldOffset(40)] public uint reading;
        [FieldOffset(48)] public ulong newest_age_ns;
    }

    [StructLayout(LayoutKind.Explicit, Size = 24)]
    public unsafe struct gr_dtype_info
    {
        [FieldOffset(0)] public ulong size;
        [FieldOffset(8)] public byte* name;
        [FieldOffset(16)] public byte* typestr;
    }

    [StructLayout(LayoutKind.Explicit, Size = 72)]
    public unsafe struct gr_tensor_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public gr_dtype dtype;
        [FieldOffset(12)] public uint ndim;
        [FieldOffset(16)] public long* shape;
        [FieldOffset(24)] public long* strides;
        [FieldOffset(32)] public gr_layout layout;
        [FieldOffset(36)] public gr_memory memory;
        [FieldOffset(40)] public byte read_only;
        [FieldOffset(48)] public ulong offset;
        [FieldOffset(56)] public byte negative_strides;
        [FieldOffset(64)] public byte exportable;
    }

    [StructLayout(LayoutKind.Explicit, Size = 88)]
    public unsafe struct gr_tensor_info
    {
        [FieldOffset(0)] public ulong ptr;
        [FieldOffset(8)] public IntPtr data;
        [FieldOffset(16)] public gr_dtype dtype;
        [FieldOffset(20)] public uint ndim;
        [FieldOffset(24)] public long* shape;
        [FieldOffset(32)] public long* strides;
        [FieldOffset(40)] public gr_layout layout;
        [FieldOffset(44)] public gr_memory memory;
        [FieldOffset(48)] public int device;
        [FieldOffset(52)] public byte read_only;
        [FieldOffset(56)] public ulong bytes;
        [FieldOffset(64)] public byte compact;
        [FieldOffset(65)] public byte revoked;
        [FieldOffset(72)] public IntPtr array;
        [FieldOffset(80)] public IntPtr context;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_array_interface
    {
        [FieldOffset(0)] public ulong data;
        [FieldOffset(8)] public byte read_only;
        [FieldOffset(16)] public byte* typestr;
        [FieldOffset(24)] public uint ndim;
        [FieldOffset(32)] public long* shape;
        [FieldOffset(40)] public long* strides;
        [FieldOffset(48)] public IntPtr stream;
        [FieldOffset(56)] public uint version;
    }

    [StructLayout(LayoutKind.Explicit, Size = 200)]
    public unsafe struct gr_publish_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public gr_layout layout;
        [FieldOffset(16)] public IntPtr chroma;
        [FieldOffset(24)] public byte bgr;
        [FieldOffset(25)] public byte flip;
        [FieldOffset(32)] public float* scale;
        [FieldOffset(40)] public float* bias;
        [FieldOffset(48)] public float* alpha;
        [FieldOffset(56)] public byte srgb;
        [FieldOffset(60)] public gr_yuv_matrix matrix;
        [FieldOffset(64)] public byte full_range;
        [FieldOffset(68)] public uint level;
        [FieldOffset(72)] public uint layer;
        [FieldOffset(80)] public ulong offset;
        [FieldOffset(88)] public gr_tensor_desc* target;
        [FieldOffset(96)] public IntPtr wait_event;
        [FieldOffset(104)] public IntPtr chroma_v;
        [FieldOffset(112)] public uint bits;
        [FieldOffset(116)] public byte high_bits;
        [FieldOffset(120)] public gr_chroma_position chroma_position;
        [FieldOffset(124)] public uint x;
        [FieldOffset(128)] public uint y;
        [FieldOffset(132)] public uint width;
        [FieldOffset(136)] public uint height;
        [FieldOffset(144)] public double* scale_f64;
        [FieldOffset(152)] public double* bias_f64;
        [FieldOffset(160)] public double* alpha_f64;
        [FieldOffset(168)] public IntPtr ring;
        [FieldOffset(176)] public uint timeout_ms;
        [FieldOffset(180)] public uint columns;
        [FieldOffset(184)] public uint z;
        [FieldOffset(188)] public uint depth;
        [FieldOffset(192)] public uint layers;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_framebuffer_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public uint attachment;
        [FieldOffset(12)] public uint x;
        [FieldOffset(16)] public uint y;
        [FieldOffset(20)] public uint width;
        [FieldOffset(24)] public uint height;
        [FieldOffset(28)] public float z_near;
        [FieldOffset(32)] public float z_far;
        [FieldOffset(36)] public byte reverse_z;
        [FieldOffset(40)] public gr_publish_options* conversion;
        [FieldOffset(48)] public IntPtr staging;
        [FieldOffset(56)] public uint sample;
    }

    [StructLayout(LayoutKind.Explicit, Size = 24)]
    public unsafe struct gr_gl_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public uint transports;
        [FieldOffset(12)] public byte packed;
        [FieldOffset(13)] public byte share_group;
        [FieldOffset(14)] public byte follow_storage;
        [FieldOffset(16)] public uint in_flight;
    }

    [StructLayout(LayoutKind.Explicit, Size = 16)]
    public unsafe struct gr_transport_info
    {
        [FieldOffset(0)] public gr_transport transport;
        [FieldOffset(4)] public byte usable;
        [FieldOffset(8)] public byte* reason;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_gl_image_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public uint target;
        [FieldOffset(12)] public uint internal_format;
        [FieldOffset(16)] public uint width;
        [FieldOffset(20)] public uint height;
        [FieldOffset(24)] public uint depth;
        [FieldOffset(28)] public uint levels;
    }

    [StructLayout(LayoutKind.Explicit, Size = 48)]
    public unsafe struct gr_image_info
    {
        [FieldOffset(0)] public ulong width;
        [FieldOffset(8)] public ulong height;
        [FieldOffset(16)] public ulong depth;
        [FieldOffset(24)] public uint levels;
        [FieldOffset(28)] public uint layers;
        [FieldOffset(32)] public byte cube;
        [FieldOffset(33)] public byte layered;
        [FieldOffset(34)] public byte srgb;
        [FieldOffset(35)] public byte normalized;
        [FieldOffset(36)] public uint format;
        [FieldOffset(40)] public uint channels;
        [FieldOffset(44)] public uint texel_bytes;
    }

    [StructLayout(LayoutKind.Explicit, Size = 88)]
    public unsafe struct gr_texture_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public gr_address address0;
        [FieldOffset(12)] public gr_address address1;
        [FieldOffset(16)] public gr_address address2;
        [FieldOffset(20)] public gr_filter filter;
        [FieldOffset(24)] public gr_choice normalized_coordinates;
        [FieldOffset(28)] public gr_choice as_float;
        [FieldOffset(32)] public gr_choice srgb;
        [FieldOffset(36)] public float border0;
        [FieldOffset(40)] public float border1;
        [FieldOffset(44)] public float border2;
        [FieldOffset(48)] public float border3;
        [FieldOffset(52)] public byte whole;
        [FieldOffset(56)] public uint level;
        [FieldOffset(60)] public uint layer;
        [FieldOffset(64)] public gr_filter mip_filter;
        [FieldOffset(68)] public float mip_bias;
        [FieldOffset(72)] public float min_level;
        [FieldOffset(76)] public uint level_count;
        [FieldOffset(80)] public uint anisotropy;
    }

    [StructLayout(LayoutKind.Explicit, Size = 72)]
    public unsafe struct gr_linear_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public ulong device;
        [FieldOffset(16)] public IntPtr host;
        [FieldOffset(24)] public ulong pitch;
        [FieldOffset(32)] public ulong slice;
        [FieldOffset(40)] public uint z;
        [FieldOffset(44)] public uint depth;
        [FieldOffset(48)] public uint layers;
        [FieldOffset(52)] public uint x;
        [FieldOffset(56)] public uint y;
        [FieldOffset(60)] public uint width;
        [FieldOffset(64)] public uint height;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_vk_device_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr get_instance_proc_addr;
        [FieldOffset(16)] public IntPtr instance;
        [FieldOffset(24)] public IntPtr physical_device;
        [FieldOffset(32)] public IntPtr device;
        [FieldOffset(40)] public IntPtr queue;
        [FieldOffset(48)] public uint queue_family;
        [FieldOffset(52)] public byte synchronization2;
        [FieldOffset(56)] public uint transports;
    }

    [StructLayout(LayoutKind.Explicit, Size = 24)]
    public unsafe struct gr_vk_device_info
    {
        [FieldOffset(0)] public int cuda_device;
        [FieldOffset(4)] public byte has_semaphores;
        [FieldOffset(8)] public byte* description;
        [FieldOffset(16)] public gr_transport transport;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_vk_headless_options
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public int cuda_device;
        [FieldOffset(12)] public byte validation;
        [FieldOffset(16)] public IntPtr message;
        [FieldOffset(24)] public IntPtr user;
    }

    [StructLayout(LayoutKind.Explicit, Size = 72)]
    public unsafe struct gr_vk_headless_info
    {
        [FieldOffset(0)] public IntPtr get_instance_proc_addr;
        [FieldOffset(8)] public IntPtr instance;
        [FieldOffset(16)] public IntPtr physical_device;
        [FieldOffset(24)] public IntPtr device;
        [FieldOffset(32)] public IntPtr graphics;
        [FieldOffset(40)] public IntPtr compute;
        [FieldOffset(48)] public IntPtr transfer;
        [FieldOffset(56)] public uint graphics_family;
        [FieldOffset(60)] public uint compute_family;
        [FieldOffset(64)] public uint transfer_family;
        [FieldOffset(68)] public byte synchronization2;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_vk_buffer_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr buffer;
        [FieldOffset(16)] public IntPtr memory;
        [FieldOffset(24)] public ulong memory_size;
        [FieldOffset(32)] public ulong offset;
        [FieldOffset(40)] public ulong size;
        [FieldOffset(48)] public byte dedicated;
        [FieldOffset(52)] public uint sharing_mode;
        [FieldOffset(56)] public uint in_flight;
    }

    [StructLayout(LayoutKind.Explicit, Size = 64)]
    public unsafe struct gr_vk_image_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr create_info;
        [FieldOffset(16)] public IntPtr image;
        [FieldOffset(24)] public IntPtr memory;
        [FieldOffset(32)] public ulong memory_size;
        [FieldOffset(40)] public ulong offset;
        [FieldOffset(48)] public byte dedicated;
        [FieldOffset(56)] public uint in_flight;
    }

    [StructLayout(LayoutKind.Explicit, Size = 24)]
    public unsafe struct gr_vk_format_info
    {
        [FieldOffset(0)] public byte* name;
        [FieldOffset(8)] public uint format;
        [FieldOffset(12)] public uint channels;
        [FieldOffset(16)] public byte normalized;
        [FieldOffset(17)] public byte srgb;
        [FieldOffset(18)] public byte depth;
        [FieldOffset(19)] public byte swapped;
    }

    [StructLayout(LayoutKind.Explicit, Size = 40)]
    public unsafe struct gr_vk_use
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public ulong stages;
        [FieldOffset(16)] public ulong access;
        [FieldOffset(24)] public uint layout;
        [FieldOffset(32)] public uint* queue_family;
    }

    [StructLayout(LayoutKind.Explicit, Size = 32)]
    public unsafe struct gr_vk_resource_use
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr resource;
        [FieldOffset(16)] public gr_vk_use* first;
        [FieldOffset(24)] public gr_vk_use* last;
    }

    [StructLayout(LayoutKind.Explicit, Size = 80)]
    public unsafe struct gr_vk_submit_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr queue;
        [FieldOffset(16)] public IntPtr info;
        [FieldOffset(24)] public IntPtr fence;
        [FieldOffset(32)] public gr_vk_use* first;
        [FieldOffset(40)] public gr_vk_use* last;
        [FieldOffset(48)] public IntPtr info_v1;
        [FieldOffset(56)] public gr_vk_resource_use* uses;
        [FieldOffset(64)] public ulong use_count;
        [FieldOffset(72)] public byte own_barriers;
    }

    [StructLayout(LayoutKind.Explicit, Size = 40)]
    public unsafe struct gr_vk_semaphore_desc
    {
        [FieldOffset(0)] public ulong struct_size;
        [FieldOffset(8)] public IntPtr semaphore;
        [FieldOffset(16)] public uint type;
        [FieldOffset(24)] public ulong value;
        [FieldOffset(32)] public byte through_host;
    }

    public static unsafe class Gr
    {
        const string Library = "grinterop"; // libgrinterop.so, or the name of your copy
        public const int GR_FORMAT_UNSIGNED_INT8 = 1;
        public const int GR_FORMAT_UNSIGNED_INT16 = 2;
        public const int GR_FORMAT_UNSIGNED_INT32 = 3;
        public const int GR_FORMAT_SIGNED_INT8 = 8;
        public const int GR_FORMAT_SIGNED_INT16 = 9;
        public const int GR_FORMAT_SIGNED_INT32 = 10;
        public const int GR_FORMAT_HALF = 16;
        public const int GR_FORMAT_FLOAT = 32;
        public const int GR_FORMAT_UNORM_INT_101010_2 = 80;
        public const int GR_FORMAT_BC1_UNORM = 145;
        public const int GR_FORMAT_BC1_UNORM_SRGB = 146;
        public const int GR_FORMAT_BC2_UNORM = 147;
        public const int GR_FORMAT_BC2_UNORM_SRGB = 148;
        public const int GR_FORMAT_BC3_UNORM = 149;
        public const int GR_FORMAT_BC3_UNORM_SRGB = 150;
        public const int GR_FORMAT_BC4_UNORM = 151;
        public const int GR_FORMAT_BC4_SNORM = 152;
        public const int GR_FORMAT_BC5_UNORM = 153;
        public const int GR_FORMAT_BC5_SNORM = 154;
        public const int GR_FORMAT_BC6H_UF16 = 155;
        public const int GR_FORMAT_BC6H_SF16 = 156;
        public const int GR_FORMAT_BC7_UNORM = 157;
        public const int GR_FORMAT_BC7_UNORM_SRGB = 158;
        public const int GR_FORMAT_A2B10G10R10 = 65537;
        public const int GR_FORMAT_A2R10G10B10 = 65538;
        public const int GR_FORMAT_B10G11R11 = 65539;
        public const int GR_FORMAT_E5B9G9R9 = 65540;
        public const int GR_FORMAT_R5G6B5 = 65541;
        public const int GR_FORMAT_B5G6R5 = 65542;
        public const int GR_EXTERNAL_MEMORY_OPAQUE_FD = 1;
        public const int GR_EXTERNAL_MEMORY_OPAQUE_WIN32 = 2;
        public const int GR_EXTERNAL_MEMORY_OPAQUE_WIN32_KMT = 3;
        public const int GR_EXTERNAL_MEMORY_D3D12_HEAP = 4;
        public const int GR_EXTERNAL_MEMORY_D3D12_RESOURCE = 5;
        public const int GR_EXTERNAL_MEMORY_D3D11_RESOURCE = 6;
        public const int GR_EXTERNAL_MEMORY_D3D11_RESOURCE_KMT = 7;
        public const int GR_EXTERNAL_MEMORY_NVSCIBUF = 8;
        public const int GR_EXTERNAL_MEMORY_DMABUF_FD = 9;
        public const int GR_EXTERNAL_SEMAPHORE_OPAQUE_FD = 1;
        public const int GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32 = 2;
        public const int GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32_KMT = 3;
        public const int GR_EXTERNAL_SEMAPHORE_D3D12_FENCE = 4;
        public const int GR_EXTERNAL_SEMAPHORE_D3D11_FENCE = 5;
        public const int GR_EXTERNAL_SEMAPHORE_NVSCISYNC = 6;
        public const int GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX = 7;
        public const int GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX_KMT = 8;
        public const int GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_FD = 9;
        public const int GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_WIN32 = 10;
        public const int GR_READ_WRITE = 0;
        public const int GR_READ_ONLY = 1;
        public const int GR_WRITE_DISCARD = 2;
        public const int GR_SURFACE_LOAD_STORE = 4;
        public const int GR_TEXTURE_GATHER = 8;
        public const uint GR_ALL_LAYERS = 4294967295;
        public const int GR_SEMAPHORE_NONE = -1;
        public const int GR_SHARE_MOST_DATA = 65536;
        public const int GR_STREAM_DEFAULT = 1;
        public const int GR_STREAM_LEGACY = 1;
        public const int GR_STREAM_NONE = -2;
        public const int GR_STREAM_OF_MAP = -1;
        public const int GR_STREAM_PER_THREAD = 2;
        public const int GR_TENSOR_DIMS = 8;
        public const int GR_VERSION = 300;
        public const int GR_VERSION_MAJOR = 0;
        public const int GR_VERSION_MINOR = 3;
        public const int GR_VERSION_PATCH = 0;
        public const uint GR_WAIT_FOREVER = 4294967295;

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_init_struct(IntPtr @object, ulong size);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_error* gr_last_error();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_error_print(IntPtr stream, [MarshalAs(UnmanagedType.LPUTF8Str)] string what);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_clear_error();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_status_name(gr_status status);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_log_add(gr_log_level level, gr_log_fn fn, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_log_remove(gr_log_fn fn, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_library_version();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_flags_parse([MarshalAs(UnmanagedType.LPUTF8Str)] string text, uint* flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_stream_or_default(IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_map(IntPtr resource, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_map_with(IntPtr resource, IntPtr stream, gr_map_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_map_many(IntPtr* resources, ulong n, IntPtr stream, gr_map_options* options, IntPtr* @out);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_buffer_ptr(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_buffer_size(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_buffer_info* gr_buffer_get_info(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_release(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_buffer_release_later(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_release_many(IntPtr* buffers, ulong n, IntPtr stream, gr_release_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_resource_unmap(IntPtr resource, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_resource_wait(IntPtr resource, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_resource_close(IntPtr resource, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_resource_free(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_resource_info* gr_resource_get_info(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int gr_resource_describe(IntPtr resource, byte* text, ulong size);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_cuda_load([MarshalAs(UnmanagedType.U1)] bool allow_software);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        [return: MarshalAs(UnmanagedType.U1)]
        public static extern bool gr_cuda_is_software();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_cuda_driver_path();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_cuda_find_device(byte* uuid, int* device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_cuda_table(IntPtr* made, gr_cuda_fill_fn fill, IntPtr table);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_cuda_context_create(int device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_cuda_context_info* gr_cuda_context_get_info(IntPtr context);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_cuda_context_free(IntPtr context);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_egl* gr_egl_create(gr_egl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_egl_make_current(gr_egl* egl);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_egl_free(gr_egl* egl);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_external_memory(gr_external_memory_desc* memory, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_same_memory(IntPtr resource, gr_external_part_desc* part, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_semaphore_from_handle(gr_semaphore_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_semaphore_free(IntPtr semaphore);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_semaphore_info* gr_semaphore_get_info(IntPtr semaphore);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int gr_semaphore_describe(IntPtr semaphore, byte* text, ulong size);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_semaphore_signal(gr_semaphore_point* points, ulong n, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_semaphore_wait(gr_semaphore_point* points, ulong n, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_resource_set_sync(IntPtr resource, IntPtr acquire, IntPtr release);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_submit* gr_submit_begin(IntPtr* resources, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_submit_commit(gr_submit* submit);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_submit_free(gr_submit* submit);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_ring_create(IntPtr* resources, ulong n, gr_ring_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_resize(IntPtr ring, IntPtr* resources, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_ring_stop(IntPtr ring);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_ring_free(IntPtr ring);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_acquire_write(IntPtr ring, IntPtr stream, gr_slot** slots, ulong n, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_hand_over(IntPtr ring, gr_slot** slots, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_cancel_write(IntPtr ring, gr_slot** slots, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_acquire_read(IntPtr ring, IntPtr stream, gr_slot** slots, ulong n, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_give_back(IntPtr ring, gr_slot** slots, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_cancel_read(IntPtr ring, gr_slot** slots, ulong n);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_ring_info* gr_ring_get_info(IntPtr ring);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int gr_ring_descriptor(IntPtr ring, gr_ring_role role);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_dtype_info* gr_dtype_get_info(gr_dtype dtype);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_dtype gr_dtype_parse([MarshalAs(UnmanagedType.LPUTF8Str)] string name);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_create(gr_tensor_desc* desc, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_from_memory(gr_tensor_desc* desc, IntPtr data, IntPtr ready_on, gr_tensor_end_fn end, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_buffer_tensor(IntPtr buffer, gr_tensor_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_view(IntPtr tensor, gr_tensor_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_clone(IntPtr tensor, gr_memory memory, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_tensor_free(IntPtr tensor);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_collect(uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_tensor_info* gr_tensor_get_info(IntPtr tensor);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_wait(IntPtr tensor, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_used_on(IntPtr tensor, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_copy(IntPtr to, IntPtr from, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_copy_to_host(IntPtr tensor, IntPtr to, ulong bytes, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_tensor_copy_from_host(IntPtr tensor, IntPtr from, ulong bytes, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_to_dlpack(IntPtr tensor, gr_dlpack form, IntPtr consumer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_tensor_from_dlpack(IntPtr managed, gr_dlpack form, IntPtr ready_on);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_array_interface* gr_tensor_array_interface(IntPtr tensor, IntPtr consumer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_publish(IntPtr resource, IntPtr tensor, gr_publish_options* options, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_fetch(IntPtr resource, IntPtr tensor, gr_publish_options* options, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_publish(IntPtr buffer, IntPtr tensor, gr_publish_options* options, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_fetch(IntPtr buffer, IntPtr tensor, gr_publish_options* options, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_fetch_framebuffer(uint framebuffer, IntPtr tensor, gr_framebuffer_options* options, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_fetch_framebuffer_many(uint framebuffer, IntPtr* tensors, gr_framebuffer_options** options, ulong n, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_copy_framebuffer(uint framebuffer, IntPtr buffer, ulong offset, gr_framebuffer_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_gl_buffer(uint name, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_gl_image(uint name, uint target, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_map_gl_buffer(uint name, uint flags, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_gl_buffer_with(uint name, uint flags, gr_gl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_gl_image_with(uint name, uint target, uint flags, gr_gl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_transport_info* gr_gl_probe(gr_transport transport);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_gl_buffer(ulong size, uint flags, gr_gl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_gl_buffer_of(IntPtr tensor, uint flags, gr_gl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_gl_image(gr_gl_image_desc* desc, uint flags, gr_gl_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern uint gr_gl_name(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern uint gr_gl_target(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_gl_cuda_device(int* device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_image_info* gr_buffer_get_image_info(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_buffer_array(IntPtr buffer, uint level, uint layer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_buffer_mipmapped_array(IntPtr buffer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_buffer_surface(IntPtr buffer, uint level, uint layer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_resource_surface(IntPtr resource, uint level, uint layer);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_buffer_texture(IntPtr buffer, gr_texture_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern ulong gr_resource_texture(IntPtr resource, gr_texture_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_copy_to_linear(IntPtr buffer, uint level, uint layer, gr_linear_desc* to, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_buffer_copy_from_linear(IntPtr buffer, uint level, uint layer, gr_linear_desc* from, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_map_linear(IntPtr resource, uint level, uint layer, IntPtr stream);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_resource_send(int socket, IntPtr resource, IntPtr data, ulong size, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_resource_receive(int socket, IntPtr data, ulong room, ulong* size, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_ring_send(int socket, IntPtr ring, gr_ring_role role, IntPtr data, ulong size, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_ring_receive(int socket, IntPtr data, ulong room, ulong* size, uint timeout_ms);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_share_set_interrupt(IntPtr function, IntPtr user);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_physical_device(IntPtr get_instance_proc_addr, IntPtr instance, int cuda_device, IntPtr* physical_device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_instance_extensions(byte** names, uint* count);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_device_extensions(gr_vk_device_desc* desc, byte** names, uint* count);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_device_from_vk(gr_vk_device_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_vk_device_free(IntPtr device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_vk_device_info* gr_vk_device_get_info(IntPtr device);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_headless_create(gr_vk_headless_options* options);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_vk_headless_info* gr_vk_headless_get_info(IntPtr headless);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_device_from_headless(IntPtr headless, uint transports);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern void gr_vk_headless_free(IntPtr headless);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_vk_buffer(IntPtr device, IntPtr info, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_vk_image(IntPtr device, IntPtr info, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_create_vk_buffer_of(IntPtr device, IntPtr info, IntPtr tensor, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_buffer(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_image(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_memory(IntPtr resource);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_vk_buffer(IntPtr device, gr_vk_buffer_desc* desc, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_from_vk_image(IntPtr device, gr_vk_image_desc* desc, uint flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_vk_format_info* gr_vk_format_get_info(uint format);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_submit(gr_submit* submit, gr_vk_submit_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_submit_commands(IntPtr* resources, ulong n, IntPtr commands, ulong stages, ulong access, uint layout);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_hand_over(IntPtr* resources, ulong n, uint layout);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_submit_fill(gr_submit* submit, IntPtr info, ulong stages, IntPtr @out);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_submit_fill_v1(gr_submit* submit, IntPtr info, uint stages, IntPtr @out);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_cmd_from_cuda(IntPtr commands, IntPtr* resources, ulong n, gr_vk_use* after);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern gr_status gr_vk_cmd_to_cuda(IntPtr commands, IntPtr* resources, ulong n, gr_vk_use* before);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_semaphore_create_vk(IntPtr device, uint type);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_semaphore_from_vk(IntPtr device, gr_vk_semaphore_desc* desc);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr gr_vk_semaphore(IntPtr semaphore);
    }
}
