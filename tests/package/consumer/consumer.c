#include <kiln/kiln.h>

const char* version_from_c(void);
const char* version_from_c(void) { return kiln_version(); }
