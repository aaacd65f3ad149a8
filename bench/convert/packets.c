/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packets.c - captured packets: pcap (the format of libpcap's savefiles) and pcapng (the IETF draft opsawg-pcapng).
 * Written times are in nanoseconds, whatever those read are in. All else is copied.
 */
#include "bench/convert/conversion.h"

#include "pure/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCK_BYTES = 1 << 28, MAX_INTERFACES = 1000 };

static uint32_t swap_bytes(uint32_t number, bool swaps)
{
    return swaps ? __builtin_bswap32(number) : number;
}

static uint32_t get(const unsigned char *at, bool swaps)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return swap_bytes(number, swaps);
}

static void put(unsigned char *at, uint32_t number, bool swaps)
{
    number = swap_bytes(number, swaps);
    memcpy(at, &number, sizeof number);
}

static bool reads(FILE *from, void *to, size_t bytes)
{
    return fread(to, 1, bytes, from) == bytes;
}

/* ---- pcap: a head of 24 bytes, then packets with a head of 16: seconds, fraction, bytes here, bytes in the network */

#define PCAP_US 0xa1b2c3d4U
#define PCAP_NS 0xa1b23c4dU
enum { PCAP_HEAD = 24, PCAP_PACKET = 16 };

static bool convert_pcap(conversion_t *conversion, FILE *from, FILE *to, const unsigned char magic[4])
{
    unsigned char head[PCAP_HEAD], packet[PCAP_PACKET], *bytes = NULL;
    const bool swaps = get(magic, false) != PCAP_US && get(magic, false) != PCAP_NS;
    const int64_t unit_ns = get(magic, swaps) == PCAP_US ? MH_NS_PER_US : 1;
    bool is_good = true;
    size_t got = 0;
    memcpy(head, magic, 4);
    if (!reads(from, head + 4, PCAP_HEAD - 4))
        return convert_fail(conversion, "ends in its head");
    put(head, PCAP_NS, swaps);
    fwrite(head, 1, PCAP_HEAD, to);
    while (is_good && (got = fread(packet, 1, PCAP_PACKET, from)) == PCAP_PACKET) {
        converted_t time;
        const uint32_t length = get(packet + 8, swaps);
        if (length > MAX_BLOCK_BYTES)
            return free(bytes),
                   convert_fail(conversion, "packet %" PRId64 " has an impossible length", conversion->times + 1);
        unsigned char *grown = realloc(bytes, length > 0 ? length : 1);
        if (!grown)
            return free(bytes), convert_fail(conversion, "out of memory");
        bytes = grown;
        if (!reads(from, bytes, length)) {
            got = 1;
            break;
        }
        is_good = convert_time(
            conversion, (int64_t)get(packet, swaps) * MH_NS_PER_S + (int64_t)get(packet + 4, swaps) * unit_ns, &time);
        if (is_good && (time.ns < 0 || time.ns / MH_NS_PER_S > UINT32_MAX))
            is_good = convert_fail(conversion, "a time is before 1970, which a pcap file cannot have");
        if (!is_good)
            continue;
        put(packet, (uint32_t)(time.ns / MH_NS_PER_S), swaps);
        put(packet + 4, (uint32_t)(time.ns % MH_NS_PER_S), swaps);
        fwrite(packet, 1, PCAP_PACKET, to);
        fwrite(bytes, 1, length, to);
    }
    if (is_good && got > 0)
        conversion->torn = "a packet";
    free(bytes);
    return is_good;
}

/* ---- pcapng: blocks of a type, their length, what they hold, and the length again */

enum { SECTION = 0x0a0d0d0a, INTERFACE = 1, OLD_PACKET = 2, STATISTICS = 5, ENHANCED_PACKET = 6 };
enum { OPTION_END = 0, OPTION_RESOLUTION = 9, OPTION_TIME_OFFSET = 14 };
enum { NANOSECONDS = 9 };    /* of the option: 10^-9 s */
enum { SECTION_LENGTH = 8 }; /* in a section's block: its place */
#define BYTE_ORDER_MAGIC 0x1a2b3c4dU

typedef struct interface {
    double unit_ns;        /* of the times in its packets */
    int64_t whole_unit_ns; /* the same, if it is a whole number; else 0 */
    int64_t offset_s;
} interface_t;

typedef struct capture {
    conversion_t *conversion;
    FILE *to;
    bool swaps;
    interface_t interfaces[MAX_INTERFACES];
    int count;
} capture_t;

static uint32_t get_short(const unsigned char *at, bool swaps)
{
    return swaps ? (uint32_t)(at[0] << 8 | at[1]) : (uint32_t)(at[1] << 8 | at[0]);
}

/* On this machine, numbers have the low byte first, or `swaps` is meant the other way round. */
static bool low_first(const capture_t *of)
{
    const uint16_t one = 1;
    return (*(const unsigned char *)&one == 1) == !of->swaps;
}

static void write_block(const capture_t *of, uint32_t type, const unsigned char *body, uint32_t bytes)
{
    unsigned char head[8], tail[4];
    put(head, type, of->swaps);
    put(head + 4, bytes + 12, of->swaps);
    put(tail, bytes + 12, of->swaps);
    fwrite(head, 1, sizeof head, of->to);
    fwrite(body, 1, bytes, of->to);
    fwrite(tail, 1, sizeof tail, of->to);
}

/* Takes the unit of an interface's times from its options, and writes the interface with nanoseconds. */
static bool take_interface(capture_t *of, const unsigned char *body, uint32_t bytes)
{
    interface_t its = {MH_NS_PER_US, MH_NS_PER_US, 0};
    unsigned char *out = malloc(bytes + 16);
    uint32_t at = 8, kept = 8;
    if (!out || of->count == MAX_INTERFACES || bytes < 8)
        return free(out), convert_fail(of->conversion, "has an interface that cannot be read");
    memcpy(out, body, 8);
    while (at + 4 <= bytes) {
        const uint32_t code = get_short(body + at, !low_first(of)), length = get_short(body + at + 2, !low_first(of));
        const uint32_t padded = (length + 3) / 4 * 4;
        if (code == OPTION_END || at + 4 + padded > bytes)
            break;
        const unsigned char *value = body + at + 4;
        if (code == OPTION_RESOLUTION && length >= 1) {
            its.unit_ns = 1e9;
            its.whole_unit_ns = MH_NS_PER_S;
            for (int i = 0; i < (value[0] & 0x7f); i++) {
                its.unit_ns /= value[0] & 0x80 ? 2 : 10;
                its.whole_unit_ns = its.whole_unit_ns % (value[0] & 0x80 ? 2 : 10) == 0
                                        ? its.whole_unit_ns / (value[0] & 0x80 ? 2 : 10)
                                        : 0;
            }
        } else if (code == OPTION_TIME_OFFSET && length == 8) {
            its.offset_s = (int64_t)((uint64_t)get(value + (low_first(of) ? 4 : 0), of->swaps) << 32 |
                                     get(value + (low_first(of) ? 0 : 4), of->swaps));
        } else {
            memcpy(out + kept, body + at, 4 + padded);
            kept += 4 + padded;
        }
        at += 4 + padded;
    }
    memset(out + kept, 0, 12);
    out[kept + (low_first(of) ? 0 : 1)] = OPTION_RESOLUTION;
    out[kept + (low_first(of) ? 2 : 3)] = 1;
    out[kept + 4] = NANOSECONDS;
    write_block(of, INTERFACE, out, kept + 12);
    free(out);
    of->interfaces[of->count++] = its;
    return true;
}

/* A time of 64 bits, high half first, at `at` in a block of an interface. */
static bool take_time(capture_t *of, uint32_t interface, unsigned char *at)
{
    converted_t time;
    if (interface >= (uint32_t)of->count)
        return convert_fail(of->conversion, "has a packet of an interface that it does not have");
    const interface_t *its = &of->interfaces[interface];
    const uint64_t units = (uint64_t)get(at, of->swaps) << 32 | get(at + 4, of->swaps);
    const long double fine_ns = (long double)units * its->unit_ns;
    int64_t ns = fine_ns < 9e18L ? (int64_t)fine_ns : INT64_MAX, offset_ns;
    if (its->whole_unit_ns > 0 && __builtin_mul_overflow(units, its->whole_unit_ns, &ns))
        ns = INT64_MAX;
    if (ns == INT64_MAX || __builtin_mul_overflow(its->offset_s, MH_NS_PER_S, &offset_ns) ||
        __builtin_add_overflow(ns, offset_ns, &ns))
        return convert_fail(of->conversion, "a time is too large");
    if (!convert_time(of->conversion, ns, &time))
        return false;
    if (time.ns < 0)
        return convert_fail(of->conversion, "a time is before 1970, which a pcapng file cannot have");
    put(at, (uint32_t)((uint64_t)time.ns >> 32), of->swaps);
    put(at + 4, (uint32_t)(uint64_t)time.ns, of->swaps);
    return true;
}

/* Statistics have the first and the last time of the capture as options. */
static bool take_statistics(capture_t *of, unsigned char *body, uint32_t bytes)
{
    enum { BEGIN_OF_OPTIONS = 12, START_TIME = 2, END_TIME = 3 };
    const uint32_t interface = get(body, of->swaps);
    bool is_good = take_time(of, interface, body + 4);
    for (uint32_t at = BEGIN_OF_OPTIONS; is_good && at + 4 <= bytes;) {
        const uint32_t code = get_short(body + at, !low_first(of)), length = get_short(body + at + 2, !low_first(of));
        if (code == OPTION_END || at + 4 + (length + 3) / 4 * 4 > bytes)
            break;
        if ((code == START_TIME || code == END_TIME) && length == 8)
            is_good = take_time(of, interface, body + at + 4);
        at += 4 + (length + 3) / 4 * 4;
    }
    return is_good;
}

static bool take_block(capture_t *of, uint32_t type, unsigned char *body, uint32_t bytes)
{
    switch (type) {
    case SECTION:
        of->count = 0;
        if (bytes >= SECTION_LENGTH + 8)
            memset(body + SECTION_LENGTH, 0xff, 8); /* not known: interfaces get longer */
        break;
    case INTERFACE:
        return take_interface(of, body, bytes);
    case ENHANCED_PACKET:
    case STATISTICS:
        if (bytes < 12)
            return convert_fail(of->conversion, "has a packet that is torn");
        if (type == STATISTICS ? !take_statistics(of, body, bytes) : !take_time(of, get(body, of->swaps), body + 4))
            return false;
        break;
    case OLD_PACKET:
        return convert_fail(of->conversion, "has packets of a form that is obsolete: let editcap write it anew");
    default:
        break;
    }
    write_block(of, type, body, bytes);
    return true;
}

static bool convert_pcapng(conversion_t *conversion, FILE *from, FILE *to, const unsigned char magic[4])
{
    static capture_t of;
    unsigned char head[12], *body = NULL;
    size_t got = 4;
    bool is_good = true;
    of = (capture_t){.conversion = conversion, .to = to};
    memcpy(head, magic, 4);
    do {
        /* The magic number of a section says how numbers are stored, its own length included. */
        const bool is_section = get(head, false) == (uint32_t)SECTION;
        const size_t head_bytes = is_section ? 12 : 8;
        if (got < 4 || !reads(from, head + 4, head_bytes - 4)) {
            conversion->torn = "a block";
            break;
        }
        if (is_section)
            of.swaps = get(head + 8, false) != BYTE_ORDER_MAGIC;
        const uint32_t length = get(head + 4, of.swaps), bytes = length - 12;
        if (length < 12 || length % 4 != 0 || bytes > MAX_BLOCK_BYTES || (is_section && bytes < 4))
            return free(body), convert_fail(conversion, "has a block of an impossible length");
        unsigned char *grown = realloc(body, bytes + 4);
        if (!grown)
            return free(body), convert_fail(conversion, "out of memory");
        body = grown;
        const uint32_t had = is_section ? 4 : 0;
        memcpy(body, head + 8, had);
        if (!reads(from, body + had, bytes + 4 - had)) {
            conversion->torn = "a block";
            break;
        }
        is_good = take_block(&of, get(head, of.swaps), body, bytes);
    } while (is_good && (got = fread(head, 1, 4, from)) > 0);
    free(body);
    return is_good;
}

bool convert_packets(conversion_t *conversion, FILE *from, FILE *to)
{
    unsigned char magic[4];
    if (!reads(from, magic, 4))
        return convert_fail(conversion, "is empty");
    for (int swaps = 0; swaps <= 1; swaps++)
        if (get(magic, swaps) == PCAP_US || get(magic, swaps) == PCAP_NS)
            return convert_pcap(conversion, from, to, magic);
    if (get(magic, false) == (uint32_t)SECTION)
        return convert_pcapng(conversion, from, to, magic);
    return convert_fail(conversion, "is no file of captured packets, neither pcap nor pcapng");
}
