# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# A program for launches: "say 1" prints results, of column x.
cat >say <<'END'
#!/bin/sh
echo '{"schema":"test","version":2,"columns":[{"name":"x","role":"key","type":"number"}]}'
echo "{\"x\":$1}"
END
chmod +x say
