/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The transports copy and peer: CUDA has memory of its own, and the bytes pass through staging
 * memory. For buffers on the GPU on which CUDA computes, CUDA works in the staging memory itself.
 *
 *     submit that hands over    Vulkan: object -> staging     record.c     unless write_discard
 *     map                       CUDA: staging -> own memory   staging.c    unless write_discard
 *     release                   CUDA: own memory -> staging   staging.c    unless read_only
 *     submit that takes back    Vulkan: staging -> object     record.c     unless read_only
 *
 * The semaphores of a resource order these steps, as they order the two sides of shared memory. So
 * each resource needs only one staging memory, and no thread waits.
 *
 * With frames in flight the staging memory has several slots in turn. A map that overwrites takes
 * the next slot, and waits only for the submit that last took a slot back. A submit that hands over
 * copies to the next slot, and waits only for the release that ended CUDA's last use of it.
 */
#ifndef GR_VK_STAGING_STAGING_H
#define GR_VK_STAGING_STAGING_H

#include "lib/resource/image.h"
#include "lib/sync/turns.h"
#include "vk/memory/memory.h"

/* ---- Staging memory -------------------------------------------------------------------------- */

/* How both sides access the bytes. */
enum vk_staging_way {
    VK_STAGING_PEER,       /* memory of the Vulkan device, imported by CUDA */
    VK_STAGING_IMPORTED,   /* registered with CUDA, imported by Vulkan */
    VK_STAGING_REGISTERED, /* allocated by Vulkan, registered with CUDA */
    VK_STAGING_BY_CPU      /* two memories; the CPU copies between them, in stream order */
};

struct vk_staging_memory {
    enum vk_staging_way way;
    struct vk_binding binding; /* the Vulkan buffer; its device is held by the caller */
    VkDeviceSize offset;       /* of the bytes in the buffer */
    size_t size, stride;       /* of a slot, and from one slot to the next */
    /* the bytes that CUDA accesses; for VK_STAGING_PEER an address of device memory */
    unsigned char *bytes;
    /* the mapping of the Vulkan memory; for VK_STAGING_REGISTERED and VK_STAGING_BY_CPU */
    unsigned char *mapped;
    /* NULL, or host memory: of the process for VK_STAGING_IMPORTED, otherwise of CUDA */
    void *allocated;
    struct gr_import *import; /* for VK_STAGING_PEER */
    /* for VK_STAGING_BY_CPU: what a copy by the CPU copies */
    struct vk_staging_slot {
        unsigned char *bytes, *mapped;
        size_t size;
    } slots[GR_MOST_IN_FLIGHT];
};

/*
 * Allocates `count` slots of `size` bytes for memory->binding.device, `by_peer` of its own memory,
 * otherwise of the host, which are zero. After an error vk_staging_memory_end() frees what exists.
 * The CUDA context is current.
 */
gr_status vk_staging_memory_make(struct vk_staging_memory *memory, bool by_peer, size_t size,
                                 unsigned count);

/*
 * For VK_STAGING_BY_CPU, enqueues the copy of a slot by the CPU: call it with `in` before CUDA
 * copies from `bytes`, and without after CUDA has copied to `bytes`.
 */
gr_status vk_staging_memory_copy(struct vk_staging_memory *memory, unsigned slot, bool in,
                                 CUstream stream);

/* Frees the staging memory. `alive`: the CUDA context still exists, and is current. */
void vk_staging_memory_end(struct vk_staging_memory *memory, bool alive);

/* Describes how both sides access the bytes. */
static inline const char *vk_staging_text(enum vk_staging_way way)
{
    return way == VK_STAGING_PEER       ? "through memory of the Vulkan GPU that CUDA imported"
           : way == VK_STAGING_IMPORTED ? "through pinned memory that Vulkan imported"
           : way == VK_STAGING_REGISTERED
               ? "through Vulkan memory that CUDA registered"
               : "through pinned memory, from and to which the CPU copies";
}

/* ---- The CUDA side --------------------------------------------------------------------------- */

/*
 * Bytes of a slot that CUDA wrote, and that the Vulkan object does not have yet. There are none
 * without sync.owes, after a committed submit: commands of grinterop or of the application have
 * copied them to the object.
 */
struct vk_owed {
    VkBufferCopy *parts; /* ranges of the object: `srcOffset` and `size`; no two overlap */
    uint32_t count, room;
};

/* The staging of a resource. gr_external.memory points to it. */
struct vk_staging {
    struct gr_import import;         /* without a handle */
    struct vk_staging_memory memory; /* its device is held */
    CUdeviceptr own;       /* of a buffer: CUDA's own memory; 0: CUDA works in the slots */
    struct gr_turns turns; /* the slots; without frames in flight only one */
    struct vk_owed owed[GR_MOST_IN_FLIGHT]; /* of each slot; ranges of two slots do not overlap */
    size_t offsets[GR_MOST_LEVELS];         /* of an image: the levels in a slot */
};

/* The staging of a resource; NULL if the resource shares memory, or is closed. */
static inline struct vk_staging *vk_staging_of(const struct gr_external *r)
{
    return gr_external_is_copied(r) ? (struct vk_staging *)r->memory : NULL;
}

/*
 * Allocates the memory of both sides, with `in_flight` slots or, if that is 0, with one, for
 * gr_external_make_mapped(). Sets r->mipmapped for an image. NULL after recording an error.
 */
struct vk_staging *vk_staging_make(struct gr_external *r, const struct vk_binding *binding,
                                   const struct gr_context *context,
                                   const gr_external_part_desc *part, unsigned in_flight,
                                   unsigned flags);

/* Operations of struct gr_backend. */
gr_status vk_staging_map(gr_resource *const resources[], size_t n, CUstream stream);
void vk_staging_undo_map(gr_resource *const resources[], size_t n, CUstream stream);
gr_status vk_staging_unmap(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * Notes which slots a submit has used, after its commit: it `took` the bytes that the slots owed,
 * or `handed` the object over.
 */
void vk_staging_note_submit(struct gr_external *r, bool took, bool handed);

/* ---- The Vulkan side, for checked resources of one device ------------------------------------ */

/*
 * With `fetch`, copies the objects that CUDA reads to staging memory, and makes the bytes visible
 * to the host. Staging memory on a GPU needs no barrier, because the semaphores make its bytes
 * visible. Barriers recorded before must make the objects readable by transfers.
 *
 * Without, copies from staging memory to the objects that CUDA writes: with `all` whole objects,
 * for commands that may run later and more than once, otherwise only the bytes that the objects do
 * not have yet. A barrier recorded afterwards must make the objects usable.
 */
void vk_staging_record(VkCommandBuffer commands, const struct vk_resource *const list[], size_t n,
                       bool fetch, bool all);

#endif
