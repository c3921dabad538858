/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the parts of test_hpp: the type of a case, checks, and OpenGL buffers with their
 * resources.
 */
#ifndef GR_TESTS_HPP_CASES_HPP
#define GR_TESTS_HPP_CASES_HPP

#include <grinterop/cuda.h>

#include <grinterop/gr.hpp>

#include <cstring>

#include <check.h>
#include <epoxy/gl.h>

#include <grinterop/gl.h>

extern "C" {
#include "tests/support/shared_buffer.h"
}
#undef fail /* Check defines this macro, which conflicts with C++ streams */

#include "hpp.h"

struct hpp_case {
    const char *name;
    void (*run)();
};
#define HPP_CASE(function)                                                                         \
    {                                                                                              \
#function, function                                                                        \
    }

/* Replaces the assertions of Check, which would jump over destructors. */
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

/* Defines the function that returns the part of this name: the `cases` of the file. */
#define HPP_PART(name)                                                                             \
    const hpp_part *hpp_##name()                                                                   \
    {                                                                                              \
        static const hpp_part part = {#name, sizeof(cases) / sizeof(cases[0]),                     \
                                      [](int i) { return hpp_run(cases[i]); }};                    \
        return &part;                                                                              \
    }

/* Runs a call that must throw grinterop::error. Returns the error. */
template <typename Call> grinterop::error hpp_thrown(Call call)
{
    try {
        call();
    } catch (const grinterop::error &error) {
        return error;
    }
    throw std::logic_error("nothing was thrown");
}

/* Whether the message of the error contains the text. */
inline bool hpp_says(const grinterop::error &thrown, const char *text)
{
    return std::strstr(thrown.what(), text) != nullptr;
}

constexpr std::size_t hpp_size = 1000;

/* An OpenGL buffer with the same value in all bytes, and its resource. */
struct hpp_buffer {
    GLuint name = gl_buffer_filled(hpp_size, 7);
    grinterop::resource resource{gr_from_gl_buffer(name, GR_READ_WRITE)};

    bool has(int value) const { return !gl_bytes_differ(name, hpp_size, value); }

    /*
     * Whether neither grinterop nor the driver considers the resource mapped, so that it can be
     * mapped.
     */
    bool can_be_mapped() const
    {
        return !resource.info().mapped && resource.map(fx.stream).size() == hpp_size;
    }
};

inline void hpp_fill(CUdeviceptr pointer, int value, std::size_t size = hpp_size)
{
    auto byte = static_cast<unsigned char>(value);
    grinterop::check(fx.cu->MemsetD8Async(pointer, byte, size, fx.stream), "cuMemsetD8Async");
}

#endif
