/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies by all threads of a group. On the host they are complete when the call returns. */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC

#pragma GCC system_header

#include <cooperative_groups.h>

#pragma GCC visibility push(hidden)
namespace cooperative_groups
{

template <class Group, class T, class From>
inline void memcpy_async(const Group &group, T *to, const From *from, size_t bytes)
{
    char *target = reinterpret_cast<char *>(to);
    const char *source = reinterpret_cast<const char *>(from);
    for (size_t i = group.thread_rank(); i < bytes; i += group.size())
        target[i] = source[i];
}

template <class Group> inline void wait(const Group &group)
{
    group.sync();
}

template <unsigned Stage, class Group> inline void wait_prior(const Group &group)
{
    group.sync();
}

} // namespace cooperative_groups
#pragma GCC visibility pop

#endif
