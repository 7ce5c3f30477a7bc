/* Describing a program: class, digest, arguments, steps, statistics. */
#ifndef VYRE_CLI_DESCRIBE_H
#define VYRE_CLI_DESCRIBE_H

#include <vyre/cache.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "ir/program.h"

/* A block of lines, the first with the program's name and `file`. */
void cli_describe_text(vyre_strbuf *text, const vyre_program *program, const char *file,
                       bool color);

/* The start of a line of it: the label where there is one, else as much space. */
void cli_describe_label(vyre_strbuf *text, const char *label);

/* The same facts as an object. */
void cli_describe_json(vyre_json *json, const vyre_program *program);

/* The line on the cache of compiled programs: where it is, what it holds, what it may. */
void cli_describe_cache(vyre_strbuf *text, const vyre_cache_list *list);
/* The line on why there is no place for the user's own files, where `variable` could name one. */
void cli_describe_no_home(vyre_strbuf *text, const char *variable);

/* 32 hexadecimal digits. */
void cli_describe_digest(vyre_strbuf *text, const vyre_program *program);

/* The devices of a variant: "gpu", "cuda", "cuda gpu". */
void cli_describe_suits(vyre_strbuf *text, vyre_suits suits);

/* What both forms take from a program: names as the author wrote them, "" where there are none. */
const char *cli_array_name(const vyre_ir *ir, uint32_t resource);
const char *cli_step_name(const vyre_ir *ir, uint32_t step);
const char *cli_access_name(uint32_t access);

/* "count[0]": an element of an array that the host looks at. */
void cli_describe_element(vyre_strbuf *text, const vyre_ir *ir, uint32_t resource, uint32_t index);

/* X(field of vyre_stats, name, one, several): what is counted in a program's code. */
#define CLI_STATISTICS(X)                                                                          \
    X(insts, "instructions", "instruction", "instructions")                                        \
    X(loads, "loads", "load", "loads")                                                             \
    X(stores, "stores", "store", "stores")                                                         \
    X(atomics, "atomics", "atomic", "atomics")                                                     \
    X(barriers, "barriers", "barrier", "barriers")                                                 \
    X(grid_barriers, "grid_barriers", "grid barrier", "grid barriers")                             \
    X(subgroup_ops, "subgroup_operations", "subgroup operation", "subgroup operations")            \
    X(integer_ops, "integer_operations", "integer operation", "integer operations")                \
    X(float_ops, "float_operations", "float operation", "float operations")                        \
    X(elementary_ops, "elementary_operations", "elementary function", "elementary functions")      \
    X(consts, "constants", "constant", "constants")                                                \
    X(blocks, "blocks", "block", "blocks")                                                         \
    X(depth, "depth", "level deep", "levels deep")                                                 \
    X(shared_bytes, "shared_bytes", "byte shared", "bytes shared")                                 \
    X(private_bytes, "private_bytes", "byte private", "bytes private")

#endif
