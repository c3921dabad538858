/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors into what is drawn, and what was drawn into tensors: one call, one pass on the GPU, and
 * only a copy where both sides have the same layout.
 *
 *     gr_publish(texture, tensor, NULL, stream);              from now on OpenGL or Vulkan has it
 *
 *     static const float half[4] = {0.5f, 0.5f, 0.5f, 1};     from -1..1 to 0..1
 *     static const float plus[4] = {0.5f, 0.5f, 0.5f, 0};
 *     gr_publish_options options = GR_INIT(gr_publish_options, .layout = GR_LAYOUT_CHW,
 *                                          .scale = half, .bias = plus);
 *     gr_publish(texture, network_output, &options, stream);
 *
 * Which function to take:
 *
 *     gr_publish(), gr_fetch()                the resource is mapped and released by the call
 *     gr_buffer_publish(), _fetch()           it is mapped already
 *     gr_ring_publish_tensor(), _fetch_...    into the next slot of a ring, and on to the consumer
 *
 * Shapes      (H,W) and (H,W,C), or what the layout says, with the image's width and height. A 3D
 *             image takes (D,H,W) and (D,H,W,C). Leading dimensions of 1 are passed over.
 * Channels    1 to 1, 2 to 2, 3 to 3, 4 to 4; 3 to 4 adds alpha, 4 to 3 leaves it out; 1 to 3 and
 *             to 4 is grey. CUDA sees images of 3 channels as ones of 4, and Vulkan's BGRA images
 *             as they lie in memory: set gr_publish_options.bgr there for what is RGB.
 * Values      Integers that the graphics API reads as 0 to 1, integers in tensors and buffers, and
 *             floats meet at 0 to 1: 255 in 8 bits, 65535 in 16 bits and 1.0 are the same. Floats
 *             are rounded to the nearest integer, of two the even one; what is below 0 or above 1
 *             becomes 0 or 1, and a NaN 0. An image that is read as integers (GL_RGBA8UI) has
 *             numbers: 255 is 255 and 255.0.
 * Types       u8, u16, f16, bf16 and f32. Any type goes where the bytes agree.
 * Memory      Kernels reach a tensor's memory of the device, pinned and managed. From and to
 *             GR_MEMORY_HOST, which NumPy's arrays are, only a plain copy goes, where the bytes
 *             agree: else gr_tensor_clone() it to the device first.
 * YUV         NV12, P016 and NV16 are two planes, in one tensor below each other, (H*3/2, W) or
 *             (H*2, W), or in two. YUV444 is three planes, (3,H,W) or (H*3,W), of u8 or u16. Each
 *             colour sample counts for the pixels that share it. YUV is published only.
 * Rows        The tensor's first row is the image's row 0: OpenGL's lowest one, as it is for
 *             glTexSubImage2D(), and Vulkan's highest. See gr_publish_options.flip.
 * Order       After all that `stream` has been given, after the tensor's own work, and after
 *             wait_event. The tensor may be freed at once: it ends when the stream has passed.
 * Kernels     are in the library, for GPUs if it was built with nvcc. gr_resource_describe() says
 *             so if it was not. CUDA loads each at its first launch in a context, and may wait for
 *             the context's work then: publish once before a stream waits for what this thread is
 *             going to do.
 */
#ifndef GR_PUBLISH_H
#define GR_PUBLISH_H

#include <grinterop/gr.h>
#include <grinterop/ring.h>
#include <grinterop/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How brightness and two colour differences make red, green and blue. */
typedef enum gr_yuv_matrix {
    GR_YUV_BT709 = 0, /* high definition */
    GR_YUV_BT601 = 1, /* standard definition, and JPEG */
    GR_YUV_BT2020 = 2 /* ultra high definition; constant luminance is not meant */
} gr_yuv_matrix;

/* How a tensor is published or fetched. Every field may be 0. */
typedef struct gr_publish_options {
    size_t struct_size;

    /* What the tensor's dimensions are, whatever the tensor says. 0: what it says. */
    gr_layout layout;

    /* The second plane of NV12, P016 or NV16, where it is a tensor of its own: (H/2, W/2, 2) or
     * (H/2, W), of NV16 with H rows. NULL: it lies below the first. */
    const gr_tensor *chroma;

    /* The tensor's first channel is blue and its third is red. */
    bool bgr;

    /* The tensor's first row is the image's last. */
    bool flip;

    /*
     * Four numbers each, for the image's channels: value * scale + bias, before the sRGB curve of a
     * publish and after that of a fetch. Alpha that the tensor has not is left alone. Read during
     * the call. NULL: 1 and 0.
     */
    const float *scale, *bias;

    /* The fourth channel, where the source has none. One number. NULL: 1. */
    const float *alpha;

    /* The tensor is linear and the image holds colours by the sRGB curve. Not of alpha. */
    bool srgb;

    /* Of YUV: its matrix, and whether its numbers use the full range. 0: BT.709 in limited range,
     * 16 to 235 and 240. */
    gr_yuv_matrix matrix;
    bool full_range;

    /* Of an image: the level and the layer. */
    unsigned level, layer;

    /* Of a buffer: the byte where the first element goes. */
    size_t offset;

    /*
     * Of a buffer: what it holds, by dtype, ndim, shape, strides, layout and offset, which counts
     * from the one above; memory and read_only are passed over. NULL: the tensor's dtype and shape,
     * compact.
     */
    const gr_tensor_desc *target;

    /* The stream waits for this event first. NULL: for nothing. */
    CUevent wait_event;
} gr_publish_options;

/*
 * Writes a tensor to a resource: maps it, writes, and releases it.
 *
 * `options` may be NULL. It works for an image that was not registered with GR_SURFACE_LOAD_STORE
 * too, by way of memory of the resource's own, which costs a copy.
 *
 * Thread   where the resource may be mapped
 *
 * Errors: what the resource holds is unchanged. A write_discard resource loses it by the map, so
 * there all of these are found before, but for two: the driver's own errors once it is mapped,
 * among them no memory for the copy beside an image, and an image of a format that only a map
 * tells. Those of gr_map(), and
 *     GR_ERR_INVALID_VALUE  shapes, channels or options don't go together: the message has both
 *                           shapes; the tensor is NULL
 *     GR_ERR_STATE          the resource is read_only; the tensor was revoked
 *     GR_ERR_UNSUPPORTED    a type that no kernel has, and the bytes don't agree; a kernel is
 *                           needed, and the library was built without nvcc, or the tensor is at an
 *                           address, in memory or on a device that kernels don't reach
 *     GR_ERR_CUDA           the driver refused
 *
 * Wraps cuLaunchKernel, cuMemcpy3DAsync.
 */
GR_API gr_status gr_publish(gr_resource *resource, const gr_tensor *tensor,
                            const gr_publish_options *options, CUstream stream);

/*
 * Reads a resource into a tensor, likewise. The tensor's shape and dtype say what is wanted. The
 * elements are there when the stream has come so far.
 *
 * Errors: as for gr_publish(), but
 *     GR_ERR_STATE  the tensor is read_only; the resource is write_discard, so that a map has
 *                   nothing to read
 */
GR_API gr_status gr_fetch(gr_resource *resource, gr_tensor *tensor,
                          const gr_publish_options *options, CUstream stream);

/*
 * The same with what is mapped, which stays mapped. `stream` may be GR_STREAM_OF_MAP; make another
 * one wait for the map yourself.
 *
 * What gr_map_linear() mapped is one level and layer of the image: others are refused.
 *
 * Errors: as for gr_publish() and gr_fetch() without those of gr_map(), and
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL, or has been released
 *     GR_ERR_STATE          the mapping has ended
 */
GR_API gr_status gr_buffer_publish(gr_buffer *buffer, const gr_tensor *tensor,
                                   const gr_publish_options *options, CUstream stream);
GR_API gr_status gr_buffer_fetch(gr_buffer *buffer, gr_tensor *tensor,
                                 const gr_publish_options *options, CUstream stream);

/*
 * Acquires a slot of the ring for writing, publishes the tensor to it, and hands it on to the
 * consumer. When the publish fails the slot is given up.
 *
 * CUDA writes to the ring, on `stream`. `timeout_ms` is that of gr_ring_acquire_write().
 *
 * Errors: those of gr_ring_acquire_write(), gr_ring_publish() and gr_buffer_publish()
 */
GR_API gr_status gr_ring_publish_tensor(gr_ring *ring, const gr_tensor *tensor,
                                        const gr_publish_options *options, CUstream stream,
                                        unsigned timeout_ms);

/*
 * Acquires the ring's next frame for reading, fetches it into the tensor, and gives the slot back.
 * When the fetch fails the frame is unread again.
 *
 * CUDA reads from the ring, on `stream`.
 *
 * Errors: those of gr_ring_acquire_read(), gr_ring_give_back() and gr_buffer_fetch()
 */
GR_API gr_status gr_ring_fetch_tensor(gr_ring *ring, gr_tensor *tensor,
                                      const gr_publish_options *options, CUstream stream,
                                      unsigned timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
