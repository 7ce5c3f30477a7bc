#include "tests/hostile/kernels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* A text with a letter behind each `$`: `$i` is the number of the line, `$k` and `$o` grow with it,
 * `$r` is drawn below 16 and `$v` below `$c`, the carried variables; `$n` is drawn for the kernel,
 * `$d` is a depth and `$p` the one below; `$t` is the type. */
typedef struct maker {
    uint64_t random;
    const char *type;
    uint32_t line, trips, carried, depth;
    vyre_strbuf *out;
} maker;

static uint32_t draw(maker *m, uint32_t below) {
    return (uint32_t)vyre_random_below(&m->random, below);
}

static uint32_t number_of(maker *m, char letter) {
    switch (letter) {
    case 'i': return m->line;
    case 'k': return m->line + 3;
    case 'o': return 2 * m->line + 3;
    case 'r': return draw(m, 16);
    case 'v': return draw(m, m->carried);
    case 'c': return m->carried;
    case 'n': return m->trips;
    case 'd': return m->depth;
    case 'p': return m->depth - 1;
    default: fprintf(stderr, "no number $%c\n", letter); exit(2);
    }
}

static void put(maker *m, const char *text) {
    for (; *text; text++) {
        if (*text != '$') {
            vyre_strbuf_putc(m->out, *text);
        } else if (*++text == 't') {
            vyre_strbuf_puts(m->out, m->type);
        } else {
            vyre_strbuf_u64(m->out, number_of(m, *text));
        }
    }
}

enum { MOST_FORMS = 8, MOST_TYPES = 10 };

/* Lines of some forms between a head and a tail. */
typedef struct kind {
    const char *name, *head, *tail;
    const char *forms[MOST_FORMS];
    const char *types[MOST_TYPES]; /* none: u32 */
    bool is_racy, is_long;
    void (*write)(maker *m); /* if it is not lines */
} kind;

static uint32_t count_texts(const char *const *texts, uint32_t most) {
    uint32_t count = 0;
    while (count < most && texts[count]) {
        count++;
    }
    return count;
}

static const char *pick(maker *m, const char *const *texts, uint32_t most) {
    return texts[draw(m, count_texts(texts, most))];
}

/* One to four of the forms, as often as they fit, or fewer times. */
static void write_lines(maker *m, const kind *of) {
    static const uint32_t counts[] = {60, 250, 4096, 4096};
    uint32_t most = counts[draw(m, 4)], chosen = draw(m, 4) + 1;
    const char *forms[MOST_FORMS] = {NULL};
    for (uint32_t i = 0; i < chosen; i++) {
        forms[i] = pick(m, of->forms, MOST_FORMS);
    }
    put(m, of->head);
    vyre_strbuf tail = {0};
    maker behind = *m;
    behind.out = &tail;
    put(&behind, of->tail);
    for (m->line = 0; m->line < most; m->line++) {
        size_t before = m->out->size;
        put(m, pick(m, forms, chosen));
        vyre_strbuf_putc(m->out, '\n');
        if (m->out->size + tail.size > HOSTILE_KERNEL_BYTES) {
            vyre_strbuf_cut(m->out, before);
            break;
        }
    }
    vyre_strbuf_add(m->out, tail.data, tail.size);
    vyre_strbuf_free(&tail);
}

#define OVER "program p(x: buffer<$t>, y: inout buffer<$t>) over y "
#define FROM_X OVER "{\nvar s = x[gid];\n"
#define TO_Y "y[gid]=s;\n}\n"

/* Inlined loops in one another, with private arrays. */
static void write_nests(maker *m) {
    static const char *const bodies[] = {
        "for i in 0..$n { s+=f$p(s+$t(i)); }",
        "var a: $t[$n]; for i in 0..$n { a[i]=f$p(s^$t(i)); } for i in 0..$n { s+=a[i]; }",
        "var a: $t[16]; for i in 0..16 { a[i]=f$p(s+$t(i)); s^=a[15-i]; }",
        "s=f$p(s+1); s=f$p(s+2); s=f$p(s+3);",
        "while s>9 { s=f$p(s)/3; }",
        "if s>$r { s=f$p(s); } else { s=f$p(s+1)+f$p(s+2); }"};
    uint32_t depth = draw(m, 7) + 2;
    put(m, "fn f0(v: $t) -> $t { var s=v; var a: $t[$n]; for i in 0..$n { a[i]=s+$t(i); "
           "s=s*3+a[$n-1-i]; } for i in 0..$n { s^=a[i]; } return s; }\n");
    for (m->depth = 1; m->depth < depth; m->depth++) {
        put(m, "fn f$d(v: $t) -> $t { var s=v; ");
        put(m, bodies[draw(m, 6)]);
        put(m, " return s; }\n");
    }
    put(m, OVER "{ y[gid]=f$p(x[gid]); }\n");
}

/* Functions that call one another several times: sizes multiply. */
static void write_calls(maker *m) {
    static const uint32_t widths[] = {2, 3, 4, 5, 6, 8, 10, 20};
    static const uint32_t depths[] = {13, 9, 7, 6, 5, 4, 4, 3};
    static const char *const cores[] = {"return (v*3)^(v>>1);",
                                        "return v/3+x[v];",
                                        "return v%7+x[v^5]*x[v+1];",
                                        "if v>9 { return v; } return v*5+1;",
                                        "var a: u32[4]; a[v%4]=v; a[1]^=3; return a[v%3]+a[0];",
                                        "var s=v; for i in 0..4 { s=s*3+x[s+i]; } return s;"};
    uint32_t shape = draw(m, 8);
    put(m, "fn f0(v: u32, x: buffer<u32>) -> u32 { ");
    put(m, cores[draw(m, 6)]);
    put(m, " }\n");
    for (m->depth = 1; m->depth < depths[shape]; m->depth++) {
        put(m, "fn f$d(v: u32, x: buffer<u32>) -> u32 { var s=v; ");
        for (m->line = 0; m->line < widths[shape]; m->line++) {
            put(m, "s=f$p(s+$i, x); ");
        }
        put(m, "return s; }\n");
    }
    put(m, OVER "{ y[gid]=f$p(x[gid], x); }\n");
}

/* An operand, or an operation of two of them. */
static void write_tree(maker *m, uint32_t depth) {
    static const char *const leaves[] = {"s", "x[s]", "x[gid*3]", "(s|$r)", "(s^$r)"};
    static const char *const operations[] = {"+", "*", "^", "&", "/", "-"};
    if (!depth) {
        put(m, leaves[draw(m, 5)]);
        return;
    }
    put(m, "(");
    write_tree(m, depth - 1);
    put(m, operations[draw(m, 6)]);
    write_tree(m, draw(m, 3) ? depth - 1 : 0);
    put(m, ")");
}

static void write_trees(maker *m) {
    put(m, FROM_X);
    uint32_t depth = draw(m, 6) + 2;
    for (m->line = 0; m->out->size < HOSTILE_KERNEL_BYTES / 2; m->line++) {
        size_t before = m->out->size;
        put(m, "s=s+");
        write_tree(m, depth);
        put(m, ";\n");
        if (m->out->size + 64 > HOSTILE_KERNEL_BYTES) {
            vyre_strbuf_cut(m->out, before);
            depth = depth > 2 ? depth - 1 : 2;
        }
    }
    put(m, TO_Y);
}

/* Ifs in one another. */
static void write_ifs(maker *m) {
    uint32_t depth = draw(m, 60) + 1;
    put(m, FROM_X "var t = s;\n");
    for (m->line = 0; m->line < 4096; m->line++) {
        size_t before = m->out->size;
        for (uint32_t d = 0; d < depth; d++) {
            put(m, d % 2 ? "if s>$r {s+=t;" : "if t>$k {t=t*$o;");
        }
        vyre_strbuf_repeat(m->out, '}', depth);
        put(m, "\n");
        if (m->out->size + 32 > HOSTILE_KERNEL_BYTES) {
            vyre_strbuf_cut(m->out, before);
            break;
        }
    }
    put(m, "y[gid]=s+t;\n}\n");
}

/* Many loops in one another, none of which calls. */
static void write_deep(maker *m) {
    static const char *const opens[] = {"for c$d in 0..$n {", "for c$d in 0..x[$d] {", "if s>$r {",
                                        "for c$d in 0..16 {"};
    static const char *const bodies[] = {"s=s*3+x[s];", "s+=a[s%16];", "a[$r]=s;", "y[s]=s;"};
    put(m, FROM_X "var a: u32[16];\n");
    while (m->out->size < HOSTILE_KERNEL_BYTES - 1024) {
        uint32_t depth = draw(m, 8) + 2;
        for (m->depth = 0; m->depth < depth; m->depth++) {
            put(m, opens[draw(m, 4)]);
            put(m, bodies[draw(m, 4)]);
        }
        vyre_strbuf_repeat(m->out, '}', depth);
        put(m, "\n");
    }
    put(m, TO_Y);
}

/* Loops that carry many values. */
static void write_carried(maker *m) {
    static const char *const forms[] = {
        "while v$v>$i {v$v/=2;v$v+=v$v;break;}\n", "for i in 0..x[$i] {v$v+=v$v;v$v^=i;}\n",
        "if v$v>v$v {v$v=v$v+1;} else {v$v=v$v*3;}\n", "for i in 0..$n {v$v+=v$v*v$v;}\n"};
    m->carried = draw(m, 56) + 8;
    put(m, OVER "{\n");
    for (m->line = 0; m->line < m->carried; m->line++) {
        put(m, "var v$i=x[gid+$i];");
    }
    uint32_t first = draw(m, 4), second = draw(m, 4);
    for (m->line = 0; m->out->size < HOSTILE_KERNEL_BYTES - 1024; m->line++) {
        put(m, forms[m->line % 2 ? first : second]);
    }
    for (m->line = 0; m->line < m->carried && m->line < 48; m->line++) {
        put(m, "y[gid]+=v$i;\n");
    }
    put(m, "}\n");
}

#define GROUP OVER "workgroup 64 {\nshared a: u32[64];\nvar s = x[gid];\n"
#define SUBGROUP OVER "workgroup 64 subgroup 32 {\nvar s = x[gid];\n"

static const kind kinds[] = {
    {.name = "stores",
     .head = OVER "{\nlet v = x[gid];\n",
     .tail = "}\n",
     .forms = {"y[gid*1+$i]=v;", "y[gid*7+$i]=v;", "y[gid*256+$i]=v;", "y[u32(x[$i])]=v;",
               "y[$i]=v;"},
     .types = {"u32", "i32", "u8", "u64", "f32", "f64", "f16", "i16"},
     .is_racy = true},
    {.name = "short_stores",
     .head = OVER "{\n",
     .tail = "}\n",
     .forms = {"y[$i]=1;", "y[gid]=2;"},
     .is_racy = true},
    {.name = "loads",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"s+=x[gid*$o+$i];", "s+=x[gid^$i];", "s+=x[gid%$k+$i];", "s+=x[gid/$k];"},
     .types = {"u32", "i32", "u8", "u64", "f32", "f64", "f16", "i16"}},
    {.name = "chased",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"s+=x[s*$o+$i];", "s+=x[s^$i]*x[s];", "s=x[s%$k]/3;"}},
    {.name = "loops",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"for i in 0..$n {s=s*$k+x[s^i];}", "for i in 0..$n {s+=x[gid+i*$k];}",
               "for i in 0..$n {y[gid+i]=s+$k;}", "for i in 0..16 {s=(s^i)*$k;}",
               "for i in 0..$n {if s>i {s=s*$k;}}", "for i in 0..$n {s=s/(i+$k);}",
               "for i in 0..$n {for j in 0..$n {s+=x[i*j+s];}}"},
     .is_racy = true},
    {.name = "privates",
     .head = FROM_X "var a: u32[16]; var b: u32[33]; var c: u32[64]; var d: u32[256];\n",
     .tail = TO_Y,
     .forms = {"a[$r]=s;", "s+=b[$r];", "for i in 0..16 {a[i]=b[15-i]+s;s^=a[i];}",
               "if s>$i {c[$r]=s;}", "b[s%33]=s;", "while s>$k {c[$r]+=1;s/=2;}",
               "for i in 0..64 {c[i]+=d[i*4]^s;}", "d[s%256]=a[s%16];"}},
    {.name = "chains",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"if s==$i {s=x[$i];} else if x[s]>$k {s+=$i;} else if s%$k==1 {y[gid]=s;} "
               "else {s=s*$o;}",
               "if s>$k {s=$i;} else if s>$r {s=s/3;} else if s>1 {s=x[s];}",
               "if s>x[$i] {if s>$r {s=1;} else {s=x[$k];}} else {s+=$i;}"}},
    {.name = "selects",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"s=select(s>$i,s*$o,x[s]);", "s+=select(x[s]>x[$i],s,select(s>3,$i,s/3));",
               "s=min(s,max(x[s],$k))+s;"}},
    {.name = "functions",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"s=sin(s);", "s=cos(s)+exp(s);", "s=log(s);", "s=tanh(s);", "s=atan(s)*sqrt(s);",
               "s=pow(s,s);", "for i in 0..8 {s=exp2(s);}"},
     .types = {"f32", "f32", "f16"}},
    {.name = "phases",
     .head = "program p(x: buffer<u32>, y: inout buffer<u32>) {\n",
     .tail = "}\n",
     .forms = {"phase over y {y[gid]+=x[gid];}", "phase over y {y[gid]=x[y[gid]]/3;}",
               "phase over y {for i in 0..16 {y[gid]+=x[gid*3+i];}}"}},
    {.name = "operations",
     .head = "program p(x: buffer<u32>, y: inout buffer<u32>[len(x)], "
             "y2: inout buffer<u32>[len(x)]) {\n",
     .tail = "}\n",
     .forms = {"sort.keys_u32(x, y);", "scan.exclusive_u32(x, y);", "sort.keys_u32(y, y2);",
               "scan.inclusive_u32(x, y2);"}},
    {.name = "groups",
     .head = GROUP,
     .tail = TO_Y,
     .forms = {"a[lid]=s; barrier; s+=a[(lid+$k)%64]; barrier;", "s=s*$k+x[s];",
               "for i in 0..8 { a[lid]=s; barrier; s^=a[63-lid]; barrier; }",
               "atomic_add(a[s%64],$k); barrier;", "for i in 0..$n { s+=x[s]; }"}},
    {.name = "subgroups",
     .head = SUBGROUP,
     .tail = TO_Y,
     .forms = {"s=subgroup_shuffle_xor(s,$r);", "s+=subgroup_add(s^$k);",
               "s^=subgroup_shuffle(s,s%32);", "s+=x[s];", "s=s/$k;"}},
    {.name = "grids",
     .head = OVER "workgroup 64 {\nvar s = x[gid]; var t = x[gid+1]; var u = s^t;\n",
     .tail = "y[gid]=s+t+u;\n}\n",
     .forms = {"grid_barrier; s+=t*$i;", "grid_barrier; t^=u+$i;", "grid_barrier; u=s*t;"}},
    {.name = "atomics",
     .head = FROM_X,
     .tail = "}\n",
     .forms = {"s+=atomic_add(y[s^$i], s);", "s+=atomic_max(y[s^$i], s);",
               "s^=atomic_exchange(y[s], $i);", "for i in 0..16 {s+=atomic_xor(y[s^i], s);}"},
     .is_racy = true},
    {.name = "divisions",
     .head = FROM_X "var t = s;\n",
     .tail = TO_Y,
     .forms = {"s=s/t;", "t+=s%t;", "s=s*t;", "t=t-s;"},
     .types = {"u64", "i64", "i32", "u8"}},
    {.name = "floats",
     .head = FROM_X "var t = s;\n",
     .tail = TO_Y,
     .forms = {"s=s/t;", "t+=s;", "s=fma(s,t,s);", "t=sqrt(t)-s;"},
     .types = {"f16", "f64", "f32", "bf16"}},
    {.name = "conversions",
     .head = FROM_X,
     .tail = TO_Y,
     .forms = {"s+=f32(f16(s));", "s+=f32(u8(s));", "s+=f32(f64(s));", "s+=f32(i64(s));",
               "s+=f32(u64(s));", "s+=f32(i8(s));", "s+=f32(bf16(s));"},
     .types = {"f32"}},
    {.name = "mixed",
     .head = FROM_X "var t = s; var a: u32[16];\n",
     .tail = TO_Y,
     .forms = {"t+=x[s*$k+$i];", "if s>$i {t^=s;}", "for i in 0..$n {s+=a[i%16]^t;}", "a[t%16]=s;",
               "s=t/$k;", "while t>$k {t/=3;s+=x[t];}", "s=select(s>t,s,t*$o);", "a[$r]+=t;"}},
    {.name = "nests", .types = {"u32", "u32", "u64", "u8"}, .is_long = true, .write = write_nests},
    {.name = "calls", .is_long = true, .write = write_calls},
    {.name = "trees", .write = write_trees},
    {.name = "ifs", .write = write_ifs},
    {.name = "deep", .is_racy = true, .is_long = true, .write = write_deep},
    {.name = "carried", .write = write_carried},
};

hostile_kernel hostile_kernel_make(uint64_t number) {
    static const uint32_t trips[] = {2, 3, 4, 8, 16, 16, 32, 64};
    const kind *of = &kinds[number % (sizeof kinds / sizeof *kinds)];
    hostile_kernel made = {.kind = of->name, .is_racy = of->is_racy, .is_long = of->is_long};
    maker m = {.random = number, .type = "u32", .carried = 1, .out = &made.text};
    m.type = of->types[0] ? pick(&m, of->types, MOST_TYPES) : m.type;
    m.trips = trips[draw(&m, 8)];
    if (of->write) {
        of->write(&m);
    } else {
        write_lines(&m, of);
    }
    if (made.text.failed || made.text.size > HOSTILE_KERNEL_BYTES) {
        fprintf(stderr, "kernel %llu, %s: %zu bytes, or no memory\n", (unsigned long long)number,
                of->name, made.text.size);
        exit(2);
    }
    return made;
}
