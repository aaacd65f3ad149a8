# shellcheck shell=bash
# A tree into which the library is installed, as its users have it, to be sourced after run.sh. A script that cannot
# have one ends here, with a reason.

[ "${sanitizers:-no}" = no ] || skip_all "an ordinary program cannot load a library that was built with sanitizers"
launches || skip_all "simulated programs do not use an installed library"

# VARIABLE: what configure chose, from the Makefile. Flags of a make around this one may make it say where it is.
configured() {
    printf 'include Makefile\nprint_configured:\n\t@echo $(%s)\n' "$1" |
        "${MAKE:-make}" -s --no-print-directory -f - print_configured
}

# Sets $root, which the configured directories are below, $libdir, and $suffix, which names of the library end with.
install_once() {
    libdir=$(configured libdir) suffix=$(configured LIBRARY_SUFFIX)
    root=$scratch/root
    # Scripts beside each other install from the same build, one after the other.
    exec 9>install.lock
    flock 9 2>/dev/null
    if ! "${MAKE:-make}" install DESTDIR="$root" >"$scratch/install.log" 2>&1 9>&-; then
        tap_not_ok "make install" "$(tail -n 20 "$scratch/install.log")"
        tap_done
    fi
    exec 9>&-
}

# OPTION...: configures another build with the same compiler and flags, which finds on this machine what the present one
# found, without compiling anything there. dash is faster than bash here.
configure_again() {
    local shell
    shell=$(command -v dash) || shell=${CONFIG_SHELL:-sh}
    [ -e "$scratch/config.cache" ] ||
        sed -n '/^## Cache variables/,/^## Output variables/{ /^ac_cv_env_/d; /^[a-z_]*_cv_/p; }' "$build/config.log" \
            >"$scratch/config.cache"
    CONFIG_SHELL=$shell "$top/configure" CC="$compiler" --cache-file="$scratch/config.cache" \
        --disable-dependency-tracking "$@"
}

# OPTION...: of pkg-config, for the installed library
pkg_config_flags() {
    PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
        PKG_CONFIG_PATH="$root$libdir/pkgconfig:${PKG_CONFIG_PATH-}" \
        "${PKG_CONFIG:-pkg-config}" "$@" "mpix_harmonize$suffix"
}

# RANKS PROGRAM [ARGUMENT]...: runs it with the installed library, both outputs to stdout
run_installed() {
    LD_LIBRARY_PATH="$root$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}" launch "$@" </dev/null 2>&1
}
