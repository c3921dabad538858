/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan for the tests: a device with the validation layer, whose messages fail the case, and the
 * few things that cases do with it. One device lasts for the whole program; the rest belongs to the
 * case.
 */
#ifndef GR_TESTS_SUPPORT_VULKAN_H
#define GR_TESTS_SUPPORT_VULKAN_H

#include "support.h"

#include <grinterop/external.h>
#include <grinterop/ring.h>
#include <grinterop/submit.h>
#include <grinterop/vk.h>

/* ---- The fixture ----------------------------------------------------------------------------- */

/* X(name): what the tests call of Vulkan, through the loader that gr_vk_headless_create() found. */
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
    X(WaitForFences)

#define VULKAN_MEMBER(name) PFN_vk##name name;

/* What each case finds. `missing` says why there is no Vulkan here; then nothing else is set. */
struct vulkan {
    const char *missing;
    const gr_vk_headless_info *h;
    gr_vk_device *wrap; /* on the graphics queue */
    bool exports;       /* semaphores can be exported; through the host otherwise */
    VULKAN_FUNCTIONS(VULKAN_MEMBER)
};
#undef VULKAN_MEMBER

extern struct vulkan vk;

/* A case of the suite that runs with the fixture of support.h and with Vulkan. */
TCase *add_vulkan_case(Suite *suite, const char *name);

/* The last case of each program: the device ends, and the validation layer finds nothing left. */

/* For children, which call fixture_setup() first; a child then checks vk.missing. */
void vulkan_setup(void);
void vulkan_teardown(void);

/* Wraps the device, as vk.wrap does; the caller's. */
gr_vk_device *vulkan_wrap(void);

/* A case that is skipped where there is no Vulkan; and one of images, which need one device. */
#define VULKAN_TEST(...)       TEST_UNLESS(vk.missing, __VA_ARGS__)
#define VULKAN_IMAGE_TEST(...) TEST_UNLESS(vulkan_image_missing(), __VA_ARGS__)
const char *vulkan_image_missing(void);

/* A call that gives a VkResult: VK(QueueSubmit(...)). */
#define VK(call)                                                                                   \
    do {                                                                                           \
        VkResult result_ = vk.call;                                                                \
        ck_assert_msg(result_ == VK_SUCCESS, "vk%s gave %d", #call, (int)result_);                 \
    } while (0)

/*
 * In the rest of the case the layer may say this (a VUID): for what a case does wrong on purpose.
 * Whether it says it depends on its version.
 */
void vulkan_allow(const char *vuid);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A buffer in ordinary memory that the host has mapped. It ends with the case. */
struct vulkan_host {
    VkBuffer buffer;
    VkDeviceMemory memory;
    unsigned char *bytes;
    size_t size;
};
struct vulkan_host *vulkan_host(size_t size);
void vulkan_host_end(struct vulkan_host *host); /* earlier */

/* How vulkan_memory() allocates. */
enum {
    MEMORY_EXPORT = 1,    /* for vkGetMemoryFdKHR */
    MEMORY_DEDICATED = 2, /* for the buffer or image that is given */
    MEMORY_HOST = 4       /* the host can map it, and sees what is written */
};

/* Memory of that size and one of these types. It ends with the case. */
VkDeviceMemory vulkan_memory(VkDeviceSize size, uint32_t types, unsigned how, VkBuffer buffer,
                             VkImage image);
void vulkan_memory_free(VkDeviceMemory memory); /* earlier */

/*
 * A buffer that may be bound to exportable memory, with what memory it needs. It ends with the
 * case.
 */
VkBuffer vulkan_buffer(VkDeviceSize size, VkMemoryRequirements *needs);

/*
 * Such a buffer with memory of its own, at the memory's start. It is dedicated where CUDA computes
 * on another device, which takes no other.
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

/* A descriptor of the memory, the caller's. */
int vulkan_memory_fd(VkDeviceMemory memory);

/* ---- Submits --------------------------------------------------------------------------------- */

/* Holds submits up until the host says so: a timeline semaphore. It ends with the case. */
struct vulkan_gate;
struct vulkan_gate *vulkan_gate(void);
void vulkan_gate_open(struct vulkan_gate *gate);
void vulkan_gate_open_after(struct vulkan_gate *gate, unsigned ms);
bool vulkan_gate_is_open(const struct vulkan_gate *gate);

/* In the rest of the case commands are for this queue; at its start for the graphics queue. */
void vulkan_use_queue(VkQueue queue, uint32_t family);

/* Commands, of the case. */
VkCommandBuffer vulkan_begin(void);

/*
 * Ends and submits them; the thread does not wait. They wait for `submit` and signal it, if it is
 * given, and wait for the gate, if there is one.
 */
void vulkan_submit(VkCommandBuffer commands, const gr_submit *submit,
                   const struct vulkan_gate *gate);

/* Likewise that of a slot, which is committed for all slots of its acquire: call it once for them.
 */
void vulkan_submit_slot(VkCommandBuffer commands, const gr_slot *slot,
                        const struct vulkan_gate *gate);

/* Likewise a submit that has begun, which is committed and freed. */
void vulkan_submit_begun(VkCommandBuffer commands, gr_submit *submit,
                         const struct vulkan_gate *gate);

/* Begins one of n resources, of one pair of semaphores at the most; what it waits for and signals,
   NULL and 0 where there is nothing. */
gr_submit *vulkan_begin_submit(gr_resource *const resources[], size_t n);
gr_semaphore *wait_of(const gr_submit *submit);
gr_semaphore *signal_of(const gr_submit *submit);
uint64_t wait_value_of(const gr_submit *submit);
uint64_t signal_value_of(const gr_submit *submit);

/* Waits until all that was submitted has been done, for at most 20 s. */
void vulkan_finish(void);

/* ---- Bytes of buffers ------------------------------------------------------------------------ */

/*
 * Recorded: the buffer comes from CUDA, is used by all of the host's buffer, and goes back to CUDA.
 */
void vulkan_cmd_fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize size, int value);
void vulkan_cmd_read(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *to);
void vulkan_cmd_write(VkCommandBuffer commands, VkBuffer buffer, const struct vulkan_host *from);

/* At once, in a submit without semaphores that the host waits for. */
void vulkan_fill(VkBuffer buffer, VkDeviceSize size, int value);
void vulkan_write(VkBuffer buffer, const void *bytes, size_t size);
void vulkan_read(VkBuffer buffer, void *bytes, size_t size);
void vulkan_write_pattern(VkBuffer buffer, size_t size, unsigned seed);
#define assert_vulkan_pattern(buffer, size, seed)                                                  \
    assert_no_difference(pattern_differs_once(vulkan_bytes(buffer, size), size, seed))
#define assert_vulkan_bytes(buffer, size, value)                                                   \
    assert_no_difference(bytes_differ_once(vulkan_bytes(buffer, size), size, value))

/* What is in the buffer, in memory of its own. */
void *vulkan_bytes(VkBuffer buffer, size_t size);

/* Releases, and waits for the stream of the map. */
void must_release(gr_buffer *buffer);

/* Vulkan's pattern is read by CUDA, and CUDA's, of the next seed, by Vulkan. */
void vulkan_bytes_both_ways(gr_resource *resource, VkBuffer buffer, size_t size, unsigned seed);

/* What makes a buffer of transfer usage, for gr_vk_buffer_create(). */
VkBufferCreateInfo vulkan_buffer_info(VkDeviceSize size);

/* A buffer that grinterop makes so. */
gr_resource *must_create(VkDeviceSize size, unsigned flags);

#endif
