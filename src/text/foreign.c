#include "text/foreign.h"

#include <string.h>

/* Words separated by spaces, then what stands for each of them; an empty row ends a table. One text
 * each, so that neither needs a pointer. */
#define ROW(words, meaning) words "\0" meaning "\0"

/* clang-format off */
static const char types[] =
    ROW("int signed int32 int32_t", "i32")
    ROW("uint unsigned uint32 uint32_t", "u32")
    ROW("float float32", "f32")
    ROW("double float64", "f64")
    ROW("half float16 __half", "f16")
    ROW("bfloat16 __nv_bfloat16", "bf16")
    ROW("char uchar byte uint8 uint8_t", "u8")
    ROW("int8 int8_t", "i8")
    ROW("short int16 int16_t", "i16")
    ROW("ushort uint16 uint16_t", "u16")
    ROW("long int64 int64_t isize ptrdiff_t", "i64")
    ROW("ulong uint64 uint64_t size_t usize", "u64")
    ROW("boolean _Bool", "bool")
    ROW("float2 vec2 vec2f make_float2", "vec2<f32>")
    ROW("float3 vec3 vec3f make_float3", "vec3<f32>")
    ROW("float4 vec4 vec4f make_float4", "vec4<f32>")
    ROW("half2 vec2h", "vec2<f16>")
    ROW("half3 vec3h", "vec3<f16>")
    ROW("half4 vec4h", "vec4<f16>")
    ROW("double2 dvec2", "vec2<f64>")
    ROW("double3 dvec3", "vec3<f64>")
    ROW("double4 dvec4", "vec4<f64>")
    ROW("int2 vec2i ivec2 make_int2", "vec2<i32>")
    ROW("int3 vec3i ivec3 make_int3", "vec3<i32>")
    ROW("int4 vec4i ivec4 make_int4", "vec4<i32>")
    ROW("uint2 vec2u uvec2 make_uint2", "vec2<u32>")
    ROW("uint3 vec3u uvec3 make_uint3 dim3", "vec3<u32>")
    ROW("uint4 vec4u uvec4 make_uint4", "vec4<u32>")
    ROW("uchar4 make_uchar4", "vec4<u8>");

/* Tables of at most 4095 bytes each. */
static const char devices[] =
    /* Positions */
    ROW("threadIdx blockIdx blockDim gridDim",
        "write `gid` for blockIdx * blockDim + threadIdx; alone, threadIdx is `lid`, blockIdx "
        "`wid`, gridDim `num_workgroups`, and blockDim the number behind `workgroup`")
    ROW("get_global_id gl_GlobalInvocationID global_invocation_id thread_position_in_grid "
        "DispatchThreadID SV_DispatchThreadID global_id",
        "write `gid`, or gid.x, gid.y and gid.z")
    ROW("get_local_id gl_LocalInvocationID gl_LocalInvocationIndex local_invocation_id "
        "local_invocation_index thread_position_in_threadgroup GroupThreadID local_id",
        "write `lid`, or lid.x, lid.y and lid.z")
    ROW("get_group_id gl_WorkGroupID workgroup_id program_id GroupID "
        "threadgroup_position_in_grid",
        "write `wid`, or wid.x, wid.y and wid.z")
    ROW("get_num_groups gl_NumWorkGroups num_programs", "write `num_workgroups`")
    ROW("get_local_size gl_WorkGroupSize workgroup_size",
        "write the number behind `workgroup`, best as a constant of the file")
    ROW("get_global_size", "write the size of the domain, such as len(y)")
    ROW("warpSize gl_SubgroupSize subgroup_size get_sub_group_size",
        "write the number behind `subgroup`, best as a constant of the file")
    ROW("gl_SubgroupInvocationID subgroup_invocation_id get_sub_group_local_id laneid",
        "write `lane`")
    /* Waiting, memory, atomics, subgroups */
    ROW("__syncthreads syncthreads workgroupBarrier storageBarrier work_group_barrier "
        "threadgroup_barrier groupMemoryBarrier GroupMemoryBarrierWithGroupSync",
        "write `barrier;`, and `workgroup` with a size in the head of the phase")
    ROW("__syncwarp subgroupBarrier simdgroup_barrier",
        "remove it; the lanes of a subgroup meet at each subgroup operation")
    ROW("__threadfence __threadfence_block mem_fence memoryBarrier memoryBarrierShared "
        "memoryBarrierBuffer atomic_thread_fence",
        "remove it; `barrier;` orders memory, and an atomic takes an ordering such as acq_rel")
    ROW("atomicAdd atomic_fetch_add InterlockedAdd", "write atomic_add(a[i], x)")
    ROW("atomicInc atomic_inc", "write atomic_add(a[i], 1)")
    ROW("atomicDec atomic_dec", "write atomic_sub(a[i], 1)")
    ROW("atomicExch atomicExchange atomic_xchg", "write atomic_exchange(a[i], x)")
    ROW("atomicCAS atomicCompSwap atomicCompareExchangeWeak atomic_cmpxchg",
        "write atomic_cas(a[i], expected, x)")
    ROW("__shfl_sync subgroupShuffle simd_shuffle", "write subgroup_shuffle(x, lane)")
    ROW("__shfl_xor_sync subgroupShuffleXor", "write subgroup_shuffle_xor(x, mask)")
    ROW("__shfl_up_sync subgroupShuffleUp", "write subgroup_shuffle_up(x, distance)")
    ROW("__shfl_down_sync subgroupShuffleDown", "write subgroup_shuffle_down(x, distance)")
    ROW("__ballot_sync subgroupBallot", "write subgroup_ballot(condition)")
    ROW("__any_sync subgroupAny", "write subgroup_any(condition)")
    ROW("__all_sync subgroupAll", "write subgroup_all(condition)")
    ROW("__shared__ __local groupshared threadgroup",
        "write `shared name: f32[256];` at the start of the phase")
    ROW("__ldg", "read the element, as in a[i]")
    ROW("malloc calloc new free delete alloc",
        "declare an array: `scratch` in the program, `shared` in a phase, `var a: f32[16];` in "
        "a block")
    ROW("arrayLength", "write len(a)");

static const char values[] =
    /* Functions */
    ROW("fabs fabsf", "write abs(x)")
    ROW("fmax fmaxf", "write max(a, b)")
    ROW("fmin fminf", "write min(a, b)")
    ROW("mad mad24 fmaf", "write fma(a, b, c)")
    ROW("rsqrtf inversesqrt inverseSqrt", "write rsqrt(x)")
    ROW("__saturatef", "write saturate(x)")
    ROW("lerp", "write mix(a, b, t)")
    ROW("frac", "write fract(x)")
    ROW("fmodf", "write fmod(x, y)")
    ROW("remainder remainderf", "write x - round(x / y) * y, or fmod(x, y), which truncates")
    ROW("norm", "write length(v)")
    ROW("distance", "write length(a - b)")
    ROW("exp10f", "write exp10(x)")
    ROW("log10f", "write log10(x)")
    ROW("__popc __popcll bitCount countOneBits", "write popcount(x)")
    ROW("__clz __clzll countLeadingZeros", "write clz(x)")
    ROW("countTrailingZeros", "write ctz(x)")
    ROW("__brev reverseBits bitfieldReverse", "write reverse_bits(x)")
    ROW("__umulhi __mulhi mul_hi mulhi", "write mul_high(a, b)")
    ROW("as_float as_int as_uint asfloat asint asuint floatBitsToInt floatBitsToUint "
        "intBitsToFloat uintBitsToFloat __float_as_int __int_as_float __float_as_uint "
        "__uint_as_float",
        "write bitcast<f32>(x), or bitcast<u32>(x)")
    ROW("static_cast reinterpret_cast const_cast convert_float convert_int convert_uint",
        "convert with the type, as in f32(x); bitcast<f32>(x) keeps the bits")
    ROW("__expf __logf __powf __sinf __cosf native_exp native_log native_sin native_cos",
        "write exp, log, pow, sin or cos; there is one of each")
    ROW("print printf fprintf println cout console.log debugPrintf debugPrintfEXT",
        "write print(\"x = {}\", x); `{}` stands for each value")
    ROW("assert static_assert assert_eq debug_assert",
        "write assert(condition, \"x = {}\", x); `require` compares sizes")
    ROW("sizeof", "write the number of bytes")
    ROW("range", "write a range as 0..n")
    /* Numbers */
    ROW("M_PI PI pi", "declare it: `const PI = 3.14159265358979;`")
    ROW("INFINITY HUGE_VALF", "write inf")
    ROW("NAN", "write nan")
    ROW("FLT_MAX", "write 0x1.fffffep127")
    ROW("FLT_EPSILON", "write 0x1p-23")
    ROW("UINT_MAX", "write 0xffffffff")
    ROW("INT_MAX", "write 0x7fffffff")
    ROW("INT_MIN", "write -2147483648")
    ROW("True", "write true")
    ROW("False", "write false")
    ROW("NULL nullptr null nil None", "write a number, such as 0; there are no pointers")
    ROW("self this", "pass the value as a parameter")
    /* Types */
    ROW("mat2 mat3 mat4 mat2x2 mat3x3 mat4x4 mat2x2f mat3x3f mat4x4f float3x3 float4x4",
        "write a vector for each column, such as vec4<f32>; there are no matrices")
    ROW("tuple", "write a struct, or several results, as in `-> (f32, u32)`")
    ROW("array vector Vec list", "write `var a: f32[4];` in a block, or pass a `buffer<f32>`")
    ROW("string str String", "pass the characters as a `buffer<u8>`")
    ROW("auto", "declare with `let name = value;`, or `var` if it changes");

static const char statements[] =
    /* Statements */
    ROW("mut volatile register",
        "write `var name = value;` for a variable, and `inout buffer<f32>` for an argument")
    ROW("const", "remove it; nothing assigns to a `let`, an argument or a `buffer`")
    ROW("as", "convert with the type, as in f32(x) or u32(x)")
    ROW("and", "write &&")
    ROW("or", "write ||")
    ROW("not", "write `!`, or `~` for the bits of an integer")
    ROW("is", "write ==")
    ROW("if", "write `if condition { a } else { b }`, or select(condition, a, b)")
    ROW("by", "write `step`")
    ROW("elif elseif elsif", "write `else if`")
    ROW("switch case default", "write `match n { 0 => { ... } 1, 2 => { ... } else => { ... } }`")
    ROW("do until", "write `loop { ... if done { break; } }`")
    ROW("foreach", "write `for i in 0..len(a) { ... }`")
    ROW("goto", "use loops with `break` and `continue`, or `return`")
    ROW("try catch throw raise", "store a flag in a buffer; there are no exceptions")
    ROW("pass", "remove it; a block may be empty")
    ROW("lambda", "write a function: `fn name(x: f32) -> f32 { ... }`")
    /* Items */
    ROW("class union interface impl trait record",
        "write `struct Name { x: f32 }`, and functions that take one")
    ROW("enum", "write a constant for each name: `const FAST = 0;`")
    ROW("typedef type using", "write `struct Name { x: f32 }`, or the type itself; types have no other names")
    ROW("template generic", "write `fn name<T>(x: T) -> T { ... }`")
    ROW("import include from mod module namespace package",
        "write `use \"file.vyre\";` at the start of the file; operations of the library are called "
        "by their id, as in `sort.keys_u32(keys, sorted);`")
    ROW("__global__ __kernel kernel",
        "write `program name(x: buffer<f32>, y: inout buffer<f32>) over y { ... }`")
    ROW("def func function void __device__ __host__ __forceinline__ pub public private static "
        "extern inline export",
        "write `fn name(x: f32) -> f32 { ... }`, or `const NAME = value;`")
    ROW("let var shared layout uniform",
        "write `const NAME = value;`, or put the statement inside a program or function")
    /* Marks */
    ROW("&", "remove the `&`; pass an array by its name, and an element as in atomic_add(a[i], 1)")
    ROW("*", "read an element, as in a[i]; there are no pointers")
    ROW("**", "write x * x, or pow(x, y)")
    ROW("->", "write value.field; there are no pointers")
    ROW("::", "write the name alone, as in max(a, b)")
    ROW(":=", "declare with `let name = value;`, or `var` if it changes")
    ROW("|", "write a function: `fn name(x: f32) -> f32 { ... }`")
    ROW("[", "declare `const A: f32[3] = [1, 2, 3];` in the file, or `var a: f32[3];` and assign to its elements")
    ROW("===", "write `==`")
    ROW(">>>", "write `>>`; for unsigned types it shifts in zeros")
    ROW("<>", "write `!=`")
    ROW("..", "write the range without parentheses; `n..0 step -1` counts down")
    ROW("..= ...", "write first..end + 1 to include the end; a range excludes it");
/* clang-format on */

/* Whether a word is one of those, separated by spaces, that `at` points to. */
static bool has_word(const char *at, vyre_str word) {
    for (;;) {
        size_t length = strcspn(at, " ");
        if (length == word.size && !memcmp(at, word.data, length)) {
            return true;
        }
        if (!at[length]) {
            return false;
        }
        at += length + 1;
    }
}

static const char *look_up(const char *table, vyre_str word) {
    for (const char *at = table; *at;) {
        const char *meaning = at + strlen(at) + 1;
        if (has_word(at, word)) {
            return meaning;
        }
        at = meaning + strlen(meaning) + 1;
    }
    return NULL;
}

const char *vyre_foreign_fix(vyre_str word) {
    const char *fix = look_up(devices, word);
    fix = fix ? fix : look_up(values, word);
    return fix ? fix : look_up(statements, word);
}

const char *vyre_foreign_type(vyre_str name) {
    return look_up(types, name);
}
