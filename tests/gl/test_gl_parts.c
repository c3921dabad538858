/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Several OpenGL buffers in one memory allocation shared with CUDA, by plain driver calls: in which
 * kinds of memory both APIs see the same bytes. Prints the results. The kind that grinterop uses
 * must be correct.
 */
#include "tests/support/support_vulkan.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 16 << 20, BUFFERS = 30, ROUNDS = 6, KIB = 1024 };

static const size_t sizes[] = {KIB, 64 * KIB, 1024 * KIB, 4 * KIB, 100, 512};

/* How the memory is allocated, and how it is declared to OpenGL and CUDA. */
static const struct way {
    const char *text;
    bool vulkan, compressible; /* `vulkan`: allocated by Vulkan; otherwise by cuMemCreate */
    bool dedicated;            /* declared to OpenGL as dedicated */
    /* Each buffer has its own OpenGL memory object; otherwise all share one. */
    bool object_each;
} ways[] = {
    {"CUDA memory, dedicated", false, false, true, false},
    {"CUDA memory, not dedicated", false, false, false, false},
    {"CUDA memory, dedicated, an object each", false, false, true, true},
    {"CUDA memory, compressible, not dedicated", false, true, false, false},
    {"Vulkan memory, not dedicated", true, false, false, false},
    {"Vulkan memory, dedicated for OpenGL only", true, false, true, false},
};
enum { WAYS = sizeof(ways) / sizeof(*ways), TAKEN = 0 /* the kind that grinterop uses */ };

/* ---- The memory ------------------------------------------------------------------------------ */

static struct block {
    const struct way *way;
    size_t size;
    CUdeviceptr ptr;
    CUmemGenericAllocationHandle handle;
    CUexternalMemory imported;
    VkDeviceMemory memory;
    GLuint objects[BUFFERS], buffers[BUFFERS];
    size_t offsets[BUFFERS], bytes[BUFFERS], count;
} block;

static const char *code_text(CUresult code, const char *call)
{
    static char text[120];
    const char *name = "?";
    fx.cu->GetErrorName(code, &name);
    snprintf(text, sizeof(text), "%s gives %s", call, name);
    return text;
}

/* Returns NULL, or the error of the driver. */
static const char *make_cudas(void)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
        .allocFlags = {.compressionType = block.way->compressible ? CU_MEM_ALLOCATION_COMP_GENERIC
                                                                  : CU_MEM_ALLOCATION_COMP_NONE},
    };
    const CUmemAccessDesc access = {.location = prop.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = fx.cu->MemCreate(&block.handle, BLOCK, &prop, 0);
    if (result != CUDA_SUCCESS)
        return code_text(result, "cuMemCreate");
    CU(MemGetAllocationPropertiesFromHandle(&prop, block.handle));
    if (block.way->compressible && !prop.allocFlags.compressionType)
        printf("  (cuMemCreate gave memory that is not compressible)\n");
    CU(MemAddressReserve(&block.ptr, BLOCK, 0, 0, 0));
    CU(MemMap(block.ptr, BLOCK, 0, block.handle, 0));
    CU(MemSetAccess(block.ptr, BLOCK, &access, 1));
    block.size = BLOCK;
    return NULL;
}

static const char *make_vulkans(void)
{
    VkMemoryRequirements needs;
    vulkan_buffer(BLOCK, &needs);
    block.size = needs.size;
    block.memory = vulkan_memory(needs.size, needs.memoryTypeBits, MEMORY_EXPORT, VK_NULL_HANDLE,
                                 VK_NULL_HANDLE);
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                                .handle.fd = vulkan_memory_fd(block.memory),
                                                .size = needs.size};
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = needs.size};
    CUresult result = fx.cu->ImportExternalMemory(&block.imported, &d);
    if (result != CUDA_SUCCESS)
        return code_text(result, "cuImportExternalMemory");
    CU(ExternalMemoryGetMappedBuffer(&block.ptr, block.imported, &whole));
    return NULL;
}

static const char *missing(int way)
{
    if (!epoxy_has_gl_extension("GL_EXT_memory_object_fd"))
        return "this OpenGL has no GL_EXT_memory_object_fd";
    if (gr_cuda_is_software())
        return "Mesa ignores the offset of a buffer in its memory";
    return ways[way].vulkan ? vk.missing : NULL;
}

static void end_block(void)
{
    CU(CtxSynchronize());
    for (size_t i = 0; i < block.count; i++) {
        glDeleteBuffers(1, &block.buffers[i]);
        if (i == 0 || block.objects[i] != block.objects[0])
            glDeleteMemoryObjectsEXT(1, &block.objects[i]);
    }
    glFinish();
    if (block.imported) {
        CU(MemFree(block.ptr));
        CU(DestroyExternalMemory(block.imported));
    } else if (block.ptr) {
        CU(MemUnmap(block.ptr, BLOCK));
        CU(MemAddressFree(block.ptr, BLOCK));
        CU(MemRelease(block.handle));
    }
    if (block.memory)
        vulkan_memory_free(block.memory);
}

/* ---- OpenGL buffers in the block ------------------------------------------------------------- */

static GLuint import_object(void)
{
    GLuint object = 0;
    const GLint yes = GL_TRUE;
    int fd = -1;
    if (block.memory)
        fd = vulkan_memory_fd(block.memory);
    else
        CU(MemExportToShareableHandle(&fd, block.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0));
    glCreateMemoryObjectsEXT(1, &object);
    if (block.way->dedicated)
        glMemoryObjectParameterivEXT(object, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    glImportMemoryFdEXT(object, block.size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    return object;
}

/* Returns the OpenGL error, or 0. */
static GLenum add_buffer(size_t offset, size_t bytes)
{
    size_t i = block.count++;
    block.offsets[i] = offset;
    block.bytes[i] = bytes;
    block.objects[i] = i > 0 && !block.way->object_each ? block.objects[0] : import_object();
    glCreateBuffers(1, &block.buffers[i]);
    glNamedBufferStorageMemEXT(block.buffers[i], (GLsizeiptr)bytes, block.objects[i], offset);
    return glGetError();
}

/* Creates the block of this kind. If the driver refuses, prints the reason and returns false. */
static bool begin(int way)
{
    memset(&block, 0, sizeof(block));
    block.way = &ways[way];
    const char *refused = block.way->vulkan ? make_vulkans() : make_cudas();
    if (refused)
        printf("%s: %s\n", block.way->text, refused);
    return !refused;
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/*
 * Ordinary OpenGL buffers: `plain` is for reading back; `constant` has equal bytes, which are
 * copied.
 */
static GLuint plain, constant;
static GLuint fill_program, copy_program;
static CUdeviceptr spare;

enum { MOST_BYTES = 1024 * KIB };

static GLuint compute(const char *body)
{
    char source[600];
    const char *text = source;
    snprintf(source, sizeof(source),
             "#version 430\n"
             "layout(local_size_x = 64) in;\n"
             "layout(std430, binding = 0) buffer A { uint a[]; };\n"
             "layout(std430, binding = 1) buffer B { uint b[]; };\n"
             "layout(location = 0) uniform uint value;\n"
             "void main() { uint i = gl_GlobalInvocationID.x; if (i < a.length()) { %s } }\n",
             body);
    GLuint program = glCreateShaderProgramv(GL_COMPUTE_SHADER, 1, &text);
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    ck_assert(linked);
    return program;
}

static void dispatch(GLuint program, GLuint a, GLuint b, size_t bytes, GLuint value)
{
    glUseProgram(program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, a);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, b);
    glProgramUniform1ui(program, 0, value);
    glDispatchCompute((GLuint)(bytes / 4 + 63) / 64, 1, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glUseProgram(0);
}

enum writer { BY_CUDA_FILL, BY_CUDA_COPY, BY_GL_CLEAR, BY_GL_SHADER, BY_GL_COPY, WRITERS };
enum reader { READ_COPY, READ_SHADER, READERS };
static const char *const writer_text[] = {"CUDA's fill", "CUDA's copy", "OpenGL's clear",
                                          "OpenGL's shader", "OpenGL's copy"};

static void write_one(enum writer writer, size_t i, unsigned char value)
{
    CUdeviceptr ptr = block.ptr + block.offsets[i];
    size_t bytes = block.bytes[i];
    switch (writer) {
    case BY_CUDA_FILL:
        CU(MemsetD8Async(ptr, value, bytes, fx.stream));
        break;
    case BY_CUDA_COPY:
        CU(MemsetD8Async(spare, value, bytes, fx.stream));
        CU(MemcpyDtoDAsync(ptr, spare, bytes, fx.stream));
        break;
    case BY_GL_CLEAR:
        glClearNamedBufferData(block.buffers[i], GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &value);
        break;
    case BY_GL_SHADER:
        dispatch(fill_program, block.buffers[i], plain, bytes, value * 0x01010101u);
        break;
    default:
        glClearNamedBufferData(constant, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &value);
        glCopyNamedBufferSubData(constant, block.buffers[i], 0, 0, (GLsizeiptr)bytes);
    }
}

static void read_one(enum writer writer, enum reader reader, size_t i, unsigned char *bytes)
{
    if (writer >= BY_GL_CLEAR) {
        CUdeviceptr from = block.ptr + block.offsets[i];
        if (reader == READ_SHADER) {
            CU(MemcpyDtoDAsync(spare, from, block.bytes[i], fx.stream));
            CU(StreamSynchronize(fx.stream));
            from = spare;
        }
        CU(MemcpyDtoH(bytes, from, block.bytes[i]));
        return;
    }
    const unsigned char other = 0x5A;
    glClearNamedBufferData(plain, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &other);
    if (reader == READ_SHADER)
        dispatch(copy_program, block.buffers[i], plain, block.bytes[i], 0);
    else
        glCopyNamedBufferSubData(block.buffers[i], plain, 0, 0, (GLsizeiptr)block.bytes[i]);
    glGetNamedBufferSubData(plain, 0, (GLsizeiptr)block.bytes[i], bytes);
}

/* The number of wrong bytes that the reading API sees in all buffers. */
static size_t wrong_bytes(enum writer writer, enum reader reader, int round)
{
    static unsigned char bytes[MOST_BYTES];
    size_t wrong = 0;
    for (size_t i = 0; i < block.count; i++)
        write_one(writer, i, (unsigned char)(round * 41 + (int)i * 7 + (int)writer * 3 + 1));
    CU(CtxSynchronize());
    glFinish();
    for (size_t i = 0; i < block.count; i++) {
        const unsigned char value = (unsigned char)(round * 41 + (int)i * 7 + (int)writer * 3 + 1);
        read_one(writer, reader, i, bytes);
        for (size_t j = 0; j < block.bytes[i]; j++)
            wrong += bytes[j] != value;
    }
    return wrong;
}

static void make_tools(void)
{
    glCreateBuffers(1, &plain);
    glCreateBuffers(1, &constant);
    glNamedBufferStorage(plain, MOST_BYTES, NULL, GL_DYNAMIC_STORAGE_BIT);
    glNamedBufferStorage(constant, MOST_BYTES, NULL, GL_DYNAMIC_STORAGE_BIT);
    fill_program = compute("a[i] = value; if (value == 1u) b[0] = 1u;");
    copy_program = compute("b[i] = a[i] + value;");
    CU(MemAlloc(&spare, MOST_BYTES));
}

static void end_tools(void)
{
    CU(MemFree(spare));
    glDeleteProgram(fill_program);
    glDeleteProgram(copy_program);
    glDeleteBuffers(1, &plain);
    glDeleteBuffers(1, &constant);
}

/*
 * Runs all rounds and prints each writer and reader with wrong bytes. Returns true if all bytes are
 * right.
 */
static bool compare_all(void)
{
    size_t total = 0;
    for (int writer = 0; writer < WRITERS; writer++)
        for (int reader = 0; reader < READERS; reader++) {
            size_t wrong = 0;
            for (int round = 0; round < ROUNDS; round++)
                wrong += wrong_bytes((enum writer)writer, (enum reader)reader, round);
            total += wrong;
            if (wrong)
                printf("  %s, read by a %s on the other side: %zu bytes are wrong\n",
                       writer_text[writer], reader == READ_COPY ? "copy" : "second step", wrong);
        }
    return total == 0;
}

GROUP("bytes", add_vulkan_case)

TEST_UNLESS(missing(_i), several_buffers_in_one_allocation_have_the_right_bytes, WAYS)
{
    GLenum error = GL_NO_ERROR;
    size_t offset = 0;
    if (!begin(_i))
        return;
    for (int i = 0; i < BUFFERS && !error; i++) {
        size_t bytes = sizes[(size_t)i % (sizeof(sizes) / sizeof(*sizes))];
        error = add_buffer(offset, bytes);
        offset += (bytes + 511) / 512 * 512;
    }
    if (error) {
        printf("%s: OpenGL's error 0x%x at buffer %zu\n", block.way->text, error, block.count - 1);
        end_block();
        return;
    }
    make_tools();
    bool right = compare_all();
    printf("%s: the bytes are %s\n", block.way->text, right ? "right" : "WRONG");
    end_tools();
    end_block();
    ck_assert(right || _i != TAKEN);
}
