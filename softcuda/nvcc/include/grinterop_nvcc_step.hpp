/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to `volatile` shared memory, which keep the lanes of a warp in step. */
#ifndef GRINTEROP_NVCC_STEP_HPP
#define GRINTEROP_NVCC_STEP_HPP

#pragma GCC system_header

#include <grinterop/cuhost.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* What `to OP= value` gives to `to`: the two kinds of shifts and assignments go by one letter. */
template <char Op, class T, class V> inline auto step_value(const T &to, const V &value)
{
    if constexpr (Op == '=')
        return value;
    else if constexpr (Op == '+')
        return to + value;
    else if constexpr (Op == '-')
        return to - value;
    else if constexpr (Op == '*')
        return to * value;
    else if constexpr (Op == '/')
        return to / value;
    else if constexpr (Op == '%')
        return to % value;
    else if constexpr (Op == '&')
        return to & value;
    else if constexpr (Op == '|')
        return to | value;
    else if constexpr (Op == '^')
        return to ^ value;
    else if constexpr (Op == '<')
        return to << value;
    else
        return to >> value;
}

/*
 * All lanes of the warp that make this write have read before one of them writes, and have written
 * before one of them goes on. Lanes that are elsewhere are not waited for once nothing else can
 * run. The driver tells one write from another by the code that asks it, so a write has one copy of
 * this, which its number keeps apart from those of others.
 */
template <unsigned Number, char Op, class T, class V>
__attribute__((noinline, noclone)) void step(T &to, const V &value)
{
    const auto next = step_value<Op>(to, value);
    if (!here.launch) { /* a function of the host's, too */
        to = static_cast<std::remove_volatile_t<T>>(next);
        return;
    }
    meet(0, Number);
    to = static_cast<std::remove_volatile_t<T>>(next);
    meet(0, Number);
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#endif
