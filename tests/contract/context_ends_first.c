/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL contexts that end before the mappings of their objects: every call that ends a mapping
 * ends it, says that bytes are lost, and then nothing of the resource is left.
 */
#include "tests/support/support.h"
#include "tests/support/support_image.h"

#include <epoxy/egl.h>
#include <grinterop/ring.h>
#include <grinterop/tensor.h>

#define SIZE ((size_t)3 << 20)
enum { SLOTS = 2, WARM = 1, CYCLES = 4 };

/* ---- Kinds of mappings ----------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    unsigned transport, in_flight;
    enum { BUFFER, OWN_BUFFER, OF_TENSOR, IMAGE, OWN_IMAGE } object;
    bool ring;
} kinds[] = {
    {"interop", GR_TRANSPORT_INTEROP, 0, BUFFER, false},
    {"copy", GR_TRANSPORT_COPY, 0, BUFFER, false},
    {"copy, in place", GR_TRANSPORT_COPY, 0, OWN_BUFFER, false},
    {"shared", GR_TRANSPORT_SHARED, 0, OWN_BUFFER, false},
    {"memory of a tensor", GR_TRANSPORT_SHARED, 0, OF_TENSOR, false},
    {"peer", GR_TRANSPORT_PEER, 0, BUFFER, false},
    {"frames in flight", GR_TRANSPORT_PEER, 2, BUFFER, false},
    {"image by interop", GR_TRANSPORT_INTEROP, 0, IMAGE, false},
    {"image by copy", GR_TRANSPORT_COPY, 0, IMAGE, false},
    {"shared image", GR_TRANSPORT_SHARED, 0, OWN_IMAGE, false},
    {"image with frames in flight", GR_TRANSPORT_PEER, 2, IMAGE, false},
    {"ring by interop", GR_TRANSPORT_INTEROP, 0, BUFFER, true},
    {"ring by copy", GR_TRANSPORT_COPY, 0, BUFFER, true},
    {"ring by sharing", GR_TRANSPORT_SHARED, 0, OWN_BUFFER, true},
    {"ring of images", GR_TRANSPORT_PEER, 2, IMAGE, true},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static gr_resource *make_of_tensor(void)
{
    const int64_t shape[] = {SIZE};
    GR_AUTO(gr_tensor) *tensor =
        gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape,
                                  .exportable = true),
                         fx.stream);
    return tensor ? gr_create_gl_buffer_of(tensor, GR_WRITE_DISCARD, NULL) : NULL;
}

/* NULL if this machine lacks the transport. */
static gr_resource *make(const struct kind *kind)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = kind->transport, .in_flight = kind->in_flight);
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = 1024, .height = 768);
    switch (kind->object) {
    case BUFFER:
        return gr_from_gl_buffer_with(gl_buffer(NULL, SIZE), GR_WRITE_DISCARD, &options);
    case OWN_BUFFER: /* larger ones by copy have staging memory */
        return gr_create_gl_buffer(kind->transport == GR_TRANSPORT_COPY ? SIZE / 3 : SIZE,
                                   GR_WRITE_DISCARD, &options);
    case OF_TENSOR:
        return make_of_tensor();
    case IMAGE:
        return gr_from_gl_image_with(image_make("RGBA8", "2D", 1024, 768, 1).name, GL_TEXTURE_2D,
                                     GR_WRITE_DISCARD, &options);
    default:
        return gr_create_gl_image(&desc, GR_WRITE_DISCARD, &options);
    }
}

/* ---- Orders of ends -------------------------------------------------------------------------- */

/*
 * F frees the resources, L releases later, R releases, U unmaps, C closes; of rings: H hands the
 * slot over, N frees the ring.
 */
static const char *const orders[] = {"FL", "LF", "RF", "FR", "URF", "CRF"};
static const char *const ring_orders[] = {"NRF", "FNR", "NFL", "HNF"};

struct life {
    gr_egl *egl;
    gr_resource *resources[SLOTS];
    size_t count;
    gr_buffer *buffer;
    gr_ring *ring;
    const gr_slot *slot;
    bool lost; /* a call has ended the mapping, and reported it */
};

static char missing[400]; /* why this machine lacks the transport */

static bool begin(struct life *life, const struct kind *kind)
{
    life->egl = must_make(gr_egl_create(NULL));
    for (; life->count < (kind->ring ? SLOTS : 1); life->count++)
        if (!(life->resources[life->count] = make(kind))) {
            snprintf(missing, sizeof(missing), "%s: %s", kind->name, error_text());
            return false;
        }
    if (!kind->ring) {
        life->buffer = must_make(gr_map(life->resources[0], fx.stream));
        return true;
    }
    life->ring = must_make(gr_ring_create(life->resources, life->count, NULL));
    assert_ok(gr_ring_acquire_write(life->ring, fx.stream, &life->slot, 1, 0));
    life->buffer = life->slot->buffer;
    return true;
}

/* Only the first call that ends the mapping reports the loss. */
static void assert_ended(struct life *life, gr_status status)
{
    ck_assert_int_eq(status, life->lost ? GR_OK : GR_ERR_PARTIAL);
    if (!life->lost)
        assert_error(GR_ERR_PARTIAL, 0, "has been destroyed");
    life->lost = true;
}

static void end(struct life *life, char how)
{
    if (how == 'F')
        free_resources(life->resources, life->count);
    else if (how == 'L')
        gr_buffer_release_later(life->buffer);
    else if (how == 'R')
        assert_ended(life, gr_buffer_release(life->buffer));
    else if (how == 'U')
        assert_ended(life, gr_resource_unmap(life->resources[0], GR_STREAM_OF_MAP));
    else if (how == 'C')
        assert_ended(life, gr_resource_close(life->resources[0], GR_STREAM_OF_MAP));
    else if (how == 'H' && gr_resource_get_info(life->resources[0])->transport ==
                               GR_TRANSPORT_SHARED) /* needs no OpenGL */
        assert_ok(gr_ring_hand_over(life->ring, &life->slot, 1));
    else if (how == 'H')
        assert_ended(life, gr_ring_hand_over(life->ring, &life->slot, 1));
    else
        gr_ring_free(life->ring);
    life->lost |= how == 'N'; /* with a warning */
}

static void end_opengl(gr_egl *egl, bool by_application)
{
    if (by_application) {
        assert_ok(gr_egl_make_current(NULL));
        ck_assert(eglDestroyContext(egl->display, egl->context));
        return; /* gr_egl_free() would destroy it again */
    }
    gr_egl_free(egl);
}

/* Returns whether the machine has the transport. */
static bool live(const struct kind *kind, const char *order, bool by_application)
{
    struct life life = {0};
    CUdeviceptr memory;
    const bool possible = begin(&life, kind);
    if (possible && kind->object < IMAGE)
        CU(MemsetD8Async(gr_buffer_ptr(life.buffer), 1, gr_buffer_size(life.buffer), fx.stream));
    CU(StreamSynchronize(fx.stream)); /* the memory of OpenGL ends with its context */
    end_opengl(life.egl, by_application);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_clear_error();
    for (; possible && *order; order++)
        end(&life, *order);
    if (!possible)
        free_resources(life.resources, life.count);
    CU(StreamSynchronize(fx.stream));
    gr_tensor_collect(2000);
    CU(MemAlloc(&memory, SIZE));
    CU(MemFree(memory)); /* CUDA may reuse registered addresses */
    return possible;
}

static size_t free_memory(void)
{
    size_t free_bytes = 0, total = 0;
    CU(MemGetInfo(&free_bytes, &total));
    return free_bytes;
}

GROUP("contexts that end first", add_case)

/* Catches: the mapping stayed for ever, with its memory, and CUDA refused memory at its address. */
TEST(mappings_of_a_destroyed_context_end, KINDS)
{
    const struct kind *kind = &kinds[_i];
    const char *const *list = kind->ring ? ring_orders : orders;
    const size_t count =
        kind->ring ? sizeof(ring_orders) / sizeof(*ring_orders) : sizeof(orders) / sizeof(*orders);
    for (size_t order = 0; order < count; order++) {
        size_t memory = 0;
        int fds = 0;
        for (int i = 0; i < WARM + CYCLES; i++) {
            if (i == WARM) {
                memory = free_memory();
                fds = open_fds();
            }
            const bool possible = live(kind, list[order], i % 2);
            if (!possible && order == 0 && i == 0)
                skip("%s", missing);
            ck_assert_msg(possible, "%s", missing);
        }
        ck_assert_msg(open_fds() == fds, "%s, %s: %d descriptors stay", kind->name, list[order],
                      open_fds() - fds);
        /* other processes use the memory of a GPU, and the NVIDIA driver (580) keeps registered
         * memory until the process ends */
        const size_t now = gr_cuda_is_software() ? free_memory() : memory;
        ck_assert_msg(now + SIZE > memory, "%s, %s: %zu KiB of device memory stay", kind->name,
                      list[order], (memory - now) / 1024);
    }
}
