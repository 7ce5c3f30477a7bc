#!/usr/bin/env python3
"""Compiles generated kernels of at most 4 kB that are made to be slow to compile.

    compile.py VYRE [COUNT [SEED]]

No kernel may take more than 10 s of processor time or 1 GB of memory, on cpu, on reference or as
PTX. A kernel that is refused with a status and a fix counts as compiled. A kernel depends on its
seed alone, so that `compile.py VYRE 1 SEED` repeats one. COUNT is 100 unless it is given, which
takes some minutes; 1000 is what a release shows.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 4096
MOST_SECONDS = 10
MOST_MEMORY = 1 << 30
TOO_LONG = "error[V0701]"  # functions inline to more than a program may have
TARGETS = ("native_module", "reference_backend", "secondary_text")

TYPES = ("u32", "u32", "u32", "i32", "u8", "u64", "f32", "f64", "f16", "i16")


def number(type_name, value):
    """A literal of a type."""
    return f"{type_name}({value})" if type_name in ("f32", "f64", "f16") else str(value)


def fill(rng, head, tail, line):
    """As many lines as fit, between a head and a tail."""
    room = MOST_BYTES - len(head) - len(tail) - 1
    most = rng.choice((60, 200, 1000, 4096))
    text = ""
    for i in range(most):
        more = line(i)
        if len(text) + len(more) > room:
            break
        text += more
    return head + text + tail


def program(type_name, clause="", arguments=""):
    return (f"program p(x: buffer<{type_name}>, y: inout buffer<{type_name}>{arguments}) "
            f"over y{clause} {{\n")


def stores(rng):
    t = rng.choice(TYPES)
    k = rng.choice((1, 3, 7, 16))
    return fill(rng, program(t) + "let v = x[gid];\n", "}\n",
                lambda i: f"y[gid*{k}+{i}]=v;\n")


def loads(rng):
    t = rng.choice(TYPES)
    array = rng.choice("xy")
    forms = ("gid*{k}+{i}", "gid^{i}", "gid%{k}+{i}", "u32(s)+{i}", "gid/{k}")
    form = rng.choice(forms[:3] if t.startswith("f") else forms)
    return fill(rng, program(t) + "var s = x[gid];\n", "y[gid]=s;\n}\n",
                lambda i: f"s+={array}[{form.format(k=2 * i + 3, i=i)}];\n")


def loops(rng):
    n = rng.choice((2, 4, 8, 16, 16, 32, 64, 512))
    forms = ("s=s*{k}+x[s^i];", "s+=x[gid+i*{k}];", "y[gid+i]=s+{k};", "s=(s^i)*{k};",
             "if s>i {{s=s*{k};}}", "s=s/(i+{k});")
    body = "".join(rng.sample(forms, rng.randint(1, 3)))
    return fill(rng, program("u32") + "var s = x[gid];\n", "y[gid]=s;\n}\n",
                lambda k: f"for i in 0..{n} {{{body.format(k=k + 3)}}}\n")


def nests(rng):
    """Inlined loops in one another, with private arrays."""
    t = rng.choice(("u32", "u32", "u64", "u8"))
    n = rng.choice((2, 3, 4, 8, 16))
    depth = rng.randint(2, 8)
    text = (f"fn f0(v: {t}) -> {t} {{ var s=v; var a: {t}[{n}]; for i in 0..{n} {{ "
            f"a[i]=s+{t}(i); s=s*3+a[{n - 1}-i]; }} for i in 0..{n} {{ s^=a[i]; }} return s; }}\n")
    for d in range(1, depth):
        style = rng.randint(0, 2)
        if style == 0:
            body = f"for i in 0..{n} {{ s+=f{d - 1}(s+{t}(i)); }}"
        elif style == 1:
            body = (f"var a: {t}[{n}]; for i in 0..{n} {{ a[i]=f{d - 1}(s^{t}(i)); }} "
                    f"for i in 0..{n} {{ s+=a[i]; }}")
        else:
            body = "".join(f"s=f{d - 1}(s+{k}); " for k in range(rng.randint(2, 6)))
        text += f"fn f{d}(v: {t}) -> {t} {{ var s=v; {body} return s; }}\n"
    return text + program(t) + f"y[gid]=f{depth - 1}(x[gid]);\n}}\n"


def privates(rng):
    n = rng.choice((4, 16, 33, 64, 65, 256))
    count = rng.randint(1, 12)
    head = program("u32") + "var s = x[gid];\n"
    head += "".join(f"var a{k}: u32[{n}];\n" for k in range(count))
    forms = ("a{a}[{i}]=s;", "s+=a{a}[{i}];", "for i in 0..16 {{a{a}[i]=a{b}[15-i]+s;s^=a{a}[i];}}",
             "if s>{i} {{a{a}[{i}]=s;}}", "a{a}[s%{n}]=s;", "while s>{i} {{a{a}[{i}]+=1;s/=2;}}")
    chosen = rng.sample(forms, rng.randint(2, 4))
    return fill(rng, head, "y[gid]=s;\n}\n",
                lambda i: rng.choice(chosen).format(a=rng.randrange(count), b=rng.randrange(count),
                                                    i=i % min(n, 16), n=n) + "\n")


def ifs(rng):
    depth = rng.randint(1, 60)
    carried = rng.randint(1, 6)
    head = program("u32") + "".join(f"var s{k} = x[gid+{k}];\n" for k in range(carried))
    tail = "".join(f"y[gid+{k}]=s{k};\n" for k in range(carried)) + "}\n"

    def tree(i):
        return ("".join(f"if s{d % carried}>{i + d} {{s{(d + 1) % carried}+={d};"
                        for d in range(depth)) + "}" * depth + "\n")
    return fill(rng, head, tail, tree)


def calls(rng):
    """Functions that call one another several times: sizes multiply."""
    width, depth = rng.choice(((2, 14), (3, 9), (4, 7), (5, 6), (6, 5), (8, 5), (10, 4), (20, 3)))
    cores = ("(v*3)^(v>>1)", "v/3+x[v]", "v%7+x[v^5]*x[v+1]")
    core = rng.choice(cores)
    given = ", x: buffer<u32>" if "x[" in core else ""
    passed = ", x" if given else ""
    jump = rng.choice(("", "if v>9 { return v; } "))
    text = f"fn f0(v: u32{given}) -> u32 {{ {jump}return {core}; }}\n"
    for d in range(1, depth):
        text += (f"fn f{d}(v: u32{given}) -> u32 {{ var s=v; "
                 + "".join(f"s=f{d - 1}(s+{k}{passed}); " for k in range(width))
                 + "return s; }\n")
    return text + program("u32") + f"y[gid]=f{depth - 1}(x[gid]{passed});\n}}\n"


def functions(rng):
    names = ("sin", "cos", "exp", "log", "tanh", "sqrt", "atan", "exp2", "log2")
    t = rng.choice(("f32", "f32", "f16"))
    n = rng.choice((0, 0, 8))
    loop = (f"for i in 0..{n} {{", "}") if n else ("", "")
    return fill(rng, program(t) + "var s = x[gid];\n", "y[gid]=s;\n}\n",
                lambda i: f"{loop[0]}s={rng.choice(names)}(s);{loop[1]}\n")


def phases(rng):
    body = rng.choice(("y[gid]+=x[gid];", "y[gid]=x[y[gid]]/3;",
                       "for i in 0..16 {y[gid]+=x[gid*3+i];}"))
    head = "program p(x: buffer<u32>, y: inout buffer<u32>) {\n"
    return fill(rng, head, "}\n", lambda i: f"phase over y {{{body}}}\n")


def operations(rng):
    """Operations of the library between phases: thirty bytes are thousands of instructions."""
    names = (("sort.keys_u32", "(x, y);"), ("scan.exclusive_u32", "(x, y);"),
             ("sort.keys_u32", "(y, y2);"), ("scan.inclusive_u32", "(x, y2);"))
    head = ("program p(x: buffer<u32>, y: inout buffer<u32>[len(x)], "
            "y2: inout buffer<u32>[len(x)]) {\n")
    return fill(rng, head, "}\n", lambda i: "".join(rng.choice(names)) + "\n")


def groups(rng):
    head = program("u32", " workgroup 64") + "shared a: u32[64];\nvar s = x[gid];\n"
    forms = ("a[lid]=s; barrier; s+=a[(lid+{i})%64]; barrier;", "s=s*{i}+x[s];",
             "for i in 0..8 {{ a[lid]=s; barrier; s^=a[63-lid]; barrier; }}",
             "atomic_add(a[s%64], {i}); barrier;")
    chosen = rng.sample(forms, rng.randint(1, 3))
    return fill(rng, head, "y[gid]=s;\n}\n",
                lambda i: rng.choice(chosen).format(i=i + 3) + "\n")


def subgroups(rng):
    head = program("u32", " workgroup 64 subgroup 32") + "var s = x[gid];\n"
    forms = ("s=subgroup_shuffle_xor(s,{k});", "s+=subgroup_add(s^{i});",
             "s^=subgroup_shuffle(s,s%32);", "s+=x[s];", "s=s/{i};")
    chosen = rng.sample(forms, rng.randint(1, 4))
    return fill(rng, head, "y[gid]=s;\n}\n",
                lambda i: rng.choice(chosen).format(k=i % 31 + 1, i=i + 3) + "\n")


def grids(rng):
    """Grid barriers, which cpu makes phases of, with values that must survive them."""
    carried = rng.randint(1, 12)
    head = program("u32", " workgroup 64")
    head += "".join(f"var s{k} = x[gid+{k}];\n" for k in range(carried))
    tail = "".join(f"y[gid]+=s{k};\n" for k in range(carried)) + "}\n"
    return fill(rng, head, tail,
                lambda i: f"grid_barrier; s{i % carried}+=s{(i + 1) % carried}*{i};\n")


def atomics(rng):
    names = ("add", "max", "xor", "exchange")
    loop = rng.choice((("", ""), ("for i in 0..16 {", "}")))
    return fill(rng, program("u32") + "var s = x[gid];\n", "}\n",
                lambda i: f"{loop[0]}s+=atomic_{rng.choice(names)}(y[s^{i}], s);{loop[1]}\n")


def divisions(rng):
    t = rng.choice(("u64", "i64", "i32", "u8", "f16", "f64"))
    return fill(rng, program(t) + "var s = x[gid]; var t = s;\n", "y[gid]=s;\n}\n",
                lambda i: rng.choice(("s=s/t;", "t+=s%t;" if t[0] != "f" else "t+=s;",
                                      "s=s*t;", "t=t-s;")) + "\n")


def carried(rng):
    count = rng.randint(8, 64)
    head = program("u32") + "".join(f"var v{k}=x[gid+{k}];\n" for k in range(count))
    tail = "".join(f"y[gid+{k}]=v{k};\n" for k in range(count)) + "}\n"
    return fill(rng, head, tail, lambda i: (f"while v{i % count}>{i} {{v{i % count}/=2;"
                                            f"v{(i + 1) % count}+=v{(i + 5) % count};}}\n"))


def conversions(rng):
    chain = ("f16", "u8", "f64", "i64", "f32", "u16", "i8", "f16", "u64")
    return fill(rng, program("f32") + "var s = x[gid];\n", "y[gid]=s;\n}\n",
                lambda i: f"s+=f32({rng.choice(chain)}(s));\n")


KINDS = (stores, loads, loops, nests, privates, ifs, calls, functions, phases, operations, groups,
         subgroups, grids, atomics, divisions, carried, conversions)


def kernel(seed):
    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    return kind.__name__, kind(rng)


def run(command):
    """The exit status, seconds of processor time, bytes of memory, and last words."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        stop = time.monotonic() + 60 * MOST_SECONDS
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > stop:
                os.kill(child.pid, signal.SIGKILL)
            time.sleep(0.005)
        child.returncode = 0
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
        return status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, words


def judge(result):
    """What is wrong with a run; None if nothing is."""
    status, seconds, memory, words = result
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status) and "Fix: " not in words:
        return f"no fix is named: {words[-200:]}"
    if "error[" in words and TOO_LONG not in words:
        return f"the generator wrote no program: {words[-300:]}"
    if seconds > MOST_SECONDS:
        return f"took {seconds:.1f} s"
    if memory > MOST_MEMORY:
        return f"took {memory >> 20} MB"
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    vyre = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    worst = {target: [0, 0, 0] for target in TARGETS}
    faults = refused = 0
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "kernel.vyre")
        for seed in range(first, first + count):
            name, text = kernel(seed)
            assert len(text) <= MOST_BYTES, (name, seed, len(text))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            for target in TARGETS:
                result = run([vyre, "emit", path, "--target", target, "-o", path + ".out"])
                fault = judge(result)
                refused += bool(result[0]) and not fault
                if result[1] > worst[target][0]:
                    worst[target][0], worst[target][2] = result[1], seed
                worst[target][1] = max(worst[target][1], result[2])
                if fault:
                    faults += 1
                    print(f"{name}, seed {seed}, {target}: {fault}", flush=True)
    for target in TARGETS:
        seconds, memory, seed = worst[target]
        print(f"{target}: at most {seconds:.1f} s (seed {seed}) and {memory >> 20} MB")
    print(f"{count} kernels, {refused} refusals, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
