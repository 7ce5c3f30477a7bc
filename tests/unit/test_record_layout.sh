#!/usr/bin/env bash
# A struct of every order of u8, u16, u32, f64 and vec3<f32> lies in buffers as the C compiler lays it
# out: sizes, alignments, offsets, and the bytes that a program reads and writes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

members=(u8 u16 u32 f64 vec3)
declare -A c_member=([u8]='uint8_t u8' [u16]='uint16_t u16' [u32]='uint32_t u32' [f64]='double f64'
    [vec3]='float vec3[3]')
declare -A written=([u8]='u8: u8' [u16]='u16: u16' [u32]='u32: u32' [f64]='f64: f64'
    [vec3]='vec3: vec3<f32>')

orders=()
permute() { # PREFIX MEMBER...: all orders of the members behind the prefix
    local prefix=$1
    shift
    if [ $# -eq 0 ]; then
        orders+=("$prefix")
        return
    fi
    local here other
    for here in "$@"; do
        local rest=()
        for other in "$@"; do
            [ "$other" = "$here" ] || rest+=("$other")
        done
        permute "$prefix $here" "${rest[@]}"
    done
}
permute '' "${members[@]}"
[ ${#orders[@]} -eq 120 ]

# A name of a scalar type is no name of a field.
field() { echo "m_$1"; }

{
    echo '#include <stddef.h>'
    echo '#include <stdint.h>'
    echo '#include <stdio.h>'
    echo '#include <string.h>'
    number=0
    for order in "${orders[@]}"; do
        echo "typedef struct s$number {"
        for member in $order; do
            echo "    ${c_member[$member]/ / m_};"
        done
        echo "} s$number;"
        number=$((number + 1))
    done
    echo 'int main(int count, char **arguments) {'
    echo '    (void)count;'
    number=0
    for order in "${orders[@]}"; do
        printf '%s\n' "    printf(\"struct s$number: %zu bytes, aligned to %zu\\n\", sizeof(s$number), _Alignof(s$number));"
        for member in $order; do
            printf '%s\n' "    printf(\"%8zu  ${written[$member]/#/m_}\\n\", offsetof(s$number, $(field "$member")));"
        done
        number=$((number + 1))
    done
    # Two records of each struct: what goes in, and what the program makes of it.
    number=0
    for order in "${orders[@]}"; do
        echo "    {"
        echo "        s$number x[2]; memset(x, 0, sizeof x);"
        echo "        for (int i = 0; i < 2; i++) {"
        echo "            x[i].m_u8 = (uint8_t)(7 + i); x[i].m_u16 = (uint16_t)(300 + i); x[i].m_u32 = 70000u + (uint32_t)i;"
        echo "            x[i].m_f64 = 0.5 + i; for (int k = 0; k < 3; k++) x[i].m_vec3[k] = (float)(10 * i + k);"
        echo "        }"
        echo "        char path[4096]; snprintf(path, sizeof path, \"%s/in$number\", arguments[1]);"
        echo "        FILE *file = fopen(path, \"wb\"); fwrite(x, sizeof x, 1, file); fclose(file);"
        echo "        for (int i = 0; i < 2; i++) {"
        echo "            x[i].m_u8 += 1; x[i].m_u16 += 2; x[i].m_u32 += 3; x[i].m_f64 += 4;"
        echo "            for (int k = 0; k < 3; k++) x[i].m_vec3[k] *= 2;"
        echo "        }"
        echo "        snprintf(path, sizeof path, \"%s/expected$number\", arguments[1]);"
        echo "        file = fopen(path, \"wb\"); fwrite(x, sizeof x, 1, file); fclose(file);"
        echo "    }"
        number=$((number + 1))
    done
    echo '    return 0;'
    echo '}'
} > "$work/layout.c"

number=0
for order in "${orders[@]}"; do
    {
        echo "struct s$number {"
        for member in $order; do
            echo "    ${written[$member]/#/m_},"
        done
        echo '}'
    } >> "$work/layout.vyre"
    number=$((number + 1))
done
number=0
for order in "${orders[@]}"; do
    {
        echo "program p$number(x: inout buffer<s$number>) over x {"
        echo '    var r = x[gid];'
        echo '    r.m_u8 += 1; r.m_u16 += 2; r.m_u32 += 3; r.m_f64 += 4; r.m_vec3 *= 2;'
        echo '    x[gid] = r;'
        echo '}'
    } >> "$work/layout.vyre"
    number=$((number + 1))
done

"${CC:-cc}" -std=c17 -O1 -o "$work/layout" "$work/layout.c"
"$work/layout" "$work" > "$work/expected"
"$VYRE" show "$work/layout.vyre" --layout > "$work/found"
diff "$work/expected" "$work/found" > "$work/difference" || {
    echo 'the layouts differ, C first:' >&2
    head -20 "$work/difference" >&2
    exit 1
}
for number in $(seq 0 119); do
    "$VYRE" run "$work/layout.vyre" "p$number" "x=@$work/in$number" -b reference \
        --out "x=$work/out" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    cmp "$work/expected$number" "$work/out" || { echo "struct s$number:${orders[$number]}" >&2; exit 1; }
done
for number in 0 17 59 88 119; do
    "$VYRE" run "$work/layout.vyre" "p$number" "x=@$work/in$number" -b cpu \
        --out "x=$work/out" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    cmp "$work/expected$number" "$work/out" || { echo "struct s$number on cpu:${orders[$number]}" >&2; exit 1; }
done
echo "120 structs lie as C's"
