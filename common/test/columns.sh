# shellcheck shell=bash
# The columns of all files, by the tools that write them, and the keys of a manifest.
columns_page() {
    local tool
    cat "$top/common/doc/results.md"
    for tool in bench skew 'clock list' 'clock drift' 'clock check' compare tune \
        trace_check trace_convert trace_report; do
        # A command has two words.
        # shellcheck disable=SC2086
        [ ! -x "$programs/mpix_${tool%% *}" ] || "$programs"/mpix_$tool --help-columns
    done
}
