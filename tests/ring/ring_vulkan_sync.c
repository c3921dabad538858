/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The two semaphores of a ring of Vulkan buffers: which pair a ring uses, and which pairs it
 * refuses.
 */
#define _GNU_SOURCE
#include "ring_vulkan.h"

#include "lib/sync/sync.h"

GROUP("Vulkan semaphores", add_vulkan_case, add_copied_vulkan_case)

/* Creates a resource with this pair of semaphores, as if it were the pair of the device. */
static gr_resource *resource_with(const struct ring_sync *pair)
{
    gr_resource *resource = must_create(RING_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(resource, pair->acquire, pair->release));
    resource->sync.pair->of_device = true;
    return resource;
}

/* Two rings with resources of one device do not wait for the work of each other. */
VULKAN_TEST(each_ring_gets_a_new_pair_of_semaphores)
{
    struct ring_sync device = ring_sync_begin(), other = ring_sync_begin();
    gr_resource *resources[3];
    const gr_slot *slots[2];
    for (int i = 0; i < 3; i++)
        resources[i] = resource_with(&device);
    gr_ring *rings[2] = {gr_ring_create(&resources[0], 1, NULL),
                         gr_ring_create(&resources[1], 1, NULL)};
    for (int i = 0; i < 2; i++) {
        assert_made(rings[i]);
        write_frame(rings[i], GR_SIDE_CUDA, i + 1);
        must_acquire_read(rings[i], GR_SIDE_CUDA, &slots[i], 1);
    }
    ck_assert_ptr_ne(slots[0]->submit->signals[0], device.acquire);
    ck_assert_ptr_ne(slots[0]->submit->signals[0], slots[1]->submit->signals[0]);
    struct vulkan_host *read = vulkan_host(RING_SIZE);
    for (int i = 0; i < 2; i++) {
        submit_read(&slots[i], 1, &read, NULL);
        assert_ok(gr_ring_give_back(rings[i], &slots[i], 1));
        vulkan_finish();
        assert_bytes(read->bytes, RING_SIZE, i + 1);
    }
    /* Added slots must have the semaphores of the device: a slot with another pair is refused. */
    gr_resource *stranger = resource_with(&other);
    assert_invalid(gr_ring_resize(rings[0], &stranger, 1), "other semaphores");
    assert_ok(gr_ring_resize(rings[0], &resources[2], 1));
    write_frame(rings[0], GR_SIDE_CUDA, 3);
    for (int i = 0; i < 2; i++)
        gr_ring_free(rings[i]);
    for (int i = 0; i < 3; i++) {
        GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(&resources[i], 1));
        ck_assert_ptr_eq(submit->signals[0], device.acquire);
        ck_assert(resources[i]->sync.pair->of_device);
        gr_resource_free(resources[i]);
    }
    gr_resource_free(stranger);
    ring_sync_end(&device);
    ring_sync_end(&other);
}

VULKAN_TEST(resources_of_a_ring_need_the_same_pair_of_semaphores)
{
    struct ring_sync one = ring_sync_begin(), two = ring_sync_begin();
    gr_resource *r[2] = {unordered(must_create(RING_SIZE, GR_READ_WRITE)),
                         must_create(RING_SIZE, GR_READ_WRITE)};
    assert_null_invalid(gr_ring_create(r, 2, NULL), "lacks a semaphore");
    assert_ok(gr_resource_set_sync(r[0], one.acquire, one.release));
    assert_null_invalid(gr_ring_create(r, 2, NULL), "has other semaphores");
    assert_ok(gr_resource_set_sync(r[1], two.acquire, two.release));
    assert_null_invalid(gr_ring_create(r, 2, NULL), "has other semaphores");
    assert_ok(gr_resource_set_sync(r[1], one.acquire, GR_SEMAPHORE_NONE));
    assert_null_invalid(gr_ring_create(r, 2, NULL), "lacks a semaphore");
    gr_resource *mixed[2] = {r[0], must_register(gl_buffer_filled(RING_SIZE, 0))};
    assert_null_invalid(gr_ring_create(mixed, 2, NULL), "another transport");
    gr_resource_free(mixed[1]);
    free_resources(r, 2);
    ring_sync_end(&one);
    ring_sync_end(&two);
}
