/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings shared with a malicious peer: files that shrink, semaphores that go back, sockets whose
 * descriptors block in close(), a live peer that keeps others waiting, and one that does anything.
 * test_share tests the values of message fields.
 */
#include "hostile.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "hostile", NULL);
}
