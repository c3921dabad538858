/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory of another API through gr_from_external_memory(), here Vulkan memory as a file descriptor.
 * Tests which imports are refused, that the caller still owns the descriptor after an error, and
 * that the descriptor is closed only once after success.
 */
#define _GNU_SOURCE
#include "external_import.h"
#include "tests/support/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE 65536

/* The part of the memory that most cases import. */
static const gr_external_part_desc usual = {.struct_size = sizeof(usual), .size = SIZE};

/* Whether the descriptor refers to this file. */
static bool is_of(int fd, const struct stat *file)
{
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == file->st_dev && now.st_ino == file->st_ino;
}

GROUP("valid imports", add_vulkan_case)

VULKAN_TEST(imported_memory_passes_bytes_both_ways, 2)
{
    struct vulkan_own own = vulkan_own(SIZE, _i == 1);
    gr_external_memory_desc info = external_info(&own, &usual);
    GR_AUTO(gr_resource) *resource = must_import(&info);
    vulkan_bytes_both_ways(resource, own.buffer, SIZE, 1);
    assert_described(resource, "OPAQUE_FD");
}

VULKAN_TEST(a_part_without_a_size_extends_to_the_end)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    info.part = &GR_INIT(gr_external_part_desc, .offset = 4096);
    GR_AUTO(gr_resource) *resource = must_import(&info);
    vulkan_fill(own.buffer, SIZE, 0x11);
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(buffer), own.memory_size - 4096);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x12, 1, fx.stream));
    must_release(buffer);
    static unsigned char bytes[SIZE];
    vulkan_read(own.buffer, bytes, SIZE);
    ck_assert_uint_eq(bytes[4096], 0x12);
    bytes[4096] = 0x11;
    assert_bytes(bytes, SIZE, 0x11);
}

/*
 * The description of an image with layers and levels must have all possible levels; see external.h.
 */
static const struct {
    const char *shape;
    unsigned levels, described, layers;
} images[] = {{"2D", 1, 1, 0}, {"2D", 2, 2, 0},       {"2D array", 1, 1, 3},
              {"2D", 7, 7, 0}, {"2D array", 2, 7, 3}, {"2D array", 7, 7, 3}};

VULKAN_TEST(an_image_is_imported_by_its_description, sizeof(images) / sizeof(images[0]))
{
    struct vulkan_image image = vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, images[_i].shape, 101,
                                                 37, images[_i].levels, true, GR_READ_WRITE);
    const gr_external_image_desc described =
        GR_INIT(gr_external_image_desc, .width = 101, .height = 37, .levels = images[_i].described,
                .layers = images[_i].layers, .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 4,
                .normalized = true);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &described);
    const gr_external_memory_desc info =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .fd = vulkan_memory_fd(image.own.memory), .size = image.own.memory_size,
                .dedicated = true, .part = &part);
    GR_AUTO(gr_resource) *resource = must_import(&info);
    vulkan_image_fill(&image, 1);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    assert_no_difference(cuda_image_differs(buffer, &image, 1));
    cuda_image_fill(buffer, &image, 2);
    must_release(buffer);
    assert_vulkan_image(&image, 2);
    vulkan_image_own_free(&image);
}

GROUP("ownership of the descriptor", add_vulkan_case)

/*
 * The number of the descriptor is free at once. No later call may close a new file with the same
 * number.
 */
VULKAN_TEST(an_imported_descriptor_is_closed_once)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    gr_resource *resource = must_import(&info);
    ck_assert_msg(!is_open(info.fd), "the import leaked descriptor %d", info.fd);
    int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(other, 0);
    if (other != info.fd) {
        ck_assert_int_eq(dup3(other, info.fd, O_CLOEXEC), info.fd);
        ck_assert_int_eq(close(other), 0);
    }
    struct stat file;
    ck_assert_int_eq(fstat(info.fd, &file), 0);

    gr_buffer *buffer = must_map(resource);
    must_release(buffer);
    ck_assert_msg(is_of(info.fd, &file), "a map or a release closed descriptor %d", info.fd);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .offset = 0, .size = 100);
    gr_resource *second = unordered(gr_from_same_memory(resource, &part, GR_READ_WRITE));
    assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    ck_assert_msg(is_of(info.fd, &file), "the close closed descriptor %d", info.fd);
    gr_resource_free(second);
    ck_assert_msg(is_of(info.fd, &file), "the end of the import closed descriptor %d", info.fd);
    vulkan_own_free(&own);
    ck_assert_msg(is_of(info.fd, &file), "Vulkan closed descriptor %d", info.fd);
    assert_mine(info.fd);
}

/*
 * Tests the check of the previous case: it must detect that a number was closed and reused by
 * another file.
 */
TEST(the_check_detects_a_closed_and_reused_descriptor)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    struct stat file;
    ck_assert_int_eq(fstat(fd, &file), 0);
    ck_assert(is_of(fd, &file));
    ck_assert_int_eq(close(fd), 0);
    ck_assert(!is_of(fd, &file));
    int taken = open("/dev/zero", O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(dup2(taken, fd), fd);
    ck_assert(!is_of(fd, &file));
    close(fd);
    if (taken != fd)
        close(taken);
}

/*
 * The import fails in each possible way: before the driver is called, in the driver, and after the
 * import by the driver.
 */
VULKAN_TEST(after_an_error_the_caller_still_owns_the_descriptor)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    gr_external_part_desc part = usual;
    info.part = &part;
    part.offset = own.memory_size;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "offset");
    ck_assert(is_open(info.fd));
    part.offset = 0;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_ONLY | GR_WRITE_DISCARD),
                        "write_discard");
    ck_assert(is_open(info.fd));
    assert_null_invalid(gr_from_external_memory(&info, GR_SURFACE_LOAD_STORE),
                        "surface_load_store");
    ck_assert(is_open(info.fd));
    const struct rlimit before = limit_descriptors(0);
    GR_AUTO(gr_resource) *resource = gr_from_external_memory(&info, GR_READ_WRITE);
    setrlimit(RLIMIT_NOFILE, &before);
    ck_assert_ptr_null(resource);
    assert_error(GR_ERR_SYSTEM, EMFILE, "ulimit -n");
    ck_assert(is_open(info.fd));
    /* This import works, since no failed call closed the descriptor. */
    resource = must_import(&info);
    ck_assert(!is_open(info.fd));
}

GROUP("refused imports", add_vulkan_case)

VULKAN_TEST(parts_beyond_the_end_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc good = external_info(&own, &usual);
    static const size_t huge = (size_t)-1;
    const gr_external_part_desc wrong[] = {{.offset = own.memory_size, .size = 1},
                                           {.offset = own.memory_size},
                                           {.offset = own.memory_size - 10, .size = 11},
                                           {.size = own.memory_size + 1},
                                           {.offset = huge, .size = 16},
                                           {.offset = 16, .size = huge - 8}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        gr_external_memory_desc info = good;
        gr_external_part_desc part = wrong[i];
        part.struct_size = sizeof(part);
        info.part = &part;
        assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "offset");
    }
    gr_external_memory_desc info = good;
    info.size = 0;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "allocationSize");
    assert_mine(good.fd);
}

/*
 * Whether the driver imports the memory. Checks that the descriptor is still open after a failure
 * and closed after success.
 */
static bool driver_takes(const gr_external_memory_desc *info)
{
    GR_AUTO(gr_resource) *resource = gr_from_external_memory(info, GR_READ_WRITE);
    if (!resource) {
        assert_error(GR_ERR_CUDA, -1, "");
        assert_mine(info->fd);
        return false;
    }
    ck_assert(!is_open(info->fd));
    return true;
}

/*
 * The software driver knows the size of the memory. The driver of a GPU may trust the caller; the
 * descriptor must then be closed as after any success.
 */
VULKAN_TEST(a_too_large_size_is_refused_if_the_driver_knows_the_memory_size)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    info.size = own.memory_size * 64;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = info.size);
    info.part = &part;
    if (!driver_takes(&info))
        return;
    ck_assert(!gr_cuda_is_software());
    skip("this driver accepts a size that is too large");
}

/*
 * The import says that the Vulkan memory is dedicated, but it is not, or the reverse. The driver
 * may accept both.
 */
VULKAN_TEST(a_wrong_dedicated_flag_leaks_no_descriptor, 2)
{
    struct vulkan_own own = vulkan_own(SIZE, _i == 1);
    gr_external_memory_desc info = external_info(&own, &usual);
    info.dedicated = _i == 0;
    if (driver_takes(&info))
        skip("this driver treats both alike");
}

VULKAN_TEST(an_offset_in_dedicated_memory_is_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, true);
    gr_external_memory_desc info = external_info(&own, &usual);
    info.part = &GR_INIT(gr_external_part_desc, .offset = 256, .size = 256);
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "dedicated");
    info.part = &usual;
    GR_AUTO(gr_resource) *resource = must_import(&info);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = 100);
    assert_null_invalid(gr_from_same_memory(resource, &part, GR_READ_WRITE), "dedicated");
}

VULKAN_TEST(invalid_descriptors_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    ck_assert_int_eq(close(info.fd), 0);
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "not open");
    info.fd = -1;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "not open");
    info.fd = 1000000;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "not open");
}

VULKAN_TEST(descriptors_of_other_files_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    ck_assert_int_eq(close(info.fd), 0);
    static const char *const files[] = {"/dev/null", "/dev/zero", "/proc/self/exe"};
    for (int i = 0; i < 3; i++) {
        info.fd = open(files[i], (i < 2 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
        ck_assert_int_ge(info.fd, 0);
        assert_null(gr_from_external_memory(&info, GR_READ_WRITE), GR_ERR_CUDA, -1, "OPAQUE_FD");
        assert_mine(info.fd);
    }
}

VULKAN_TEST(wrong_handle_types_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc good = external_info(&own, &usual);
    gr_external_memory_desc info = good;
    info.type = (CUexternalMemoryHandleType)99;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "99");
    info.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "OPAQUE_WIN32");
    info.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "NVSCIBUF");
    info = good;
    info.win32_handle = &info;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "win32_handle");
    info.fd = 0;
    info.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "dedicated");
    assert_mine(good.fd);
}

/* These types belong to another operating system. The error must be that of the driver. */
VULKAN_TEST(handle_types_of_another_system_are_refused)
{
    static const CUexternalMemoryHandleType types[] = {
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32, CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP,
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT};
    static int handle;
    for (int i = 0; i < 3; i++) {
        const gr_external_memory_desc info = GR_INIT(gr_external_memory_desc, .type = types[i],
                                                     .win32_handle = &handle, .size = SIZE);
        assert_null(gr_from_external_memory(&info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, -1,
                    "another operating system");
    }
}

VULKAN_TEST(invalid_image_descriptions_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    const gr_external_image_desc good =
        GR_INIT(gr_external_image_desc, .width = 16, .height = 16,
                .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 4);
    gr_external_image_desc image = good;
    gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &image);
    info.part = &part;
    image.width = 0;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "width");
    image = good;
    image.channels = 3;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "channels");
    image = good;
    image.levels = 6;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "levels");
    image = good;
    image.cube = true;
    image.layers = 5;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "six");
    image = good;
    image.width = image.height = 1000;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "fit");
    image = good;
    part.size = 16;
    assert_null_invalid(gr_from_external_memory(&info, GR_READ_WRITE), "size");
    assert_mine(info.fd);
}

GROUP("several resources in the same memory", add_vulkan_case)

/*
 * Overlapping parts, as external.h describes them: writes through one part are visible through the
 * other part after the release, in stream order. Concurrent access through two addresses is
 * undefined.
 */
VULKAN_TEST(overlapping_parts_have_the_same_bytes_in_stream_order)
{
    enum { BEGIN = 4096, HALF = SIZE / 2 };
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    GR_AUTO(gr_resource) *whole = must_import(&info);
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = BEGIN, .size = HALF);
    GR_AUTO(gr_resource) *inner = unordered(gr_from_same_memory(whole, &part, GR_READ_WRITE));
    for (int round = 0; round < 20; round++) {
        gr_buffer *buffer = must_map(whole);
        CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)round, SIZE, fx.stream));
        assert_ok(gr_buffer_release(buffer));
        buffer = must_map(inner);
        assert_cuda_bytes(buffer, round);
        CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x80, HALF, fx.stream));
        assert_ok(gr_buffer_release(buffer));
        unsigned char seen[SIZE];
        buffer = must_map(whole);
        CU(MemcpyDtoHAsync(seen, gr_buffer_ptr(buffer), SIZE, fx.stream));
        must_release(buffer);
        assert_bytes(seen, BEGIN, round);
        assert_bytes(seen + BEGIN, HALF, 0x80);
        assert_bytes(seen + BEGIN + HALF, SIZE - BEGIN - HALF, round);
    }
}

VULKAN_TEST(another_part_keeps_the_memory_alive)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    gr_resource *first = must_import(&info);
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .offset = 1024, .size = 512);
    GR_AUTO(gr_resource) *second = unordered(gr_from_same_memory(first, &part, GR_READ_WRITE));
    ck_assert_ptr_eq(driver_handle(second), driver_handle(first));
    vulkan_fill(own.buffer, SIZE, 0x31);
    assert_ok(gr_resource_close(first, fx.stream));
    ck_assert_ptr_nonnull(driver_handle(second));
    assert_null(gr_from_same_memory(first, &part, GR_READ_WRITE), GR_ERR_STATE, 0, "closed");
    gr_resource_free(first);
    gr_buffer *buffer = must_map(second);
    ck_assert_uint_eq(gr_buffer_size(buffer), 512);
    assert_cuda_bytes(buffer, 0x31);
    cuda_fill(buffer, 0x32);
    must_release(buffer);
    static unsigned char bytes[SIZE];
    vulkan_read(own.buffer, bytes, SIZE);
    assert_bytes(bytes, 1024, 0x31);
    assert_bytes(bytes + 1024, 512, 0x32);
    assert_bytes(bytes + 1536, SIZE - 1536, 0x31);
}

VULKAN_TEST(parts_of_other_resources_and_invalid_parts_are_refused)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_external_memory_desc info = external_info(&own, &usual);
    GR_AUTO(gr_resource) *resource = must_import(&info);
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(16, 1));
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .size = 16),
                                outside = GR_INIT(gr_external_part_desc, .offset = own.memory_size,
                                                  .size = 16);
    assert_null(gr_from_same_memory(gl, &part, GR_READ_WRITE), GR_ERR_STATE, 0, "external memory");
    assert_null_invalid(gr_from_same_memory(resource, &outside, GR_READ_WRITE), "offset");
    assert_null_invalid(gr_from_same_memory(resource, &part, 0x100), "bits");
}
