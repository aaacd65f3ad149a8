# A user's benchmark in Python: times a reduction after harmonized starts, and prints ok. Library and launcher are those
# of the MPI library of mpi4py. Debian's is Open MPI:
#
#     mpiexec.openmpi --bind-to core -n 2 python3 hello.py
import numpy
from mpi4py import MPI

import mpix_harmonize

comm = MPI.COMM_WORLD
values, sums = numpy.ones(4), numpy.zeros(4)
samples = mpix_harmonize.Benchmark(comm).run(lambda: comm.Allreduce(values, sums), iterations=50)
if comm.rank == 0:
    print(f"{samples.valid} of {samples.iterations} samples are valid")
    if samples.valid:
        print(f"median: {numpy.median(samples.longest_ns) / 1e3:.2f} us")
    if (sums == comm.size).all():
        print("ok")
