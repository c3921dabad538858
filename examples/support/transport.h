/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names of the transports from CUDA to the renderer. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <grinterop/gr.h>

/* The name of a transport, for example "interop". */
const char *transport_name(gr_transport transport);

#endif
