#!/usr/bin/env bash
# Draws docs/growth.svg from benches/results: how the cost of a byte grows with threads, input, GPUs and block size.
# Points are medians of recorded runs on H200 hosts; the legend of each panel names the runs. It also draws
# docs/speed.svg, the bars of README.md.
#
#     benches/growth.sh            draws
#     benches/growth.sh --check    fails if drawing would change anything
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
picture=$here/../docs/growth.svg
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

# panel,series,x,seconds,bytes of every run that is drawn
runs() {
    cat "$here"/results/*xeon16/results.csv "$here"/results/*-h200/results.csv "$here"/results/*h200x4/results.csv |
        awk -F, '
        function put(panel, series, x) { print panel "," series "," x "," $(tool + 3) "," bytes }
        # A command may have commas; the tool comes after it, then threads, round and seconds.
        {
            command = $4
            programs = "^(hybz|bzip2|lbzip2|pbzip2)( --no-gpu)?$"
            for (tool = 5; tool < NF && $tool !~ programs; tool++) command = command "," $tool
            gsub(/"/, "", command)
            bytes = $3
            threads = $(tool + 1)
        }
        command ~ /^hybz -c9 -p[0-9]+ linux203.tar >\/dev\/null$/ { put("1", "hybz", threads) }
        command ~ /^lbzip2 -c9 -n[0-9]+ linux203.tar >\/dev\/null$/ { put("1", "lbzip2", threads) }
        $1 == "cores-compress" && command ~ /^hybz --no-gpu -p(8|16|32|64) -c 8G/ { put("1", "hybz", threads) }
        $1 == "cores-compress" && command ~ /^lbzip2 -n[0-9]+ -c 8G/ { put("1", "lbzip2", threads) }
        $1 == "cores-decompress" && command ~ /^hybz/ { put("1", "hybz -d", threads) }
        $1 == "cores-decompress" && command ~ /^lbzip2/ { put("1", "lbzip2 -d", threads) }
        # benches/device.py runs these for inputs of 0.3, 0.6, 1 and 8 GB.
        $1 ~ /^gpu-(default-[36]00MB|compress|compress-eighth)$/ {
            if (command ~ /^hybz -c linux8g/) put("2", "16 cores and a GPU", bytes / 1e9)
            if (command ~ /^hybz --no-gpu /) put("2", "16 cores", bytes / 1e9)
            if (command ~ /^lbzip2 -n16 /) put("2", "lbzip2 -n16", bytes / 1e9)
        }
        $1 == "gpu-input-size" && command ~ /^hybz --no-gpu .*dev/ { put("2", "16 cores", bytes / 1e9) }
        $1 == "gpu-input-size" && command ~ /^lbzip2 .*dev/ { put("2", "lbzip2 -n16", bytes / 1e9) }
        command == "hybz --no-gpu -c 24G >/dev/null" { put("3", "compress", 0) }
        command == "hybz --gpu 0 -c 24G >/dev/null" { put("3", "compress", 1) }
        command == "hybz --gpu 0,1 -c 24G >/dev/null" { put("3", "compress", 2) }
        command == "hybz -c 24G >/dev/null" { put("3", "compress", 4) }
        command == "hybz --no-gpu -dc 24G.bz2 >/dev/null" { put("3", "decompress", 0) }
        command == "hybz --gpu 0 -dc 24G.bz2 >/dev/null" { put("3", "decompress", 1) }
        command == "hybz --gpu 0,1 -dc 24G.bz2 >/dev/null" { put("3", "decompress", 2) }
        command == "hybz -dc 24G.bz2 >/dev/null" { put("3", "decompress", 4) }'
    # The thesis's table 5.1, without perturbation: one core; and all cores and the GPU of the host.
    awk -F, '$3 == "0" && $1 ~ /linux/ { print "4,one core," $2 / 1e6 "," $4 ",203000000"
                                         print "4,16 cores and a GPU," $2 / 1e6 "," $9 ",203000000" }' \
        "$here"/results/*-h200/table-5.1.csv
}

runs | sort -t, -k1,1 -k2,2 -k3,3g -k4,4g | awk -F, '
    # Medians, in ns a byte.
    function close_point() {
        if (count) { points++; panel[points] = p; series[points] = s; x[points] = at
                     y[points] = value[int((count + 1) / 2)] }
        count = 0
    }
    function line(x1, y1, x2, y2, colour, width) {
        printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", x1, y1, x2, y2
        printf " stroke=\"%s\" stroke-width=\"%d\"/>\n", colour, width
    }
    function log10(v) { return log(v) / log(10) }
    { if ($1 != p || $2 != s || $3 != at) close_point()
      p = $1; s = $2; at = $3; value[++count] = $4 / $5 * 1e9 }
    END {
        close_point()
        title[1] = "hardware threads (0.2 and 8 GB)"; title[2] = "input, GB"
        title[3] = "GPUs beside 64 cores (24 GB)"; title[4] = "block, MB (0.2 GB, .bz2 and .hbz)"
        split("#0072b2 #d55e00 #009e73 #cc79a7", colour, " ")
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 640\""
        print " font-family=\"sans-serif\" font-size=\"12\">"
        print "<rect width=\"920\" height=\"640\" fill=\"white\"/>"
        for (n = 1; n <= 4; n++) {
            left = 60 + (n - 1) % 2 * 460; top = 40 + int((n - 1) / 2) * 310; wide = 370; high = 220
            low_x = low_y = 1e99; top_x = top_y = 0
            for (i = 1; i <= points; i++) if (panel[i] == n) {
                own = n == 3 ? x[i] + 0.5 : x[i]
                if (own < low_x) low_x = own
                if (own > top_x) top_x = own
                if (y[i] < low_y) low_y = y[i]
                if (y[i] > top_y) top_y = y[i]
            }
            low_y = exp(log(10) * int(log10(low_y) + 10) - 10 * log(10)); top_y *= 1.3
            printf "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">ns a byte, by %s</text>\n", left, top - 12, title[n]
            printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", left, top, wide, high
            print " fill=\"none\" stroke=\"#888\"/>"
            for (power = -2; power <= 3; power++) for (digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
                tick = digit * exp(log(10) * power)
                if (tick < low_y || tick > top_y) continue
                at_y = top + high - high * log10(tick / low_y) / log10(top_y / low_y)
                line(left, at_y, left + wide, at_y, "#ddd", 1)
                printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 5, at_y + 4, tick
            }
            shown = ""; number = 0; before = ""
            for (i = 1; i <= points; i++) if (panel[i] == n) {
                own = n == 3 ? x[i] + 0.5 : x[i]
                at_x = left + 15 + (wide - 30) * log10(own / low_x) / log10(top_x / low_x)
                at_y = top + high - high * log10(y[i] / low_y) / log10(top_y / low_y)
                if (series[i] != before) {
                    number++
                    legend_y = top + high + 36 + int((number - 1) / 2) * 15
                    printf "<text x=\"%d\" y=\"%d\"", left + (number - 1) % 2 * 185, legend_y
                    printf " fill=\"%s\">%s</text>\n", colour[number], series[i]
                } else {
                    line(last_x, last_y, at_x, at_y, colour[number], 2)
                }
                printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", at_x, at_y, colour[number]
                label = sprintf("%.2g", x[i])
                if (index(shown, " " label " ") == 0) {
                    printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at_x, top + high + 16, label
                    shown = shown " " label " "
                }
                before = series[i]; last_x = at_x; last_y = at_y
            }
        }
        print "</svg>"
    }' >"$scratch"

# MB/s of the median of the runs that match: RESULTS TOOL PATTERN BYTES
rate() {
    awk -F, -v tool="$2" -v pattern="$3" -v bytes="$4" '$5 == tool && $4 ~ pattern && $3 == bytes { print $8 }' \
        "$here/results/$1/results.csv" | sort -g |
        awk -v bytes="$4" '{ s[NR] = $1 } END { printf "%.4g\n", bytes / s[int((NR + 1) / 2)] / 1e6 }'
}

# title,program,MB/s of each bar; a title begins a group, and the group's longest bar is as wide as the picture allows
bars() {
    local one=2026-11-27-43cfeeb-epyc2 run=2026-11-21-6deac89-xeon16 gpu=2026-11-27-b9fd6c5-h200
    local mb=203000000 gb=8120000000
    echo "Compress: one thread,bzip2,$(rate $one bzip2 '^bzip2 -c9 linux203' $mb)"
    echo "Compress: one thread,lbzip2,$(rate $one lbzip2 '-c9 -n1 linux203' $mb)"
    echo "Compress: one thread,hybz,$(rate $one hybz '-c9 -p1 linux203' $mb)"
    echo "Compress: 16 cores,lbzip2,$(rate $run lbzip2 '-c9 -n16 linux203' $mb)"
    echo "Compress: 16 cores,hybz,$(rate $run hybz '-c9 -p16 linux203' $mb)"
    echo "Compress 8 GB: 16 cores,lbzip2,$(rate $gpu lbzip2 . 1015000000)"
    echo "Compress 8 GB: 16 cores,hybz with an H200,$(rate $gpu hybz '^hybz -c linux8g >' $gb)"
    echo "Decompress: one thread,bzip2,$(rate $one bzip2 '^bzip2 -dc linux203' $mb)"
    echo "Decompress: one thread,lbzip2,$(rate $one lbzip2 '-dc -n1 linux203' $mb)"
    echo "Decompress: one thread,hybz,$(rate $one hybz '-dc -p1 linux203' $mb)"
    echo "Decompress: 16 cores,lbzip2,$(rate $run lbzip2 '-dc -n16 linux203' $mb)"
    echo "Decompress: 16 cores,hybz,$(rate $run hybz '-dc -p16 linux203' $mb)"
    echo "Decompress 8 GB: 16 cores,lbzip2,$(rate $gpu lbzip2 . $gb)"
    echo "Decompress 8 GB: 16 cores,hybz with an H200,$(rate $gpu hybz '^hybz -dc linux8g.bz2 >/dev/null$' $gb)"
}

# One picture for light and dark pages: crates.io does not resolve what `srcset` names.
speeds() {
    bars | awk -F, '
        { title[NR] = $1; name[NR] = $2; speed[NR] = $3; if ($3 > longest[$1]) longest[$1] = $3 }
        END {
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 330\""
            print " font-family=\"sans-serif\" font-size=\"13\">"
            print "<style>"
            print ".paper { fill: #ffffff } .ink { fill: #222222 } .plain { fill: #b0b0b0 } .own { fill: #0072b2 }"
            print "@media (prefers-color-scheme: dark) {"
            print ".paper { fill: #0d1117 } .ink { fill: #e6edf3 } .plain { fill: #5f6771 } .own { fill: #56b4e9 } }"
            print "</style>"
            print "<rect width=\"900\" height=\"330\" class=\"paper\"/>"
            for (i = 1; i <= NR; i++) {
                half = title[i] ~ /^Decompress/
                if (half && !begun) { y = 0; begun = 1 }
                left = 160 + half * 440
                if (title[i] != title[i - 1]) {
                    y += 34
                    printf "<text x=\"%d\" y=\"%d\" class=\"ink\" font-weight=\"bold\">%s</text>\n", \
                        left, y, title[i] ", MB/s"
                    y += 10
                }
                wide = 200 * speed[i] / longest[title[i]]
                printf "<text x=\"%d\" y=\"%d\" class=\"ink\" text-anchor=\"end\">%s</text>\n", \
                    left - 8, y + 14, name[i]
                printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\" class=\"%s\"/>\n", \
                    left, y, wide, name[i] ~ /^hybz/ ? "own" : "plain"
                printf "<text x=\"%.1f\" y=\"%d\" class=\"ink\">%s</text>\n", left + wide + 6, y + 14, \
                    sprintf(speed[i] < 100 ? "%.1f" : "%.0f", speed[i])
                y += 23
            }
            print "</svg>"
        }'
}

speed=$here/../docs/speed.svg
drawn=$(mktemp)
trap 'rm -f "$scratch" "$drawn"' EXIT
speeds >"$drawn"
if [ "${1-}" = --check ]; then
    cmp "$scratch" "$picture"
    cmp "$drawn" "$speed"
else
    cp "$scratch" "$picture"
    cp "$drawn" "$speed"
    chmod 644 "$picture" "$speed"
fi
