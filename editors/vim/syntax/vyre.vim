" Colours for .vyre, the kernel language of vyre. docs/language.md is the grammar.
if exists("b:current_syntax")
    finish
endif

syntax case match

syntax keyword vyreItem program fn const nextgroup=vyreItemName skipwhite
syntax match   vyreItemName "\<\h\w*" contained nextgroup=vyreGenerics
syntax region  vyreGenerics start="<" end=">" contained contains=vyreType,vyreBound
syntax match   vyreBound "\<\%(number\|int\|signed\|unsigned\|float\|vector\)\>" contained
syntax keyword vyreStorage let var shared scratch
syntax keyword vyreStep phase repeat over
syntax keyword vyreConditional if else
syntax keyword vyreRepeat for in with while loop
syntax keyword vyreJump break continue yield return inline
syntax keyword vyreBarrier barrier grid_barrier
syntax keyword vyreBoolean true false
syntax keyword vyreType bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
syntax keyword vyreConversion bitcast
syntax match   vyreItem #^\s*\<use\>\ze\s\+["A-Za-z_]#
syntax match   vyreItem "\<struct\>\ze\s\+\h\w*\s*{" nextgroup=vyreItemName skipwhite
syntax match   vyreType "\%(:\s*\)\@<=sum\>\ze\s*<"
syntax match   vyreType "\<\%(vec2\|vec3\|vec4\)\>\ze\s*[<(]"

" Words that mean something only in their place.
syntax match vyreClause "\<\%(deterministic\|workgroup\|subgroup\)\>\ze\s*\%(over\>\|{\|\h\|\d\|(\)"
syntax match vyreLabel "\<\h\w*\ze\s*:\s*\%(for\|while\|loop\)\>"
syntax match vyreConditional "\<match\>\ze\s\+[^-+*/%&|^<>=.,;)]"
syntax match vyreClause "\<step\>\ze\s\+[^=;,)\]]"
syntax match vyreClause "\<require\>\ze\s\+[^=.,;)]"
syntax match vyreClause "\%(^\|[;{}]\)\s*\zs\<swap\>\ze\s*("
syntax match vyreClause "\%(^\|[;{}]\)\s*\zs\<view\>\ze\s\+\h\w*\s*:"
syntax match vyreClause "\%(\]\s\+\)\@<=max\>"
syntax match vyreAccess "\%(:\s*\)\@<=\%(inout\|out\)\>"
syntax match vyreAccess "\<buffer\>\ze\s*<"
syntax match vyreConversion "\<bits\>\ze\s*<"
syntax match vyreOrdering "\%(,\s*\)\@<=\%(relaxed\|acquire\|release\|acq_rel\|seq_cst\|workgroup\|device\)\>\ze\s*[,)]"
syntax match vyreComponent "\%([0-9A-Za-z_)\]]\.\)\@<=\%([xyzw]\{1,4}\|[rgba]\{1,4}\)\>"

syntax keyword vyreSurroundings gid lid wid num_workgroups in_domain lane subgroup_id
syntax keyword vyreOperation len min max abs mul_high add_sat sub_sat
syntax keyword vyreOperation rotl rotr clz ctz popcount reverse_bits
syntax keyword vyreOperation fma sqrt floor ceil trunc round copysign select
syntax keyword vyreOperation exp exp2 log log2 sin cos tan asin acos atan sinh cosh tanh erf cbrt
syntax keyword vyreOperation pow atan2 hypot exp10 log10 fmod
syntax keyword vyreOperation clamp mix smoothstep saturate rsqrt fract mod isnan isinf isfinite sign
syntax keyword vyreOperation clear uniform_load atomic_load atomic_store atomic_add atomic_sub
syntax keyword vyreOperation atomic_and atomic_or atomic_xor atomic_min atomic_max
syntax keyword vyreOperation atomic_exchange atomic_cas
syntax keyword vyreOperation subgroup_shuffle subgroup_shuffle_xor subgroup_shuffle_up
syntax keyword vyreOperation subgroup_shuffle_down subgroup_broadcast subgroup_ballot
syntax keyword vyreOperation subgroup_any subgroup_all subgroup_matrix_mad
syntax keyword vyreOperation subgroup_add subgroup_mul subgroup_min subgroup_max
syntax keyword vyreOperation subgroup_and subgroup_or subgroup_xor
syntax keyword vyreOperation subgroup_inclusive_add subgroup_inclusive_mul subgroup_inclusive_min
syntax keyword vyreOperation subgroup_inclusive_max subgroup_inclusive_and subgroup_inclusive_or
syntax keyword vyreOperation subgroup_inclusive_xor
syntax keyword vyreOperation subgroup_exclusive_add subgroup_exclusive_mul subgroup_exclusive_min
syntax keyword vyreOperation subgroup_exclusive_max subgroup_exclusive_and subgroup_exclusive_or
syntax keyword vyreOperation subgroup_exclusive_xor
syntax match   vyreOperation "\<ceil_div\>\ze\s*("
syntax match   vyreOperation "\%(^\|[;{}]\)\s*\zs\<\%(print\|assert\)\>\ze\s*("
syntax match   vyreOperation "\<\%(sum_add\|sum_clear\)\>\ze\s*("
syntax match   vyreOperation "\<\%(dot\|cross\|length\|normalize\|clamp\|mix\|any\|all\)\>\ze\s*("

" Numbers, with the suffix that gives their type.
syntax match vyreNumber "\<\d[0-9_]*\%([iu]\%(8\|16\|32\|64\)\?\)\?\>"
syntax match vyreNumber "\<0x\x[0-9a-fA-F_]*\%([iu]\%(8\|16\|32\|64\)\?\)\?\>"
syntax match vyreNumber "\<0b[01][01_]*\%([iu]\%(8\|16\|32\|64\)\?\)\?\>"
syntax match vyreFloat "\<\d[0-9_]*\%(f\|f16\|bf16\|f32\|f64\)\>"
syntax match vyreFloat "\<\d[0-9_]*\.\d[0-9_]*\%([eE][-+]\?\d\+\)\?\%(f\|f16\|bf16\|f32\|f64\)\?\>"
syntax match vyreFloat "\<\d[0-9_]*[eE][-+]\?\d\+\%(f\|f16\|bf16\|f32\|f64\)\?\>"
syntax match vyreFloat "\<0x\x[0-9a-fA-F_]*\%(\.\x\+\)\?[pP][-+]\?\d\+\%(f\|f16\|bf16\|f32\|f64\)\?\>"
syntax keyword vyreFloat inf nan
syntax region vyreString start=+"+ skip=+\\\\\|\\"+ end=+"+ oneline
syntax match vyreCharacter "'\%([^'\\]\|\\[nrt0\\']\|\\x\x\x\)'"

syntax match vyreOperator "[-+*/%&|^~!<>=]"
syntax match vyreOperator "\.\."
syntax match vyreOperator "->"

syntax match  vyreComment "//.*$" contains=@Spell
syntax region vyreComment start="/\*" end="\*/" contains=vyreComment,@Spell

syntax region vyreBlock start="{" end="}" transparent fold
syntax sync fromstart

highlight default link vyreItem Keyword
highlight default link vyreItemName Function
highlight default link vyreBound Type
highlight default link vyreStorage StorageClass
highlight default link vyreStep Keyword
highlight default link vyreClause Keyword
highlight default link vyreAccess StorageClass
highlight default link vyreConditional Conditional
highlight default link vyreRepeat Repeat
highlight default link vyreJump Statement
highlight default link vyreLabel Label
highlight default link vyreBarrier Statement
highlight default link vyreBoolean Boolean
highlight default link vyreType Type
highlight default link vyreConversion Operator
highlight default link vyreOrdering Constant
highlight default link vyreComponent Identifier
highlight default link vyreSurroundings Identifier
highlight default link vyreOperation Function
highlight default link vyreNumber Number
highlight default link vyreFloat Float
highlight default link vyreCharacter Character
highlight default link vyreOperator Operator
highlight default link vyreComment Comment

let b:current_syntax = "vyre"
