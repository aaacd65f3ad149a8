// SPDX-License-Identifier: BSD-3-Clause
// talk.js answer PORT, or talk.js ask HOST PORT TIMES: as talk.py does. Traces have the time of each question until its
// answer, and when an answer is given.
const dgram = require("dgram");
const [what, ...words] = process.argv.slice(2);
const socket = dgram.createSocket("udp4");

function answer(port) {
    socket.on("message", (text, asker) => {
        if (text.toString() === "end")
            return socket.close();
        console.time(text.toString().replace("ask", "answer"));
        socket.send(text.toString().replace("ask", "answer"), asker.port, asker.address);
    });
    socket.bind(port);
}

function ask(host, port, times) {
    let number = -1, isThere = false;
    const hello = setInterval(() => socket.send("hello", port, host), 100);
    const next = () => {
        if (++number === times)
            return socket.send("end", port, host, () => socket.close());
        console.time(`ask ${number}`);
        socket.send(`ask ${number}`, port, host);
    };
    socket.on("message", (text) => {
        if (text.toString() === "hello" ? !isThere : text.toString() === `answer ${number}`) {
            isThere = true;
            clearInterval(hello);
            if (number >= 0)
                console.timeEnd(`ask ${number}`);
            setTimeout(next, 2);
        }
    });
}

if (what === "answer")
    answer(Number(words[0]));
else
    ask(words[0], Number(words[1]), Number(words[2]));
