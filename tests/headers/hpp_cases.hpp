/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of test_hpp share: cases, their checks, and what they register. */
#ifndef GR_TESTS_HPP_CASES_HPP
#define GR_TESTS_HPP_CASES_HPP

#include <grinterop/gr.hpp>

#include <check.h>
#include <epoxy/gl.h>

#include <grinterop/gl.h>

extern "C" {
#include "tests/support/support.h"
}
#undef fail /* Check's, of which C++'s streams have their own */

#include "hpp.h"

struct hpp_case {
    const char *name;
    void (*run)();
};
#define HPP_CASE(function)                                                                         \
    {                                                                                              \
#function, function                                                                        \
    }

/* Not one of Check's, whose jump would leave objects behind. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            throw std::logic_error("line " + std::to_string(__LINE__) + ": " #condition);          \
    } while (0)

inline const char *hpp_run(const hpp_case &one)
{
    static std::string text;
    try {
        one.run();
        return nullptr;
    } catch (const std::exception &error) {
        text = std::string(one.name) + ": " + error.what();
        return text.c_str();
    }
}

/* Runs what has to throw grinterop's error, which it returns. */
template <typename Call> grinterop::error hpp_thrown(Call call)
{
    try {
        call();
    } catch (const grinterop::error &error) {
        return error;
    }
    throw std::logic_error("nothing was thrown");
}

constexpr std::size_t hpp_size = 1000;

/* A buffer of OpenGL's with one value in each byte, and what it is registered as. */
struct hpp_buffer {
    GLuint name = gl_buffer_filled(hpp_size, 7);
    grinterop::resource resource{gr_from_gl_buffer(name, GR_READ_WRITE)};

    bool has(int value) const { return !gl_bytes_differ(name, hpp_size, value); }

    /* Neither grinterop nor the driver takes it for mapped, so that it can be. */
    bool can_be_mapped() const
    {
        return !resource.is_mapped() && resource.map(fx.stream).size() == hpp_size;
    }
};

inline void hpp_fill(CUdeviceptr pointer, int value, std::size_t size = hpp_size)
{
    auto byte = static_cast<unsigned char>(value);
    grinterop::check(fx.cu->MemsetD8Async(pointer, byte, size, fx.stream), "cuMemsetD8Async");
}

#endif
