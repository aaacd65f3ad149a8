/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c - describe errors, agree on them, and raise them on the user's communicator. */
#include "base/error.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CODES = 8 };

/* A code with a text of ours. */
typedef struct mh_code {
    int class;
    int code;        /* MPI_SUCCESS: none */
    bool holds_text; /* this MPI returns our text for a code of a predefined class */
} mh_code;

/* One per error class, made at its first error. MPI is not called under the lock: it may call a handler. */
static struct {
    pthread_mutex_t lock;
    int known;
    mh_code codes[MAX_CODES];
    _Atomic int message_code; /* a code of a class of our own; MPI_SUCCESS until it is needed */
    char last[MH_ERROR_MESSAGE_SIZE];
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .message_code = MPI_SUCCESS};

int mh_fail(mh_error *error, int code, const char *format, ...)
{
    if (error->code == MPI_SUCCESS) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        error->code = code;
    }
    return code;
}

/* The last line of an error text of MPI; in a stack of errors, the cause. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : "";
}

/* MPICH returns a stack of several lines. Keep the first, which names the class, and the last, which is the cause. */
static int fail_in_mpi(mh_error *error, int code, const char *function, char *text)
{
    const char *why = last_line(text);
    text[strcspn(text, "\n")] = '\0';
    char *stack = strstr(text, ", error stack:");
    if (stack)
        *stack = '\0';
    return mh_fail(error, code, "%s failed: %.90s%s%.90s", function, text, why[0] ? ": " : "", why);
}

int mh_check_mpi(mh_error *error, int code, const char *function)
{
    if (code == MPI_SUCCESS)
        return MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(code, text, &length);
    error->alone = true;
    return fail_in_mpi(error, code, function[0] == 'P' ? function + 1 : function, text);
}

int mh_check_user_mpi(mh_error *error, int code, const char *function)
{
    if (code != MPI_SUCCESS)
        error->raised = true;
    return mh_check_mpi(error, code, function);
}

/* The message between processes. Every byte of it is initialized. */
typedef struct mh_common_error {
    int code;
    char message[MH_ERROR_MESSAGE_SIZE];
} mh_common_error;

/* Send the error of the process with rank first to all. */
static int spread(mh_error *error, int rank, int first, MPI_Comm comm)
{
    mh_common_error common = {.code = error->code};
    /* Codes beyond the classes are private to a process: send the class. */
    if (rank == first) {
        PMPI_Error_class(error->code, &common.code);
        snprintf(common.message, sizeof common.message, "%s", error->message);
    }
    int code = PMPI_Bcast(&common, sizeof common, MPI_BYTE, first, comm);
    if (code != MPI_SUCCESS)
        return mh_check_mpi(error, code, "MPI_Bcast");
    error->code = common.code;
    error->alone = false;
    memcpy(error->message, common.message, sizeof error->message);
    return error->code;
}

int mh_error_agree(mh_error *error, MPI_Comm comm)
{
    int rank;
    int code = PMPI_Comm_rank(comm, &rank);
    if (code != MPI_SUCCESS)
        return mh_check_mpi(error, code, "MPI_Comm_rank");
    int mine = error->code == MPI_SUCCESS ? INT_MAX : rank;
    int first;
    code = PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return mh_check_mpi(error, code, "MPI_Allreduce");
    return first == INT_MAX ? MPI_SUCCESS : spread(error, rank, first, comm);
}

/* Before MPI 3.0, and in SimGrid still, the text is not const. */
static int set_text(int code, const char *text)
{
    return PMPI_Add_error_string(code, (char *)text);
}

static int text_is(int code, const char *text)
{
    char kept[MPI_MAX_ERROR_STRING];
    int length;
    return PMPI_Error_string(code, kept, &length) == MPI_SUCCESS && strcmp(kept, text) == 0;
}

static mh_code known_code(int class)
{
    mh_code found = {.code = MPI_SUCCESS};
    pthread_mutex_lock(&registry.lock);
    for (int i = 0; i < registry.known; i++)
        if (registry.codes[i].class == class)
            found = registry.codes[i];
    pthread_mutex_unlock(&registry.lock);
    return found;
}

static void remember_code(mh_code made)
{
    pthread_mutex_lock(&registry.lock);
    if (registry.known < MAX_CODES)
        registry.codes[registry.known++] = made;
    pthread_mutex_unlock(&registry.lock);
}

/* The code for a class; none if it cannot be made. */
static mh_code code_of(int class)
{
    static const char probe[] = "libmpix_harmonize";
    mh_code found = known_code(class);
    if (found.code != MPI_SUCCESS || registry.known == MAX_CODES)
        return found;
    found.class = class;
    if (PMPI_Add_error_code(class, &found.code) != MPI_SUCCESS)
        return (mh_code){.code = MPI_SUCCESS};
    found.holds_text = set_text(found.code, probe) == MPI_SUCCESS && text_is(found.code, probe);
    remember_code(found);
    return found;
}

/*
 * MPICH 4.0 loses the text of codes added to predefined classes: such codes would show an unrelated text. There the
 * plain class is the code; but a handler that ends the program gets a code of a class of ours, as its text is all that
 * the user will see.
 */
static int message_code(const char *message)
{
    int class, code = registry.message_code;
    if (code == MPI_SUCCESS) {
        if (PMPI_Add_error_class(&class) != MPI_SUCCESS || PMPI_Add_error_code(class, &code) != MPI_SUCCESS)
            return MPI_SUCCESS;
        registry.message_code = code;
    }
    set_text(code, message);
    return code;
}

static int handler_is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return 0;
    int fatal = handler == MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
    fatal = fatal || handler == MPI_ERRORS_ABORT;
#endif
    PMPI_Errhandler_free(&handler);
    return fatal;
}

static int code_with_message(MPI_Comm comm, const mh_error *error)
{
    int class = error->code;
    PMPI_Error_class(error->code, &class);
    mh_code ours = code_of(class);
    if (ours.holds_text) {
        set_text(ours.code, error->message);
        return ours.code;
    }
    int code = handler_is_fatal(comm) ? message_code(error->message) : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : class;
}

int mh_error_raise(MPI_Comm comm, const mh_error *error)
{
    pthread_mutex_lock(&registry.lock);
    memcpy(registry.last, error->message, sizeof registry.last);
    pthread_mutex_unlock(&registry.lock);
    bool passed_on = comm == MPI_COMM_NULL || error->raised;
    int code = passed_on ? error->code : code_with_message(comm, error);
    if (!passed_on)
        PMPI_Comm_call_errhandler(comm, code);
    return code;
}

void mh_error_forget_codes(void)
{
    pthread_mutex_lock(&registry.lock);
    registry.known = 0;
    registry.message_code = MPI_SUCCESS;
    pthread_mutex_unlock(&registry.lock);
}

void mh_error_last(char text[MH_ERROR_MESSAGE_SIZE])
{
    pthread_mutex_lock(&registry.lock);
    memcpy(text, registry.last, sizeof registry.last);
    pthread_mutex_unlock(&registry.lock);
}
