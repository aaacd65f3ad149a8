/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_fit.c - whether the options of a job fit its operation, its datatype and each other. */
#include "suite/plan_private.h"

#include "common/random.h"
#include "suite/schemes.h"

#include <string.h>

/* A shorter window is less than a nanosecond. */
#define MIN_WINDOW_US 0.001
#define USUAL_SIZE_FACTOR 2

static bool has_halves(const operation_t *operation)
{
    operation_form_t form = operation->form;
    return form == FORM_NONBLOCKING || form == FORM_PERSISTENT;
}

static bool keeps_buffers(const operation_t *operation)
{
    return operation->form == FORM_PERSISTENT;
}

static bool fit_operation(const reader_t *reader, job_t *job, bool named)
{
    const operation_t *operation = operation_at(job->operation);
    const char *name = operation->name;
    bench_settings_t *settings = &job->settings;
    if (named && settings->root != NOT_GIVEN && !operation->shape->has_root)
        return plan_refuse(reader, "option --root is not allowed: %s takes no root", name);
    if (named && settings->reduction != NOT_GIVEN && !operation->shape->reduces)
        return plan_refuse(reader, "option --op is not allowed: %s does not reduce", name);
    if (named && settings->in_place && !operation_allows_in_place(operation))
        return plan_refuse(reader, "option --in-place is not allowed: %s has no form with MPI_IN_PLACE", name);
    if (named && settings->overlap && !has_halves(operation))
        return plan_refuse(reader, "option --overlap is not allowed: %s is neither non-blocking nor persistent", name);
    if (named && settings->cache == CACHE_ROTATE && keeps_buffers(operation))
        return plan_refuse(reader, "option --cache rotate is not allowed: %s keeps its buffers, give warm or cold",
                           name);
    if (settings->root == NOT_GIVEN || !operation->shape->has_root)
        settings->root = 0;
    if (settings->reduction == NOT_GIVEN)
        settings->reduction = plan_find_name(reduction_name, "sum");
    settings->in_place = settings->in_place && operation_allows_in_place(operation);
    settings->overlap = settings->overlap && has_halves(operation);
    if (settings->cache == CACHE_ROTATE && keeps_buffers(operation))
        settings->cache = CACHE_WARM;
    return true;
}

static bool fit_datatype(const reader_t *reader, job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    bench_settings_t *settings = &job->settings;
    if (settings->datatype == NOT_GIVEN)
        settings->datatype = plan_find_name(datatype_name, operation->shape->reduces ? "mpi_float" : "mpi_char");
    if (operation->shape->reduces &&
        !reduction_allows(reduction_at((int)settings->reduction), element_at((int)settings->datatype)))
        return plan_refuse(reader, "option --op: %s is not defined on %s, give another --op or --type",
                           reduction_name((int)settings->reduction), datatype_name((int)settings->datatype));
    return true;
}

static bool fit_sizes(const reader_t *reader, job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    int element_bytes = element_at((int)job->settings.datatype)->bytes;
    size_list_t *sizes = &job->settings.sizes;
    double factor = job->settings.size_factor;
    bool listed = sizes->count > 0;
    if (listed && factor > 0)
        return plan_refuse(reader, "option --size-factor is not allowed together with a list of sizes, give MIN:MAX");
    if (!operation_has_size(operation)) {
        sizes->count = 1;
        sizes->bytes[0] = 0;
        return true;
    }
    if (sizes->min_bytes < 1) /* not given */
        sizes->min_bytes = element_bytes < sizes->max_bytes ? element_bytes : sizes->max_bytes;
    options_list_sizes(sizes, factor > 0 ? factor : USUAL_SIZE_FACTOR, element_bytes);
    for (int64_t i = 0; i < sizes->count; i++) {
        if (sizes->bytes[i] % element_bytes != 0)
            return plan_refuse(
                reader,
                "option --message-size: %lld is not allowed for %s, give multiples of %d, the bytes of an "
                "element (%s)",
                (long long)sizes->bytes[i], operation->name, element_bytes, datatype_name((int)job->settings.datatype));
    }
    if (!listed && sizes->count == MAX_SIZES && factor > 0 && factor < USUAL_SIZE_FACTOR)
        return plan_refuse(reader, "option --size-factor: %g gives more than %d sizes, give more", factor, MAX_SIZES);
    return true;
}

static void shuffle(size_list_t *sizes, int64_t seed)
{
    uint64_t state = (uint64_t)seed;
    for (int64_t i = sizes->count - 1; i > 0; i--) {
        int64_t other = (int64_t)(random_next(&state) % (uint64_t)(i + 1));
        int64_t size = sizes->bytes[i];
        sizes->bytes[i] = sizes->bytes[other];
        sizes->bytes[other] = size;
    }
}

static bool fit_scheme(const reader_t *reader, job_t *job)
{
    bench_settings_t *settings = &job->settings;
    const char *allowed = communicator_parse(&job->comm, settings->comm, reader->ranks);
    const char *scheme = release_name((int)settings->release);
    if (allowed != NULL)
        return plan_refuse(reader, "option --comm: \"%.60s\" is not allowed, give %s", settings->comm, allowed);
    if (settings->barrier != NOT_GIVEN && !release_schemes[settings->release].has_barrier)
        return plan_refuse(
            reader, "option --barrier is not allowed together with --release %s, give barrier or barrier2", scheme);
    if (settings->window_us >= 0 && settings->release != RELEASE_WINDOW)
        return plan_refuse(reader, "option --window-us is not allowed together with --release %s, give window", scheme);
    if (settings->window_us > 0 && settings->window_us < MIN_WINDOW_US)
        return plan_refuse(reader, "option --window-us: %g is not allowed, give 0 or at least %g", settings->window_us,
                           MIN_WINDOW_US);
    if (settings->test_calls != NOT_GIVEN && !settings->overlap)
        return plan_refuse(reader, "option --test-calls is not allowed without --overlap");
    settings->barrier = settings->barrier == NOT_GIVEN ? 0 : settings->barrier;
    settings->window_us = settings->window_us < 0 ? 0 : settings->window_us;
    settings->test_calls = settings->test_calls == NOT_GIVEN ? 0 : settings->test_calls;
    return true;
}

bool plan_fit(const reader_t *reader, job_t *job, bool named)
{
    if (!fit_scheme(reader, job) || !fit_operation(reader, job, named) || !fit_datatype(reader, job) ||
        !fit_sizes(reader, job))
        return false;
    if (job->settings.shuffle)
        shuffle(&job->settings.sizes, job->settings.seed);
    return true;
}
