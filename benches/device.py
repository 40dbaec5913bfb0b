#!/usr/bin/env python3
"""What one device gives the command, compared with an older build and lbzip2, on a machine without Rust.

    benches/device.py [-n ROUNDS] [-o OLD_HYBZ] [-l LBZIP2] [-d DISK] [-s SECONDS] [-x REGEX] HYBZ TEXT >results.csv

TEXT lies in memory (/dev/shm), with room there for four times as much. Its first eighth and what hybz makes of it are
written beside it, and DISK is a folder on a disk. The commands take turns, ROUNDS (3) times or until SECONDS have
passed; REGEX chooses scenarios. Files are compared with TEXT after each round and streams before the first one. Rows
are those of benches/report.sh; medians go to stderr, with their times against the first command of a scenario.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time


def shell(command):
    return subprocess.run(["bash", "-o", "pipefail", "-c", command]).returncode


def must(command):
    if shell(command):
        sys.exit(f"failed: {command}")


def scenarios(hybz, text, options):
    """Scenario, input, tool, command, and the file to compare with TEXT after it."""
    eighth, coded, out = f"{text}.eighth", f"{text}.bz2", f"{text}.out"
    builds = [(hybz, "hybz")] + ([(options.old, "hybz (before)")] if options.old else [])
    for path, name in builds:
        yield "gpu-compress", text, name, f"{path} -c {text} >/dev/null", None
        yield "gpu-decompress", coded, name, f"{path} -dc {coded} >/dev/null", None
        yield "gpu-decompress-memory", coded, name, f"{path} -dfk -o {out} {coded}", out
        yield "gpu-decompress-redirected", coded, name, f"{path} -dc {coded} >{out}", out
        if options.disk:
            file = f"{options.disk}/{os.path.basename(out)}"
            yield "gpu-decompress-disk", coded, name, f"{path} -dfk -o {file} {coded}", file
        for reader in ("cat", "wc -c"):
            yield f"gpu-decompress-{reader[:3].strip()}", coded, name, f"{path} -dc {coded} | {reader} >/dev/null", None
        yield "gpu-compress-eighth", eighth, name, f"{path} -c {eighth} >/dev/null", None
        for size in ("9M", "64M"):
            flags = f"--format=hbz --block-size={size}"
            yield f"gpu-hbz-{size}", text, name, f"{path} -c {flags} {text} >/dev/null", None
        yield "gpu-verify", text, name, f"{path} --verify -c {text} >/dev/null", None
    if options.lbzip2:
        threads = os.cpu_count()
        yield "gpu-compress-eighth", eighth, "lbzip2", f"{options.lbzip2} -n{threads} -c {eighth} >/dev/null", None
        yield "gpu-decompress", coded, "lbzip2", f"{options.lbzip2} -n{threads} -dc {coded} >/dev/null", None
    for gpu in ("", " --no-gpu"):
        command, name = f"{hybz}{gpu}", f"hybz{gpu}"
        for kind, file in makes(text):
            yield f"gpu-default-{kind}", file, name, f"{command} -c {file} >/dev/null", None
            yield f"gpu-default-{kind}-d", f"{file}.bz2", name, f"{command} -dc {file}.bz2 >/dev/null", None
        yield "gpu-default-files", f"{text}.files", name, f"{command} -kfr {text}.files", None
        yield "gpu-default-files-d", f"{text}.files", name, f"{command} -dkfr {text}.files", None


def makes(text):
    """Inputs for which a device may not pay: their names and files."""
    return [(kind, f"{text}.{kind}") for kind in ("zeros", "random", "yes", "300MB", "600MB")]


def prepare(hybz, text, wanted):
    size = os.path.getsize(text)
    must(f"head -c {size // 8} {text} >{text}.eighth")
    must(f"{hybz} -c {text} >{text}.bz2 && {hybz} -dc {text}.bz2 | cmp - {text}")
    if any(name.startswith("gpu-hbz") for name in wanted):
        must(f"{hybz} -c --format=hbz --block-size=64M {text} | {hybz} -dc | cmp - {text}")
    if any(name.startswith("gpu-default") for name in wanted):
        sources = {"zeros": "/dev/zero", "random": "/dev/urandom", "yes": "<(yes)"}
        lengths = {"zeros": 2000, "random": 600, "yes": 1000, "300MB": 300, "600MB": 600}
        for kind, file in makes(text):
            must(f"head -c {lengths[kind]}000000 {sources.get(kind, text)} >{file} && {hybz} -kf {file}")
        must(f"mkdir -p {text}.files && cd {text}.files && head -c 262144000 {text} | split -a 4 -b 65536")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", dest="rounds", type=int, default=3)
    parser.add_argument("-o", dest="old")
    parser.add_argument("-l", dest="lbzip2")
    parser.add_argument("-d", dest="disk")
    parser.add_argument("-s", dest="seconds", type=float, default=float("inf"))
    parser.add_argument("-x", dest="regex", default="")
    parser.add_argument("hybz")
    parser.add_argument("text")
    options = parser.parse_args()
    rows = [row for row in scenarios(options.hybz, options.text, options) if re.search(options.regex, row[0])]
    rows.sort(key=lambda row: row[0])
    prepare(options.hybz, options.text, [row[0] for row in rows])

    print("scenario,input,bytes,command,tool,threads,round,seconds,verified,output_bytes")
    times = {}
    begun = time.monotonic()
    for number in range(1, options.rounds + 1):
        for scenario, name, tool, command, out in rows if number % 2 else rows[::-1]:
            started = time.monotonic()
            must(command)
            taken = time.monotonic() - started
            if out:
                must(f"cmp {out} {options.text} && rm {out}")
            of = name.removesuffix(".bz2")
            size = os.path.getsize(of) if os.path.isfile(of) else 262144000
            for path in (options.text, options.hybz):
                command = command.replace(os.path.dirname(path) + "/", "")
            verified = "yes" if out else "no"
            row = [scenario, os.path.basename(name), size, command, tool, os.cpu_count(), number, f"{taken:.3f}"]
            print(*row, verified, "", sep=",", flush=True)
            times.setdefault((scenario, tool), []).append(taken)
        if time.monotonic() - begun > options.seconds:
            break
    first = {}
    for (scenario, tool), taken in times.items():
        median = statistics.median(taken)
        ratio = median / first.setdefault(scenario, median)
        print(f"{scenario:28} {tool:16} {median:8.3f} {ratio:6.3f}", file=sys.stderr)


main()
