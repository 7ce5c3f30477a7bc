/* What is linked in. A new part is a row of the table. */
#include "dialect/linked.h"

#include "dialect/library.h"

const vyre_linked_part vyre_linked[] = {vyre_linked_io, vyre_linked_library, NULL};
