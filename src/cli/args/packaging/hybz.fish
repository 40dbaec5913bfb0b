complete -c hybz -l recover -d 'Get all good blocks out of damaged .bz2 files: as text, fill, bz2 or split (default: text)' -r -f -a "text\t'Their text'
fill\t'Their text, with zeros where text is lost'
bz2\t'A valid .bz2'
split\t'A .bz2 of each'"
complete -c hybz -s o -d 'Write to FILE (-: standard output) and keep the one input file unless --rm' -r -F
complete -c hybz -l index -d 'Write the index of a .bz2 file, FILE.bz2.bzi unless FILE is given; with --ranges or --recover, read it' -r -F
complete -c hybz -l ranges -d 'With -d, give only these parts of the text: SIZE@OFFSET, separated by commas' -r
complete -c hybz -l split -d 'Give a part of the text of FILE, a .bz2, without an index: I/N, or SIZE@OFFSET of its compressed bytes' -r
complete -c hybz -l filelist -d 'Also take the names in FILE (-: standard input), one a line' -r -F
complete -c hybz -l exclude -d 'With -r or --filelist, leave out what GLOB matches (can be given several times)' -r
complete -c hybz -l output-dir -d 'Write results below DIR, and keep the input files unless --rm' -r -f -a "(__fish_complete_directories)"
complete -c hybz -l verify -d 'Decode what was coded, and compare it, before it is written: blocks, file or none (default: blocks)' -r -f -a "blocks\t'Each block'
file\t'Each block, and the files as they are on the disk'
none\t'Nothing, not even what a GPU made'"
complete -c hybz -l plan -d 'Print a plan: shards of FILE, of SIZE or more, that machines can compress, each by itself' -r
complete -c hybz -l shard -d 'With --plan-file, compress shard N of FILE, into -o PART, or with -c to standard output' -r
complete -c hybz -l plan-file -d 'The plan that --shard looks in' -r -F
complete -c hybz -l join -d 'Join parts, in any order, to the .bz2 file of PLAN: bzip2\'s bytes, into -o FILE, or with -c to standard output' -r -F
complete -c hybz -l stream-size -d 'Compress into many streams, each of SIZE of text, for programs that read them in parallel or alone' -r
complete -c hybz -s S -l suffix -d 'Use .SUF instead of .bz2 in the names of compressed files' -r
complete -c hybz -l block-size -d 'Write FILE.hbz with blocks of 1M to 1G: smaller, but only hybz reads it' -r
complete -c hybz -l format -d 'Write this format: bz2, hbz or lz4 (default: bz2, or hbz with --block-size)' -r -f -a "bz2\t'bzip2\'s format'
hbz\t'Large blocks'
lz4\t'LZ4 frames'"
complete -c hybz -l perturb -d 'Insert a byte after every K bytes of the text, or P per cent (for experiments)' -r
complete -c hybz -l perturb-seed -d 'The start of the generator of the bytes that --perturb inserts' -r
complete -c hybz -s p -s j -s n -s T -l threads -d 'Use N threads (0, the default: one for each core)' -r
complete -c hybz -s m -l memory -d 'Let the blocks in flight take SIZE MiB (or 300k, 1G, ...)' -r
complete -c hybz -l gpu -d 'Also work on these GPUs: numbers, UUIDs, PCI ids, none (default: as many as help)' -r
complete -c hybz -l gpu-pipeline -d 'What GPUs do when compressing (default: resident)' -r -f -a "resident\t'GPUs do everything'
bwt\t'GPUs sort, and CPU cores do the rest'
hybrid\t'GPUs sort two lists, and CPU cores merge them and do the rest'"
complete -c hybz -l ignore-trailing-garbage -d 'With 0, bytes after the last stream are an error (default: 1)' -r
complete -c hybz -l progress -d 'Show progress even if standard error is not a terminal, or never show it (default: text)' -r -f -a "text\t'A bar, or lines'
never\t'Nothing'"
complete -c hybz -l json -d 'Print a JSON object for each file, and a summary' -r -F
complete -c hybz -l bench -d 'Measure how fast FILEs are compressed and decompressed, for SECONDS each way (default: 5)' -r
complete -c hybz -l against -d 'With --bench, measure these programs too, such as lbzip2,pbzip2' -r
complete -c hybz -l completions -d 'Print the completions for SHELL' -r -f -a "bash\t''
zsh\t''
fish\t''"
complete -c hybz -s d -l decompress -d 'Decompress'
complete -c hybz -s z -l compress -d 'Compress'
complete -c hybz -s t -l test -d 'Check compressed files and write nothing'
complete -c hybz -s l -l list -d 'List streams, blocks and sizes of compressed files (-lv: also check each block)'
complete -c hybz -s c -l stdout -d 'Write to standard output and keep the input files'
complete -c hybz -l lines -d 'With --ranges or --split, give the lines that begin in a part; with --stream-size, end streams at line ends'
complete -c hybz -s r -l recursive -d 'Walk directories: all files in them and below'
complete -c hybz -l cross-file-systems -d 'With -r, also walk other file systems than that of the directory'
complete -c hybz -l null -d 'With --filelist, a zero byte ends each name, as find -print0 writes them'
complete -c hybz -l resume -d 'Leave out files whose results exist and are right'
complete -c hybz -l keep-going -d 'Go on with the next file after an error (the default)'
complete -c hybz -l fail-fast -d 'Begin no further file after an error'
complete -c hybz -s k -l keep -d 'Keep the input files'
complete -c hybz -l rm -d 'Remove input files once their results are safe (default without -c and -o)'
complete -c hybz -s f -l force -d 'Overwrite files, follow links, read devices; with -dc, copy what is not bzip2'
complete -c hybz -s 1 -l fast -d 'Use blocks of 100 kB (-2 to -8: of 200 to 800 kB)'
complete -c hybz -s 2 -d 'Use blocks of 200 kB'
complete -c hybz -s 3 -d 'Use blocks of 300 kB'
complete -c hybz -s 4 -d 'Use blocks of 400 kB'
complete -c hybz -s 5 -d 'Use blocks of 500 kB'
complete -c hybz -s 6 -d 'Use blocks of 600 kB'
complete -c hybz -s 7 -d 'Use blocks of 700 kB'
complete -c hybz -s 8 -d 'Use blocks of 800 kB'
complete -c hybz -s 9 -l best -d 'Use blocks of 900 kB (default)'
complete -c hybz -s s -l small -d 'Use one thread and blocks of at most 200 kB'
complete -c hybz -l no-gpu
complete -c hybz -l gpu-required -d 'Fail if a GPU is missing or fails'
complete -c hybz -l no-sync -d 'Do not wait for the disk before removing input files'
complete -c hybz -l no-sparse -d 'When decompressing, write all zeros: leave no holes in files'
complete -c hybz -s q -l quiet -d 'Print no remarks (-qq: no error messages either, not even about flags)'
complete -c hybz -s v -l verbose -d 'Print a line for each file (-vv: also for each block, and a table of stations)'
complete -c hybz -l measure -d 'Measure how repetitive FILEs are: entropy, runs of the BWT, exact LZ77 factors'
complete -c hybz -s h -l help -d 'Print the flags of daily use (--help: all flags; --man: all about them)'
complete -c hybz -s V -s L -l version -l license -d 'Print version and licence'
complete -c hybz -l man -d 'Print the manual page hybz(1), as roff'
complete -c hybunz -w hybz
complete -c hybcat -w hybz
