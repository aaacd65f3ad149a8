# shellcheck shell=bash
# Locales that are made where the system has none of them, to be sourced after run.sh.
locales="de_DE:UTF-8 tr_TR:UTF-8 tr_TR:ISO-8859-9"

make_locale() {     # NAME CHARSET: leaves $locale, or why it cannot be made
    locale=$1.$2
    why=
    if ! command -v localedef >/dev/null 2>&1; then
        why="there is no localedef"
    elif [ ! -e "/usr/share/i18n/locales/$1" ]; then
        why="there are no sources of locales (Debian package: locales)"
    elif ! localedef -i "$1" -f "$2" "$scratch/$locale" >"$scratch/log" 2>&1 && [ ! -d "$scratch/$locale" ]; then
        why="localedef fails: $(tail -n 1 "$scratch/log")"
    fi
}

in_locale() {       # RANKS COMMAND...
    launch "$1" env LOCPATH="$scratch" LC_ALL="$locale" "${@:2}" >"$scratch/out" 2>"$scratch/err" </dev/null && return
    echo "$* fails:"
    tail -n 20 "$scratch/out" "$scratch/err"
}
