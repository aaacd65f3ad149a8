/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptors.c - which file a descriptor is of, and writing that the program does not notice. */
#define _GNU_SOURCE
#include "trace/shared/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

interpose_file mh_standard_error;

interpose_file mh_file_of(int descriptor)
{
    struct stat status;
    const int error = errno;
    const bool is_open = fstat(descriptor, &status) == 0;
    errno = error;
    return is_open ? (interpose_file){(int64_t)status.st_dev, (int64_t)status.st_ino} : (interpose_file){0};
}

bool mh_is_of_file(int descriptor, interpose_file file)
{
    const interpose_file now = mh_file_of(descriptor);
    return now.device == file.device && now.inode == file.inode && (file.device != 0 || file.inode != 0);
}

static int move_up(int file)
{
    if (file < 0 || file > STDERR_FILENO)
        return file;
    const int higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(file);
    errno = error;
    return higher;
}

int mh_open_file(const char *path, int flags)
{
    return move_up(open(path, flags | O_CLOEXEC, 0666));
}

typedef struct {
    struct sockaddr_un unix_domain;
    socklen_t size;
} socket_address;

/* After an empty character, it is no path. */
static socket_address address_of(int64_t name)
{
    socket_address address = {.unix_domain = {.sun_family = AF_UNIX}};
    char *text = address.unix_domain.sun_path + 1;
    const int length =
        snprintf(text, sizeof address.unix_domain.sun_path - 1, "mpix_harmonize-%016" PRIx64, (uint64_t)name);
    address.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    return address;
}

int mh_socket(int64_t name)
{
    const socket_address address = address_of(name);
    const int it = move_up(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (it < 0 || bind(it, (const struct sockaddr *)&address.unix_domain, address.size) == 0)
        return it;
    close(it);
    return -1;
}

void mh_send_to_socket(int64_t name)
{
    const int error = errno, own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const socket_address address = address_of(name);
    if (own >= 0) {
        sendto(own, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&address.unix_domain, address.size);
        close(own);
    }
    errno = error;
}

void mh_interpose_take_signal(int number)
{
    static const struct timespec at_once;
    sigset_t its;
    sigemptyset(&its);
    sigaddset(&its, number);
    sigtimedwait(&its, NULL, &at_once);
}

int mh_interpose_write(int descriptor, const char *text)
{
    int reason = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (ssize_t done = 0; *text && reason == 0; text += done < 0 ? 0 : done) {
        done = write(descriptor, text, strlen(text));
        reason = done < 0 ? errno : 0;
    }
    if (reason == EFBIG && !sigismember(&before, SIGXFSZ))
        mh_interpose_take_signal(SIGXFSZ);
    if (reason == EPIPE && !sigismember(&before, SIGPIPE))
        mh_interpose_take_signal(SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return reason;
}

void mh_interpose_print_text(const char *text)
{
    const int error = errno;
    if (mh_is_of_file(STDERR_FILENO, mh_standard_error))
        mh_interpose_write(STDERR_FILENO, text);
    errno = error;
}

void mh_interpose_print(const char *format, ...)
{
    char text[3 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mh_interpose_print_text(text);
}
