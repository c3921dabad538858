/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan for the tests: a device with the validation layer, whose messages fail the case, and
 * helpers for cases. The program creates one device for all cases. Everything else is freed after
 * the case.
 */
#ifndef GR_TESTS_SUPPORT_VULKAN_H
#define GR_TESTS_SUPPORT_VULKAN_H

#include "support.h"

#include <grinterop/external.h>
#include <grinterop/ring.h>
#include <grinterop/submit.h>
#include <grinterop/vk.h>

/* ---- The fixture ----------------------------------------------------------------------------- */

/*
 * X(name): the Vulkan functions that the tests call, from the loader that gr_vk_headless_create()
 * found.
 */
#define VULKAN_FUNCTIONS(X)                                                                        \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateMemory)                                                                              \
    X(BeginCommandBuffer)                                                                          \
    X(BindBufferMemory)                                                                            \
    X(BindImageMemory)                                                                             \
    X(CmdClearColorImage)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdFillBuffer)                                                                               \
    X(CmdPipelineBarrier)                                                                          \
    X(CreateBuffer)                                                                                \
    X(CreateCommandPool)                                                                           \
    X(CreateDevice)                                                                                \
    X(CreateFence)                                                                                 \
    X(CreateImage)                                                                                 \
    X(CreateSemaphore)                                                                             \
    X(DestroyBuffer)                                                                               \
    X(DestroyCommandPool)                                                                          \
    X(DestroyDevice)                                                                               \
    X(DestroyFence)                                                                                \
    X(DestroyImage)                                                                                \
    X(DestroySemaphore)                                                                            \
    X(EndCommandBuffer)                                                                            \
    X(FlushMappedMemoryRanges)                                                                     \
    X(FreeMemory)                                                                                  \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetImageMemoryRequirements)                                                                  \
    X(GetMemoryFdKHR)                                                                              \
    X(GetPhysicalDeviceImageFormatProperties2)                                                     \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceProperties2)                                                                \
    X(GetSemaphoreCounterValue)                                                                    \
    X(InvalidateMappedMemoryRanges)                                                                \
    X(MapMemory)                                                                                   \
    X(QueueSubmit)                                                                                 \
    X(QueueWaitIdle)                                                                               \
    X(SignalSemaphore)                                                                             \
    X(WaitForFences)                                                                               \
    X(WaitSemaphores)

#define VULKAN_MEMBER(name) PFN_vk##name name;

/*
 * The Vulkan environment of each case. `missing` is NULL, or the reason why Vulkan is not
 * available; then nothing else is set.
 */
struct vulkan {
    const char *missing;
    const gr_vk_headless_info *h;
    /* for the graphics queue; if CUDA computes on another device, images are copied by peer */
    gr_vk_device *wrap;
    bool exports;        /* the device can export semaphores; if not, the host signals them */
    gr_transport copies; /* 0, or that by which `wrap` copies everything */
    VULKAN_FUNCTIONS(VULKAN_MEMBER)
};
#undef VULKAN_MEMBER

extern struct vulkan vk;

/*
 * Adds to the suite a case that runs with the fixture of support.h and with Vulkan. The last case
 * of each program then checks that the device is destroyed and that the validation layer reports no
 * remaining object.
 */
TCase *add_vulkan_case(Suite *suite, const char *name);

/*
 * Like add_vulkan_case(), but grinterop copies buffers and images: through host memory, or by
 * GR_TRANSPORT_PEER.
 */
TCase *add_copied_vulkan_case(Suite *suite, const char *name);
TCase *add_staged_vulkan_case(Suite *suite, const char *name);

/* For children, which call fixture_setup() first and check vk.missing afterwards. */
void vulkan_setup(void);
void vulkan_teardown(void);
void vulkan_end(void); /* destroys the device, which must have no objects left */

/* Wraps the device as vk.wrap does. The caller frees the wrap. */
gr_vk_device *vulkan_wrap(void);

/*
 * A description to wrap the device without synchronization2. The wrap uses `replacement` as
 * vkGetDeviceProcAddr() unless it is NULL.
 */
gr_vk_device_desc vulkan_desc(PFN_vkGetDeviceProcAddr replacement);

/* Calls the real vkGetDeviceProcAddr(). */
PFN_vkVoidFunction vulkan_device_function(VkDevice device, const char *name);

/*
 * A case that is skipped if Vulkan is missing. Cases of images that are not copied also need CUDA
 * and Vulkan on one device.
 */
#define VULKAN_TEST(...)       TEST_UNLESS(vk.missing, __VA_ARGS__)
#define VULKAN_IMAGE_TEST(...) TEST_UNLESS(vulkan_image_missing(), __VA_ARGS__)
const char *vulkan_image_missing(void);

/* Why a case that calls kernel_fail() is skipped, or NULL. */
const char *vulkan_failures_missing(void);

/* Checks a call that returns a VkResult: VK(QueueSubmit(...)). */
#define VK(call)                                                                                   \
    do {                                                                                           \
        VkResult result_ = vk.call;                                                                \
        ck_assert_msg(result_ == VK_SUCCESS, "vk%s returned %d", #call, (int)result_);             \
    } while (0)

/*
 * Allows this validation message (a VUID) in the rest of the case, for deliberate errors. Whether
 * the layer reports it depends on its version.
 */
void vulkan_allow(const char *vuid);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A buffer in host-visible memory, mapped on the host. The buffer is freed after the case. */
struct vulkan_host {
    VkBuffer buffer;
    VkDeviceMemory memory;
    unsigned char *bytes;
    size_t size;
};
struct vulkan_host *vulkan_host(size_t size);
void vulkan_host_end(struct vulkan_host *host); /* frees the buffer before the end of the case */

/* How vulkan_memory() allocates. */
enum {
    MEMORY_EXPORT = 1,    /* can be exported with vkGetMemoryFdKHR() */
    MEMORY_DEDICATED = 2, /* dedicated to the buffer or image that is passed */
    MEMORY_HOST = 4       /* host-visible and coherent */
};

/*
 * Allocates memory with that size and one of these memory types. The memory is freed after the
 * case.
 */
VkDeviceMemory vulkan_memory(VkDeviceSize size, uint32_t types, unsigned how, VkBuffer buffer,
                             VkImage image);
void vulkan_memory_free(VkDeviceMemory memory); /* frees the memory before the end of the case */

/*
 * Creates a buffer that may be bound to exportable memory, and returns the memory requirements. The
 * buffer is destroyed after the case.
 */
VkBuffer vulkan_buffer(VkDeviceSize size, VkMemoryRequirements *needs);

/*
 * A buffer from vulkan_buffer() with its own memory, bound at offset 0. The memory is dedicated if
 * CUDA computes on another device, since CUDA then accepts no other memory.
 */
struct vulkan_own {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
    bool dedicated;
};
struct vulkan_own vulkan_own(VkDeviceSize size, bool dedicated);
void vulkan_own_free(struct vulkan_own *own);
gr_resource *must_register_own(const struct vulkan_own *own, VkDeviceSize size, unsigned flags);

/* Exports a descriptor of the memory. The caller closes the descriptor. */
int vulkan_memory_fd(VkDeviceMemory memory);

/* ---- Submits --------------------------------------------------------------------------------- */

/*
 * A timeline semaphore that blocks submits until the host opens the gate. The gate is freed after
 * the case.
 */
struct vulkan_gate;
struct vulkan_gate *vulkan_gate(void);
void vulkan_gate_open(struct vulkan_gate *gate);
void vulkan_gate_open_after(struct vulkan_gate *gate, unsigned ms);
bool vulkan_gate_is_open(const struct vulkan_gate *gate);

/* Makes the rest of the case use this queue for commands; a case starts with the graphics queue. */
void vulkan_use_queue(VkQueue queue, uint32_t family);

/* The family of that queue, for gr_vk_use. */
const uint32_t *vulkan_queue_family(void);

/* Begins a command buffer. The command buffer is freed after the case. */
VkCommandBuffer vulkan_begin(void);

/*
 * Ends and submits the commands without waiting for them. Unless `submit` is NULL, the commands
 * wait for one of its semaphores and signal the other one. Unless the gate is NULL, they also wait
 * for the gate.
 */
void vulkan_submit(VkCommandBuffer commands, const gr_submit *submit,
                   const struct vulkan_gate *gate);

/*
 * Like vulkan_submit() with the submit of a slot. Call this for only one slot of an acquire: its
 * slots share a submit, which the call commits.
 */
void vulkan_submit_slot(VkCommandBuffer commands, const gr_slot *slot,
                        const struct vulkan_gate *gate);

/* Like vulkan_submit() with a submit that has begun. The call commits and frees the submit. */
void vulkan_submit_begun(VkCommandBuffer commands, gr_submit *submit,
                         const struct vulkan_gate *gate);

/*
 * Begins a submit of n resources, which use at most one pair of semaphores. The functions below
 * return the semaphore and value that the submit waits for and signals: NULL and 0 if there are
 * none.
 */
gr_submit *vulkan_begin_submit(gr_resource *const resources[], size_t n);
gr_semaphore *wait_of(const gr_submit *submit);
gr_semaphore *signal_of(const gr_submit *submit);
uint64_t wait_value_of(const gr_submit *submit);
uint64_t signal_value_of(const gr_submit *submit);

/* Waits until all submitted work is done, for at most 20 s. */
void vulkan_finish(void);

/* ---- Bytes of buffers ------------------------------------------------------------------------ */

/* Record commands that acquire the buffer from CUDA, transfer all of it, and release it to CUDA. */
void vulkan_cmd_fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize size, int value);
void vulkan_cmd_read(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *to);
void vulkan_cmd_write(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *from);

/*
 * Copies the first bytes of the buffer to the host memory, from an offset on, without the barriers
 * above.
 */
void vulkan_cmd_copy_to_host(VkCommandBuffer commands, VkBuffer buffer,
                             const struct vulkan_host *to, VkDeviceSize offset, VkDeviceSize size);

/* Creates a timeline of the application. The caller destroys it. */
VkSemaphore vulkan_timeline(bool exported, uint64_t value);

/*
 * Transfer the bytes at once, in a submit without semaphores, and wait for that submit on the host.
 */
void vulkan_fill(VkBuffer buffer, VkDeviceSize size, int value);
void vulkan_write(VkBuffer buffer, const void *bytes, size_t size);
void vulkan_read(VkBuffer buffer, void *bytes, size_t size);
void vulkan_write_pattern(VkBuffer buffer, size_t size, unsigned seed);
#define assert_vulkan_pattern(buffer, size, seed)                                                  \
    assert_no_difference(pattern_differs_once(vulkan_bytes(buffer, size), size, seed))
#define assert_vulkan_bytes(buffer, size, value)                                                   \
    assert_no_difference(bytes_differ_once(vulkan_bytes(buffer, size), size, value))

/* Returns the contents of the buffer in new memory. */
void *vulkan_bytes(VkBuffer buffer, size_t size);

/* Releases the buffer, and waits for the stream of its map. */
void must_release(gr_buffer *buffer);

/* CUDA reads Vulkan's pattern; then Vulkan reads CUDA's pattern, with the next seed. */
void vulkan_bytes_both_ways(gr_resource *resource, VkBuffer buffer, size_t size, unsigned seed);

/* The create info of a buffer with transfer usage, for gr_create_vk_buffer(). */
VkBufferCreateInfo vulkan_buffer_info(VkDeviceSize size);

/* Creates a buffer with gr_create_vk_buffer() and vulkan_buffer_info(). */
gr_resource *must_create(VkDeviceSize size, unsigned flags);

#endif
