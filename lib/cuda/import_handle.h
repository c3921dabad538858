/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles of other APIs for import: the rules that memory and semaphores have in common, and
 * explanations of refused imports.
 */
#ifndef GR_LIB_CUDA_IMPORT_HANDLE_H
#define GR_LIB_CUDA_IMPORT_HANDLE_H

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

/*
 * The value of CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD. CUDA 12 headers lack the constant, but
 * drivers support the type.
 */
#define GR_DMABUF_FD 9

/*
 * The handle fields that a type uses. All other fields must be empty, because the driver's struct
 * has a union.
 */
enum gr_handle_form {
    GR_HANDLE_FD,    /* a file descriptor; the driver owns it after success */
    GR_HANDLE_NT,    /* a Windows handle or its name, not both */
    GR_HANDLE_KMT,   /* a global Windows handle, without a name */
    GR_HANDLE_NVSCI, /* an NvSci object */
};

struct gr_handle {
    int fd;
    void *win32_handle;
    const void *win32_name;
    const void *nvsci;
};

/* The rule for one handle type. Memory and semaphores each have a table of rules. */
struct gr_handle_rule {
    int type;         /* the driver's constant */
    const char *name; /* the name of the type, such as "OPAQUE_FD" */
    enum gr_handle_form form;
    const char *from;  /* the calls that export this type of handle */
    int kind;          /* a value of an enum of the table */
    const char *usual; /* the usual causes of a failed import */
};

/* Returns the rule of a type; NULL if the table has none. */
static inline const struct gr_handle_rule *gr_handle_find(const struct gr_handle_rule rules[],
                                                          size_t n, int type)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].type == type)
            return &rules[i];
    return NULL;
}

/* The names for messages: the driver's import call, and fields and nouns of the description. */
struct gr_handle_import {
    const char *driver_call; /* such as "cuImportExternalMemory" */
    const char *nvsci_field; /* such as "nvscibuf" */
    const char *what;        /* such as "memory" */
};

/* Checks the handle against the rule of its type; the message cites the rule. */
gr_status gr_handle_check(const struct gr_handle_rule *rule, const struct gr_handle *handle,
                          const struct gr_handle_import *import);

/*
 * gr_fd_copy() duplicates a file descriptor, gr_fd_close() closes one. gr_fd_check_left() fails if
 * this process can open no more, because drivers do not report this cause. Both failures are
 * GR_ERR_SYSTEM. On Windows there are no descriptors, and the copy is `fd`.
 */
gr_status gr_fd_copy(int fd, int *copy);
void gr_fd_close(int fd);
gr_status gr_fd_check_left(void);

/* Records that CUDA has no such handle type. */
gr_status gr_handle_unknown(int type, const struct gr_handle_import *import);

/*
 * Records a refused import: GR_ERR_UNSUPPORTED if this platform lacks the type or `foreign` is set,
 * otherwise GR_ERR_CUDA. The message names the usual causes for this type of handle.
 */
gr_status gr_handle_refused(const struct gr_handle_rule *rule,
                            const struct gr_handle_import *import, CUresult code, bool foreign);

#endif
