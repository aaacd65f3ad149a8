/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_append(char *text, size_t text_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, text_bytes - used, format, arguments);
    va_end(arguments);
}
