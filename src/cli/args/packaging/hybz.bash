# Completions of hybz for bash. A new flag needs its place in the two tables.

_hybz() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} flag='' values='' before='' word name
    local IFS=$'\n'
    COMPREPLY=()
    # bash makes three words of --flag=value, unless its user has taken = out of COMP_WORDBREAKS.
    if [[ $cur == = ]]; then
        flag=$prev cur=''
    elif [[ $prev == = && COMP_CWORD -ge 2 ]]; then
        flag=${COMP_WORDS[COMP_CWORD-2]}
    elif [[ $cur == --*=* ]]; then
        flag=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}
    else
        case $prev in
        --recover|--index|--verify|--ignore-trailing-garbage|--progress|--json|--bench) ;;
        -*) flag=$prev ;;
        esac
    fi
    case $flag in
        --recover) values='text fill bz2 split' ;;
        --output-dir) values=/ ;;
        --verify) values='blocks file none' ;;
        --format) values='bz2 hbz lz4' ;;
        --progress) values='text never' ;;
        --completions) values='bash zsh fish' ;;
        -o|--index|--filelist|--plan-file|--join|--json) values=. ;;
        --ranges|--split|--exclude|--plan|--shard|--stream-size|-S|--suffix|--block-size|--perturb|-p|-j|-n|-T|--threads|-m|--memory|--gpu|--ignore-trailing-garbage|--bench|--against) values=- ;;
    esac
    case $values in
    '') ;;
    .) return ;; # a file, as bash completes it by itself
    /) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null; return ;;
    -) compopt +o default +o bashdefault 2>/dev/null; return ;;
    *) COMPREPLY=($(IFS=' '; compgen -P "$before" -W "$values" -- "$cur")); return ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(IFS=' '; compgen -W '-d --decompress -z --compress -t --test -l --list --recover -c --stdout -o --index --ranges --split --lines -r --recursive --cross-file-systems --filelist --null --exclude --output-dir --resume --fail-fast --verify --plan --shard --plan-file --join --stream-size -S --suffix -k --keep --rm -f --force -1 --fast -2 -3 -4 -5 -6 -7 -8 -9 --best -s --small --block-size --format --perturb -p -j -n -T --threads -m --memory --gpu --gpu-required --ignore-trailing-garbage --no-sync --no-sparse -q --quiet -v --verbose --progress --json --bench --against --measure -h --help -V -L --version --license --man --completions' -- "$cur"))
        return
    fi
    # What is decompressed, tested or listed has a suffix. If no file here has one, bash offers all files.
    local reads=''
    case ${1##*/} in *unzip*|*hybunz*|*zcat*|*hybcat*) reads=yes ;; esac
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
        --decompress|--test|--list|--recover|--ranges) reads=yes ;;
        --compress) reads='' ;;
        --*) ;;
        -*[dtl]*) reads=yes ;;
        -*z*) reads='' ;;
        esac
    done
    [[ $reads ]] || return
    local found='' all=()
    for name in $(compgen -f -- "$cur"); do
        case $name in
        *.bz2|*.bz|*.tbz2|*.tbz|*.tz2|*.hbz|*.Z|*.taz|*.lz4) found=yes all+=("$name") ;;
        *) [[ -d $name ]] && all+=("$name") ;;
        esac
    done
    [[ $found ]] || return
    COMPREPLY=("${all[@]}")
    compopt -o filenames 2>/dev/null
}

complete -F _hybz -o bashdefault -o default hybz hybunz hybcat
