/* Element by element: the program that a function means when it is run by itself. */
#ifndef VYRE_DIALECT_ELEMENT_H
#define VYRE_DIALECT_ELEMENT_H

#include "base/strbuf.h"
#include "text/module.h"

/* Appends a program of that name, which applies the function to each element: a buffer for each
 * scalar parameter, all as long as the first, and one for each result, `result` or `result0` and so
 * on; buffers are passed on as they are. It runs once where there is no scalar parameter. A bool,
 * which buffers cannot hold, is a u8 that is not 0. */
void vyre_element_print(vyre_strbuf *text, const vyre_module_function *function, const char *name);

/* The name of a result. */
void vyre_element_result(vyre_strbuf *text, const vyre_module_function *function, uint32_t result);

#endif
