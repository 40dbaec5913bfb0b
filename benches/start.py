#!/usr/bin/env python3
"""What a call for one small file costs: benches/start.py [RUNS] PEER HYBZ...

Compresses and decompresses 1, 10 and 100 kB of this repository's pages, each program once a round, and prints medians
of processor time in microseconds and of page faults, and the ratios of both times to those of PEER, the first program.
All outputs are compared first.
"""

import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time


def call(arguments, out):
    """Processor time and wall time in microseconds, and the minor page faults, of one call."""
    begin = time.perf_counter()
    to = [(os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY, 0)]
    process = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=to)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{arguments} ended with status {status}")
    return (used.ru_utime + used.ru_stime) * 1e6, wall * 1e6, used.ru_minflt


arguments = sys.argv[1:]
runs = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 500
programs = [os.path.abspath(subprocess.check_output(["which", name], text=True).strip()) for name in arguments]
if len(programs) < 2:
    sys.exit(__doc__.splitlines()[0])

pages = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "*.md")
text = b"".join(open(page, "rb").read() for page in sorted(glob.glob(pages)))
print(f"{runs} rounds; medians; ratios to {programs[0]}")
print("| bytes | | program | processor time, us | faults | processor time, ratio | wall time, ratio |")
print("|---|---|---|---|---|---|---|")
with tempfile.TemporaryDirectory() as folder:
    for size in (1_000, 10_000, 100_000):
        plain, coded = os.path.join(folder, "text"), os.path.join(folder, "text.bz2")
        with open(plain, "wb") as file:
            file.write(text[:size])
        with open(coded, "wb") as file:
            subprocess.run([programs[0], "-c", plain], stdout=file, check=True)
        for flag, source, expected in (("-c", plain, coded), ("-dc", coded, plain)):
            for program in programs:
                output = subprocess.check_output([program, flag, source])
                if output != open(expected, "rb").read():
                    sys.exit(f"{program} {flag}: another output")
            rounds = [[call([program, flag, source], os.devnull) for program in programs] for _ in range(runs)]
            medians = [[statistics.median(values) for values in zip(*column)] for column in zip(*rounds)]
            for name, (cpu, wall, faults) in zip(arguments, medians):
                ratios = f"{cpu / medians[0][0]:.2f} | {wall / medians[0][1]:.2f}"
                print(f"| {size} | {flag} | {name} | {cpu:.0f} | {faults:.0f} | {ratios} |", flush=True)
