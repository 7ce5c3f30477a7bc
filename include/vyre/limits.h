/* Limits: how large a program may be. The builder, the parser, the decoder and the verifier all use
 * this table, so every program that verifies also decodes. */
#ifndef VYRE_LIMITS_H
#define VYRE_LIMITS_H

/* X(name, value, what it limits) */
#define VYRE_LIMITS(X)                                                                             \
    X(INSTRUCTIONS, 4194304, "instructions in a program")                                          \
    X(OPERANDS, 16777216, "operand list entries in a program")                                     \
    X(CONSTANTS, 1048576, "different constants in a program")                                      \
    X(NESTING, 128, "blocks nested in one another")                                                \
    X(EXPRESSION_NESTING, 256, "parentheses and operators nested in one expression")               \
    X(CARRIED, 4096, "values carried by one loop, branch or call")                                 \
    X(ARGUMENTS, 256, "arguments of a program or function")                                        \
    X(STRUCT_SCALARS, 256, "scalars of a struct, with those of the structs in it")                 \
    X(RECORD_BYTES, 4096, "bytes of an element of a buffer")                                       \
    X(RESOURCES, 4096, "buffers, scratch, constant, shared and private arrays of a program")       \
    X(SHARED_ARRAYS, 64, "shared arrays of a phase")                                               \
    X(SHARED_BYTES, 262144, "bytes of shared memory of a workgroup")                               \
    X(PRIVATE_BYTES, 65536, "bytes of private arrays of an invocation")                            \
    X(CONSTANT_BYTES, 524288, "bytes of all constant arrays of a program")                         \
    X(SIZE_NODES, 65536, "terms in all size expressions of a program")                             \
    X(REQUIREMENTS, 4096, "sizes of a program that must be equal, in pairs")                       \
    X(PHASES, 4096, "phases of a program")                                                         \
    X(STEPS, 8192, "phases and repeats of a program")                                              \
    X(REPEATS, 8, "repeats nested in one another")                                                 \
    X(WORKGROUP, 1024, "invocations of a workgroup")                                               \
    X(NAME_BYTES, 255, "bytes of a name")                                                          \
    X(STRING_BYTES, 16777216, "bytes of all names of a program")                                   \
    X(SCOPES, 1048576, "inlined calls that places remember")                                       \
    X(TEXT_BYTES, 268435456, "bytes of a source text")                                             \
    X(FILES, 32, "files that a text uses, directly or through others")                             \
    X(WIRE_BYTES, 1073741824, "bytes of a program's binary form")                                  \
    X(COMPILED, 131072, "instructions of a program that cpu and cuda compile, functions expanded") \
    X(MESSAGE_BYTES, 1024, "bytes of the text of a print or assert")                               \
    X(MESSAGE_VALUES, 32, "scalars that a print or assert shows")                                  \
    X(DIAGNOSTICS, 100, "errors reported for a text before it gives up")

/* Bytes of stack that a thread must have left to call the library, whatever the program. */
#define VYRE_STACK_BYTES 262144

enum {
#define VYRE_LIMIT_ENUM(name, value, text) VYRE_LIMIT_##name = value,
    VYRE_LIMITS(VYRE_LIMIT_ENUM)
#undef VYRE_LIMIT_ENUM
};

#endif
