/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Decides which error of which transport leads to the next one; see choose_transport.h. */
#include "lib/resource/choose_transport.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/cuda_abi.h"
#include "lib/base/error.h"
#include "lib/base/log.h"

#define ON(status) (1u << GR_ERR_##status)

/* Each transport allocates other memory: one may have room where another has none. */
#define ALWAYS (ON(UNSUPPORTED) | ON(NO_MEMORY))

/*
 * The errors after which another transport may work. An error of the application's arguments or
 * state, or a lost device, is an error of all transports. A transport that opens descriptors may
 * fail for the lack of them (GR_ERR_SYSTEM).
 */
static const struct row {
    gr_transport transport;
    const char *name;
    unsigned errors;
    /* CUDA_ERROR_INVALID_VALUE refuses the object of the application */
    bool is_of_object;
} rows[] = {
    {GR_TRANSPORT_EXTERNAL, "external", ALWAYS | ON(CUDA) | ON(VULKAN) | ON(SYSTEM), false},
    {GR_TRANSPORT_SHARED, "shared", ALWAYS | ON(CUDA) | ON(GL) | ON(VULKAN) | ON(SYSTEM), false},
    {GR_TRANSPORT_INTEROP, "interop", ALWAYS | ON(CUDA) | ON(GL), true},
    {GR_TRANSPORT_PEER, "peer", ALWAYS | ON(CUDA) | ON(GL) | ON(VULKAN) | ON(SYSTEM), false},
    {GR_TRANSPORT_COPY, "copy", ALWAYS | ON(CUDA) | ON(GL), false},
};

static const struct row *row_of(gr_transport transport)
{
    const struct row *row = rows;
    while (row->transport != transport)
        row++;
    return row;
}

/* Ends a reason that snprintf() cut, as its result `length` says, after a whole word. */
static void end_reason(struct gr_transport_choice *choice, int length)
{
    static const char more[] = "...";
    if (length < (int)sizeof(choice->reason))
        return;
    char *end = choice->reason + sizeof(choice->reason) - sizeof(more);
    while (*end != ' ')
        end--; /* there is a space after the name of the transport */
    memcpy(end, more, sizeof(more));
}

void gr_transport_skip(struct gr_transport_choice *choice, gr_transport transport, const char *why)
{
    end_reason(choice, snprintf(choice->reason, sizeof(choice->reason), "%s was not chosen: %s",
                                row_of(transport)->name, why));
}

gr_status gr_transports_check(unsigned transports)
{
    GR_REFUSE_IF(transports & ~(unsigned)GR_TRANSPORT_ANY,
                 "`transports` is 0x%x, which has unknown bits: pass gr_transport bits, or "
                 "GR_TRANSPORT_ANY.",
                 transports);
    return GR_OK;
}

gr_status gr_in_flight_check(unsigned n, unsigned flags)
{
    if (!n)
        return GR_OK;
    GR_REFUSE_IF(n < 2 || n > GR_MOST_IN_FLIGHT,
                 "`in_flight` is %u: pass 2 to %d staging buffers, or 0 for none.", n,
                 GR_MOST_IN_FLIGHT);
    GR_REFUSE_IF(!(flags & (GR_READ_ONLY | GR_WRITE_DISCARD)),
                 "`in_flight` is %u, but the resource is read_write: what CUDA reads is the frame "
                 "before, so its frames cannot overlap. Register it write_discard or read_only, "
                 "or leave `in_flight` 0.",
                 n);
    return GR_OK;
}

/* A choice, and how its caller tries a transport. */
struct trial {
    struct gr_transport_choice *choice;
    gr_try_transport *attempt;
    void *of;
};

static gr_status try_transport(void *of, size_t i)
{
    const struct trial *trial = of;
    struct gr_transport_choice *choice = trial->choice;
    choice->is_last = i + 1 == choice->count;
    GR_TRY(trial->attempt(trial->of, choice, choice->order[i]));
    const char *name = row_of(choice->order[i])->name;
    const bool has_reason = choice->reason[0];
    snprintf(choice->text, sizeof(choice->text), has_reason ? "%s (%s)" : "%s%s", name,
             choice->reason);
    if (has_reason)
        gr_log(GR_LOG_INFO, "%s: transport %s", gr_call, choice->text);
    return GR_OK;
}

static bool leads_to_next(void *of, size_t i, const struct gr_error_record *error)
{
    struct gr_transport_choice *choice = ((const struct trial *)of)->choice;
    const struct row *row = row_of(choice->order[i]);
    const bool refuses_object = row->is_of_object && !choice->crosses &&
                                error->domain == GR_DOMAIN_CUDA &&
                                error->code == CUDA_ERROR_INVALID_VALUE;
    if (choice->is_last || refuses_object || !(row->errors & 1u << error->status))
        return false;
    gr_log(GR_LOG_INFO, "%s: transport %s failed: %s", gr_call, row->name, error->message);
    if (i > 0)
        return true;
    const bool has_code = error->code_name[0];
    end_reason(choice,
               snprintf(choice->reason, sizeof(choice->reason), "%s was not chosen: %s%s%s%s%s",
                        row->name, error->code_name, has_code ? " by " : "",
                        has_code ? error->call : "", has_code ? ": " : "", error->message));
    return true;
}

gr_status gr_choose_transport(struct gr_transport_choice *choice, gr_try_transport *attempt,
                              void *of)
{
    struct trial trial = {choice, attempt, of};
    return gr_try(choice->count, try_transport, leads_to_next, &trial);
}
