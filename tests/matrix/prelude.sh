# The functions with which the scenarios are written. A scenario starts in an empty directory; $KIT has the original
# files, $X is the program under test, $K its name.
set -u
failed=0
rc=none
# The seconds until a scenario counts as hanging: a busy machine in a small control group needs many.
LIMIT=60
export FAULT_DONE=$PWD/../caused
# The command that starts the program.
AS=(env)
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
exec 2>../errors

bad() { printf '%s\n' "$*"; failed=1; }
skip() { printf '%s\n' "$*"; exit 77; }
finish() { exit $failed; }
ours() { [ "$K" = hybz ]; }

# Files of the kit, by name.
take() { cp "${@/#/$KIT/}" . && chmod 644 -- "$@"; }

# Runs the program: its exit code in $rc, what it says in ../err. FAULT makes system calls fail.
x() {
    rc=0
    if [ -n "${FAULT:-}" ]; then
        [ -e "$KIT/faults.so" ] || skip "no C compiler"
        rm -f ../caused
        timeout --foreground -k 1 "$LIMIT" \
            "${AS[@]}" env LD_PRELOAD="$KIT/faults.so" FAULT="$FAULT" "$X" "$@" 2>../err || rc=$?
        # Calls from within the C library (stdio) do not pass through the shim: that shows nothing of a peer.
        [ -e ../caused ] || { ours && bad "no fault was caused"; } || skip "the fault cannot be caused"
    else
        timeout --foreground -k 1 "$LIMIT" "${AS[@]}" "$X" "$@" 2>../err || rc=$?
    fi
}

# Runs the program in the background, as process $pid; `ended` waits for it. To write to it slowly:
# `mkfifo p; exec 3<> p; start < p 3>&-`, write to 3, and close it.
start() {
    # Bash gives a background process /dev/null unless it has <&0, and has it ignore these signals.
    local default=(env --default-signal=INT,QUIT)
    if [ -n "${FAULT:-}" ]; then
        [ -e "$KIT/faults.so" ] || skip "no C compiler"
        "${default[@]}" LD_PRELOAD="$KIT/faults.so" FAULT="$FAULT" "$X" "$@" <&0 2>../err &
    else
        "${default[@]}" "$X" "$@" <&0 2>../err &
    fi
    pid=$!
}
ended() { rc=0; wait $pid || rc=$?; }
# Waits until the process has opened FILE.
opened() {
    local try
    for try in {1..500}; do
        ! find "/proc/$pid/fd" -lname "*/$1" 2>/dev/null | grep -q . || return 0
        sleep 0.02
    done
}

# Compares the exit code. For a peer, any refusal counts.
code() {
    local want
    for want; do
        [ "$rc" = "$want" ] && return
        ours || { [ "$want" != 0 ] && [ "$rc" -gt 0 ] && [ "$rc" -lt 124 ] && return; }
    done
    case $rc in
    124) bad "hangs" ;;
    *) bad "exit $rc, not $*" ;;
    esac
}

same() { cmp -s "$1" "$2" || bad "$2 is not what it should be"; }
kept() { local f; for f; do [ -e "$f" ] || { bad "$f is gone"; continue; }; same "$KIT/$f" "$f"; done; }
gone() { local f; for f; do [ ! -e "$f" ] && [ ! -L "$f" ] || bad "$f is there"; done; }
is() { [ "$(cat "$1" 2>/dev/null)" = "$2" ] || bad "$1 is not '$2'"; }
# FILE is a valid .bz2 of the kit's file NAME.
packed() {
    [ -e "$1" ] || { bad "$1 is missing"; return; }
    unpack < "$1" 2>/dev/null | cmp -s - "$KIT/$2" || bad "$1 does not hold $2"
}
unpack() { if command -v bzip2 >/dev/null; then bzip2 -dc; else "$X" -dc; fi; }
# These names are all there are.
only() {
    local there want
    there=$(ls -A | sort | tr '\n' ' ')
    want=$([ $# = 0 ] || printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ "$there" = "$want" ] || bad "there is: $there"
}
# Checks hybz's message. The peers have other words.
says() { ! ours || grep -qF -- "$1" ../err || bad "says: $(head -c 150 ../err)"; }
silent() { ! ours || [ ! -s ../err ] || bad "says: $(head -c 150 ../err)"; }
# The peak memory of process $pid in kB, without the pages of program and C library: these belong to the page cache, and
# the kernel decides how many of them are mapped (4.5 MB of hybz on one machine, more than 5.8 on another).
own() { awk '/VmHWM/ { peak = $2 } /RssFile/ { files = $2 } END { print peak - files }' "/proc/$pid/status"; }
# The peak memory of process $pid in kB, while it lives.
peak() { awk '/VmHWM/ { print $2 }' "/proc/$pid/status"; }
below() { [ "$1" -le "$2" ] || bad "$1 kB, more than $2"; }
# Gives FILE an access control list, in which a user may do more than the group; with `default`, a directory one for its
# new files.
acl() {
    python3 - "$1" "system.posix_acl_${2:-access}" <<'P' || skip "no access control lists"
import os, struct, sys
rows = [(1, 6, 2**32-1), (2, 6, 1234), (4, 6 * (sys.argv[1] == "."), 2**32-1), (16, 6, 2**32-1), (32, 0, 2**32-1)]
os.setxattr(*sys.argv[1:], struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *r) for r in rows))
P
}
# Its list, if it has one.
list_of() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "system.posix_acl_access"))' "$1" 2>/dev/null; }
# Makes a control group with $1 MB of memory, of version 1 or 2, for `( echo $BASHPID > $group/cgroup.procs; ... )`.
group_of() {
    local limit=memory.limit_in_bytes
    group=/sys/fs/cgroup/memory/hybz-matrix-$$
    [ -e "${group%/*}/$limit" ] || { group=/sys/fs/cgroup/hybz-matrix-$$ limit=memory.max; }
    mkdir "$group" && trap 'rmdir $group' EXIT && [ -e "$group/$limit" ] || skip "no control group can be made"
    echo $(($1 << 20)) > "$group/$limit"
}
# Every operation on a file, here, by the program that `y` runs.
life() {
    cp "$KIT/a" .; y a; code 0; only a.bz2; packed a.bz2 a; [ "$(stat -c %h a.bz2)" = 1 ] || bad "more links than one"
    y -t a.bz2; code 0; y -dc a.bz2 > ../text; code 0; same "$KIT/a" ../text
    y -d a.bz2; code 0; only a; kept a; y a
    cp "$KIT/a" .; y a; code 1; only a a.bz2; kept a
    echo old > a.bz2; y -f a; code 0; only a.bz2; packed a.bz2 a
    echo old > a; y -d a.bz2; code 1; only a a.bz2; is a old
    y -df a.bz2; code 0; only a; kept a
    echo old > a.bz2; y -fk a; code 0; only a a.bz2; packed a.bz2 a; rm a.bz2
    cp "$KIT/damaged.bz2" "$KIT/b.bz2" .; cp b.bz2 c.bz2; y -d b.bz2 damaged.bz2 c.bz2
    code 2; only a b c damaged.bz2; kept damaged.bz2 b
    rm -f -- *; local long; long=x$(printf 'ü%.0s' {1..105}) # no half character of it in a temporary name
    if cp "$KIT/a" "$long" 2>/dev/null; then y "$long"; code 0; only "$long.bz2"; packed "$long.bz2" a; fi
}
