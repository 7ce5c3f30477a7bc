#include "tests/ptx/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/machine.h"

/* The module of the last launch: most have the same. */
static char *image;
static ptx_module *module;

void ptx_launch_forget(void) {
    ptx_module_free(module);
    free(image);
    module = NULL;
    image = NULL;
}

fake_result ptx_launch_fake(const fake_launch *launch) {
    static uint64_t launches;
    ptx_error error;
    if (!image || strcmp(image, launch->image) != 0) {
        ptx_launch_forget();
        size_t size = strlen(launch->image) + 1;
        image = malloc(size);
        const char *text = strstr(launch->image, ".version"); /* behind the mark of a binary */
        module = image ? ptx_module_make(text ? text : launch->image, &error) : NULL;
        if (!module) {
            fprintf(stderr, "%s\n", image ? error.text : "no memory");
            ptx_launch_forget();
            return FAKE_FAULT;
        }
        memcpy(image, launch->image, size);
    }
    const ptx_launch run = {
        .entry = launch->entry,
        .frame = launch->parameters,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .threads = launch->threads,
        .dynamic_bytes = launch->dynamic_bytes,
        .seed = ++launches,
        .max_steps = 1000000000,
    };
    if (!ptx_launch_run(module, &run, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return FAKE_FAULT;
    }
    return FAKE_DONE;
}
