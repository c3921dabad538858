/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that the program describes: handle types, sizes and offsets past the end, images of any
 * extent. Resources that grinterop accepts must lie within the memory, and CUDA writes must stay
 * inside them.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grinterop/external.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>

enum { MEMORY_SIZE = 8192, BEFORE = 0x11, WRITTEN = 0x77 };

/* ---- The memory ------------------------------------------------------------------------------ */

static unsigned char *memory;

static int make_memory(void)
{
    int fd = fuzz_memory_file(MEMORY_SIZE, NULL);
    memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, FUZZ_FILE_HEAD);
    FUZZ_CHECK(memory != MAP_FAILED);
    memset(memory, BEFORE, MEMORY_SIZE);
    return fd;
}

static int make_descriptor(struct fuzz_input *in)
{
    int fd = make_memory();
    unsigned kind = fuzz_below(in, 8);
    if (kind > 2)
        return fd;
    close(fd);
    return kind == 0 ? -1 : kind == 1 ? open("/dev/null", O_RDWR | O_CLOEXEC) : fuzz_file("", 0, 0);
}

/* Checks that exactly the bytes of this range were written. */
static void check_written(size_t offset, size_t size)
{
    for (size_t i = 0; i < MEMORY_SIZE; i++)
        FUZZ_CHECK(memory[i] == (i >= offset && i - offset < size ? WRITTEN : BEFORE));
    memset(memory, BEFORE, MEMORY_SIZE);
}

/* Checks that no bytes outside of this range were written. */
static void check_outside(size_t offset, size_t size)
{
    for (size_t i = 0; i < MEMORY_SIZE; i++)
        FUZZ_CHECK(memory[i] == BEFORE || (i >= offset && i - offset < size));
    memset(memory, BEFORE, MEMORY_SIZE);
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static gr_external_image_desc some_image(struct fuzz_input *in)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
        CU_AD_FORMAT_SIGNED_INT8,   CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT,          (CUarray_format)0,
        CU_AD_FORMAT_BC1_UNORM,     CU_AD_FORMAT_NV12,           (CUarray_format)0x7fffffff};
    gr_external_image_desc image =
        GR_INIT(gr_external_image_desc, .width = (size_t)fuzz_size(in, 16),
                .height = (size_t)fuzz_size(in, 16), .depth = (size_t)fuzz_size(in, 2),
                .levels = (unsigned)fuzz_size(in, 5), .placed_levels = (unsigned)fuzz_size(in, 5),
                .layers = (unsigned)fuzz_size(in, 6),
                .format = formats[fuzz_below(in, sizeof(formats) / sizeof(formats[0]))],
                .channels = (unsigned)fuzz_size(in, 4));
    uint8_t truths = fuzz_byte(in);
    image.cube = truths & 1;
    image.color_attachment = truths & 2;
    image.depth_texture = truths & 4;
    image.srgb = truths & 8;
    image.normalized = truths & 16;
    return image;
}

static CUexternalMemoryHandleType some_type(struct fuzz_input *in)
{
    uint8_t type = fuzz_byte(in);
    return type < 0xe0 ? CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
                       : (CUexternalMemoryHandleType)(int)(type - 0xe2);
}

/* ---- Publish and fetch ----------------------------------------------------------------------- */

/* CUDA memory for the elements of tensors. */
static CUdeviceptr device_memory[2];

static gr_tensor_desc some_shape(struct fuzz_input *in, int64_t shape[4], int64_t strides[4])
{
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = (gr_dtype)(1 + fuzz_below(in, GR_DTYPE_C128)),
                .ndim = fuzz_below(in, 5), .shape = shape, .layout = (gr_layout)fuzz_below(in, 11));
    for (unsigned i = 0; i < desc.ndim; i++) {
        shape[i] = fuzz_below(in, 4) ? fuzz_below(in, 9) : (int64_t)fuzz_size(in, MEMORY_SIZE);
        strides[i] = (int64_t)fuzz_size(in, MEMORY_SIZE);
    }
    return desc;
}

/* Creates a tensor. Returns NULL if grinterop refuses it, or if it is larger than its memory. */
static gr_tensor *some_tensor(struct fuzz_input *in, CUdeviceptr at)
{
    int64_t shape[4] = {0}, strides[4];
    gr_tensor_desc desc = some_shape(in, shape, strides);
    fuzz_count bytes = gr_dtype_get_info(desc.dtype)->size;
    for (unsigned i = 0; i < desc.ndim; i++)
        if (shape[i] < 0 || (bytes *= (uint64_t)shape[i]) > MEMORY_SIZE)
            return NULL;
    gr_tensor *tensor =
        gr_tensor_from_memory(&desc, (void *)(uintptr_t)at, GR_STREAM_NONE, NULL, NULL);
    if (!tensor)
        fuzz_check_refused();
    return tensor;
}

/* Creates a view of part of the mapping, and checks that the view lies within the mapping. */
static void view_part(struct fuzz_input *in, gr_buffer *buffer)
{
    int64_t shape[4], strides[4];
    gr_tensor_desc desc = some_shape(in, shape, strides);
    if (fuzz_below(in, 2))
        desc.strides = strides;
    desc.offset = (size_t)fuzz_size(in, MEMORY_SIZE);
    gr_tensor *tensor = gr_buffer_tensor(buffer, &desc);
    if (!tensor) {
        fuzz_check_refused();
        return;
    }
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    FUZZ_CHECK(info->bytes == 0 || (info->ptr >= gr_buffer_ptr(buffer) &&
                                    info->ptr < gr_buffer_ptr(buffer) + gr_buffer_size(buffer)));
    gr_tensor_free(tensor);
}

static void publish(struct fuzz_input *in, gr_buffer *buffer)
{
    static const float numbers[4] = {0.5f, 2, 1, 3};
    int64_t shape[4], strides[4];
    gr_tensor *tensor = some_tensor(in, device_memory[0]);
    gr_tensor *chroma = fuzz_below(in, 4) ? NULL : some_tensor(in, device_memory[1]);
    gr_tensor_desc target = some_shape(in, shape, strides);
    if (fuzz_below(in, 2))
        target.strides = strides;
    target.offset = fuzz_below(in, 2) ? 0 : (size_t)fuzz_size(in, MEMORY_SIZE);
    uint8_t truths = fuzz_byte(in);
    const gr_publish_options options =
        GR_INIT(gr_publish_options, .layout = (gr_layout)(int8_t)fuzz_byte(in), .chroma = chroma,
                .chroma_v = truths & 4 ? chroma : NULL, .bits = truths & 8 ? 10 : 0,
                .high_bits = truths & 4, .chroma_position = (gr_chroma_position)(truths % 4),
                .bgr = truths & 1, .flip = truths & 2, .scale = truths & 4 ? numbers : NULL,
                .bias = truths & 8 ? numbers : NULL, .srgb = truths & 16, .full_range = truths & 32,
                .matrix = (gr_yuv_matrix)(int8_t)fuzz_byte(in), .level = (unsigned)fuzz_size(in, 2),
                .layer = (unsigned)fuzz_size(in, 2),
                .offset = truths & 64 ? (size_t)fuzz_size(in, MEMORY_SIZE) : 0,
                .target = truths & 128 ? &target : NULL);
    if (tensor) {
        gr_status status =
            (fuzz_below(in, 2) ? gr_buffer_publish(buffer, tensor, &options, fuzz_cuda.stream)
                               : gr_buffer_fetch(buffer, tensor, &options, fuzz_cuda.stream));
        if (status != GR_OK)
            fuzz_check_error(status);
        FUZZ_CHECK(fuzz_stream_ends());
    }
    gr_tensor_free(chroma);
    gr_tensor_free(tensor);
    gr_clear_error();
}

/* ---- Accepted resources ---------------------------------------------------------------------- */

static void use_buffer(gr_buffer *buffer, const gr_external_part_desc *part, size_t whole)
{
    size_t size = gr_buffer_size(buffer);
    FUZZ_CHECK(part->offset < whole && size > 0 && size <= whole - part->offset);
    FUZZ_CHECK(size == (part->size ? part->size : whole - part->offset));
    FUZZ_CHECK(fuzz_cuda.cu->MemsetD8Async(gr_buffer_ptr(buffer), WRITTEN, size,
                                           fuzz_cuda.stream) == CUDA_SUCCESS);
    FUZZ_CHECK(fuzz_stream_ends());
    check_written(part->offset, size);
}

/*
 * Checks that each level has an array of the described extent, and that bytes past the image keep
 * their values.
 */
static void use_image(gr_buffer *buffer, const gr_external_part_desc *part)
{
    const gr_image_info *info = gr_buffer_get_image_info(buffer);
    const gr_external_image_desc *image = part->image;
    FUZZ_CHECK(info && info->width == image->width);
    FUZZ_CHECK(info->height == (image->height ? image->height : 1));
    FUZZ_CHECK(info->levels == (image->levels ? image->levels : 1) && info->levels <= 64);
    for (unsigned level = 0; level < info->levels; level++) {
        CUDA_ARRAY3D_DESCRIPTOR desc;
        CUarray array = gr_buffer_array(buffer, level, 0);
        FUZZ_CHECK(array);
        FUZZ_CHECK(fuzz_cuda.cu->Array3DGetDescriptor(&desc, array) == CUDA_SUCCESS);
        size_t width = image->width >> level;
        FUZZ_CHECK(desc.Width == (width ? width : 1));
    }
    FUZZ_CHECK(!gr_buffer_array(buffer, info->levels, 0));
    fuzz_check_error(GR_ERR_INVALID_VALUE);
    check_written(0, 0);
}

static void use(struct fuzz_input *in, gr_resource *resource, const gr_external_part_desc *part,
                size_t whole)
{
    FUZZ_CHECK(whole <= MEMORY_SIZE);
    FUZZ_CHECK(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE) == GR_OK);
    gr_buffer *buffer = gr_map(resource, fuzz_cuda.stream);
    FUZZ_CHECK(buffer);
    if (part->image)
        use_image(buffer, part);
    else
        use_buffer(buffer, part, whole);
    while (in->left && fuzz_below(in, 4)) {
        view_part(in, buffer);
        publish(in, buffer);
        check_outside(part->offset, part->image ? whole - part->offset : gr_buffer_size(buffer));
    }
    FUZZ_CHECK(gr_buffer_release(buffer) == GR_OK);
}

/* ---- The target ------------------------------------------------------------------------------ */

static gr_external_part_desc some_part(struct fuzz_input *in, gr_external_image_desc *image)
{
    gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = (size_t)fuzz_size(in, MEMORY_SIZE),
                .size = (size_t)fuzz_size(in, MEMORY_SIZE));
    if (fuzz_below(in, 2)) {
        *image = some_image(in);
        part.image = image;
        if (fuzz_below(in, 4))
            part.size = 0;
    }
    return part;
}

/* Creates a resource of another part of the same memory. */
static void share(struct fuzz_input *in, gr_resource *first, size_t whole)
{
    gr_external_image_desc image;
    const gr_external_part_desc part = some_part(in, &image);
    gr_resource *second = gr_from_same_memory(first, &part, fuzz_byte(in) & 3);
    if (second)
        use(in, second, &part, whole);
    else
        fuzz_check_refused();
    gr_resource_free(second);
}

static void run(struct fuzz_input in)
{
    gr_external_image_desc image;
    gr_external_memory_desc desc =
        GR_INIT(gr_external_memory_desc, .type = some_type(&in), .fd = make_descriptor(&in),
                .size = (size_t)fuzz_size(&in, MEMORY_SIZE), .dedicated = fuzz_below(&in, 2));
    const gr_external_part_desc part = some_part(&in, &image);
    desc.part = fuzz_below(&in, 8) ? &part : NULL;
    gr_resource *resource = gr_from_external_memory(&desc, fuzz_byte(&in) & 15);
    if (resource) {
        static const gr_external_part_desc all = {.struct_size = sizeof(all)};
        use(&in, resource, desc.part ? &part : &all, desc.size);
        while (in.left)
            share(&in, resource, desc.size);
        gr_resource_free(resource);
    } else {
        fuzz_check_refused();
        if (desc.fd >= 0)
            FUZZ_CHECK(close(desc.fd) == 0); /* the program still owns the descriptor */
    }
    munmap(memory, MEMORY_SIZE);
}

static void set_up(void)
{
    fuzz_cuda_set_up();
    for (int i = 0; i < 2; i++) {
        FUZZ_CHECK(fuzz_cuda.cu->MemAlloc(&device_memory[i], MEMORY_SIZE) == CUDA_SUCCESS);
        FUZZ_CHECK(fuzz_cuda.cu->MemsetD8(device_memory[i], 5, MEMORY_SIZE) == CUDA_SUCCESS);
    }
}

const struct fuzz_target fuzz_description = {"description", set_up, run};
