#!/usr/bin/env bash
# The recipe of docs/CLUSTERS.md for a Slurm array, as it is written there, on a real Slurm of one node.
#
#   cargo build --release && tests/slurm.sh [FILE]
#
# Needs root and apt-get: it installs slurm-wlm and munge if they are missing, and starts munged, slurmctld and slurmd
# with its own files in a temporary folder. HYBZ_BINARY names another binary. FILE is the file to compress; without it,
# 19 MB are made. Then parts are removed, and tasks killed at random times, and the recipe is run again.
set -euo pipefail
here=$(readlink -f "$(dirname "$0")/..")
hybz=$(readlink -f "${HYBZ_BINARY:-$here/target/release/hybz}")
export PATH="$(dirname "$hybz"):$PATH"
shown() { printf 'ok  %s\n' "$*"; }
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq slurm-wlm munge >/dev/null
fi

scratch=$(mktemp -d "${SCRATCH:-/tmp}/hybz-slurm.XXXXXX")
chmod 755 "$scratch"
pids=()
# The three daemons that were started here, by their ids.
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap stop EXIT

mkdir -p "$scratch"/{munge,state,spool,work}
chown munge: "$scratch/munge"
head -c 1024 /dev/urandom >"$scratch/munge/key"
chmod 400 "$scratch/munge/key"
chown munge: "$scratch/munge/key"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force --key-file="$scratch/munge/key" \
  --socket="$scratch/munge/socket" --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" \
  --seed-file="$scratch/munge/seed" 2>"$scratch/munged.err" &
pids+=($!)
cat >"$scratch/slurm.conf" <<CONF
ClusterName=hybz
SlurmctldHost=$(hostname -s)(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket
CryptoType=crypto/munge
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=0
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF=$scratch/slurm.conf
for _ in $(seq 50); do [ -S "$scratch/munge/socket" ] && break; sleep 0.1; done
slurmctld -D 2>"$scratch/slurmctld.err" &
pids+=($!)
slurmd -D 2>"$scratch/slurmd.err" &
pids+=($!)
for _ in $(seq 100); do
  sinfo -h -o %T 2>/dev/null | grep -qx idle && break
  sleep 0.3
done
sinfo -h -o '%N %T' | grep -w idle || { tail "$scratch"/*.log; exit 1; }
shown "$(slurmctld -V): one node is idle"

# The block after `<!-- recipe: NAME -->`.
recipe() {
  awk -v name="<!-- recipe: $1 -->" '
    $0 == name { wanted = 1; next }
    wanted && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$here/docs/CLUSTERS.md"
}
cd "$scratch/work"
if [ $# -gt 0 ]; then cp "$1" dump.xml; else seq 2500000 >dump.xml; fi
bzip2 -1c dump.xml >expected
recipe shard.sbatch >shard.sbatch
recipe slurm | sed 's/--plan=4G/-1 --plan=900k/' >run.sh
grep -q -- '-1 --plan=900k' run.sh
timeout 500 bash -euo pipefail run.sh
cmp dump.xml.bz2 expected
shown "$(grep -vc '^#' plan) tasks of an array, joined by one that waited for them: bzip2's bytes"

rm dump.xml.bz2 part.0 part.5
cp part.3 before.3
timeout 500 bash -euo pipefail run.sh
cmp dump.xml.bz2 expected
cmp part.3 before.3
shown "two parts made again, the others left as they were: bzip2's bytes"

rm dump.xml.bz2 part.*
hybz -1 --plan=900k dump.xml >plan
last=$(($(grep -vc '^#' plan) - 1))
sbatch --array=0-$last --wait --wrap 'timeout -s KILL 0.$((RANDOM % 4 + 1)) bash shard.sbatch' || true
parts=$(find . -name 'part.*' | wc -l)
[ "$parts" -le "$last" ] || { echo "no task was killed"; exit 1; }
find . -name 'part.*' -print0 | xargs -0 -r bzip2 -t
timeout 500 bash -euo pipefail run.sh
cmp dump.xml.bz2 expected
shown "$((last + 1 - parts)) tasks killed (SIGKILL), and the recipe run again: bzip2's bytes"
