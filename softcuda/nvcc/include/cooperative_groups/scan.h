/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prefix sums over tiles and coalesced groups, on the host. */
#ifndef _CG_SCAN_H_
#define _CG_SCAN_H_

#pragma GCC system_header

#include <cooperative_groups/reduce.h>

#pragma GCC visibility push(hidden)
namespace cooperative_groups
{

template <class Group, class T, class F> inline T inclusive_scan(const Group &group, T value, F &&f)
{
    return lane_values<T>(group.gr_mask(), value).fold((2u << gr_cuhost::lane()) - 1, f);
}

template <class Group, class T> inline T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}

template <class Group, class T, class F> inline T exclusive_scan(const Group &group, T value, F &&f)
{
    return lane_values<T>(group.gr_mask(), value).fold((1u << gr_cuhost::lane()) - 1, f);
}

template <class Group, class T> inline T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups
#pragma GCC visibility pop

#endif
