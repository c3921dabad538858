/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See publish_support.h. Values are of type double, which is more precise than any kernel. */
#include "publish_support.h"
#include "tests/support/random_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float half_float(uint32_t bits)
{
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    float value = exponent == 0    ? ldexpf((float)fraction, -24)
                  : exponent == 31 ? (fraction ? NAN : INFINITY)
                                   : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* The nearest half float, found by comparing both neighbours: slow but simple. */
static uint32_t float_half(float value)
{
    uint32_t low = 0, high = 0x7c00;
    const float magnitude = fabsf(value);
    if (isnan(value))
        return 0x7fff;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (half_float(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    const double below = half_float(low), above = high == 0x7c00 ? 65536 : half_float(high);
    const double middle = (below + above) / 2;
    if ((double)magnitude > middle || ((double)magnitude == middle && low % 2))
        low = high;
    return low | (signbit(value) ? 0x8000 : 0);
}

/* The properties of the types: their integers, and whether these are always numbers. */
static const struct {
    double least, most;
    bool is_number;
} ranges[] = {[GR_DTYPE_U8] = {0, UINT8_MAX, false},
              [GR_DTYPE_U16] = {0, UINT16_MAX, false},
              [GR_DTYPE_U32] = {0, UINT32_MAX, true},
              [GR_DTYPE_U64] = {0, 0x1p64, true},
              [GR_DTYPE_I8] = {INT8_MIN, INT8_MAX, false},
              [GR_DTYPE_I16] = {INT16_MIN, INT16_MAX, false},
              [GR_DTYPE_I32] = {INT32_MIN, INT32_MAX, true},
              [GR_DTYPE_I64] = {-0x1p63, 0x1p63, true},
              [GR_DTYPE_BOOL] = {0, 1, false},
              [GR_DTYPE_C128] = {0}};

static double element_double(gr_dtype dtype, uint64_t bits)
{
    const unsigned unused = 64 - 8 * (unsigned)gr_dtype_get_info(dtype)->size;
    double value;
    switch (dtype) {
    case GR_DTYPE_F16:
        return half_float((uint32_t)bits);
    case GR_DTYPE_BF16:
        return bits_float((uint32_t)bits << 16);
    case GR_DTYPE_F32:
        return bits_float((uint32_t)bits);
    case GR_DTYPE_F64:
        memcpy(&value, &bits, sizeof(value));
        return value;
    default:
        return ranges[dtype].least < 0 ? (double)((int64_t)(bits << unused) >> unused)
                                       : (double)bits;
    }
}

uint64_t element_bits(gr_dtype dtype, float value)
{
    const double wide = value;
    uint64_t bits;
    switch (dtype) {
    case GR_DTYPE_F64:
        memcpy(&bits, &wide, sizeof(bits));
        return bits;
    case GR_DTYPE_F16:
        return float_half(value);
    case GR_DTYPE_BF16:
        return (float_bits(value) + 0x7fff + (float_bits(value) >> 16 & 1)) >> 16;
    case GR_DTYPE_F32:
        return float_bits(value);
    default:
        return (uint64_t)value;
    }
}

static bool is_float(gr_dtype dtype)
{
    return ranges[dtype].most == 0;
}

bool is_number(gr_dtype dtype)
{
    return ranges[dtype].is_number;
}

static double unit_of(const struct elements *e)
{
    return e->is_number || is_float(e->dtype) || is_number(e->dtype) ? 1 : ranges[e->dtype].most;
}

static unsigned char *element_at(const struct elements *e, unsigned x, unsigned y, unsigned c)
{
    return e->bytes + (int64_t)x * e->pixel + (int64_t)y * e->row + (int64_t)c * e->channel;
}

static uint64_t bits_at(const struct elements *e, unsigned x, unsigned y, unsigned c)
{
    uint64_t bits = 0;
    memcpy(&bits, element_at(e, x, y, c), gr_dtype_get_info(e->dtype)->size);
    return bits;
}

double element_value(const struct elements *e, unsigned x, unsigned y, unsigned c)
{
    const double value = element_double(e->dtype, bits_at(e, x, y, c)) / unit_of(e);
    return unit_of(e) > 1 && value < -1 ? -1 : value;
}

void elements_fill(const struct elements *e, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (unsigned y = 0; y < e->height; y++)
        for (unsigned x = 0; x < e->width; x++)
            for (unsigned c = 0; c < e->channels; c++) {
                const float part = (float)walk_random(&state, 65536) / 65535;
                uint64_t bits = walk_random(&state, 65536);
                if (is_float(e->dtype))
                    bits =
                        element_bits(e->dtype, e->is_number ? part * 320 - 20 : part * 1.6f - 0.3f);
                else if (e->dtype == GR_DTYPE_BOOL)
                    bits %= 2;
                else if (is_number(e->dtype))
                    bits = (bits << walk_random(&state, 16)) - (ranges[e->dtype].least < 0) * bits;
                memcpy(element_at(e, x, y, c), &bits, gr_dtype_get_info(e->dtype)->size);
            }
}

/* ---- The reference --------------------------------------------------------------------------- */

static double encode(double value)
{
    return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055;
}

static double decode(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* The channel of the source that channel `c` of the destination is copied from. */
static unsigned source_channel(const struct elements *from, unsigned c, const gr_publish_options *o)
{
    if (c < 3 && from->channels == 1)
        return 0;
    return c < 3 && o->bgr ? 2 - c : c;
}

/* The value of a channel of the source; alpha if the source has no such channel. */
static double source_value(const struct elements *from, unsigned x, unsigned y, unsigned channel,
                           const gr_publish_options *o)
{
    if (channel >= from->channels)
        return o->alpha_f64 ? *o->alpha_f64 : o->alpha ? (double)*o->alpha : 1;
    return element_value(from, x, o->flip ? from->height - 1 - y : y, channel);
}

static double scaled(double value, unsigned c, const gr_publish_options *o)
{
    const double scale = o->scale_f64 ? o->scale_f64[c] : o->scale ? (double)o->scale[c] : 1;
    return value * scale + (o->bias_f64 ? o->bias_f64[c] : o->bias ? (double)o->bias[c] : 0);
}

/*
 * The value that a publish of the tensor `from` must write to a channel of the image, or a fetch of
 * the image `from` to a channel of the tensor.
 */
static double converted(const struct elements *from, unsigned x, unsigned y, unsigned to_channel,
                        const gr_publish_options *o, bool fetch)
{
    const unsigned c = source_channel(from, to_channel, o);
    const double value = source_value(from, x, y, c, o);
    if (c >= from->channels)
        return value;
    if (fetch)
        return scaled(o->srgb && c < 3 ? decode(value) : value, c, o);
    const double linear = scaled(value, to_channel, o);
    return o->srgb && to_channel < 3 ? encode(linear) : linear;
}

static bool is_wide(gr_dtype dtype)
{
    return dtype == GR_DTYPE_F64 || is_number(dtype);
}

/*
 * The tolerance of a value, as publish.h describes the precision of kernels. If a value is nearly
 * halfway between two integers, both are accepted.
 */
static double tolerance(const struct elements *from, const struct elements *to, double value,
                        const gr_publish_options *o)
{
    const double size = fmax(fabs(value), 1);
    const double step = is_wide(from->dtype) || is_wide(to->dtype) ? 0x1p-53 : 0x1p-24;
    const bool graded = o->scale || o->bias || o->scale_f64 || o->bias_f64;
    const double count = (o->srgb ? 1e-6 : (graded ? 4 : 1) * step) * size;
    switch (to->dtype) {
    case GR_DTYPE_F16:
        return count + fmax(fabs(value), 0x1p-14) * 0x1p-11;
    case GR_DTYPE_BF16:
        return count + fabs(value) * 0x1p-8;
    case GR_DTYPE_F32:
    case GR_DTYPE_F64:
        return count + (to->dtype == GR_DTYPE_F32 ? 0x1p-24 * size : 0);
    default:
        return count + 0.5 / unit_of(to);
    }
}

static bool is_right(const struct elements *from, const struct elements *to, double got,
                     double want, const gr_publish_options *o)
{
    if (to->dtype == GR_DTYPE_BOOL)
        return got == (want != 0) || fabs(want) < 1e-6;
    if (!is_float(to->dtype)) {
        const double least = ranges[to->dtype].least, most = ranges[to->dtype].most;
        want = fmin(fmax(want, unit_of(to) > 1 && least < 0 ? -1 : least), most / unit_of(to));
    }
    /* A value outside the half float range becomes infinite. */
    if (to->dtype == GR_DTYPE_F16 && want >= 65520)
        return isinf(got) && got > 0;
    return fabs(got - want) <= tolerance(from, to, want, o);
}

const char *transfer_differs(const struct elements *from, const struct elements *to,
                             const gr_publish_options *o, bool fetch)
{
    static char text[200];
    for (unsigned y = 0; y < to->height; y++)
        for (unsigned x = 0; x < to->width; x++)
            for (unsigned c = 0; c < to->channels; c++) {
                const double want = converted(from, x, y, c, o, fetch);
                const double got = element_value(to, x, y, c);
                if (is_right(from, to, got, want, o))
                    continue;
                snprintf(text, sizeof(text), "%u, %u, channel %u is %.9g (0x%llx), not %.9g", x, y,
                         c, got * unit_of(to), (unsigned long long)bits_at(to, x, y, c),
                         want * unit_of(to));
                return text;
            }
    return NULL;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

bool tensors_on_host;

static gr_tensor *wrap(gr_dtype dtype, gr_layout layout, unsigned ndim, const int64_t *shape,
                       const int64_t *strides, CUdeviceptr at, gr_memory memory)
{
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim, .shape = shape, .strides = strides,
                .layout = layout, .memory = memory);
    return must_make(
        gr_tensor_from_memory(&desc, (void *)(uintptr_t)at, GR_STREAM_NONE, NULL, NULL));
}

struct device_tensor tensor_make(gr_dtype dtype, gr_layout layout, unsigned width, unsigned height,
                                 unsigned channels, size_t gap, bool is_number, unsigned seed)
{
    struct device_tensor t = {
        .elements = {.dtype = dtype, .is_number = is_number, .width = width, .height = height}};
    struct elements *e = &t.elements;
    const int64_t size = (int64_t)gr_dtype_get_info(dtype)->size, planes = channels ? channels : 1;
    const bool planar = layout == GR_LAYOUT_CHW;
    e->channels = (unsigned)planes;
    e->pixel = planar ? size : size * planes;
    e->row = e->pixel * width + (int64_t)gap;
    e->channel = planar ? e->row * height : size;
    t.size = gap + (size_t)(planar ? e->channel * planes : e->row * height);
    t.bytes = must_allocate(t.size);
    memset(t.bytes, 0xa5, t.size);
    e->bytes = t.bytes + gap;
    elements_fill(e, seed);
    if (!tensors_on_host)
        CU(MemAlloc(&t.memory, t.size));
    const CUdeviceptr at = (t.memory ? t.memory : (uintptr_t)t.bytes) + gap;
    const int64_t hwc[] = {height, width, planes}, hwc_strides[] = {e->row, e->pixel, e->channel};
    const int64_t chw[] = {planes, height, width}, chw_strides[] = {e->channel, e->row, e->pixel};
    t.tensor =
        wrap(dtype, layout, channels ? 3 : 2, planar ? chw : hwc,
             planar ? chw_strides : hwc_strides, at, t.memory ? GR_MEMORY_DEVICE : GR_MEMORY_HOST);
    tensor_put(&t);
    return t;
}

void tensor_put(const struct device_tensor *t)
{
    if (t->memory)
        CU(MemcpyHtoDAsync(t->memory, t->bytes, t->size, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

void tensor_get(const struct device_tensor *t)
{
    CU(StreamSynchronize(fx.stream));
    if (t->memory)
        CU(MemcpyDtoH(t->bytes, t->memory, t->size));
}

void tensor_end(struct device_tensor *t)
{
    CU(StreamSynchronize(fx.stream));
    gr_tensor_free(t->tensor);
    assert_ok(gr_tensor_collect(1000));
    if (t->memory)
        CU(MemFree(t->memory));
    free(t->bytes);
}

gr_tensor *tensor_on_host(gr_dtype dtype, unsigned ndim, const int64_t *shape,
                          const int64_t *strides, const void *bytes)
{
    return wrap(dtype, GR_LAYOUT_SHAPE, ndim, shape, strides, (uintptr_t)bytes, GR_MEMORY_HOST);
}

/* The tensors of the current case. */
static struct {
    gr_tensor *tensor;
    CUdeviceptr memory;
} kept[32];
static size_t kept_count;

gr_tensor *tensor_of(gr_dtype dtype, gr_layout layout, unsigned ndim, const int64_t *shape,
                     const void *bytes)
{
    size_t size = gr_dtype_get_info(dtype)->size;
    for (unsigned i = 0; i < ndim; i++)
        size *= (size_t)shape[i];
    ck_assert_uint_lt(kept_count, sizeof(kept) / sizeof(kept[0]));
    CU(MemAlloc(&kept[kept_count].memory, size ? size : 1));
    if (bytes)
        CU(MemcpyHtoDAsync(kept[kept_count].memory, bytes, size, fx.stream));
    CU(StreamSynchronize(fx.stream));
    kept[kept_count].tensor =
        wrap(dtype, layout, ndim, shape, NULL, kept[kept_count].memory, GR_MEMORY_DEVICE);
    return kept[kept_count++].tensor;
}

void tensors_end(void)
{
    CU(StreamSynchronize(fx.stream));
    while (kept_count > 0) {
        gr_tensor_free(kept[--kept_count].tensor);
        assert_ok(gr_tensor_collect(1000));
        CU(MemFree(kept[kept_count].memory));
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

gr_dtype image_dtype(const struct image_format *format)
{
    if (format->kind == IMAGE_FLOAT)
        return format->channel_bytes == 2 ? GR_DTYPE_F16 : GR_DTYPE_F32;
    if (format->kind == IMAGE_SIGNED)
        return format->channel_bytes == 1   ? GR_DTYPE_I8
               : format->channel_bytes == 2 ? GR_DTYPE_I16
                                            : GR_DTYPE_I32;
    return format->channel_bytes == 1   ? GR_DTYPE_U8
           : format->channel_bytes == 2 ? GR_DTYPE_U16
                                        : GR_DTYPE_U32;
}

struct elements image_elements(const struct image *image, unsigned char *bytes)
{
    const unsigned texel = image_texel_bytes(image->format);
    return (struct elements){.dtype = image_dtype(image->format),
                             .is_number = image->format->kind == IMAGE_UNSIGNED ||
                                          image->format->kind == IMAGE_SIGNED,
                             .width = image->width,
                             .height = image->height,
                             .channels = image_channels(image->format),
                             .pixel = texel,
                             .row = (int64_t)texel * image->width,
                             .channel = image->format->channel_bytes,
                             .bytes = bytes};
}

/* Publishes a tensor that needs a kernel. The error says whether the kernels are missing. */
const char *publish_kernels_missing(void)
{
    static char reason[300];
    struct image image = image_make("RGBA8", "2D", 4, 4, 1);
    gr_resource *resource = must_register_image(&image, GR_READ_WRITE);
    struct device_tensor t = tensor_make(GR_DTYPE_F32, GR_LAYOUT_HWC, 4, 4, 4, 0, false, 1);
    const gr_status status = gr_publish(resource, t.tensor, NULL, fx.stream);
    snprintf(reason, sizeof(reason), "%s", status == GR_ERR_UNSUPPORTED ? error_text() : "");
    if (status != GR_ERR_UNSUPPORTED)
        assert_ok(status);
    gr_clear_error();
    tensor_end(&t);
    gr_resource_free(resource);
    image_delete(&image);
    return reason[0] ? reason : NULL;
}
