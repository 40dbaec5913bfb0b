#!/usr/bin/env python3
"""What one device gives the command, compared with an older build and lbzip2, on a machine without Rust.

    benches/device.py [-n ROUNDS] [-o OLD_HYBZ] [-l LBZIP2] [-d DISK] [-s SECONDS] [-x REGEX] HYBZ TEXT >results.csv

TEXT lies in memory (/dev/shm), with room there for four times as much. Its first eighth and what hybz makes of it are
written next to it, and DISK is a folder on a disk. The commands take turns, ROUNDS (4: as often first as last) times or
until SECONDS have passed; REGEX chooses scenarios. What a command writes is compared with the text: a file after each
round, a stream in a run before the first round that is not timed, trees after each round. Rows are those of
benches/summary.awk; medians go to stderr, with their times against the first command of a scenario.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time


# Bytes of the text that are in files of 64 kB.
TREE = 262144000


def shell(command):
    return subprocess.run(["bash", "-o", "pipefail", "-c", command]).returncode


def must(command):
    if shell(command):
        sys.exit(f"failed: {command}")


def scenarios(hybz, text, options):
    """Scenario, input, tool, command, and how to compare what it writes: before the first round, or after each."""
    eighth, coded, out = f"{text}.eighth", f"{text}.bz2", f"{text}.out"

    def coding(scenario, plain, name, command):
        return scenario, plain, name, f"{command} >/dev/null", f"{command} | {hybz} -dc | cmp - {plain}", None

    def decoding(scenario, name, command, plain=text):
        return scenario, f"{plain}.bz2", name, f"{command} >/dev/null", f"{command} | cmp - {plain}", None

    def into(scenario, name, command, file):
        return scenario, coded, name, command, None, f"cmp {file} {text} && rm {file}"

    builds = [(hybz, "hybz")] + ([(options.old, "hybz (before)")] if options.old else [])
    for path, name in builds:
        yield coding("gpu-compress", text, name, f"{path} -c {text}")
        yield decoding("gpu-decompress", name, f"{path} -dc {coded}")
        yield into("gpu-decompress-memory", name, f"{path} -dfk -o {out} {coded}", out)
        yield into("gpu-decompress-redirected", name, f"{path} -dc {coded} >{out}", out)
        if options.disk:
            file = f"{options.disk}/{os.path.basename(out)}"
            yield into("gpu-decompress-disk", name, f"{path} -dfk -o {file} {coded}", file)
        yield decoding("gpu-decompress-cat", name, f"{path} -dc {coded} | cat")
        count = f"{path} -dc {coded} | wc -c"
        right = f"test $({count}) = {os.path.getsize(text)}"
        yield "gpu-decompress-wc", coded, name, f"{count} >/dev/null", right, None
        yield coding("gpu-compress-eighth", eighth, name, f"{path} -c {eighth}")
        for size in ("9M", "64M"):
            yield coding(f"gpu-hbz-{size}", text, name, f"{path} -c --format=hbz --block-size={size} {text}")
        yield coding("gpu-verify", text, name, f"{path} --verify -c {text}")
    if options.lbzip2:
        command = f"{options.lbzip2} -n{os.cpu_count()}"
        yield coding("gpu-compress-eighth", eighth, "lbzip2", f"{command} -c {eighth}")
        yield decoding("gpu-decompress", "lbzip2", f"{command} -dc {coded}")
    for gpu in ("", " --no-gpu"):
        command, name = f"{hybz}{gpu}", f"hybz{gpu}"
        for kind, file in makes(text):
            yield coding(f"gpu-default-{kind}", file, name, f"{command} -c {file}")
            yield decoding(f"gpu-default-{kind}-d", name, f"{command} -dc {file}.bz2", file)
        tree, plain = f"{text}.files", f"<(head -c {TREE} {text})"
        right = f"cat {tree}/*.bz2 | {hybz} -dc | cmp - {plain}"
        yield "gpu-default-files", tree, name, f"{command} -kfr {tree}", None, right
        right = f"find {tree} -type f ! -name '*.bz2' | sort | xargs cat | cmp - {plain}"
        yield "gpu-default-files-d", tree, name, f"{command} -dkfr {tree}", None, right


def makes(text):
    """Inputs for which a device may not pay: their names and files."""
    return [(kind, f"{text}.{kind}") for kind in ("zeros", "random", "yes", "300MB", "600MB")]


def prepare(hybz, text, rows):
    size = os.path.getsize(text)
    must(f"head -c {size // 8} {text} >{text}.eighth")
    must(f"{hybz} -c {text} >{text}.bz2 && {hybz} -dc {text}.bz2 | cmp - {text}")
    if any(row[0].startswith("gpu-default") for row in rows):
        sources = {"zeros": "/dev/zero", "random": "/dev/urandom", "yes": "<(yes)"}
        lengths = {"zeros": 2000, "random": 600, "yes": 1000, "300MB": 300, "600MB": 600}
        for kind, file in makes(text):
            must(f"head -c {lengths[kind]}000000 {sources.get(kind, text)} >{file} && {hybz} -kf {file}")
        must(f"mkdir -p {text}.files && cd {text}.files && head -c {TREE} {text} | split -a 4 -b 65536")
        must(f"{hybz} -kfr {text}.files")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", dest="rounds", type=int, default=4)
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
    prepare(options.hybz, options.text, rows)
    for row in rows:
        if row[4]:
            must(row[4])

    print("scenario,input,bytes,command,tool,threads,round,seconds,verified,output_bytes")
    times = {}
    begun = time.monotonic()
    for number in range(1, options.rounds + 1):
        for scenario, name, tool, command, _, right in rows if number % 2 else rows[::-1]:
            started = time.monotonic()
            must(command)
            taken = time.monotonic() - started
            if right:
                must(right)
            of = name.removesuffix(".bz2")
            size = os.path.getsize(of) if os.path.isfile(of) else TREE
            for path in (options.text, options.hybz):
                command = command.replace(os.path.dirname(path) + "/", "")
            row = [scenario, os.path.basename(name), size, command, tool, os.cpu_count(), number, f"{taken:.3f}"]
            print(*row, "yes", "", sep=",", flush=True)
            times.setdefault((scenario, tool), []).append(taken)
        if time.monotonic() - begun > options.seconds:
            break
    first = {}
    for (scenario, tool), taken in times.items():
        median = statistics.median(taken)
        ratio = median / first.setdefault(scenario, median)
        print(f"{scenario:28} {tool:16} {median:8.3f} {ratio:6.3f}", file=sys.stderr)


main()
