/* Folders of manifests: the third stream of the registry. */
#ifndef VYRE_DIALECT_FOLDER_H
#define VYRE_DIALECT_FOLDER_H

#include "dialect/linked.h"

/* Adds the definitions of all manifests in the folders of VYRE_DIALECT_PATH, or in those that are
 * looked at where it is not set. `streams` has the linked and extern ones already, which sources
 * may call. */
VYRE_MUST_USE vyre_status vyre_folder_read(vyre_streams *streams);

#endif
