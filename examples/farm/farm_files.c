/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files of a farm. Files are written under a temporary name and renamed atomically: no reader
 * sees a partial picture, and a killed rank leaves no partial file under a final name.
 */
#define _GNU_SOURCE
#include "farm_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/support/png_file.h"

enum { FRAMES_A_FOLDER = 1000 };

static bool fail(const char *path, const char *what)
{
    fprintf(stderr, "%s cannot be %s: %s\n", path, what, strerror(errno));
    return false;
}

static bool fits(int written, size_t size)
{
    if (written >= 0 && (size_t)written < size)
        return true;
    fprintf(stderr, "The name of the output directory is too long.\n");
    return false;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST || fail(path, "made");
}

/*
 * Locks one byte per frame, so jobs with different frames do not conflict. The system releases the
 * locks however the process ends.
 */
static bool lock_frames(const struct farm_files *files)
{
    struct flock frames = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = files->first, .l_len = files->count};
    if (fcntl(files->lock, F_OFD_SETLK, &frames) == 0 || (errno != EAGAIN && errno != EACCES))
        return true; /* also succeeds if the file system has no locks */
    fprintf(stderr,
            "Another farm is working in %s on some of the frames %d to %d: wait for it, choose "
            "other frames, or name another --out.\n",
            files->out, files->first, files->first + files->count - 1);
    return false;
}

bool farm_files_open(struct farm_files *files)
{
    char path[PATH_MAX];
    files->lock = -1;
    if (!make_folder(files->out) ||
        !fits(snprintf(path, sizeof(path), "%s/.farm.lock", files->out), sizeof(path)))
        return false;
    files->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (files->lock < 0)
        return fail(path, "opened");
    if (lock_frames(files))
        return true;
    farm_files_close(files);
    return false;
}

/*
 * Does not delete the lock file: another job may have opened it, and would then hold a lock that
 * the next job can't see.
 */
void farm_files_close(struct farm_files *files)
{
    if (files->lock >= 0)
        close(files->lock);
    files->lock = -1;
}

int farm_files_folders(const struct farm_files *files)
{
    return (files->first + files->count - 1) / FRAMES_A_FOLDER - files->first / FRAMES_A_FOLDER + 1;
}

/*
 * Returns the frame of a file name, or 0 if the name is not that of a picture. *whole is false for
 * a temporary file.
 */
static int frame_of(const struct farm_files *files, const char *name, bool *whole)
{
    int frame = 0, end = 0;
    *whole = name[0] != '.';
    if (sscanf(name + !*whole, "frame-%8d.%n", &frame, &end) != 1 || end == 0)
        return 0;
    const char *rest = name + !*whole + end;
    const size_t length = strlen(rest);
    const bool ours =
        *whole ? strcmp(rest, "png") == 0 : length > 5 && strcmp(rest + length - 5, ".part") == 0;
    return ours && frame >= files->first && frame - files->first < files->count ? frame : 0;
}

/*
 * Whether the file ends like a complete picture. Reading the end is enough: after a power failure a
 * file is empty, truncated, or ends with zeros.
 */
static bool ends_as_picture(DIR *folder, const char *name)
{
    static const unsigned char end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    unsigned char found[sizeof(end)];
    struct stat status;
    /* The name may be that of a FIFO. Without O_NONBLOCK, opening it waits for a writer. */
    const int file = openat(dirfd(folder), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool whole =
        fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)sizeof(end) &&
        pread(file, found, sizeof(end), status.st_size - (off_t)sizeof(end)) == sizeof(end) &&
        memcmp(found, end, sizeof(end)) == 0;
    close(file);
    return whole;
}

bool farm_files_scan(const struct farm_files *files, int number, unsigned char *bits)
{
    char path[PATH_MAX];
    number += files->first / FRAMES_A_FOLDER;
    if (!fits(snprintf(path, sizeof(path), "%s/%05d", files->out, number), sizeof(path)) ||
        !make_folder(path))
        return false;
    DIR *folder = opendir(path);
    if (!folder)
        return fail(path, "read");
    for (const struct dirent *entry; (entry = readdir(folder));) {
        bool whole;
        const int frame = frame_of(files, entry->d_name, &whole);
        const int place = frame - files->first;
        if (frame > 0 && whole && ends_as_picture(folder, entry->d_name))
            bits[place / 8] |= (unsigned char)(1u << place % 8);
        else if (frame > 0 && !whole)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    return true;
}

static bool name_picture(const struct farm_files *files, int frame, char whole[PATH_MAX],
                         char part[PATH_MAX])
{
    char host[HOST_NAME_MAX + 1] = "";
    const int folder = frame / FRAMES_A_FOLDER;
    gethostname(host, sizeof(host) - 1);
    return fits(snprintf(whole, PATH_MAX, "%s/%05d/frame-%08d.png", files->out, folder, frame),
                PATH_MAX) &&
           fits(snprintf(part, PATH_MAX, "%s/%05d/.frame-%08d.%s.%ld.part", files->out, folder,
                         frame, host, (long)getpid()),
                PATH_MAX);
}

bool farm_files_write(const struct farm_files *files, int frame, int width, int height,
                      const unsigned char *pixels, size_t *bytes)
{
    char whole[PATH_MAX], part[PATH_MAX];
    struct stat status;
    if (!name_picture(files, frame, whole, part) || !png_file_write(part, width, height, pixels))
        return false;
    if (stat(part, &status) != 0 || rename(part, whole) != 0) {
        fail(whole, "written");
        unlink(part);
        return false;
    }
    *bytes = (size_t)status.st_size;
    return true;
}
