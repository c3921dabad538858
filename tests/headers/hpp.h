/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hpp: the cases of gr.hpp in parts of C++, which hpp_main.c runs. A failed check of Check's
 * would jump over destructors, so the parts throw theirs, and tell of it here.
 */
#ifndef GR_TESTS_HPP_H
#define GR_TESTS_HPP_H

#ifdef __cplusplus
extern "C" {
#endif

struct hpp_part {
    const char *name;
    int count;

    /* Runs case `i`. NULL, or its name and why it failed; valid until the next one. */
    const char *(*run)(int i);
};

/* Each gives its part. */
const struct hpp_part *hpp_errors(void);
const struct hpp_part *hpp_mappings(void);
const struct hpp_part *hpp_rings(void);

/* The edition of C++ that they were compiled as. */
long hpp_edition(void);

#ifdef __cplusplus
}
#endif
#endif
