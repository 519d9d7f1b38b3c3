# Copyright The oneshmem developers. SPDX-License-Identifier: MIT OR Apache-2.0
#
# From the top of the source tree:
#
#     spack repo add packaging/spack
#     spack dev-build --source-path $PWD oneshmem@0.1.0
from spack.package import *


class Oneshmem(MakefilePackage):
    """OpenSHMEM 1.6 for the processes of one machine: every PE maps every other PE's memory, so a
    put is one copy and an atomic operation is one locked instruction."""

    homepage = "https://openshmem.org"

    license("MIT OR Apache-2.0")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("rust@1.85:", type="build")
    depends_on("gmake", type="build")
    depends_on("ucx@1.13:", type=("build", "run"), when="+nodes")

    variant("nodes", default=False, description="Jobs over several hosts, through UCX")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    def build(self, spec, prefix):
        # UCX is loaded at run time, so the library has to know where Spack has it.
        make(*([f"LDFLAGS=-Wl,-rpath,{spec['ucx'].prefix.lib}"] if "+nodes" in spec else []))

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}")

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("SHMEM_CC", self.compiler.cc)
        env.set("SHMEM_CXX", self.compiler.cxx)
