# SPDX-License-Identifier: BSD-3-Clause
"""What one process finds wrong before a collective call is an error on all, so that none waits for ever."""
from __future__ import annotations

from typing import Optional

from mpi4py import MPI


def mpi_is_active() -> bool:
    return MPI.Is_initialized() and not MPI.Is_finalized()


def agree(comm: MPI.Intracomm, problem: Optional[Exception]) -> None:
    """Raise the problem of the lowest rank that has one, on all processes. Collective."""
    for found in comm.allgather(problem):
        if found is not None:
            raise found
