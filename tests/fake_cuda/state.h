/* The inside of the fake: one lock for all, objects, and the work that waits in streams. */
#ifndef VYRE_TESTS_FAKE_CUDA_STATE_H
#define VYRE_TESTS_FAKE_CUDA_STATE_H

#include <pthread.h>
#include <stddef.h>

#include "tests/fake_cuda/fake.h"

#define FAKE_API __attribute__((visibility("default")))

enum { ERROR_INVALID_VALUE = 1, ERROR_INVALID_IMAGE = 200, ERROR_INVALID_CONTEXT = 201 };
enum { ERROR_NOT_FOUND = 500 };

struct CUmod_st {
    char *image;
    struct CUfunc_st *functions;
};

struct CUfunc_st {
    char name[64];
    size_t parameter_bytes;
    CUmodule module;
    CUfunction next;
};

struct CUevent_st {
    uint64_t recorded, reached;
};

typedef enum fake_work_kind {
    WORK_COPY,
    WORK_FILL,
    WORK_KERNEL,
    WORK_RECORD,
    WORK_WAIT
} fake_work_kind;

typedef struct fake_work {
    fake_work_kind kind;
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
    CUevent event;
    uint64_t number;      /* of a record */
    uint32_t value, unit; /* of a fill: what it repeats, and its bytes; 0: zeros */
    CUfunction function;
    uint8_t *own; /* parameters of a kernel, or bytes that were taken at once */
    uint32_t grid[3], threads, dynamic_bytes;
    bool cooperative, in_graph;
    struct fake_work *next;
} fake_work;

struct CUstream_st {
    fake_work *first, *last;
    CUstream next;
};

typedef struct fake_state {
    pthread_mutex_t lock;
    fake_spec spec;
    fake_live live;
    uint64_t calls[FAKE_ENTRY_COUNT], fail_at[FAKE_ENTRY_COUNT];
    CUresult failures[FAKE_ENTRY_COUNT];
    CUresult fault; /* what the context answers since */
    fake_result (*run)(const fake_launch *launch);
    CUstream streams;
} fake_state;

extern fake_state fake;
extern struct CUctx_st fake_context;

/* Counts a call, in the lock; not 0: what it has to answer. */
CUresult fake_enter(fake_entry entry);
/* The same for calls that need the context. */
CUresult fake_enter_context(fake_entry entry);

/* Objects of the context, which a reset of it frees. */
void fake_keep(void *object, void (*free)(void *object));
void fake_forget(const void *object);

/* Memory of the device. */
CUresult fake_block_make(size_t bytes, CUdeviceptr *out_address);
CUresult fake_block_free(CUdeviceptr address);
bool fake_block_holds(const void *address, size_t bytes);
/* Pages of the host. */
void *fake_pages_make(size_t bytes);
bool fake_pages_free(void *pages);
bool fake_pages_hold(const void *address);
/* Memory of the caller that was registered counts as pages. */
CUresult fake_register(void *start, size_t bytes);
CUresult fake_unregister(const void *start);
/* Whether it is memory that the device reaches. */
bool fake_memory_holds(const void *address, size_t bytes);

/* Work. All in the lock. The stream NULL is there, too. */
CUstream fake_stream_of(CUstream stream);
void fake_append(CUstream stream, fake_work work);
/* A fill that repeats a value of so many bytes. */
CUresult fake_fill(CUdeviceptr to, unsigned value, unsigned unit, size_t count, CUstream stream);
/* What the driver knows of an address. */
CUresult fake_pointer_attribute(void *value, int which, CUdeviceptr address);
/* One step of a stream; whether there is more. */
bool fake_step(CUstream stream);
/* Runs a stream until it is empty, and lets others in meanwhile. */
void fake_finish(CUstream stream);
void fake_finish_all(void);
void fake_drop_all(void);

/* What a module of this text has; NULL if it is none. */
CUmodule fake_module_make(const char *image);
void fake_module_free(CUmodule module);
/* The battery of the exactness probe, as a device would compute it. */
fake_result fake_probe(const fake_launch *launch);

#endif
