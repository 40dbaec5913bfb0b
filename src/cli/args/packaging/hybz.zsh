#compdef hybz hybunz hybcat

autoload -U is-at-least

_hybz() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--recover=[Get all good blocks out of damaged .bz2 files\: as text, fill, bz2 or split (default\: text)]::RESULT:((text\:"Their text"
fill\:"Their text, with zeros where text is lost"
bz2\:"A valid .bz2"
split\:"A .bz2 of each"))' \
'-o+[Write to FILE (-\: standard output) and keep the one input file unless --rm]:FILE:_files' \
'--index=[Write the index of a .bz2 file, FILE.bz2.bzi unless FILE is given; with --ranges or --recover, read it]::FILE:_files' \
'--ranges=[With -d, give only these parts of the text\: SIZE@OFFSET, separated by commas]:LIST:_default' \
'--split=[Give a part of the text of FILE, a .bz2, without an index\: I/N, or SIZE@OFFSET of its compressed bytes]:PART:_default' \
'--filelist=[Also take the names in FILE (-\: standard input), one a line]:FILE:_files' \
'*--exclude=[With -r or --filelist, leave out what GLOB matches (can be given several times)]:GLOB:_default' \
'--output-dir=[Write results below DIR, and keep the input files unless --rm]:DIR:_files -/' \
'--verify=[Decode what was coded, and compare it, before it is written\: blocks, file or none (default\: blocks)]::WHAT:((blocks\:"Each block"
file\:"Each block, and the files as they are on the disk"
none\:"Nothing, not even what a GPU made"))' \
'--plan=[Print a plan\: shards of FILE, of SIZE or more, that machines can compress, each by itself]:SIZE:_default' \
'--shard=[With --plan-file, compress shard N of FILE, into -o PART, or with -c to standard output]:N:_default' \
'--plan-file=[The plan that --shard looks in]:PLAN:_files' \
'--join=[Join parts, in any order, to the .bz2 file of PLAN\: bzip2'\''s bytes, into -o FILE, or with -c to standard output]:PLAN:_files' \
'--stream-size=[Compress into many streams, each of SIZE of text, for programs that read them in parallel or alone]:SIZE:_default' \
'-S+[Use .SUF instead of .bz2 in the names of compressed files]:.SUF:_default' \
'--suffix=[Use .SUF instead of .bz2 in the names of compressed files]:.SUF:_default' \
'--block-size=[Write FILE.hbz with blocks of 1M to 1G\: smaller, but only hybz reads it]:SIZE:_default' \
'--format=[Write this format\: bz2, hbz or lz4 (default\: bz2, or hbz with --block-size)]:FORMAT:((bz2\:"bzip2'\''s format"
hbz\:"Large blocks"
lz4\:"LZ4 frames"))' \
'--perturb=[Insert a byte after every K bytes of the text, or P per cent (for experiments)]:K|P%:_default' \
'--perturb-seed=[The start of the generator of the bytes that --perturb inserts]:N:_default' \
'-p+[Use N threads (0, the default\: one for each core)]:N:_default' \
'-j+[Use N threads (0, the default\: one for each core)]:N:_default' \
'-n+[Use N threads (0, the default\: one for each core)]:N:_default' \
'-T+[Use N threads (0, the default\: one for each core)]:N:_default' \
'--threads=[Use N threads (0, the default\: one for each core)]:N:_default' \
'-m+[Let the blocks in flight take SIZE MiB (or 300k, 1G, ...)]:SIZE:_default' \
'--memory=[Let the blocks in flight take SIZE MiB (or 300k, 1G, ...)]:SIZE:_default' \
'--gpu=[Also work on these GPUs\: numbers, UUIDs, PCI ids, none (default\: as many as help)]:LIST:_default' \
'--gpu-pipeline=[What GPUs do when compressing (default\: resident)]:SHAPE:((resident\:"GPUs do everything"
bwt\:"GPUs sort, and CPU cores do the rest"
hybrid\:"GPUs sort two lists, and CPU cores merge them and do the rest"))' \
'--ignore-trailing-garbage=[With 0, bytes after the last stream are an error (default\: 1)]::0|1:_default' \
'--progress=[Show progress even if standard error is not a terminal, or never show it (default\: text)]::HOW:((text\:"A bar, or lines"
never\:"Nothing"))' \
'--json=[Print a JSON object for each file, and a summary]::FILE:_files' \
'--bench=[Measure how fast FILEs are compressed and decompressed, for SECONDS each way (default\: 5)]::SECONDS:_default' \
'--against=[With --bench, measure these programs too, such as lbzip2,pbzip2]:PROGRAMS:_default' \
'--completions=[Print the completions for SHELL]:SHELL:(bash zsh fish)' \
'-d[Decompress]' \
'--decompress[Decompress]' \
'-z[Compress]' \
'--compress[Compress]' \
'-t[Check compressed files and write nothing]' \
'--test[Check compressed files and write nothing]' \
'-l[List streams, blocks and sizes of compressed files (-lv\: also check each block)]' \
'--list[List streams, blocks and sizes of compressed files (-lv\: also check each block)]' \
'-c[Write to standard output and keep the input files]' \
'--stdout[Write to standard output and keep the input files]' \
'--lines[With --ranges or --split, give the lines that begin in a part; with --stream-size, end streams at line ends]' \
'-r[Walk directories\: all files in them and below]' \
'--recursive[Walk directories\: all files in them and below]' \
'--cross-file-systems[With -r, also walk other file systems than that of the directory]' \
'--null[With --filelist, a zero byte ends each name, as find -print0 writes them]' \
'--resume[Leave out files whose results exist and are right]' \
'--keep-going[Go on with the next file after an error (the default)]' \
'--fail-fast[Begin no further file after an error]' \
'-k[Keep the input files]' \
'--keep[Keep the input files]' \
'--rm[Remove input files once their results are safe (default without -c and -o)]' \
'-f[Overwrite files, follow links, read devices; with -dc, copy what is not bzip2]' \
'--force[Overwrite files, follow links, read devices; with -dc, copy what is not bzip2]' \
'-1[Use blocks of 100 kB (-2 to -8\: of 200 to 800 kB)]' \
'--fast[Use blocks of 100 kB (-2 to -8\: of 200 to 800 kB)]' \
'-2[Use blocks of 200 kB]' \
'-3[Use blocks of 300 kB]' \
'-4[Use blocks of 400 kB]' \
'-5[Use blocks of 500 kB]' \
'-6[Use blocks of 600 kB]' \
'-7[Use blocks of 700 kB]' \
'-8[Use blocks of 800 kB]' \
'-9[Use blocks of 900 kB (default)]' \
'--best[Use blocks of 900 kB (default)]' \
'-s[Use one thread and blocks of at most 200 kB]' \
'--small[Use one thread and blocks of at most 200 kB]' \
'--no-gpu[]' \
'--gpu-required[Fail if a GPU is missing or fails]' \
'--no-sync[Do not wait for the disk before removing input files]' \
'--no-sparse[When decompressing, write all zeros\: leave no holes in files]' \
'*-q[Print no remarks (-qq\: no error messages either, not even about flags)]' \
'*--quiet[Print no remarks (-qq\: no error messages either, not even about flags)]' \
'*-v[Print a line for each file (-vv\: also for each block, and a table of stations)]' \
'*--verbose[Print a line for each file (-vv\: also for each block, and a table of stations)]' \
'--measure[Measure how repetitive FILEs are\: entropy, runs of the BWT, exact LZ77 factors]' \
'-h[Print the flags of daily use (--help\: all flags; --man\: all about them)]' \
'--help[Print the flags of daily use (--help\: all flags; --man\: all about them)]' \
'-V[Print version and licence]' \
'-L[Print version and licence]' \
'--version[Print version and licence]' \
'--license[Print version and licence]' \
'--man[Print the manual page hybz(1), as roff]' \
'*::files:_files' \
&& ret=0
}

(( $+functions[_hybz_commands] )) ||
_hybz_commands() {
    local commands; commands=()
    _describe -t commands 'hybz commands' commands "$@"
}

if [ "$funcstack[1]" = "_hybz" ]; then
    _hybz "$@"
else
    compdef _hybz hybz hybunz hybcat
fi
