/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Maps that use fewer directions than the registration allows: gr_map_options.access. */
#include "contract.h"

#include <grinterop/tensor.h>

GROUP("access of a map", add_sharing_case)

static gr_buffer *map_for(gr_resource *resource, gr_map_access access)
{
    return must_make(gr_map_with(resource, fx.stream, &GR_INIT(gr_map_options, .access = access)));
}

/* Shared storage has no copies, and a GPU has none by interop: the bytes are the same memory. */
static bool keeps_the_directions_apart(int kind)
{
    return kind == 1 || (kind == 0 && gr_cuda_is_software());
}

static void check_read_only(gr_resource *resource, GLuint name, bool apart)
{
    gr_buffer *buffer = map_for(resource, GR_MAP_READ_ONLY);
    gr_tensor *tensor = must_make(gr_buffer_tensor(buffer, NULL));
    ck_assert(gr_tensor_get_info(tensor)->read_only);
    gr_tensor_free(tensor);
    assert_cuda_bytes(buffer, 1);
    if (apart)
        cuda_fill(buffer, 2);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(name, SIZE, 1);
}

static void check_discard(gr_resource *resource, GLuint name, bool apart)
{
    unsigned char byte = 1;
    gr_buffer *buffer = map_for(resource, GR_MAP_WRITE_DISCARD);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&byte, gr_buffer_ptr(buffer), 1));
    ck_assert(!apart || byte != 1);
    fill_and_release(buffer, 3);
    assert_gl_bytes(name, SIZE, 3);
}

/* The first mapping leaves other bytes in the memory of a copy, so that a missing copy shows. */
TEST(access_holds_for_one_map, 3)
{
    GLuint name, ones = gl_buffer_filled(SIZE, 1);
    const bool apart = keeps_the_directions_apart(_i);
    GR_AUTO(gr_resource) *resource = make_resource(_i, &name);
    if (!resource)
        skip("%s", error_text());
    fill_mapped(resource, 7);
    for (int round = 0; round < 2; round++) {
        gl_copy_buffer(ones, name, SIZE);
        check_read_only(resource, name, apart);
        check_discard(resource, name, apart);
        gr_buffer *both = round ? must_map(resource) : map_for(resource, GR_MAP_READ_WRITE);
        assert_cuda_bytes(both, 3);
        fill_and_release(both, 4);
        assert_gl_bytes(name, SIZE, 4);
    }
}

TEST(access_beyond_the_registration_is_refused)
{
    static const unsigned flags[] = {GR_READ_ONLY, GR_WRITE_DISCARD};
    for (unsigned i = 0; i < 2; i++) {
        GR_AUTO(gr_resource) *resource =
            must_make(gr_from_gl_buffer(gl_buffer_filled(SIZE, 1), flags[i]));
        for (int access = GR_MAP_READ_ONLY; access <= GR_MAP_READ_WRITE; access++) {
            const gr_map_options options = GR_INIT(gr_map_options, .access = (gr_map_access)access);
            GR_AUTO(gr_buffer) *buffer = gr_map_with(resource, fx.stream, &options);
            ck_assert_int_eq(buffer != NULL, (unsigned)access == flags[i]);
            if (!buffer)
                assert_error(GR_ERR_INVALID_VALUE, 0, "it read_write to choose");
        }
    }
    const gr_map_options wrong = GR_INIT(gr_map_options, .access = (gr_map_access)4);
    assert_null_invalid(gr_map_with(fx.resource, fx.stream, &wrong), "is 4, which is no valid");
    assert_not_mapped(fx.resource);
}

/* A map that fails does not change how the next one is mapped. */
TEST(access_of_a_failed_map_is_forgotten)
{
    const gr_map_options options =
        GR_INIT(gr_map_options, .access = GR_MAP_READ_ONLY, .offset = SIZE);
    assert_null_invalid(gr_map_with(fx.resource, fx.stream, &options), "is not within the buffer");
    fill_mapped(fx.resource, 9);
    assert_gl_bytes(fx.name, SIZE, 9);
}

/*
 * CUDA copies from the storage of the object itself, which OpenGL may use again after the release.
 *
 * Catches: a release of a map with GR_MAP_READ_ONLY did not wait for that copy.
 */
TEST(release_of_a_read_only_map_waits_for_the_copy_from_the_storage)
{
    GLuint name;
    GR_AUTO(gr_resource) *resource = must_make(make_resource(1, &name));
    fill_mapped(resource, 1);
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = map_for(resource, GR_MAP_READ_ONLY);
    gate_open_after(gate, 30);
    assert_ok(gr_buffer_release(buffer));
    ck_assert(gate_is_open(gate));
}
