/* A test program in C: a table of named cases, one run by its name. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "kiln/kiln.h"

enum { k_skipped = 77 }; /* CTest knows it as "skipped" */

static int failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

/* The call succeeds and leaves no error. */
#define CHECK_OK(call)                                                                                \
  do {                                                                                                \
    kiln_error* error = (kiln_error*)&failures; /* not NULL: success must reset it */                 \
    kiln_status status = call;                                                                        \
    if (status != KILN_OK || error != NULL) {                                                         \
      ++failures;                                                                                     \
      fprintf(stderr, "%s:%d: %s: %s: %s\n%s\n", __FILE__, __LINE__, #call, kiln_status_name(status), \
              status == KILN_OK ? "an error was left" : kiln_error_message(error),                    \
              status == KILN_OK ? "" : kiln_error_log(error));                                        \
    }                                                                                                 \
    if (status != KILN_OK) {                                                                          \
      kiln_error_free(error);                                                                         \
    }                                                                                                 \
  } while (0)

/* The call fails with this status, and its message holds this text. */
#define CHECK_FAILS(call, expected, text)                                                               \
  do {                                                                                                  \
    kiln_error* error = NULL;                                                                           \
    kiln_status status = call;                                                                          \
    if (status != (expected) || kiln_error_code(error) != (expected) ||                                 \
        strstr(kiln_error_message(error), (text)) == NULL) {                                            \
      ++failures;                                                                                       \
      fprintf(stderr, "%s:%d: %s: expected %s with '%s', got %s: %s\n", __FILE__, __LINE__, #call,      \
              kiln_status_name(expected), (text), kiln_status_name(status), kiln_error_message(error)); \
    }                                                                                                   \
    kiln_error_free(error);                                                                             \
  } while (0)

typedef struct test_case {
  const char* name;
  int (*run)(void); /* 0, or k_skipped */
} test_case;

/* Runs the case that argv[1] names. */
static int run_case(const test_case* cases, size_t count, int argc, char** argv) {
  for (size_t i = 0; argc == 2 && i < count; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      int result = cases[i].run();
      return failures != 0 ? 1 : result;
    }
  }
  fprintf(stderr, "give one of the cases:\n");
  for (size_t i = 0; i < count; ++i) {
    fprintf(stderr, "  %s\n", cases[i].name);
  }
  return 2;
}
