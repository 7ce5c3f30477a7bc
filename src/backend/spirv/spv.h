/* The part of SPIR-V that is written here: one row an instruction, for the writer and for the
 * disassembler. */
#ifndef VYRE_SPIRV_SPV_H
#define VYRE_SPIRV_SPV_H

#include <vyre/base.h>

typedef uint32_t spv_id;

enum { SPV_MAGIC = 0x07230203, SPV_HEADER = 5 };

/* X(name, number, operands). What the letters stand for:
 *
 *   t  type of the result      r  result             i  id          I  ids up to the end
 *   n  a number                N  numbers to the end s  a string    v  a number of the result's
 * type C  capability              A  addressing model   M  memory model E  execution model m
 * execution mode     D  decoration  B  built-in, behind BuiltIn S  storage class           F
 * function control   L  loop control c  selection control       o  memory operands    x  number of
 * an extended instruction
 */
#define SPV_OPS(X)                                                                                 \
    X(Name, 5, "is")                                                                               \
    X(String, 7, "rs")                                                                             \
    X(Line, 8, "inn")                                                                              \
    X(ExtInstImport, 11, "rs")                                                                     \
    X(ExtInst, 12, "trixI")                                                                        \
    X(MemoryModel, 14, "AM")                                                                       \
    X(EntryPoint, 15, "EisI")                                                                      \
    X(ExecutionMode, 16, "imN")                                                                    \
    X(Capability, 17, "C")                                                                         \
    X(TypeVoid, 19, "r")                                                                           \
    X(TypeBool, 20, "r")                                                                           \
    X(TypeInt, 21, "rnn")                                                                          \
    X(TypeFloat, 22, "rn")                                                                         \
    X(TypeVector, 23, "rin")                                                                       \
    X(TypeArray, 28, "rii")                                                                        \
    X(TypeStruct, 30, "rI")                                                                        \
    X(TypePointer, 32, "rSi")                                                                      \
    X(TypeFunction, 33, "rI")                                                                      \
    X(ConstantTrue, 41, "tr")                                                                      \
    X(ConstantFalse, 42, "tr")                                                                     \
    X(Constant, 43, "trv")                                                                         \
    X(ConstantNull, 46, "tr")                                                                      \
    X(Function, 54, "trFi")                                                                        \
    X(FunctionEnd, 56, "")                                                                         \
    X(Variable, 59, "trSI")                                                                        \
    X(Load, 61, "trio")                                                                            \
    X(Store, 62, "iio")                                                                            \
    X(AccessChain, 65, "triI")                                                                     \
    X(Decorate, 71, "iDN")                                                                         \
    X(MemberDecorate, 72, "inDN")                                                                  \
    X(CompositeConstruct, 80, "trI")                                                               \
    X(CompositeExtract, 81, "triN")                                                                \
    X(ConvertFToU, 109, "tri")                                                                     \
    X(ConvertFToS, 110, "tri")                                                                     \
    X(ConvertSToF, 111, "tri")                                                                     \
    X(ConvertUToF, 112, "tri")                                                                     \
    X(UConvert, 113, "tri")                                                                        \
    X(FConvert, 115, "tri")                                                                        \
    X(ConvertUToPtr, 120, "tri")                                                                   \
    X(Bitcast, 124, "tri")                                                                         \
    X(SNegate, 126, "tri")                                                                         \
    X(IAdd, 128, "trii")                                                                           \
    X(FAdd, 129, "trii")                                                                           \
    X(ISub, 130, "trii")                                                                           \
    X(FSub, 131, "trii")                                                                           \
    X(IMul, 132, "trii")                                                                           \
    X(FMul, 133, "trii")                                                                           \
    X(UDiv, 134, "trii")                                                                           \
    X(SDiv, 135, "trii")                                                                           \
    X(FDiv, 136, "trii")                                                                           \
    X(UMod, 137, "trii")                                                                           \
    X(SRem, 138, "trii")                                                                           \
    X(LogicalEqual, 164, "trii")                                                                   \
    X(LogicalNotEqual, 165, "trii")                                                                \
    X(LogicalOr, 166, "trii")                                                                      \
    X(LogicalAnd, 167, "trii")                                                                     \
    X(LogicalNot, 168, "tri")                                                                      \
    X(Select, 169, "triii")                                                                        \
    X(IEqual, 170, "trii")                                                                         \
    X(INotEqual, 171, "trii")                                                                      \
    X(UGreaterThan, 172, "trii")                                                                   \
    X(UGreaterThanEqual, 174, "trii")                                                              \
    X(ULessThan, 176, "trii")                                                                      \
    X(SLessThan, 177, "trii")                                                                      \
    X(ULessThanEqual, 178, "trii")                                                                 \
    X(SLessThanEqual, 179, "trii")                                                                 \
    X(FOrdEqual, 180, "trii")                                                                      \
    X(FUnordNotEqual, 183, "trii")                                                                 \
    X(FOrdLessThan, 184, "trii")                                                                   \
    X(FOrdLessThanEqual, 188, "trii")                                                              \
    X(FOrdGreaterThanEqual, 190, "trii")                                                           \
    X(ShiftRightLogical, 194, "trii")                                                              \
    X(ShiftRightArithmetic, 195, "trii")                                                           \
    X(ShiftLeftLogical, 196, "trii")                                                               \
    X(BitwiseOr, 197, "trii")                                                                      \
    X(BitwiseXor, 198, "trii")                                                                     \
    X(BitwiseAnd, 199, "trii")                                                                     \
    X(Not, 200, "tri")                                                                             \
    X(BitReverse, 204, "tri")                                                                      \
    X(BitCount, 205, "tri")                                                                        \
    X(ControlBarrier, 224, "iii")                                                                  \
    X(MemoryBarrier, 225, "ii")                                                                    \
    X(AtomicLoad, 227, "triii")                                                                    \
    X(AtomicStore, 228, "iiii")                                                                    \
    X(AtomicExchange, 229, "triiii")                                                               \
    X(AtomicCompareExchange, 230, "triiiiii")                                                      \
    X(AtomicIAdd, 234, "triiii")                                                                   \
    X(AtomicISub, 235, "triiii")                                                                   \
    X(AtomicSMin, 236, "triiii")                                                                   \
    X(AtomicUMin, 237, "triiii")                                                                   \
    X(AtomicSMax, 238, "triiii")                                                                   \
    X(AtomicUMax, 239, "triiii")                                                                   \
    X(AtomicAnd, 240, "triiii")                                                                    \
    X(AtomicOr, 241, "triiii")                                                                     \
    X(AtomicXor, 242, "triiii")                                                                    \
    X(Phi, 245, "trI")                                                                             \
    X(LoopMerge, 246, "iiL")                                                                       \
    X(SelectionMerge, 247, "ic")                                                                   \
    X(Label, 248, "r")                                                                             \
    X(Branch, 249, "i")                                                                            \
    X(BranchConditional, 250, "iii")                                                               \
    X(Switch, 251, "ii")                                                                           \
    X(Return, 253, "")                                                                             \
    X(Unreachable, 255, "")                                                                        \
    X(GroupNonUniformAll, 334, "trii")                                                             \
    X(GroupNonUniformAny, 335, "trii")                                                             \
    X(GroupNonUniformBallot, 339, "trii")                                                          \
    X(GroupNonUniformShuffle, 345, "triii")

typedef enum spv_op {
    SPV_None = 0,
#define SPV_OP_ENUM(name, number, operands) SPV_##name = number,
    SPV_OPS(SPV_OP_ENUM)
#undef SPV_OP_ENUM
} spv_op;

/* X(kind, name, number): the numbers that stand for words. */
#define SPV_WORDS(X)                                                                               \
    X(C, Shader, 1)                                                                                \
    X(C, Float64, 10)                                                                              \
    X(C, Int64, 11)                                                                                \
    X(C, Int64Atomics, 12)                                                                         \
    X(C, Int16, 22)                                                                                \
    X(C, Int8, 39)                                                                                 \
    X(C, GroupNonUniform, 61)                                                                      \
    X(C, GroupNonUniformVote, 62)                                                                  \
    X(C, GroupNonUniformBallot, 64)                                                                \
    X(C, GroupNonUniformShuffle, 65)                                                               \
    X(C, StorageBuffer16BitAccess, 4433)                                                           \
    X(C, StorageBuffer8BitAccess, 4448)                                                            \
    X(C, DenormPreserve, 4464)                                                                     \
    X(C, SignedZeroInfNanPreserve, 4466)                                                           \
    X(C, RoundingModeRTE, 4467)                                                                    \
    X(C, VulkanMemoryModel, 5345)                                                                  \
    X(C, VulkanMemoryModelDeviceScope, 5346)                                                       \
    X(C, PhysicalStorageBufferAddresses, 5347)                                                     \
    X(A, PhysicalStorageBuffer64, 5348)                                                            \
    X(M, GLSL450, 1)                                                                               \
    X(M, Vulkan, 3)                                                                                \
    X(E, GLCompute, 5)                                                                             \
    X(m, LocalSize, 17)                                                                            \
    X(m, DenormPreserve, 4459)                                                                     \
    X(m, SignedZeroInfNanPreserve, 4461)                                                           \
    X(m, RoundingModeRTE, 4462)                                                                    \
    X(D, Block, 2)                                                                                 \
    X(D, BuiltIn, 11)                                                                              \
    X(D, Offset, 35)                                                                               \
    X(D, NoContraction, 42)                                                                        \
    X(B, NumWorkgroups, 24)                                                                        \
    X(B, WorkgroupId, 26)                                                                          \
    X(B, LocalInvocationIndex, 29)                                                                 \
    X(B, SubgroupId, 40)                                                                           \
    X(B, SubgroupLocalInvocationId, 41)                                                            \
    X(S, Input, 1)                                                                                 \
    X(S, Workgroup, 4)                                                                             \
    X(S, Function, 7)                                                                              \
    X(S, PushConstant, 9)                                                                          \
    X(S, PhysicalStorageBuffer, 5349)                                                              \
    X(x, RoundEven, 2)                                                                             \
    X(x, Trunc, 3)                                                                                 \
    X(x, Floor, 8)                                                                                 \
    X(x, Ceil, 9)                                                                                  \
    X(x, Sqrt, 31)                                                                                 \
    X(x, Fma, 50)                                                                                  \
    X(x, FindILsb, 73)                                                                             \
    X(x, FindUMsb, 75)

enum {
#define SPV_WORD_ENUM(kind, name, number) SPV_##kind##_##name = number,
    SPV_WORDS(SPV_WORD_ENUM)
#undef SPV_WORD_ENUM
};

/* Bits of memory operands, memory semantics and scopes. */
enum {
    SPV_VOLATILE = 1,
    SPV_ALIGNED = 2,
    SPV_NON_PRIVATE = 32,

    SPV_ACQUIRE = 2,
    SPV_RELEASE = 4,
    SPV_ACQUIRE_RELEASE = 8,
    SPV_UNIFORM_MEMORY = 0x40,
    SPV_WORKGROUP_MEMORY = 0x100,
    SPV_MAKE_AVAILABLE = 0x2000,
    SPV_MAKE_VISIBLE = 0x4000,

    SPV_SCOPE_DEVICE = 1,
    SPV_SCOPE_WORKGROUP = 2,
    SPV_SCOPE_SUBGROUP = 3
};

#endif
