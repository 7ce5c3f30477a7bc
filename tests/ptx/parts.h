/* The inside of the machine. */
#ifndef VYRE_TESTS_PTX_PARTS_H
#define VYRE_TESTS_PTX_PARTS_H

#include "tests/ptx/machine.h"

/* X(name, text, bytes) */
#define PTX_TYPES(X)                                                                               \
    X(PRED, "pred", 0)                                                                             \
    X(B8, "b8", 1)                                                                                 \
    X(U8, "u8", 1)                                                                                 \
    X(S8, "s8", 1)                                                                                 \
    X(B16, "b16", 2)                                                                               \
    X(U16, "u16", 2)                                                                               \
    X(S16, "s16", 2)                                                                               \
    X(F16, "f16", 2)                                                                               \
    X(B32, "b32", 4)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(S32, "s32", 4)                                                                               \
    X(F32, "f32", 4)                                                                               \
    X(B64, "b64", 8)                                                                               \
    X(U64, "u64", 8)                                                                               \
    X(S64, "s64", 8)                                                                               \
    X(F64, "f64", 8)

/* X(name, text) */
#define PTX_OPS(X)                                                                                 \
    X(MOV, "mov")                                                                                  \
    X(LD, "ld")                                                                                    \
    X(ST, "st")                                                                                    \
    X(ATOM, "atom")                                                                                \
    X(RED, "red")                                                                                  \
    X(ADD, "add")                                                                                  \
    X(SUB, "sub")                                                                                  \
    X(MUL, "mul")                                                                                  \
    X(MAD, "mad")                                                                                  \
    X(DIV, "div")                                                                                  \
    X(REM, "rem")                                                                                  \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(FMA, "fma")                                                                                  \
    X(SQRT, "sqrt")                                                                                \
    X(RCP, "rcp")                                                                                  \
    X(RSQRT, "rsqrt")                                                                              \
    X(NEG, "neg")                                                                                  \
    X(ABS, "abs")                                                                                  \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(NOT, "not")                                                                                  \
    X(SHL, "shl")                                                                                  \
    X(SHR, "shr")                                                                                  \
    X(SHF, "shf")                                                                                  \
    X(CLZ, "clz")                                                                                  \
    X(BREV, "brev")                                                                                \
    X(POPC, "popc")                                                                                \
    X(BFE, "bfe")                                                                                  \
    X(BFI, "bfi")                                                                                  \
    X(SETP, "setp")                                                                                \
    X(SELP, "selp")                                                                                \
    X(CVT, "cvt")                                                                                  \
    X(VOTE, "vote")                                                                                \
    X(SHFL, "shfl")                                                                                \
    X(REDUX, "redux")                                                                              \
    X(MMA, "mma")                                                                                  \
    X(DP4A, "dp4a")                                                                                \
    X(BAR, "bar")                                                                                  \
    X(FENCE, "fence")                                                                              \
    X(BRA, "bra")                                                                                  \
    X(EXIT, "exit")                                                                                \
    X(RET, "ret")

/* Words between the name and the type. */
#define PTX_WORDS(X)                                                                               \
    X(GLOBAL, "global")                                                                            \
    X(SHARED, "shared")                                                                            \
    X(LOCAL, "local")                                                                              \
    X(PARAM, "param")                                                                              \
    X(CONST, "const")                                                                              \
    X(NC, "nc")                                                                                    \
    X(V2, "v2")                                                                                    \
    X(V4, "v4")                                                                                    \
    X(RELAXED, "relaxed")                                                                          \
    X(ACQUIRE, "acquire")                                                                          \
    X(RELEASE, "release")                                                                          \
    X(ACQ_REL, "acq_rel")                                                                          \
    X(SC, "sc")                                                                                    \
    X(CTA, "cta")                                                                                  \
    X(GPU, "gpu")                                                                                  \
    X(SYS, "sys")                                                                                  \
    X(SYNC, "sync")                                                                                \
    X(IDX, "idx")                                                                                  \
    X(UP, "up")                                                                                    \
    X(BALLOT, "ballot")                                                                            \
    X(ANY, "any")                                                                                  \
    X(ALL, "all")                                                                                  \
    X(UNI, "uni")                                                                                  \
    X(LO, "lo")                                                                                    \
    X(HI, "hi")                                                                                    \
    X(WIDE, "wide")                                                                                \
    X(SAT, "sat")                                                                                  \
    X(RN, "rn")                                                                                    \
    X(APPROX, "approx")                                                                            \
    X(FTZ, "ftz")                                                                                  \
    X(RZ, "rz")                                                                                    \
    X(RM, "rm")                                                                                    \
    X(RP, "rp")                                                                                    \
    X(RZI, "rzi")                                                                                  \
    X(RNI, "rni")                                                                                  \
    X(RMI, "rmi")                                                                                  \
    X(RPI, "rpi")                                                                                  \
    X(L, "l")                                                                                      \
    X(R, "r")                                                                                      \
    X(WRAP, "wrap")                                                                                \
    X(EQ, "eq")                                                                                    \
    X(NE, "ne")                                                                                    \
    X(LT, "lt")                                                                                    \
    X(LE, "le")                                                                                    \
    X(GT, "gt")                                                                                    \
    X(GE, "ge")                                                                                    \
    X(NEU, "neu")                                                                                  \
    X(NAN, "nan")                                                                                  \
    X(DO_ADD, "add")                                                                               \
    X(DO_MIN, "min")                                                                               \
    X(DO_MAX, "max")                                                                               \
    X(DO_AND, "and")                                                                               \
    X(DO_OR, "or")                                                                                 \
    X(DO_XOR, "xor")                                                                               \
    X(DO_EXCH, "exch")                                                                             \
    X(DO_CAS, "cas")                                                                               \
    X(ALIGNED, "aligned")                                                                          \
    X(M16N8K32, "m16n8k32")                                                                        \
    X(M8N8K16, "m8n8k16")                                                                          \
    X(ROW, "row")                                                                                  \
    X(COL, "col")

typedef enum ptx_type {
#define PTX_TYPE_ENUM(name, text, bytes) PTX_##name,
    PTX_TYPES(PTX_TYPE_ENUM)
#undef PTX_TYPE_ENUM
        PTX_TYPE_COUNT
} ptx_type;

typedef enum ptx_op {
#define PTX_OP_ENUM(name, text) PTX_OP_##name,
    PTX_OPS(PTX_OP_ENUM)
#undef PTX_OP_ENUM
        PTX_OP_COUNT
} ptx_op;

enum {
#define PTX_WORD_ENUM(name, text) PTX_WORD_##name,
    PTX_WORDS(PTX_WORD_ENUM)
#undef PTX_WORD_ENUM
        PTX_WORD_COUNT
};

typedef enum ptx_operand_kind {
    PTX_REGISTER, /* index */
    PTX_NUMBER,   /* bits */
    PTX_PLACE,    /* index: register or PTX_NOTHING; bits: added */
    PTX_SPECIAL,  /* index: which */
    PTX_LABEL     /* index: instruction */
} ptx_operand_kind;

#define PTX_NOTHING UINT32_MAX

enum {
    PTX_TID_X,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_CLOCK
};

typedef struct ptx_operand {
    uint8_t kind;
    uint32_t index;
    uint64_t bits;
} ptx_operand;

enum { PTX_MOST_OPERANDS = 14 };

typedef struct ptx_instruction {
    uint8_t op, type, from; /* from: of a conversion, the operand's */
    uint8_t count;
    bool guard_not;
    uint32_t guard; /* register, or PTX_NOTHING */
    uint32_t line;
    uint64_t words; /* bits, by PTX_WORD_ */
    ptx_operand operands[PTX_MOST_OPERANDS];
} ptx_instruction;

static inline bool ptx_has(const ptx_instruction *i, unsigned word) {
    return i->words >> word & 1;
}

/* Where shared and private memory start, so that a 0 is no address. */
enum { PTX_SHARED_START = 0x100, PTX_LOCAL_START = 0x10000 };

typedef struct ptx_entry {
    char name[96];
    uint32_t frame_bytes, threads, shared_bytes, local_bytes, register_count;
    ptx_instruction *instructions;
    uint32_t instruction_count;
} ptx_entry;

/* A variable of the module, with its first contents. */
typedef struct ptx_variable {
    char name[96];
    bool is_const; /* in constant memory, else in global */
    uint64_t *data;
    size_t size;
} ptx_variable;

struct ptx_module {
    ptx_entry *entries;
    uint32_t entry_count;
    ptx_variable *variables;
    uint32_t variable_count;
};

typedef enum ptx_state { PTX_RUNS, PTX_AT_BARRIER, PTX_IN_WARP, PTX_ENDED } ptx_state;

typedef struct ptx_thread {
    uint64_t *registers;
    uint8_t *written; /* by register */
    uint8_t *local;
    uint32_t number, at;
    ptx_state state;
    uint32_t barrier, barrier_count, mask;
} ptx_thread;

typedef struct ptx_block {
    uint32_t number[3];
    ptx_thread *threads;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint32_t left; /* threads that have not ended */
} ptx_block;

typedef struct ptx_run {
    const ptx_module *module;
    const ptx_entry *entry;
    const ptx_launch *launch;
    ptx_error *error; /* empty while nothing is wrong */
    bool failed;
    uint32_t clock; /* how often it was looked at */
} ptx_run;

void ptx_fail(ptx_run *run, const ptx_instruction *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

uint32_t ptx_type_bytes(uint32_t type);
uint64_t ptx_read(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *at,
                  const ptx_operand *operand);
void ptx_write(ptx_thread *thread, const ptx_operand *operand, uint64_t value);

/* One instruction that concerns its thread alone. */
void ptx_operate(ptx_run *run, ptx_block *block, ptx_thread *thread, const ptx_instruction *i);

#endif
