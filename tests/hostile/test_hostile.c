/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that are shared with a peer who means harm: files that shrink, semaphores that go back,
 * sockets whose descriptors do not close, a peer that lives and keeps others waiting, and one that
 * does anything. What each field of a message may be is in test_share.
 */
#include "hostile.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "hostile", NULL);
}
