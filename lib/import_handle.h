/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of other APIs, as the driver imports them: the rules that memory and semaphores have in
 * common, and what the driver's refusals mean.
 */
#ifndef GR_LIB_IMPORT_HANDLE_H
#define GR_LIB_IMPORT_HANDLE_H

#include <grinterop/gr.h>

/*
 * CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, which headers of CUDA 12 do not have though drivers do.
 */
#define GR_DMABUF_FD 9

/*
 * What a type's handle consists of; all else must be empty, because the driver keeps them in a
 * union.
 */
enum gr_handle_form {
    GR_HANDLE_FD,    /* a file descriptor, which the driver takes on success */
    GR_HANDLE_NT,    /* a Windows handle or a name, not both */
    GR_HANDLE_KMT,   /* a global Windows handle; there are no names */
    GR_HANDLE_NVSCI, /* an object of NvSci */
};

struct gr_handle {
    int fd;
    void *win32_handle;
    const void *win32_name;
    const void *nvsci;
};

/* What one type of handle takes; the tables of memory and of semaphores have one in each row. */
struct gr_handle_rule {
    const char *name; /* "OPAQUE_FD" */
    enum gr_handle_form form;
    const char *from; /* which calls give such a handle */
};

/* The driver's call that imports, and what the fields of its grinterop description are called. */
struct gr_handle_import {
    const char *driver_call; /* "cuImportExternalMemory" */
    const char *nvsci_field; /* "nvscibuf" */
    const char *what;        /* "memory" */
};

/* Whether the handle is what its type demands; the message cites the rule. */
gr_status gr_handle_check(const struct gr_handle_rule *rule, const struct gr_handle *handle,
                          const struct gr_handle_import *import, const char *call);

/*
 * A copy of a file descriptor, below 0 if there cannot be one; and the end of one. Windows has
 * none.
 */
int gr_fd_copy(int fd);
void gr_fd_close(int fd);

/* Records that the number is no type that CUDA has. */
gr_status gr_handle_unknown(int type, const struct gr_handle_import *import, const char *call);

/*
 * Records the driver's refusal: GR_ERR_UNSUPPORTED where this platform does not have the type, or
 * the caller knows that it does not (`foreign`), else GR_ERR_CUDA. `usual` says where a refused
 * import of this type usually comes from.
 */
gr_status gr_handle_refused(const struct gr_handle_rule *rule,
                            const struct gr_handle_import *import, CUresult code, bool foreign,
                            const char *usual, const char *call);

#endif
