/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of kinds itself: each kind can be made, passes bytes both ways, and is what it says. */
#include "kinds.h"

#include "tests/drivers/fault_driver.h"

START(fault_control_start())

GROUP("kinds", add_kinds_case)

static unsigned made;

FACT(cuda_writes_and_the_graphics_api_reads, GR_WRITE_DISCARD)
{
    for (unsigned frame = 1; frame < 6; frame++) {
        thing_fill(thing, frame);
        assert_thing(thing, frame);
    }
    made++;
}

FACT(the_graphics_api_writes_and_cuda_reads, GR_READ_ONLY)
{
    for (unsigned frame = 1; frame < 6; frame++) {
        thing_write(thing, frame);
        gr_buffer *buffer = thing_map(thing);
        assert_thing_in_cuda(thing, buffer, frame);
        assert_ok(gr_buffer_release(buffer));
    }
    made++;
}

FACT(bytes_pass_both_ways, GR_READ_WRITE)
{
    for (unsigned frame = 1; frame < 6; frame++) {
        thing_write(thing, 2 * frame);
        gr_buffer *buffer = thing_map(thing);
        assert_thing_in_cuda(thing, buffer, 2 * frame);
        thing_cuda_write(thing, buffer, 2 * frame + 1);
        assert_ok(gr_buffer_release(buffer));
        assert_thing(thing, 2 * frame + 1);
    }
    made++;
}

/* With the software drivers each kind can be made, so that no fact is skipped in silence. */
TEST_UNLESS(gr_cuda_is_software() ? vk.missing : "A GPU may lack some kinds",
            no_kind_is_missing_on_the_software_drivers)
{
    ck_assert_uint_ge(made, 3 * kind_count - 4);
}
