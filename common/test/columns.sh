# shellcheck shell=bash
# The columns of all files, by the tools that write them, and the keys of a manifest.
columns_page() {
    local tool
    cat "$top/common/doc/results.md"
    while read -r tool; do
        # A command has two words.
        # shellcheck disable=SC2086
        [ ! -x "$programs/${tool%% *}" ] || "$programs"/$tool --help-columns
    done < <(sed -n '/^## Columns/,/^## `/s/^| `\(mpix_[^`]*\)`.*/\1/p' "$top/common/doc/results.md")
}
