#include "backend/cpu/codegen/option.h"

CPU_OPTIONS(VYRE_OPTION_DEFINE)
