/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_facts, whose tests run for all kinds of resources. */
#ifndef GR_TESTS_FACTS_H
#define GR_TESTS_FACTS_H

#include "tests/kinds/kinds.h"

/* The flags with which CUDA writes, for tests that run twice. */
static const unsigned writing[] = {GR_READ_WRITE, GR_WRITE_DISCARD};

#endif
