# SPDX-License-Identifier: Apache-2.0 OR MIT
# Type stubs of the extension. tests/test_stubs.py compares them with the extension.

from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias
from typing import Any, ClassVar, Generic, Literal, NoReturn, Protocol, SupportsFloat
from typing import SupportsIndex, SupportsInt, TypeAlias, TypedDict, final, overload

from typing_extensions import Buffer as _Bytes
from typing_extensions import CapsuleType, Self, TypeVar, disjoint_base

# ---- Types of arguments --------------------------------------------------------------------------

class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

class _CudaStreamPair(Protocol):
    @property
    def __cuda_stream__(self) -> tuple[int, int]: ...

class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> SupportsInt: ...

class _CupyStream(Protocol):
    @property
    def ptr(self) -> SupportsInt: ...
    def wait_event(self, event: Any) -> Any: ...

class _NumbaStream(Protocol):
    @property
    def handle(self) -> Any: ...
    def auto_synchronize(self) -> Any: ...

class _CudaCoreEvent(Protocol):
    @property
    def handle(self) -> Any: ...
    @property
    def is_timing_enabled(self) -> bool: ...

class _NumbaEvent(Protocol):
    @property
    def handle(self) -> Any: ...
    def elapsed_time(self, evtend: Any) -> Any: ...

class _TorchEvent(Protocol):
    @property
    def cuda_event(self) -> SupportsInt: ...

# Its __dlpack__() is of no use here: NumPy declares it for some element types only.
class _HasDlpack(Protocol):
    def __dlpack_device__(self) -> Any: ...

class _HasCudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _HasFileno(Protocol):
    def fileno(self) -> int: ...

_Int: TypeAlias = SupportsIndex  # NumPy integers, too
_Socket: TypeAlias = int | _HasFileno
_Stream: TypeAlias = (
    _Int | _CudaStream | _CudaStreamPair | _TorchStream | _CupyStream | _NumbaStream
)
_Event: TypeAlias = _Int | _CudaCoreEvent | _NumbaEvent | _TorchEvent | None
_Flags: TypeAlias = str | _Int | Iterable[str] | None
_Address: TypeAlias = SupportsInt | _Int
_Plane: TypeAlias = _HasDlpack | _HasCudaArray | CapsuleType
_Array: TypeAlias = _Plane | Sequence[_Plane]
_Attachment: TypeAlias = (
    Literal[
        "depth", "stencil", "color", "color0", "color1", "color2", "color3", "color4", "color5",
        "color6", "color7", "color8", "color9", "color10", "color11", "color12", "color13",
        "color14", "color15", "color16", "color17", "color18", "color19", "color20", "color21",
        "color22", "color23", "color24", "color25", "color26", "color27", "color28", "color29",
        "color30", "color31",
    ]
    | _Int
    | None
)
_Shape: TypeAlias = _Int | Sequence[_Int]
_Strides: TypeAlias = Sequence[_Int] | None
_Dtype: TypeAlias = object  # checked by its name
_Number: TypeAlias = SupportsFloat | None
_Values: TypeAlias = SupportsFloat | Sequence[SupportsFloat] | None
_Transport: TypeAlias = Literal["without copy", "interop", "shared", "copy", "peer", "any"]
_Transports: TypeAlias = _Transport | Sequence[_Transport] | None
_VulkanTransport: TypeAlias = Literal["without copy", "copy", "peer", "any", None]
_Layout: TypeAlias = Literal[
    "shape", "hwc", "chw", "nv12", "p016", "nv16", "yuv444", "yuv420", "yuv422", "yuyv", "uyvy",
    None,
]
_Memory: TypeAlias = Literal["device", "host", "pinned", "managed"]
_AnyMemory: TypeAlias = Literal["device", "host", "pinned", "managed", "array"]
_Mode: TypeAlias = Literal["clamp", "border", "wrap", "mirror"]
_Filter: TypeAlias = Literal["point", "linear"]
_FdKind: TypeAlias = Literal["opaque", "dma-buf"]
_Win32Kind: TypeAlias = Literal[
    "opaque", "opaque-kmt", "d3d12-heap", "d3d12-resource", "d3d11-resource",
    "d3d11-resource-kmt",
]
_Win32SemaphoreKind: TypeAlias = Literal[
    "timeline", "binary", "binary-kmt", "d3d12-fence", "d3d11-fence", "keyed-mutex",
    "keyed-mutex-kmt",
]
_Format: TypeAlias = Literal[
    "u8", "u16", "u32", "i8", "i16", "i32", "f16", "f32", "unorm_int_101010_2",
    "bc1_unorm", "bc1_unorm_srgb", "bc2_unorm", "bc2_unorm_srgb", "bc3_unorm", "bc3_unorm_srgb",
    "bc4_unorm", "bc4_snorm", "bc5_unorm", "bc5_snorm", "bc6h_uf16", "bc6h_sf16",
    "bc7_unorm", "bc7_unorm_srgb", "a2b10g10r10", "a2r10g10b10", "b10g11r11", "e5b9g9r9",
    "r5g6b5", "b5g6r5",
]
_Side: TypeAlias = Literal["cuda", "graphics"]

# What slots of a ring have: Buffers on the CUDA side, which passes a stream, and None on the other.
_Buffer_co = TypeVar("_Buffer_co", covariant=True, default="Buffer | None")

class _ImageFormat(TypedDict):
    format: _Format
    channels: int

class _ExternalImage(_ImageFormat, total=False):
    width: _Int
    height: _Int
    depth: _Int
    levels: _Int
    placed_levels: _Int
    layers: _Int
    cube: bool
    color_attachment: bool
    depth_texture: bool
    srgb: bool
    normalized: bool

_Image: TypeAlias = _ExternalImage | None

# ---- Types of results ----------------------------------------------------------------------------

class _ImageInfo(TypedDict):
    width: int
    height: int
    depth: int
    levels: int
    layers: int
    cube: bool
    layered: bool
    srgb: bool
    normalized: bool
    format: str
    channels: int
    texel_bytes: int

class _RingInfo(TypedDict):
    written: int
    read: int
    dropped: int
    slots: int
    free: int
    writing: int
    ready: int
    reading: int
    newest_age_ns: int

# ---- Members that several classes have -----------------------------------------------------------

class _With:
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

class _Closes(_With):
    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""

class _Exports:
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For Numba, PyCUDA and others."""
    def __dlpack__(
        self, stream: Any = None, *, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> CapsuleType:
        """A capsule for from_dlpack() of another framework."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """The DLPack device type and number."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """For numpy.asarray(). TypeError if the CPU can't read the memory."""

class _Viewed:
    def __buffer__(self, flags: int, /) -> memoryview: ...  # Python 3.12 shows it

class _Samples:
    def surface(self, level: _Int = 0, layer: _Int = 0) -> int:
        """A CUsurfObject, with which kernels write to one level and layer. Valid while the image is
        mapped, and the same in each mapping. The resource needs the flag 'surface_load_store',
        which one of create_gl_image() has if its format allows.
        """
    def texture(
        self, level: _Int = 0, layer: _Int = 0, *, address: _Mode | Sequence[_Mode] = "clamp",
        filter: _Filter = "point", normalized: bool | None = None, as_float: bool | None = None,
        srgb: bool | None = None, border: tuple[float, float, float, float] = (0, 0, 0, 0),
        whole: bool = False, mip_filter: _Filter = "point", mip_bias: float = 0,
        min_level: float = 0, level_count: _Int = 0, anisotropy: _Int = 0,
    ) -> int:
        """A CUtexObject, with which kernels sample the image. Valid while the image is mapped, and
        the same in each mapping.

        Args:
            level, layer: Which part of the image.
            address: Outside of the image: 'clamp', 'border', 'wrap' or 'mirror', or three of them.
            filter: 'point' or 'linear'.
            normalized: Coordinates from 0 to 1. None: in texels if possible.
            as_float: Integers read as 0 to 1, or -1 to 1. None: as the graphics API reads them.
            srgb: Decodes sRGB. None: if the image is sRGB.
            border: The colour of address 'border'.
            whole: The texture has all levels and layers. mip_filter, mip_bias, min_level,
                level_count and anisotropy are for such textures.
        """

# ---- Resources and mappings ----------------------------------------------------------------------

@disjoint_base
class GraphicsResource(_Samples):
    """An OpenGL or Vulkan object, or imported memory, that CUDA can use.

        resource = GraphicsResource.from_gl_buffer(name, flags="write_discard")
        with resource.map(stream=stream) as buffer:
            ...  # kernels on `stream` write to buffer.handle

    The class methods create it, as do those of VulkanDevice. Their `flags` say what CUDA does with
    it, in a str or several: 'read_write' is the default, 'read_only' and 'write_discard' save
    copies, and the latter loses the old contents. Images have 'surface_load_store', for writes by
    kernels and publish(), and 'texture_gather'.

    `with` closes the resource. One thread at a time may use it, and a resource of OpenGL needs its
    context current: otherwise a call raises CUDAError.
    """
    @overload
    @classmethod
    def from_gl_buffer(
        cls, gl_buffer: _Int, *, flags: _Flags = None, stream: _Stream,
        transports: _Transports = None, share_group: bool = False, follow_storage: bool = False,
        in_flight: _Int = 0,
    ) -> _MappingResource: ...
    @overload
    @classmethod
    def from_gl_buffer(
        cls, gl_buffer: _Int, *, flags: _Flags = None, stream: None = None,
        transports: _Transports = None, share_group: bool = False, follow_storage: bool = False,
        in_flight: _Int = 0,
    ) -> Self:
        """Registers an OpenGL buffer of the current context with CUDA.

            with GraphicsResource.from_gl_buffer(name, stream=stream) as buffer:
                ...  # mapped: kernels on `stream` use buffer.handle

        Args:
            gl_buffer: The name, as of glGenBuffers().
            flags: What CUDA does with the buffer: see GraphicsResource.
            stream: If given, `with` maps the buffer in this stream and returns a Buffer; otherwise
                it returns the resource. Both close the resource at the end.
            transports: The allowed ones, as a name or several: 'interop', 'shared', 'peer' (copies
                from GPU to GPU) and 'copy' (through host memory, which works everywhere). None or
                'without copy' allows the first two, 'any' all.
            share_group: Any context that shares objects with the current one can map and close it.
            follow_storage: A map registers the buffer again if its storage was replaced.
            in_flight: 2 to 64 staging buffers, so that CUDA and OpenGL work on several frames at
                once. For 'write_discard', where each mapping writes the whole buffer, and for
                'read_only'. Each map returns another address. 0 means none.

        Raises:
            InvalidValueError: There is no such buffer, or it is empty.
            UnsupportedError: None of the transports works here.
            CUDAError: No OpenGL context is current, or OpenGL draws on another device.
        """
    @classmethod
    def from_gl_image(
        cls, image: _Int, target: _Int, *, flags: _Flags = None,
        transports: _Transports = None, share_group: bool = False, follow_storage: bool = False,
        in_flight: _Int = 0,
    ) -> Self:
        """Registers an OpenGL texture or renderbuffer with CUDA, like from_gl_buffer().

            texture = GraphicsResource.from_gl_image(name, 0x0DE1, flags="surface_load_store")
            grinterop.publish(texture, tensor, stream=stream)

        Args:
            image: The name, as of glGenTextures().
            target: GL_TEXTURE_2D (0x0DE1), GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY,
                GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP or GL_RENDERBUFFER, as a number.
            flags: With 'surface_load_store', kernels and publish() write without an extra copy.
            transports: As for from_gl_buffer(); depth and packed formats need 'copy' or 'any'.
            share_group, follow_storage, in_flight: As for from_gl_buffer().

        Raises:
            InvalidValueError: It has another target, or it is incomplete.
            UnsupportedError: CUDA does not support the format; the message names an alternative.
        """
    @classmethod
    def create_gl_buffer(
        cls, size: _Int, *, flags: _Flags = None, transports: _Transports = None,
        packed: bool = False, in_flight: _Int = 0,
    ) -> Self:
        """Creates an OpenGL buffer in shared memory: draw it by its gl_name. A Ring needs such
        buffers for several frames in flight.

        Args:
            size: In bytes.
            flags, transports, in_flight: As for from_gl_buffer().
            packed: Places small buffers in common blocks. Otherwise each takes at least 2 MiB of
                GPU memory.
        """
    @classmethod
    def create_gl_image(
        cls, target: _Int, internal_format: _Int, width: _Int,
        height: _Int, depth: _Int = 0, levels: _Int = 0, *,
        flags: _Flags = None, transports: _Transports = None, in_flight: _Int = 0,
    ) -> Self:
        """Creates an OpenGL texture in shared memory: draw it by its gl_name.

        Args:
            target: As for from_gl_image().
            internal_format: A sized format, such as GL_RGBA8 (0x8058), as a number.
            width, height: The size of level 0 in texels.
            depth: That of a 3D texture, or the layers of an array. 0 means 1.
            levels: The mip levels. 0 means 1.
            flags, transports, in_flight: As for from_gl_image().
        """
    @classmethod
    def create_gl_buffer_of(
        cls, tensor: _Array, *, flags: _Flags = None, stream: _Stream | None = None,
    ) -> Self:
        """Creates an OpenGL buffer in the memory of a tensor: draw it by its gl_name. map() returns
        that memory, copies nothing, and orders CUDA with OpenGL: use the tensor only while the
        resource is mapped. The resource keeps the tensor, and the garbage collector frees a tensor
        that refers to it. After resize_() or set_() of a PyTorch tensor create the resource again:
        it keeps the old memory, which later tensors may get. To read the bytes by OpenGL, copy them
        to another buffer: glGetBufferSubData() of this one may return old bytes.

            with grinterop.exportable_memory():
                points = torch.empty((n, 3), device="cuda")
            resource = GraphicsResource.create_gl_buffer_of(points)
            with resource.map(stream=torch.cuda.current_stream()):
                points.uniform_()

        Args:
            tensor: As for Tensor.from_dlpack(), of memory of exportable_memory(), or of
                Tensor.create() with `exportable`; or a part of it.
            flags: As for from_gl_buffer().
            stream: The first map waits for the work of the producer if it is in this stream.

        Raises:
            UnsupportedError: The memory cannot be exported, or is not on the GPU that draws.
        """
    @classmethod
    def from_fd(
        cls, fd: _Int, size: _Int, *, kind: _FdKind = "opaque", dedicated: bool = False,
        offset: _Int = 0, length: _Int = 0, image: _Image = None, flags: _Flags = None,
    ) -> Self:
        """Imports memory that Vulkan or another process exported as a file descriptor. CUDA owns
        `fd` after success; after an exception it is still yours to close.

            memory = GraphicsResource.from_fd(fd, allocation_size)  # from vkGetMemoryFdKHR
            memory.set_sync(None, None)  # before the first map: who keeps the order

        Args:
            fd: The descriptor.
            size: That of the whole allocation, in bytes.
            kind: 'opaque', or 'dma-buf' with CUDA 13 on Tegra.
            dedicated: Whether the memory was allocated for this one buffer or image.
            offset, length: The bytes to use. A length of 0 means up to the end.
            image: For an image, a dict with `format` ('u8', 'f32', ...) and `channels`, and as
                needed width, height, depth, levels, placed_levels, layers, cube, color_attachment,
                depth_texture, srgb and normalized, as in gr_external_image_desc.
            flags: As for from_gl_buffer(). In external memory they are promises of yours.
        """
    @classmethod
    def from_nvscibuf(
        cls, object: _Address, size: _Int, *, dedicated: bool = False, offset: _Int = 0,
        length: _Int = 0, image: _Image = None, flags: _Flags = None,
    ) -> Self:
        """Imports a NvSciBufObj, given by its address, which stays yours. The other arguments are
        those of from_fd().
        """
    @classmethod
    def from_same_memory(
        cls, resource: GraphicsResource, *, offset: _Int = 0, length: _Int = 0,
        image: _Image = None, flags: _Flags = None,
    ) -> Self:
        """Another resource in the imported memory of `resource`, which must not be dedicated. Both
        keep the memory. The arguments are those of from_fd().
        """
    @classmethod
    def from_win32(
        cls, handle: _Address | str, size: _Int, *, kind: _Win32Kind = "opaque",
        dedicated: bool = False, offset: _Int = 0, length: _Int = 0, image: _Image = None,
        flags: _Flags = None,
    ) -> Self:
        """Imports memory by a Windows handle, as an int, or its name, as a str. The handle stays
        yours. The other arguments are those of from_fd().
        """
    @classmethod
    def receive(cls, socket: _Socket, *, timeout: _Number = None) -> tuple[Self, bytes]:
        """Receives a resource that another process sent by send().

        Args:
            socket: A connected Unix socket, or its descriptor.
            timeout: Seconds to wait; None waits forever.

        Returns:
            The resource, and the bytes that came along. If no semaphores came along, call
            set_sync() before the first map. Ctrl-C within a message shuts the socket down.
        """
    @property
    def api(self) -> str:
        """'opengl', 'vulkan' or 'external'."""
    @property
    def flags(self) -> int:
        """The flags of the registration, as a number."""
    @property
    def gl_name(self) -> int | None:
        """The OpenGL name, or None."""
    @property
    def gl_target(self) -> int | None:
        """The OpenGL target, or None."""
    @property
    def handle(self) -> int:
        """The CUDA object, as an int: a CUgraphicsResource or a CUexternalMemory."""
    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
    @property
    def is_mapped(self) -> bool:
        """Whether it is mapped for CUDA."""
    @property
    def kind(self) -> str:
        """'buffer' or 'image'."""
    @property
    def resource_handle(self) -> int:
        """Same as handle."""
    @property
    def size(self) -> int:
        """The size of a buffer in bytes; 0 for an image."""
    @property
    def transport(self) -> str:
        """The transport: 'interop', 'shared', 'peer', 'copy' or 'external'."""
    @property
    def __dlpack__(self) -> NoReturn:
        """Raises AttributeError: pass a Buffer to from_dlpack()."""
    @property
    def vk_buffer(self) -> int | None:
        """The VkBuffer, as an int, or None."""
    @property
    def vk_image(self) -> int | None:
        """The VkImage, as an int, or None."""
    @property
    def vk_memory(self) -> int | None:
        """The VkDeviceMemory, as an int, or None."""
    def close(self, stream: _Stream | None = None) -> None:
        """Ends the mapping, if any, and the registration. Closing again does nothing."""
    def describe(self) -> str:
        """One line with its kind, size, flags, transport and state."""
    def map(self, *, stream: _Stream, flags: _Flags = None) -> Buffer:
        """Maps the resource: CUDA owns it until the Buffer is closed. Kernels queued in `stream`
        afterwards can use the memory at once. The CPU waits only for copies through host memory,
        and for an OpenGL without semaphores, as that of Mesa.

        Args:
            stream: The stream of the kernels: see the module's help.
            flags: 'read_only' or 'write_discard' for this map, if the resource is 'read_write'.

        Returns:
            A Buffer, whose end of `with` gives the memory back to OpenGL or Vulkan. If cuda.core is
            loaded, it is also a cuda.core.Buffer.

        Raises:
            RuntimeError: The resource is mapped already, or closed.
            StateError: It is in a Ring, or its OpenGL storage was replaced.
            CUDAError: Its OpenGL context is not current, or the driver refused.
        """
    def map_linear(self, level: _Int = 0, layer: _Int = 0, *, stream: _Stream) -> Buffer:
        """Maps one level and layer of an image as linear memory: the Buffer has a pointer and a
        `pitch`. It copies at the map and at the release, as the flags allow.
        """
    def send(self, socket: _Socket, data: _Bytes = b"", *, timeout: _Number = None) -> None:
        """Sends the resource to another process, which shares its memory. It stays yours.
        Semaphores of set_sync() are sent along.

        Args:
            socket: A connected Unix socket, or its descriptor.
            data: Up to 64 KiB for the receiver.
            timeout: Seconds to wait for room in the socket. Ctrl-C within a message shuts it down.
        """
    def set_sync(self, acquire: Semaphore | None, release: Semaphore | None) -> None:
        """Sets the order with the graphics API, which signals `acquire` and waits for `release`,
        with the values of a Submit. A map waits for the last Submit, and its end signals what the
        next Submit waits for. None: the program keeps that order itself. With None for both, one
        mapping of a buffer that is not copied may last while the graphics API uses the buffer.
        Imported memory needs this call before the first map. The resource keeps the Semaphores
        alive.
        """
    def unmap(self, *, stream: _Stream | None = None) -> None:
        """Ends the mapping. None is the stream of the map."""
    def wait(self, timeout: _Number = None) -> None:
        """Blocks the CPU until CUDA has done the work before the last release.

        Args:
            timeout: Seconds; None waits forever. After it, WaitTimeoutError is raised.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

# The type is GraphicsResource: of one that was made with a stream, `with` returns a Buffer.
class _MappingResource(GraphicsResource):
    def __enter__(self) -> Buffer: ...  # type: ignore[override]

@final
class Buffer(_With, _Exports, _Samples):
    """One mapping of a GraphicsResource: the bytes, or the image, as CUDA sees them.

        with resource.map(stream=stream) as buffer:
            vertices = torch.from_dlpack(buffer.tensor((n, 4), "float32"))  # no copy
            ...
            del vertices  # before the mapping ends

    map() returns it. It lasts until its close(), the end of its `with`, or unmap() or close() of
    the resource. Dropping it does not end the mapping.
    """
    @property
    def device_id(self) -> int:
        """The CUDA device."""
    @property
    def handle(self) -> int:
        """The device pointer, as an int; 0 once the mapping has ended."""
    @property
    def is_closed(self) -> bool:
        """Whether the mapping has ended."""
    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use the pointer."""
    @property
    def is_host_accessible(self) -> bool:
        """Whether the CPU can use the pointer."""
    @property
    def is_managed(self) -> bool:
        """Whether it is managed memory."""
    @property
    def is_read_only(self) -> bool:
        """Whether CUDA may only read."""
    @property
    def memory_resource(self) -> None:
        """None: the memory was not allocated by a memory resource."""
    @property
    def owner(self) -> None:
        """None: no other object owns the memory."""
    @property
    def pitch(self) -> int:
        """Bytes from row to row after map_linear(), else 0."""
    @property
    def resource(self) -> GraphicsResource | None:
        """The GraphicsResource, or None."""
    @property
    def size(self) -> int:
        """Bytes; 0 for an image, and once the mapping has ended."""
    @property
    def stream(self) -> _Stream:
        """The stream passed to the map; None once the mapping has ended."""
    def array(self, level: _Int = 0, layer: _Int = 0) -> int:
        """The CUarray of one level and layer, as an int."""
    def close(self, stream: _Stream | None = None) -> None:
        """Ends the mapping: the graphics API can use the memory again after the work queued on
        `stream` so far. None is the stream of the map. Closing again does nothing.
        """
    def copy_from(self, src: Buffer, *, stream: _Stream) -> None:
        """Copies the bytes of another Buffer of the same size."""
    def copy_to(self, dst: Buffer, *, stream: _Stream) -> Buffer:
        """Copies its bytes to `dst`, a Buffer of the same size, and returns `dst`."""
    def copy_to_linear(
        self, address: _Address, level: _Int = 0, layer: _Int = 0, *, pitch: _Int = 0,
        slice: _Int = 0, host: bool = False, stream: _Stream | None = None, z: _Int = 0,
        depth: _Int = 0, layers: _Int = 0, x: _Int = 0, y: _Int = 0, width: _Int = 0,
        height: _Int = 0,
    ) -> None:
        """Copies one level and layer of the image to linear memory.

        Args:
            address: The address in device memory, or in host memory with `host`.
            pitch, slice: Bytes from row to row and from slice or layer to the next. 0: no gaps.
            stream: None is the stream of the map.
            z, depth: The slices of a 3D image. A depth of 0 extends them to the last one.
            layers: How many layers, from `layer` on. 0: one.
            x, y, width, height: The rectangle in texels. A size of 0 extends it to the edge.
        """
    copy_from_linear = copy_to_linear
    """Copies linear memory to the image, like copy_to_linear()."""
    copy_from_image = copy_to_linear
    copy_to_image = copy_from_linear
    def fill(self, value: int | _Bytes, *, stream: _Stream) -> None:
        """Fills it with an int from 0 to 255, or with 1, 2 or 4 bytes of an object with the buffer
        protocol, such as bytes or a NumPy scalar.
        """
    def image_info(self) -> _ImageInfo:
        """The driver's description of the image, as a dict."""
    def mipmapped_array(self) -> int:
        """The CUmipmappedArray of all levels, as an int."""
    def tensor(
        self, shape: _Shape | None = None, dtype: _Dtype = "uint8", strides: _Strides = None,
        offset: _Int = 0, *, layout: _Layout = None, read_only: bool = False,
        negative_strides: bool = False, memory: Literal["array"] | None = None,
    ) -> Tensor:
        """The mapping as a Tensor, without a copy. It is revoked when the mapping ends.

        Args:
            shape: The size of each dimension. None: all bytes, or the image of map_linear().
            dtype: The type of an element: 'float32', numpy.float32 or torch.float32.
            strides: Bytes between the elements of each dimension. None: no gaps.
            offset: The byte where element 0 is.
            layout: The order of the dimensions: see publish().
            read_only: Refuses writes.
            negative_strides: Allows exports with negative strides, on which many consumers crash.
            memory: 'array' for the CUDA array of an image, which Warp can sample as a texture.
        """

@final
class Semaphore(_Closes):
    """A semaphore that CUDA shares with another API.

        done = Semaphore.from_fd(fd)  # from vkGetSemaphoreFdKHR
        done.wait(stream, 7)  # later work in `stream` waits until Vulkan has signalled 7

    A timeline has values that grow; a binary semaphore has none.
    """
    @classmethod
    def from_fd(
        cls, fd: _Int, *, kind: Literal["timeline", "binary"] = "timeline", value: _Int = 0,
    ) -> Self:
        """Imports a semaphore that was exported as a file descriptor. CUDA owns `fd` after success;
        after an exception it is still yours to close.

        Args:
            fd: The descriptor.
            kind: 'timeline' or 'binary'.
            value: The current value of a timeline.
        """
    @classmethod
    def from_nvscisync(cls, object: _Address, /) -> Self:
        """Imports a NvSciSyncObj, given by its address, which must outlive it."""
    @classmethod
    def from_win32(
        cls, handle: _Address | str, *, kind: _Win32SemaphoreKind = "timeline", value: _Int = 0,
    ) -> Self:
        """Imports a semaphore by a Windows handle, as an int, or its name, as a str. The handle
        stays yours.
        """
    @property
    def handle(self) -> int:
        """The CUexternalSemaphore, as an int."""
    @property
    def is_timeline(self) -> bool:
        """Whether it has values."""
    def close(self) -> None:
        """Releases it. Resources and streams that use it keep the import."""
    def describe(self) -> str:
        """One line: its type, last value, and how it waits."""
    def signal(
        self, stream: _Stream, value: _Int = 0, *, key: _Int = 0, fence: _Int = 0,
        skip_nvscibuf: bool = False,
    ) -> None:
        """Signals after the work queued in `stream` so far: a timeline gets `value`, which must be
        greater than the last one. The other arguments are those of wait().
        """
    def wait(
        self, stream: _Stream, value: _Int = 0, *, key: _Int = 0, timeout: _Number = 0,
        fence: _Int = 0, skip_nvscibuf: bool = False,
    ) -> None:
        """Makes later work in `stream` wait until a timeline has `value`, or until a binary
        semaphore is signalled. The CPU does not wait.

        Args:
            stream: The stream that waits.
            value: For a timeline.
            key, timeout: For a keyed mutex; the timeout is in seconds.
            fence: The address of a NvSciSyncFence.
            skip_nvscibuf: Leaves out the memory barriers of NvSciBuf.
        """

@final
class Submit(_Closes):
    """The use of resources by one submit to a graphics API: it waits for the last use by CUDA and
    signals what the next map waits for.

        with Submit([memory]) as submit:
            ...  # vkQueueSubmit with submit.waits and submit.signals

    The end of `with` commits, unless an exception left the block. VulkanDevice.submit() does all of
    this.
    """
    def __new__(cls, resources: Iterable[GraphicsResource]) -> Self: ...
    @property
    def signals(self) -> list[tuple[int, int]]:
        """Pairs (handle, value): the submit signals the Semaphore with that handle."""
    @property
    def waits(self) -> list[tuple[int, int]]:
        """Pairs (handle, value): the submit waits for the Semaphore with that handle."""
    def close(self) -> None:
        """Frees it. A submit that was not committed is undone."""
    def commit(self) -> None:
        """Call it after the graphics API has accepted the submit."""

# ---- Tensors -------------------------------------------------------------------------------------

@final
class Tensor(_Closes, _Exports, _Viewed):
    """Memory with a type and a shape, exchanged with frameworks without a copy.

        tensor = Tensor.from_dlpack(numpy_array).clone(stream=stream)  # to the device
        array = torch.from_dlpack(tensor)

    It owns its memory (create, clone), or uses existing memory (from_memory, from_dlpack).
    Close or drop it at any time: the memory stays until its exports and views are gone and the
    streams are done. memoryview() reads a Tensor in host, pinned or managed memory.

    If from_dlpack() imports the planes of an image, the methods work with all planes. The
    properties are those of the first one, and exports, memoryview() and changes of the shape are
    refused: use `planes`.
    """
    @classmethod
    def create(
        cls, shape: _Shape, dtype: _Dtype = "uint8", *, stream: _Stream | None = None,
        memory: _Memory = "device", layout: _Layout = None, strides: _Strides = None,
        exportable: bool = False,
    ) -> Self:
        """Allocates uninitialised memory.

        Args:
            shape: The size of each dimension.
            dtype: 'float32', numpy.float32, torch.float32, ...
            stream: Later work in this stream may use the memory. None: it can be used at once.
            memory: 'device', 'host' (pageable), 'pinned' or 'managed'.
            layout: The order of the dimensions: see publish().
            strides: Bytes between the elements of each dimension. None: no gaps.
            exportable: Device memory for GraphicsResource.create_gl_buffer_of(), at least 2 MiB.
        """
    @classmethod
    def from_dlpack(
        cls, object: _Array, *, stream: _Stream | None = None, layout: _Layout = None,
    ) -> Self:
        """Imports a tensor of another framework without a copy.

        Args:
            object: Anything with __dlpack__() or __cuda_array_interface__, a DLPack capsule, or a
                sequence of two or three of these, the planes of an image.
            stream: Later work in this stream waits for the work of the producer.
            layout: Overrides the order of the dimensions: see publish().

        Raises:
            TypeError: The object is none of these.
            BufferError: It cannot be imported: ExchangeError, or an exception of its producer.
        """
    @classmethod
    def from_memory(
        cls, pointer: _Address, shape: _Shape | None, dtype: _Dtype = "uint8", *,
        strides: _Strides = None, layout: _Layout = None, memory: _AnyMemory = "device",
        stream: _Stream | None = None, owner: object = None, read_only: bool = False,
        negative_strides: bool = False,
    ) -> Self:
        """Wraps existing memory.

            tensor = Tensor.from_memory(array.data.ptr, (height, width), "float32", owner=array)

        Args:
            pointer: The address of element 0; with memory='array' a CUarray: OpaqueArray.handle.
            shape, dtype, strides, layout: As for create(). None as the shape of an array.
            memory: The kind of the memory.
            stream: The bytes are ready after the work queued in it so far. None: at once.
            owner: Kept until the tensor, its views and its exports are gone and the streams are
                done. The garbage collector frees an owner that refers to its tensors, but calls its
                __del__() while streams may still use the memory: if it has one, pass an owner that
                does not refer to them. An owner that refers to an array made from a tensor is never
                freed, since the collector cannot see through exports.
            read_only: Refuses writes.
            negative_strides: Allows exports with negative strides, on which many consumers crash.
        """
    alloc: ClassVar[Callable[..., Tensor]]
    wrap: ClassVar[Callable[..., Tensor]]
    @staticmethod
    def collect(timeout: _Number = None) -> None:
        """Frees dropped tensors whose work is done.

        Args:
            timeout: Seconds to wait for those that streams still use; None waits forever.
        """
    @property
    def array(self) -> int:
        """The CUarray of memory 'array', as an int; otherwise 0."""
    @property
    def chroma(self) -> Tensor | None:
        """The second plane if it is a separate Tensor, else None."""
    @property
    def chroma_v(self) -> Tensor | None:
        """The third plane if it is a separate Tensor, else None."""
    @property
    def device(self) -> int:
        """The CUDA device."""
    @property
    def dtype(self) -> str:
        """The element type, such as 'float32'."""
    @property
    def handle(self) -> int:
        """The address of element 0, as an int; 0 if revoked."""
    @property
    def is_compact(self) -> bool:
        """Whether its elements have no gaps."""
    @property
    def is_read_only(self) -> bool:
        """Whether it must not be written to."""
    @property
    def is_revoked(self) -> bool:
        """Whether its mapping has ended."""
    @property
    def itemsize(self) -> int:
        """The size of one element in bytes."""
    @property
    def layout(self) -> str:
        """The order of the dimensions: 'shape', 'hwc', 'chw', 'nv12', ..."""
    @property
    def memory(self) -> str:
        """'device', 'host', 'pinned', 'managed' or 'array'."""
    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, without gaps."""
    @property
    def ndim(self) -> int:
        """The number of dimensions."""
    @property
    def planes(self) -> tuple[Tensor, ...]:
        """The planes of an image, each as a Tensor; without separate planes, only the Tensor."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbouring elements of each dimension."""
    @property
    def typestr(self) -> str:
        """The element type in array interfaces, such as `'<f4'`."""
    def clone(self, memory: _Memory = "device", *, stream: _Stream | None = None) -> Tensor:
        """A compact copy, in the order of `stream`. None is the legacy default stream."""
    def close(self) -> None:
        """Releases the tensor. Exports and views keep the memory."""
    def copy_from(self, other: _Array, *, stream: _Stream | None = None) -> None:
        """Copies the elements of anything that from_dlpack() accepts, of equal shape and dtype."""
    def copy_to(self, other: _Array, *, stream: _Stream | None = None) -> None:
        """Copies the elements to anything that from_dlpack() accepts, of equal shape and dtype."""
    def tobytes(self, *, stream: _Stream | None = None) -> bytes:
        """Its elements as bytes, without gaps, one plane after another. Waits for the work queued
        on `stream`.
        """
    def used_on(self, stream: _Stream, /) -> None:
        """Records that work queued in `stream` uses the tensor: the end of its memory or mapping
        waits for it.
        """
    def view(
        self, shape: _Shape | None = None, dtype: _Dtype = None, strides: _Strides = None,
        offset: _Int = 0, *, layout: _Layout = None, read_only: bool = False,
        negative_strides: bool = False,
    ) -> Tensor:
        """The same memory with another description. None keeps the current value.

        Args:
            shape, dtype, strides, layout: As for create().
            offset: The position of element 0 in bytes, from the lowest byte of the tensor.
        """
    def wait(self, stream: _Stream, /) -> None:
        """Makes later work in `stream` wait until the bytes are ready."""

def publish(
    target: GraphicsResource | Buffer | Ring, tensor: _Array, *, stream: _Stream | None = None,
    layout: _Layout = None, bgr: bool = False, flip: bool = False, scale: _Values = None,
    bias: _Values = None, alpha: _Number = None, srgb: bool = False,
    matrix: Literal["bt709", "bt601", "bt2020"] = "bt709", full_range: bool = False, bits: _Int = 0,
    level: _Int = 0, layer: _Int | Literal["all"] = 0, offset: _Int = 0,
    shape: _Shape | None = None, dtype: _Dtype = None, strides: _Strides = None,
    wait_event: _Event = None, timeout: _Number = None, x: _Int = 0, y: _Int = 0, width: _Int = 0,
    height: _Int = 0, high_bits: bool | None = None,
    chroma_position: Literal["center", "left", "top_left"] = "center", columns: _Int = 0,
    z: _Int = 0, depth: _Int = 0, layers: _Int = 0,
) -> None:
    """Writes a tensor to graphics memory, converted to its format, in one pass on the GPU.

        grinterop.publish(texture, array, stream=stream)  # (H, W, 4) of uint8, or float32 of 0..1
        grinterop.publish(texture, output, stream=stream, layout="chw", scale=0.5, bias=0.5)
        grinterop.publish(ring, (y, u, v), stream=stream, layout="yuv420")

    The tensor has the height and width of the image: (H, W) or (H, W, C), (D, H, W, C) in 3D. Its
    first row is row 0, which OpenGL draws lowest. 3 channels become 4, and 1 becomes grey. 1.0
    equals 255 in uint8 and 65535 in uint16; integers of 32 and 64 bits are plain numbers. A buffer
    takes any shape.

    The work is in stream order: the CPU waits only for pageable memory, such as NumPy arrays, and
    for a free slot of a Ring.

    Args:
        target: A GraphicsResource, which is mapped and released; a Buffer, which stays mapped; or a
            Ring, whose next slot is filled and handed over.
        tensor: Anything that Tensor.from_dlpack() accepts, or the planes of YUV.
        stream: May be omitted for a Buffer, which has one.
        layout: 'hwc', 'chw', or for YUV 'nv12', 'p016', 'nv16', 'yuv420', 'yuv422', 'yuv444',
            'yuyv' or 'uyvy'. None: as the tensor says, by default (H, W, C).
        bgr: The first channel of the tensor is blue, or the image of YUV is BGRA.
        flip: The first row of the tensor is the last row of the image.
        scale, bias: value * scale + bias: a number, or up to four for the channels.
        alpha: The fourth channel if the tensor has none; 1 by default.
        srgb: The tensor is linear, the image sRGB.
        matrix, full_range: How YUV becomes RGB, or RGB YUV.
        bits, high_bits: For YUV in the low bits of uint16: 10 for yuv420p10le. In the high bits:
            10 and True for P010.
        chroma_position: Where fetch() takes chroma: between the pixels, at the 'left' one (H.264),
            or at the 'top_left' one (BT.2020).
        level, layer: The part of an image. With 'all', the tensor has all N layers of an array, or
            the faces of a cube map: (N, H, W), (N, H, W, C), or (N, C, H, W) by layout='chw'.
        offset, shape, dtype, strides: The elements in a buffer, the first at byte `offset`. By
            default they are those of the tensor, without gaps.
        wait_event: An event that `stream` waits for first.
        timeout: Seconds to wait for a slot of a Ring; None waits forever.
        x, y, width, height: A rectangle of the image. 0 as a size extends it to the edge.
        columns: How many tiles a row of the picture has. The tensor has all N tiles: (N, H, W),
            (N, H, W, C), or (N, C, H, W) by layout='chw'. Tile 0 is at x, y, and with `flip` the
            left one of the last row of tiles, the highest in OpenGL. A buffer needs the `shape` of
            the whole picture.
        z, depth: The slices of a 3D image. A depth of 0 extends them to the last one; one slice is
            like a 2D image.
        layers: How many layers the tensor has, from `layer` on. 0: one, without N in the shape.

    Raises:
        InvalidValueError: Shapes, channels or options do not fit; the message has both shapes.
        StateError: The resource is 'read_only', or the tensor's mapping has ended.
        UnsupportedError: There is no kernel for the conversion.
        WaitTimeoutError: No slot became free in time.
    """
fetch = publish
"""Reads graphics memory into a tensor, in its shape and dtype: the reverse of publish(), with the
same arguments. RGB becomes YUV by the layouts of publish():

    grinterop.fetch(texture, (y, uv), stream=stream, layout="nv12", chroma_position="left")

    seen = numpy.empty((height, width, 4), "uint8")
    grinterop.fetch(texture, seen, stream=stream)
    cuda.sync()  # the copy is in stream order: now the bytes are there
"""
def fetch_framebuffer(
    framebuffer: _Int, tensor: _Array | dict[Any, Any], *, stream: _Stream,
    attachment: _Attachment = None, x: _Int = 0, y: _Int = 0,
    width: _Int = 0, height: _Int = 0, near: SupportsFloat = 0,
    far: SupportsFloat = 0, reverse_z: bool = False, layout: _Layout = None, bgr: bool = False,
    flip: bool = False, scale: _Values = None, bias: _Values = None, alpha: _Number = None,
    srgb: bool = False, wait_event: _Event = None, staging: GraphicsResource | None = None,
    rectangle: Sequence[_Int] | None = None,
    matrix: Literal["bt709", "bt601", "bt2020"] = "bt709", full_range: bool = False, bits: _Int = 0,
    high_bits: bool | None = None,
    chroma_position: Literal["center", "left", "top_left"] = "center",
    sample: _Int = 0, columns: _Int = 0,
) -> None:
    """Reads a colour, depth or stencil attachment of an OpenGL framebuffer into a tensor, in stream
    order.

        grinterop.fetch_framebuffer(name, {"color": rgb, "depth": metres}, stream=cuda,
                                    near=0.1, far=100, staging=staging)
        cuda.sync()  # before NumPy reads the arrays

    Shapes are (H, W) or (H, W, C) of the rectangle, and row 0 is the lowest. The framebuffer may be
    multisampled, or belong to a window.

    Args:
        framebuffer: Its OpenGL name. 0 is that of the window, which needs width and height.
        tensor: As for fetch(), or a dict of attachments and tensors, which one map reads.
        attachment: 'color', 'color1', 'depth', 'stencil' or an OpenGL constant. None: that of
            glReadBuffer().
        x, y, width, height: The rectangle in pixels. 0 as a size extends it to the edge.
        near, far, reverse_z: The planes of the perspective projection, as float32: depth becomes
            the distance from the camera, in their unit. The depth is 0 at `near` and 1 at `far`,
            or the reverse with reverse_z. Either may be the farther plane: swapping both has the
            same effect as changing reverse_z. scale=1000 / 65535 makes millimetres in uint16 of metres.
            For an orthographic projection: scale=far - near and bias=near.
        layout, bgr, flip, scale, bias, alpha, srgb, matrix, full_range, bits, high_bits,
            chroma_position, wait_event, columns: As for fetch(). A dict takes no scale and no bias.
            Cameras in tiles: fetch_framebuffer(0, batch, columns=8, flip=True, ...).
        staging: A GraphicsResource of an OpenGL buffer, to be used by every call: 16 bytes per
            pixel and attachment are enough. With in_flight, calls overlap. Without `staging`,
            the library keeps four buffers for the OpenGL context.
        rectangle: The older form: (x, y, width, height).
        sample: Of a multisampled attachment: the sample to read, from 1 on, by a compute shader. 0
            resolves them.

    Raises:
        InvalidValueError: There is no such attachment or sample, or an argument does not fit.
        UnsupportedError: The compute shader that reads one sample cannot run.
        CUDAError: The framebuffer is incomplete, or no OpenGL context is current.
    """
def copy_framebuffer(
    framebuffer: _Int, buffer: GraphicsResource, *, attachment: _Attachment = None,
    x: _Int = 0, y: _Int = 0, width: _Int = 0,
    height: _Int = 0, offset: _Int = 0,
    rectangle: Sequence[_Int] | None = None, sample: _Int = 0,
) -> None:
    """Copies an attachment to an OpenGL buffer, by OpenGL alone. In a Ring of such buffers CUDA
    reads frames while OpenGL draws the next ones.

        with ring.acquire_write() as slot:
            grinterop.copy_framebuffer(name, slot.resource)
        grinterop.fetch(ring, pixels, stream=stream, shape=(height, width, 4), dtype="uint8")

    Args:
        framebuffer, attachment, x, y, width, height, rectangle, sample: As for fetch_framebuffer().
        buffer: Rows without padding, the lowest first, in the channels and types of the attachment;
            depth is float32 from 0 to 1.
        offset: In bytes, a multiple of 4.
    """

# ---- Rings ---------------------------------------------------------------------------------------

@final
class Ring(_Closes):
    """Frames in flight: slots, each a resource, that one side writes and the other reads.

        ring = Ring([GraphicsResource.create_gl_buffer(size) for _ in range(4)])
        with ring.acquire_write(stream=stream) as slot:
            ...  # kernels on `stream` write to slot.buffer.handle
        with ring.acquire_read() as slot:
            ...  # OpenGL draws slot.resource.gl_name

    N frames in flight need N + 2 slots. One thread at a time may write, and one may read.

    Args:
        resources: All of the same kind and size. Only the ring uses them from now on.
        producer: The side that writes: 'cuda' or 'graphics'.
        mode: 'lossless' reads every frame, and the producer waits for free slots. 'newest' drops
            unread frames for newer ones.
    """
    def __new__(
        cls, resources: Sequence[GraphicsResource], *, producer: _Side = "cuda",
        mode: Literal["lossless", "newest"] = "lossless",
    ) -> Self: ...
    @overload
    def acquire_write(
        self, n: _Int = 1, *, stream: _Stream, timeout: _Number = None,
    ) -> Slots[Buffer]: ...
    @overload
    def acquire_write(
        self, n: _Int = 1, *, stream: None = None, timeout: _Number = None,
    ) -> Slots[None]:
        """Acquires slots to write to. Keep the returned object while you use them: see Slots.

        Args:
            n: The number of slots: all or none are acquired.
            stream: The stream of the CUDA side, such as a CudaContext. The graphics side passes
                none.
            timeout: Seconds; None waits forever.

        Returns:
            Slots: the end of their `with` hands them over to the consumer.

        Raises:
            WaitTimeoutError: Fewer than `n` slots became free in that time.
            StoppedError: stop() was called.
        """
    acquire_read = acquire_write
    """Acquires the next n frames to read, with the arguments of acquire_write(). The end of the
    `with` of these Slots gives them back to the producer.
    """
    def close(self) -> None:
        """Frees the ring, but not its resources."""
    def descriptor(self, role: Literal["producer", "consumer"], /) -> int:
        """A file descriptor for poll(): readable while the 'producer' or the 'consumer' can acquire
        a slot without waiting.
        """
    @property
    def _lines(self) -> dict[Any, Any]: ...
    def info(self) -> _RingInfo:
        """Counts of frames and slots, and the age of the newest frame, as a dict.

        - ``written``, ``read``, ``dropped``: the frames so far. A ring of mode 'newest' drops
          unread frames.
        - ``slots``: all slots; ``free``, ``writing``, ``ready``, ``reading``: those in each state.
        - ``newest_age_ns``: the nanoseconds since the newest frame was handed over. 0: none was, or
          it is unknown.
        """
    @overload
    async def read(
        self, n: _Int = 1, *, stream: _Stream, timeout: _Number = None,
    ) -> Slots[Buffer]: ...
    @overload
    async def read(
        self, n: _Int = 1, *, stream: None = None, timeout: _Number = None,
    ) -> Slots[None]:
        """Like acquire_read(), in asyncio: other tasks run until the frames are there.

            with await ring.read() as slot:
                ... OpenGL draws slot.resource.gl_name ...

        Tasks get their frames in the order of their calls. A cancelled task acquires nothing. If
        the ring is stopped or closed, each waiting task gets the exception.
        """
    write = read
    """Like acquire_write(), in asyncio: see read()."""
    @classmethod
    def receive(cls, socket: _Socket, *, timeout: _Number = None) -> tuple[Self, bytes]:
        """Receives a ring that another process sent by send(). This process has the other role, and
        uses CUDA for it: `buffer` of its Slots is a Buffer, and `resource` is None.

        Args:
            socket: A connected Unix socket, or its descriptor.
            timeout: Seconds to wait; None waits forever.

        Returns:
            The ring, and the bytes that came along.
        """
    def resize(self, resources: Sequence[GraphicsResource], /) -> None:
        """Replaces the slots by other resources, even with frames in flight, which are still read.
        """
    def send(
        self, socket: _Socket, role: Literal["producer", "consumer"], data: _Bytes = b"", *,
        timeout: _Number = None,
    ) -> None:
        """Sends the ring to another process. If one of both processes ends, calls of the other one
        raise CUDAError with the status "GR_ERR_SYSTEM".

        Args:
            socket: A connected Unix socket, or its descriptor. The ring uses a copy of it from now
                on, so do not use yours any more.
            role: The role that this process keeps.
            data: Up to 64 KiB for the receiver.
            timeout: Seconds to wait for the socket and for work with the slots.
        """
    def stop(self) -> None:
        """Ends all waits. Published frames can still be read. Any thread."""

@final
class Slots(_With, Generic[_Buffer_co]):
    """Acquired slots of a Ring. The end of their `with` hands them over or gives them back, or
    cancels them if an exception left the block. len() is their number.

    Keep the object while you use a slot: if it is dropped, the slots are cancelled and their
    Buffers closed, as in `ring.acquire_write(stream=stream).buffer.tensor()`.
    """
    @classmethod
    def __class_getitem__(cls, types: Any, /) -> GenericAlias: ...
    @property
    def buffer(self) -> _Buffer_co:
        """The Buffer of the first slot on the CUDA side; else None."""
    @property
    def buffers(self) -> tuple[_Buffer_co, ...]:
        """The Buffers of all slots."""
    @property
    def frame(self) -> int:
        """The frame number of the first slot, from 1."""
    @property
    def frames(self) -> tuple[int, ...]:
        """The frame numbers of all slots."""
    @property
    def index(self) -> int:
        """The index of the first slot in the resources."""
    @property
    def indices(self) -> tuple[int, ...]:
        """The indices of all slots."""
    @property
    def resource(self) -> GraphicsResource:
        """The GraphicsResource of the first slot. In a ring from Ring.receive() it is None, and so
        has no gl_name: the other process has the OpenGL or Vulkan object. Use `buffer` there.
        """
    @property
    def resources(self) -> tuple[GraphicsResource, ...]:
        """The GraphicsResources of all slots, or Nones."""
    def cancel(self) -> None:
        """Cancels: nothing was written, or the frames become unread again."""
    def give_back(self) -> None:
        """Gives read slots back to the producer."""
    def hand_over(self) -> None:
        """Hands written slots to the consumer."""
    def __len__(self) -> int: ...

# ---- Contexts and devices ------------------------------------------------------------------------

@final
class CudaContext(_With):
    """Makes the primary context of a CUDA device current, and creates a stream.

        cuda = CudaContext(0)
        grinterop.publish(texture, tensor, stream=cuda)  # the object can be passed as the stream
        cuda.sync()

    Programs with cuda.core, PyTorch or CuPy pass the streams of those instead.
    """
    def __new__(cls, device: _Int = 0) -> Self: ...
    @property
    def handle(self) -> int:
        """The CUcontext, as an int."""
    @property
    def stream(self) -> int:
        """The CUstream, as an int."""
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def close(self) -> None:
        """Frees it. Call it on the thread that created it."""
    def sync(self) -> None:
        """Waits until its stream is idle."""

@final
class EglContext(_Closes):
    """An OpenGL context without a window, on the GPU of a CUDA device, or on the CPU with the
    software driver. It is current afterwards: moderngl.create_context() and PyOpenGL find it.

    Args:
        cuda_device: The CUDA device.
        major, minor: The OpenGL version; 0 is the newest.
        compatibility: The compatibility profile.
        debug: A debug context.
        share: A context to share OpenGL objects with.
        es: OpenGL ES 3.1 or newer.

    Raises:
        CUDAError: EGL or that version is not available; the message says what is.
    """
    def __new__(
        cls, cuda_device: _Int = 0, major: _Int = 0, minor: _Int = 0, *,
        compatibility: bool = False, debug: bool = False, share: EglContext | None = None,
        es: bool = False,
    ) -> Self: ...
    @property
    def config(self) -> int:
        """The EGLConfig, as an int."""
    @property
    def context(self) -> int:
        """The EGLContext, as an int."""
    @property
    def display(self) -> int:
        """The EGLDisplay, as an int."""
    def close(self) -> None:
        """Destroys it. Closing again does nothing."""
    def describe(self) -> str:
        """One line about the renderer."""
    def make_current(self) -> None:
        """Makes the context current on the calling thread."""
    @staticmethod
    def release_current() -> None:
        """Leaves no OpenGL context current on the calling thread."""

@final
class VulkanDevice(_Closes):
    """Shares memory of a Vulkan device with CUDA.

        device = VulkanDevice.headless()
        buffer = device.create_vk_buffer(size, usage)  # a GraphicsResource: see its vk_buffer
        device.submit([buffer], [commands])

    headless() creates a Vulkan device. VulkanDevice(...) uses yours, by integer handles that must
    outlive it.

    Args:
        instance, physical_device, device, queue, queue_family: Those of your program.
        get_instance_proc_addr: The address of vkGetInstanceProcAddr(). Without it and with an
            `instance` of 0, the functions of libvulkan.so.1 are called.
        synchronization2: Whether you enabled that feature.
        transports: None or 'without copy'. 'any' copies resources that CUDA cannot import, such as
            those with a `memory` of 0: in memory of the GPU, or else through host memory. 'peer'
            always copies in memory of the GPU, 'copy' through host memory.
    """
    def __new__(
        cls, instance: _Int, physical_device: _Int, device: _Int, queue: _Int,
        queue_family: _Int, *, get_instance_proc_addr: _Int = 0, synchronization2: bool = False,
        transports: _VulkanTransport = None,
    ) -> Self: ...
    @classmethod
    def headless(
        cls, cuda_device: _Int = 0, *, validation: bool = False,
        transports: _VulkanTransport = None,
    ) -> Self:
        """Creates a Vulkan device on the GPU of a CUDA device.

        Args:
            cuda_device: The CUDA device.
            validation: Enables the validation layer.
            transports: See VulkanDevice.
        """
    @property
    def cuda_device(self) -> int:
        """The CUDA device of the same GPU."""
    @property
    def device(self) -> int:
        """The VkDevice, as an int."""
    @property
    def get_instance_proc_addr(self) -> int:
        """vkGetInstanceProcAddr(), as an int."""
    @property
    def instance(self) -> int:
        """The VkInstance, as an int."""
    @property
    def physical_device(self) -> int:
        """The VkPhysicalDevice, as an int."""
    @property
    def queue(self) -> int:
        """The VkQueue, as an int."""
    @property
    def queue_family(self) -> int:
        """The queue's family."""
    def close(self) -> None:
        """Closes the device. Its resources keep the Vulkan device alive."""
    def create_vk_buffer(
        self, size: _Int, usage: _Int, *, flags: _Flags = None,
    ) -> GraphicsResource:
        """Creates a VkBuffer of `size` bytes in memory shared with CUDA. `usage` has the bits of
        VkBufferUsageFlags. Returns a GraphicsResource: see its vk_buffer.
        """
    def create_vk_image(
        self, format: _Int, width: _Int, height: _Int, usage: _Int, *, depth: _Int = 1,
        levels: _Int = 1, layers: _Int = 1, flags: _Flags = None,
    ) -> GraphicsResource:
        """Creates a VkImage in memory shared with CUDA. The arguments are those of
        VkImageCreateInfo, as numbers. Returns a GraphicsResource: see its vk_image. The first
        transfer to CUDA is submit([image], layout=0).
        """
    create_buffer = create_vk_buffer
    create_image = create_vk_image
    def describe(self) -> str:
        """One line: its Vulkan and CUDA names, and how memory is shared."""
    def create_vk_buffer_of(
        self, tensor: _Array, usage: _Int, *, flags: _Flags = None,
    ) -> GraphicsResource:
        """Creates a VkBuffer in the memory of a tensor, as GraphicsResource.create_gl_buffer_of() does for
        OpenGL. `usage` has the bits of VkBufferUsageFlags. See its vk_buffer.
        """
    def from_vk_buffer(
        self, buffer: _Int, memory: _Int, memory_size: _Int, size: _Int, *, offset: _Int = 0,
        dedicated: bool = False, flags: _Flags = None, in_flight: _Int = 0,
    ) -> GraphicsResource:
        """Registers your own VkBuffer in exportable VkDeviceMemory.

        If the transports of the device allow copies, memory and memory_size may be 0. in_flight is
        then possible: 2 to 64 staging buffers, so that CUDA and Vulkan work on several frames at
        once. For 'write_discard' and 'read_only', and for submits by submit().
        """
    def from_vk_image(
        self, image: _Int, memory: _Int, memory_size: _Int, format: _Int, width: _Int, height: _Int,
        usage: _Int, *, depth: _Int = 1, levels: _Int = 1, layers: _Int = 1, offset: _Int = 0,
        dedicated: bool = False, flags: _Flags = None, in_flight: _Int = 0,
    ) -> GraphicsResource:
        """Registers your own VkImage in exportable VkDeviceMemory, described as it was created.

        With in_flight as from_vk_buffer().
        """
    def submit(
        self, resources: Iterable[GraphicsResource], commands: Iterable[_Address] = (), *,
        stages: _Int = 0x10000, access: _Int = 0x18000, layout: _Int = 1, first: bool = True,
        last: bool = True, own_barriers: bool = False, fence: _Int = 0, queue: _Int = 0,
    ) -> None:
        """Submits VkCommandBuffers that use the resources, in order with CUDA: they wait for
        earlier releases, and later maps wait for them.

        Args:
            resources: What the commands use.
            commands: The VkCommandBuffers, as ints.
            stages, access, layout: How the commands use the resources, as in VkImageMemoryBarrier2.
                By default any command reads and writes, in VK_IMAGE_LAYOUT_GENERAL.
            first: A barrier before acquires those that CUDA has.
            last: A barrier after releases them to CUDA.
            own_barriers: Your commands contain the barriers that first and last leave out.
            fence: A VkFence to signal, as an int.
            queue: Another VkQueue than that of the device.
        """

# ---- The library ---------------------------------------------------------------------------------

def clear_error() -> None:
    """Clears the last error of the calling thread."""
def cuda_driver_path() -> str:
    """The path of the loaded driver; '' if none is loaded."""
def gl_cuda_device() -> int:
    """The CUDA device that draws for the current OpenGL context."""
def cuda_is_software() -> bool:
    """Whether the loaded driver is the software one."""
def library_version() -> str:
    """The version of libgrinterop."""
def cuda_load(allow_software: bool = False) -> None:
    """Loads the CUDA driver. Other calls do so themselves.

    Args:
        allow_software: If there is no GPU, loads the software driver of grinterop.

    Raises:
        NoDriverError: No driver starts.
    """
def set_log(level: Literal["none", "error", "warning", "info", "debug"], /) -> None:
    """Sets what is logged to stderr: none, error, warning, info or debug. The log has the names of
    C.
    """
def _at_exit() -> None: ...
def _last_error() -> tuple[str, int, int, str, str, str]: ...
def _map_many(
    resources: Sequence[GraphicsResource], stream: _Stream, wait_event: _Event = None,
    ready_event: _Event = None, offset: _Int = 0, size: _Int = 0,
    parts: Sequence[tuple[_Int, _Int]] | None = None,
) -> list[Buffer]: ...
def _milliseconds(timeout: _Number, /) -> int | None: ...
def _parse_register_flags(flags: _Flags, /) -> int: ...
def _cupy_functions() -> tuple[int, int]: ...
def _gl_probe(transport: str, /) -> tuple[bool, str]: ...
def _release_many(
    buffers: Sequence[Buffer], stream: _Stream | None = None, wait_event: _Event = None,
) -> None: ...
def _set_makers(
    error: Callable[..., BaseException], warning: Callable[[type, Exception], None],
    names: Callable[[str], str], /,
) -> None: ...
