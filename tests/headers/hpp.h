/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * test_hpp tests gr.hpp. Its cases are in C++ parts, which hpp_main.c runs. A failed Check
 * assertion would jump over destructors, so the parts throw instead, and report the result through
 * this header.
 */
#ifndef GR_TESTS_HPP_H
#define GR_TESTS_HPP_H

#ifdef __cplusplus
extern "C" {
#endif

struct hpp_part {
    const char *name;
    int count;

    /*
     * Runs case `i`. Returns NULL if it passes, or its name and the reason of the failure, valid
     * until the next call.
     */
    const char *(*run)(int i);
};

/* Each function returns one part. */
const struct hpp_part *hpp_errors(void);
const struct hpp_part *hpp_mappings(void);
const struct hpp_part *hpp_rings(void);
const struct hpp_part *hpp_tensors(void);
const struct hpp_part *hpp_vulkan(void);

/* The C++ edition with which the parts were compiled. */
long hpp_edition(void);

#ifdef __cplusplus
}
#endif
#endif
