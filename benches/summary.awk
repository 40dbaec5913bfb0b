# Medians of a results.csv: awk [-v scenario=NAME] [-v markdown=1] -f summary.awk results.csv
#
# The commands of one race are compared: `times` is the time of each command as a multiple of the race's first command:
# the median over the rounds of the ratio within a round. In `old-new` and `gpu-default-vs-cpu` the first command is on
# trial, and a row below the limit (0.98 and 0.95) is marked.

# The median of values[key, 1 .. count].
function median(values, key, count,    i, j, v, sorted) {
    for (i = 1; i <= count; i++) {
        v = values[key, i]
        for (j = i - 1; j >= 1 && sorted[j] > v; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = v
    }
    return count % 2 ? sorted[(count + 1) / 2] : (sorted[count / 2] + sorted[count / 2 + 1]) / 2
}

BEGIN { FS = "," }
FNR == 1 || (scenario != "" && $1 != scenario) { next }
{
    # Rows with different numbers of threads compete only in scenarios that vary threads.
    race = $1 SUBSEP $2 ($1 ~ /^(cpu-peers|old-new)$/ ? SUBSEP $6 : "")
    row = race SUBSEP $4
    if (!(race in first)) { first[race] = row; races[++race_count] = race }
    if (!(row in in_race)) {
        in_race[row] = race
        rows[race, ++row_count[race]] = row
        name[row] = $1; input[row] = $2; bytes[row] = $3; command[row] = $4; threads[row] = $6
        verified[row] = $9; size[row] = $10
    }
    seconds[row, ++rounds[row]] = $8
    by_round[row, $7] = $8
    round_name[row, rounds[row]] = $7
    # If only medians are known, their table also had the median of the ratios.
    if ($11 != "") given[row] = $11
}
END {
    limit["old-new"] = 0.98
    limit["gpu-default-vs-cpu"] = 0.95
    for (r = 1; r <= race_count; r++) if (length(input[first[races[r]]]) > width) width = length(input[first[races[r]]])
    for (row in command) {
        sub(/ >\/dev\/null$/, "", command[row])
        if (length(command[row]) > longest) longest = length(command[row])
    }
    text = "%-" (width + 1) "s %8s %9s %6s %13s  %s\n"
    if (markdown) {
        print "| input | median s | MB/s | times as long | output bytes | command |\n|---|---|---|---|---|---|"
    } else {
        printf text, "input", "s", "MB/s", "times", "output bytes", "command"
    }
    for (r = 1; r <= race_count; r++) {
        race = races[r]
        for (n = 1; n <= row_count[race]; n++) {
            row = rows[race, n]
            base = first[race]
            pairs = 0
            for (i = 1; i <= rounds[row]; i++) {
                k = round_name[row, i]
                if ((base, k) in by_round && by_round[base, k] > 0)
                    ratio[row, ++pairs] = by_round[row, k] / by_round[base, k]
            }
            middle = median(seconds, row, rounds[row])
            times = row in given ? given[row] : row == base || !pairs ? "1" : sprintf("%.3f", median(ratio, row, pairs))
            mark = name[row] in limit && row != base && times < limit[name[row]] ? " below " limit[name[row]] : ""
            speed = middle > 0 ? sprintf("%.1f", bytes[row] / middle / 1e6) : "-"
            if (markdown) {
                gsub(/\|/, "\\\\|", command[row])
                printf "| %s | %.3f | %s | %s%s | %s | `%s` |\n",
                    input[row], middle, speed, times, mark, size[row], command[row]
            } else {
                printf text, input[row], sprintf("%.3f", middle), speed, times, size[row], command[row] mark
            }
        }
    }
}
