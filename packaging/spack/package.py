# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack: this is packages/libmpix_harmonize/package.py of a repository that spack repo create made
(before Spack 1.0: packages/libmpix-harmonize/package.py).

Where the archive is that make dist wrote: spack install --no-checksum libmpix-harmonize
"""

import os

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass  # before Spack 1.0, the next line brings it

from spack.package import *


class LibmpixHarmonize(AutotoolsPackage):
    """A barrier in space and time for MPI: it releases all processes at one instant of a global clock."""

    url = "file://{0}/libmpix_harmonize-0.1.0.tar.gz".format(os.getcwd())
    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")

    variant("static", default=True, description="Build the static library")
    variant("otf2", default=False, description="mpix_trace_convert writes OTF2")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("jansson@2.10:")
    depends_on("otf2@3:", when="+otf2")

    sanity_check_is_file = [
        join_path("include", "mpix_harmonize.h"),
        join_path("lib", "libmpix_harmonize.so"),
        join_path("lib", "pkgconfig", "mpix_harmonize.pc"),
        join_path("lib", "cmake", "mpix_harmonize", "mpix_harmonize-config.cmake"),
        join_path("bin", "mpix_bench"),
        join_path("bin", "mpix_compare"),
    ]
    sanity_check_is_dir = [join_path("share", "man", "man3")]

    def configure_args(self):
        return (
            ["CC={0}".format(self.spec["mpi"].mpicc)]
            + self.enable_or_disable("static")
            + self.with_or_without("otf2", activation_value="prefix")
        )

    def setup_run_environment(self, env):
        env.set("MPIX_HARMONIZE_ROOT", self.prefix)
        env.set("MPIX_HARMONIZE_DIR", self.prefix)
