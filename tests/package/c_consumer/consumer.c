#include <kiln/kiln.h>

int main(void) { return kiln_version()[0] == '0' ? 0 : 1; }
