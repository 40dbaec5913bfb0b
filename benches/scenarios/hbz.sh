# Scenarios of .hbz, and the tables of the thesis.

# scenario: hbz-speed 1 GB as .hbz by block size, both ways, default against --no-gpu; one block by 1, 2 .. all threads
scenario_hbz_speed() {
    local size block threads
    need_files
    size=${SIZES:-1G}
    sized "$size"
    rm "$ref"
    for block in 1M 4500k 9M 64M 200M; do
        reference "$input" --block-size $block
        variant "$(nproc)" "--block-size $block"
        [ "$(gpus)" = 0 ] || variant "$(nproc)" "--no-gpu --block-size $block"
        race "$size as .hbz of $block" "$bytes"
        mv "$ref" "$input.hbz"
        entry hybz "$(nproc)" "plain:$input" "hybz -dc $input.hbz"
        race "$size from .hbz of $block" "$bytes"
        rm "$input.hbz"
    done
    repeated "$input" 200M "${files[0]}"
    bytes=$(stat -c %s "$input")
    reference "$input" --block-size 256M
    mv "$ref" "$input.hbz"
    for threads in $(thread_counts); do
        entry hybz "$threads" "plain:$input" "hybz -dc -p$threads $input.hbz"
    done
    race "one block of 200 MB" "$bytes"
}

# scenario: hbz-sizes bytes of .hbz by block size and perturbation, next to bzip2 -9; one round, any number of FILEs
scenario_hbz_sizes() {
    local file block perturb flags
    need_files
    ROUNDS=1
    for file in "${files[@]}"; do
        input=$(basename "$file")
        repeated "$input" "$(stat -Lc %s "$file")" "$file"
        bytes=$(stat -c %s "$input")
        if have bzip2; then entry bzip2 1 "decodes:$input" "bzip2 -9c $input"; fi
        for perturb in "" 0.01% 0.1% 1%; do
            for block in 1M 4500k 9M 64M 100M 256M; do
                flags="--block-size $block${perturb:+ --perturb $perturb}"
                entry hybz "$(nproc)" "decodes:$input" "hybz $flags -c $input"
            done
        done
        race "$input" "$bytes"
        rm "$input"
    done
}

# scenario: thesis-tables the thesis's tables and figures, by the package theses (TABLES); FILEs name data sets
scenario_thesis_tables() {
    local table sets=() file
    for file in "${files[@]}"; do sets+=("$(basename "$file")"); done
    if [ -z "${TABLES:-}" ]; then
        TABLES=$(cd "$here/.." && cargo build --release -p theses && echo "$PWD/target/release/theses")
        TABLES=$(cd "$here/.." && realpath "$TABLES") || fail "the bench does not build"
    fi
    provide tables "$TABLES" || fail "thesis-tables needs the bench: TABLES=PROGRAM"
    for table in 5.1 5.2 figure-5.2 figure-5.5 figure-5.7; do
        file=table-$table.csv
        (cd "$start" && tables deshpande $table "${sets[@]}") | tee "$out/${file/table-figure/figure}"
    done
    tables svg "$out/table-5.1.csv" seconds >"$out/table-5.1.svg"
    tables svg "$out/table-5.2.csv" MB/s >"$out/table-5.2.svg"
    tables svg "$out/figure-5.2.csv" mean >"$out/figure-5.2.svg"
    tables svg "$out/figure-5.5.csv" rounds_of_8_bytes >"$out/figure-5.5.svg"
    tables svg "$out/figure-5.7.csv" decode_MB/s >"$out/figure-5.7.svg"
}
