complete -c hysort -s k -l key -d 'Sort by a part of each line; it can be given several times' -r
complete -c hysort -s t -l field-separator -d 'BYTE separates fields' -r
complete -c hysort -l sort -d 'Compare as WORD says: general-numeric (-g), human-numeric (-h), month (-M), numeric (-n), version (-V)' -r
complete -c hysort -s c -l check -d 'Check that the input is sorted; do not sort' -r
complete -c hysort -s o -l output -d 'Write to FILE, which may be an input file' -r -F
complete -c hysort -l files0-from -d 'Read the names of the input files from FILE (-: standard input); a zero byte ends each' -r -F
complete -c hysort -s T -l temporary-directory -d 'Put temporary files into DIR, not TMPDIR or /tmp' -r -f -a "(__fish_complete_directories)"
complete -c hysort -s S -l buffer-size -d 'Use SIZE of memory (default: half of what there is)' -r
complete -c hysort -l parallel -d 'Use N threads (default: one for each core)' -r
complete -c hysort -l batch-size -d 'With -m, read at most N files at once' -r
complete -c hysort -l compress-program -d 'Accepted, without effect: temporary files are not compressed, and a remark says so' -r
complete -c hysort -l gpu -d 'Work on these GPUs, too (default: the first)' -r
complete -c hysort -l completions -d 'Print the completions for SHELL: bash, zsh or fish' -r
complete -c hysort -s r -l reverse -d 'Sort in descending order'
complete -c hysort -s u -l unique -d 'Of equal lines, write one (with -c: lines must ascend strictly)'
complete -c hysort -s z -l zero-terminated -d 'A zero byte ends a line, not a newline'
complete -c hysort -s s -l stable -d 'Keep lines with equal keys in the order in which they came'
complete -c hysort -s n -l numeric-sort -d 'Compare keys, or lines, as numbers'
complete -c hysort -s g -l general-numeric-sort -d 'Compare as numbers such as 1e-3, 0x1p3 and inf'
complete -c hysort -s h -l human-numeric-sort -d 'Compare as numbers with units: 900, 2K, 1G'
complete -c hysort -s M -l month-sort -d 'Compare as names of months: other text, then JAN to DEC'
complete -c hysort -s V -l version-sort -d 'Compare as versions: a-1.9, a-1.10'
complete -c hysort -s f -l ignore-case -d 'Compare lower case letters as upper case'
complete -c hysort -s b -l ignore-leading-blanks -d 'Ignore blanks at the start of keys'
complete -c hysort -s d -l dictionary-order -d 'Compare blanks, letters and digits only'
complete -c hysort -s i -l ignore-nonprinting -d 'Compare printable bytes only'
complete -c hysort -s C -d 'The same as -c, and print nothing'
complete -c hysort -s m -l merge -d 'Merge files that are sorted; do not sort'
complete -c hysort -l no-gpu -d 'The same as --gpu none'
complete -c hysort -l gpu-required -d 'Fail if a GPU is missing, and start it with the first range'
complete -c hysort -l no-sync -d 'Do not wait for the disk before FILE of -o is replaced'
complete -c hysort -s v -l verbose -d 'Print what was done: lines, bytes, time, and a table of stations'
complete -c hysort -l progress -d 'Show progress even if standard error is not a terminal'
complete -c hysort -l no-progress -d 'Never show progress'
complete -c hysort -l help -d 'Print this help'
complete -c hysort -l version -d 'Print version and licence'
complete -c hysort -l man -d 'Print the manual page hysort(1), as roff'
