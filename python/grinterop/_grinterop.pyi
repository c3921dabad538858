# SPDX-License-Identifier: Apache-2.0 OR MIT
# Type stubs of the extension. tests/test_stubs.py compares them with the extension.

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, Protocol, SupportsFloat, SupportsIndex, SupportsInt
from typing import TypeAlias, TypedDict, final, overload

from typing_extensions import Buffer as _Bytes
from typing_extensions import CapsuleType, Self, TypeVar

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

_Socket: TypeAlias = int | _HasFileno
_Stream: TypeAlias = (
    SupportsIndex | _CudaStream | _CudaStreamPair | _TorchStream | _CupyStream | _NumbaStream
)
_Event: TypeAlias = SupportsIndex | _CudaCoreEvent | _NumbaEvent | _TorchEvent | None
_Flags: TypeAlias = str | int | Iterable[str] | None
_Address: TypeAlias = SupportsInt | SupportsIndex
_Plane: TypeAlias = _HasDlpack | _HasCudaArray | CapsuleType
_Array: TypeAlias = _Plane | Sequence[_Plane]
_Attachment: TypeAlias = (
    Literal[
        "depth", "stencil", "color", "color0", "color1", "color2", "color3", "color4", "color5",
        "color6", "color7",
    ]
    | int
    | None
)
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Strides: TypeAlias = Sequence[SupportsIndex] | None
_Dtype: TypeAlias = object  # checked by its name
_Number: TypeAlias = SupportsFloat | None
_Values: TypeAlias = SupportsFloat | Sequence[SupportsFloat] | None
_Transport: TypeAlias = Literal["without copy", "interop", "shared", "copy", "peer", "any", None]
_VulkanTransport: TypeAlias = Literal["without copy", "copy", "any", None]
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
    "bc7_unorm", "bc7_unorm_srgb",
]
_Side: TypeAlias = Literal["cuda", "graphics"]

# What slots of a ring have: Buffers on the CUDA side, which passes a stream, and None on the other.
_Buffer_co = TypeVar("_Buffer_co", covariant=True, default=Buffer | None)

class _ImageFormat(TypedDict):
    format: _Format
    channels: int

class _ExternalImage(_ImageFormat, total=False):
    width: int
    height: int
    depth: int
    levels: int
    placed_levels: int
    layers: int
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

# ---- Resources and mappings ----------------------------------------------------------------------

class GraphicsResource:
    """An OpenGL or Vulkan object, or imported memory, that CUDA can use.

    resource = GraphicsResource.from_gl_buffer(name, flags='write_discard')
    with resource.map(stream=stream) as buffer:
        ... kernels on `stream` write to buffer.handle ...
    """
    @overload
    @classmethod
    def from_gl_buffer(
        cls, gl_buffer: int, *, flags: _Flags = None, stream: _Stream,
        transports: _Transport = None, share_group: bool = False, follow_storage: bool = False,
    ) -> _MappingResource: ...
    @overload
    @classmethod
    def from_gl_buffer(
        cls, gl_buffer: int, *, flags: _Flags = None, stream: None = None,
        transports: _Transport = None, share_group: bool = False, follow_storage: bool = False,
    ) -> Self:
        """Shares an existing OpenGL buffer of the current context with CUDA.

        'with from_gl_buffer(name, stream=s) as buffer:' maps the buffer on entry. Without stream,
        the with statement returns the resource. Both close the resource on exit.
        transports: None or 'without copy', 'interop', 'shared', 'peer', 'copy' or 'any'.
        share_group: any context that shares objects with the current one can map and close it.
        follow_storage: map() registers the buffer again if its storage was replaced.
        """
    @classmethod
    def from_gl_image(
        cls, image: int, target: int, *, flags: _Flags = None, transports: _Transport = None,
        share_group: bool = False, follow_storage: bool = False,
    ) -> Self:
        """Shares an existing OpenGL texture or renderbuffer with CUDA. target: GL_TEXTURE_2D etc.,
        as a number. flags: with 'surface_load_store', kernels and publish() write to it without an
        extra copy.
        """
    @classmethod
    def create_gl_buffer(
        cls, size: SupportsIndex, *, flags: _Flags = None, transports: _Transport = None,
        packed: bool = False,
    ) -> Self:
        """Creates an OpenGL buffer in shared memory; its name is gl_name. packed: places many small
        buffers in common blocks. Otherwise each takes at least 2 MiB of GPU memory.
        """
    @classmethod
    def create_gl_image(
        cls, target: int, internal_format: int, width: int, height: int, depth: int = 0,
        levels: int = 0, *, flags: _Flags = None, transports: _Transport = None,
    ) -> Self:
        """Creates an OpenGL texture in shared memory; its name is gl_name."""
    @classmethod
    def from_fd(
        cls, fd: int, size: int, *, kind: _FdKind = "opaque", dedicated: bool = False,
        offset: int = 0, length: int = 0, image: _Image = None, flags: _Flags = None,
    ) -> Self:
        """Imports memory that Vulkan or another process exported as a file descriptor. CUDA owns
        `fd` after a success; after an exception it is still yours to close.

        size: of the whole allocation, in bytes. kind: 'opaque' or 'dma-buf'. dedicated: whether it
        was allocated for this one buffer or image. offset, length: the bytes to use; a length of 0
        means up to the end. image: for an image, a dict with format and channels, width, height,
        depth, levels, placed_levels, layers, cube, color_attachment, depth_texture, srgb and
        normalized, as for gr_external_image_desc. Formats: 'u8', 'u16', 'u32', 'i8', 'i16', 'i32',
        'f16', 'f32'. Call set_sync() before the first map.
        """
    @classmethod
    def from_nvscibuf(
        cls, object: _Address, size: int, *, dedicated: bool = False, offset: int = 0,
        length: int = 0, image: _Image = None, flags: _Flags = None,
    ) -> Self:
        """Imports a NvSciBufObj, given by its address, which stays yours. The others are as for
        from_fd().
        """
    @classmethod
    def from_same_memory(
        cls, resource: GraphicsResource, *, offset: int = 0, length: int = 0, image: _Image = None,
        flags: _Flags = None,
    ) -> Self:
        """Another resource in the imported memory of `resource`, which must not be dedicated. Both
        keep the memory.
        """
    @classmethod
    def from_win32(
        cls, handle: _Address | str, size: int, *, kind: _Win32Kind = "opaque",
        dedicated: bool = False, offset: int = 0, length: int = 0, image: _Image = None,
        flags: _Flags = None,
    ) -> Self:
        """Imports memory by a Windows handle, as an int, or its name, as a str. The handle stays
        yours. kind: 'opaque', 'opaque-kmt', 'd3d12-heap', 'd3d12-resource', 'd3d11-resource' or
        'd3d11-resource-kmt'. The others are as for from_fd().
        """
    @classmethod
    def receive(cls, socket: _Socket, *, timeout: _Number = None) -> tuple[Self, bytes]:
        """Receives a resource that another process sent. Returns it and the sender's bytes. It
        needs set_sync() before the first map if no semaphores came along. Ctrl-C within a message
        shuts the socket down.
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
        """Maps the resource for CUDA and returns a Buffer; OpenGL or Vulkan can use the resource
        again when that is closed. Kernels queued on `stream` can use it at once. `flags` narrows
        a read_write resource for this map: 'read_only' or 'write_discard'.
        """
    def map_linear(self, level: int = 0, layer: int = 0, *, stream: _Stream) -> Buffer:
        """Maps one level and layer of an image as linear memory. It copies at the map and at the
        release, depending on the flags.
        """
    def send(self, socket: _Socket, data: bytes = b"", *, timeout: _Number = None) -> None:
        """Sends the resource to another process over a connected Unix socket, with up to 64 KiB of
        your bytes. The resource stays yours, and both use the same memory. Semaphores of
        set_sync() are sent along. timeout: seconds to wait for room in the socket. Ctrl-C within a
        message shuts the socket down.
        """
    def set_sync(self, acquire: Semaphore | None, release: Semaphore | None) -> None:
        """The order with the graphics API, which signals `acquire` and waits for `release`, with
        the values of a Submit: a map waits for the last Submit, and its end signals what the next
        one waits for. None: the program keeps that order itself. Imported memory needs it before
        the first map. The resource keeps the Semaphores alive.
        """
    def surface(self, level: int = 0, layer: int = 0) -> int:
        """The CUsurfObject of one level and layer, the same in each mapping. Valid while mapped."""
    def texture(
        self, level: int = 0, layer: int = 0, *, address: _Mode | Sequence[_Mode] = "clamp",
        filter: _Filter = "point", normalized: bool | None = None, as_float: bool | None = None,
        srgb: bool | None = None, border: tuple[float, float, float, float] = (0, 0, 0, 0),
        whole: bool = False, mip_filter: _Filter = "point", mip_bias: float = 0,
        min_level: float = 0, level_count: int = 0, anisotropy: int = 0,
    ) -> int:
        """Like Buffer.texture(): a CUtexObject, the same in each mapping. Valid while mapped."""
    def unmap(self, *, stream: _Stream | None = None) -> None:
        """Ends the mapping. None is the stream of the map."""
    def wait(self, timeout: _Number = None) -> None:
        """Blocks the CPU until CUDA has finished with the resource, for up to `timeout` seconds.
        None waits forever.
        """
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

# The type is GraphicsResource: of one that was made with a stream, `with` returns a Buffer.
class _MappingResource(GraphicsResource):
    def __enter__(self) -> Buffer: ...  # type: ignore[override]

@final
class Buffer(_With, _Exports):
    """One mapping of a resource: the bytes, or the image, as CUDA sees them.

    Returned by GraphicsResource.map(). It lasts until its close() or the end of its `with`,
    or until unmap() or close() of the resource.
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
        """The stream passed to the map."""
    def array(self, level: int = 0, layer: int = 0) -> int:
        """The CUarray of one level and layer, as an int."""
    def close(self, stream: _Stream | None = None) -> None:
        """Ends the mapping: the graphics API can use the memory again after the work queued on
        `stream` so far. None is the stream of the map. Closing again does nothing.
        """
    def copy_from(self, src: Buffer, *, stream: _Stream) -> None:
        """Copies the bytes of another Buffer of the same size."""
    def copy_to(self, dst: Buffer, *, stream: _Stream) -> Buffer:
        """Copies its bytes to another Buffer of the same size."""
    def copy_from_image(
        self, address: _Address, level: int = 0, layer: int = 0, *, pitch: int = 0, slice: int = 0,
        host: bool = False, stream: _Stream | None = None,
    ) -> None:
        """Copies one level and layer to linear device memory, or host memory with `host`."""
    copy_to_image = copy_from_image
    """Copies linear memory into one level and layer."""
    def fill(self, value: int | _Bytes, *, stream: _Stream) -> None:
        """Fills it with an int from 0 to 255, or with 1, 2 or 4 bytes of any object with the buffer
        protocol, such as bytes or a NumPy scalar.
        """
    def image_info(self) -> _ImageInfo:
        """The driver's description of the image, as a dict."""
    def mipmapped_array(self) -> int:
        """The CUmipmappedArray of all levels, as an int."""
    def surface(self, level: int = 0, layer: int = 0) -> int:
        """The CUsurfObject of one level and layer, for writes by kernels. Valid while mapped."""
    def tensor(
        self, shape: _Shape | None = None, dtype: _Dtype = "uint8", strides: _Strides = None,
        offset: SupportsIndex = 0, *, layout: _Layout = None, read_only: bool = False,
        negative_strides: bool = False, memory: Literal["array"] | None = None,
    ) -> Tensor:
        """The mapping as a Tensor, without a copy: as bytes, or with that shape and dtype. With
        memory='array' it is the CUDA array of an image, for example for Warp's textures. The
        tensor is revoked when the mapping ends.
        """
    def texture(
        self, level: int = 0, layer: int = 0, *, address: _Mode | Sequence[_Mode] = "clamp",
        filter: _Filter = "point", normalized: bool | None = None, as_float: bool | None = None,
        srgb: bool | None = None, border: tuple[float, float, float, float] = (0, 0, 0, 0),
        whole: bool = False, mip_filter: _Filter = "point", mip_bias: float = 0,
        min_level: float = 0, level_count: int = 0, anisotropy: int = 0,
    ) -> int:
        """A CUtexObject, for sampling by kernels. Valid while mapped. None: as the image's format.
        """

@final
class Semaphore(_Closes):
    """A semaphore that CUDA shares with another API.

    done = Semaphore.from_fd(fd)    # exported by vkGetSemaphoreFdKHR
    done.wait(stream, 7)
    """
    @classmethod
    def from_fd(
        cls, fd: int, *, kind: Literal["timeline", "binary"] = "timeline", value: int = 0,
    ) -> Self:
        """Imports a semaphore that was exported as a file descriptor. CUDA owns `fd` after a
        success; after an exception it is still yours to close. kind: 'timeline' or 'binary'. value:
        the current value of a timeline.
        """
    @classmethod
    def from_nvscisync(cls, object: _Address, /) -> Self:
        """Imports a NvSciSyncObj, given by its address, which must outlive it."""
    @classmethod
    def from_win32(
        cls, handle: _Address | str, *, kind: _Win32SemaphoreKind = "timeline", value: int = 0,
    ) -> Self:
        """Imports a semaphore by a Windows handle, as an int, or its name, as a str. The handle
        stays yours. kind: 'timeline', 'binary', 'binary-kmt', 'd3d12-fence', 'd3d11-fence',
        'keyed-mutex' or 'keyed-mutex-kmt'.
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
        self, stream: _Stream, value: int = 0, *, key: int = 0, fence: int = 0,
        skip_nvscibuf: bool = False,
    ) -> None:
        """Signals after the work queued in `stream` so far: a timeline gets `value`, which must be
        greater than the last one.
        """
    def wait(
        self, stream: _Stream, value: int = 0, *, key: int = 0, timeout: _Number = 0,
        fence: int = 0, skip_nvscibuf: bool = False,
    ) -> None:
        """Later work in `stream` waits until a timeline has `value`, or until a binary semaphore is
        signalled. This thread does not wait.

        key, timeout: of a keyed mutex, in seconds. fence: the address of a NvSciSyncFence.
        """

@final
class Submit(_Closes):
    """Begins a use of the resources by a graphics API: its submit waits for CUDA's last
    use and signals what the next map waits for. As a context manager it commits at
    the end, unless an exception left the block. VulkanDevice.submit() does it alone.
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
class Tensor(_Closes, _Exports):
    """Memory with a type and a shape, exchanged with frameworks without a copy.

    memoryview() reads a Tensor in host, pinned or managed memory.
    """
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @classmethod
    def alloc(
        cls, shape: _Shape, dtype: _Dtype = "uint8", *, stream: _Stream | None = None,
        memory: _Memory = "device", layout: _Layout = None, strides: _Strides = None,
    ) -> Self:
        """Allocates uninitialised memory for later work on `stream`.

        memory: 'device', 'host', 'pinned' or 'managed'. strides: in bytes. layout: as for
        from_dlpack().
        """
    @classmethod
    def from_dlpack(
        cls, object: _Array, *, stream: _Stream | None = None, layout: _Layout = None,
    ) -> Self:
        """Imports a tensor of another framework without a copy: any object with __dlpack__() or
        __cuda_array_interface__, a capsule, or two or three of these as the planes of an image.
        Later work on `stream` waits for the producer's work. `layout` overrides the layout implied
        by the shape: 'hwc', 'chw', 'nv12', 'p016', 'nv16', 'yuv420', 'yuv422', 'yuv444', 'yuyv' or
        'uyvy'.
        """
    @classmethod
    def wrap(
        cls, pointer: _Address, shape: _Shape | None, dtype: _Dtype = "uint8", *,
        strides: _Strides = None, layout: _Layout = None, memory: _AnyMemory = "device",
        stream: _Stream | None = None, owner: object = None, read_only: bool = False,
        negative_strides: bool = False,
    ) -> Self:
        """Wraps existing memory, whose bytes are ready after the work queued on `stream`. `owner`
        is kept until the tensor, its views and its exports are gone and the streams are done. With
        memory='array' the pointer is a CUarray, and the shape None.
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
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbouring elements of each dimension."""
    @property
    def typestr(self) -> str:
        """The element type in array interfaces, such as '<f4'."""
    def clone(self, memory: _Memory = "device", *, stream: _Stream | None = None) -> Tensor:
        """A compact copy, in the order of `stream`; None is the legacy default stream."""
    def close(self) -> None:
        """Releases the tensor. Exports and views keep the memory."""
    def copy_from(self, other: _Array, *, stream: _Stream | None = None) -> None:
        """Copies elements from any object that from_dlpack() accepts, of equal shape and dtype."""
    def copy_to(self, other: _Array, *, stream: _Stream | None = None) -> None:
        """Copies the elements to any object that from_dlpack() accepts, of equal shape and dtype.
        """
    def tobytes(self, *, stream: _Stream | None = None) -> bytes:
        """Its elements as bytes, without gaps. Waits for the work queued on `stream`."""
    def used_on(self, stream: _Stream, /) -> None:
        """Records that `stream` uses it: freeing it, or releasing its mapping, waits for that work.
        """
    def view(
        self, shape: _Shape | None = None, dtype: _Dtype = None, strides: _Strides = None,
        offset: SupportsIndex = 0, *, layout: _Layout = None, read_only: bool = False,
        negative_strides: bool = False,
    ) -> Tensor:
        """The same memory with another description. None keeps the current value. `offset` is the
        position of element 0 in bytes, from the lowest byte of the tensor.
        """
    def wait(self, stream: _Stream, /) -> None:
        """Makes `stream` wait until the bytes are ready."""

def collect(timeout: _Number = None) -> None:
    """Frees dropped tensors, and waits up to `timeout` seconds for those that streams still use.
    None waits forever.
    """
def publish(
    target: GraphicsResource | Buffer | Ring, tensor: _Array, *, stream: _Stream | None = None,
    layout: _Layout = None, bgr: bool = False, flip: bool = False, scale: _Values = None,
    bias: _Values = None, alpha: _Number = None, srgb: bool = False,
    matrix: Literal["bt709", "bt601", "bt2020"] = "bt709", full_range: bool = False, bits: int = 0,
    level: int = 0, layer: int = 0, offset: SupportsIndex = 0, shape: _Shape | None = None,
    dtype: _Dtype = None, strides: _Strides = None, wait_event: _Event = None,
    timeout: _Number = None, x: int = 0, y: int = 0, width: int = 0, height: int = 0,
) -> None:
    """Writes a tensor to graphics memory in one pass: to a GraphicsResource, which is mapped and
    released, to a Buffer, which stays mapped, or to the next slot of a Ring.

    tensor: any object that Tensor.from_dlpack() accepts. stream: may be omitted only for a
    Buffer. layout: overrides that of the tensor. bgr: the first channel is blue. flip: the
    first row becomes the last row of the image. scale, bias: value * scale + bias, as one
    number or one per channel. alpha: used if the tensor has none. srgb: converts from a
    linear tensor to sRGB. matrix, full_range: for YUV. bits: for YUV with fewer than 16 bits,
    the low ones, of uint16: 10 for yuv420p10le. offset, shape, dtype, strides: the elements in
    a buffer; by default the shape and dtype of the tensor, compact. timeout: seconds to wait
    for a ring slot. x, y, width, height: the rectangle of an image; 0 extends it to the edge.
    """
fetch = publish
"""Reads graphics memory into a tensor, with its shape and dtype: the reverse of publish().
The copy runs in stream order: synchronize `stream` before the CPU reads the elements.
"""
def fetch_framebuffer(
    framebuffer: int, tensor: _Array | dict[str, Any] | dict[int, Any], *, stream: _Stream,
    attachment: _Attachment = None, rectangle: Sequence[int] | None = None,
    near: SupportsFloat = 0, far: SupportsFloat = 0, reverse_z: bool = False,
    layout: _Layout = None, bgr: bool = False, flip: bool = False, scale: _Values = None,
    bias: _Values = None, alpha: _Number = None, srgb: bool = False, wait_event: _Event = None,
    staging: GraphicsResource | None = None,
) -> None:
    """Reads an attachment of an OpenGL framebuffer into a tensor, in stream order.

    framebuffer: its name; 0 is that of the window. attachment: 'color', 'color1', 'depth',
    'stencil' or an OpenGL constant; None: the selected read buffer. tensor: may be a dict,
    {'color': rgb, 'depth': metres}, whose attachments are read with one map. rectangle: (x, y,
    width, height). near, far, reverse_z: the planes of the projection, to get distances instead
    of depths. staging: a GraphicsResource of an OpenGL buffer to use again in each call. The
    others are those of fetch(): scale=1000 / 65535 gives millimetres in uint16 if near is in
    metres, but a dict takes no scale and no bias.
    """
def copy_framebuffer(
    framebuffer: int, buffer: GraphicsResource, *, attachment: _Attachment = None,
    rectangle: Sequence[int] | None = None, offset: SupportsIndex = 0,
) -> None:
    """Copies an attachment to a GraphicsResource of an OpenGL buffer, by OpenGL alone. In a Ring
    of such buffers CUDA reads frames while OpenGL draws the next ones.

    The pixels have the channels and types of the attachment, without padding: read them by
    fetch(buffer, tensor, shape=(height, width, 4), dtype='uint8'). offset: in bytes.
    """

# ---- Rings ---------------------------------------------------------------------------------------

@final
class Ring(_Closes):
    """Frames in flight: slots, each a resource, that one side fills and the other reads.
    producer: 'cuda' or 'graphics'; mode: 'lossless' or 'newest'.

        with ring.acquire_write(stream=stream) as slot:
            ... kernels on `stream` write to slot.buffer.handle ...
        with ring.acquire_read() as slot:
            ... OpenGL draws slot.resource.gl_name ...
    """
    def __new__(
        cls, resources: Sequence[GraphicsResource], *, producer: _Side = "cuda",
        mode: Literal["lossless", "newest"] = "lossless",
    ) -> Self: ...
    @overload
    def acquire_read(
        self, n: SupportsIndex = 1, *, stream: _Stream, timeout: _Number = None,
    ) -> Slots[Buffer]: ...
    @overload
    def acquire_read(
        self, n: SupportsIndex = 1, *, stream: None = None, timeout: _Number = None,
    ) -> Slots[None]:
        """Acquires the next n frames to read, like acquire_write(). WaitTimeoutError if no frame is
        handed over within `timeout` seconds.
        """
    @overload
    def acquire_write(
        self, n: SupportsIndex = 1, *, stream: _Stream, timeout: _Number = None,
    ) -> Slots[Buffer]: ...
    @overload
    def acquire_write(
        self, n: SupportsIndex = 1, *, stream: None = None, timeout: _Number = None,
    ) -> Slots[None]:
        """Acquires n slots to write to, as Slots. Waits up to `timeout` seconds (None: forever).

        The CUDA side passes its stream. The graphics side passes none.
        """
    def close(self) -> None:
        """Frees the ring, but not its resources."""
    def descriptor(self, role: Literal["producer", "consumer"], /) -> int:
        """A file descriptor to poll: readable while the 'producer' or the 'consumer' can acquire
        without waiting.
        """
    def info(self) -> _RingInfo:
        """Counts of frames and slots by state, as a dict."""
    @overload
    async def read(
        self, n: SupportsIndex = 1, *, stream: _Stream, timeout: _Number = None,
    ) -> Slots[Buffer]: ...
    @overload
    async def read(
        self, n: SupportsIndex = 1, *, stream: None = None, timeout: _Number = None,
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
        """Receives a ring that another process sent. Returns it and the sender's bytes. This
        process has the other role, and uses CUDA for it. `resource` of its Slots is None.
        """
    def resize(self, resources: Sequence[GraphicsResource], /) -> None:
        """Replaces the slots, even with frames in flight."""
    def send(
        self, socket: _Socket, role: Literal["producer", "consumer"], data: bytes = b"", *,
        timeout: _Number = None,
    ) -> None:
        """Sends the ring to another process over a connected Unix socket, with up to 64 KiB of your
        bytes. This process keeps `role`. The ring uses a copy of the socket from now on, so do not
        use yours any more. timeout: seconds to wait for the socket and for work with the slots. If
        the other process ends, the calls of this one raise CUDAError.
        """
    def stop(self) -> None:
        """Ends all waits. Published frames can still be read. Any thread."""

@final
class Slots(_With, Generic[_Buffer_co]):
    """Acquired slots of a Ring. The end of their `with` hands them over or gives them back,
    or cancels them if an exception is in flight.
    """
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
        """The GraphicsResource of the first slot."""
    @property
    def resources(self) -> tuple[GraphicsResource, ...]:
        """The GraphicsResources of all slots."""
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
    """Makes the primary context of a CUDA device current and creates a stream. The object
    itself can be passed as a stream.
    """
    def __new__(cls, device: int = 0) -> Self: ...
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
    """A windowless OpenGL context on the GPU of a CUDA device, or on the CPU with the software
    driver. Created current. Version 0.0 selects the newest. The context shares OpenGL
    objects with `share`.
    """
    def __new__(
        cls, cuda_device: int = 0, major: int = 0, minor: int = 0, *, compatibility: bool = False,
        debug: bool = False, share: EglContext | None = None,
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
    """Wraps your Vulkan device, by integer handles that must outlive it. headless()
    creates one. transports: None or 'without copy', 'any': copies resources from GPU
    to GPU or through host memory if CUDA cannot share their memory, 'copy': always
    copies through host memory.
    """
    def __new__(
        cls, instance: int, physical_device: int, device: int, queue: int, queue_family: int, *,
        get_instance_proc_addr: int, synchronization2: bool = False,
        transports: _VulkanTransport = None,
    ) -> Self: ...
    @classmethod
    def headless(
        cls, cuda_device: int = 0, *, validation: bool = False, transports: _VulkanTransport = None,
    ) -> Self:
        """Creates a headless Vulkan device on the GPU of a CUDA device."""
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
    def create_buffer(self, size: int, usage: int, *, flags: _Flags = None) -> GraphicsResource:
        """Creates a VkBuffer in memory shared with CUDA, as a GraphicsResource: see its vk_buffer.
        """
    def create_image(
        self, format: int, width: int, height: int, usage: int, *, depth: int = 1, levels: int = 1,
        layers: int = 1, flags: _Flags = None,
    ) -> GraphicsResource:
        """Creates a VkImage in memory shared with CUDA, as a GraphicsResource: see its vk_image.
        The first transfer to CUDA is submit([image], layout=0).
        """
    def describe(self) -> str:
        """One line: its Vulkan and CUDA names, and how memory is shared."""
    def from_vk_buffer(
        self, buffer: int, memory: int, memory_size: int, size: int, *, offset: int = 0,
        dedicated: bool = False, flags: _Flags = None,
    ) -> GraphicsResource:
        """Registers your own VkBuffer in exportable VkDeviceMemory."""
    def from_vk_image(
        self, image: int, memory: int, memory_size: int, format: int, width: int, height: int,
        usage: int, *, depth: int = 1, levels: int = 1, layers: int = 1, offset: int = 0,
        dedicated: bool = False, flags: _Flags = None,
    ) -> GraphicsResource:
        """Registers your own VkImage in exportable VkDeviceMemory, described as it was created."""
    def submit(
        self, resources: Iterable[GraphicsResource], commands: Iterable[_Address] = (), *,
        stages: int = 0x10000, access: int = 0x18000, layout: int = 1, first: bool = True,
        last: bool = True, own_barriers: bool = False, fence: int = 0, queue: int = 0,
    ) -> None:
        """Submits VkCommandBuffers that use the resources, in order with CUDA: they wait for
        earlier releases, and later maps wait for them.

        stages, access and layout describe how the commands use the resources. first: a barrier
        before acquires those that CUDA has. last: a barrier after releases them to CUDA.
        own_barriers: your commands contain the barriers that first and last leave out.
        """

# ---- The library ---------------------------------------------------------------------------------

def clear_error() -> None:
    """Clears the last error of the calling thread."""
def driver_path() -> str:
    """The path of the loaded driver; '' if none is loaded."""
def gl_cuda_device() -> int:
    """The CUDA device that draws for the current OpenGL context."""
def is_software() -> bool:
    """Whether the loaded driver is the software one."""
def library_version() -> str:
    """The version of libgrinterop."""
def load(allow_software: bool = False) -> None:
    """Loads the CUDA driver. If none starts and allow_software is set, loads the software driver.
    """
def set_log(level: Literal["none", "error", "warning", "info", "debug"], /) -> None:
    """Sets what is logged to stderr: none, error, warning, info or debug."""
def _last_error() -> tuple[str, int, int, str, str, str]: ...
def _map_many(
    resources: Sequence[GraphicsResource], stream: _Stream, wait_event: _Event = None,
    ready_event: _Event = None, offset: SupportsIndex = 0, size: SupportsIndex = 0,
) -> list[Buffer]: ...
def _parse_register_flags(flags: _Flags, /) -> int: ...
def _probe(transport: str, /) -> tuple[bool, str]: ...
def _release_many(
    buffers: Sequence[Buffer], stream: _Stream | None = None, wait_event: _Event = None,
) -> None: ...
def _set_makers(
    error: Callable[..., BaseException], warning: Callable[[type, Exception], None], /,
) -> None: ...
