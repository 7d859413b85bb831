/* The C API on a GPU; skipped where there is none. The driver is opened at run time, as Kiln does. */
#include <dlfcn.h>
#include <stdlib.h>

#include "check.h"
#include "common.h"

enum { k_count = 100 };

typedef unsigned long long device_pointer;
static int (*device_alloc)(device_pointer* out, size_t bytes);
static int (*device_free)(device_pointer address);
static int (*copy_in)(device_pointer to, const void* from, size_t bytes);
static int (*copy_out)(void* to, device_pointer from, size_t bytes);

/* dlsym's void* becomes a function pointer by its bytes: C has no cast for it. */
static void find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  CHECK(symbol != NULL);
  memcpy(function, &symbol, sizeof symbol);
}

/* Makes device 0's primary context current. 0 if there is no GPU. */
static int make_context(void) {
  int (*initialise)(unsigned) = NULL;
  int (*retain)(void** context, int device) = NULL;
  int (*set_current)(void* context) = NULL;
  void* context = NULL;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    return 0;
  }
  find(library, "cuInit", &initialise);
  find(library, "cuDevicePrimaryCtxRetain", &retain);
  find(library, "cuCtxSetCurrent", &set_current);
  find(library, "cuMemAlloc_v2", &device_alloc);
  find(library, "cuMemFree_v2", &device_free);
  find(library, "cuMemcpyHtoD_v2", &copy_in);
  find(library, "cuMemcpyDtoH_v2", &copy_out);
  return initialise(0) == 0 && retain(&context, 0) == 0 && set_current(context) == 0;
}

static int launch(void) {
  if (!make_context()) {
    return k_skipped;
  }
  float host[k_count];
  for (int i = 0; i < k_count; ++i) {
    host[i] = (float)i;
  }
  device_pointer x = 0;
  device_pointer y = 0;
  CHECK(device_alloc(&x, sizeof host) == 0 && device_alloc(&y, sizeof host) == 0);
  CHECK(copy_in(x, host, sizeof host) == 0);

  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_kernel* kernel = NULL;
  CHECK_OK(kiln_service_get(service, tmpl, values, NULL, &kernel, &error));
  kiln_service_free(service); /* the kernel keeps what it needs */
  CHECK(kiln_kernel_function(kernel) != NULL);
  const kiln_argument arguments[] = {KILN_ARGUMENT(y), KILN_ARGUMENT(x)};
  kiln_launch config = {0};
  config.size = sizeof config;
  config.block[0] = 128;
  CHECK_OK(kiln_kernel_launch(kernel, &config, arguments, 2, &error));
  CHECK(copy_out(host, y, sizeof host) == 0);
  for (int i = 0; i < k_count; ++i) {
    CHECK(host[i] == 2.5F * (float)i);
  }
  kiln_kernel_free(kernel);
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_options_free(options);
  device_free(x);
  device_free(y);
  return 0;
}

static int launch_refused(void) {
  if (!make_context()) {
    return k_skipped;
  }
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_kernel* kernel = NULL;
  CHECK_OK(kiln_service_get(service, tmpl, values, "native", &kernel, &error));
  kiln_launch config = {0};
  CHECK_FAILS(kiln_kernel_launch(kernel, &config, NULL, 0, &error), KILN_INVALID_ARGUMENT, "size");
  config.size = sizeof config;
  CHECK_FAILS(kiln_kernel_launch(kernel, &config, NULL, 2, &error), KILN_INVALID_ARGUMENT, "arguments");
  config.block[0] = 100000; /* more threads than any GPU takes */
  device_pointer none = 0;
  const kiln_argument arguments[] = {KILN_ARGUMENT(none), KILN_ARGUMENT(none)};
  CHECK_FAILS(kiln_kernel_launch(kernel, &config, arguments, 2, &error), KILN_DRIVER_FAILED, "scale");
  kiln_kernel_free(kernel);
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

static int launch_permutation(void) {
  if (!make_context()) {
    return k_skipped;
  }
  const int64_t indices[] = {3, 1, 0, 2};
  int32_t host[] = {10, 11, 12, 13, 20, 21, 22, 23};
  const int32_t expected[] = {13, 11, 10, 12, 23, 21, 20, 22};
  device_pointer x = 0;
  device_pointer y = 0;
  CHECK(device_alloc(&x, sizeof host) == 0 && device_alloc(&y, sizeof host) == 0);
  CHECK(copy_in(x, host, sizeof host) == 0);

  kiln_permutation_request request = {0};
  request.size = sizeof request;
  request.indices = indices;
  request.count = 4;
  request.element_bytes = 4;
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_permutation* permutation = NULL;
  CHECK_OK(kiln_service_get_permutation(service, &request, NULL, &permutation, &error));
  CHECK_OK(kiln_permutation_launch(permutation, (void*)(uintptr_t)y, (const void*)(uintptr_t)x, 0, NULL, &error));
  CHECK_FAILS(kiln_permutation_launch(permutation, NULL, (const void*)(uintptr_t)x, 2, NULL, &error),
              KILN_INVALID_ARGUMENT, "y");
  CHECK_OK(kiln_permutation_launch(permutation, (void*)(uintptr_t)y, (const void*)(uintptr_t)x, 2, NULL, &error));
  CHECK(copy_out(host, y, sizeof host) == 0);
  CHECK(memcmp(host, expected, sizeof host) == 0);
  kiln_permutation_free(permutation);
  CHECK_OK(kiln_service_tune_permutation(service, &request, NULL, &permutation, &error));
  CHECK_OK(kiln_permutation_launch(permutation, (void*)(uintptr_t)x, (const void*)(uintptr_t)y, 2, NULL, &error));
  CHECK(copy_out(host, x, sizeof host) == 0);
  CHECK(host[0] == expected[3] && host[1] == expected[1] && host[2] == expected[0] && host[3] == expected[2]);
  kiln_permutation_free(permutation);

  /* Where it is, the first three of every four. */
  const int64_t three[] = {2, 0, 1};
  const int32_t in_place[] = {10, 13, 11, 12, 20, 23, 21, 22};
  request.indices = three;
  request.count = 3;
  request.row_stride_in = 4;
  request.row_stride_out = 4;
  request.in_place = 1;
  CHECK_OK(kiln_service_get_permutation(service, &request, NULL, &permutation, &error));
  CHECK_FAILS(kiln_permutation_launch(permutation, (void*)(uintptr_t)y, (const void*)(uintptr_t)x, 2, NULL, &error),
              KILN_INVALID_ARGUMENT, "in place");
  CHECK_OK(kiln_permutation_launch(permutation, (void*)(uintptr_t)y, (const void*)(uintptr_t)y, 2, NULL, &error));
  CHECK(copy_out(host, y, sizeof host) == 0);
  CHECK(memcmp(host, in_place, sizeof host) == 0);
  kiln_permutation_free(permutation);
  kiln_service_free(service);
  kiln_options_free(options);
  device_free(x);
  device_free(y);
  return 0;
}

static int launch_long_permutation(void) {
  if (!make_context()) {
    return k_skipped;
  }
  enum { k_size = 100003, k_rows = 3 }; /* longer than any block's shared memory */
  const size_t bytes = sizeof(int32_t) * k_size * k_rows;
  int64_t* indices = malloc(sizeof(int64_t) * k_size);
  int32_t* host = malloc(bytes);
  for (int i = 0; i < k_size; ++i) {
    indices[i] = (int64_t)i * 30011 % k_size;
  }
  for (int i = 0; i < k_size * k_rows; ++i) {
    host[i] = 7 * i;
  }
  device_pointer x = 0;
  device_pointer y = 0;
  device_pointer scratch = 0;
  CHECK(device_alloc(&x, bytes) == 0 && device_alloc(&y, bytes) == 0);
  CHECK(copy_in(x, host, bytes) == 0);

  kiln_permutation_request request = {0};
  request.size = sizeof request;
  request.indices = indices;
  request.count = k_size;
  request.element_bytes = 4;
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_permutation* permutation = NULL;
  CHECK_OK(kiln_service_get_permutation(service, &request, NULL, &permutation, &error));
  const uint64_t row_bytes = kiln_permutation_scratch_bytes(permutation, 1);
  CHECK(row_bytes >= sizeof(int32_t) * k_size);
  CHECK(device_alloc(&scratch, row_bytes) == 0);
  void* const to = (void*)(uintptr_t)y;
  const void* const from = (const void*)(uintptr_t)x;
  void* const through = (void*)(uintptr_t)scratch;
  CHECK_FAILS(kiln_permutation_launch_with_scratch(permutation, to, from, k_rows, through, row_bytes - 1, NULL, &error),
              KILN_INVALID_ARGUMENT, "scratch");
  CHECK_OK(kiln_permutation_launch_with_scratch(permutation, to, from, k_rows, through, row_bytes, NULL, &error));
  CHECK(copy_out(host, y, bytes) == 0);
  for (int i = 0; i < k_size * k_rows; ++i) {
    CHECK(host[i] == 7 * (i / k_size * k_size + (int32_t)indices[i % k_size]));
  }
  kiln_permutation_free(permutation);
  kiln_service_free(service);
  kiln_options_free(options);
  device_free(x);
  device_free(y);
  device_free(scratch);
  free(indices);
  free(host);
  return 0;
}

int main(int argc, char** argv) {
  static const test_case cases[] = {
      {"launch", launch},
      {"launch_permutation", launch_permutation},
      {"launch_long_permutation", launch_long_permutation},
      {"launch_refused", launch_refused},
  };
  return run_case(cases, sizeof cases / sizeof cases[0], argc, argv);
}
