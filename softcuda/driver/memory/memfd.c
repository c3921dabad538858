/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that is shared by a file descriptor: the file, its header, and the checks of a file from
 * another process.
 */
#include "softcuda/driver/memory/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The header that Mesa 22 to 25 write at the start of the file. The 8 bytes before the data repeat
 * the offset; Mesa uses them to find the start of a mapping when it frees memory.
 */
typedef struct {
    uint64_t size; /* the size of the file */
    uint64_t offset;
    unsigned char uuid[16];
} header;

/*
 * The mark contains the device, and follows the header in files of this driver. Files of Mesa have
 * no mark: all Mesa memory is on the device that draws.
 */
typedef struct {
    char name[12];
    uint32_t device;
} mark;

/* The name of soft_memfd_set_name() follows the mark; zeros if there is none. */
#define NAME_OFFSET (sizeof(header) + sizeof(mark))

static const char mark_name[12] = "grinterop";

/*
 * The first bytes of SHA1("llvmpipe"). Mesa only imports files with its own UUID. Builds from the
 * git repository of Mesa add their commit to the hashed text, so they reject this driver's memory,
 * and only a release of Mesa can import it. This driver accepts any UUID.
 */
static const unsigned char mesa_uuid[16] = {0x6c, 0xb9, 0xee, 0x07, 0x4a, 0x0b, 0xad, 0x7b,
                                            0x01, 0x2e, 0x1b, 0xe9, 0x69, 0x7e, 0x53, 0x0f};

/* llvmpipe accesses a few bytes after the end of a buffer. */
#define ROOM_FOR_MESA 64

#define POISON_AT_ONCE ((size_t)64 << 10)

/* ---- Own files ------------------------------------------------------------------------------- */

/* Data begin at a page boundary. AArch64 kernels may have pages of 64 KiB. */
static size_t data_offset(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool soft_file_write(int fd, const void *bytes, size_t size, size_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t more = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        done += (size_t)more;
    }
    return true;
}

/* Takes half as long as through a mapping, where each page costs a fault. */
static bool write_poison(int fd, size_t size, size_t offset)
{
    const size_t most = size < POISON_AT_ONCE ? size : POISON_AT_ONCE;
    unsigned char *poison = malloc(most);
    bool written = poison != NULL;
    if (written)
        memset(poison, SOFT_POISON, most);
    for (size_t done = 0; written && done < size; done += most)
        written =
            soft_file_write(fd, poison, size - done < most ? size - done : most, offset + done);
    free(poison);
    return written;
}

/*
 * The smallest memory of cuMemCreate() is mostly padding of a small buffer, and writing all of it
 * takes half of the time of some tests. GR_SOFT_FILL, in KiB, limits what of it is written.
 */
static size_t size_to_write(size_t size)
{
    const char *kib = size == SOFT_GRANULARITY ? secure_getenv("GR_SOFT_FILL") : NULL;
    const size_t most = kib ? strtoul(kib, NULL, 10) << 10 : 0;
    return most > 0 && most < size ? most : size;
}

/*
 * Writes the pages now, so that they exist: an access to a page that cannot be allocated would kill
 * the process.
 */
static bool fill(int fd, size_t size, int device)
{
    static const char room[ROOM_FOR_MESA];
    const size_t offset = data_offset(), whole = offset + size + ROOM_FOR_MESA;
    header head = {.size = whole, .offset = offset};
    memcpy(head.uuid, mesa_uuid, sizeof(head.uuid));
    mark own = {.device = (uint32_t)device};
    memcpy(own.name, mark_name, sizeof(own.name));
    return soft_file_write(fd, &head, sizeof(head), 0) &&
           soft_file_write(fd, &own, sizeof(own), sizeof(head)) &&
           soft_file_write(fd, &head.offset, sizeof(head.offset), offset - sizeof(head.offset)) &&
           write_poison(fd, size_to_write(size), offset) &&
           soft_file_write(fd, room, sizeof(room), offset + size) &&
           fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

CUresult soft_memfd_create(size_t size, int device, soft_memfd *file)
{
    int fd = memfd_create("grinterop software CUDA memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SOFT_FAIL_IF(fd < 0, CUDA_ERROR_OUT_OF_MEMORY);
    if (!fill(fd, size, device)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *file = (soft_memfd){fd, data_offset(), size, device, true};
    return CUDA_SUCCESS;
}

bool soft_memfd_set_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME])
{
    return pwrite(file->fd, name, SOFT_MEMFD_NAME, NAME_OFFSET) == SOFT_MEMFD_NAME;
}

bool soft_memfd_has_name(const soft_memfd *file, const unsigned char name[SOFT_MEMFD_NAME])
{
    unsigned char found[SOFT_MEMFD_NAME];
    return pread(file->fd, found, sizeof(found), NAME_OFFSET) == SOFT_MEMFD_NAME &&
           memcmp(found, name, sizeof(found)) == 0;
}

/* ---- Files from other processes -------------------------------------------------------------- */

/* Reads the mark, into which any process may have written anything. */
static void read_mark(int fd, soft_memfd *file)
{
    mark found;
    file->is_own = file->offset >= sizeof(header) + sizeof(found) &&
                   pread(fd, &found, sizeof(found), sizeof(header)) == (ssize_t)sizeof(found) &&
                   memcmp(found.name, mark_name, sizeof(found.name)) == 0 &&
                   found.device < SOFT_MAX_DEVICES;
    file->device = file->is_own ? (int)found.device : SOFT_DRAWING_DEVICE;
}

/*
 * Returns NULL, or the reason why the file is unusable. The seals are checked first: without them
 * another process could still shrink the file.
 */
static const char *inspect(int fd, soft_memfd *file)
{
    struct stat status;
    header head;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return "is not open";
    if ((flags & O_ACCMODE) != O_RDWR)
        return "isn't open for both reading and writing";
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        head.size != (uint64_t)status.st_size || head.offset < sizeof(head) ||
        head.offset >= head.size)
        return "is not memory of llvmpipe, lavapipe or this driver";
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return "is a file that is not sealed against shrinking";
    file->offset = head.offset;
    file->size = head.size - head.offset;
    read_mark(fd, file);
    return NULL;
}

CUresult soft_memfd_open(int fd, const char *call, soft_memfd *file)
{
    const char *wrong = inspect(fd, file);
    if (wrong) {
        soft_log(SOFT_WARN, "%s: descriptor %d %s", call, fd, wrong);
        return CUDA_ERROR_INVALID_VALUE;
    }
    file->fd = soft_memfd_export(&(soft_memfd){.fd = fd});
    return file->fd < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

void soft_memfd_close(soft_memfd *file)
{
    close(file->fd);
    file->fd = -1;
}

unsigned char *soft_memfd_map(const soft_memfd *file, size_t offset, size_t size)
{
    return soft_pages_map(file->fd, file->offset + offset, size);
}

bool soft_memfd_can_place(const soft_memfd *file)
{
    return file->offset % (size_t)sysconf(_SC_PAGESIZE) == 0;
}

bool soft_memfd_place(const soft_memfd *file, size_t offset, size_t size, unsigned char *pages)
{
    return mmap(pages, size, PROT_NONE, MAP_SHARED | MAP_FIXED, file->fd,
                (off_t)(file->offset + offset)) != MAP_FAILED;
}

int soft_memfd_export(const soft_memfd *file)
{
    return fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
}
