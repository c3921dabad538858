# SPDX-License-Identifier: Apache-2.0 OR MIT
# Type stubs of the extension. tests/test_stubs.py compares them with the extension.

from collections.abc import Callable, Iterable, Sequence
from typing import (
    Any,
    Literal,
    Protocol,
    SupportsFloat,
    SupportsIndex,
    SupportsInt,
    TypeAlias,
    TypedDict,
    final,
)

from typing_extensions import Buffer as _Bytes
from typing_extensions import CapsuleType, Self

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

class _HasDlpack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

class _HasCudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _HasFileno(Protocol):
    def fileno(self) -> int: ...

_Socket: TypeAlias = int | _HasFileno
_Stream: TypeAlias = (
    SupportsIndex | _CudaStream | _CudaStreamPair | _TorchStream | _CupyStream | _NumbaStream
)
_Event: TypeAlias = SupportsIndex | _CudaCoreEvent | _NumbaEvent | _TorchEvent
_Flags: TypeAlias = str | int | Iterable[str]
_Address: TypeAlias = SupportsInt | SupportsIndex
_Plane: TypeAlias = _HasDlpack | _HasCudaArray | CapsuleType
_Array: TypeAlias = _Plane | Sequence[_Plane]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Strides: TypeAlias = Sequence[SupportsIndex]
_Dtype: TypeAlias = Any
_Values: TypeAlias = SupportsFloat | Sequence[SupportsFloat]
_Transport: TypeAlias = Literal["without copy", "interop", "shared", "copy", "peer", "any"]
_VulkanTransport: TypeAlias = Literal["without copy", "copy", "any"]
_Layout: TypeAlias = Literal["shape", "hwc", "chw", "nv12", "p016", "nv16", "yuv444"]
_Memory: TypeAlias = Literal["device", "host", "pinned", "managed"]
_AnyMemory: TypeAlias = Literal["device", "host", "pinned", "managed", "array"]
_Mode: TypeAlias = Literal["clamp", "border", "wrap", "mirror"]
_Filter: TypeAlias = Literal["point", "linear"]
_FdKind: TypeAlias = Literal["opaque", "dma-buf"]
_Win32Kind: TypeAlias = Literal[
    "opaque",
    "opaque-kmt",
    "d3d12-heap",
    "d3d12-resource",
    "d3d11-resource",
    "d3d11-resource-kmt",
]
_Win32SemaphoreKind: TypeAlias = Literal[
    "timeline",
    "binary",
    "binary-kmt",
    "d3d12-fence",
    "d3d11-fence",
    "keyed-mutex",
    "keyed-mutex-kmt",
]
_Format: TypeAlias = Literal[
    "u8", "u16", "u32", "i8", "i16", "i32", "f16", "f32", "unorm_int_101010_2",
    "bc1_unorm", "bc1_unorm_srgb", "bc2_unorm", "bc2_unorm_srgb", "bc3_unorm", "bc3_unorm_srgb",
    "bc4_unorm", "bc4_snorm", "bc5_unorm", "bc5_snorm", "bc6h_uf16", "bc6h_sf16",
    "bc7_unorm", "bc7_unorm_srgb",
]
_Side: TypeAlias = Literal["cuda", "graphics"]

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

# ---- Resources and mappings ----------------------------------------------------------------------

class GraphicsResource:
    @classmethod
    def from_gl_buffer(
        cls,
        gl_buffer: int,
        *,
        flags: _Flags | None = None,
        stream: _Stream | None = None,
        transports: _Transport | None = None,
    ) -> Self: ...
    @classmethod
    def from_gl_image(
        cls,
        image: int,
        target: int,
        *,
        flags: _Flags | None = None,
        transports: _Transport | None = None,
    ) -> Self: ...
    @classmethod
    def create_gl_buffer(
        cls,
        size: SupportsIndex,
        *,
        flags: _Flags | None = None,
        transports: _Transport | None = None,
        packed: bool = False,
    ) -> Self: ...
    @classmethod
    def create_gl_image(
        cls,
        target: int,
        internal_format: int,
        width: int,
        height: int,
        depth: int = 0,
        levels: int = 0,
        *,
        flags: _Flags | None = None,
        transports: _Transport | None = None,
    ) -> Self: ...
    @classmethod
    def from_fd(
        cls,
        fd: int,
        size: int,
        *,
        kind: _FdKind = "opaque",
        dedicated: bool = False,
        offset: int = 0,
        length: int = 0,
        image: _ExternalImage | None = None,
        flags: _Flags | None = None,
    ) -> Self: ...
    @classmethod
    def from_nvscibuf(
        cls,
        object: _Address,
        size: int,
        *,
        dedicated: bool = False,
        offset: int = 0,
        length: int = 0,
        image: _ExternalImage | None = None,
        flags: _Flags | None = None,
    ) -> Self: ...
    @classmethod
    def from_same_memory(
        cls,
        resource: GraphicsResource,
        *,
        offset: int = 0,
        length: int = 0,
        image: _ExternalImage | None = None,
        flags: _Flags | None = None,
    ) -> Self: ...
    @classmethod
    def from_win32(
        cls,
        handle: _Address | str,
        size: int,
        *,
        kind: _Win32Kind = "opaque",
        dedicated: bool = False,
        offset: int = 0,
        length: int = 0,
        image: _ExternalImage | None = None,
        flags: _Flags | None = None,
    ) -> Self: ...
    @classmethod
    def receive(
        cls, socket: _Socket, *, timeout: SupportsFloat | None = None
    ) -> tuple[Self, bytes]: ...
    @property
    def api(self) -> str: ...
    @property
    def flags(self) -> int: ...
    @property
    def gl_name(self) -> int | None: ...
    @property
    def gl_target(self) -> int | None: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_mapped(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def resource_handle(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def transport(self) -> str: ...
    @property
    def vk_buffer(self) -> int | None: ...
    @property
    def vk_image(self) -> int | None: ...
    @property
    def vk_memory(self) -> int | None: ...
    def close(self, stream: _Stream | None = None) -> None: ...
    def describe(self) -> str: ...
    def map(self, *, stream: _Stream) -> Buffer: ...
    def map_linear(self, level: int = 0, layer: int = 0, *, stream: _Stream) -> Buffer: ...
    def send(
        self, socket: _Socket, data: bytes = b"", *, timeout: SupportsFloat | None = None
    ) -> None: ...
    def set_sync(self, acquire: Semaphore | None, release: Semaphore | None) -> None: ...
    def unmap(self, *, stream: _Stream | None = None) -> None: ...
    def wait(self, timeout: SupportsFloat | None = None) -> None: ...

    # A Buffer if the resource was created with a stream, else the resource itself.
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class Buffer:
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def device_id(self) -> int: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_device_accessible(self) -> bool: ...
    @property
    def is_host_accessible(self) -> bool: ...
    @property
    def is_managed(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def memory_resource(self) -> None: ...
    @property
    def owner(self) -> None: ...
    @property
    def pitch(self) -> int: ...
    @property
    def resource(self) -> GraphicsResource | None: ...
    @property
    def size(self) -> int: ...
    @property
    def stream(self) -> Any: ...
    def __dlpack__(
        self,
        stream: Any = None,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def array(self, level: int = 0, layer: int = 0) -> int: ...
    def close(self, stream: _Stream | None = None) -> None: ...
    def copy_from(self, src: Buffer, *, stream: _Stream) -> None: ...
    def copy_to(self, dst: Buffer, *, stream: _Stream) -> Buffer: ...
    def copy_from_image(
        self,
        address: _Address,
        level: int = 0,
        layer: int = 0,
        *,
        pitch: int = 0,
        slice: int = 0,
        host: bool = False,
        stream: _Stream | None = None,
    ) -> None: ...
    def copy_to_image(
        self,
        address: _Address,
        level: int = 0,
        layer: int = 0,
        *,
        pitch: int = 0,
        slice: int = 0,
        host: bool = False,
        stream: _Stream | None = None,
    ) -> None: ...
    def fill(self, value: int | _Bytes, *, stream: _Stream) -> None: ...
    def image_info(self) -> _ImageInfo: ...
    def mipmapped_array(self) -> int: ...
    def surface(self, level: int = 0, layer: int = 0) -> int: ...
    def tensor(
        self,
        shape: _Shape | None = None,
        dtype: _Dtype = "uint8",
        strides: _Strides | None = None,
        offset: SupportsIndex = 0,
        *,
        layout: _Layout | None = None,
        read_only: bool = False,
        negative_strides: bool = False,
        memory: Literal["array"] | None = None,
    ) -> Tensor: ...
    def texture(
        self,
        level: int = 0,
        layer: int = 0,
        *,
        address: _Mode | Sequence[_Mode] = "clamp",
        filter: _Filter = "point",
        normalized: bool | None = None,
        as_float: bool | None = None,
        srgb: bool | None = None,
        border: tuple[float, float, float, float] = (0, 0, 0, 0),
        whole: bool = False,
        mip_filter: _Filter = "point",
        mip_bias: float = 0,
        min_level: float = 0,
        level_count: int = 0,
        anisotropy: int = 0,
    ) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class Semaphore:
    @classmethod
    def from_fd(
        cls, fd: int, *, kind: Literal["timeline", "binary"] = "timeline", value: int = 0
    ) -> Self: ...
    @classmethod
    def from_nvscisync(cls, object: _Address, /) -> Self: ...
    @classmethod
    def from_win32(
        cls, handle: _Address | str, *, kind: _Win32SemaphoreKind = "timeline", value: int = 0
    ) -> Self: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_timeline(self) -> bool: ...
    def close(self) -> None: ...
    def describe(self) -> str: ...
    def signal(
        self,
        stream: _Stream,
        value: int = 0,
        *,
        key: int = 0,
        fence: int = 0,
        skip_nvscibuf: bool = False,
    ) -> None: ...
    def wait(
        self,
        stream: _Stream,
        value: int = 0,
        *,
        key: int = 0,
        timeout: SupportsFloat | None = 0,
        fence: int = 0,
        skip_nvscibuf: bool = False,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class Submit:
    def __new__(cls, resources: Iterable[GraphicsResource]) -> Self: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def signals(self) -> list[tuple[int, int]]: ...
    @property
    def waits(self) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...
    def commit(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

# ---- Tensors -------------------------------------------------------------------------------------

@final
class Tensor:
    @classmethod
    def alloc(
        cls,
        shape: _Shape,
        dtype: _Dtype = "uint8",
        *,
        stream: _Stream | None = None,
        memory: _Memory = "device",
        layout: _Layout | None = None,
        strides: _Strides | None = None,
    ) -> Self: ...
    @classmethod
    def from_dlpack(
        cls,
        object: _Array,
        *,
        stream: _Stream | None = None,
        layout: _Layout | None = None,
    ) -> Self: ...
    @classmethod
    def wrap(
        cls,
        pointer: _Address,
        shape: _Shape | None,
        dtype: _Dtype = "uint8",
        *,
        strides: _Strides | None = None,
        layout: _Layout | None = None,
        memory: _AnyMemory = "device",
        stream: _Stream | None = None,
        owner: object = None,
        read_only: bool = False,
        negative_strides: bool = False,
    ) -> Self: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def array(self) -> int: ...
    @property
    def chroma(self) -> Tensor | None: ...
    @property
    def device(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_compact(self) -> bool: ...
    @property
    def is_read_only(self) -> bool: ...
    @property
    def is_revoked(self) -> bool: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def layout(self) -> str: ...
    @property
    def memory(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def typestr(self) -> str: ...
    def __dlpack__(
        self,
        stream: Any = None,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def clone(self, memory: _Memory = "device", *, stream: _Stream | None = None) -> Tensor: ...
    def close(self) -> None: ...
    def copy_from(self, other: _Array, *, stream: _Stream | None = None) -> None: ...
    def copy_to(self, other: _Array, *, stream: _Stream | None = None) -> None: ...
    def tobytes(self, *, stream: _Stream | None = None) -> bytes: ...
    def used_on(self, stream: _Stream, /) -> None: ...
    def view(
        self,
        shape: _Shape | None = None,
        dtype: _Dtype = None,
        strides: _Strides | None = None,
        offset: SupportsIndex = 0,
        *,
        layout: _Layout | None = None,
        read_only: bool = False,
        negative_strides: bool = False,
    ) -> Tensor: ...
    def wait(self, stream: _Stream, /) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

def collect(timeout: SupportsFloat | None = None) -> None: ...
def publish(
    target: GraphicsResource | Buffer | Ring,
    tensor: _Array,
    *,
    stream: _Stream | None = None,
    layout: _Layout | None = None,
    bgr: bool = False,
    flip: bool = False,
    scale: _Values | None = None,
    bias: _Values | None = None,
    alpha: SupportsFloat | None = None,
    srgb: bool = False,
    matrix: Literal["bt709", "bt601", "bt2020"] = "bt709",
    full_range: bool = False,
    level: int = 0,
    layer: int = 0,
    offset: SupportsIndex = 0,
    shape: _Shape | None = None,
    dtype: _Dtype = None,
    strides: _Strides | None = None,
    wait_event: _Event | None = None,
    timeout: SupportsFloat | None = None,
) -> None: ...
def fetch(
    target: GraphicsResource | Buffer | Ring,
    tensor: _Array,
    *,
    stream: _Stream | None = None,
    layout: _Layout | None = None,
    bgr: bool = False,
    flip: bool = False,
    scale: _Values | None = None,
    bias: _Values | None = None,
    alpha: SupportsFloat | None = None,
    srgb: bool = False,
    matrix: Literal["bt709", "bt601", "bt2020"] = "bt709",
    full_range: bool = False,
    level: int = 0,
    layer: int = 0,
    offset: SupportsIndex = 0,
    shape: _Shape | None = None,
    dtype: _Dtype = None,
    strides: _Strides | None = None,
    wait_event: _Event | None = None,
    timeout: SupportsFloat | None = None,
) -> None: ...
def fetch_framebuffer(
    framebuffer: int,
    tensor: _Array,
    *,
    stream: _Stream,
    attachment: str | int | None = None,
    rectangle: Sequence[int] | None = None,
    near: SupportsFloat = 0,
    far: SupportsFloat = 0,
    reverse_z: bool = False,
    layout: _Layout | None = None,
    bgr: bool = False,
    flip: bool = False,
    scale: _Values | None = None,
    bias: _Values | None = None,
    alpha: SupportsFloat | None = None,
    srgb: bool = False,
    wait_event: _Event | None = None,
    staging: GraphicsResource | None = None,
) -> None: ...

# ---- Rings ---------------------------------------------------------------------------------------

@final
class Ring:
    def __new__(
        cls,
        resources: Sequence[GraphicsResource],
        *,
        producer: _Side = "cuda",
        mode: Literal["lossless", "newest"] = "lossless",
    ) -> Self: ...
    @property
    def is_closed(self) -> bool: ...
    def acquire_read(
        self,
        n: SupportsIndex = 1,
        *,
        stream: _Stream | None = None,
        timeout: SupportsFloat | None = None,
    ) -> Slots: ...
    def acquire_write(
        self,
        n: SupportsIndex = 1,
        *,
        stream: _Stream | None = None,
        timeout: SupportsFloat | None = None,
    ) -> Slots: ...
    def close(self) -> None: ...
    def descriptor(self, role: Literal["producer", "consumer"], /) -> int: ...
    def info(self) -> _RingInfo: ...
    def resize(self, resources: Sequence[GraphicsResource], /) -> None: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class Slots:
    # None on the graphics side: only the CUDA side has Buffers.
    @property
    def buffer(self) -> Any: ...
    @property
    def buffers(self) -> tuple[Any, ...]: ...
    @property
    def frame(self) -> int: ...
    @property
    def frames(self) -> tuple[int, ...]: ...
    @property
    def index(self) -> int: ...
    @property
    def indices(self) -> tuple[int, ...]: ...
    @property
    def resource(self) -> GraphicsResource: ...
    @property
    def resources(self) -> tuple[GraphicsResource, ...]: ...
    def cancel(self) -> None: ...
    def give_back(self) -> None: ...
    def hand_over(self) -> None: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

# ---- Contexts and devices ------------------------------------------------------------------------

@final
class CudaContext:
    def __new__(cls, device: int = 0) -> Self: ...
    @property
    def handle(self) -> int: ...
    @property
    def stream(self) -> int: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def close(self) -> None: ...
    def sync(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class EglContext:
    def __new__(
        cls,
        cuda_device: int = 0,
        major: int = 0,
        minor: int = 0,
        *,
        compatibility: bool = False,
        debug: bool = False,
        share: EglContext | None = ...,
    ) -> Self: ...
    @property
    def config(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def display(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    def close(self) -> None: ...
    def describe(self) -> str: ...
    def make_current(self) -> None: ...
    @staticmethod
    def release_current() -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

@final
class VulkanDevice:
    def __new__(
        cls,
        instance: int,
        physical_device: int,
        device: int,
        queue: int,
        queue_family: int,
        *,
        get_instance_proc_addr: int,
        synchronization2: bool = False,
        transports: _VulkanTransport | None = None,
    ) -> Self: ...
    @classmethod
    def headless(
        cls,
        cuda_device: int = 0,
        *,
        validation: bool = False,
        transports: _VulkanTransport | None = None,
    ) -> Self: ...
    @property
    def cuda_device(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def get_instance_proc_addr(self) -> int: ...
    @property
    def instance(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def physical_device(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def queue_family(self) -> int: ...
    def close(self) -> None: ...
    def create_buffer(
        self, size: int, usage: int, *, flags: _Flags | None = None
    ) -> GraphicsResource: ...
    def create_image(
        self,
        format: int,
        width: int,
        height: int,
        usage: int,
        *,
        depth: int = 1,
        levels: int = 1,
        layers: int = 1,
        flags: _Flags | None = None,
    ) -> GraphicsResource: ...
    def describe(self) -> str: ...
    def from_vk_buffer(
        self,
        buffer: int,
        memory: int,
        memory_size: int,
        size: int,
        *,
        offset: int = 0,
        dedicated: bool = False,
        flags: _Flags | None = None,
    ) -> GraphicsResource: ...
    def from_vk_image(
        self,
        image: int,
        memory: int,
        memory_size: int,
        format: int,
        width: int,
        height: int,
        usage: int,
        *,
        depth: int = 1,
        levels: int = 1,
        layers: int = 1,
        offset: int = 0,
        dedicated: bool = False,
        flags: _Flags | None = None,
    ) -> GraphicsResource: ...
    def submit(
        self,
        resources: Iterable[GraphicsResource],
        commands: Iterable[_Address] = (),
        *,
        stages: int = ...,
        access: int = ...,
        layout: int = 1,
        first: bool = ...,
        last: bool = True,
        fence: int = 0,
        queue: int = 0,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> Literal[False]: ...

# ---- The library ---------------------------------------------------------------------------------

def bytes_moved() -> int: ...
def clear_error() -> None: ...
def driver_path() -> str: ...
def gl_cuda_device() -> int: ...
def is_software() -> bool: ...
def library_version() -> str: ...
def load(allow_software: bool = False) -> None: ...
def set_log(level: Literal["none", "error", "warning", "info", "debug"], /) -> None: ...
def _last_error() -> tuple[str, int, int, str, str, str]: ...
def _map_many(
    resources: Sequence[GraphicsResource],
    stream: _Stream,
    wait_event: _Event | None = None,
    ready_event: _Event | None = None,
    offset: SupportsIndex = 0,
    size: SupportsIndex = 0,
) -> list[Buffer]: ...
def _parse_register_flags(flags: _Flags | None, /) -> int: ...
def _probe(transport: str, /) -> tuple[bool, str]: ...
def _release_many(
    buffers: Sequence[Buffer],
    stream: _Stream | None = None,
    wait_event: _Event | None = None,
) -> None: ...
def _set_makers(
    error: Callable[..., BaseException], warning: Callable[[type, BaseException], None], /
) -> None: ...
