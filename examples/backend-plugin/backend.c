/* A whole backend in a library of its own: an interpreter for programs without workgroups. Where it
 * runs one, it gives the bytes that docs/semantics.md says; what it does not know it refuses.
 *
 * backend.c   the contract        machine.c   control flow and memory        value.c   arithmetic
 */
#include <string.h>
#include <vyre/backend.h>
#include <vyre/wire.h>

#include "machine.h"

/* Everything but elementary functions and what needs a workgroup. */
static const vyre_op known[] = {VYRE_OP_PARAM,        VYRE_OP_GID,        VYRE_OP_LEN,
                                VYRE_OP_ADD,          VYRE_OP_SUB,        VYRE_OP_MUL,
                                VYRE_OP_DIV,          VYRE_OP_REM,        VYRE_OP_MIN,
                                VYRE_OP_MAX,          VYRE_OP_NEG,        VYRE_OP_ABS,
                                VYRE_OP_MUL_HIGH,     VYRE_OP_ADD_SAT,    VYRE_OP_SUB_SAT,
                                VYRE_OP_AND,          VYRE_OP_OR,         VYRE_OP_XOR,
                                VYRE_OP_NOT,          VYRE_OP_SHL,        VYRE_OP_SHR,
                                VYRE_OP_ROTL,         VYRE_OP_ROTR,       VYRE_OP_CLZ,
                                VYRE_OP_CTZ,          VYRE_OP_POPCOUNT,   VYRE_OP_REVERSE_BITS,
                                VYRE_OP_FMA,          VYRE_OP_SQRT,       VYRE_OP_FLOOR,
                                VYRE_OP_CEIL,         VYRE_OP_TRUNC,      VYRE_OP_ROUND,
                                VYRE_OP_COPYSIGN,     VYRE_OP_EQ,         VYRE_OP_NE,
                                VYRE_OP_LT,           VYRE_OP_LE,         VYRE_OP_SELECT,
                                VYRE_OP_CONVERT,      VYRE_OP_BITCAST,    VYRE_OP_LOAD,
                                VYRE_OP_STORE,        VYRE_OP_CLEAR,      VYRE_OP_ATOMIC_LOAD,
                                VYRE_OP_ATOMIC_STORE, VYRE_OP_ATOMIC_ADD, VYRE_OP_ATOMIC_SUB,
                                VYRE_OP_ATOMIC_AND,   VYRE_OP_ATOMIC_OR,  VYRE_OP_ATOMIC_XOR,
                                VYRE_OP_ATOMIC_MIN,   VYRE_OP_ATOMIC_MAX, VYRE_OP_ATOMIC_EXCHANGE,
                                VYRE_OP_ATOMIC_CAS,   VYRE_OP_IF,         VYRE_OP_FOR,
                                VYRE_OP_LOOP,         VYRE_OP_INLINE,     VYRE_OP_ARG,
                                VYRE_OP_RESULT,       VYRE_OP_YIELD,      VYRE_OP_BREAK,
                                VYRE_OP_CONTINUE,     VYRE_OP_RETURN,     VYRE_OP_UNREACHABLE};

static vyre_op_set operations;

__attribute__((constructor)) static void fill_operations(void) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        operations.words[known[i] / 64] |= UINT64_C(1) << known[i] % 64;
    }
}

static vyre_status no_memory(const vyre_host *host) {
    return host->status_make(VYRE_FAIL_OUT_OF_MEMORY, "free memory, then try again",
                             "no memory for a run of the scalar backend");
}

/* The host refuses programs with other operations; the rest is looked at here. */
static vyre_status check(const vyre_host *host, const vyre_ir *ir) {
    const char *what = NULL;
    if (ir->phase_count != 1 || ir->step_count != 1) {
        what = "more than one phase"; /* never comes: `features` does not say PHASES */
    } else if (ir->phases[0].workgroup[0]) {
        what = "a workgroup clause";
    } else if (ir->phases[0].from_resource != VYRE_NONE) {
        what = "a domain from memory";
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        if (ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            what = "a scratch array";
        }
    }
    return what ? host->status_make(VYRE_FAIL_UNSUPPORTED, "run it on another backend", what)
                : NULL;
}

/* The program, through its bytes: the host may have a libvyre of its own, whose objects are not for
 * ours to look into. */
static vyre_status decode(const vyre_host *host, const vyre_program *program, vyre_program **out) {
    uint8_t *bytes;
    size_t size;
    vyre_status status = host->program_wire(program, &bytes, &size);
    if (status) {
        return status;
    }
    vyre_status own = vyre_wire_decode(bytes, size, out);
    host->free(bytes);
    if (own) { /* a status of our libvyre, to be said in the host's words */
        status = host->status_make(VYRE_FAIL_BACKEND, NULL, vyre_status_text(own));
        vyre_status_free(own);
    }
    return status;
}

/* Finds memory for every array. Buffers that are written live in the outputs from the start. */
static bool bind(machine *m, const vyre_call *call, vyre_output *outputs) {
    size_t input = 0, output = 0;
    for (uint32_t i = 0; i < m->ir->arg_count; i++) {
        const vyre_arg *arg = &m->ir->args[i];
        if (arg->resource == VYRE_NONE) {
            input++; /* its value is in call->arguments */
            continue;
        }
        machine_array *array = &m->arrays[arg->resource];
        const vyre_input *from = &call->inputs[input];
        array->length = call->arguments[i];
        switch (m->ir->resources[arg->resource].access) {
        case VYRE_ACCESS_IN:
            array->data = (unsigned char *)(uintptr_t)from->data;
            input++;
            break;
        case VYRE_ACCESS_INOUT:
            array->data = outputs[output++].data;
            if (from->size) {
                memcpy(array->data, from->data, from->size);
            }
            input++;
            break;
        default:
            array->data = outputs[output].data;
            if (outputs[output].size) {
                memset(array->data, 0, outputs[output].size);
            }
            output++;
        }
    }
    for (uint32_t i = 0; i < m->ir->resource_count; i++) {
        const vyre_resource *resource = &m->ir->resources[i];
        if (resource->kind == VYRE_RESOURCE_PRIVATE) {
            m->arrays[i].length = resource->length;
            m->arrays[i].data = m->host->alloc(resource->length * sizeof(uint64_t));
            if (!m->arrays[i].data) {
                return false;
            }
        }
    }
    return true;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    const vyre_host *host = backend->host;
    vyre_program *program = NULL;
    machine m = {.host = host, .call = call};
    vyre_status status = decode(host, call->program, &program);
    if (status) {
        return status;
    }
    m.ir = vyre_program_ir(program);
    status = check(host, m.ir);
    if (status) {
        goto done;
    }
    m.values = host->alloc(m.ir->inst_count * sizeof *m.values);
    m.carried = host->alloc(VYRE_LIMIT_CARRIED * sizeof *m.carried);
    m.arrays = host->alloc((m.ir->resource_count + 1) * sizeof *m.arrays);
    if (!m.values || !m.carried || !m.arrays) {
        status = no_memory(host);
        goto done;
    }
    memset(m.arrays, 0, (m.ir->resource_count + 1) * sizeof *m.arrays);
    status = bind(&m, call, outputs) ? machine_run(&m) : no_memory(host);

done:
    for (uint32_t i = 0; m.arrays && i < m.ir->resource_count; i++) {
        if (m.ir->resources[i].kind == VYRE_RESOURCE_PRIVATE) {
            host->free(m.arrays[i].data);
        }
    }
    host->free(m.arrays);
    host->free(m.carried);
    host->free(m.values);
    vyre_program_release(program);
    return status;
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return "scalar";
}

static const char *version(const vyre_backend *backend) {
    (void)backend;
    return "1.0";
}

static const vyre_op_set *supported_ops(const vyre_backend *backend) {
    (void)backend;
    return &operations;
}

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = id,
        .dispatch = dispatch,
        .version = version,
        .supported_ops = supported_ops,
    };
    if (device) {
        return host->status_make(VYRE_FAIL_NOT_FOUND, "use device 0",
                                 "the scalar backend has one device");
    }
    out_backend->slots = &slots;
    return NULL;
}

/* The one symbol that the host asks for. */

static const vyre_op_set *registered_ops(void) {
    return &operations;
}

__attribute__((visibility("default"))) const vyre_bundle *vyre_backend_query(uint32_t max_abi);

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {
        .id = "scalar",
        .create = create,
        .supported_ops = registered_ops,
    };
    static const vyre_precedence precedence = {"scalar", 900}; /* behind everything faster */
    static const vyre_capability capability = {"scalar", true};
    static const vyre_bundle bundle = {
        VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1};
    return max_abi >= VYRE_ABI ? &bundle : NULL;
}
