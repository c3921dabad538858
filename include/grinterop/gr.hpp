/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grinterop for C++17 and newer: C's objects end by themselves, and its failures are exceptions.
 *
 *     grinterop::resource vertices(gr_from_gl_buffer(name, GR_WRITE_DISCARD));
 *     {
 *         grinterop::mapping mapped = vertices.map(stream);
 *         ... launch kernels on `stream` that write to mapped.pointer() ...
 *     }                                                scope end: OpenGL owns the bytes again
 *
 * The C headers are the reference: each member names the function that it calls, and has its rules,
 * its threads and its errors.
 *
 * Owner    A class takes what any function of C made, whichever header declares it, and owns it:
 *          resource(gr_gl_image_create(...)), resource(gr_from_vk_buffer(...)). get() lends it to
 *          C, detach() gives it away. Objects are moved, not copied; one that was moved from is
 *          empty and false. Const is the handle, not what it holds.
 * Errors   A failure throws grinterop::error. Destructors log what fails, and cancel such a slot.
 */
#ifndef GR_GR_HPP
#define GR_GR_HPP

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <grinterop/cuda.h>
#include <grinterop/ring.h>
#if __has_include(<grinterop/egl.h>)
#include <grinterop/egl.h>
#endif

namespace grinterop
{
/* A failure with the fields of gr_error, copied. what() has the message, the call and the name. */
class error : public std::runtime_error
{
public:
    /* As in gr_error; the names are arrays, since the copy of an exception must not fail. */
    gr_status status;
    gr_error_domain domain;
    int code;
    char code_name[64], call[64];
    /* Of the calling thread's last error. */
    explicit error(const gr_error &from = *gr_last_error())
        : std::runtime_error(std::string(from.message) + " (" + from.call +
                             (*from.code_name ? ": " : "") + from.code_name + ")"),
          status(from.status), domain(from.domain), code(from.code)
    {
        std::snprintf(code_name, sizeof(code_name), "%s", from.code_name);
        std::snprintf(call, sizeof(call), "%s", from.call);
    }
};

/* Throws what C returned: check(gr_cuda_load(true)). */
inline void check(gr_status status)
{
    if (status != GR_OK)
        throw error();
}

/* The same for the driver: check(gr_cuda()->StreamSynchronize(stream), "cuStreamSynchronize"). */
inline void check(CUresult result, const char *call)
{
    const char *name = "";
    if (result == CUDA_SUCCESS)
        return;
    if (!gr_cuda() || gr_cuda()->GetErrorName(result, &name) != CUDA_SUCCESS)
        name = "";
    throw error({GR_ERR_CUDA, GR_DOMAIN_CUDA, result, name, call, "the CUDA driver refused"});
}

/* What C made, unless it is NULL or 0, which is thrown: must(gr_buffer_surface(b, 0, 0)). */
template <typename T> T must(T made)
{
    if (!made)
        throw error();
    return made;
}

/* Memory of a device: objects at a pointer, while it is mapped. data() is for kernels only. */
template <typename T> class device_span
{
    static_assert(std::is_trivially_copyable_v<T>, "only plain bytes go to a device");
    CUdeviceptr pointer_ = 0;
    std::size_t size_ = 0;

public:
    /* `size` objects from `pointer` on, and what it was made of. */
    device_span(CUdeviceptr pointer, std::size_t size) noexcept : pointer_(pointer), size_(size) {}
    CUdeviceptr pointer() const noexcept { return pointer_; }
    T *data() const noexcept { return reinterpret_cast<T *>(pointer_); }
    std::size_t size() const noexcept { return size_; }
    std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
};

namespace detail
{
/* How objects end. A buffer whose release is refused here is left to the thread that may. */
struct end {
    void operator()(gr_resource *object) const noexcept { gr_resource_free(object); }
    void operator()(gr_ring *object) const noexcept { gr_ring_free(object); }
    void operator()(gr_cuda_context *object) const noexcept { gr_cuda_context_free(object); }
    void operator()(gr_buffer *object) const noexcept
    {
        if (gr_buffer_release(object) != GR_OK)
            gr_buffer_release_later(object);
    }
};

/* How a slot ends: half a frame, which an exception left behind, is nobody's to read. */
struct slot_end {
    gr_ring *ring = nullptr;
    bool writing = false;
    int exceptions = std::uncaught_exceptions();
    void operator()(const gr_slot *slot) const noexcept
    {
        const auto on = writing ? gr_ring_publish : gr_ring_give_back;
        if (std::uncaught_exceptions() > exceptions || on(ring, &slot, 1) != GR_OK)
            (writing ? gr_ring_cancel_write : gr_ring_cancel_read)(ring, &slot, 1);
    }
};

/* What all classes have that own an object of C's. NULL is thrown: it is C's failure. */
template <typename T, typename End = end> class owner
{
protected:
    std::unique_ptr<T, End> held_;
    owner(T *made, End how) noexcept : held_(made, how) {}

public:
    owner() noexcept = default;
    /* Takes what C made. get() lends it to C, detach() gives it away; it is false without one. */
    explicit owner(T *made) : held_(must(made)) {}
    T *get() const noexcept { return held_.get(); }
    T *detach() noexcept { return held_.release(); }
    explicit operator bool() const noexcept { return get() != nullptr; }
};

/* What CUDA sees of a mapped buffer. Self has buffer(). */
template <typename Self> class device_memory
{
    const gr_buffer *of() const { return static_cast<const Self *>(this)->buffer(); }

public:
    /* gr_buffer_ptr(). 0 once the mapping has ended; of an image or an empty object it throws. */
    CUdeviceptr pointer() const
    {
        gr_clear_error(); /* so that an older one is not taken for this one's */
        const CUdeviceptr pointer = gr_buffer_ptr(of());
        check(gr_last_error()->status);
        return pointer;
    }
    std::size_t size() const noexcept { return gr_buffer_size(of()); }
    /* As many whole T as there are. */
    template <typename T> device_span<T> span() const { return {pointer(), size() / sizeof(T)}; }
};

} // namespace detail

/*
 * A resource in CUDA's hands until this ends: gr_map(), gr.h. It holds the resource. It ends where
 * gr_buffer_release() may be called; elsewhere it ends as by gr_buffer_release_later().
 */
class mapping : public detail::owner<gr_buffer>, public detail::device_memory<mapping>
{
public:
    using owner::owner;
    /* For functions of C: the same as get(). */
    gr_buffer *buffer() const noexcept { return get(); }
    /* gr_buffer_release(), on any stream. It is still mapped after an error. */
    void release(CUstream stream = GR_STREAM_OF_MAP)
    {
        gr_buffer *one = get();
        check(gr_buffer_release_many(&one, 1, stream, nullptr));
        detach();
    }
};

/* What CUDA and a graphics API share: gr_resource, gr.h, where one thread at a time may use it. */
class resource : public detail::owner<gr_resource>
{
public:
    using owner::owner;
    /* gr_map(), gr_resource_unmap() and so on. */
    mapping map(CUstream stream) const { return mapping(gr_map(get(), stream)); }
    void unmap(CUstream on = GR_STREAM_OF_MAP) const { check(gr_resource_unmap(get(), on)); }
    void close(CUstream on = GR_STREAM_OF_MAP) const { check(gr_resource_close(get(), on)); }
    void wait(unsigned timeout_ms) const { check(gr_resource_wait(get(), timeout_ms)); }
    bool is_mapped() const noexcept { return gr_resource_is_mapped(get()); }
    bool is_closed() const noexcept { return gr_resource_is_closed(get()); }
    std::size_t size() const noexcept { return gr_resource_size(get()); }
};

/* {vertices, colours}, say. */
using resource_list = std::initializer_list<std::reference_wrapper<const resource>>;

/* For functions of C: the objects of a container of resources, or of {vertices, colours}. */
template <typename Resources = resource_list>
std::vector<gr_resource *> pointers(const Resources &resources)
{
    std::vector<gr_resource *> all;
    for (const resource &one : resources)
        all.push_back(one.get());
    return all;
}

/* gr_map_many(): all in one call of the driver, or none. Without release_many() each ends alone. */
template <typename Resources = resource_list>
std::vector<mapping> map_many(const Resources &resources, CUstream stream,
                              const gr_map_options *options = nullptr)
{
    const std::vector<gr_resource *> all = pointers(resources);
    std::vector<gr_buffer *> made(all.size());
    std::vector<mapping> mapped(all.size()); /* all memory before anything is mapped */
    check(gr_map_many(all.data(), all.size(), stream, options, made.data()));
    for (std::size_t i = 0; i < made.size(); i++)
        mapped[i] = mapping(made[i]);
    return mapped;
}

/* gr_buffer_release_many(). What it could not release is still in `mapped`. */
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
 * A slot in the hands of one side: gr_slot, ring.h. The ring owns it, and outlives this. Its end
 * publishes it or gives it back; it cancels what an exception ends, and what cannot be handed on.
 */
class slot : public detail::owner<const gr_slot, detail::slot_end>,
             public detail::device_memory<slot>
{
    template <typename Function> void end(Function how)
    {
        const gr_slot *one = get();
        check(how(held_.get_deleter().ring, &one, 1));
        detach();
    }

public:
    slot() noexcept = default;
    /* What an acquire of `from` gave; the mapping is NULL on the graphics API's side. */
    slot(const gr_slot *taken, gr_ring *from, bool writing) : owner(taken, {from, writing}) {}
    const gr_slot *operator->() const noexcept { return get(); }
    const gr_buffer *buffer() const noexcept { return get() ? get()->buffer : nullptr; }
    /* gr_ring_publish(), gr_ring_give_back(), or the way back. It is kept if they throw. */
    void publish() { end(gr_ring_publish); }
    void give_back() { end(gr_ring_give_back); }
    void cancel() { end(held_.get_deleter().writing ? gr_ring_cancel_write : gr_ring_cancel_read); }
};

/* Frames in flight: gr_ring, ring.h. Each side is one thread at a time. */
class ring : public detail::owner<gr_ring>
{
    slot take(bool writing, CUstream stream, unsigned ms) const
    {
        const gr_slot *one = nullptr;
        const auto acquire = writing ? gr_ring_acquire_write : gr_ring_acquire_read;
        const gr_status status = acquire(get(), stream, &one, 1, ms);
        if (status != GR_ERR_NOT_READY && status != GR_ERR_TIMEOUT)
            check(status);
        return {one, get(), writing};
    }

public:
    using owner::owner;
    /* gr_ring_acquire_write(), gr_ring_acquire_read(). An empty slot: there was none in time. */
    slot acquire_write(CUstream stream, unsigned ms) const { return take(true, stream, ms); }
    slot acquire_read(CUstream stream, unsigned ms) const { return take(false, stream, ms); }
};

/* A CUDA context with a stream: cuda.h. It ends on the thread where it was made. */
using cuda_context = detail::owner<gr_cuda_context>;

#ifdef GR_EGL_H
/* OpenGL without a window: egl.h. Its resources end before it. */
struct egl_end {
    void operator()(gr_egl *object) const noexcept { gr_egl_free(object); }
};
using egl = detail::owner<gr_egl, egl_end>;
#endif

} // namespace grinterop
#endif
