/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exceptions, and the members and functions that throw them. */
#include "hpp_cases.hpp"

#include <cstring>

using grinterop::error;

static_assert(std::is_nothrow_copy_constructible<error>::value, "std::terminate() otherwise");
static_assert(std::is_base_of<std::runtime_error, error>::value,
              "code without grinterop can catch it");
static_assert(!std::is_constructible<grinterop::cuda_context, std::nullptr_t>::value,
              "0 is no device here");

/*
 * The exception has the fields of the error record, and keeps them when the thread records another
 * error.
 */
static void an_error_has_the_fields_of_the_record()
{
    const hpp_buffer buffer;
    const grinterop::mapping mapped = buffer.resource.map(fx.stream);
    const error twice = hpp_thrown([&] { buffer.resource.map(fx.stream); });
    const gr_error record = *gr_last_error();
    EXPECT(twice.status == GR_ERR_STATE && record.status == GR_ERR_STATE);
    EXPECT(std::strcmp(twice.call, "gr_map") == 0 && std::strcmp(record.call, "gr_map") == 0);
    EXPECT(twice.domain == record.domain && twice.code == record.code);
    EXPECT(hpp_says(twice, record.message) && hpp_says(twice, "(gr_map"));

    hpp_thrown([] { grinterop::resource(gr_from_gl_buffer(0, GR_READ_WRITE)); });
    EXPECT(gr_last_error()->status == GR_ERR_INVALID_VALUE);
    EXPECT(twice.status == GR_ERR_STATE && std::strcmp(twice.call, "gr_map") == 0);
}

/* The exception of a driver error has the code of the driver, and the name of that code. */
static void a_driver_error_has_its_code_and_name()
{
    const hpp_buffer buffer;
    const grinterop::mapping mapped = buffer.resource.map(fx.stream);
    const error image = hpp_thrown(
        [&] { grinterop::must(gr_from_gl_image(buffer.name, GL_TEXTURE_2D, GR_READ_ONLY)); });
    EXPECT(image.status == GR_ERR_INVALID_VALUE && image.domain == GR_DOMAIN_NONE);
    EXPECT(image.code == 0 && image.code_name[0] == '\0');

    const error refused = hpp_thrown(
        [] { grinterop::check(fx.cu->EventRecord(nullptr, fx.stream), "cuEventRecord"); });
    EXPECT(refused.status == GR_ERR_CUDA && refused.domain == GR_DOMAIN_CUDA);
    EXPECT(refused.code != 0 && std::strncmp(refused.code_name, "CUDA_ERROR_", 11) == 0);
    EXPECT(std::strcmp(refused.call, "cuEventRecord") == 0 && hpp_says(refused, refused.code_name));
    grinterop::check(CUDA_SUCCESS, "nothing");
    const error unknown = hpp_thrown([] { grinterop::check(CUresult(1001), "cuNone"); });
    EXPECT(unknown.code == 1001 && unknown.code_name[0] == '\0' && hpp_says(unknown, "(cuNone)"));
}

static void must_returns_the_created_object()
{
    int some = 3;
    EXPECT(grinterop::must(&some) == &some && grinterop::must(4ULL) == 4);
    grinterop::check(GR_OK);
    gr_clear_error();
    EXPECT(hpp_says(hpp_thrown([] { grinterop::tensor(static_cast<gr_tensor *>(nullptr)); }),
                    "no grinterop call has failed"));
    gr_flags_parse("nonsense", nullptr);
    EXPECT(hpp_thrown([] { grinterop::must(0ULL); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { grinterop::check(GR_ERR_INVALID_VALUE); }).status ==
           GR_ERR_INVALID_VALUE);
}

/* Calls each member of an empty object that can fail. */
static void members_of_empty_objects_throw()
{
    const grinterop::resource none;
    EXPECT(!none && !none.get());
    const auto refused = [](auto call) {
        gr_clear_error();
        return hpp_thrown(call).status == GR_ERR_INVALID_VALUE;
    };
    EXPECT(refused([&] { none.map(fx.stream); }));
    EXPECT(hpp_says(hpp_thrown([&] { none.map(fx.stream); }), "it was moved from"));
    EXPECT(refused([&] { none.unmap(); }));
    EXPECT(refused([&] { none.close(); }));
    EXPECT(refused([&] { none.wait(0); }));
    EXPECT(refused([&] { none.info(); }));
    EXPECT(refused([] { grinterop::map_many({}, fx.stream); }));
    grinterop::mapping empty;
    EXPECT(!empty && empty.size() == 0 && refused([&] { empty.pointer(); }));
    EXPECT(refused([&] { empty.span<float>(); }));
    empty.release(); /* release() of an empty object is allowed */
    EXPECT(refused([] { grinterop::ring().acquire_write(fx.stream, 0); }));
    grinterop::slot slot;
    EXPECT(!slot && !slot.buffer() && refused([&] { slot.pointer(); }));
    EXPECT(refused([&] { slot.hand_over(); }) && refused([&] { slot.give_back(); }));
    EXPECT(refused([&] { slot.cancel(); }));
}

/* A mapped image has no pointer: ptr() must throw rather than return 0. */
static void the_pointer_of_a_mapped_image_throws()
{
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 16, 16);
    glBindTexture(GL_TEXTURE_2D, 0);
    {
        const grinterop::resource image(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_ONLY));
        const grinterop::mapping mapped = image.map(fx.stream);
        EXPECT(mapped.size() == 0);
        EXPECT(hpp_thrown([&] { mapped.pointer(); }).status == GR_ERR_STATE);
    }
    glDeleteTextures(1, &texture);
}

static void contradicting_options_throw()
{
    gr_egl_options egl = GR_INIT(gr_egl_options);
    egl.es = egl.compatibility = true;
    const error both = hpp_thrown([&] { grinterop::egl(gr_egl_create(&egl)); });
    EXPECT(both.status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_says(both, "`compatibility` and `es` are set"));
}

static const hpp_case cases[] = {
    HPP_CASE(an_error_has_the_fields_of_the_record), HPP_CASE(a_driver_error_has_its_code_and_name),
    HPP_CASE(must_returns_the_created_object),       HPP_CASE(members_of_empty_objects_throw),
    HPP_CASE(the_pointer_of_a_mapped_image_throws),  HPP_CASE(contradicting_options_throw),
};

HPP_PART(errors)

long hpp_edition()
{
    return __cplusplus;
}
