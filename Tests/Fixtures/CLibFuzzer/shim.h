#pragma once

#include <stddef.h>
#include <stdint.h>

/* libFuzzer as a library (llvm.org/docs/LibFuzzer.html): the toolchain has it, but no header that says so. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*check)(const uint8_t *data, size_t size));
