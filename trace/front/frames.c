/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.c - the tables of call frames, as the DWARF standard has them, in the form of .eh_frame sections. Of all
 * registers only the stack pointer, the frame pointer and the return address matter here. What compilers do not write
 * is not understood: then the caller is not known.
 */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "trace/front/frames.h"

#include "trace/shared/interposer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
enum { FP = 6, SP = 7, RETURN = 16 };
#elif defined __i386__
enum { SP = 4, FP = 5, RETURN = 8 };
#elif defined __aarch64__
enum { FP = 29, RETURN = 30, SP = 31 };
#else
enum { FP = -1, SP = -2, RETURN = -3 };
#endif

/* Of the compiler's library, which also knows the tables of code that was made at run time. */
typedef struct {
    void *text, *data, *function;
} table_bases;
extern const void *_Unwind_Find_FDE(void *pc, table_bases *bases);

typedef enum { RULE_SAME, RULE_AT_BASE, RULE_AT_FP, RULE_OTHER } rule_kind;
typedef struct {
    rule_kind kind;
    int64_t offset;
} rule;

typedef struct {
    int base; /* a register, or -1: it is not understood */
    bool is_in_memory;
    int64_t offset;
    rule fp, address;
} state;

enum { STATES = 8, VERSION_4 = 4 };
typedef struct {
    const uint8_t *next, *end;
    uint64_t code_step;
    int64_t data_step;
    uint64_t location; /* from the beginning of the function */
    state now, initial, kept[STATES];
    int kept_count;
    bool is_wrong;
} reader;

/* ---- Numbers */

static uint64_t read_bytes(reader *from, size_t bytes)
{
    uint64_t number = 0;
    if (from->next > from->end || (size_t)(from->end - from->next) < bytes) {
        from->is_wrong = true;
        from->next = from->end;
        return 0;
    }
    memcpy(&number, from->next, bytes); /* all of these processors have the least byte first */
    from->next += bytes;
    return number;
}

/* In groups of seven bits. */
static uint64_t read_number(reader *from)
{
    uint64_t number = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
        byte = read_bytes(from, 1);
        number |= (byte & 0x7f) << shift;
    }
    return number;
}

static int64_t read_signed(reader *from)
{
    uint64_t number = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && shift < 64; shift += 7) {
        byte = read_bytes(from, 1);
        number |= (byte & 0x7f) << shift;
    }
    return (int64_t)(byte & 0x40 && shift < 64 ? number | ~UINT64_C(0) << shift : number);
}

/* So many bytes an address of such a form has. 0: it is of another form. */
static size_t address_bytes(unsigned form)
{
    static const uint8_t bytes[] = {
        [0x0] = sizeof(void *), [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    return (form & 0xf) < sizeof bytes ? bytes[form & 0xf] : 0;
}

/* ---- Instructions */

static rule *rule_of(reader *its, uint64_t number)
{
    return number == (uint64_t)FP ? &its->now.fp : number == (uint64_t)RETURN ? &its->now.address : NULL;
}

static void set(reader *its, uint64_t number, rule_kind kind, int64_t offset)
{
    rule *of = rule_of(its, number);
    if (of)
        *of = (rule){kind, offset};
}

static void restore(reader *its, uint64_t number)
{
    rule *of = rule_of(its, number);
    if (of)
        *of = number == (uint64_t)FP ? its->initial.fp : its->initial.address;
}

/* Where stacks are aligned, the place is that of the frame pointer and an offset, or is in memory there. */
static void read_expression(reader *its, bool is_of_base, uint64_t number)
{
    enum { REGISTER = 0x70, IN_MEMORY = 0x06 };
    const uint64_t bytes = read_number(its);
    if (bytes > (uint64_t)(its->end - its->next)) {
        its->is_wrong = true;
        return;
    }
    reader part = {.next = its->next, .end = its->next + bytes};
    its->next += bytes;
    const bool is_by_fp = read_bytes(&part, 1) == REGISTER + (uint64_t)FP;
    const int64_t offset = read_signed(&part);
    const bool has_more = part.next < part.end, is_loaded = has_more && read_bytes(&part, 1) == IN_MEMORY;
    const bool is_known =
        is_by_fp && !part.is_wrong && part.next == part.end && has_more == is_of_base && is_loaded == is_of_base;
    if (!is_of_base) {
        set(its, number, is_known ? RULE_AT_FP : RULE_OTHER, offset);
        return;
    }
    its->now.base = is_known ? FP : -1;
    its->now.is_in_memory = true;
    its->now.offset = offset;
}

static void set_base(reader *its, uint64_t number, int64_t offset)
{
    its->now.base = number == (uint64_t)SP || number == (uint64_t)FP ? (int)number : -1;
    its->now.is_in_memory = false;
    its->now.offset = offset;
}

static void run_other(reader *its, unsigned code)
{
    uint64_t number;
    switch (code) {
    case 0x00: /* nothing */
    case 0x2d: /* addresses are signed from here on, or no longer */
        break;
    case 0x02:
    case 0x03:
    case 0x04: /* go on by a number of 1, 2 or 4 bytes */
        its->location += read_bytes(its, (size_t)1 << (code - 2)) * its->code_step;
        break;
    case 0x05: /* saved at an offset */
        number = read_number(its);
        set(its, number, RULE_AT_BASE, (int64_t)read_number(its) * its->data_step);
        break;
    case 0x06:
        restore(its, read_number(its));
        break;
    case 0x07: /* undefined */
        set(its, read_number(its), RULE_OTHER, 0);
        break;
    case 0x08:
        set(its, read_number(its), RULE_SAME, 0);
        break;
    case 0x09: /* in another register */
        set(its, read_number(its), RULE_OTHER, 0);
        read_number(its);
        break;
    case 0x0a: /* remember */
        its->is_wrong = its->is_wrong || its->kept_count == STATES;
        if (!its->is_wrong)
            its->kept[its->kept_count++] = its->now;
        break;
    case 0x0b: /* go back to what was remembered */
        its->is_wrong = its->is_wrong || its->kept_count == 0;
        if (!its->is_wrong)
            its->now = its->kept[--its->kept_count];
        break;
    case 0x0c: /* the base is a register and an offset */
        number = read_number(its);
        set_base(its, number, (int64_t)read_number(its));
        break;
    case 0x0d:
        set_base(its, read_number(its), its->now.offset);
        break;
    case 0x0e:
        its->now.offset = (int64_t)read_number(its);
        break;
    case 0x0f:
        read_expression(its, true, 0);
        break;
    case 0x10:
        number = read_number(its);
        read_expression(its, false, number);
        break;
    case 0x11:
        number = read_number(its);
        set(its, number, RULE_AT_BASE, read_signed(its) * its->data_step);
        break;
    case 0x12:
        number = read_number(its);
        set_base(its, number, read_signed(its) * its->data_step);
        break;
    case 0x13:
        its->now.offset = read_signed(its) * its->data_step;
        break;
    case 0x2e: /* the size of arguments */
        read_number(its);
        break;
    default:
        its->is_wrong = true;
    }
}

/* Up to the state at a location. */
static void run(reader *its, uint64_t until)
{
    while (its->next < its->end && !its->is_wrong) {
        const unsigned code = (unsigned)read_bytes(its, 1), low = code & 0x3f;
        switch (code & 0xc0) {
        case 0x40:
            its->location += low * its->code_step;
            break;
        case 0x80:
            set(its, low, RULE_AT_BASE, (int64_t)read_number(its) * its->data_step);
            break;
        case 0xc0:
            restore(its, low);
            break;
        default:
            run_other(its, code);
        }
        if (its->location > until)
            return;
    }
}

/* ---- A table has entries of functions, and what several of these have in common */

/* Returns the end of an entry, whose length comes first; NULL: it is of a form with more bits. */
static const uint8_t *end_of(const uint8_t *entry)
{
    uint32_t length;
    memcpy(&length, entry, sizeof length);
    return length == UINT32_MAX ? NULL : entry + sizeof length + length;
}

/* Runs what is common. Returns the form of addresses in entries of functions, or 0xff: it is not understood. */
static unsigned run_common(reader *its, const uint8_t *common, bool *has_size)
{
    unsigned form = 0;
    its->end = end_of(common);
    its->next = common + 2 * sizeof(uint32_t);
    if (!its->end)
        return 0xff;
    const uint64_t version = read_bytes(its, 1);
    const char *letters = (const char *)its->next;
    its->next += strlen(letters) + 1;
    if (version >= VERSION_4)
        return 0xff;
    its->code_step = read_number(its);
    its->data_step = read_signed(its);
    const uint64_t address = version == 1 ? read_bytes(its, 1) : read_number(its);
    *has_size = letters[0] == 'z';
    const uint8_t *instructions = its->next;
    if (*has_size) {
        const uint64_t bytes = read_number(its);
        instructions = its->next + bytes;
    }
    for (const char *letter = letters + *has_size; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            form = (unsigned)read_bytes(its, 1);
        } else if (*letter == 'L') {
            read_bytes(its, 1);
        } else if (*letter == 'P') {
            const size_t bytes = address_bytes((unsigned)read_bytes(its, 1));
            its->is_wrong = its->is_wrong || bytes == 0;
            read_bytes(its, bytes);
        } else if (*letter != 'B') {
            return 0xff; /* the frame of a signal, or something else */
        }
    }
    its->next = instructions;
    run(its, UINT64_MAX);
    its->initial = its->now;
    return address == (uint64_t)RETURN && !its->is_wrong ? form : 0xff;
}

static bool find_state(uintptr_t pc, state *found)
{
    const uintptr_t call = pc - 1; /* the call is before it, at the end of a function perhaps */
    table_bases bases = {0};
    const uint8_t *entry = _Unwind_Find_FDE((void *)call, &bases), *end = entry ? end_of(entry) : NULL;
    uint32_t back;
    bool has_size = false;
    if (!end)
        return false;
    memcpy(&back, entry + sizeof back, sizeof back);
    reader its = {.now = {.base = -1}};
#if defined __aarch64__
    its.now.address.kind = RULE_OTHER; /* unless it is saved, there is no caller but the last */
#endif
    const unsigned form = run_common(&its, entry + sizeof back - back, &has_size);
    const size_t bytes = form == 0xff ? 0 : address_bytes(form);
    if (bytes == 0)
        return false;
    its.next = entry + 2 * sizeof back + 2 * bytes;
    its.end = end;
    if (has_size) {
        const uint64_t more = read_number(&its);
        its.next += more;
    }
    its.location = 0;
    run(&its, call - (uintptr_t)bases.function);
    *found = its.now;
    return !its.is_wrong;
}

/* ---- What is kept */

/* How to find the caller at a place: its stack pointer, from which the rest is counted. All offsets are in words. */
typedef union {
    struct {
        int64_t base_offset : 24, address_offset : 18, fp_offset : 18;
        uint64_t base : 2, fp : 2;
    };
    uint64_t bits;
} row;
enum { BASE_UNKNOWN, BASE_BY_SP, BASE_BY_FP, BASE_AT_FP }; /* AT: it is in memory there */
enum { FP_SAME, FP_SAVED, FP_SAVED_AT_FP };                /* AT: counted from the frame pointer as it was */

static bool is_in_words(int64_t offset, unsigned bits)
{
    const int64_t words = offset / (int64_t)sizeof(uintptr_t), limit = INT64_C(1) << (bits - 1);
    return offset % (int64_t)sizeof(uintptr_t) == 0 && words >= -limit && words < limit;
}

static row find_row(uintptr_t pc)
{
    enum { WORD = sizeof(uintptr_t) };
    state found;
    if (!find_state(pc, &found) || found.base < 0 || found.fp.kind == RULE_OTHER ||
        found.address.kind != RULE_AT_BASE || !is_in_words(found.offset, 24) ||
        !is_in_words(found.address.offset, 18) || !is_in_words(found.fp.offset, 18))
        return (row){.bits = 0};
    return (row){.base_offset = found.offset / WORD,
                 .address_offset = found.address.offset / WORD,
                 .fp_offset = found.fp.offset / WORD,
                 .base = found.is_in_memory ? BASE_AT_FP
                         : found.base == SP ? BASE_BY_SP
                                            : BASE_BY_FP,
                 .fp = found.fp.kind == RULE_SAME      ? FP_SAME
                       : found.fp.kind == RULE_AT_BASE ? FP_SAVED
                                                       : FP_SAVED_AT_FP};
}

/* Threads may write at once: the key of one row and another row are of no place. */
static row row_at(uintptr_t pc)
{
    enum { KNOWN_BITS = 12, ALL_BITS = 64 };
    static struct {
        _Atomic uint64_t key, bits;
    } known[1 << KNOWN_BITS];
    const uint64_t slot = trace_hash(pc, KNOWN_BITS);
    row its = {.bits = atomic_load_explicit(&known[slot].bits, memory_order_relaxed)};
    if ((atomic_load_explicit(&known[slot].key, memory_order_relaxed) ^ trace_hash(its.bits, ALL_BITS)) != pc) {
        its = find_row(pc);
        atomic_store_explicit(&known[slot].bits, its.bits, memory_order_relaxed);
        atomic_store_explicit(&known[slot].key, pc ^ trace_hash(its.bits, ALL_BITS), memory_order_relaxed);
    }
    return its;
}

/* ---- A step */

/* Where its size has no limit, the first stack is said to reach down to what is mapped below it: so much at most. */
enum { MOST_BYTES = 64 << 20 };

static bool has_limit(void)
{
    struct rlimit limit;
    return syscall(SYS_gettid) != getpid() || (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY);
}

frames_stack mh_frames_stack(void)
{
    frames_stack stack = {1, 1};
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t bytes = 0;
    const int error = errno;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
            stack = (frames_stack){(uintptr_t)begin, (uintptr_t)begin + bytes};
        pthread_attr_destroy(&attributes);
    }
    if (stack.end - stack.begin > MOST_BYTES && !has_limit())
        stack.begin = stack.end - MOST_BYTES;
    errno = error;
    return stack;
}

static uintptr_t at_offset(uintptr_t from, int64_t words)
{
    return from + (uintptr_t)words * sizeof from;
}

/* Returns false if the address is not above sp on the stack. */
__attribute__((no_sanitize("address"))) static bool load(const frames_stack *stack, uintptr_t sp, uintptr_t at,
                                                         frames_word *word)
{
    if (at < sp || at > stack->end - sizeof at || at % sizeof at != 0)
        return false;
    *word = (frames_word){at, *(const uintptr_t *)at};
    return true;
}

/* Without the signature that a return address may have. */
static uintptr_t plain(uintptr_t address)
{
#ifdef __aarch64__
    register uintptr_t its __asm__("x30") = address;
    __asm__("hint #7" : "+r"(its));
    return its;
#else
    return address;
#endif
}

static void keep(frames_trail *trail, frames_word word)
{
    if (trail->word_count < FRAMES_WORDS)
        trail->words[trail->word_count] = word;
    if (trail->word_count <= FRAMES_WORDS)
        trail->word_count++;
}

/* A frame pointer that nobody uses may change from call to call. */
static void keep_fp(frames_walk *walk)
{
    if (walk->fp.at != 0)
        keep(&walk->trail, walk->fp);
    else
        walk->trail.takes_fp = true;
}

bool mh_frames_go_up(const frames_stack *stack, frames_walk *walk)
{
    const frames_place place = walk->now;
    if (place.sp < stack->begin || place.sp >= stack->end)
        return false;
    const row its = row_at(place.pc);
    frames_word base, fp = walk->fp, address;
    uintptr_t sp = at_offset(its.base == BASE_BY_SP ? place.sp : place.fp, its.base_offset);
    if (its.base == BASE_UNKNOWN)
        return false;
    if (its.base != BASE_BY_SP || its.fp == FP_SAVED_AT_FP)
        keep_fp(walk);
    if (its.base == BASE_AT_FP) {
        if (!load(stack, place.sp, sp, &base))
            return false;
        keep(&walk->trail, base);
        sp = base.value;
    }
    if (sp <= place.sp || sp > stack->end || !load(stack, place.sp, at_offset(sp, its.address_offset), &address) ||
        (its.fp != FP_SAME &&
         !load(stack, place.sp, at_offset(its.fp == FP_SAVED ? sp : place.fp, its.fp_offset), &fp)))
        return false;
    keep(&walk->trail, address);
    walk->fp = fp;
    walk->now = (frames_place){plain(address.value), sp, its.fp == FP_SAME ? place.fp : fp.value};
    return walk->now.pc != 0;
}
