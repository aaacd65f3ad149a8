# SPDX-License-Identifier: BSD-3-Clause
"""talk.py answer PORT, or talk.py ask HOST PORT TIMES: questions and answers over UDP, in turn, each with a number.

Memory is allocated before a question (1,000,000 bytes and the number), before its answer (2,000,000) and after it
(3,000,000), for tracers of malloc.
"""

import ctypes
import socket
import sys
import time


LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.free.argtypes = [ctypes.c_void_p]


def mark(size):
    LIBC.free(LIBC.malloc(size))


def reply_one(sock, text, asker):
    if text.startswith(b"ask"):
        mark(2000000 + int(text[4:]))
    sock.sendto(text.replace(b"ask", b"answer"), asker)


def ask_one(sock, number):
    mark(1000000 + number)
    sock.send(b"ask %d" % number)
    while sock.recv(100) != b"answer %d" % number:
        pass
    mark(3000000 + number)


def answer(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(30)
        sock.bind(("", port))
        while True:
            text, asker = sock.recvfrom(100)
            if text == b"end":
                break
            reply_one(sock, text, asker)


def ask(host, port, times):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((host, port))
        sock.settimeout(0.1)
        for _ in range(100):  # until somebody answers
            try:
                sock.send(b"hello")
                sock.recv(100)
                break
            except OSError:
                time.sleep(0.1)
        sock.settimeout(10)
        for number in range(times):
            ask_one(sock, number)
            time.sleep(0.0015)
        sock.send(b"end")


if sys.argv[1] == "answer":
    answer(int(sys.argv[2]))
else:
    ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
