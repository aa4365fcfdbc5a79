# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Evenkeel(MesonPackage):
    """Keeps iterative MPI codes balanced: work stealing within a node and
    between nodes, and places of tasks by their measured durations."""

    homepage = "https://evenkeel.example"
    git = "https://evenkeel.example/evenkeel.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("fortran", default=True, description="Install the Fortran module")
    variant("python", default=False, description="Install the Python module")
    variant("static", default=True, description="Install the static library")
    variant("tools", default=True, description="Install ek-bench and others")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    extends("python@3.9:", when="+python")
    depends_on("mpi@3:")
    depends_on("nettle@3.6:", when="+tools")

    def meson_args(self):
        def choose(variant, yes, no):
            chosen = self.spec.satisfies(f"+{variant}")
            return f"-D{variant}={yes if chosen else no}"

        return [
            f"-Dmpi={self.spec['mpi'].mpicc}",
            choose("fortran", "enabled", "disabled"),
            choose("python", "enabled", "disabled"),
            choose("static", "true", "false"),
            choose("tools", "true", "false"),
            "-Dtests=false",
            "-Dexamples=false",
            "-Dotf2=disabled",
            "-Dtbb=disabled",
            "-Dglobal_arrays=disabled",
        ]
