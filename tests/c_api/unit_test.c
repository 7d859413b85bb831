/* The C API where neither a compiler nor a GPU is needed: mostly how it fails. */
#include "check.h"
#include "common.h"

static int version(void) {
  char header[32];
  snprintf(header, sizeof header, "%d.%d.%d", KILN_VERSION_MAJOR, KILN_VERSION_MINOR, KILN_VERSION_PATCH);
  CHECK(strcmp(kiln_version(), header) == 0);
  return 0;
}

static int freeing_null(void) {
  kiln_error_free(NULL);
  kiln_options_free(NULL);
  kiln_values_free(NULL);
  kiln_template_free(NULL);
  kiln_service_free(NULL);
  kiln_kernel_free(NULL);
  kiln_artifact_free(NULL);
  kiln_permutation_free(NULL);
  CHECK(kiln_error_code(NULL) == KILN_OK);
  CHECK(kiln_error_message(NULL)[0] == '\0');
  CHECK(kiln_kernel_function(NULL) == NULL);
  return 0;
}

static int status_names(void) {
  CHECK(strcmp(kiln_status_name(KILN_OK), "ok") == 0);
  CHECK(strcmp(kiln_status_name(KILN_STRICT_MISS), "strict_miss") == 0);
  CHECK(strcmp(kiln_status_name((kiln_status)999), "unknown") == 0);
  return 0;
}

static int null_arguments(void) {
  kiln_values* values = make_scale_values();
  kiln_service* service = make_service(NULL);
  kiln_template* tmpl = make_scale();
  kiln_artifact* artifact = NULL;
  CHECK_FAILS(kiln_options_create(NULL, &error), KILN_INVALID_ARGUMENT, "out");
  CHECK_FAILS(kiln_options_set_strict(NULL, 1, &error), KILN_INVALID_ARGUMENT, "options");
  CHECK_FAILS(kiln_values_set_int(NULL, "n", 1, &error), KILN_INVALID_ARGUMENT, "values");
  CHECK_FAILS(kiln_values_set_int(values, NULL, 1, &error), KILN_INVALID_ARGUMENT, "name");
  CHECK_FAILS(kiln_values_set_type(values, "element", NULL, &error), KILN_INVALID_ARGUMENT, "type");
  CHECK_FAILS(kiln_values_set_int_list(values, "table", NULL, 3, &error), KILN_INVALID_ARGUMENT, "list");
  const int64_t one[] = {1};
  CHECK_FAILS(kiln_values_set_int_list(values, "table", one, SIZE_MAX, &error), KILN_INVALID_ARGUMENT, "'count'");
  kiln_template* refused = tmpl; /* not NULL before */
  CHECK_FAILS(kiln_template_from_text("a.cu", NULL, NULL, &refused, &error), KILN_INVALID_ARGUMENT, "text");
  CHECK(refused == NULL);
  CHECK_FAILS(kiln_service_find(NULL, tmpl, values, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT, "service");
  CHECK_FAILS(kiln_service_find(service, NULL, values, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT, "tmpl");
  CHECK_FAILS(kiln_service_stats(service, NULL, &error), KILN_INVALID_ARGUMENT, "stats");
  CHECK_FAILS(kiln_kernel_launch(NULL, NULL, NULL, 0, &error), KILN_INVALID_ARGUMENT, "kernel");
  CHECK_FAILS(kiln_permutation_launch(NULL, NULL, NULL, 0, NULL, &error), KILN_INVALID_ARGUMENT, "permutation");
  CHECK_FAILS(kiln_permutation_launch_with_scratch(NULL, NULL, NULL, 0, NULL, 0, NULL, &error), KILN_INVALID_ARGUMENT,
              "permutation");
  CHECK(kiln_permutation_scratch_bytes(NULL, 10) == 0);
  kiln_permutation* permutation = NULL;
  CHECK_FAILS(kiln_service_tune_permutation(NULL, NULL, NULL, &permutation, &error), KILN_INVALID_ARGUMENT, "request");
  CHECK_FAILS(kiln_artifact_describe(NULL, NULL, &error), KILN_INVALID_ARGUMENT, "artifact");
  CHECK(kiln_values_set_int(NULL, "n", 1, NULL) == KILN_INVALID_ARGUMENT); /* nobody asks for the error */
  kiln_template_free(tmpl);
  kiln_service_free(service);
  kiln_values_free(values);
  return 0;
}

static int text_arguments(void) {
  kiln_values* values = make_scale_values();
  kiln_template* tmpl = make_scale();
  kiln_service* service = make_service(NULL);
  kiln_artifact* artifact = NULL;
  kiln_template* refused = NULL;
  const char* bad[] = {"k\xff"};
  kiln_template_options options = {0};
  options.size = sizeof options;
  CHECK_FAILS(kiln_values_set_int(values, NULL, 1, &error), KILN_INVALID_ARGUMENT, "'name' is NULL; give a text");
  CHECK_FAILS(kiln_values_set_int(values, "n\xff", 1, &error), KILN_INVALID_ARGUMENT, "'name' is no UTF-8: 'n\\xff'");
  CHECK_FAILS(kiln_values_set_type(values, "t", "\xc3", &error), KILN_INVALID_ARGUMENT, "'type' is no UTF-8");
  CHECK_FAILS(kiln_values_set_code(values, "c", "// \xe9", &error), KILN_INVALID_ARGUMENT, "'code' is no UTF-8");
  CHECK_FAILS(kiln_template_from_text("a.cu", "// \xe9", NULL, &refused, &error), KILN_INVALID_ARGUMENT,
              "'text' is no UTF-8");
  CHECK_FAILS(kiln_template_builtin("\xff", NULL, &refused, &error), KILN_INVALID_ARGUMENT, "'name' is no UTF-8");
  CHECK_FAILS(kiln_service_find(service, tmpl, values, "sm_\xff", &artifact, &error), KILN_INVALID_ARGUMENT,
              "'target' is no UTF-8");
  options.entries = bad;
  options.entry_count = 1;
  CHECK_FAILS(kiln_template_from_text("a.cu", "", &options, &refused, &error), KILN_INVALID_ARGUMENT,
              "'entries' is no UTF-8");
  /* The name of a file is what it is. */
  CHECK_FAILS(kiln_template_from_file("none\xff.cu", NULL, &refused, &error), KILN_FILE_UNREADABLE, "'none\\xff.cu'");
  kiln_template_free(tmpl);
  kiln_service_free(service);
  kiln_values_free(values);
  return 0;
}

static int struct_sizes(void) {
  kiln_service* service = make_service(NULL);
  struct {
    kiln_stats stats;
    uint64_t behind;
  } guarded = {{0}, 42};
  CHECK_FAILS(kiln_service_stats(service, &guarded.stats, &error), KILN_INVALID_ARGUMENT, "size");
  guarded.stats.size = sizeof(kiln_stats) + 8; /* of a version newer than the library */
  CHECK_FAILS(kiln_service_stats(service, &guarded.stats, &error), KILN_INVALID_ARGUMENT, "size");
  guarded.stats.size = offsetof(kiln_stats, puts); /* of an older version: what it lacks is left alone */
  guarded.stats.puts = 7;
  guarded.stats.hits = 7;
  CHECK_OK(kiln_service_stats(service, &guarded.stats, &error));
  CHECK(guarded.stats.size == offsetof(kiln_stats, puts));
  CHECK(guarded.stats.puts == 7);
  CHECK(guarded.stats.hits == 0);
  CHECK(guarded.behind == 42);
  guarded.stats.size = offsetof(kiln_stats, puts) + 4; /* half of a member is of no version */
  CHECK_FAILS(kiln_service_stats(service, &guarded.stats, &error), KILN_INVALID_ARGUMENT, "size");
  kiln_service_free(service);
  return 0;
}

static int options_refused(void) {
  kiln_options* options = make_options(NULL);
  CHECK_FAILS(kiln_options_set_cache_mode(options, (kiln_cache_mode)9, &error), KILN_INVALID_ARGUMENT, "9");
  CHECK_FAILS(kiln_options_add_pack(options, NULL, &error), KILN_INVALID_ARGUMENT, "file");
  /* An empty name is nearly always a variable that is not set: it would be the current folder. */
  CHECK_FAILS(kiln_options_add_pack(options, "", &error), KILN_INVALID_ARGUMENT, "'file' is empty");
  CHECK_FAILS(kiln_options_set_cache_dir(options, "", &error), KILN_INVALID_ARGUMENT, "'directory' is empty");
  kiln_options_free(options);
  return 0;
}

static int templates_refused(void) {
  kiln_template* tmpl = NULL;
  kiln_template_options options = {0};
  const char* includes[] = {NULL};
  CHECK_FAILS(kiln_template_from_file("/nonexistent/scale.cu", NULL, &tmpl, &error), KILN_FILE_UNREADABLE,
              "/nonexistent/scale.cu");
  CHECK_FAILS(kiln_template_builtin("no such template", NULL, &tmpl, &error), KILN_INVALID_ARGUMENT,
              "no such template");
  CHECK_FAILS(kiln_template_from_text("a.cu", "// kiln: parameter n: u33\n", NULL, &tmpl, &error),
              KILN_TEMPLATE_INVALID, "u33");
  CHECK_FAILS(kiln_template_from_text("a.cu", k_scale, &options, &tmpl, &error), KILN_INVALID_ARGUMENT, "size");
  options.size = sizeof options;
  options.include_dirs = includes;
  options.include_dir_count = 1;
  CHECK_FAILS(kiln_template_from_text("a.cu", k_scale, &options, &tmpl, &error), KILN_INVALID_ARGUMENT, "include_dirs");
  CHECK(tmpl == NULL);
  return 0;
}

static int values_refused(void) {
  kiln_service* service = make_service(NULL);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_artifact* artifact = NULL;
  CHECK_FAILS(kiln_service_find(service, tmpl, NULL, "sm_90", &artifact, &error), KILN_TEMPLATE_INVALID, "'n'");
  CHECK_OK(kiln_values_set_real(values, "n", 0.5, &error));
  CHECK_FAILS(kiln_service_find(service, tmpl, values, "sm_90", &artifact, &error), KILN_TEMPLATE_INVALID, "0.5");
  CHECK_OK(kiln_values_set_int(values, "n", 1, &error));
  CHECK_OK(kiln_values_set_bool(values, "color", 1, &error));
  CHECK_FAILS(kiln_service_find(service, tmpl, values, "sm_90", &artifact, &error), KILN_TEMPLATE_INVALID, "color");
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_service_free(service);
  return 0;
}

static int targets_refused(void) {
  kiln_service* service = make_service(NULL);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_artifact* artifact = NULL;
  CHECK_FAILS(kiln_service_find(service, tmpl, values, "sm_x", &artifact, &error), KILN_UNSUPPORTED_TARGET, "sm_x");
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_service_free(service);
  return 0;
}

static int no_compiler(void) {
  kiln_options* options = make_options(NULL);
  CHECK_OK(kiln_options_set_nvrtc(options, "/nonexistent/libnvrtc.so", &error));
  kiln_service* service = make_service(options);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_artifact* artifact = NULL;
  CHECK_OK(kiln_service_find(service, tmpl, values, "sm_90", &artifact, &error));
  CHECK(artifact == NULL);
  CHECK_FAILS(kiln_service_find_or_compile(service, tmpl, values, "sm_90", &artifact, &error), KILN_NVRTC_UNAVAILABLE,
              "/nonexistent/libnvrtc.so");
  CHECK_OK(kiln_options_set_strict(options, 1, &error));
  kiln_service_free(service);
  service = make_service(options);
  CHECK_FAILS(kiln_service_find_or_compile(service, tmpl, values, "sm_90", &artifact, &error), KILN_STRICT_MISS,
              "scale");
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

static int permutations_refused(void) {
  kiln_service* service = make_service(NULL);
  const int64_t repeated[] = {0, 2, 2};
  const int64_t outside[] = {0, 5};
  kiln_artifact* artifact = NULL;
  kiln_permutation_request request = {0};
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "size");
  request.size = sizeof request;
  request.element_bytes = 4;
  request.indices = repeated;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "empty");
  request.count = 3;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "2");
  request.indices = outside;
  request.count = 2;
  request.source_size = 4;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "5");
  request.indices = NULL;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "indices");
  request.indices = repeated;
  request.count = 3;
  request.element_bytes = 3;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "3");
  request.element_bytes = 4;
  request.strategy = "quick";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "'quick': it must be one of automatic, direct, staged, tiled, bucketed, rows, elements");
  request.strategy = "direct\xff";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "'request->strategy' is no UTF-8");
  request.strategy = "";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "strategy");
  request.strategy = "tiled";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "strategy is tiled: the map does not swap axes");
  request.strategy = NULL;
  request.source_size = 3;
  request.row_stride_in = 2;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "row_stride_in is 2");
  request.row_stride_in = 0;
  request.in_place = 1;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "in_place is true");
  request.in_place = 0;
  kiln_permutation_ending ending = {0};
  request.ending = &ending;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "request->ending");
  ending.size = sizeof ending;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "from");
  ending.from = "f32";
  ending.to = "f15";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "ending.to is 'f15'");
  ending.to = "f16";
  ending.list_count = 1;
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "lists");
  ending.list_count = 0;
  ending.expression = "value +* (2";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &artifact, &error), KILN_INVALID_ARGUMENT,
              "is not closed");
  kiln_service_free(service);
  return 0;
}

static int plans_refused(void) {
  kiln_precompile_options options = {0};
  CHECK_FAILS(kiln_precompile(&options, NULL, &error), KILN_INVALID_ARGUMENT, "size");
  options.size = sizeof options;
  CHECK_FAILS(kiln_precompile(&options, NULL, &error), KILN_INVALID_ARGUMENT, "plan");
  options.plan = "/nonexistent/plan.json";
  CHECK_FAILS(kiln_precompile(&options, NULL, &error), KILN_INVALID_ARGUMENT, "output");
  options.output = "/nonexistent/out.kilnpack";
  CHECK_FAILS(kiln_precompile(&options, NULL, &error), KILN_FILE_UNREADABLE, "/nonexistent/plan.json");
  kiln_precompile_result result = {0}; /* without its size: told before the plan is looked at */
  CHECK_FAILS(kiln_precompile(&options, &result, &error), KILN_INVALID_ARGUMENT, "'result'");
  options.output = "";
  CHECK_FAILS(kiln_precompile(&options, NULL, &error), KILN_INVALID_ARGUMENT, "'options->output' is empty");
  return 0;
}

int main(int argc, char** argv) {
  static const test_case cases[] = {
      {"version", version},
      {"freeing_null", freeing_null},
      {"status_names", status_names},
      {"null_arguments", null_arguments},
      {"text_arguments", text_arguments},
      {"struct_sizes", struct_sizes},
      {"options_refused", options_refused},
      {"templates_refused", templates_refused},
      {"values_refused", values_refused},
      {"targets_refused", targets_refused},
      {"no_compiler", no_compiler},
      {"permutations_refused", permutations_refused},
      {"plans_refused", plans_refused},
  };
  return run_case(cases, sizeof cases / sizeof cases[0], argc, argv);
}
