/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes tensors to buffers and images, and reads them back: each call takes one pass on the GPU,
 * or one plain copy if both sides have the same layout.
 *
 *     gr_publish(texture, tensor, NULL, stream);              OpenGL or Vulkan can draw it now
 *
 *     static const float half[4] = {0.5f, 0.5f, 0.5f, 1};     from -1..1 to 0..1
 *     static const float plus[4] = {0.5f, 0.5f, 0.5f, 0};
 *     gr_publish_options options = GR_INIT(gr_publish_options, .layout = GR_LAYOUT_CHW,
 *                                          .scale = half, .bias = plus);
 *     gr_publish(texture, network_output, &options, stream);
 *
 * Which function to use:
 *
 *     gr_publish(), gr_fetch()                maps and releases the resource, or uses the next slot
 *                                             of a ring
 *     gr_buffer_publish(), _fetch()           for a mapped resource, such as a slot of a ring
 *
 * Shapes      (H,W) and (H,W,C), or as the layout says, with the width and height of the image. A
 *             3D image takes (D,H,W) and (D,H,W,C). Leading dimensions of 1 are ignored.
 * Layers      GR_ALL_LAYERS as `layer`: one tensor has all N layers of an array, the 6 faces of a
 *             cube map, or 6 for each cube; with `layers` it has so many, from `layer` on. It is
 *             (N,H,W), (N,H,W,C), or in GR_LAYOUT_CHW (N,C,H,W), with N also if it is 1. YUV is
 *             one layer.
 * Tiles       gr_publish_options.columns: the image, its rectangle, or `target` is a picture of N
 *             tiles, such as the views of N cameras. The tensor is (N,H,W) and so on, as for
 *             layers, and one kernel converts all tiles.
 * Channels    1 to 1, 2 to 2, 3 to 3, 4 to 4; 3 to 4 adds alpha, 4 to 3 drops alpha; 1 to 3 and 1
 *             to 4 gives grey. CUDA sees images of 3 channels as 4, and Vulkan BGRA images in
 *             memory order: for RGB or YUV and BGRA images set gr_publish_options.bgr. Packed
 *             texels (GR_FORMAT_A2B10G10R10 and so on) have 3 or 4 channels, red first, of which
 *             YUV can be fetched, but not published.
 * Values      1.0 equals 255 in u8, 65535 in u16, 127 in i8, 32767 in i16 and true. Integers of 32
 *             and 64 bits are numbers: 255 equals 255.0. To convert them to or from a normalized
 *             image or YUV, set `scale`. In integer images (GL_RGBA8UI), and in a buffer if the
 *             other side has 32 or 64 bits, all integers are numbers.
 *             Values are clamped to the range of the type, which is -1 to 1 for i8 and i16 that are
 *             not numbers. They are rounded to the nearest integer, ties to even; NaN becomes 0.
 *             Anything but 0 becomes true. Floats of packed texels are rounded to nearest, ties to
 *             even; negative values become 0, and too large ones the largest. 11:11:10 keeps NaN
 *             and infinity; in 9:9:9:5 they become 0 and the largest value. 9:9:9:5 is rounded by
 *             the algorithm of EXT_texture_shared_exponent. Depth images have values from 0 to 1:
 *             OpenGL clamps others without an error, so convert distances to depth first.
 * Types       all except complex numbers, which are only copied. If one of the types is f64 or an
 *             integer of 32 or 64 bits, kernels compute with 53 bits, otherwise with the 24 bits of
 *             f32. The sRGB curves have an error of up to 1e-6.
 * Memory      Kernels access device, pinned and managed memory. GR_MEMORY_HOST, such as NumPy
 *             arrays, is converted in device memory, allocated in stream order. CUDA copies such
 *             pageable memory while the call blocks: a publish may block until CUDA has read the
 *             memory, and a fetch until the stream has written it. Pinned memory does not block.
 * YUV         One tensor, or a tensor per plane, each with its own pitch:
 *
 *             layout    type     in one tensor  planes: luma is (H,W), and `chroma` is
 *             NV12      u8       (H*3/2,W)      (H/2,W/2,2) or (H/2,W)
 *             P016      u16      (H*3/2,W)      as for NV12
 *             NV16      u8       (H*2,W)        (H,W/2,2) or (H,W)
 *             YUV420    u8, u16                 (H/2,W/2), as is `chroma_v`
 *             YUV422    u8, u16                 (H,W/2), as is `chroma_v`
 *             YUV444    u8, u16  (3,H,W)        (H,W), as is `chroma_v`
 *                                or (H*3,W)
 *             YUYV      u8       (H,W,2)
 *             UYVY      u8       (H,W,2)
 *
 *             For planes, W/2 and H/2 are rounded up. In one tensor W is even, except for YUV444.
 *             With `chroma_v`, NV12 and P016 mean YUV420, and NV16 means YUV422. u16 has its values
 *             in the high bits, as P010 does, or in the low bits: see gr_publish_options.bits. P016
 *             with `bits` needs `high_bits`, too.
 *             A publish does not interpolate chroma: all pixels of a sample have its colour. A
 *             fetch clamps colours to 0 to 1, after the steps of the options, and rounds to the
 *             nearest value. Luma is that of each pixel. Chroma is that of the mean of two pixels
 *             of a row and two rows, or as gr_chroma_position says. Beyond the edges, the last row
 *             and column are repeated.
 * Rows        The first row of the tensor is row 0 of the image: in OpenGL the lowest, as for
 *             glTexSubImage2D(), in Vulkan the highest. See gr_publish_options.flip.
 * Order       The call is ordered after the previous work in `stream`, the work on the tensor, and
 *             wait_event. The tensor may be freed immediately after the call: its memory is freed
 *             in stream order.
 * Kernels     The library contains the kernels; those for GPUs only if it was built with nvcc.
 *             gr_resource_describe() reports if they are missing. CUDA loads each kernel at its
 *             first launch in a context, and may then wait for all work of the context: publish
 *             once before any stream waits for work that this thread submits later.
 */
#ifndef GR_PUBLISH_H
#define GR_PUBLISH_H

#include <grinterop/gr.h>
#include <grinterop/ring.h>
#include <grinterop/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The matrix that converts YUV to RGB. */
typedef enum gr_yuv_matrix {
    GR_YUV_BT709 = 0, /* high definition */
    GR_YUV_BT601 = 1, /* standard definition, and JPEG */
    GR_YUV_BT2020 = 2 /* ultra high definition, non-constant luminance */
} gr_yuv_matrix;

/*
 * Where a sample of chroma lies if it has half the width or height, for a conversion to YUV. In a
 * direction in which it lies at a pixel, the weights are 1/4, 1/2 and 1/4 of the pixels before, at
 * and after it; between two pixels 1/2 each, as by swscale with SWS_AREA and SWS_BILINEAR. The
 * names are those of FFmpeg, the numbers of ITU-T H.273 in brackets.
 */
typedef enum gr_chroma_position {
    GR_CHROMA_CENTER = 0,  /* between two columns and two rows [1]: MPEG-1, JPEG */
    GR_CHROMA_LEFT = 1,    /* at the left column, between two rows [0]: MPEG-2, H.264 by default */
    GR_CHROMA_TOP_LEFT = 2 /* at the left column and the upper row [2]: BT.2020, and Blu-ray HDR */
} gr_chroma_position;

/* As gr_publish_options.layer: all layers, see Layers above. A 3D image has one layer. */
#define GR_ALL_LAYERS 0xffffffffu

/* How to publish or fetch a tensor. Every field may be 0. */
typedef struct gr_publish_options {
    size_t struct_size;

    /* The layout to use instead of the layout of the tensor. 0: the layout of the tensor. */
    gr_layout layout;

    /* The second plane of YUV as a tensor, which a fetch writes: pairs of U and V, or U. See YUV
     * above. NULL: the tensor has all planes. */
    const gr_tensor *chroma;

    /* Exchange red and blue: the tensor has blue first, or the image of YUV is BGRA. */
    bool bgr;

    /*
     * The first row of the tensor is the last row of the image. Refused for NV12, P016 and YUV420
     * with an odd height: their last row of chroma belongs to one row of luma.
     */
    bool flip;

    /*
     * Arrays of four numbers, one per channel of the image, for value * scale + bias: before the
     * sRGB encoding of a publish, after the sRGB decoding of a fetch. If the tensor has no alpha,
     * alpha is not changed. The arrays are read during the call. NULL: a scale of 1, a bias of 0,
     * or those of scale_f64 and bias_f64.
     */
    const float *scale, *bias;

    /* The value of the fourth channel if the source has none: one number. NULL: 1, or alpha_f64. */
    const float *alpha;

    /* The tensor is linear and the image sRGB encoded, except for alpha. */
    bool srgb;

    /*
     * For YUV: the matrix and the range. 0: BT.709 in limited range, which is 16 to 235 for Y and
     * 16 to 240 for U and V.
     */
    gr_yuv_matrix matrix;
    bool full_range;

    /* For an image: the level, and the layer or GR_ALL_LAYERS. */
    unsigned level, layer;

    /* For a buffer: the offset of the first element in bytes. */
    size_t offset;

    /*
     * For a buffer: the dtype, ndim, shape, strides, layout and offset of the data in it.
     * target->offset is added to `offset` above; memory and read_only are ignored. NULL: the dtype
     * and shape of the tensor, compact.
     */
    const gr_tensor_desc *target;

    /* The event that the stream waits for first. NULL: none. */
    CUevent wait_event;

    /* The third plane of YUV as a tensor, V: `chroma` is U then. NULL: there is none. */
    const gr_tensor *chroma_v;

    /*
     * For YUV of u16: the number of bits of a value, from 8 to 16, in the low bits: 10 for
     * yuv420p10le. 0: 16 bits, or in a publish fewer in the high bits, as in P010.
     */
    unsigned bits;

    /*
     * `bits` counts the high bits, and the low ones are 0: 10 for P010, 12 for P012. With `bits` 0
     * a fetch rounds to 16 bits.
     */
    bool high_bits;

    /* For a conversion to YUV; 0 for any other. */
    gr_chroma_position chroma_position;

    /*
     * For an image: the rectangle of the level in texels, in each slice and layer. The tensor
     * has its width and height, and the other texels keep their values. `y` counts from row 0 of
     * the image. A width or height of 0 extends the rectangle to the edge. In gr_publish() and
     * gr_fetch() the transports that copy move only the rectangle, with OpenGL 4.5.
     */
    unsigned x, y, width, height;

    /*
     * The same as scale, bias and alpha, which are NULL then, in the 53 bits of the types above:
     * the int32 2000000000 becomes 200000000 with a scale of 0.1, but 200000003 with 0.1f.
     */
    const double *scale_f64, *bias_f64, *alpha_f64;

    /*
     * In gr_publish() and gr_fetch(), with a `resource` of NULL: the ring whose next slot is used,
     * and for how many milliseconds the call waits for the slot.
     */
    gr_ring *ring;
    unsigned timeout_ms;

    /*
     * The number of tiles in a row of tiles. Tile 0 is at row 0, column 0, and tile `columns` is
     * above it in OpenGL. With `flip` the whole picture is flipped: tile 0 is the first of the
     * highest row of tiles in OpenGL, where renderers of tiles count from, and each tile is
     * upright. The width is that of `columns` tiles, the height that of all rows of tiles. A
     * publish leaves the pixels of tiles missing in the last row as they are. A buffer needs
     * `target`, which describes the whole picture. Up to 65535 tiles, not for YUV, several slices
     * or layers. 0: no tiles.
     */
    unsigned columns;

    /*
     * For a 3D image: the first slice of the level, and the number of slices. A depth of 0 extends
     * to the last slice. With a depth of 1 the slice is like a 2D image: the tensor may be (H,W,C),
     * YUV or tiles.
     */
    unsigned z, depth;

    /* For an image: the number of layers, from `layer` on. 0: one layer, without N in the shape. */
    unsigned layers;
} gr_publish_options;

/*
 * Maps a resource, writes a tensor to it, and releases the resource.
 *
 * `options` may be NULL. An image without GR_SURFACE_LOAD_STORE is written through linear memory,
 * with one more copy. A rectangle or slices of a write_discard image, and a last row of tiles with
 * gaps, are refused, because the map loses the rest: use gr_map() and gr_buffer_publish() to write
 * all of it. In a slot of a ring the rest is undefined.
 *
 * For the next frame of a ring `resource` is NULL. The call acquires a slot in `stream`, writes the
 * tensor to it, and hands it over. After an error it cancels the slot; in GR_RING_NEWEST the unread
 * frame that the slot had may be lost.
 *
 *     gr_publish(NULL, tensor, &GR_INIT(gr_publish_options, .ring = ring, .timeout_ms = 100),
 *                stream);
 *
 * Thread   where the resource may be mapped
 *
 * Errors: as for gr_map(), and those below. They leave the contents of the resource unchanged, with
 * two exceptions: a write_discard resource loses its contents if the driver fails after the map, or
 * if the format of the image is known only after the map; and with several layers the driver may
 * fail after the first layers.
 *     GR_ERR_INVALID_VALUE  shapes, channels or options do not match: the message has both shapes;
 *                           the tensor is NULL; a resource and a ring are given
 *     GR_ERR_STATE          the resource is read_only; the tensor was revoked
 *     GR_ERR_UNSUPPORTED    no kernel supports the conversion; or a kernel is needed, and the
 *                           library was built without nvcc, or kernels cannot access the address,
 *                           memory or device of the tensor
 *     GR_ERR_NO_MEMORY      no device memory was left to convert a tensor in host memory
 *     GR_ERR_CUDA           the driver refused
 * With a ring: also as for gr_ring_acquire_write() and gr_ring_hand_over()
 *
 * Wraps cuLaunchKernel, cuMemcpy3DAsync.
 */
GR_API gr_status gr_publish(gr_resource *resource, const gr_tensor *tensor,
                            const gr_publish_options *options, CUstream stream);

/*
 * Reads a resource, or the next frame of a ring, into a tensor, in the tensor's shape and dtype, in
 * stream order. The slot of a frame is given back, or cancelled after an error.
 *
 * Errors: as for gr_publish(), with those of gr_ring_acquire_read() and gr_ring_give_back(), but
 *     GR_ERR_STATE  the tensor is read_only; the resource is write_discard and cannot be read
 */
GR_API gr_status gr_fetch(gr_resource *resource, gr_tensor *tensor,
                          const gr_publish_options *options, CUstream stream);

/*
 * Publishes to, or fetches from, a mapped resource, which stays mapped. `stream` may be
 * GR_STREAM_OF_MAP; make any other stream wait for the map yourself.
 *
 * A gr_map_linear() mapping has one level and layer of the image: other levels and layers are
 * refused.
 *
 * Errors: as for gr_publish() and gr_fetch() without those of gr_map(), and
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL, or was released
 *     GR_ERR_STATE          the mapping has ended
 *
 * A write_discard mapping can be fetched: it contains the data written since the map.
 */
GR_API gr_status gr_buffer_publish(gr_buffer *buffer, const gr_tensor *tensor,
                                   const gr_publish_options *options, CUstream stream);
GR_API gr_status gr_buffer_fetch(gr_buffer *buffer, gr_tensor *tensor,
                                 const gr_publish_options *options, CUstream stream);

#ifdef __cplusplus
}
#endif
#endif
