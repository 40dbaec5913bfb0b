# Scenarios that need no GPU. Each function is one scenario; the line above it is what `run.sh list` prints.

# scenario: cpu-peers hybz against lbzip2, pbzip2 and bzip2, both ways, 1, 2, 4 .. all threads; any number of FILEs
scenario_cpu_peers() {
    local file input bytes threads tool flag
    need_files
    for file in "${files[@]}"; do
        input=$(basename "$file")
        bytes=$(bytes_of "$(stat -Lc %s "$file")")
        repeated "$input" "$(stat -Lc %s "$file")" "$file"
        reference "$input"
        mv "$ref" "$input.bz2"
        for threads in $(thread_counts); do
            entry hybz "$threads" "${same%%:*}:$input.bz2" "hybz --no-gpu -c9 -p$threads $input"
            peers "$threads" "decodes:$input" -c9 "$input"
            race "$input" "$bytes"
        done
        for threads in $(thread_counts); do
            entry hybz "$threads" "plain:$input" "hybz --no-gpu -dc -p$threads $input.bz2"
            peers "$threads" "plain:$input" -dc "$input.bz2"
            race "$input.bz2" "$bytes"
        done
        rm "$input" "$input.bz2"
    done
}

# The installed peers; bzip2 has one thread only: peers THREADS CHECK FLAGS INPUT
peers() {
    if have lbzip2; then entry lbzip2 "$1" "$2" "lbzip2 $3 -n$1 $4"; fi
    if have pbzip2; then entry pbzip2 "$1" "$2" "pbzip2 $3 -p$1 $4"; fi
    if have bzip2 && [ "$1" = 1 ]; then entry bzip2 1 "$2" "bzip2 $3 $4"; fi
}

# scenario: index the cost of making an index, compressing and decompressing; any number of FILEs
scenario_index() {
    local file input bytes threads
    need_files
    for file in "${files[@]}"; do
        input=$(basename "$file")
        bytes=$(bytes_of "$(stat -Lc %s "$file")")
        repeated "$input" "$(stat -Lc %s "$file")" "$file"
        reference "$input"
        for threads in ${THREADS:-1 2}; do
            entry hybz "$threads" "$same" "hybz --no-gpu -c9 -p$threads $input"
            entry hybz-index "$threads" "$same" "hybz --no-gpu -cf9 -p$threads --index=made.bzi $input"
            race "$input" "$bytes"
        done
        mv "$ref" "$input.bz2"
        for threads in ${THREADS:-1 2}; do
            entry hybz "$threads" "plain:$input" "hybz --no-gpu -dc -p$threads $input.bz2"
            entry hybz-index "$threads" "plain:$input" "hybz --no-gpu -dcf -p$threads --index=made.bzi $input.bz2"
            race "$input.bz2" "$bytes"
        done
        rm "$input" "$input.bz2"
    done
}

# scenario: old-new hybz against --old BINARY: .bz2 and .hbz both ways, 2,000 small files; marks rows below 0.98
scenario_old_new() {
    local file input bytes threads count
    have hybz-old || fail "old-new needs --old BINARY"
    need_files
    file=${files[0]}
    input=$(basename "$file")
    repeated "$input" "${SIZES:-$(stat -Lc %s "$file")}" "$file"
    bytes=$(stat -c %s "$input")

    reference "$input"
    for threads in ${THREADS:-1 2}; do
        pair "$threads" "$same" "-c9 -p$threads $input"
        race "$input" "$bytes"
    done
    mv "$ref" "$input.bz2"
    for threads in ${THREADS:-1 2}; do
        pair "$threads" "plain:$input" "-dc -p$threads $input.bz2"
        race "$input.bz2" "$bytes"
    done

    reference "$input" --block-size 9M
    mv "$ref" "$input.hbz"
    for threads in ${THREADS:-1 2}; do
        pair "$threads" "decodes:$input" "--block-size 9M -c -p$threads $input"
        race "$input as .hbz" "$bytes"
        pair "$threads" "plain:$input" "-dc -p$threads $input.hbz"
        race "$input.hbz" "$bytes"
    done
    rm "$input" "$input.bz2" "$input.hbz"

    count=$(bytes_of 2000)
    small_files "$count"
    pair 2 files:small.ref "-kf9 -p2 small/f?????"
    race "$count files of 30 kB" $((count * 30000))
}

# The new and the old binary with the same flags: pair THREADS CHECK FLAGS
pair() {
    entry hybz "$1" "$2" "hybz --no-gpu $3"
    entry hybz-old "$1" "$2" "hybz-old --no-gpu $3"
}
