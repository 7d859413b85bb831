#pragma once

/* Marks what the shared library gives to those who link it. Everything else in it is hidden. For C and C++. */
#define KILN_EXPORT __attribute__((visibility("default")))
