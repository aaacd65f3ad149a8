/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/datatypes.h"

#include "suite/elements.h"
#include "suite/operation.h"

#include <string.h>

MPI_Datatype datatype_handle(int index)
{
    const struct {
        const char *name;
        MPI_Datatype handle;
    } handles[] = {
        {"char", MPI_CHAR},
        {"byte", MPI_BYTE},
        {"signed_char", MPI_SIGNED_CHAR},
        {"unsigned_char", MPI_UNSIGNED_CHAR},
        {"short", MPI_SHORT},
        {"unsigned_short", MPI_UNSIGNED_SHORT},
        {"int", MPI_INT},
        {"unsigned", MPI_UNSIGNED},
        {"long", MPI_LONG},
        {"unsigned_long", MPI_UNSIGNED_LONG},
        {"long_long", MPI_LONG_LONG},
        {"float", MPI_FLOAT},
        {"double", MPI_DOUBLE},
        {"long_double", MPI_LONG_DOUBLE},
        {"bool", MPI_C_BOOL},
        {"float_complex", MPI_C_FLOAT_COMPLEX},
        {"double_complex", MPI_C_DOUBLE_COMPLEX},
        {"2int", MPI_2INT},
        {"float_int", MPI_FLOAT_INT},
    };

    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        if (strcmp(handles[i].name, datatype_name(index)) == 0)
            return handles[i].handle;
    return MPI_DATATYPE_NULL;
}

MPI_Op reduction_handle(int index)
{
    const struct {
        const char *name;
        MPI_Op handle;
    } handles[] = {
        {"sum", MPI_SUM},   {"prod", MPI_PROD}, {"max", MPI_MAX},       {"min", MPI_MIN},
        {"land", MPI_LAND}, {"lor", MPI_LOR},   {"lxor", MPI_LXOR},     {"band", MPI_BAND},
        {"bor", MPI_BOR},   {"bxor", MPI_BXOR}, {"maxloc", MPI_MAXLOC}, {"minloc", MPI_MINLOC},
    };

    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        if (strcmp(handles[i].name, reduction_name(index)) == 0)
            return handles[i].handle;
    return MPI_OP_NULL;
}

const char *datatype_name(int index)
{
    const element_t *element = element_at(index);
    return element != NULL ? element->name : NULL;
}

int datatype_bytes(int index)
{
    return element_at(index)->bytes;
}

const char *reduction_name(int index)
{
    const reduction_t *reduction = element_reduction_at(index);
    return reduction != NULL ? element_reduction_name(reduction) : NULL;
}

bool reduction_allows(int reduction, int datatype)
{
    return element_reduction_allows(element_reduction_at(reduction), element_at(datatype));
}
