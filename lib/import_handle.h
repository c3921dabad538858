/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles of other APIs for import: rules for both memory and semaphores, and explanations of
 * refused imports.
 */
#ifndef GR_LIB_IMPORT_HANDLE_H
#define GR_LIB_IMPORT_HANDLE_H

#include <cuda.h>
#include <grinterop/gr.h>

/* CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD. CUDA 12 headers lack it, but drivers support it. */
#define GR_DMABUF_FD 9

/*
 * The handle fields that a type uses. All others must be empty, because the driver's struct has a
 * union.
 */
enum gr_handle_form {
    GR_HANDLE_FD,    /* a file descriptor; the driver owns it after success */
    GR_HANDLE_NT,    /* a Windows handle or a name, not both */
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
    const char *name; /* "OPAQUE_FD" */
    enum gr_handle_form form;
    const char *from; /* the calls that export this type of handle */
};

/* The driver's import call, and the names in grinterop's description. */
struct gr_handle_import {
    const char *driver_call; /* "cuImportExternalMemory" */
    const char *nvsci_field; /* "nvscibuf" */
    const char *what;        /* "memory" */
};

/* Checks the handle against the rule of its type; the message cites the rule. */
gr_status gr_handle_check(const struct gr_handle_rule *rule, const struct gr_handle *handle,
                          const struct gr_handle_import *import, const char *call);

/* Duplicates a file descriptor (negative on failure), and closes one. Windows has none. */
int gr_fd_copy(int fd);
void gr_fd_close(int fd);

/* Records that CUDA has no such handle type. */
gr_status gr_handle_unknown(int type, const struct gr_handle_import *import, const char *call);

/*
 * Records a refused import: GR_ERR_UNSUPPORTED if this platform lacks the type or `foreign` is set,
 * otherwise GR_ERR_CUDA. `usual` names the usual causes for this type.
 */
gr_status gr_handle_refused(const struct gr_handle_rule *rule,
                            const struct gr_handle_import *import, CUresult code, bool foreign,
                            const char *usual, const char *call);

#endif
