/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One allocation that Vulkan, OpenGL (GL_EXT_memory_object_fd) and CUDA share: when one API writes,
 * the other two read the bytes. Vulkan semaphores, which all three APIs import, order their work.
 * If OpenGL has no semaphores (llvmpipe), the host waits instead.
 */
#include "tests/support/support_vulkan_image.h"
#include "three_way.h"

#include <string.h>

/* Mesa needs padding after a buffer in its memory; vulkan_own() adds it. */
#define SIZE 65536

#define WIDTH  101
#define HEIGHT 37

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* Returns the reason why OpenGL cannot share memory with this Vulkan device, or NULL. */
static const char *why_not(void)
{
    if (!epoxy_has_gl_extension("GL_EXT_memory_object_fd"))
        return "this OpenGL has no GL_EXT_memory_object_fd";
    VkPhysicalDeviceIDProperties vulkan = {.sType =
                                               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &vulkan};
    GLubyte device[GL_UUID_SIZE_EXT] = {0}, driver[GL_UUID_SIZE_EXT] = {0};
    vk.GetPhysicalDeviceProperties2(vk.h->physical_device, &properties);
    glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, device);
    glGetUnsignedBytevEXT(GL_DRIVER_UUID_EXT, driver);
    assert_gl_clean();
    if (memcmp(device, vulkan.deviceUUID, sizeof(device)) != 0)
        return "OpenGL draws on another device than Vulkan";
    if (memcmp(driver, vulkan.driverUUID, sizeof(driver)) != 0)
        return "OpenGL's driver and Vulkan's are not one: opaque descriptors mean nothing to both";
    return NULL;
}

/* Each case runs twice, the second time with timeline semaphores. */
static const char *missing(int i)
{
    const char *reason = vk.missing ? vk.missing : why_not();
    return reason ? reason : choose_waits(i == 1);
}

#define THREE_WAY_TEST(...) TEST_UNLESS(missing(_i), __VA_ARGS__)

/*
 * Imports the memory of one resource. Mesa ignores offsets, so each resource has its own memory
 * object. OpenGL owns the descriptor afterwards.
 */
static GLuint import_memory(VkDeviceMemory memory, VkDeviceSize size, bool is_dedicated)
{
    GLuint object = 0;
    GLint dedicated = is_dedicated ? GL_TRUE : GL_FALSE;
    glCreateMemoryObjectsEXT(1, &object);
    glMemoryObjectParameterivEXT(object, GL_DEDICATED_MEMORY_OBJECT_EXT, &dedicated);
    glImportMemoryFdEXT(object, size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, vulkan_memory_fd(memory));
    assert_gl_clean();
    return object;
}

static GLuint gl_buffer_of(GLuint memory)
{
    GLuint name = 0;
    GLint size = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glBufferStorageMemEXT(GL_COPY_READ_BUFFER, SIZE, memory, 0);
    glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &size);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    assert_gl_clean();
    ck_assert_int_eq(size, SIZE);
    return name;
}

/* If the memory is too small, the only sign in Mesa is a texture without a size. */
static GLuint gl_texture_of(GLuint memory)
{
    GLint width = 0;
    GLuint name = bound_texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_TILING_EXT, GL_OPTIMAL_TILING_EXT);
    glTexStorageMem2DEXT(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT, memory, 0);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    glBindTexture(GL_TEXTURE_2D, 0);
    assert_gl_clean();
    ck_assert_int_eq(width, WIDTH);
    return name;
}

/* ---- A buffer -------------------------------------------------------------------------------- */

static struct vulkan_own own;
static gr_resource *resource;
static GLuint memory;

static void share_buffer(void)
{
    own = vulkan_own(SIZE, false);
    resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    memory = import_memory(own.memory, own.memory_size, false);
    gl_name = gl_buffer_of(memory);
}

static void end_buffer(void)
{
    glDeleteBuffers(1, &gl_name);
    glDeleteMemoryObjectsEXT(1, &memory);
    gr_resource_free(resource);
    vulkan_own_free(&own);
}

/* OpenGL copies on the GPU. */
static void gl_copy(GLuint from, GLuint to)
{
    glBindBuffer(GL_COPY_READ_BUFFER, from);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, SIZE);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

/*
 * Writes through an ordinary buffer and a copy on the GPU, which comes after the waits.
 * gl_differs() reads in the same way: if the host read the shared buffer directly, the driver could
 * return bytes that it cached for an earlier read. The NVIDIA driver did so when no wait came
 * before the read.
 */
static void gl_writes(unsigned seed)
{
    GLuint ordinary = gl_buffer_pattern(SIZE, seed);
    gl_copy(ordinary, gl_name);
    glDeleteBuffers(1, &ordinary);
    assert_gl_clean();
}

static const char *gl_differs(unsigned seed)
{
    GLuint ordinary = gl_buffer_filled(SIZE, 0xEE);
    gl_copy(gl_name, ordinary);
    const char *difference = gl_pattern_differs(ordinary, SIZE, seed);
    glDeleteBuffers(1, &ordinary);
    assert_gl_clean();
    return difference;
}
#define assert_gl_has(seed) assert_no_difference(gl_differs(seed))

static void cuda_writes(unsigned seed)
{
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, seed);
    must_release(buffer);
}

static void assert_cuda_has(unsigned seed)
{
    gr_buffer *buffer = must_map(resource);
    assert_cuda_pattern(buffer, seed);
    must_release(buffer);
}

static TCase *add_three_case(Suite *suite, const char *name)
{
    return with_fixture(add_vulkan_case(suite, name), begin_turns, end_turns);
}

GROUP("Vulkan, OpenGL and CUDA", add_three_case)

THREE_WAY_TEST(vulkan_opengl_and_cuda_share_a_buffer, 2)
{
    share_buffer();
    vulkan_write_pattern(own.buffer, SIZE, 1);
    give_to(OPENGL);
    assert_gl_has(1);
    give_to(CUDA);
    assert_cuda_has(1);
    give_to(OPENGL);
    gl_writes(2);
    give_to(VULKAN);
    assert_vulkan_pattern(own.buffer, SIZE, 2);
    give_to(CUDA);
    assert_cuda_has(2);
    cuda_writes(3);
    give_to(OPENGL);
    assert_gl_has(3);
    give_to(VULKAN);
    assert_vulkan_pattern(own.buffer, SIZE, 3);
    end_buffer();
}

/* Each API uses the buffer after each of the other two, twice. */
THREE_WAY_TEST(each_api_reads_the_bytes_of_both_others, 2)
{
    share_buffer();
    vulkan_write_pattern(own.buffer, SIZE, 10);
    for (unsigned i = 10; i < 34; i += 6) {
        give_to(CUDA);
        assert_cuda_has(i);
        cuda_writes(i + 1);
        give_to(OPENGL);
        assert_gl_has(i + 1);
        gl_writes(i + 2);
        give_to(VULKAN);
        assert_vulkan_pattern(own.buffer, SIZE, i + 2);
        vulkan_write_pattern(own.buffer, SIZE, i + 3);
        give_to(OPENGL);
        assert_gl_has(i + 3);
        gl_writes(i + 4);
        give_to(CUDA);
        assert_cuda_has(i + 4);
        cuda_writes(i + 5);
        give_to(VULKAN);
        assert_vulkan_pattern(own.buffer, SIZE, i + 5);
        vulkan_write_pattern(own.buffer, SIZE, i + 6);
    }
    end_buffer();
}

/* Each API can use the bytes even after any other API has freed its objects. */
THREE_WAY_TEST(the_buffer_outlives_the_objects_of_each_api, 2)
{
    share_buffer();
    vulkan_write_pattern(own.buffer, SIZE, 4);
    give_to(OPENGL);
    vulkan_finish();
    vulkan_own_free(&own);
    assert_gl_has(4);
    give_to(CUDA);
    cuda_writes(5);
    give_to(OPENGL);
    assert_gl_has(5);
    gr_resource_free(resource);
    assert_gl_has(5);
    gl_writes(6);
    assert_gl_has(6);
    glDeleteBuffers(1, &gl_name);
    glDeleteMemoryObjectsEXT(1, &memory);
}

/* The OpenGL buffer is also registered with CUDA. Both resources must have the same bytes. */
THREE_WAY_TEST(a_shared_buffer_can_also_be_registered, 2)
{
    share_buffer();
    gr_resource *through_gl = gr_from_gl_buffer(gl_name, GR_READ_WRITE);
    if (!through_gl) {
        assert_error(GR_ERR_CUDA, -1, "");
        end_buffer();
        skip("this driver does not register a buffer in imported memory");
    }
    vulkan_write_pattern(own.buffer, SIZE, 7);
    give_to(OPENGL);
    gr_buffer *buffer = must_map(through_gl);
    assert_cuda_pattern(buffer, 7);
    cuda_write_pattern(buffer, 8);
    must_release(buffer);
    give_to(VULKAN);
    assert_vulkan_pattern(own.buffer, SIZE, 8);
    give_to(CUDA);
    assert_cuda_has(8);
    gr_resource_free(through_gl);
    end_buffer();
}

/* ---- A texture ------------------------------------------------------------------------------- */

static unsigned char texels[WIDTH * HEIGHT * 4], got[WIDTH * HEIGHT * 4];

/* Creates an ordinary texture with these texels, for the reason that gl_writes() gives. */
static GLuint gl_ordinary(const unsigned char *bytes)
{
    GLuint made = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glBindTexture(GL_TEXTURE_2D, 0);
    assert_gl_clean();
    return made;
}

static void gl_copy_texels(GLuint from, GLuint to)
{
    glCopyImageSubData(from, GL_TEXTURE_2D, 0, 0, 0, 0, to, GL_TEXTURE_2D, 0, 0, 0, 0, WIDTH,
                       HEIGHT, 1);
    assert_gl_clean();
}

static void gl_draws(const struct vulkan_image *image, unsigned number)
{
    vulkan_image_pattern(image, 0, 0, number, texels);
    GLuint ordinary = gl_ordinary(texels);
    gl_copy_texels(ordinary, gl_texture);
    glDeleteTextures(1, &ordinary);
}

static void assert_gl_sees(const struct vulkan_image *image, unsigned number)
{
    vulkan_image_pattern(image, 0, 0, number, texels);
    memset(got, 0xEE, sizeof(got));
    GLuint ordinary = gl_ordinary(got);
    gl_copy_texels(gl_texture, ordinary);
    glBindTexture(GL_TEXTURE_2D, ordinary);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, got);
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &ordinary);
    assert_gl_clean();
    ck_assert_mem_eq(got, texels, sizeof(got));
}

static void assert_cuda_sees(const struct vulkan_image *image, unsigned number)
{
    gr_buffer *buffer = must_map_vulkan(image);
    assert_no_difference(cuda_image_differs(buffer, image, number));
    must_release(buffer);
}

THREE_WAY_TEST(vulkan_opengl_and_cuda_share_a_texture, 2)
{
    struct vulkan_image image =
        vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, "2D", WIDTH, HEIGHT, 1, true, GR_READ_WRITE);
    GLuint object = import_memory(image.own.memory, image.own.memory_size, true);
    gl_texture = gl_texture_of(object);
    vulkan_image_fill(&image, 1);
    give_to(OPENGL);
    assert_gl_sees(&image, 1);
    give_to(CUDA);
    assert_cuda_sees(&image, 1);
    give_to(OPENGL);
    gl_draws(&image, 2);
    give_to(VULKAN);
    assert_vulkan_image(&image, 2);
    give_to(CUDA);
    assert_cuda_sees(&image, 2);
    gr_buffer *buffer = must_map_vulkan(&image);
    cuda_image_fill(buffer, &image, 3);
    must_release(buffer);
    give_to(OPENGL);
    assert_gl_sees(&image, 3);
    give_to(VULKAN);
    assert_vulkan_image(&image, 3);
    glDeleteTextures(1, &gl_texture);
    glDeleteMemoryObjectsEXT(1, &object);
    vulkan_image_own_free(&image);
}
