/* Results: the outputs of a run, printed, encoded for files and compared. */
#ifndef VYRE_VALUES_RESULT_H
#define VYRE_VALUES_RESULT_H

#include <vyre/dispatch.h>

#include "base/json.h"
#include "base/strbuf.h"

enum { VALUES_PRINT_DEFAULT = 16 }; /* elements */

/* What is to be done with an output. */
typedef struct values_request {
    size_t output;    /* its number among the outputs */
    const char *path; /* write it there, "-" for stdout; NULL: print it */
    size_t path_size; /* of a picture, behind which its width may stand; else 0 */
    uint64_t width;   /* of a picture; 0: as high as it is wide */
    uint64_t most;    /* elements to print */
} values_request;

/* Read NAME[:N] and NAME=FILE, where FILE.png[:WIDTH] is a picture. The request points into the
 * text. */
VYRE_MUST_USE vyre_status values_request_print(const vyre_program *program, const char *text,
                                               values_request *out);
VYRE_MUST_USE vyre_status values_request_out(const vyre_program *program, const char *text,
                                             values_request *out);

/* Appends what is asked for; without any request every output. */
void values_result_print(const vyre_program *program, const vyre_outputs *outputs,
                         const values_request *requests, size_t count, vyre_strbuf *text);

/* The same as a JSON array: every output, with values where they would be printed. */
void values_result_json(vyre_json *json, const vyre_program *program, const vyre_outputs *outputs,
                        const values_request *requests, size_t count);

/* The file that an output goes to, and its contents; both are appended. The request names a file.
 */
VYRE_MUST_USE vyre_status values_result_encode(const vyre_program *program,
                                               const vyre_outputs *outputs,
                                               const values_request *request, vyre_strbuf *out_path,
                                               vyre_strbuf *out_bytes);

/* Whether both have the same bytes; else appends the first difference, found and expected. */
bool values_result_compare(const vyre_program *program, const vyre_outputs *found,
                           const vyre_outputs *expected, vyre_strbuf *difference);

#endif
