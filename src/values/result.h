/* Results: the outputs of a run, printed, encoded for files and compared. */
#ifndef VYRE_VALUES_RESULT_H
#define VYRE_VALUES_RESULT_H

#include <vyre/dispatch.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "values/bind.h"
#include "values/path.h"

enum { VALUES_PRINT_DEFAULT = 16 }; /* elements */

/* What is to be done with an output. */
typedef struct values_request {
    size_t output;             /* its number among the outputs */
    bool is_file;              /* write it to a file, else print it */
    values_path file;          /* "-" is stdout */
    uint64_t width;            /* of an image, or the columns of a table; 0: what the shape says */
    uint32_t channels;         /* samples of a pixel; 0: what the shape says */
    const values_shape *shape; /* of the output; NULL: not known */
    uint64_t most;             /* elements to print */
} values_request;

/* Read NAME[:N] and NAME=FILE, where FILE may be IMAGE.png:WIDTH[xCHANNELS] or TABLE.csv:COLUMNS;
 * see values/path.h. Refuse what cannot be written. The request points into the text. */
VYRE_MUST_USE vyre_status values_request_print(const vyre_program *program, const char *text,
                                               values_request *out);
VYRE_MUST_USE vyre_status values_request_out(const vyre_program *program, const char *text,
                                             values_request *out);

/* Gives a request the shape of its output, and checks that as many elements as the output will have
 * form rows of the width. The request borrows from the binding. */
VYRE_MUST_USE vyre_status values_request_settle(values_request *request,
                                                const values_binding *binding);

/* Appends what is asked for; without any request every output. */
void values_result_print(const vyre_program *program, const vyre_outputs *outputs,
                         const values_request *requests, size_t count, vyre_strbuf *text);

/* The same as a JSON array: every output, with values where they would be printed. */
void values_result_json(vyre_json *json, const vyre_program *program, const vyre_outputs *outputs,
                        const values_request *requests, size_t count);

/* Whether two requests write into one .npz file; and the same member of it. */
bool values_request_is_joined(const values_request *a, const values_request *b);
bool values_request_is_member(const vyre_program *program, const values_request *a,
                              const values_request *b);

/* The file of the request at `index`, and its contents; both are appended. A .npz file holds the
 * outputs of all later requests that are joined with this one. */
VYRE_MUST_USE vyre_status values_result_encode(const vyre_program *program,
                                               const vyre_outputs *outputs,
                                               const values_request *requests, size_t count,
                                               size_t index, vyre_strbuf *out_path,
                                               vyre_strbuf *out_bytes);

/* Whether both have the same bytes; else appends the first difference, found and expected. `whose`
 * are those that are expected: "the reference backend". */
bool values_result_compare(const vyre_program *program, const vyre_outputs *found,
                           const vyre_outputs *expected, const char *whose,
                           vyre_strbuf *difference);

#endif
