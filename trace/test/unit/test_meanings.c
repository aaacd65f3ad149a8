/* SPDX-License-Identifier: BSD-3-Clause */
/* test_meanings.c - what functions of MPI mean, by their names. */
#include "unit/support.h"
#include "trace/read/meanings.h"
#ifdef HAS_FUNCTIONS
#include "generated/functions.h"
#endif

TEST(forms_of_functions_mean_the_same)
{
    static const char *const forms[] = {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_c", "MPI_Bcast_init", "MPI_Bcast_init_c"};
    for (int i = 0; i < COUNT_OF(forms); i++)
        EXPECT(meaning_of(forms[i]) && meaning_of(forms[i])->wait == WAIT_FROM_ROOT, "%s", forms[i]);
    EXPECT(meaning_of("MPI_File_iwrite_at_all")->means == MEANS_UNSEEN, "a collective write");
    EXPECT(meaning_of("MPI_Type_commit")->means == MEANS_LOCAL, "a local call");
    EXPECT(!meaning_of("MPI_Bcas") && !meaning_of("region 3"), "what is no function of MPI");
}

/* A function of MPI may wait, or not: one of which the table does not say it is new. */
TEST(all_functions_are_known)
{
#ifdef HAS_FUNCTIONS
#define NAME(name) "MPI_" #name,
    static const char *const names[] = {INTERPOSE_FUNCTIONS(NAME)};
    for (int i = 0; i < COUNT_OF(names); i++)
        EXPECT(meaning_of(names[i]), "%s is not in trace/front/meanings.txt", names[i]);
#endif
}
