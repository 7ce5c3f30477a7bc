/* Small kernels with one mistake each, and the same ones without it. Each is one program; lines
 * count from its first. */
#ifndef VYRE_TESTS_SANITIZER_KERNELS_H
#define VYRE_TESTS_SANITIZER_KERNELS_H

#include <vyre/sanitize.h>

/* A kernel with a mistake, and what is to be found. */
typedef struct mistake {
    const char *name;
    const char *text;
    vyre_finding_kind kind;
    uint32_t first, second; /* lines; 0 where there is none */
} mistake;

typedef struct sound_kernel {
    const char *name;
    const char *text;
} sound_kernel;

#define SHARED "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 {\n"
#define INOUT "program p(x: buffer<u32>, y: inout buffer<u32>) over x workgroup 64 {\n"
#define FLAG                                                                                       \
    "program p(data: inout buffer<u32>, flag: inout buffer<u32>, y: out buffer<u32>[4])\n"         \
    "over 256 workgroup 64 {\n"

static const mistake mistakes[] = {
    {"no barrier before another lane's element is read",
     SHARED "    shared s: u32[64];\n"
            "    s[lid] = x[gid];\n"
            "    y[gid] = s[63 - lid];\n"
            "}\n",
     VYRE_FINDING_RACE, 3, 4},
    {"no barrier in the loop of a reduction",
     "program p(x: buffer<u32>, y: out buffer<u32>[4]) over x workgroup 64 {\n"
     "    shared s: u32[64];\n"
     "    s[lid] = x[gid];\n"
     "    barrier;\n"
     "    for k in 0..6 {\n"
     "        let d = 32u >> k;\n"
     "        if lid < d {\n"
     "            let other = s[lid + d];\n"
     "            s[lid] += other;\n"
     "        }\n"
     "    }\n"
     "    if lid == 0 {\n"
     "        y[wid] = s[0];\n"
     "    }\n"
     "}\n",
     VYRE_FINDING_RACE, 8, 9},
    {"two lanes write one element", INOUT "    y[gid / 2] = gid;\n}\n", VYRE_FINDING_RACE, 2, 2},
    {"two workgroups write one element", INOUT "    y[lid] = wid;\n}\n", VYRE_FINDING_RACE, 2, 2},
    {"two lanes write the same value", INOUT "    y[0] = 1;\n}\n", VYRE_FINDING_RACE, 2, 2},
    {"a neighbour is read while it is written",
     INOUT "    let next = y[(gid + 1) % 256];\n"
           "    y[gid] = next + 1;\n"
           "}\n",
     VYRE_FINDING_RACE, 2, 3},
    {"the element before is read while it is written",
     INOUT "    if gid > 0 {\n"
           "        let before = y[gid - 1];\n"
           "        y[gid] = before + x[gid];\n"
           "    }\n"
           "}\n",
     VYRE_FINDING_RACE, 3, 4},
    {"without a workgroup clause",
     "program p(y: inout buffer<u32>) over y {\n"
     "    let before = y[255 - gid];\n"
     "    y[gid] = before;\n"
     "}\n",
     VYRE_FINDING_RACE, 2, 3},
    {"a plain load beside atomics of the workgroup",
     INOUT "    atomic_add(y[wid], 1);\n"
           "    if lid == 63 {\n"
           "        y[wid + 8] = y[wid];\n"
           "    }\n"
           "}\n",
     VYRE_FINDING_RACE, 2, 4},
    {"a plain load beside atomics, by the first lane",
     INOUT "    atomic_add(y[wid], 1);\n"
           "    if lid == 0 {\n"
           "        y[wid + 8] = y[wid];\n"
           "    }\n"
           "}\n",
     VYRE_FINDING_RACE, 2, 4},
    {"a plain store beside atomics of the workgroup",
     SHARED "    shared count: u32[1];\n"
            "    if lid == 0 {\n"
            "        count[0] = 7;\n"
            "    }\n"
            "    atomic_add(count[0], x[gid]);\n"
            "    barrier;\n"
            "    y[gid] = count[0];\n"
            "}\n",
     VYRE_FINDING_RACE, 4, 6},
    {"a plain load that an atomic of its own lane hides",
     SHARED "    shared s: u32[64];\n"
            "    if lid == 0 {\n"
            "        y[gid] = s[0] + s[0];\n"
            "        atomic_add(s[0], 1);\n"
            "    }\n"
            "    if lid == 1 {\n"
            "        atomic_add(s[0], 1);\n"
            "    }\n"
            "}\n",
     VYRE_FINDING_RACE, 4, 8},
    {"published by a relaxed store",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 9},
    {"published by a release, read without an acquire",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0]) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 9},
    {"another lane publishes without a barrier in front",
     FLAG "    if wid == 0 {\n"
          "        data[lid] = 42;\n"
          "        if lid == 0 {\n"
          "            atomic_store(flag[0], 100, release);\n"
          "        }\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[63];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 11},
    {"another lane reads what one acquired",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 {\n"
          "        if lid == 0 { loop { if atomic_load(flag[0], acquire) == 100 { break; } } }\n"
          "        if lid == 1 { y[0] = data[0]; }\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 9},
    {"a store by somebody else ends what was released",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 99, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0]) == 99 { break; } }\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 2 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0]) == 100 { break; } }\n"
          "        if atomic_load(flag[0], acquire) == 100 { y[0] = data[0]; }\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 13},
    {"a compare-exchange that fails does not release",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        if atomic_cas(flag[0], 77, 78, release) == 0 { y[1] = 1; }\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        if atomic_load(flag[0], acquire) == 0 { y[0] = data[0]; }\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 8},
    {"atomics of the scope workgroup between workgroups",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release, workgroup);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire, workgroup) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 5, 8},
    {"a histogram of all workgroups with the scope workgroup",
     INOUT "    atomic_add(y[x[gid]], 1, relaxed, workgroup);\n}\n", VYRE_FINDING_RACE, 2, 2},
    {"a lock that does not acquire",
     FLAG "    if lid == 0 {\n"
          "        loop { if atomic_cas(flag[0], 0, 1) == 0 { break; } }\n"
          "        data[0] += 1;\n"
          "        atomic_store(flag[0], 0, release);\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 5, 5},
    {"written after the release",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        atomic_store(flag[0], 100, release);\n"
          "        data[0] = 42;\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 5, 9},
    {"an update that only releases does not acquire",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_add(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_add(flag[0], 0, release) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 9},
    {"an update that only acquires does not release",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_add(flag[0], 100, acquire);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n",
     VYRE_FINDING_RACE, 4, 9},
    {"the scope workgroup after the scope device",
     FLAG "    if wid == 0 && lid == 0 { atomic_add(data[0], 1); }\n"
          "    if wid == 1 && lid == 0 { atomic_add(data[0], 1, relaxed, workgroup); }\n"
          "}\n",
     VYRE_FINDING_RACE, 3, 4},
    {"the last workgroup sums up, without a barrier before the ticket",
     "program p(x: buffer<u32>, part: inout buffer<u32>, ticket: inout buffer<u32>,\n"
     "    y: out buffer<u32>[1]) over x workgroup 64 {\n"
     "    part[gid] = x[gid];\n"
     "    if lid == 0 {\n"
     "        if atomic_add(ticket[0], 1, acq_rel) == 3 {\n"
     "            var sum = 0u;\n"
     "            for i in 0..len(part) { sum += part[i]; }\n"
     "            y[0] = sum;\n"
     "        }\n"
     "    }\n"
     "}\n",
     VYRE_FINDING_RACE, 3, 7},
    {"no barrier between two uses of a shared array",
     SHARED "    shared s: u32[64];\n"
            "    s[lid] = x[gid];\n"
            "    barrier;\n"
            "    let a = s[63 - lid];\n"
            "    s[lid] = a;\n"
            "    barrier;\n"
            "    y[gid] = s[63 - lid];\n"
            "}\n",
     VYRE_FINDING_RACE, 5, 6},
    {"the next turn writes what this one reads",
     SHARED "    shared s: u32[64];\n"
            "    var sum = 0u;\n"
            "    for k in 0..4 {\n"
            "        s[lid] = x[gid] + k;\n"
            "        barrier;\n"
            "        sum += s[63 - lid];\n"
            "    }\n"
            "    y[gid] = sum;\n"
            "}\n",
     VYRE_FINDING_RACE, 5, 7},
    {"a subgroup operation is no barrier",
     SHARED "    shared s: u32[64];\n"
            "    s[lid] = x[gid];\n"
            "    let sum = subgroup_add(x[gid]);\n"
            "    y[gid] = s[lid ^ 1] + sum;\n"
            "}\n",
     VYRE_FINDING_RACE, 3, 5},
    {"a histogram without atomics", INOUT "    y[x[gid]] += 1;\n}\n", VYRE_FINDING_RACE, 2, 2},
    {"two halves of an array, the wrong one",
     SHARED "    shared a: u32[128];\n"
            "    a[lid] = x[gid];\n"
            "    a[64 + lid] = 0;\n"
            "    barrier;\n"
            "    for k in 0..3 {\n"
            "        let from = k % 2 * 64;\n"
            "        let to = k % 2 * 64;\n"
            "        let v = a[from + (lid + 1) % 64];\n"
            "        a[to + lid] = v;\n"
            "        barrier;\n"
            "    }\n"
            "    y[gid] = a[lid];\n"
            "}\n",
     VYRE_FINDING_RACE, 9, 10},
    {"no grid barrier between workgroups",
     "program p(x: buffer<u32>, z: inout buffer<u32>, y: out buffer<u32>[len(x)])\n"
     "over x workgroup 64 {\n"
     "    z[gid] = x[gid];\n"
     "    barrier;\n"
     "    y[gid] = z[255 - gid];\n"
     "}\n",
     VYRE_FINDING_RACE, 3, 5},
    {"a grid barrier is missing in a loop",
     "program p(x: buffer<u32>, z: inout buffer<u32>, y: out buffer<u32>[len(x)])\n"
     "over x workgroup 64 {\n"
     "    var v = x[gid];\n"
     "    for k in 0..3 {\n"
     "        z[gid] = v;\n"
     "        grid_barrier;\n"
     "        v += z[255 - gid];\n"
     "    }\n"
     "    y[gid] = v;\n"
     "}\n",
     VYRE_FINDING_RACE, 5, 7},
    {"a uniform load of what another workgroup writes",
     "program p(z: inout buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
     "    if gid == 0 { z[0] = 1; }\n"
     "    let v = uniform_load(z[0]);\n"
     "    y[gid] = v;\n"
     "}\n",
     VYRE_FINDING_RACE, 2, 3},
    {"workgroups part before a grid barrier, by a race",
     "program p(z: inout buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
     "    if lid == 0 { z[0] = wid; }\n"
     "    if uniform_load(z[0]) == 0 {\n"
     "        grid_barrier;\n"
     "    }\n"
     "    y[gid] = 1;\n"
     "}\n",
     VYRE_FINDING_NON_UNIFORM, 4, 3},
    {"workgroups wait at different grid barriers, by a race",
     "program p(z: inout buffer<u32>, y: out buffer<u32>[256]) over 256 workgroup 64 {\n"
     "    if lid == 0 { z[0] = wid; }\n"
     "    if uniform_load(z[0]) == 0 {\n"
     "        grid_barrier;\n"
     "    } else {\n"
     "        grid_barrier;\n"
     "    }\n"
     "    y[gid] = 1;\n"
     "}\n",
     VYRE_FINDING_NON_UNIFORM, 4, 6},
    {"a race in a function",
     "fn put(to: inout buffer<u32>, i: u32, v: u32) {\n"
     "    to[i / 2] = v;\n"
     "}\n"
     "program p(y: inout buffer<u32>) over y workgroup 64 {\n"
     "    put(y, gid, 1);\n"
     "}\n",
     VYRE_FINDING_RACE, 2, 2},
    {"a race beside an elementary function",
     "program p(y: inout buffer<f32>) over y workgroup 64 {\n"
     "    let v = exp(y[0]);\n"
     "    y[gid] = v;\n"
     "}\n",
     VYRE_FINDING_RACE, 2, 3},
    {"scratch that nobody wrote",
     "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
     "    scratch t: u32[len(x)];\n"
     "    phase a over x {\n"
     "        if gid > 0 { t[gid] = x[gid]; }\n"
     "    }\n"
     "    phase b over x {\n"
     "        y[gid] = t[gid];\n"
     "    }\n"
     "}\n",
     VYRE_FINDING_UNWRITTEN, 7, 0},
    {"shared memory that nobody wrote",
     SHARED "    shared s: u32[64];\n"
            "    if lid < 63 { s[lid] = x[gid]; }\n"
            "    barrier;\n"
            "    y[gid] = s[lid];\n"
            "}\n",
     VYRE_FINDING_UNWRITTEN, 5, 0},
    {"shared memory that only another workgroup wrote",
     SHARED "    shared s: u32[64];\n"
            "    if wid == 0 { s[lid] = x[gid]; }\n"
            "    barrier;\n"
            "    y[gid] = s[lid];\n"
            "}\n",
     VYRE_FINDING_UNWRITTEN, 5, 0},
    {"a load past the end", INOUT "    y[gid] = x[gid + 1];\n}\n", VYRE_FINDING_OUT_OF_BOUNDS, 2,
     0},
    {"a load before the start", INOUT "    y[gid] = x[i32(gid) - 1];\n}\n",
     VYRE_FINDING_OUT_OF_BOUNDS, 2, 0},
    {"a store past the end", INOUT "    y[gid + 1] = x[gid];\n}\n", VYRE_FINDING_OUT_OF_BOUNDS, 2,
     0},
    {"an atomic past the end", INOUT "    atomic_add(y[gid + 1], x[gid]);\n}\n",
     VYRE_FINDING_OUT_OF_BOUNDS, 2, 0},
    {"a shared index that is one too large",
     SHARED "    shared s: u32[64];\n"
            "    s[lid + 1] = x[gid];\n"
            "    barrier;\n"
            "    y[gid] = s[max(lid, 1u)];\n"
            "}\n",
     VYRE_FINDING_OUT_OF_BOUNDS, 3, 0},
    {"a private index that is one too large",
     INOUT "    var a: u32[4];\n"
           "    for i in 0..5 { a[i] = i; }\n"
           "    y[gid] = a[x[gid] % 4];\n"
           "}\n",
     VYRE_FINDING_OUT_OF_BOUNDS, 3, 0},
};

static const sound_kernel sound[] = {
    {"a barrier before another lane's element is read", SHARED "    shared s: u32[64];\n"
                                                               "    s[lid] = x[gid];\n"
                                                               "    barrier;\n"
                                                               "    y[gid] = s[63 - lid];\n"
                                                               "}\n"},
    {"a reduction", "program p(x: buffer<u32>, y: out buffer<u32>[4]) over x workgroup 64 {\n"
                    "    shared s: u32[64];\n"
                    "    s[lid] = x[gid];\n"
                    "    barrier;\n"
                    "    for k in 0..6 {\n"
                    "        let d = 32u >> k;\n"
                    "        if lid < d { s[lid] += s[lid + d]; }\n"
                    "        barrier;\n"
                    "    }\n"
                    "    if lid == 0 { y[wid] = s[0]; }\n"
                    "}\n"},
    {"each lane its own element", INOUT "    y[gid ^ 1] = gid;\n}\n"},
    {"each workgroup its own element", INOUT "    if lid == 5 { y[wid] = wid; }\n}\n"},
    {"the same value by an atomic that does not mind", INOUT "    atomic_or(y[0], 1);\n}\n"},
    {"a lane reads and writes what is its own",
     INOUT "    y[gid] += 1;\n    y[gid] *= y[gid];\n}\n"},
    {"a neighbour in another buffer", INOUT "    y[gid] = x[(gid + 1) % 256];\n}\n"},
    {"disjoint by parity", INOUT "    if gid % 2 == 0 { y[gid] = y[gid + 1]; }\n}\n"},
    {"without a workgroup clause", "program p(y: inout buffer<u32>) over y {\n"
                                   "    y[gid] = y[gid] + 1;\n"
                                   "}\n"},
    {"two phases", "program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
                   "    scratch t: u32[len(x)];\n"
                   "    phase a over x { t[gid] = x[gid]; }\n"
                   "    phase b over x { y[gid] = t[255 - gid]; }\n"
                   "}\n"},
    {"two buffers by turns", "program p(x: buffer<u32>, n: u32, y: inout buffer<u32>) {\n"
                             "    scratch t: u32[len(x)];\n"
                             "    repeat n {\n"
                             "        phase a over x { t[gid] = y[255 - gid]; }\n"
                             "        phase b over x { y[gid] = t[gid] + y[gid]; }\n"
                             "    }\n"
                             "}\n"},
    {"a barrier between atomics and a plain load", SHARED "    shared count: u32[1];\n"
                                                          "    atomic_add(count[0], x[gid]);\n"
                                                          "    barrier;\n"
                                                          "    y[gid] = count[0];\n"
                                                          "}\n"},
    {"a barrier between a plain store and atomics",
     SHARED "    shared count: u32[1];\n"
            "    if lid == 0 { count[0] = 7; }\n"
            "    barrier;\n"
            "    atomic_add(count[0], x[gid], relaxed, workgroup);\n"
            "    barrier;\n"
            "    y[gid] = count[0];\n"
            "}\n"},
    {"a histogram with atomics", INOUT "    atomic_add(y[x[gid]], 1);\n}\n"},
    {"a histogram in shared memory first",
     INOUT "    shared bins: u32[8];\n"
           "    atomic_add(bins[x[gid]], 1, relaxed, workgroup);\n"
           "    barrier;\n"
           "    if lid < 8 { atomic_add(y[lid], bins[lid]); }\n"
           "}\n"},
    {"published by release and acquire",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"published by updates, seq_cst",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_add(flag[0], 100, seq_cst);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_add(flag[0], 0, seq_cst) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"a relaxed update passes on what was released",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 99, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_cas(flag[0], 99, 100) == 99 { break; } }\n"
          "    }\n"
          "    if wid == 2 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"a relaxed store of the lane that released",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 99, release);\n"
          "        atomic_store(flag[0], 100);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"passed on from hand to hand",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 && lid == 0 {\n"
          "        loop { if atomic_load(flag[0], acquire) == 100 { break; } }\n"
          "        atomic_store(flag[8], 100, release);\n"
          "    }\n"
          "    if wid == 2 && lid == 0 {\n"
          "        loop { if atomic_load(flag[8], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"passed on through a barrier",
     FLAG "    if wid == 0 && lid == 0 {\n"
          "        data[0] = 42;\n"
          "        atomic_store(flag[0], 100, release);\n"
          "    }\n"
          "    if wid == 1 {\n"
          "        if lid == 9 { loop { if atomic_load(flag[0], acquire) == 100 { break; } } }\n"
          "        barrier;\n"
          "        if lid == 7 { atomic_store(flag[8], 100, release); }\n"
          "    }\n"
          "    if wid == 2 && lid == 0 {\n"
          "        loop { if atomic_load(flag[8], acquire) == 100 { break; } }\n"
          "        y[0] = data[0];\n"
          "    }\n"
          "}\n"},
    {"barriers on both sides of release and acquire",
     FLAG "    if wid == 0 {\n"
          "        data[lid] = 42;\n"
          "        barrier;\n"
          "        if lid == 7 { atomic_store(flag[0], 100, release); }\n"
          "    }\n"
          "    if wid == 1 {\n"
          "        if lid == 9 { loop { if atomic_load(flag[0], acquire) == 100 { break; } } }\n"
          "        barrier;\n"
          "        if lid < 4 { y[lid] = data[63 - lid]; }\n"
          "    }\n"
          "}\n"},
    {"a compare-exchange that fails only reads",
     FLAG "    if lid == 0 {\n"
          "        let a = atomic_cas(flag[0], 77, 78, acq_rel);\n"
          "        y[wid] = flag[0] + a;\n"
          "    }\n"
          "}\n"},
    {"a lock", FLAG "    if lid == 0 {\n"
                    "        loop { if atomic_cas(flag[0], 0, 1, acquire) == 0 { break; } }\n"
                    "        data[0] += 1;\n"
                    "        atomic_store(flag[0], 0, release);\n"
                    "    }\n"
                    "}\n"},
    {"a ticket lock", FLAG "    if lid == 0 {\n"
                           "        let mine = atomic_add(flag[0], 1);\n"
                           "        loop { if atomic_load(flag[8], acquire) == mine { break; } }\n"
                           "        data[0] += 1;\n"
                           "        atomic_add(flag[8], 1, release);\n"
                           "    }\n"
                           "}\n"},
    {"the last workgroup sums up",
     "program p(x: buffer<u32>, part: inout buffer<u32>, ticket: inout buffer<u32>,\n"
     "    y: out buffer<u32>[1]) over x workgroup 64 {\n"
     "    part[gid] = x[gid];\n"
     "    barrier;\n"
     "    if lid == 0 {\n"
     "        if atomic_add(ticket[0], 1, acq_rel) == 3 {\n"
     "            var sum = 0u;\n"
     "            for i in 0..len(part) { sum += part[i]; }\n"
     "            y[0] = sum;\n"
     "        }\n"
     "    }\n"
     "}\n"},
    {"the last lane sums up", SHARED "    shared s: u32[64];\n"
                                     "    shared ticket: u32[1];\n"
                                     "    s[lid] = x[gid];\n"
                                     "    if atomic_add(ticket[0], 1, acq_rel, workgroup) == 63 {\n"
                                     "        var sum = 0u;\n"
                                     "        for i in 0..64 { sum += s[i]; }\n"
                                     "        y[wid] = sum;\n"
                                     "    }\n"
                                     "}\n"},
    {"barriers between two uses of a shared array", SHARED "    shared s: u32[64];\n"
                                                           "    var sum = 0u;\n"
                                                           "    for k in 0..4 {\n"
                                                           "        s[lid] = x[gid] + k;\n"
                                                           "        barrier;\n"
                                                           "        sum += s[63 - lid];\n"
                                                           "        barrier;\n"
                                                           "    }\n"
                                                           "    y[gid] = sum;\n"
                                                           "}\n"},
    {"a subgroup operation alone",
     SHARED "    y[gid] = subgroup_add(x[gid]) + subgroup_shuffle_xor(x[gid], 1);\n}\n"},
    {"two halves of an array by turns", SHARED "    shared a: u32[128];\n"
                                               "    a[lid] = x[gid];\n"
                                               "    barrier;\n"
                                               "    for k in 0..3 {\n"
                                               "        let from = k % 2 * 64;\n"
                                               "        let to = (k + 1) % 2 * 64;\n"
                                               "        a[to + lid] = a[from + (lid + 1) % 64];\n"
                                               "        barrier;\n"
                                               "    }\n"
                                               "    y[gid] = a[64 + lid];\n"
                                               "}\n"},
    {"a grid barrier between workgroups",
     "program p(x: buffer<u32>, z: inout buffer<u32>, y: out buffer<u32>[len(x)])\n"
     "over x workgroup 64 {\n"
     "    var v = x[gid];\n"
     "    for k in 0..3 {\n"
     "        z[gid] = v;\n"
     "        grid_barrier;\n"
     "        v += z[255 - gid];\n"
     "        grid_barrier;\n"
     "    }\n"
     "    y[gid] = v;\n"
     "}\n"},
    {"shared memory behind a grid barrier",
     "program p(x: buffer<u32>, z: inout buffer<u32>) over x workgroup 64 {\n"
     "    shared s: u32[64];\n"
     "    s[lid] = x[gid];\n"
     "    barrier;\n"
     "    z[gid] = s[63 - lid];\n"
     "    grid_barrier;\n"
     "    s[lid] = z[255 - gid];\n"
     "    barrier;\n"
     "    z[255 - gid] = s[lid] + s[63 - lid];\n"
     "}\n"},
    {"a uniform load of what the workgroup wrote", SHARED "    shared s: u32[1];\n"
                                                          "    if lid == 9 { s[0] = wid; }\n"
                                                          "    let v = uniform_load(s[0]);\n"
                                                          "    if lid == 8 { s[0] = v + 1; }\n"
                                                          "    y[gid] = v + uniform_load(s[0]);\n"
                                                          "}\n"},
    {"a private array", INOUT "    var a: u32[4];\n"
                              "    for i in 0..4 { a[i] = i; }\n"
                              "    y[gid] = a[x[gid] % 4];\n"
                              "}\n"},
    {"a guarded index", INOUT "    if gid + 1 < len(x) { y[gid] = x[gid + 1]; }\n}\n"},
    {"a repeat that stops", "program p(x: buffer<u32>, go: inout buffer<u32>) {\n"
                            "    phase on over 1 { go[0] = 3; }\n"
                            "    repeat while go[0] {\n"
                            "        phase work over x { if gid == 0 { go[0] -= 1; } }\n"
                            "    }\n"
                            "}\n"},
};

#endif
