/* What the C tests ask of Kiln. */
#pragma once

#include "kiln/kiln.h"

static const char k_scale[] =
    "// kiln: parameter n: u32\n"
    "// kiln: parameter element: type = float\n"
    "// kiln: parameter factor: f32\n"
    "// kiln: entry scale<kiln::element>\n"
    "#include \"kiln/values.h\"\n"
    "template <typename T>\n"
    "__global__ void scale(T* y, const T* x) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < kiln::n) {\n"
    "    y[i] = static_cast<T>(kiln::factor) * x[i];\n"
    "  }\n"
    "}\n";

static kiln_template* make_scale(void) {
  kiln_template* tmpl = NULL;
  CHECK_OK(kiln_template_from_text("scale.cu", k_scale, NULL, &tmpl, &error));
  return tmpl;
}

static kiln_values* make_scale_values(void) {
  kiln_values* values = NULL;
  CHECK_OK(kiln_values_create(&values, &error));
  CHECK_OK(kiln_values_set_uint(values, "n", 100, &error));
  CHECK_OK(kiln_values_set_real(values, "factor", 2.5, &error));
  return values;
}

/* Options without a cache directory, or with this one. */
static kiln_options* make_options(const char* cache_dir) {
  kiln_options* options = NULL;
  CHECK_OK(kiln_options_create(&options, &error));
  CHECK_OK(kiln_options_set_cache_dir(options, cache_dir, &error));
  return options;
}

static kiln_service* make_service(const kiln_options* options) {
  kiln_service* service = NULL;
  CHECK_OK(kiln_service_create(options, &service, &error));
  return service;
}
