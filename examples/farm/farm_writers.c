/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Threads that write pictures.
 */
#include "farm_writers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "farm_files.h"

enum { MOST_QUEUED = 64, MOST_THREADS = 64 };

struct job {
    int frame;
    const unsigned char *pixels;
    bool *busy;
};

struct farm_writers {
    const struct farm_files *files;
    int width, height;
    pthread_t threads[MOST_THREADS];
    int started;

    /* Protected by `lock`: */
    pthread_mutex_t lock;
    /* come: a job was added; gone: a picture was read, or its file is complete */
    pthread_cond_t come, gone;
    struct job queue[MOST_QUEUED];
    unsigned head, tail; /* the numbers of jobs put and taken so far */
    int working;
    bool quit, failed;
    struct farm_written written;
};

/* Flips the rows and drops the fourth byte. */
static void copy_rows(const struct farm_writers *w, const unsigned char *from, unsigned char *to)
{
    for (int row = 0; row < w->height; row++) {
        const unsigned char *pixel = from + 4 * (size_t)w->width * (size_t)(w->height - 1 - row);
        for (int i = 0; i < w->width; i++, pixel += 4, to += 3) {
            to[0] = pixel[0];
            to[1] = pixel[1];
            to[2] = pixel[2];
        }
    }
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

/*
 * The checksum of one picture. The sum of all checksums identifies the pictures, regardless of
 * their order.
 */
static uint64_t checksum_of(int frame, const unsigned char *bytes, size_t size)
{
    uint64_t sum = mix(0, (uint64_t)frame);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < sizeof(word) ? size - i : sizeof(word));
        sum = mix(sum, word);
    }
    return sum;
}

static void pixels_are_read(struct farm_writers *w, const struct job *job)
{
    pthread_mutex_lock(&w->lock);
    *job->busy = false;
    pthread_cond_broadcast(&w->gone);
    pthread_mutex_unlock(&w->lock);
}

static void job_is_done(struct farm_writers *w, bool good, uint64_t checksum, size_t bytes)
{
    pthread_mutex_lock(&w->lock);
    w->working--;
    if (good) {
        w->written.frames++;
        w->written.checksum += checksum;
        w->written.bytes += bytes;
    } else {
        w->failed = true;
    }
    pthread_cond_broadcast(&w->gone);
    pthread_mutex_unlock(&w->lock);
}

static void do_job(struct farm_writers *w, const struct job *job, unsigned char *pixels)
{
    size_t bytes = 0;
    copy_rows(w, job->pixels, pixels);
    pixels_are_read(w, job);
    const size_t size = 3 * (size_t)w->width * (size_t)w->height;
    const uint64_t checksum = checksum_of(job->frame, pixels, size);
    const bool good =
        !w->files || farm_files_write(w->files, job->frame, w->width, w->height, pixels, &bytes);
    job_is_done(w, good, checksum, bytes);
}

/* Takes the next job. False if there are no more jobs. */
static bool take_job(struct farm_writers *w, struct job *job)
{
    pthread_mutex_lock(&w->lock);
    while (!w->quit && w->head == w->tail)
        pthread_cond_wait(&w->come, &w->lock);
    const bool taken = !w->quit;
    if (taken) {
        *job = w->queue[w->tail++ % MOST_QUEUED];
        w->working++;
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

static void *work(void *user)
{
    struct farm_writers *w = user;
    struct job job;
    unsigned char *pixels = malloc(3 * (size_t)w->width * (size_t)w->height);
    if (!pixels)
        fprintf(stderr, "Not enough memory for a picture: choose a smaller --size.\n");
    while (take_job(w, &job)) {
        if (pixels)
            do_job(w, &job, pixels);
        else
            job_is_done(w, false, 0, 0);
    }
    free(pixels);
    return NULL;
}

struct farm_writers *farm_writers_open(const struct farm_files *files, int width, int height,
                                       int threads)
{
    struct farm_writers *w = calloc(1, sizeof(*w));
    if (!w) {
        fprintf(stderr, "Not enough memory.\n");
        return NULL;
    }
    w->files = files;
    w->width = width;
    w->height = height;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->come, NULL);
    pthread_cond_init(&w->gone, NULL);
    while (w->started < threads && w->started < MOST_THREADS) {
        if (pthread_create(&w->threads[w->started], NULL, work, w) != 0) {
            fprintf(stderr, "The system cannot start more threads: choose fewer --writers.\n");
            farm_writers_close(w);
            return NULL;
        }
        w->started++;
    }
    return w;
}

void farm_writers_put(struct farm_writers *w, int frame, const unsigned char *pixels, bool *busy)
{
    pthread_mutex_lock(&w->lock);
    *busy = true;
    w->queue[w->head++ % MOST_QUEUED] = (struct job){frame, pixels, busy};
    pthread_cond_signal(&w->come);
    pthread_mutex_unlock(&w->lock);
}

bool farm_writers_wait(struct farm_writers *w, const bool *busy)
{
    pthread_mutex_lock(&w->lock);
    while (!w->failed && (busy ? *busy : w->head != w->tail || w->working > 0))
        pthread_cond_wait(&w->gone, &w->lock);
    const bool good = !w->failed;
    pthread_mutex_unlock(&w->lock);
    return good;
}

struct farm_written farm_writers_written(struct farm_writers *w)
{
    pthread_mutex_lock(&w->lock);
    const struct farm_written written = w->written;
    pthread_mutex_unlock(&w->lock);
    return written;
}

void farm_writers_close(struct farm_writers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->come);
    pthread_mutex_unlock(&w->lock);
    while (w->started > 0)
        pthread_join(w->threads[--w->started], NULL);
    pthread_cond_destroy(&w->come);
    pthread_cond_destroy(&w->gone);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
