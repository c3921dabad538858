/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * grinterop for C++14 and newer: objects end with their scope, and failures are exceptions.
 *
 *     grinterop::resource vertices(gr_from_gl_buffer(name, GR_WRITE_DISCARD));
 *     {
 *         grinterop::mapping mapped = vertices.map(stream);
 *         ... launch kernels on `stream` that write to mapped.pointer() ...
 *     }                                          the end of the scope hands the buffer to OpenGL
 *
 * gr_from_gl_buffer_with() and `in_flight` (gl.h) put several frames of this loop in flight.
 *
 * The C headers are the reference: each member calls the C function that its comment names, with
 * the same rules, threads and errors.
 *
 * Owner    A class owns the result of a C function: resource(gr_create_gl_image(...)),
 *          resource(gr_from_vk_buffer(...)). get() returns the C object for C calls, detach() gives
 *          up its ownership. Objects can be moved, not copied. A moved-from object is empty, and
 *          false as a bool. `const` refers to the handle, not to the object.
 * Errors   A failure throws grinterop::error. Destructors print failures on stderr unless GR_LOG is
 *          set, and cancel slots that cannot be handed on. gr_last_error() then has the failure.
 */
#ifndef GR_GR_HPP
#define GR_GR_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201402L
#error "gr.hpp needs C++14: compile with -std=c++14 (MSVC: /std:c++14), or include the C headers"
#elif !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "gr.hpp needs exceptions: enable them, or include the C headers such as <grinterop/gr.h>"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__GLIBCXX__) && !defined(__cpp_lib_uncaught_exceptions)
#include <cstring>
#include <cxxabi.h>
#define GR_EXCEPTIONS_BY_ABI_
#endif

#include <grinterop/driver.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/ring.h>
#include <grinterop/semaphore.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>
#if __has_include(<grinterop/egl.h>)
#include <grinterop/egl.h>
#endif

namespace grinterop
{
/* A failure. what() has the message, the call and the code. */
class error : public std::runtime_error
{
public:
    /*
     * The fields of gr_error. The names are arrays instead of std::string, because copying an
     * exception must not fail.
     */
    gr_status status;
    gr_error_domain domain;
    int code;
    char code_name[64], call[64];
    /* By default, the calling thread's last error. */
    explicit error(const gr_error &from = *gr_last_error())
        : std::runtime_error(std::string(from.message) + " (" + from.call +
                             (*from.code_name ? ": " : "") + from.code_name + ")"),
          status(from.status), domain(from.domain), code(from.code)
    {
        std::snprintf(code_name, sizeof(code_name), "%s", from.code_name);
        std::snprintf(call, sizeof(call), "%s", from.call);
    }
};

/* Throws if a C function failed: check(gr_cuda_load(true)). */
inline void check(gr_status status)
{
    if (status != GR_OK)
        throw error();
}

#ifdef GR_CUDA_H
/*
 * Throws if the driver failed: check(gr_cuda()->StreamSynchronize(s), "cuStreamSynchronize"). This
 * function exists only if <grinterop/cuda.h> is included before this header.
 */
inline void check(CUresult result, const char *call)
{
    const char *name = "";
    if (result == CUDA_SUCCESS)
        return;
    if (!gr_cuda() || gr_cuda()->GetErrorName(result, &name) != CUDA_SUCCESS)
        name = "";
    throw error({GR_ERR_CUDA, GR_DOMAIN_CUDA, result, name, call, "the CUDA driver refused"});
}
#endif

namespace detail
{
/* Throws an error of an invalid value, which no C function has recorded. */
[[noreturn]] inline void refuse(const char *call, const char *message)
{
    throw error({GR_ERR_INVALID_VALUE, GR_DOMAIN_NONE, 0, "", call, message});
}

/* For destructors, which cannot throw: prints the last error, unless GR_LOG has its level. */
inline void print_unreceived() noexcept
{
    if (!std::getenv("GR_LOG"))
        gr_error_print(stderr, "grinterop");
}
} // namespace detail

/*
 * Returns its argument; throws the last error if the argument is NULL or 0:
 * must(gr_buffer_surface(b, 0, 0)).
 */
template <typename T> T must(T made)
{
    if (!made && gr_last_error()->status == GR_OK)
        detail::refuse("grinterop::must", "The result is NULL or 0, although no grinterop call has "
                                          "failed on this thread: pass the result of a call.");
    if (!made)
        throw error();
    return made;
}

/* Objects in mapped device memory. Only kernels may dereference data(). */
template <typename T> class device_span
{
    static_assert(std::is_trivially_copyable<T>::value, "only plain bytes go to a device");
    CUdeviceptr pointer_ = 0;
    std::size_t size_ = 0;

public:
    /* `size` objects at `pointer`. */
    device_span(CUdeviceptr pointer, std::size_t size) noexcept : pointer_(pointer), size_(size) {}
    CUdeviceptr pointer() const noexcept { return pointer_; }
    T *data() const noexcept { return reinterpret_cast<T *>(pointer_); }
    std::size_t size() const noexcept { return size_; }
    std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
};

/* Deletes each kind of object. A buffer that gr_buffer_release() refuses is released later. */
struct deleter {
    void operator()(gr_resource *object) const noexcept { gr_resource_free(object); }
    void operator()(gr_ring *object) const noexcept { gr_ring_free(object); }
    void operator()(gr_submit *object) const noexcept { gr_submit_free(object); }
    void operator()(gr_semaphore *object) const noexcept { gr_semaphore_free(object); }
    void operator()(gr_tensor *object) const noexcept { gr_tensor_free(object); }
    void operator()(gr_cuda_context *object) const noexcept { gr_cuda_context_free(object); }
    void operator()(gr_buffer *object) const noexcept
    {
        const gr_status status = gr_buffer_release(object);
        if (status == GR_ERR_PARTIAL) /* it is freed */
            detail::print_unreceived();
        else if (status != GR_OK)
            gr_buffer_release_later(object);
    }
};

/*
 * The base of the classes that own a C object, also for classes of your own: the Deleter is called
 * with the object. The constructor takes ownership of the object. It throws for NULL, because C
 * functions return NULL on failure.
 */
template <typename T, typename Deleter = deleter> class owner
{
protected:
    std::unique_ptr<T, Deleter> held_;
    owner(T *made, Deleter how) noexcept : held_(made, how) {}
    /* The object of a call that needs one. */
    T *held() const
    {
        if (!held_)
            detail::refuse("grinterop::owner", "The C++ object is empty: it was moved from, "
                                               "detached or made without an object.");
        return get();
    }

public:
    explicit owner(T *made) : held_(must(made)) {}
    explicit owner(std::nullptr_t) = delete; /* also a literal 0, such as for device 0 */
    owner() noexcept = default;
    using deleter_type = Deleter;
    T *get() const noexcept { return held_.get(); }
    T *detach() noexcept { return held_.release(); }
    explicit operator bool() const noexcept { return get() != nullptr; }
};

namespace detail
{
/*
 * The number of exceptions in flight on the calling thread. In C++14, libstdc++ declares the
 * function of C++17 only with GNU extensions. __cxa_get_globals() of its ABI returns a pointer and
 * then the number.
 */
#ifdef GR_EXCEPTIONS_BY_ABI_
inline int uncaught_exceptions() noexcept
{
    struct globals {
        void *caught;
        unsigned uncaught;
    } now;
    std::memcpy(&now, static_cast<const void *>(abi::__cxa_get_globals()), sizeof(now));
    return static_cast<int>(now.uncaught);
}
#undef GR_EXCEPTIONS_BY_ABI_
#else
using std::uncaught_exceptions;
#endif

/* The deleter of a slot. A cancel during an exception keeps incomplete frames from being read. */
struct slot_end {
    gr_ring *ring = nullptr;
    bool writing = false;
    int exceptions = uncaught_exceptions();
    void operator()(const gr_slot *slot) const noexcept
    {
        const auto on = writing ? gr_ring_hand_over : gr_ring_give_back;
        const bool cancels = uncaught_exceptions() > exceptions;
        if (!cancels && on(ring, &slot, 1) == GR_OK)
            return;
        if (!cancels)
            print_unreceived();
        (writing ? gr_ring_cancel_write : gr_ring_cancel_read)(ring, &slot, 1);
    }
};

/* Access to the memory of a mapped buffer. The class Self must have a member buffer(). */
template <typename Self> class device_memory
{
    const gr_buffer *of() const { return static_cast<const Self *>(this)->buffer(); }

public:
    /* gr_buffer_ptr(). 0 once the mapping has ended. Throws for an image or an empty object. */
    CUdeviceptr pointer() const
    {
        gr_clear_error(); /* so that an older error is not taken for a failure of this call */
        const CUdeviceptr pointer = gr_buffer_ptr(of());
        check(gr_last_error()->status);
        return pointer;
    }
    std::size_t size() const noexcept { return gr_buffer_size(of()); }
    /* The memory as an array of T; bytes after the last whole T are left out. */
    template <typename T> device_span<T> span() const { return {pointer(), size() / sizeof(T)}; }
};

} // namespace detail

/* A mapping, which keeps its resource alive: gr_map(), gr.h. */
class mapping : public owner<gr_buffer>, public detail::device_memory<mapping>
{
public:
    using owner::owner;
    /* The same as get(). */
    gr_buffer *buffer() const noexcept { return get(); }
    /*
     * gr_buffer_surface(), gr_buffer_texture(), gr_buffer_array(), gr_buffer_get_image_info():
     * image.h. They are valid until the mapping ends.
     */
    CUsurfObject surface(unsigned level = 0, unsigned layer = 0) const
    {
        return must(gr_buffer_surface(held(), level, layer));
    }
    CUtexObject texture(const gr_texture_options *options = nullptr) const
    {
        return must(gr_buffer_texture(held(), options));
    }
    CUarray array(unsigned level = 0, unsigned layer = 0) const
    {
        return must(gr_buffer_array(held(), level, layer));
    }
    const gr_image_info &image_info() const { return *must(gr_buffer_get_image_info(held())); }
    /*
     * gr_buffer_release(), in any stream. After an error the resource is still mapped, except after
     * GR_ERR_PARTIAL, which leaves this object empty.
     */
    void release(CUstream stream = GR_STREAM_OF_MAP)
    {
        gr_buffer *one = get();
        const gr_status status = gr_buffer_release_many(&one, 1, stream, nullptr);
        if (!one)
            detach();
        check(status);
    }
};

/* A buffer or image registered with CUDA: gr_resource, gr.h. */
class resource : public owner<gr_resource>
{
public:
    using owner::owner;
    /* gr_map(), gr_map_with(), gr_resource_unmap() and so on. */
    mapping map(CUstream stream) const { return mapping(gr_map(held(), stream)); }
    mapping map(CUstream stream, const gr_map_options &options) const
    {
        return mapping(gr_map_with(held(), stream, &options));
    }
    void unmap(CUstream on = GR_STREAM_OF_MAP) const { check(gr_resource_unmap(held(), on)); }
    /* gr_resource_surface(), gr_resource_texture(), while the resource is mapped. */
    CUsurfObject surface(unsigned level = 0, unsigned layer = 0) const
    {
        return must(gr_resource_surface(held(), level, layer));
    }
    CUtexObject texture(const gr_texture_options *options = nullptr) const
    {
        return must(gr_resource_texture(held(), options));
    }
    void close(CUstream on = GR_STREAM_OF_MAP) const { check(gr_resource_close(held(), on)); }
    void wait(unsigned timeout_ms) const { check(gr_resource_wait(held(), timeout_ms)); }
    /* gr_resource_set_sync(). The resource keeps both semaphores alive. */
    void set_sync(gr_semaphore *acquire, gr_semaphore *release) const
    {
        check(gr_resource_set_sync(held(), acquire, release));
    }
    /* gr_resource_get_info(). Throws for an empty object. */
    const gr_resource_info &info() const { return *must(gr_resource_get_info(held())); }
};

/* A list of resources, such as {vertices, colours}. */
using resource_list = std::initializer_list<std::reference_wrapper<const resource>>;

/* Returns the C objects of a container of resources, or of a list such as {vertices, colours}. */
template <typename Resources = resource_list>
std::vector<gr_resource *> pointers(const Resources &resources)
{
    std::vector<gr_resource *> all;
    for (const resource &one : resources)
        all.push_back(one.get());
    return all;
}

/* gr_map_many(): maps all resources or none. */
template <typename Resources = resource_list>
std::vector<mapping> map_many(const Resources &resources, CUstream stream,
                              const gr_map_options *options = nullptr)
{
    const std::vector<gr_resource *> all = pointers(resources);
    std::vector<gr_buffer *> made(all.size());
    std::vector<mapping> mapped(all.size()); /* allocate everything before the map */
    check(gr_map_many(all.data(), all.size(), stream, options, made.data()));
    for (std::size_t i = 0; i < made.size(); i++)
        mapped[i] = mapping(made[i]);
    return mapped;
}

/* gr_buffer_release_many(). Mappings that it could not release stay in `mapped`. */
inline void release_many(std::vector<mapping> &mapped, CUstream stream = GR_STREAM_OF_MAP,
                         const gr_release_options *options = nullptr)
{
    std::vector<gr_buffer *> all;
    for (const mapping &one : mapped)
        all.push_back(one.get());
    const gr_status status = gr_buffer_release_many(all.data(), all.size(), stream, options);
    for (std::size_t i = 0; i < all.size(); i++)
        if (!all[i])
            mapped[i].detach();
    check(status);
}

/*
 * An acquired slot: gr_slot, ring.h. The ring must outlive the slot. The destructor hands the slot
 * on; it cancels the slot during an exception, or if the slot cannot be handed on.
 */
class slot : public owner<const gr_slot, detail::slot_end>, public detail::device_memory<slot>
{
    template <typename Function> void end(Function how)
    {
        const gr_slot *one = get();
        check(how(held_.get_deleter().ring, &one, 1));
        detach();
    }

public:
    slot() noexcept = default;
    /* `taken` is a slot acquired from the ring `from`. On the graphics side buffer() is NULL. */
    slot(const gr_slot *taken, gr_ring *from, bool writing) : owner(taken, {from, writing}) {}
    const gr_slot *operator->() const noexcept { return get(); }
    const gr_buffer *buffer() const noexcept { return get() ? get()->buffer : nullptr; }
    /*
     * gr_ring_hand_over(), gr_ring_give_back(), gr_ring_cancel_*(). If they throw, this object
     * keeps the slot.
     */
    void hand_over() { end(gr_ring_hand_over); }
    void give_back() { end(gr_ring_give_back); }
    void cancel() { end(held_.get_deleter().writing ? gr_ring_cancel_write : gr_ring_cancel_read); }
};

/* Frames in flight: gr_ring, ring.h. One thread at a time may act for each side. */
class ring : public owner<gr_ring>
{
    slot take(bool writing, CUstream stream, unsigned ms) const
    {
        const gr_slot *one = nullptr;
        const auto acquire = writing ? gr_ring_acquire_write : gr_ring_acquire_read;
        const gr_status status = acquire(held(), stream, &one, 1, ms);
        if (status != GR_ERR_NOT_READY && status != GR_ERR_TIMEOUT)
            check(status);
        return {one, get(), writing};
    }

public:
    using owner::owner;
    /* gr_ring_acquire_write(), gr_ring_acquire_read(). Empty if no slot was free in time. */
    slot acquire_write(CUstream stream, unsigned ms) const { return take(true, stream, ms); }
    slot acquire_read(CUstream stream, unsigned ms) const { return take(false, stream, ms); }
};

/* A semaphore shared by CUDA and another API: gr_semaphore, semaphore.h. */
class semaphore : public owner<gr_semaphore>
{
    void call(gr_status (*how)(const gr_semaphore_point[], std::size_t, CUstream),
              std::uint64_t value, CUstream stream) const
    {
        gr_semaphore_point point = GR_INIT(gr_semaphore_point);
        point.semaphore = held();
        point.value = value;
        check(how(&point, 1, stream));
    }

public:
    using owner::owner;
    /* gr_semaphore_from_handle(). After an exception the caller still owns the handle. */
    static semaphore from_handle(const gr_semaphore_desc &desc)
    {
        return semaphore(gr_semaphore_from_handle(&desc));
    }
    /* gr_semaphore_signal(), gr_semaphore_wait(). A binary semaphore has the value 0. */
    void signal(std::uint64_t value, CUstream stream) const
    {
        call(gr_semaphore_signal, value, stream);
    }
    void wait(std::uint64_t value, CUstream stream) const
    {
        call(gr_semaphore_wait, value, stream);
    }
    /* gr_semaphore_get_info(). */
    const gr_semaphore_info &info() const { return *must(gr_semaphore_get_info(held())); }
};

/*
 * A submit of the graphics API: gr_submit, submit.h. Without commit() the destructor undoes it. The
 * submit of a slot belongs to its ring: do not put it into this class.
 */
class submit : public owner<gr_submit>
{
public:
    using owner::owner;
    /* gr_submit_begin(), for a container of resources or a list such as {vertices, colours}. */
    template <typename Resources = resource_list> static submit begin(const Resources &resources)
    {
        const std::vector<gr_resource *> all = pointers(resources);
        return submit(gr_submit_begin(all.data(), all.size()));
    }
    const gr_submit *operator->() const noexcept { return get(); }
    /* gr_submit_commit(). gr_vk_submit() commits by itself. */
    void commit() const { check(gr_submit_commit(held())); }
};

/* Memory with a type and a shape: gr_tensor, tensor.h. */
class tensor : public owner<gr_tensor>
{
public:
    using owner::owner;
    /* gr_tensor_create(). */
    static tensor create(const gr_tensor_desc &desc, CUstream stream)
    {
        return tensor(gr_tensor_create(&desc, stream));
    }
    /* gr_tensor_from_memory(). */
    static tensor from_memory(const gr_tensor_desc &desc, void *data, CUstream ready_on,
                              gr_tensor_end_fn end = nullptr, void *user = nullptr)
    {
        return tensor(gr_tensor_from_memory(&desc, data, ready_on, end, user));
    }
    /* gr_buffer_tensor(). The end of the mapping revokes the tensor. */
    static tensor from_mapping(const mapping &mapped, const gr_tensor_desc *desc = nullptr)
    {
        return tensor(gr_buffer_tensor(mapped.get(), desc));
    }
    /* gr_tensor_view(), gr_tensor_clone(). */
    tensor view(const gr_tensor_desc &desc) const { return tensor(gr_tensor_view(held(), &desc)); }
    tensor clone(gr_memory memory, CUstream stream) const
    {
        return tensor(gr_tensor_clone(held(), memory, stream));
    }
    /* gr_tensor_copy(): copies `from` to this tensor. */
    void copy(const tensor &from, CUstream stream) const
    {
        check(gr_tensor_copy(held(), from.get(), stream));
    }
    /* gr_tensor_copy_to_host(), gr_tensor_copy_from_host(). */
    void copy_to_host(void *to, std::size_t bytes, CUstream stream) const
    {
        check(gr_tensor_copy_to_host(held(), to, bytes, stream));
    }
    void copy_from_host(const void *from, std::size_t bytes, CUstream stream) const
    {
        check(gr_tensor_copy_from_host(held(), from, bytes, stream));
    }
    /* gr_tensor_wait(): `stream` waits. gr_tensor_used_on(). */
    void wait(CUstream stream) const { check(gr_tensor_wait(held(), stream)); }
    void used_on(CUstream stream) const { check(gr_tensor_used_on(held(), stream)); }
    /* gr_tensor_get_info(). */
    const gr_tensor_info &info() const { return *must(gr_tensor_get_info(held())); }
};

/* gr_publish(), gr_fetch(). For a `ring` in the options pass an empty resource. */
inline void publish(const resource &to, const tensor &from, CUstream stream,
                    const gr_publish_options *options = nullptr)
{
    check(gr_publish(to.get(), from.get(), options, stream));
}
inline void fetch(const resource &from, const tensor &to, CUstream stream,
                  const gr_publish_options *options = nullptr)
{
    check(gr_fetch(from.get(), to.get(), options, stream));
}

/* gr_buffer_publish(), gr_buffer_fetch(): for a mapped resource. */
inline void publish(const mapping &to, const tensor &from, CUstream stream = GR_STREAM_OF_MAP,
                    const gr_publish_options *options = nullptr)
{
    check(gr_buffer_publish(to.get(), from.get(), options, stream));
}
inline void fetch(const mapping &from, const tensor &to, CUstream stream = GR_STREAM_OF_MAP,
                  const gr_publish_options *options = nullptr)
{
    check(gr_buffer_fetch(from.get(), to.get(), options, stream));
}

/* A CUDA context with a stream: driver.h. Destroy it on the thread that created it. */
class cuda_context : public owner<gr_cuda_context>
{
public:
    using owner::owner;
    /* gr_cuda_context_get_info(), and its fields. */
    const gr_cuda_context_info &info() const { return *must(gr_cuda_context_get_info(held())); }
    CUcontext handle() const { return info().context; }
    CUstream stream() const { return info().stream; }
};

#ifdef GR_EGL_H
/* OpenGL without a window: egl.h. Destroy the resources of the OpenGL context first. */
struct egl_end {
    void operator()(gr_egl *object) const noexcept { gr_egl_free(object); }
};
using egl = owner<gr_egl, egl_end>;
#endif

#ifdef GR_VK_H
/*
 * Vulkan: vk.h. This part exists only if <grinterop/vk.h> is included before this header. Resources
 * and semaphores need no class of their own: semaphore(gr_semaphore_create_vk(...)).
 */
struct vk_end {
    void operator()(gr_vk_device *object) const noexcept { gr_vk_device_free(object); }
    void operator()(gr_vk_headless *object) const noexcept { gr_vk_headless_free(object); }
};
using vk_headless = owner<gr_vk_headless, vk_end>;

/* A wrapped Vulkan device. Destroy its resources first. */
class vk_device : public owner<gr_vk_device, vk_end>
{
public:
    using owner::owner;
    /* gr_vk_device_from_vk(), gr_vk_device_from_headless(), gr_vk_device_get_info(). */
    static vk_device from_vk(const gr_vk_device_desc &desc)
    {
        return vk_device(gr_vk_device_from_vk(&desc));
    }
    static vk_device from_headless(const vk_headless &headless, unsigned transports = 0)
    {
        return vk_device(gr_vk_device_from_headless(headless.get(), transports));
    }
    const gr_vk_device_info &info() const { return *must(gr_vk_device_get_info(held())); }
};

/*
 * gr_vk_submit(), which commits. If it throws, the destructor of `one` undoes the submit. The
 * submit of a slot is slot->submit.
 */
inline void vk_submit(gr_submit *one, const gr_vk_submit_desc &desc)
{
    check(gr_vk_submit(one, &desc));
}
inline void vk_submit(const submit &one, const gr_vk_submit_desc &desc)
{
    vk_submit(one.get(), desc);
}

/* For a container of resources or a list such as {vertices, colours}. */
template <typename Resources = resource_list>
void vk_submit_commands(const Resources &resources, VkCommandBuffer commands,
                        VkPipelineStageFlags2 stages, VkAccessFlags2 access, VkImageLayout layout)
{
    const std::vector<gr_resource *> all = pointers(resources);
    check(gr_vk_submit_commands(all.data(), all.size(), commands, stages, access, layout));
}
template <typename Resources = resource_list>
void vk_hand_over(const Resources &resources, VkImageLayout layout)
{
    const std::vector<gr_resource *> all = pointers(resources);
    check(gr_vk_hand_over(all.data(), all.size(), layout));
}
#endif

} // namespace grinterop
#endif
