# Scenarios for machines with GPUs. Most also run without one, and then compare the cores with themselves.

# Makes the input of SIZE and its reference: sized SIZE. Sets `input`, `bytes`, `ref` and `same`.
sized() {
    need_files
    input=$1
    repeated "$input" "$1" "${files[0]}"
    bytes=$(stat -c %s "$input")
    reference "$input"
}

# A run of hybz with these flags: variant THREADS FLAGS
variant() {
    entry hybz "$1" "$same" "hybz ${2:+$2 }-c $input"
}

gpu_note() {
    [ "$(gpus)" != 0 ] || note "no GPU here: all commands use the cores alone"
}

# scenario: gpu-input-size 100 MB to 8 GB, default against --no-gpu (and lbzip2): where GPUs begin to pay
scenario_gpu_input_size() {
    local size
    gpu_note
    for size in ${SIZES:-100M 200M 400M 600M 1G 2G 4G 8G}; do
        sized "$size"
        variant "$(nproc)" ""
        variant "$(nproc)" --no-gpu
        if have lbzip2; then entry lbzip2 "$(nproc)" "decodes:$input" "lbzip2 -c9 -n$(nproc) $input"; fi
        race "$size" "$bytes"
        rm "$input" "$ref"
    done
}

# scenario: gpu-default-vs-cpu inputs that GPUs gain nothing on: the default must not fall below 0.95 of --no-gpu
scenario_gpu_default_vs_cpu() {
    local count
    need_files
    gpu_note
    input=zeros
    head -c "$(bytes_of 2G)" /dev/zero >zeros
    default_and_cpu "2 GB of zeros"
    input=yes
    { yes || true; } 2>/dev/null | head -c "$(bytes_of 2G)" >yes || true
    default_and_cpu "2 GB of yes"
    input=random
    head -c "$(bytes_of 400M)" /dev/urandom >random
    default_and_cpu "400 MB of random bytes"
    count=$(bytes_of 4000)
    small_files "$count"
    entry hybz "$(nproc)" files:small.ref "hybz -kf9 small/f?????"
    entry hybz "$(nproc)" files:small.ref "hybz --no-gpu -kf9 small/f?????"
    race "$count files of 30 kB" $((count * 30000))
}

default_and_cpu() { # LABEL
    reference "$input"
    variant "$(nproc)" ""
    variant "$(nproc)" --no-gpu
    race "$1" "$(stat -c %s "$input")"
    rm "$input" "$ref"
}

# scenario: gpu-schedule default against -p1, 2, 4, 8, half and all of the cores; 8 GB, or 24 with several GPUs
scenario_gpu_schedule() {
    local size cores threads done=' '
    gpu_note
    cores=$(nproc)
    size=8G
    [ "$(gpus)" -lt 2 ] || size=24G
    for size in ${SIZES:-$size}; do
        sized "$size"
        variant "$cores" ""
        for threads in ${THREADS:-1 2 4 8 $(((cores + 1) / 2)) $cores}; do
            [[ $threads -le $cores && $done != *" $threads "* ]] || continue
            done+="$threads "
            variant "$threads" "-p$threads"
        done
        [ "$(gpus)" -lt 2 ] || variant "$cores" "--gpu 0"
        race "$size" "$bytes"
        rm "$input" "$ref"
        done=' '
    done
}

# scenario: gpu-pipelines the ways to use a GPU: --gpu-pipeline resident, bwt and hybrid, and the cores alone
scenario_gpu_pipelines() {
    local size pipeline
    [ "$(gpus)" != 0 ] || fail "gpu-pipelines needs a GPU"
    for size in ${SIZES:-1G 8G}; do
        sized "$size"
        for pipeline in resident bwt hybrid; do variant "$(nproc)" "--gpu-pipeline $pipeline"; done
        variant "$(nproc)" --no-gpu
        race "$size" "$bytes"
        rm "$input" "$ref"
    done
}

# scenario: workstation a GPU with few cores (CORES, 4): default, -p1 and --no-gpu, kept to these cores by taskset
scenario_workstation() {
    local size cores last flags
    gpu_note
    cores=${CORES:-4}
    last=$(($(nproc) < cores ? $(nproc) - 1 : cores - 1))
    for size in ${SIZES:-1G 8G}; do
        sized "$size"
        for flags in "" "-p1" --no-gpu; do
            entry hybz $((last + 1)) "$same" "taskset -c 0-$last hybz ${flags:+$flags }-c $input"
        done
        if have lbzip2; then
            entry lbzip2 $((last + 1)) "decodes:$input" "taskset -c 0-$last lbzip2 -c9 -n$((last + 1)) $input"
        fi
        race "$size" "$bytes"
        rm "$input" "$ref"
    done
}

# scenario: gpu-library from memory, by the bench `gpu` (BENCH_GPU): GPUs, all; stations that do nothing, 1 to 8 readers
scenario_gpu_library() {
    local size mode readers round
    need_files
    provide bench-gpu "${BENCH_GPU:-bench-gpu}" || fail "gpu-library needs BENCH_GPU=PROGRAM (see cuda/pack.sh)"
    for size in ${SIZES:-8G}; do
        for ((round = 1; round <= ROUNDS; round++)); do
            for mode in gpu all; do library "$size" "$round" "bench-gpu" "$mode"; done
            for readers in 1 2 3 4 6 8; do library "$size" "$round" "HYBZ_READERS=$readers bench-gpu" null; done
        done
    done
}

# One run of the bench, which measures itself: library SIZE ROUND COMMAND MODE
library() {
    local bytes line
    bytes=$(bytes_of "$1")
    commands=("$3 text $((bytes / 1000000)) $4") tools=(hybz) threads_of=("$(nproc)")
    ln -sfn "${files[0]}" text
    line=$(eval "${commands[0]}" 2>>"$out/stderr.txt" | tee -a "$out/library.txt" | grep "^$4: ") ||
        fail "${commands[0]}: no result"
    [[ $line =~ \ -\>\ ([0-9]+)\ bytes.*\ in\ ([0-9.]+)\ s: ]] || fail "no time in: $line"
    record "$1 from memory" "$((bytes / 1000000 * 1000000))" 0 "$2" "${BASH_REMATCH[2]}" bench "${BASH_REMATCH[1]}"
    tools=() threads_of=() commands=()
}

# scenario: gpu-kernels device time of the sorts by block size, by cuda/bench (BENCH_CUDA); columns walked back
scenario_gpu_kernels() {
    local blocks
    need_files
    provide bench-cuda "${BENCH_CUDA:-bench-cuda}" || fail "gpu-kernels needs BENCH_CUDA=PROGRAM (cuda/bench/build.sh)"
    ln -sfn "${files[0]}" text
    {
        bench-cuda time text 224
        bench-cuda resident text 32
        for blocks in "900000 225" "4500000 45" "9000000 22" "64000000 3" "$(stat -Lc %s text) 1"; do
            echo "\$ bench-cuda suffixes text $blocks"
            # shellcheck disable=SC2086
            bench-cuda suffixes text $blocks
        done
    } 2>&1 | tee "$out/kernels.txt"
}
