/* The parts of opencl_write_op, by kind of operand. */
#ifndef VYRE_OPENCL_CODEGEN_WRITE_PARTS_H
#define VYRE_OPENCL_CODEGEN_WRITE_PARTS_H

#include "backend/opencl/codegen/write.h"

VYRE_MUST_USE bool opencl_write_integer(vyre_strbuf *out, vyre_op op, vyre_type type, const char *a,
                                        const char *b);
VYRE_MUST_USE bool opencl_write_float(vyre_strbuf *out, vyre_op op, vyre_type type, const char *a,
                                      const char *b, const char *c);
VYRE_MUST_USE bool opencl_write_convert(vyre_strbuf *out, vyre_type from, vyre_type to,
                                        const char *a);
void opencl_write_bitcast(vyre_strbuf *out, vyre_type from, vyre_type to, const char *a);

#endif
