# SPDX-License-Identifier: BSD-3-Clause
"""talk.py answer PORT, or talk.py ask HOST PORT TIMES: questions and answers over UDP, in turn, each with a number."""

import socket
import sys
import time


def reply_one(sock, text, asker):
    sock.sendto(text.replace(b"ask", b"answer"), asker)


def ask_one(sock, number):
    sock.send(b"ask %d" % number)
    while sock.recv(100) != b"answer %d" % number:
        pass


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
