/* vyre run: runs a program. */
#include <string.h>

#include <vyre/pipeline.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/page.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/everywhere.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/device.h"
#include "cli/host.h"
#include "cli/input.h"
#include "cli/operation.h"
#include "cli/output.h"
#include "cli/survey.h"
#include "registry/registry.h"
#include "registry/select.h"
#include "route/route.h"
#include "runtime/device.h"
#include "values/bind.h"
#include "values/element.h"
#include "values/result.h"
#include "values/sample.h"

#define OPTIONS(X)                                                                                 \
    X(BACKEND, 'b', "--backend", "DEVICE", NULL,                                                   \
      "the device to run on: auto, preferred, gpu, a backend's ID, ID:N for its device N, or all " \
      "(default: auto)")                                                                           \
    X(SAMPLE, 0, "--sample", "N", NULL, "generate the arguments that have no value, at size N")    \
    X(PRINT, 0, "--print", "NAME[:N]...", NULL,                                                    \
      "print the first N elements of an output (default: 16), or all with N = all")                \
    X(OUT, 0, "--out", "NAME=FILE...", NULL,                                                       \
      "write an output to FILE in the format of its suffix: .npy, .png[:WIDTH[xCHANNELS]], "       \
      ".npz, .csv[:COLUMNS], .tsv, or raw bytes; - is stdout")                                     \
    X(TIME, 0, "--time", NULL, NULL,                                                               \
      "print how long the run took, without reading and writing "                                  \
      "files")                                                                                     \
    X(VERIFY, 0, "--verify", NULL, NULL,                                                           \
      "also run the reference backend, with seed 0, and compare all bytes")                        \
    X(TIMEOUT, 0, "--timeout", "SECONDS", NULL, "give up after SECONDS")                           \
    X(GRID, 0, "--grid", "X[,Y[,Z]]", NULL,                                                        \
      "run a program of one phase over this domain instead of its own")                            \
    X(SEED, 0, "--seed", "N", NULL,                                                                \
      "the schedule of the reference backend; 0 runs one workgroup after the other (default: 0)")  \
    X(MESSAGES, 0, "--messages", "N", NULL,                                                        \
      "show at most N messages that the kernel prints, on stderr; 0 leaves them out, as -b all "   \
      "does (default: 1000)")                                                                      \
    X(NO_ASSERTS, 0, "--no-asserts", NULL, NULL,                                                   \
      "leave out the asserts of the kernel, as -b all does; one that fails ends the command "      \
      "without outputs")                                                                           \
    CLI_VARIANT_OPTION(X)                                                                          \
    CLI_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre run examples/saxpy.vyre a=2 x=iota:8 y=1,1,1,1,1,1,1,1 -b reference",
     "run a program and print the result"},
    {"vyre run kernel.vyre a=2.5 x=@x.npy y=@y.npy --out y=result.npy",
     "read and write NumPy arrays"},
    {"vyre run kernel.vyre negative pixels=@photo.png --out result=negative.png",
     "read and write an image"},
    {"vyre run kernel.vyre total x=rand:1000000:7 -b reference --verify --seed 3 --time",
     "run one of several programs in a random schedule, and compare with schedule 0"},
    {"vyre run reduce.sum_u32 x=iota:1000", "run an operation of the library"},
    {"vyre run linalg.matmul --sample 1000000 --print c --time",
     "generate matrices of a million elements, and time the product"},
    {"vyre run examples/mandelbrot.vyre width=800 height=600 left=-2.2 top=1.2 step=0.004 "
     "limit=256 --out turns=m.png:800",
     "write an image"},
    {"vyre run match.dfa_count_u8 text=@README.md table=words:kernel,device -b all --verify",
     "count these words in a file, on every device, and compare with the reference backend"},
    {"vyre run io.dma_from_nvme path=weights.bin offset=4096 size=65536 --out bytes=part.bin",
     "read a range of a file, bypassing the page cache where possible"},
    {NULL, NULL},
};

const cli_command cli_command_run = {
    .name = "run",
    .operands = CLI_INPUT_OPERANDS " [PROGRAM] [NAME=VALUE...]",
    .summary = "run a program",
    .text =
        "Runs a PROGRAM of FILE, which is source text or binary form. You may omit PROGRAM if FILE "
        "has only one. Of a generic program name an instance: 'gather<f32>'. The operands may "
        "stand in any order. An operand that is not a file may be "
        "an OPERATION that `vyre ops` lists; "
        "the command then runs the variant that suits the device. Every argument except `out` "
        "buffers needs a value. Without -b the program runs on the device that `vyre route` names, "
        "chosen by the measurements of `vyre certify`. Without measurements it runs on the "
        "preferred device of `vyre backends`. The reference backend runs only if you name it.\n\n"
        "With -b all the program runs up to six times on each device, one device after the other. "
        "A table shows for each the median time with data on the host and the bytes of all "
        "arguments per second. It also shows the device's own time if the device measures it, "
        "arithmetic operations per second with --sample if the operation declares them, and "
        "whether all bytes match the reference backend. If that would take too long, the bytes are "
        "compared with those of the first device. The exit status is 1 if any byte differs. With "
        "--verify the reference backend is one of the devices, however long it takes. A result "
        "that depends on the schedule is compared only with --verify. Printed and written outputs "
        "are those of the first device that ran the program.\n\n"
        "A scalar takes a number: a=2.5, n=-3, mask=0xff, e=nan, flag=true. A buffer takes a list "
        "of elements, x=1,2,3 or 'x=[1, 2, 3]', where 0*97 means 97 zeros, or one of these forms. "
        "zeros:N and ones:N give N zeros or ones, full:V:N gives N times V. iota:N[:STEP] gives 0, "
        "STEP, 2*STEP and so on; STEP is 1 by default. cycle:N:1,2,3[:STEP] gives N elements that "
        "repeat the list, adding STEP each time. rand:N[:SEED[:BOUND]] gives N random elements. "
        "@FILE reads a file.\n\n"
        "The suffix of a file says what it holds, in upper or lower case: a NumPy array (.npy), an "
        "array of a NumPy archive (.npz), an image (.png), numbers as text (.csv, .tsv), or raw "
        "little-endian bytes (any other). Suffixes of other formats, such as .jpg, are refused. "
        "FORMAT:FILE overrules the suffix: x=@csv:numbers.txt, x=@raw:photo.jpg. @- is stdin. A "
        "pipe may hold 1 GiB; an endless device such as /dev/zero is refused. "
        "x=@data.npz:weights names the array of an archive; without a name it is the only one, or "
        "the one called like the argument. Several --out may name one archive. x=@table.csv:price "
        "reads one column, by its name or "
        "number.\n\n"
        "table=words:error,warning gives a match.dfa_ operation the automaton that finds these "
        "words, and sets its `accept` and `overlap` unless you do.\n\n"
        "With --sample N the command generates those arguments of an OPERATION that have no value, "
        "as `vyre ops show` describes; N is roughly the length of the main buffer. For a program "
        "of a FILE whose arguments are all buffers it fills each buffer with N random elements.\n\n"
        "Random elements are the same on every machine: splitmix64, started from SEED. The default "
        "SEED is the argument's position, counted from 0. Integers take all bit patterns, or stay "
        "below BOUND; floats lie in [0, 1).\n\n"
        "NumPy has no bf16, so .npy files hold it as uint16. An array of NumPy's bool is read as "
        "u8. Arrays of several dimensions are read row by row. An image is u8, or u16 if its "
        "samples have 16 bits: grey levels, or 2 to 4 samples for each pixel.\n\n"
        "Outputs are written with a shape if it is known: an `inout` buffer has the shape of the "
        "file it was read from, and an `out` buffer has that of an argument whose length it "
        "declares, as in `out buffer<f32>[len(x)]`. Otherwise --out turns=m.png:640 gives the "
        "width of an image, m.png:640x3 also the samples of a pixel, and t.csv:4 the columns of a "
        "table; an image is square if nothing is given. u8 and u16 are samples; f32 is a sample "
        "from 0 (black) to 1 (white). u32: the buffer's maximum is drawn black, other values in "
        "one of 64 colours by value mod 64. The command checks outputs before it runs "
        "anything.\n\n"
        "Without --print and --out all outputs are printed. Numbers have the fewest digits that "
        "read back as the same value. In JSON, NaN and infinities are strings.",
    .operand = CLI_OPERAND_FILE,
    .has_program = true,
    .operands_min = 1,
    .operands_max = CLI_ANY_NUMBER,
    CLI_COMMAND_PARTS,
};

typedef struct job {
    const cli_arguments *arguments;
    cli_input input;
    const vyre_program *program;
    vyre_device *device;
    vyre_strbuf why; /* it is that one */
    values_binding binding;
    vyre_dispatch_config config;
    vyre_prints prints; /* of the kernel; a limit of 0 leaves them out */
    uint64_t sample;    /* its size, with --sample */
    vyre_reference_options reference;
    values_request requests[CLI_REPEATS_MAX]; /* what is to be printed and written */
    size_t request_count;
    vyre_outputs outputs;
    uint64_t time_ns;
    bool matches; /* the oracle's bytes, with --verify */
    vyre_strbuf mismatch;
} job;

static bool is_json(const job *j) {
    return j->arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
}

static bool given(const job *j, uint32_t option) {
    return j->arguments->values[option].given;
}

static bool is_everywhere(const job *j) {
    const char *name = j->arguments->values[BACKEND].text;
    return name && !strcmp(name, "all");
}

/* How to end because of something that went wrong with a value or during the run. */
static cli_exit fail(const job *j, vyre_status status) {
    cli_exit result = vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT ? CLI_EXIT_USAGE
                      : vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED    ? CLI_EXIT_BACKEND
                                                                                  : CLI_EXIT_FAILED;
    (void)cli_message_status(j->arguments->command, status);
    return result;
}

/* The command line */

/* One to three numbers from 1 on. */
static vyre_status read_grid(const char *text, uint64_t grid[3]) {
    const char *rest = text;
    bool valid = true;
    vyre_strbuf word = {0};
    for (int i = 0; i < 3 && valid && cli_list_next(&rest, &word); i++) {
        vyre_status status = values_number_parse("--grid", vyre_strbuf_string(&word), &grid[i]);
        valid = !status && grid[i] && grid[i] <= UINT64_C(1) << 32;
        vyre_status_free(status);
    }
    vyre_strbuf_free(&word);
    return valid && !rest
               ? VYRE_OK
               : vyre_status_make(
                     VYRE_STATUS_INVALID_ARGUMENT,
                     "give one to three numbers from 1 to 4294967296, as in --grid 640,480",
                     "--grid is `%s`, which is not a size", text);
}

static vyre_status read_options(job *j) {
    VYRE_TRY(cli_option_seconds(j->arguments, TIMEOUT, &j->config.timeout_ns));
    VYRE_TRY(cli_option_number(j->arguments, SEED, &j->reference.seed));
    VYRE_TRY(cli_option_number(j->arguments, SAMPLE, &j->sample));
    j->prints.limit = VYRE_PRINT_LIMIT;
    VYRE_TRY(cli_option_number(j->arguments, MESSAGES, &j->prints.limit));
    j->config.flags = given(j, NO_ASSERTS) || is_everywhere(j) ? VYRE_DISPATCH_NO_ASSERTS : 0;
    return given(j, GRID) ? read_grid(j->arguments->values[GRID].text, j->config.grid) : VYRE_OK;
}

/* Words behind the FILE: those with a `=` are values, the other one is the PROGRAM. */
static vyre_status sort_operands(const cli_arguments *arguments, const char **values, size_t *count,
                                 const char **program) {
    *program = NULL;
    *count = 0;
    for (size_t i = 1; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i];
        if (strchr(word, '=')) {
            values[(*count)++] = word;
        } else if (!*program) {
            *program = word;
        } else {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "name one PROGRAM, and give values as "
                                    "NAME=VALUE",
                                    "`%s` is a second PROGRAM, after `%s`", word, *program);
        }
    }
    return VYRE_OK;
}

static bool is_stdout(const values_request *request) {
    return request->is_file && vyre_str_is(request->file.path, "-");
}

/* Whether the file of a request can be written, and is none that another request writes. */
static vyre_status check_file(const job *j, size_t index) {
    const values_request *request = &j->requests[index];
    vyre_strbuf path = {0}, other = {0};
    vyre_strbuf_add(&path, request->file.path.data, request->file.path.size);
    vyre_status status = path.failed ? vyre_no_memory("for the name of a file")
                                     : cli_output_check(vyre_strbuf_string(&path));
    for (size_t i = 0; i < index && !status && !is_stdout(request); i++) {
        const vyre_str *file = &j->requests[i].file.path;
        vyre_strbuf_cut(&other, 0);
        vyre_strbuf_add(&other, file->data, file->size);
        bool is_joined = values_request_is_joined(&j->requests[i], request);
        bool is_same =
            is_joined ? values_request_is_member(j->program, &j->requests[i], request)
                      : j->requests[i].is_file && cli_output_is_same(vyre_strbuf_string(&path),
                                                                     vyre_strbuf_string(&other));
        if (is_same) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      is_joined ? "name another member, as in FILE.npz:NAME"
                                                : "name another file",
                                      "two --out write the same %s: %s",
                                      is_joined ? "member" : "file", vyre_strbuf_string(&path));
        }
    }
    vyre_strbuf_free(&path);
    vyre_strbuf_free(&other);
    return status;
}

/* Reads --print and --out; none of them means to print every output. */
static vyre_status read_requests(job *j) {
    const cli_arguments *arguments = j->arguments;
    size_t raw = 0, others = is_json(j) || is_everywhere(j);
    for (size_t i = 0; i < arguments->repeat_count; i++) {
        const cli_repeat *repeat = &arguments->repeats[i];
        values_request *request = &j->requests[i];
        VYRE_TRY(repeat->option == OUT ? values_request_out(j->program, repeat->text, request)
                                       : values_request_print(j->program, repeat->text, request));
        raw += is_stdout(request);
        others += !request->is_file;
    }
    j->request_count = arguments->repeat_count;
    if (raw > 1 || (raw && others)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "write the outputs to files, or send only one output to stdout",
                                "--out sends an output to stdout, where other output goes, too");
    }
    for (size_t i = 0; i < j->request_count; i++) {
        VYRE_TRY(j->requests[i].is_file ? check_file(j, i) : VYRE_OK);
    }
    return VYRE_OK;
}

/* Outputs */

static void print_outputs(const job *j, const vyre_outputs *outputs) {
    vyre_strbuf text = {0};
    values_result_print(j->program, outputs, j->requests, j->request_count, &text);
    cli_output_write(&text);
}

static void add_outputs(const job *j, vyre_json *json, const vyre_outputs *outputs) {
    vyre_json_key(json, "outputs");
    values_result_json(json, j->program, outputs, j->requests, j->request_count);
}

static void write_object(vyre_json *json) {
    vyre_json_object_end(json);
    vyre_strbuf_putc(json->text, '\n');
    cli_output_write(json->text);
}

/* Whether an earlier request writes the archive that this one is part of. */
static bool is_written(const job *j, size_t index) {
    bool joined = false;
    for (size_t i = 0; i < index && !joined; i++) {
        joined = values_request_is_joined(&j->requests[i], &j->requests[index]);
    }
    return joined;
}

static vyre_status save_output(const job *j, const vyre_outputs *outputs, size_t index) {
    vyre_strbuf path = {0}, bytes = {0};
    vyre_status status = values_result_encode(j->program, outputs, j->requests, j->request_count,
                                              index, &path, &bytes);
    status = status ? status : cli_output_save(vyre_strbuf_string(&path), &bytes);
    vyre_strbuf_free(&path);
    vyre_strbuf_free(&bytes);
    return status;
}

/* Writes all files, whatever becomes of each; how to end if it were not for them is `result`. */
static cli_exit save_outputs(const job *j, const vyre_outputs *outputs, cli_exit result) {
    for (size_t i = 0; i < j->request_count; i++) {
        bool is_done = !j->requests[i].is_file || is_written(j, i);
        vyre_status status = is_done ? VYRE_OK : save_output(j, outputs, i);
        result = status ? fail(j, status) : result;
    }
    return result;
}

static void tell_time(const job *j) {
    vyre_strbuf text = {0};
    if (given(j, TIME)) {
        vyre_units_time(&text, j->time_ns);
        cli_message_print("vyre run: it took %s\n", vyre_strbuf_string(&text));
    }
    vyre_strbuf_free(&text);
}

/* On one device */

/* A schedule is something that only the reference backend can be asked for. */
static vyre_status refuse_seed(void) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "use -b reference, or remove --seed",
                            "--seed applies only to the reference backend");
}

static vyre_status apply_seed(job *j) {
    if (!given(j, SEED)) {
        return VYRE_OK;
    }
    if (strcmp(vyre_device_id(j->device), "reference") != 0) {
        return refuse_seed();
    }
    vyre_device_release(j->device);
    return vyre_reference_open(&j->reference, &j->device);
}

static void show_message(void *user, const vyre_message *message) {
    (void)user;
    cli_message_print("%s\n", message->text);
}

static void tell_messages(const job *j) {
    if (j->prints.left_out) {
        cli_message_print("vyre run: %llu more messages are left out. Fix: show more of them with "
                          "--messages N\n",
                          (unsigned long long)j->prints.left_out);
    }
}

static vyre_status dispatch(job *j) {
    vyre_pipeline *pipeline;
    uint64_t begin = vyre_now_ns();
    VYRE_TRY(vyre_device_compile(j->device, j->program, &j->config, &pipeline));
    uint64_t start = vyre_now_ns();
    vyre_timing timing; /* for a trace, which tells more of runs that are timed */
    vyre_dispatch_config rest;
    vyre_status status = vyre_config_rest(&j->config, begin, j->program, &rest);
    j->prints.write = show_message;
    rest.prints = j->prints.limit ? &j->prints : NULL;
    if (!status) {
        status = vyre_pipeline_dispatch_timed(pipeline, j->binding.inputs, j->binding.input_count,
                                              &rest, &j->outputs, &timing);
    }
    j->time_ns = vyre_now_ns() - start;
    tell_messages(j);
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status verify(job *j) {
    vyre_outputs expected;
    VYRE_TRY(vyre_status_annotate(vyre_reference_run(j->program, j->binding.inputs,
                                                     j->binding.input_count, &j->config, NULL,
                                                     &expected),
                                  "on the reference backend"));
    j->matches = values_result_compare(j->program, &j->outputs, &expected, "the reference backend",
                                       &j->mismatch);
    vyre_outputs_free(&expected);
    return VYRE_OK;
}

static vyre_status run_once(job *j) {
    VYRE_TRY(apply_seed(j));
    if (j->input.operation) {
        VYRE_TRY(cli_operation_program(j->input.operation, j->arguments->values[VARIANT].text,
                                       j->device, &j->program));
    }
    VYRE_TRY(dispatch(j));
    return given(j, VERIFY) ? verify(j) : VYRE_OK;
}

static void tell_run(const job *j) {
    cli_message_note("vyre run: `%s` ran on %s: %s\n", vyre_program_name(j->program),
                     vyre_device_name(j->device), vyre_strbuf_string(&j->why));
    tell_time(j);
    if (given(j, VERIFY) && j->matches) {
        cli_message_note("vyre run: all bytes match the reference backend\n");
    } else if (given(j, VERIFY)) {
        bool depends = vyre_program_determinism(j->program) == VYRE_SCHEDULE_DEPENDENT;
        cli_message_print(
            "vyre run: %s. Fix: %s\n", vyre_strbuf_string(&j->mismatch),
            depends ? "the result depends on the schedule, as `vyre check` explains; compare a "
                      "property that does not"
                    : "look for a data race with `vyre check --races`; if there is none, report a "
                      "bug in the backend");
    }
}

static void write_json(const job *j) {
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_object(&json);
    vyre_json_add_string(&json, "program", vyre_program_name(j->program));
    vyre_json_add_string(&json, "device", vyre_device_name(j->device));
    vyre_json_add_string(&json, "why", vyre_strbuf_string(&j->why));
    add_outputs(j, &json, &j->outputs);
    if (given(j, TIME)) {
        vyre_json_add_u64(&json, "time_ns", j->time_ns);
    }
    if (given(j, VERIFY)) {
        vyre_json_add_bool(&json, "verified", j->matches);
    }
    if (given(j, VERIFY) && !j->matches) {
        vyre_json_add_string(&json, "mismatch", vyre_strbuf_string(&j->mismatch));
    }
    write_object(&json);
}

static cli_exit run_on_device(job *j) {
    const cli_arguments *arguments = j->arguments;
    const vyre_operation *operation = j->input.operation;
    vyre_router_request request = {.op = operation ? operation->id : NULL, .program = j->program};
    vyre_status status = VYRE_OK;
    if (cli_device_is_auto(arguments->values[BACKEND].text)) {
        status = vyre_route_count_bytes(j->program, j->binding.inputs, j->binding.input_count,
                                        &j->config, &request.bytes);
    }
    if (status) {
        return fail(j, status);
    }
    cli_exit result = cli_device_acquire_for(arguments->command, arguments->values[BACKEND].text,
                                             &request, &j->device, &j->why);
    if (result != CLI_EXIT_DONE) {
        return result;
    }
    status = run_once(j);
    if (status) {
        return fail(j, status);
    }
    if (is_json(j)) {
        write_json(j);
    } else {
        print_outputs(j, &j->outputs);
    }
    result = save_outputs(j, &j->outputs, CLI_EXIT_DONE);
    tell_run(j);
    return given(j, VERIFY) && !j->matches && result == CLI_EXIT_DONE ? CLI_EXIT_NO : result;
}

/* On every device: timed and compared. */

static vyre_status try_all(bench_everywhere *all) {
    cli_survey survey = {.is_brief = true};
    vyre_status status = cli_survey_take_all(&survey);
    status = status ? status : bench_everywhere_begin(all);
    for (size_t i = 0; i < survey.rows.count && !status; i++) {
        cli_survey_row *row = &survey.rows.items[i];
        const char *id = row->registration->id;
        if (!vyre_is_oracle(id) && vyre_registry_dispatches(vyre_registry_default(), id)) {
            status = bench_everywhere_add(all, row->name, row->device, row->failure);
            row->failure = VYRE_OK; /* was given away */
        }
    }
    status = status ? status : bench_everywhere_end(all);
    cli_survey_deinit(&survey);
    return status;
}

/* What devices said that did not give the oracle's bytes. */
static void tell_places(const bench_everywhere *all) {
    for (size_t i = 0; i < all->places.count; i++) {
        const bench_place *place = &all->places.items[i];
        if (place->fate == BENCH_PLACE_UNSUPPORTED || place->fate == BENCH_PLACE_FAILED) {
            cli_message_print("vyre run: %s: %s\n", place->name, vyre_status_text(place->failure));
        } else if (place->mismatch.size) {
            cli_message_print("vyre run: %s: %s\n", place->name,
                              vyre_strbuf_string(&place->mismatch));
        }
    }
}

static void write_everywhere_json(const job *j, const bench_everywhere *all) {
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    vyre_json_object(&json);
    vyre_json_add_string(&json, "program", vyre_program_name(j->program));
    vyre_json_add_u64(&json, "bytes", all->bytes);
    vyre_json_key(&json, "devices");
    bench_everywhere_json(all, &json);
    add_outputs(j, &json, &all->outputs);
    write_object(&json);
}

static cli_exit finish_everywhere(const job *j, const bench_everywhere *all) {
    bool ran = bench_everywhere_count(all, BENCH_PLACE_RAN);
    cli_exit result = !all->outputs.count && !ran                       ? CLI_EXIT_BACKEND
                      : bench_everywhere_count(all, BENCH_PLACE_FAILED) ? CLI_EXIT_FAILED
                      : bench_everywhere_differing(all)                 ? CLI_EXIT_NO
                                                                        : CLI_EXIT_DONE;
    if (is_json(j)) {
        write_everywhere_json(j, all);
    } else {
        vyre_strbuf text = {0};
        if (ran && j->request_count) {
            print_outputs(j, &all->outputs);
        }
        if (result != CLI_EXIT_BACKEND) {
            bench_everywhere_text(all, &text);
        }
        cli_output_write(&text);
    }
    result = ran ? save_outputs(j, &all->outputs, result) : result;
    tell_places(all);
    if (result == CLI_EXIT_BACKEND) {
        cli_message_print("vyre run: no device ran it. Fix: `vyre backends` gives the reason for "
                          "each device; --verify adds the reference backend\n");
    }
    return result;
}

static cli_exit run_everywhere(job *j) {
    const vyre_operation *operation = j->input.operation;
    if (given(j, SEED)) {
        return fail(j, refuse_seed());
    }
    bench_everywhere all = {
        .program = j->program,
        .name = operation ? operation->id : vyre_program_name(j->program),
        .operation = given(j, VARIANT) ? NULL : operation,
        .inputs = j->binding.inputs,
        .input_count = j->binding.input_count,
        .config = &j->config,
        .verify = given(j, VERIFY),
    };
    if (given(j, SAMPLE) && operation) {
        (void)values_sample_work(operation, j->sample, &all.operations);
    }
    vyre_status status = try_all(&all);
    cli_exit result = status ? fail(j, status) : finish_everywhere(j, &all);
    bench_everywhere_deinit(&all);
    return result;
}

/* By the host: options about devices and programs are not for it. */

static vyre_status check_host_options(const job *j, const char *program) {
    static const uint32_t others[] = {BACKEND, SAMPLE, VERIFY, TIMEOUT, GRID, SEED, VARIANT};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (given(j, others[i])) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                    "%s does not apply to `%s`, which the host executes",
                                    options[others[i]].name, j->input.operation->id);
        }
    }
    return program ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "remove it, and give values as NAME=VALUE",
                                      "`%s` has no program `%s`", j->input.operation->id, program)
                   : VYRE_OK;
}

static vyre_status do_on_host(job *j, cli_host_call *call, const char **values, size_t count,
                              const char *program) {
    VYRE_TRY(check_host_options(j, program));
    VYRE_TRY(cli_host_bind(call, j->input.operation, values, count));
    j->program = call->shape;
    VYRE_TRY(read_requests(j));
    return cli_host_do(call);
}

static cli_exit run_on_host(job *j, const char **values, size_t count, const char *program) {
    cli_host_call call = {0};
    const char *id = j->input.operation->id;
    vyre_status status = do_on_host(j, &call, values, count, program);
    cli_exit result = status ? fail(j, status) : CLI_EXIT_DONE;
    j->time_ns = call.time_ns;
    if (!status && is_json(j)) {
        vyre_strbuf text = {0};
        vyre_json json = {.text = &text};
        vyre_json_object(&json);
        vyre_json_add_string(&json, "operation", id);
        vyre_json_add_string(&json, "way", vyre_strbuf_string(&call.way));
        add_outputs(j, &json, &call.outputs);
        if (given(j, TIME)) {
            vyre_json_add_u64(&json, "time_ns", j->time_ns);
        }
        write_object(&json);
    } else if (!status) {
        print_outputs(j, &call.outputs);
    }
    if (!status) {
        result = save_outputs(j, &call.outputs, result);
        cli_message_note("vyre run: the host executed `%s`%s%s\n", id, call.way.size ? ", " : "",
                         vyre_strbuf_string(&call.way));
        tell_time(j);
    }
    cli_host_deinit(&call);
    return result;
}

/* The command */

static vyre_status bind(job *j, const char **values, size_t count) {
    bool stdin_used = !strcmp(j->arguments->operands[0], "-");
    VYRE_TRY(read_requests(j));
    VYRE_TRY(given(j, SAMPLE) ? values_sample_complete(&j->binding, j->input.operation, j->program,
                                                       j->sample, values, count, stdin_used)
                              : values_bind(&j->binding, j->program, values, count, stdin_used,
                                            VALUES_MISSING_REFUSED));
    for (size_t i = 0; i < j->request_count; i++) {
        VYRE_TRY(values_request_settle(&j->requests[i], &j->binding));
    }
    return VYRE_OK;
}

static cli_exit run_job(job *j, const char **values) {
    const cli_arguments *arguments = j->arguments;
    const char *name;
    size_t count;
    cli_selection chosen;
    cli_exit result;
    vyre_status status = read_options(j);
    status = status ? status : sort_operands(arguments, values, &count, &name);
    if (status) {
        return fail(j, status);
    }
    status = cli_input_open(&j->input, arguments->operands[0], arguments->values[VARIANT].text);
    if (status) {
        return cli_input_report(&j->input, arguments->command, status);
    }
    if (j->input.operation && j->input.operation->category == VYRE_CATEGORY_INTRINSIC) {
        return run_on_host(j, values, count, name);
    }
    if (!cli_input_take(&j->input, arguments->command, name, "`vyre run` takes one", &chosen,
                        &result)) {
        return result;
    }
    j->program = cli_input_program(&j->input, chosen.first);
    status = bind(j, values, count);
    return status ? fail(j, status) : is_everywhere(j) ? run_everywhere(j) : run_on_device(j);
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    const char **values = vyre_alloc_array(arguments->operand_count, sizeof *values);
    cli_exit result =
        values ? run_job(&j, values)
               : cli_message_status(arguments->command, vyre_no_memory("for the command line"));
    vyre_outputs_free(&j.outputs);
    values_binding_deinit(&j.binding);
    cli_input_deinit(&j.input);
    vyre_strbuf_free(&j.mismatch);
    vyre_strbuf_free(&j.why);
    vyre_device_release(j.device);
    vyre_free(values);
    return result;
}
