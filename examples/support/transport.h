/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words for how bytes get from CUDA to who draws.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <grinterop/gr.h>

/* For example "interop". */
const char *transport_name(gr_transport transport);

#endif
