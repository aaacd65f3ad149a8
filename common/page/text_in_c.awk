# SPDX-License-Identifier: BSD-3-Clause
#
# A file as a text in C. -v name=NAME: that of the constant, which -v header=HEADER declares.

BEGIN { print "#include \"" header "\"\nconst char " name "[] =" }
{
    gsub(/["\\]/, "\\\\&")
    print "    \"" $0 "\\n\""
}
END { print "    ;" }
