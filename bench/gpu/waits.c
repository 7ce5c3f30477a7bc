#include "bench/gpu/waits.h"

#include <stdio.h>
#include <string.h>

#include <vyre/vyre.h>

#include "backend/opencl/runtime/device.h"
#include "base/clock.h"
#include "bench/kernels.h"
#include "runtime/device.h"

enum { ELEMENTS = 64, ROUNDS = 20, QUEUED = 200, WAITED = 50 };

static const char kernel_text[] =
    "program tiny(k: u32, x: buffer<u32>, y: inout buffer<u32>) over y { y[gid] = x[gid] + k; }";

/* The same by hand; NULL where the backend is another. */
typedef struct raw {
    opencl_device *own;
    cl_program code;
    cl_kernel kernel;
} raw;

static const char raw_text[] = "kernel void tiny(uint k, global const uint *x, global uint *y) {\n"
                               "    y[get_global_id(0)] = x[get_global_id(0)] + k;\n"
                               "}\n";

static void drive(const raw *r, cl_int result) {
    must(opencl_check(r->own, result, "measuring"));
}

static void raw_open(raw *r, vyre_device *device, cl_mem memory[2]) {
    const char *text = raw_text;
    const cl_uint one = 1;
    cl_int result;
    r->own = device->backend->state;
    const opencl_table *cl = r->own->cl;
    r->code = cl->clCreateProgramWithSource(r->own->context, 1, &text, NULL, &result);
    drive(r, result);
    drive(r, cl->clBuildProgram(r->code, 1, &r->own->info.found.device, "", NULL, NULL));
    r->kernel = cl->clCreateKernel(r->code, "tiny", &result);
    drive(r, result);
    for (int i = 0; i < 2; i++) {
        must(opencl_memory_make(r->own, (uint64_t)ELEMENTS * 4, NULL, &memory[i]));
        drive(r, cl->clSetKernelArg(r->kernel, (cl_uint)i + 1, sizeof memory[i], &memory[i]));
    }
    drive(r, cl->clSetKernelArg(r->kernel, 0, sizeof one, &one));
}

/* As many launches as that, and a wait; us for each. */
static double raw_run(const raw *r, int count) {
    const opencl_table *cl = r->own->cl;
    const size_t size = ELEMENTS;
    uint64_t start = vyre_now_ns();
    for (int i = 0; i < count; i++) {
        drive(r, cl->clEnqueueNDRangeKernel(r->own->queue, r->kernel, 1, NULL, &size, &size, 0,
                                            NULL, NULL));
    }
    drive(r, cl->clFinish(r->own->queue));
    return (double)(vyre_now_ns() - start) / 1e3 / count;
}

static double own_run(vyre_device *device, vyre_pipeline *pipeline, const vyre_binding *bindings,
                      int count) {
    vyre_ticket ticket;
    uint64_t start = vyre_now_ns();
    for (int i = 0; i < count; i++) {
        must(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
    }
    must(vyre_device_wait(device, ticket));
    return (double)(vyre_now_ns() - start) / 1e3 / count;
}

static void tell(const char *what, double own, double by_hand) {
    printf("%-17s %8.2f us", what, own);
    if (by_hand > 0) {
        printf(", by hand %8.2f us, ratio %.2f", by_hand, own / by_hand);
    }
    printf("\n");
}

void waits(vyre_device *device) {
    vyre_program *program = parse(kernel_text, sizeof kernel_text - 1);
    vyre_pipeline *pipeline;
    vyre_resident x, y;
    must(vyre_device_compile(device, program, NULL, &pipeline));
    must(vyre_resident_allocate(device, (size_t)ELEMENTS * 4, &x));
    must(vyre_resident_allocate(device, (size_t)ELEMENTS * 4, &y));
    const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(x), vyre_bind(y)};
    raw r = {0};
    cl_mem memory[2] = {NULL, NULL};
    own_run(device, pipeline, bindings, 1); /* the device is open from here on */
    if (!strcmp(vyre_device_id(device), "opencl")) {
        raw_open(&r, device, memory);
    }
    double best[2][2] = {{1e9, 1e9}, {1e9, 1e9}};
    for (int i = 0; i < ROUNDS * WAITED; i++) {
        int many = i % WAITED == 0, count = many ? QUEUED : 1;
        double own = own_run(device, pipeline, bindings, count);
        double by_hand = r.own ? raw_run(&r, count) : 0;
        best[many][0] = own < best[many][0] ? own : best[many][0];
        best[many][1] = by_hand < best[many][1] ? by_hand : best[many][1];
    }
    tell("enqueue and wait", best[0][0], best[0][1]);
    tell("queued enqueue", best[1][0], best[1][1]);
    if (r.own) {
        r.own->cl->clReleaseKernel(r.kernel);
        r.own->cl->clReleaseProgram(r.code);
        opencl_memory_free(r.own, memory[0]);
        opencl_memory_free(r.own, memory[1]);
    }
    must(vyre_resident_free(device, x));
    must(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}
