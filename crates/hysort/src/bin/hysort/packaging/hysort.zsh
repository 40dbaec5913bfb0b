#compdef hysort

autoload -U is-at-least

_hysort() {
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
'-k+[Sort by a part of each line; it can be given several times]:KEY:_default' \
'--key=[Sort by a part of each line; it can be given several times]:KEY:_default' \
'-t+[BYTE separates fields]:BYTE:_default' \
'--field-separator=[BYTE separates fields]:BYTE:_default' \
'--sort=[Compare as WORD says\: general-numeric (-g), human-numeric (-h), month (-M), numeric (-n), version (-V)]:WORD:_default' \
'-c+[Check that the input is sorted; do not sort]::HOW:_default' \
'--check=[Check that the input is sorted; do not sort]::HOW:_default' \
'-o+[Write to FILE, which may be an input file]:FILE:_files' \
'--output=[Write to FILE, which may be an input file]:FILE:_files' \
'--files0-from=[Read the names of the input files from FILE (-\: standard input); a zero byte ends each]:FILE:_files' \
'-T+[Put temporary files into DIR, not TMPDIR or /tmp]:DIR:_files -/' \
'--temporary-directory=[Put temporary files into DIR, not TMPDIR or /tmp]:DIR:_files -/' \
'-S+[Use SIZE of memory (default\: half of what there is)]:SIZE:_default' \
'--buffer-size=[Use SIZE of memory (default\: half of what there is)]:SIZE:_default' \
'--parallel=[Use N threads (default\: one for each core)]:N:_default' \
'--batch-size=[With -m, read at most N files at once]:N:_default' \
'--compress-program=[Accepted, without effect\: temporary files are not compressed, and a remark says so]:PROG:_default' \
'--gpu=[Work on these GPUs, too (default\: the first)]:LIST:_default' \
'--completions=[Print the completions for SHELL\: bash, zsh or fish]:SHELL:_default' \
'-r[Sort in descending order]' \
'--reverse[Sort in descending order]' \
'-u[Of equal lines, write one (with -c\: lines must ascend strictly)]' \
'--unique[Of equal lines, write one (with -c\: lines must ascend strictly)]' \
'-z[A zero byte ends a line, not a newline]' \
'--zero-terminated[A zero byte ends a line, not a newline]' \
'-s[Keep lines with equal keys in the order in which they came]' \
'--stable[Keep lines with equal keys in the order in which they came]' \
'-n[Compare keys, or lines, as numbers]' \
'--numeric-sort[Compare keys, or lines, as numbers]' \
'-g[Compare as numbers such as 1e-3, 0x1p3 and inf]' \
'--general-numeric-sort[Compare as numbers such as 1e-3, 0x1p3 and inf]' \
'-h[Compare as numbers with units\: 900, 2K, 1G]' \
'--human-numeric-sort[Compare as numbers with units\: 900, 2K, 1G]' \
'-M[Compare as names of months\: other text, then JAN to DEC]' \
'--month-sort[Compare as names of months\: other text, then JAN to DEC]' \
'-V[Compare as versions\: a-1.9, a-1.10]' \
'--version-sort[Compare as versions\: a-1.9, a-1.10]' \
'-f[Compare lower case letters as upper case]' \
'--ignore-case[Compare lower case letters as upper case]' \
'-b[Ignore blanks at the start of keys]' \
'--ignore-leading-blanks[Ignore blanks at the start of keys]' \
'-d[Compare blanks, letters and digits only]' \
'--dictionary-order[Compare blanks, letters and digits only]' \
'-i[Compare printable bytes only]' \
'--ignore-nonprinting[Compare printable bytes only]' \
'-C[The same as -c, and print nothing]' \
'-m[Merge files that are sorted; do not sort]' \
'--merge[Merge files that are sorted; do not sort]' \
'--no-gpu[The same as --gpu none]' \
'--gpu-required[Fail if a GPU is missing, and start it with the first range]' \
'--no-sync[Do not wait for the disk before FILE of -o is replaced]' \
'-v[Print what was done\: lines, bytes, time, and a table of stations]' \
'--verbose[Print what was done\: lines, bytes, time, and a table of stations]' \
'--progress[Show progress even if standard error is not a terminal]' \
'--no-progress[Never show progress]' \
'--help[Print this help]' \
'--version[Print version and licence]' \
'--man[Print the manual page hysort(1), as roff]' \
'*::files:_files' \
&& ret=0
}

(( $+functions[_hysort_commands] )) ||
_hysort_commands() {
    local commands; commands=()
    _describe -t commands 'hysort commands' commands "$@"
}

if [ "$funcstack[1]" = "_hysort" ]; then
    _hysort "$@"
else
    compdef _hysort hysort
fi
