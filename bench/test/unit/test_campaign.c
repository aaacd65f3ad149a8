/* SPDX-License-Identifier: BSD-3-Clause */
/* test_campaign.c - what launches a campaign makes. */
#include "bench/campaign/campaign.h"
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A launch that succeeded took the rest of the time for all. */
TEST(no_launch_begins_when_the_time_is_over)
{
    char folder[] = "/tmp/test_campaign.XXXXXX", path[sizeof folder + 20];
    EXPECT(mkdtemp(folder), "no temporary folder");
    campaign_t campaign = {.manifest = {.program = "test", .directory = folder, .folder = -1},
                           .left_s = CAMPAIGN_LEAST_S};
    json_t *variants = json_pack("[{s:s, s:[s], s:{}}]", "name", "a", "command", "false", "environment");
    ck_assert(manifest_open(&campaign.manifest, variants, 1, 1));
    ck_assert(!campaign_run(&campaign));
    const char *status = json_string_value(json_object_get(json_array_get(campaign.manifest.runs, 0), "status"));
    EXPECT(strcmp(status, "pending") == 0, "the launch is %s", status);
    manifest_close(&campaign.manifest);
    json_decref(variants);
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    unlink(path);
    EXPECT(rmdir(folder) == 0, "there is more than the manifest");
}
