/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Images, tensors, submits, and classes of the program that own C objects. */
#include <grinterop/egl.h>
#include <grinterop/framebuffer.h>

#include "hpp_cases.hpp"

#include <array>
#include <utility>

using grinterop::mapping;
using grinterop::resource;
using grinterop::submit;
using grinterop::tensor;

static_assert(!std::is_copy_constructible<tensor>::value &&
                  std::is_nothrow_move_constructible<tensor>::value,
              "");
static_assert(std::is_same<tensor::deleter_type, grinterop::deleter>::value, "");

using texels = std::array<unsigned char, 4 * 2 * 4>;
static const std::int64_t shape[] = {2, 4, 4};

static gr_tensor_desc desc_of(gr_memory memory)
{
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc);
    desc.dtype = GR_DTYPE_U8;
    desc.ndim = 3;
    desc.shape = shape;
    desc.memory = memory;
    return desc;
}

/* A tensor on the device that has these bytes. */
static tensor tensor_of(const texels &bytes)
{
    tensor made = tensor::create(desc_of(GR_MEMORY_DEVICE), fx.stream);
    made.copy_from_host(bytes.data(), bytes.size(), fx.stream);
    return made;
}

static texels bytes_of(const tensor &of)
{
    texels bytes{};
    of.copy_to_host(bytes.data(), bytes.size(), fx.stream);
    grinterop::check(fx.cu->StreamSynchronize(fx.stream), "cuStreamSynchronize");
    return bytes;
}

static texels some_texels()
{
    texels bytes;
    for (std::size_t i = 0; i < bytes.size(); i++)
        bytes[i] = static_cast<unsigned char>(3 * i + 1);
    return bytes;
}

/* An OpenGL texture of 4 x 2 texels. It lives as long as the context. */
static resource make_image()
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 2);
    glBindTexture(GL_TEXTURE_2D, 0);
    return resource(gr_from_gl_image(name, GL_TEXTURE_2D, GR_READ_WRITE | GR_SURFACE_LOAD_STORE));
}

static void a_mapped_image_has_its_surface_texture_and_array()
{
    const resource image = make_image();
    const mapping mapped = image.map(fx.stream);
    gr_texture_options options = GR_INIT(gr_texture_options);
    options.filter = GR_FILTER_LINEAR;
    EXPECT(mapped.image_info().width == 4 && mapped.image_info().height == 2);
    EXPECT(mapped.surface() == gr_buffer_surface(mapped.get(), 0, 0));
    EXPECT(mapped.surface() == image.surface() && mapped.texture() == image.texture());
    EXPECT(mapped.array() == gr_buffer_array(mapped.get(), 0, 0));
    EXPECT(mapped.texture() && mapped.texture(&options) != mapped.texture());
    EXPECT(hpp_thrown([&] { mapped.surface(1); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([&] { mapped.array(0, 1); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { mapping().texture(); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { mapping().image_info(); }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { make_image().surface(); }).status == GR_ERR_STATE);
}

static void tensors_are_created_copied_and_viewed()
{
    texels bytes = some_texels();
    const tensor first = tensor_of(bytes);
    const tensor second = tensor::create(desc_of(GR_MEMORY_DEVICE), fx.other);
    second.copy(first, fx.stream);
    EXPECT(second.info().bytes == bytes.size() && bytes_of(second) == bytes);
    const tensor wrapped =
        tensor::from_memory(desc_of(GR_MEMORY_HOST), bytes.data(), GR_STREAM_NONE);
    EXPECT(wrapped.info().data == bytes.data());

    const tensor cloned = first.clone(GR_MEMORY_PINNED, fx.stream);
    const tensor seen = cloned.view(desc_of(GR_MEMORY_DEVICE));
    EXPECT(seen.info().memory == GR_MEMORY_PINNED && seen.info().ptr == cloned.info().ptr);
    cloned.wait(fx.other);
    cloned.used_on(fx.other);
    EXPECT(bytes_of(seen) == bytes);
    EXPECT(hpp_thrown([] { tensor::create(gr_tensor_desc(), fx.stream); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([&] { tensor().wait(fx.stream); }).status == GR_ERR_INVALID_VALUE);
}

static void the_end_of_a_mapping_revokes_its_tensor()
{
    const hpp_buffer buffer;
    mapping mapped = buffer.resource.map(fx.stream);
    const tensor of = tensor::from_mapping(mapped);
    EXPECT(of.info().ptr == mapped.pointer() && of.info().bytes == hpp_size);
    mapped.release();
    EXPECT(of.info().revoked);
    EXPECT(hpp_thrown([&] { of.wait(fx.stream); }).status == GR_ERR_STATE);
}

static void tensors_are_published_and_fetched()
{
    const resource image = make_image();
    const tensor to = tensor_of(texels{});
    texels bytes = some_texels();
    grinterop::publish(image, tensor_of(bytes), fx.stream);
    EXPECT(!image.info().mapped);
    grinterop::fetch(image, to, fx.stream);
    EXPECT(bytes_of(to) == bytes);

    bytes[5] = 99;
    {
        const mapping mapped = image.map(fx.stream);
        grinterop::publish(mapped, tensor_of(bytes));
        grinterop::fetch(mapped, to);
    }
    EXPECT(bytes_of(to) == bytes);
    gr_publish_options yuv = GR_INIT(gr_publish_options);
    yuv.layout = GR_LAYOUT_NV12;
    yuv.chroma_position = GR_CHROMA_LEFT;
    EXPECT(hpp_thrown([&] { grinterop::fetch(image, to, fx.stream, &yuv); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(bytes_of(to) == bytes);
    EXPECT(hpp_thrown([&] { grinterop::publish(resource(), to, fx.stream); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([&] { grinterop::fetch(mapping(), to); }).status == GR_ERR_INVALID_VALUE);
}

/* Two layers of 4 x 1 texels. CUDA registers packed formats only with GR_TRANSPORT_COPY. */
static resource make_layers(GLenum format)
{
    gr_gl_options options = GR_INIT(gr_gl_options);
    options.transports = GR_TRANSPORT_COPY;
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D_ARRAY, name);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, format, 4, 1, 2);
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    return resource(gr_from_gl_image_with(name, GL_TEXTURE_2D_ARRAY, GR_READ_WRITE, &options));
}

/* Two layers of 4 x 1 texels. */
static gr_tensor_desc desc_of_layers()
{
    static const std::int64_t layers[] = {2, 1, 4, 4};
    gr_tensor_desc desc = desc_of(GR_MEMORY_DEVICE);
    desc.ndim = 4;
    desc.shape = layers;
    return desc;
}

static void a_tensor_has_all_layers_of_an_image()
{
    gr_tensor_desc desc = desc_of_layers();
    const texels bytes = some_texels();
    const tensor from = tensor_of(bytes), to = tensor_of(texels{});
    const resource image = make_layers(GL_RGBA8);
    gr_publish_options all = GR_INIT(gr_publish_options);
    all.layer = GR_ALL_LAYERS;
    grinterop::publish(image, from.view(desc), fx.stream, &all);
    grinterop::fetch(image, to.view(desc), fx.stream, &all);
    EXPECT(bytes_of(to) == bytes);

    desc.dtype = GR_DTYPE_U32;
    desc.ndim = 3;
    const auto packed = hpp_thrown(
        [&] { grinterop::publish(make_layers(GL_RGB10_A2), from.view(desc), fx.stream, &all); });
    EXPECT(packed.status == GR_ERR_INVALID_VALUE && hpp_says(packed, "10:10:10:2 image"));
    EXPECT(hpp_says(packed, "gr_map_linear()"));
}

/* The image has one layer of 4 x 2 texels. */
static void what_opengl_cannot_do_throws_and_changes_nothing()
{
    const gr_tensor_desc desc = desc_of_layers();
    const texels bytes = some_texels();
    const resource image = make_image();
    const tensor from = tensor_of(texels{}), to = tensor_of(texels{});
    grinterop::publish(image, tensor_of(bytes), fx.stream);
    gr_publish_options all = GR_INIT(gr_publish_options);
    all.layer = GR_ALL_LAYERS;
    const auto layered =
        hpp_thrown([&] { grinterop::publish(image, from.view(desc), fx.stream, &all); });
    EXPECT(layered.status == GR_ERR_INVALID_VALUE && hpp_says(layered, "layers"));
    const auto external = hpp_thrown(
        [&] { resource(gr_from_gl_image(gr_gl_name(image.get()), GL_TEXTURE_EXTERNAL_OES, 0)); });
    EXPECT(external.status == GR_ERR_UNSUPPORTED && hpp_says(external, "glEGLImageTarget"));
    gr_egl_options of_es = GR_INIT(gr_egl_options);
    of_es.es = true;
    {
        const grinterop::egl es(gr_egl_create(&of_es));
        const auto refused = hpp_thrown(
            [&] { resource(gr_create_gl_buffer_of(from.get(), GR_READ_WRITE, nullptr)); });
        EXPECT(refused.status == GR_ERR_UNSUPPORTED && hpp_says(refused, "OpenGL ES does not"));
    }
    grinterop::check(gr_egl_make_current(fx.egl));
    grinterop::fetch(image, to, fx.stream);
    EXPECT(bytes_of(to) == bytes && bytes_of(from) == texels{});
}

static void a_sample_that_does_not_exist_throws()
{
    const resource image = make_image();
    const tensor to = tensor_of(some_texels());
    gr_framebuffer_options options = GR_INIT(gr_framebuffer_options);
    options.sample = 1;
    GLuint name;
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, gr_gl_name(image.get()), 0);
    const auto none = hpp_thrown(
        [&] { grinterop::check(gr_fetch_framebuffer(name, to.get(), &options, fx.stream)); });
    glDeleteFramebuffers(1, &name);
    EXPECT(none.status == GR_ERR_INVALID_VALUE && hpp_says(none, "has 0 samples: leave it 0"));
}

static void a_tensor_is_an_opengl_buffer()
{
    const tensor plain = tensor_of(some_texels());
    const auto refused =
        hpp_thrown([&] { resource(gr_create_gl_buffer_of(plain.get(), GR_READ_WRITE, nullptr)); });
    EXPECT(refused.status == GR_ERR_UNSUPPORTED && refused.code == CUDA_ERROR_INVALID_VALUE);
    EXPECT(hpp_says(refused, "gr_tensor_create() with `exportable`"));
    if (fx.device != 0 || shared_missing())
        return;
    gr_tensor_desc desc = desc_of(GR_MEMORY_DEVICE);
    desc.exportable = true;
    const tensor of = tensor::create(desc, fx.stream);
    const resource buffer(gr_create_gl_buffer_of(of.get(), GR_READ_WRITE, nullptr));
    const mapping mapped = buffer.map(fx.stream);
    EXPECT(mapped.pointer() == of.info().ptr && mapped.size() == of.info().bytes);
}

/* By staging buffers where CUDA and OpenGL share memory, and else by interop. */
static void frames_in_flight_reach_the_opengl_buffer()
{
    const GLuint name = gl_buffer_filled(hpp_size, 7);
    const bool staged = gr_gl_probe(GR_TRANSPORT_PEER)->usable;
    gr_gl_options options = GR_INIT(gr_gl_options);
    options.transports = staged ? GR_TRANSPORT_PEER : GR_TRANSPORT_INTEROP;
    options.in_flight = staged ? 4 : 0;
    const resource buffer(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &options));
    std::array<char, 400> text;
    gr_resource_describe(buffer.get(), text.data(), text.size());
    EXPECT(!staged || std::strstr(text.data(), "4 staging buffers"));
    for (int frame = 1; frame < 10; frame++) {
        hpp_fill(buffer.map(fx.stream).pointer(), frame);
        EXPECT(!gl_bytes_differ(name, hpp_size, frame));
    }
}

/* Without semaphores: the submit of an OpenGL resource has none. */
static void a_submit_is_committed_once()
{
    const hpp_buffer first, second;
    const submit one = submit::begin({first.resource, second.resource});
    EXPECT(one->wait_count == 0 && one->signal_count == 0);
    one.commit();
    EXPECT(hpp_thrown([&] { one.commit(); }).status == GR_ERR_STATE);
    EXPECT(hpp_thrown([] { submit::begin(std::vector<resource>()); }).status ==
           GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([&] {
               first.resource.set_sync(GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE);
           }).status == GR_ERR_INVALID_VALUE);
    EXPECT(hpp_thrown([] { grinterop::semaphore::from_handle(gr_semaphore_desc()); }).status ==
           GR_ERR_INVALID_VALUE);
}

/* Classes of the program: derived from owner, and with a deleter of its own. */
static void a_program_derives_its_own_owners()
{
    static int ended;
    struct counts {
        void operator()(gr_tensor *object) const noexcept
        {
            gr_tensor_free(object);
            ended++;
        }
    };
    struct counted : grinterop::owner<gr_tensor, counts> {
        using owner::owner;
    };
    const gr_tensor_desc desc = desc_of(GR_MEMORY_HOST);
    ended = 0;
    {
        counted one(gr_tensor_create(&desc, GR_STREAM_NONE));
        const counted moved(std::move(one));
        EXPECT(moved && !one && ended == 0);
    }
    EXPECT(ended == 1);
}

static const hpp_case cases[] = {
    HPP_CASE(a_mapped_image_has_its_surface_texture_and_array),
    HPP_CASE(tensors_are_created_copied_and_viewed),
    HPP_CASE(the_end_of_a_mapping_revokes_its_tensor),
    HPP_CASE(tensors_are_published_and_fetched),
    HPP_CASE(a_tensor_has_all_layers_of_an_image),
    HPP_CASE(what_opengl_cannot_do_throws_and_changes_nothing),
    HPP_CASE(a_sample_that_does_not_exist_throws),
    HPP_CASE(a_tensor_is_an_opengl_buffer),
    HPP_CASE(frames_in_flight_reach_the_opengl_buffer),
    HPP_CASE(a_submit_is_committed_once),
    HPP_CASE(a_program_derives_its_own_owners),
};

HPP_PART(tensors)
