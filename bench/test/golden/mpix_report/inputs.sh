# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Results of one launch, a campaign, and another one of which no launch is done.
#
# Variables are those of test/programs/run.sh:
# shellcheck disable=SC2154
{
    json_head mpix-bench "$bench_columns"
    echo '{"operation":"bcast","size_bytes":8,"median_ns":1000}'
    echo '{"operation":"bcast","size_bytes":64,"median_ns":1100}'
} >good.json
mkdir -p pending campaign/a campaign/b
write_manifest campaign 1 a b
cp good.json campaign/a/001.json
cp good.json campaign/b/001.json
write_manifest pending 3 a b
sed -i 's/"done"/"pending"/' pending/manifest.json
