/* The same where readers pay for their own barriers, as on systems that have none for all threads.
 */
#define PORTABLE_GUARDS
#include "tests/unit/test_dialect_reload.c"
