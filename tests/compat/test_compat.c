/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * compat.h with the names of the driver API: each row is a call and its expected code. The test
 * makes each call with the driver and with compat.h, so that a difference shows. The codes of the
 * driver are those of test_conformance.
 */
#define _GNU_SOURCE /* setenv() */
#include <grinterop/compat.h>

#include "compat_rows.h"
#include "tests/support/shader_calls.h"

#include <stdlib.h>
#include <string.h>

const struct compat_side *side;

static CUresult map_by_name(unsigned n, CUgraphicsResource *resources, CUstream stream)
{
    return cuGraphicsMapResources(n, resources, stream);
}

static CUresult unmap_by_name(unsigned n, CUgraphicsResource *resources, CUstream stream)
{
    return cuGraphicsUnmapResources(n, resources, stream);
}

static const struct compat_side header = {
    .name = "compat.h",
    .is_header = true,
    .GLRegisterBuffer = cuGraphicsGLRegisterBuffer,
    .GLRegisterImage = cuGraphicsGLRegisterImage,
    .UnregisterResource = cuGraphicsUnregisterResource,
    .ResourceSetMapFlags = cuGraphicsResourceSetMapFlags,
    .MapResources = map_by_name,
    .UnmapResources = unmap_by_name,
    .ResourceGetMappedPointer = cuGraphicsResourceGetMappedPointer,
    .SubResourceGetMappedArray = cuGraphicsSubResourceGetMappedArray,
    .ResourceGetMappedMipmappedArray = cuGraphicsResourceGetMappedMipmappedArray,
};

static struct compat_side driver_side(void)
{
    const gr_cuda_api *cu = fx.cu;
    return (struct compat_side){
        .name = "the driver",
        .GLRegisterBuffer = cu->GraphicsGLRegisterBuffer,
        .GLRegisterImage = cu->GraphicsGLRegisterImage,
        .UnregisterResource = cu->GraphicsUnregisterResource,
        .ResourceSetMapFlags = cu->GraphicsResourceSetMapFlags,
        .MapResources = cu->GraphicsMapResources,
        .UnmapResources = cu->GraphicsUnmapResources,
        .ResourceGetMappedPointer = cu->GraphicsResourceGetMappedPointer,
        .SubResourceGetMappedArray = cu->GraphicsSubResourceGetMappedArray,
        .ResourceGetMappedMipmappedArray = cu->GraphicsResourceGetMappedMipmappedArray,
    };
}

GROUP("codes", add_case)

static char differences[8192];

void compat_note(const char *call, CUresult got, CUresult wanted)
{
    char line[512];
    if (got == wanted)
        return;
    snprintf(line, sizeof(line), "\n  %s: %s returned %d (%s), not %d; %s", side->name, call,
             (int)got, result_name((int)got), (int)wanted, side->is_header ? error_text() : "");
    strncat(differences, line, sizeof(differences) - strlen(differences) - 1);
}

CUgraphicsResource compat_buffer(size_t size)
{
    CUgraphicsResource made = NULL;
    ROW(SUCCESS, GLRegisterBuffer(&made, gl_buffer(NULL, size), 0));
    return made;
}

static int case_count(void)
{
    int count = 0;
    while (compat_cases[count].run)
        count++;
    return count;
}

TEST(driver_and_header_return_the_same_codes, case_count())
{
    const struct compat_side driver = driver_side();
    const struct compat_side *const sides[] = {&driver, &header};
    differences[0] = '\0';
    for (size_t i = 0; i < 2; i++) {
        side = sides[i];
        compat_cases[_i].run();
        CU(CtxSetCurrent(fx.context));
        CU(CtxSynchronize());
    }
    ck_assert_msg(differences[0] == '\0', "%s:%s", compat_cases[_i].name, differences);
}

GROUP("bytes", add_case)

#define SIZE 4096

static CUgraphicsResource header_buffer(GLuint name, unsigned flags)
{
    CUgraphicsResource made = NULL;
    assert_result(CUDA_SUCCESS, cuGraphicsGLRegisterBuffer(&made, name, flags), "register");
    return made;
}

static CUdeviceptr map_one(CUgraphicsResource resource, CUstream stream)
{
    CUdeviceptr pointer = 0;
    size_t size = 0;
    assert_result(CUDA_SUCCESS, cuGraphicsMapResources(1, &resource, stream), "map");
    assert_result(CUDA_SUCCESS, cuGraphicsResourceGetMappedPointer(&pointer, &size, resource),
                  "pointer");
    ck_assert_uint_eq(size, SIZE);
    return pointer;
}

static void unmap_one(CUgraphicsResource resource, CUstream stream)
{
    assert_result(CUDA_SUCCESS, cuGraphicsUnmapResources(1, &resource, stream), "unmap");
}

static void end_one(CUgraphicsResource resource)
{
    assert_result(CUDA_SUCCESS, cuGraphicsUnregisterResource(resource), "unregister");
}

TEST(cuda_and_opengl_read_each_others_bytes)
{
    GLuint name = gl_buffer_filled(SIZE, 3);
    unsigned char read[SIZE];
    CUgraphicsResource resource = header_buffer(name, 0);
    CUdeviceptr pointer = map_one(resource, fx.stream);
    CU(MemcpyDtoHAsync(read, pointer, SIZE, fx.stream));
    CU(MemsetD8Async(pointer, 9, SIZE, fx.stream));
    unmap_one(resource, fx.other); /* `other` then waits for the stream of the map */
    CU(StreamSynchronize(fx.stream));
    assert_bytes(read, SIZE, 3);
    assert_gl_bytes(name, SIZE, 9);
    end_one(resource);
}

/* More resources than a call handles without the heap, and more than fit into one driver call. */
TEST(one_call_maps_300_resources)
{
    enum { MANY = 300 };
    static CUgraphicsResource resources[MANY];
    GLuint names[MANY];
    for (size_t i = 0; i < MANY; i++)
        resources[i] = header_buffer(names[i] = gl_buffer_filled(SIZE, 1),
                                     CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    assert_result(CUDA_SUCCESS, cuGraphicsMapResources(MANY, resources, fx.stream), "map");
    for (size_t i = 0; i < MANY; i++) {
        CUdeviceptr pointer = 0;
        size_t size = 0;
        assert_result(CUDA_SUCCESS,
                      cuGraphicsResourceGetMappedPointer(&pointer, &size, resources[i]), "pointer");
        CU(MemsetD8Async(pointer, (unsigned char)i, SIZE, fx.stream));
    }
    assert_result(CUDA_SUCCESS, cuGraphicsUnmapResources(MANY, resources, fx.stream), "unmap");
    for (size_t i = 0; i < MANY; i++) {
        assert_gl_bytes(names[i], SIZE, (unsigned char)i);
        end_one(resources[i]);
    }
}

/*
 * Catches: the transport copied bytes in one direction only, so a later map for reading got no
 * bytes.
 */
TEST(map_flags_may_exceed_the_register_flags, 2)
{
    GLuint name = gl_buffer_filled(SIZE, 5);
    unsigned char read[SIZE];
    setenv("GR_COMPAT", _i ? "copy" : "interop", 1);
    CUgraphicsResource resource = header_buffer(name, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    assert_result(CUDA_SUCCESS, cuGraphicsResourceSetMapFlags(resource, 0), "flags");
    CUdeviceptr pointer = map_one(resource, fx.stream);
    CU(MemcpyDtoHAsync(read, pointer, SIZE, fx.stream));
    unmap_one(resource, fx.stream);
    CU(StreamSynchronize(fx.stream));
    assert_bytes(read, SIZE, 5);
    end_one(resource);
    unsetenv("GR_COMPAT");
}

TEST(layers_of_a_copied_array_can_only_be_read)
{
    unsigned char texels[3 * 5 * 7 * 4];
    CUgraphicsResource resource = NULL;
    CUarray array = NULL;
    setenv("GR_COMPAT", "copy", 1);
    side = &header;
    differences[0] = '\0';
    compat_layers_as_slices();
    ck_assert_str_eq(differences, "");
    const GLuint name = compat_array_texture(texels);
    assert_result(CUDA_SUCCESS, cuGraphicsGLRegisterImage(&resource, name, GL_TEXTURE_3D, 0),
                  "register");
    assert_result(CUDA_SUCCESS, cuGraphicsMapResources(1, &resource, fx.stream), "map");
    assert_result(CUDA_ERROR_NOT_SUPPORTED,
                  cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0), "array");
    unmap_one(resource, fx.stream);
    end_one(resource);
    unsetenv("GR_COMPAT");
}

TEST(an_image_is_written_through_its_array)
{
    enum { SIDE = 8 };
    unsigned char texels[SIDE * SIDE * 4], read[sizeof(texels)];
    pattern_fill(texels, sizeof(texels), 7);
    GLuint name = compat_texture(SIDE);
    CUgraphicsResource resource = NULL;
    CUarray array = NULL;
    assert_result(CUDA_SUCCESS,
                  cuGraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D,
                                            CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD),
                  "register");
    assert_result(CUDA_SUCCESS, cuGraphicsMapResources(1, &resource, NULL), "map");
    assert_result(CUDA_SUCCESS, cuGraphicsSubResourceGetMappedArray(&array, resource, 0, 0),
                  "array");
    const CUDA_MEMCPY3D copy = copy_to_array(array, texels, SIDE * 4, SIDE, 1);
    CU(Memcpy3DAsync(&copy, NULL));
    assert_result(CUDA_SUCCESS, cuGraphicsUnmapResources(1, &resource, NULL), "unmap");
    glBindTexture(GL_TEXTURE_2D, name);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, read);
    ck_assert_mem_eq(read, texels, sizeof(texels));
    end_one(resource);
}

GROUP("errors", add_case)

static void assert_says(CUresult code, CUresult got, const char *call, const char *text)
{
    assert_result(code, got, call);
    ck_assert_str_eq(gr_last_error()->call, call);
    ck_assert_msg(strstr(gr_last_error()->message, text), "%s", gr_last_error()->message);
    ck_assert_msg(!strstr(gr_last_error()->message, "?."), "%s", gr_last_error()->message);
    gr_clear_error();
}

TEST(layers_registered_as_slices_have_one_index)
{
    unsigned char texels[3 * 5 * 7 * 4];
    CUgraphicsResource resource = NULL;
    CUarray array = NULL;
    assert_result(CUDA_SUCCESS,
                  cuGraphicsGLRegisterImage(&resource, compat_array_texture(texels), GL_TEXTURE_3D,
                                            GR_READ_ONLY),
                  "register");
    assert_result(CUDA_SUCCESS, cuGraphicsMapResources(1, &resource, fx.stream), "map");
    assert_says(CUDA_ERROR_INVALID_VALUE,
                cuGraphicsSubResourceGetMappedArray(&array, resource, 1, 0),
                "cuGraphicsSubResourceGetMappedArray", "Index 1 does not exist: ");
    unmap_one(resource, fx.stream);
    end_one(resource);
}

/* Catches: messages named grinterop functions to a program that only calls CUDA names. */
TEST(errors_name_the_function_that_the_program_called)
{
    CUgraphicsResource none = NULL, made = NULL;
    GLuint name = gl_buffer_filled(SIZE, 1);
    assert_says(CUDA_ERROR_INVALID_HANDLE, cuGraphicsMapResources(1, &none, fx.stream),
                "cuGraphicsMapResources", "The resource is NULL: did its registration fail?");
    assert_says(CUDA_ERROR_INVALID_VALUE, cuGraphicsGLRegisterBuffer(&made, name, 77),
                "cuGraphicsGLRegisterBuffer", "The flags are read_only (1), write_discard (2), ");
    assert_says(CUDA_ERROR_INVALID_VALUE, cuGraphicsGLRegisterBuffer(&made, name, 3),
                "cuGraphicsGLRegisterBuffer",
                "pass one of them, or neither for read-write access.");
    CUgraphicsResource resource = header_buffer(name, 0);
    glDeleteBuffers(1, &name);
    assert_says(CUDA_ERROR_MAP_FAILED, cuGraphicsMapResources(1, &resource, fx.stream),
                "cuGraphicsMapResources", "by cuGraphicsUnregisterResource(), and register the ");
    end_one(resource);
    /* The program also calls grinterop directly. */
    ck_assert_ptr_eq(gr_from_gl_buffer(name, 77), NULL);
    ck_assert_str_eq(gr_last_error()->call, "gr_from_gl_buffer");
    gr_clear_error();
}

GROUP("GR_COMPAT", add_case)

static void register_fails(const char *compat, CUresult code, gr_status status, const char *text)
{
    CUgraphicsResource kept = (CUgraphicsResource)&kept, made = kept;
    setenv("GR_COMPAT", compat, 1);
    gr_clear_error();
    CUresult got = cuGraphicsGLRegisterBuffer(&made, gl_buffer(NULL, SIZE), 0);
    unsetenv("GR_COMPAT");
    ck_assert_ptr_eq(made, kept);
    assert_result(code, got, compat);
    assert_error(status, -1, text);
}

TEST(invalid_words_in_gr_compat_are_reported)
{
    register_fails(
        "shared", CUDA_ERROR_NOT_SUPPORTED, GR_ERR_UNSUPPORTED,
        "GR_COMPAT names \"shared\", but OpenGL cannot share the storage of an existing ");
    register_fails("in_flight|shared", CUDA_ERROR_NOT_SUPPORTED, GR_ERR_UNSUPPORTED, "\"shared\"");
    register_fails("copied", CUDA_ERROR_INVALID_VALUE, GR_ERR_INVALID_VALUE, "\"copied\"");
    register_fails("interop|cop", CUDA_ERROR_INVALID_VALUE, GR_ERR_INVALID_VALUE, "\"cop\"");
    register_fails("in_flights", CUDA_ERROR_INVALID_VALUE, GR_ERR_INVALID_VALUE,
                   "\"in_flights\", which is not a transport");
}

TEST(invalid_numbers_of_frames_in_gr_compat_are_reported, 9)
{
    static const char *const numbers[] = {"", "1", "0", "65", "-4", "4x", "x", "4=4", "9999999999"};
    char value[40], text[120];
    snprintf(value, sizeof(value), "in_flight=%s", numbers[_i]);
    snprintf(text, sizeof(text),
             "GR_COMPAT names \"%s\", which is no number of frames: use in_flight=N with 2 to 64 ",
             value);
    register_fails(value, CUDA_ERROR_INVALID_VALUE, GR_ERR_INVALID_VALUE, text);
}

static gr_log_level seen_level;
static char seen[1024], frames[2048]; /* the last line on transports, all on frames in flight */

static void see(void *user, gr_log_level level, const char *line)
{
    (void)user;
    seen_level = level;
    if (strstr(line, "GR_COMPAT=in_flight"))
        snprintf(frames + strlen(frames), sizeof(frames) - strlen(frames), "%s; ", line);
    else if (strstr(line, "transport"))
        snprintf(seen, sizeof(seen), "%s", line);
}

TEST(gr_compat_sets_the_transport, 5)
{
    const gr_transport_info *peer = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    const char *const words[][2] = {
        {"interop", "transport interop"},
        {"copy", "transport copy"},
        {"peer|copy", peer->usable ? "transport peer" : "transport copy"},
        {"any", "transport interop"},
        {"", "transport interop"}};
    GLuint name = gl_buffer_filled(SIZE, 1);
    setenv("GR_COMPAT", words[_i][0], 1);
    gr_log_add(GR_LOG_DEBUG, see, NULL);
    CUgraphicsResource resource = header_buffer(name, 0);
    seen[0] = '\0';
    CU(MemsetD8Async(map_one(resource, fx.stream), 6, SIZE, fx.stream));
    gr_log_remove(see, NULL);
    unsetenv("GR_COMPAT");
    unmap_one(resource, fx.stream);
    assert_gl_bytes(name, SIZE, 6);
    ck_assert_msg(strstr(seen, words[_i][1]), "%s", seen);
    end_one(resource);
}

/* Frames in flight need compute shaders of NVIDIA's OpenGL. */
static TCase *add_flight_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), watch_gl, unwatch_gl);
}

GROUP("frames in flight", add_flight_case)

#define NEED_SHADERS()                                                                             \
    do {                                                                                           \
        const gr_transport_info *peer = must_make(gr_gl_probe(GR_TRANSPORT_PEER));                 \
        if (!has_shader || !peer->usable)                                                          \
            skip("OpenGL has no compute shaders, or shares no memory with CUDA");                  \
    } while (0)

enum { READ = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY };
enum { DISCARD = CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD };

/* Registers the buffer with GR_COMPAT, and logs the first map. */
static CUgraphicsResource register_by(const char *compat, GLuint name, unsigned flags)
{
    frames[0] = '\0';
    setenv("GR_COMPAT", compat, 1);
    gr_log_add(GR_LOG_DEBUG, see, NULL);
    gr_clear_error();
    CUgraphicsResource resource = header_buffer(name, flags);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    map_one(resource, fx.stream);
    gr_log_remove(see, NULL);
    unsetenv("GR_COMPAT");
    unmap_one(resource, fx.stream);
    return resource;
}

TEST(gr_compat_sets_the_number_of_frames, 12)
{
    NEED_SHADERS();
    static const char in_flight[] = "GR_COMPAT=in_flight: frames in flight",
                      no_flags[] = "since the flags are neither";
    static const struct {
        const char *compat;
        unsigned flags;
        const char *words;
        const char *logged; /* NULL: nothing on frames in flight */
    } rows[] = {
        {"in_flight", DISCARD, "transport peer, 4 staging buffers", in_flight},
        {"in_flight", READ, "transport peer, 4 staging buffers", in_flight},
        {"in_flight", 0, "transport interop", no_flags},
        {"in_flight=2", DISCARD, "transport peer, 2 staging buffers", in_flight},
        {"in_flight=64", READ, "transport peer, 64 staging buffers", in_flight},
        {"in_flight=2,in_flight=3", DISCARD, "transport peer, 3 staging buffers", in_flight},
        {"interop|in_flight=8", DISCARD, "transport peer, 8 staging buffers", in_flight},
        {"in_flight=8 copy", READ, "transport peer, 8 staging buffers", in_flight},
        {"in_flight=8|copy", 0, "transport copy", no_flags},
        {"any|in_flight", DISCARD, "transport peer, 4 staging buffers", in_flight},
        {"any|in_flight", 0, "transport interop", no_flags},
        {"interop", DISCARD, "transport interop", NULL}};
    end_one(register_by(rows[_i].compat, gl_buffer_filled(SIZE, 1), rows[_i].flags));
    ck_assert_msg(strstr(seen, rows[_i].words), "%s", seen);
    ck_assert_msg(rows[_i].logged ? strstr(frames, rows[_i].logged) != NULL : !frames[0], "%s",
                  frames);
}

TEST(a_program_writes_frames_in_flight)
{
    NEED_SHADERS();
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUgraphicsResource resource = register_by("in_flight=2", name, DISCARD);
    CUdeviceptr last = 0;
    for (unsigned char frame = 2; frame < 7; frame++) {
        const CUdeviceptr pointer = map_one(resource, fx.stream);
        ck_assert_uint_ne(pointer, last);
        last = pointer;
        CU(MemsetD8Async(pointer, frame, SIZE, fx.stream));
        unmap_one(resource, fx.stream);
        assert_gl_bytes(name, SIZE, frame);
    }
    end_one(resource);
}

TEST(a_program_reads_frames_in_flight)
{
    NEED_SHADERS();
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUgraphicsResource resource = register_by("in_flight=2", name, READ);
    unsigned char read[SIZE];
    for (unsigned char frame = 2; frame < 7; frame++) {
        glBindBuffer(GL_ARRAY_BUFFER, name);
        glClearBufferData(GL_ARRAY_BUFFER, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &frame);
        CU(MemcpyDtoHAsync(read, map_one(resource, fx.stream), SIZE, fx.stream));
        unmap_one(resource, fx.stream);
        CU(StreamSynchronize(fx.stream));
        assert_bytes(read, SIZE, frame);
    }
    end_one(resource);
}

/* Catches: a resource for one direction kept its frames in flight when a map needed both. */
TEST(map_flags_end_frames_in_flight, 2)
{
    NEED_SHADERS();
    GLuint name = gl_buffer_filled(SIZE, 5);
    unsigned char read[SIZE];
    CUgraphicsResource resource = register_by("in_flight", name, READ);
    assert_result(CUDA_SUCCESS, cuGraphicsResourceSetMapFlags(resource, _i ? DISCARD : 0), "flags");
    gr_log_add(GR_LOG_DEBUG, see, NULL);
    CUdeviceptr pointer = map_one(resource, fx.stream);
    gr_log_remove(see, NULL);
    ck_assert_msg(strstr(seen, "transport interop"), "%s", seen);
    ck_assert_msg(strstr(frames, "no frames in flight any more"), "%s", frames);
    if (!_i) {
        cuda_read(read, pointer, SIZE, fx.stream);
        assert_bytes(read, SIZE, 5);
    }
    CU(MemsetD8Async(pointer, 6, SIZE, fx.stream));
    unmap_one(resource, fx.stream);
    assert_gl_bytes(name, SIZE, 6);
    end_one(resource);
}

/* Catches: a format without frames in flight was refused although the transport alone works. */
TEST(a_format_without_frames_in_flight_is_registered_without)
{
    CUgraphicsResource resource = NULL;
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT32F, 8, 8);
    gr_clear_error();
    setenv("GR_COMPAT", "copy|in_flight", 1);
    frames[0] = '\0';
    gr_log_add(GR_LOG_INFO, see, NULL);
    assert_result(CUDA_SUCCESS, cuGraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, READ),
                  "register");
    gr_log_remove(see, NULL);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_msg(strstr(frames, "GL_DEPTH_COMPONENT32F") && strstr(frames, "the reason above"),
                  "%s", frames);
    end_one(resource);
    setenv("GR_COMPAT", "in_flight", 1);
    assert_result(CUDA_ERROR_INVALID_VALUE,
                  cuGraphicsGLRegisterImage(&resource, name, GL_TEXTURE_2D, READ), "register");
    unsetenv("GR_COMPAT");
    assert_error(GR_ERR_UNSUPPORTED, -1, "GL_DEPTH_COMPONENT32F");
    ck_assert_msg(!strstr(gr_last_error()->message, "in_flight"), "%s", gr_last_error()->message);
}

GROUP("resources beside compat.h", add_case)

TEST(resources_of_compat_h_and_grinterop_are_mapped_together)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUgraphicsResource resource = header_buffer(gl_buffer_filled(SIZE, 1), 0);
    gr_resource *own = must_register(name);
    CU(MemsetD8Async(map_one(resource, fx.stream), 6, SIZE, fx.stream));
    fill_mapped(own, 4);
    unmap_one(resource, fx.stream);
    assert_gl_bytes(name, SIZE, 4);
    gr_resource_free(own);
    end_one(resource);
}

/*
 * A resource that another part of the program registered with the CUDA driver is mapped by the
 * driver.
 */
TEST(resources_registered_without_compat_h_are_passed_to_the_driver)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUgraphicsResource cudas = NULL, ours = header_buffer(gl_buffer_filled(SIZE, 1), 0);
    CU(GraphicsGLRegisterBuffer(&cudas, name, 0));
    assert_result(CUDA_SUCCESS, cuGraphicsResourceSetMapFlags(cudas, 0), "flags");
    CU(MemsetD8Async(map_one(cudas, fx.stream), 8, SIZE, fx.stream));
    unmap_one(cudas, fx.stream);
    assert_gl_bytes(name, SIZE, 8);
    CUgraphicsResource both[2] = {ours, cudas};
    gr_clear_error();
    assert_result(CUDA_ERROR_INVALID_HANDLE, cuGraphicsMapResources(2, both, fx.stream), "both");
    assert_error(GR_ERR_CUDA, CUDA_ERROR_INVALID_HANDLE, "not registered by compat.h");
    end_one(cudas);
    end_one(ours);
}

TEST(a_failed_import_records_the_reason)
{
    CUexternalMemory memory = NULL;
    CUexternalSemaphore semaphore = NULL;
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC closed = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = 9999, .size = SIZE};
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC none = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = 9999};
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC of_windows = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32, .handle.win32.handle = &semaphore};
    gr_clear_error();
    CUresult wanted = fx.cu->ImportExternalMemory(&memory, &closed);
    ck_assert_int_ne(wanted, CUDA_SUCCESS);
    assert_result(wanted, cuImportExternalMemory(&memory, &closed), "memory");
    assert_error(GR_ERR_INVALID_VALUE, -1, "fd 9999, which is not open");
    wanted = fx.cu->ImportExternalSemaphore(&semaphore, &none);
    ck_assert_int_ne(wanted, CUDA_SUCCESS);
    assert_result(wanted, cuImportExternalSemaphore(&semaphore, &none), "semaphore");
    assert_error(GR_ERR_INVALID_VALUE, -1, "fd 9999, which is not open");
    wanted = fx.cu->ImportExternalSemaphore(&semaphore, &of_windows);
    ck_assert_int_ne(wanted, CUDA_SUCCESS);
    assert_result(wanted, cuImportExternalSemaphore(&semaphore, &of_windows), "semaphore");
    assert_error(GR_ERR_UNSUPPORTED, -1, "another operating system");
}
