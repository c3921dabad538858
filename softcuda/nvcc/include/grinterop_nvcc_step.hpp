/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes to `volatile` shared memory, which keep the lanes of a warp in step. */
#ifndef GRINTEROP_NVCC_STEP_HPP
#define GRINTEROP_NVCC_STEP_HPP

#pragma GCC system_header

#include <grinterop/cuhost.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* The value that `to OP= value` assigns. One letter names each operator, also << and >>. */
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
 * All lanes of the warp that make this write have read before any of them writes, and have written
 * before any of them continues. Lanes elsewhere are not waited for once nothing else can run. The
 * driver distinguishes writes by the code that calls it, so each write has its own copy of this
 * function, kept apart by its number.
 */
template <unsigned Number, char Op, class T, class V>
__attribute__((noinline, noclone)) void step(T &to, const V &value)
{
    const auto next = step_value<Op>(to, value);
    if (!here.launch) { /* also used by a host function */
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
