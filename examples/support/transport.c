/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names of the transports. */
#include "transport.h"

const char *transport_name(gr_transport transport)
{
    switch (transport) {
    case GR_TRANSPORT_INTEROP:
        return "interop";
    case GR_TRANSPORT_SHARED:
        return "shared";
    case GR_TRANSPORT_PEER:
        return "peer";
    case GR_TRANSPORT_EXTERNAL:
        return "external";
    default:
        return "copy";
    }
}
