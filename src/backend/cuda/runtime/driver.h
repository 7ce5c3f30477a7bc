/* NVIDIA's driver library: opened at run time, when the first device is created, never closed. */
#ifndef VYRE_CUDA_RUNTIME_DRIVER_H
#define VYRE_CUDA_RUNTIME_DRIVER_H

#include <vyre/status.h>

#include "backend/cuda/runtime/table.h"

/* The entry points, after cuInit; or what is missing on this machine. */
VYRE_MUST_USE vyre_status cuda_driver_open(const cuda_table **out_table);

/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" */
enum { CUDA_ERROR_TEXT_BYTES = 192 };
void cuda_error_text(const cuda_table *cuda, CUresult result, char out_text[CUDA_ERROR_TEXT_BYTES]);

/* Whether a context in which this happened is of no use any more. */
bool cuda_error_is_final(CUresult result);

#endif
