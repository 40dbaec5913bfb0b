#!/usr/bin/env bash
# Runs a named scenario: several commands that do the same work, timed as whole processes and compared.
#
#     benches/run.sh list
#     benches/run.sh NAME [--old BINARY] [--out DIR] [FILE...]
#
# The commands take turns, round by round, and every second round runs in reverse order. The first output of each
# command is verified in full and not timed; later outputs go to /dev/null. DIR/results.csv gets the commands and their
# times, DIR/env.json the machine and the versions, DIR/stderr.txt the messages of the commands; a table of medians is
# printed last. A second scenario with the same DIR adds to these files; the same one again replaces its rows.
#
# It needs bash, coreutils, cmp and awk, so it also runs on a GPU machine without Rust. Settings, all optional:
#
#     DATA      the plain file to compress, if no FILE is named; large inputs are made by repeating it
#     HYBZ      hybz (target/release/hybz); OLD: the same as --old; BZIP2, LBZIP2, PBZIP2: the peers (from PATH)
#     TABLES, BENCH_GPU, BENCH_CUDA  the programs `theses` and the bench `gpu`, and what cuda/bench/build.sh built
#     ROUNDS    timed rounds (5)        THREADS   "1 2 4", for the scenarios that vary them
#     SIZES     "100M 1G"               SCALE     0.01 makes every input a hundredth as large, to try a scenario
#     CORES     cores of `workstation`  WORK      where inputs and outputs are kept (/dev/shm)
#     MACHINE   a name for the machine  COMMIT    the commit of hybz, if there is no git
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
for file in "$here"/scenarios/*.sh; do
    # shellcheck source=/dev/null
    . "$file"
done

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

note() {
    echo "# $*" >&2
}

# --- inputs and tools -----------------------------------------------------------------------------------------------

# Bytes of 100M, 1G, 30k (powers of ten), times SCALE.
bytes_of() {
    awk -v size="$1" -v scale="${SCALE:-1}" 'BEGIN {
        unit["k"] = 1e3; unit["M"] = 1e6; unit["G"] = 1e9
        last = substr(size, length(size))
        n = size * (last in unit ? unit[last] : 1) * scale
        printf "%d", n < 1 ? 1 : n
    }'
}

# Makes the input NAME of SIZE from the file FROM, which is repeated: repeated NAME SIZE FROM
repeated() {
    local bytes have
    bytes=$(bytes_of "$2")
    have=$(stat -Lc %s "$3")
    [ "$have" -gt 0 ] || fail "$3 is empty"
    # head closes the pipe once it has enough bytes.
    { for ((n = 0; n <= bytes / have; n++)); do cat "$3" || break; done; } 2>/dev/null | head -c "$bytes" >"$1" || true
    [ "$(stat -c %s "$1")" = "$bytes" ] || fail "no room for $1 of $bytes bytes in $work"
}

# COUNT files of 30 kB, small/f00000 and so on, and bzip2's output for them all, small.ref: small_files COUNT
small_files() {
    mkdir small
    SCALE=1 repeated small.all $(($1 * 30000)) "${files[0]}"
    split -b 30000 -a 5 -d small.all small/f
    rm small.all
    if have bzip2; then bzip2 -9c small/* >small.ref; else hybz --no-gpu -9c small/* >small.ref; fi
}

# The plain files of a scenario: the named files, or DATA.
need_files() {
    [ ${#files[@]} -gt 0 ] || [ -z "${DATA:-}" ] || files=("$(cd "$start" && realpath "$DATA")")
    [ ${#files[@]} -gt 0 ] || fail "$scenario needs a plain file: name one, or set DATA"
    [ -r "${files[0]}" ] || fail "cannot read ${files[0]}"
}

# The tool is NAME in all commands from now on. Fails if there is no such program: provide NAME PROGRAM
provide() {
    local path
    path=$(cd "$start" && command -v "$2") || return 1
    path=$(cd "$start" && realpath "$path")
    ln -sfn "$path" "$work/bin/$1"
}

have() {
    [ -e "$work/bin/$1" ]
}

gpus() {
    { nvidia-smi -L 2>/dev/null || true; } | awk '/^GPU/ { n++ } END { print n + 0 }'
}

# 1, 2, 4 .. and all cores, or THREADS.
thread_counts() {
    local cores n
    cores=$(nproc)
    [ -z "${THREADS:-}" ] || { echo "$THREADS"; return; }
    for ((n = 1; n < cores; n *= 2)); do printf '%d ' "$n"; done
    echo "$cores"
}

# --- verifying ------------------------------------------------------------------------------------------------------

# Decodes a file to stdout; a .bz2 with a program other than hybz, if there is one.
decode() {
    if [ "$(head -c 3 "$1")" != BZh ]; then hybz --no-gpu -dc <"$1"
    elif have lbzip2; then lbzip2 -dc <"$1"
    elif have bzip2; then bzip2 -dc <"$1"
    else hybz --no-gpu -dc <"$1"; fi
}

# The bytes that hybz must write: reference INPUT [FLAG...]. Sets `ref`, a file, and `same`, a check for `entry`.
# Up to 300 MB bzip2 writes them. Longer inputs would take it minutes: hybz --no-gpu writes them, and they are decoded.
reference() {
    local input=$1
    shift
    ref=$input.ref
    if [ $# = 0 ] && have bzip2 && [ "$(stat -Lc %s "$input")" -le 300000000 ]; then
        bzip2 -9c "$input" >"$ref"
        same=bzip2:$ref
    else
        hybz --no-gpu "$@" -c "$input" >"$ref"
        decode "$ref" | cmp -s - "$input" || fail "hybz --no-gpu $* -c $input: wrong output"
        same=cpu:$ref
    fi
}

# Runs a command once, into a file, and checks its output: verify CHECK COMMAND. Sets `written`, its bytes. CHECK is
#   bzip2:FILE, cpu:FILE, plain:FILE   the output is this file (bzip2's bytes, those of cores alone, the text)
#   decodes:FILE                       the output, decoded, is this file
#   files:FILE                         the command writes small/*.bz2, which together are this file
verify() {
    local how=${1%%:*} file=${1#*:} ok=true
    eval "$2" >first 2>>"$out/stderr.txt" || fail "$2: exit code $? (see $out/stderr.txt)"
    case $how in
        bzip2 | cpu | plain) cmp -s first "$file" || ok=false ;;
        decodes) decode first | cmp -s - "$file" || ok=false ;;
        files) cat small/*.bz2 >first && cmp -s first "$file" || ok=false ;;
        *) fail "no check $how" ;;
    esac
    $ok || fail "$2: wrong output"
    written=$(stat -c %s first)
    rm first
}

# --- timing ---------------------------------------------------------------------------------------------------------

clock() { # microseconds
    now=${EPOCHREALTIME:-}
    now=${now/./}
    [ -n "$now" ] || now=$(date +%s%6N)
}

seconds_of() {
    printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
}

# A competitor of the next race: entry TOOL THREADS CHECK COMMAND...
# The first one is on trial: the table gives the others' times as multiples of its own.
entry() {
    tools+=("$1")
    threads_of+=("$2")
    checks+=("$3")
    commands+=("${*:4}")
}

record() { # INPUT BYTES INDEX ROUND SECONDS VERIFIED SIZE
    echo "$scenario,$1,$2,${commands[$3]} >/dev/null,${tools[$3]},${threads_of[$3]},$4,$5,$6,$7" >>"$out/results.csv"
}

# Times all entries on one input: race LABEL BYTES. BYTES are those of the plain text.
race() {
    local label=$1 bytes=$2 round i start_us seconds order sizes=()
    for i in "${!tools[@]}"; do
        [[ "$label${commands[$i]}" != *,* ]] || fail "a comma in: $label, ${commands[$i]}"
        verify "${checks[$i]}" "${commands[$i]}"
        sizes[i]=$written
    done
    for ((round = 1; round <= ROUNDS; round++)); do
        order=("${!tools[@]}")
        if ((round % 2 == 0)); then
            order=()
            for i in "${!tools[@]}"; do order=("$i" "${order[@]}"); done
        fi
        for i in "${order[@]}"; do
            clock; start_us=$now
            eval "${commands[$i]}" >/dev/null 2>>"$out/stderr.txt" || fail "${commands[$i]}: exit code $?"
            clock
            seconds=$(seconds_of $((now - start_us)))
            record "$label" "$bytes" "$i" "$round" "$seconds" "${checks[$i]%%:*}" "${sizes[$i]}"
        done
    done
    note "$label: ${#tools[@]} commands, $ROUNDS rounds"
    tools=() threads_of=() checks=() commands=()
}

# --- record of the run ----------------------------------------------------------------------------------------------

json() { # a JSON string
    printf '"%s"' "$(printf %s "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
}

write_env() {
    local commit dirty tool sep='' version
    commit=${COMMIT:-$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)}
    dirty=null
    if [ -z "${COMMIT:-}" ] && git -C "$here" rev-parse HEAD >/dev/null 2>&1; then
        dirty=false
        git -C "$here" diff --quiet HEAD -- ../src ../cuda ../Cargo.toml ../Cargo.lock || dirty=true
    fi
    {
        echo '{'
        echo "  \"date\": $(json "$(date -u +%Y-%m-%dT%H:%M:%SZ)"),"
        echo "  \"commit\": $(json "$commit"),"
        echo "  \"dirty\": $dirty,"
        echo "  \"machine\": $(json "${MACHINE:-}"),"
        echo "  \"cpu\": $(json "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)"),"
        echo "  \"cores\": $(nproc),"
        echo "  \"memory_bytes\": $(awk '/^MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo),"
        echo "  \"kernel\": $(json "$(uname -sr)"),"
        printf '  "gpus": ['
        while IFS= read -r version; do
            [ -z "$version" ] || { printf '%s%s' "$sep" "$(json "$version")"; sep=', '; }
        done <<<"$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || true)"
        echo '],'
        echo "  \"rounds\": $ROUNDS,"
        echo "  \"scale\": ${SCALE:-1},"
        printf '  "tools": {'
        sep=''
        for tool in hybz hybz-old bzip2 lbzip2 pbzip2; do
            have $tool || continue
            version=$({ $tool --version </dev/null 2>&1 || true; } | sed -n 1p)
            printf '%s%s: %s' "$sep" "$(json $tool)" "$(json "$version")"
            sep=', '
        done
        echo '}'
        echo '}'
    } >"$out/env.json"
}

# --- the command ----------------------------------------------------------------------------------------------------

case ${1:-} in
    list | '')
        sed -n 's/^# scenario: //p' "$here"/scenarios/*.sh | awk '{ name = $1; $1 = ""; printf "%-20s%s\n", name, $0 }'
        exit ;;
    -h | --help)
        sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p;}' "$0"
        exit ;;
esac
scenario=$1
shift
start=$PWD
run=scenario_${scenario//-/_}
declare -F "$run" >/dev/null || fail "no scenario $scenario (see: benches/run.sh list)"
OLD=${OLD:-} out='' files=()
while [ $# -gt 0 ]; do
    case $1 in
        --old) OLD=${2:?--old needs a program}; shift 2 ;;
        --out) out=${2:?--out needs a directory}; shift 2 ;;
        -*) fail "no option $1" ;;
        *) files+=("$(realpath "$1")"); shift ;;
    esac
done
ROUNDS=${ROUNDS:-5}
[ "$ROUNDS" -gt 0 ] || fail "ROUNDS must be at least 1"
out=${out:-$here/../target/benches/$(date +%Y-%m-%d)-$scenario}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "${WORK:-/dev/shm}/hybz-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/bin"
export PATH="$work/bin:$PATH"
provide hybz "${HYBZ:-$here/../target/release/hybz}" || fail "no hybz: build it, or name it in HYBZ"
for tool in bzip2 lbzip2 pbzip2; do
    var=$(echo $tool | tr '[:lower:]' '[:upper:]')
    provide $tool "${!var:-$tool}" || note "$tool: not here"
done
# The tools would read these variables as flags, not as programs.
unset HYBZ BZIP BZIP2 LBZIP2 PBZIP2
if [ -n "$OLD" ]; then
    provide hybz-old "$OLD" || fail "no program $OLD"
fi
tools=() threads_of=() checks=() commands=()
# Rows of other scenarios stay; rows of an earlier run of this scenario do not.
others=$(awk -F, -v scenario="$scenario" 'FNR > 1 && $1 != scenario' "$out/results.csv" 2>/dev/null || true)
echo "scenario,input,bytes,command,tool,threads,round,seconds,verified,output_bytes${others:+$'\n'$others}" \
    >"$out/results.csv"
cd "$work"
write_env
"$run"
if grep -q "^$scenario," "$out/results.csv"; then
    echo
    awk -v scenario="$scenario" -f "$here/summary.awk" "$out/results.csv"
fi
echo "# written to $out"
