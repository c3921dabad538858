/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes to shared memory, at which the lanes of a warp wait for each other. */
#ifndef GRINTEROP_NVCC_STEP_HPP
#define GRINTEROP_NVCC_STEP_HPP

#pragma GCC system_header

#include <grinterop/cuhost.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/*
 * The value that `to OP= value` assigns. Op is one letter for each operator, including << and >>.
 */
template <char Op, class T, class V> inline auto step_value(const T &to, const V &value)
{
    if constexpr (Op == '=') {
        return value;
    } else {
        std::remove_volatile_t<T> next = to;
        if constexpr (Op == '+')
            next += value;
        else if constexpr (Op == '-')
            next -= value;
        else if constexpr (Op == '*')
            next *= value;
        else if constexpr (Op == '/')
            next /= value;
        else if constexpr (Op == '%')
            next %= value;
        else if constexpr (Op == '&')
            next &= value;
        else if constexpr (Op == '|')
            next |= value;
        else if constexpr (Op == '^')
            next ^= value;
        else if constexpr (Op == '<')
            next <<= value;
        else
            next >>= value;
        return next;
    }
}

/*
 * Assigns a value in all lanes of the warp that reach this write. All lanes read before any lane
 * writes, and all lanes have written before any lane continues. A lane that is elsewhere delays the
 * others only until nothing else can run. The driver distinguishes writes by the address of the
 * calling code, so each write has its own Number, and therefore its own copy of this function.
 */
template <unsigned Number, char Op, class T, class V>
__attribute__((noinline, noclone)) void step(T &to, const V &value)
{
    const auto next = step_value<Op>(to, value);
    if (!here.launch) { /* no kernel is running: a host function may contain such a write */
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
