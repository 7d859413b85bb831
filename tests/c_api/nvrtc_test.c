/* The C API with a compiler, without a GPU. argv[2] is an empty folder to work in. */
#include "check.h"
#include "common.h"

static const char* folder;

static const char* path_in_folder(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static kiln_artifact_info describe(const kiln_artifact* artifact) {
  kiln_artifact_info info = {0};
  info.size = sizeof info;
  CHECK_OK(kiln_artifact_describe(artifact, &info, &error));
  return info;
}

static kiln_outcome outcome_of_scale(const kiln_service* service) {
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_artifact* artifact = NULL;
  CHECK_OK(kiln_service_find_or_compile(service, tmpl, values, "sm_80", &artifact, &error));
  kiln_outcome outcome = describe(artifact).outcome;
  kiln_artifact_free(artifact);
  kiln_values_free(values);
  kiln_template_free(tmpl);
  return outcome;
}

static int artifact(void) {
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_template* tmpl = make_scale();
  kiln_values* values = make_scale_values();
  kiln_artifact* compiled = NULL;
  CHECK_OK(kiln_values_set_type(values, "element", "double", &error));
  CHECK_OK(kiln_service_find_or_compile(service, tmpl, values, "sm_80", &compiled, &error));
  kiln_service_free(service); /* the artifact needs nothing of it */
  if (compiled == NULL) {
    return 0; /* CHECK_OK has told */
  }
  kiln_artifact_info info = describe(compiled);
  CHECK(strlen(info.key) == 32);
  CHECK(strcmp(info.template_name, "scale.cu") == 0);
  CHECK(strcmp(info.target, "sm_80") == 0);
  CHECK(strncmp(info.compiler, "nvrtc ", 6) == 0);
  CHECK(info.kind == KILN_IMAGE_CUBIN);
  CHECK(info.image_bytes > 4 && memcmp(info.image, "\177ELF", 4) == 0);
  CHECK(strstr(info.ptx, ".target sm_80") != NULL);
  CHECK(strstr(info.spec, "kiln::factor") != NULL);
  CHECK(info.compile_ms > 0);
  CHECK(info.entry_count == 1);
  kiln_entry_info entry = {0};
  entry.size = sizeof entry;
  CHECK_OK(kiln_artifact_entry(compiled, 0, &entry, &error));
  CHECK(strcmp(entry.expression, "scale<kiln::element>") == 0);
  CHECK(strstr(entry.lowered, "scale") != NULL);
  CHECK(entry.registers > 0);
  CHECK_FAILS(kiln_artifact_entry(compiled, 1, &entry, &error), KILN_INVALID_ARGUMENT, "1");
  kiln_artifact_free(compiled);
  kiln_values_free(values);
  kiln_template_free(tmpl);
  kiln_options_free(options);
  return 0;
}

static int outcomes(void) {
  kiln_options* options = make_options(path_in_folder("cache"));
  kiln_service* service = make_service(options);
  CHECK(outcome_of_scale(service) == KILN_OUTCOME_COMPILED);
  CHECK(outcome_of_scale(service) == KILN_OUTCOME_MEMORY);
  kiln_stats stats = {0};
  stats.size = sizeof stats;
  CHECK_OK(kiln_service_stats(service, &stats, &error));
  CHECK(stats.compiles == 1 && stats.misses == 1 && stats.puts == 1 && stats.entries == 1 && stats.bytes > 0);
  kiln_service_free(service);

  CHECK_OK(kiln_options_set_nvrtc(options, "/nonexistent/libnvrtc.so", &error)); /* a hit needs no compiler */
  service = make_service(options);
  CHECK(outcome_of_scale(service) == KILN_OUTCOME_DISK);
  uint64_t removed = 0;
  CHECK_OK(kiln_service_clear(service, &removed, &error));
  CHECK(removed == 1);
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

static int compile_failure(void) {
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_template* tmpl = NULL;
  kiln_artifact* none = NULL;
  CHECK_OK(kiln_template_from_text("broken.cu", "// kiln: entry f\n__global__ void f() { undeclared(); }\n", NULL,
                                   &tmpl, &error));
  kiln_error* error = NULL;
  CHECK(kiln_service_find_or_compile(service, tmpl, NULL, "sm_80", &none, &error) == KILN_COMPILE_FAILED);
  CHECK(none == NULL);
  CHECK(strstr(kiln_error_message(error), "broken.cu") != NULL);
  CHECK(strstr(kiln_error_log(error), "undeclared") != NULL);
  kiln_error_free(error);
  kiln_template_free(tmpl);
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

static int permutation(void) {
  const int64_t indices[] = {2, 0, 1};
  kiln_permutation_request request = {0};
  request.size = sizeof request;
  request.indices = indices;
  request.count = 3;
  request.element_bytes = 4;
  kiln_options* options = make_options(NULL);
  kiln_service* service = make_service(options);
  kiln_artifact* compiled = NULL;
  CHECK_OK(kiln_service_compile_permutation(service, &request, "sm_90", &compiled, &error));
  CHECK(strcmp(describe(compiled).target, "sm_90") == 0);
  char dense[64];
  snprintf(dense, sizeof dense, "%s", describe(compiled).key);
  kiln_artifact_free(compiled);
  request.row_stride_in = 4;
  request.row_stride_out = 4;
  request.in_place = 1;
  CHECK_OK(kiln_service_compile_permutation(service, &request, "sm_90", &compiled, &error));
  CHECK(strcmp(describe(compiled).key, dense) != 0);
  kiln_artifact_free(compiled);
  const float scale[] = {1.0f, 2.0f, 0.5f};
  const kiln_ending_list lists[] = {{"scale", scale, 3}};
  kiln_permutation_ending ending = {0};
  ending.size = sizeof ending;
  ending.from = "f32";
  ending.to = "bf16";
  ending.expression = "value * scale[position]";
  ending.lists = lists;
  ending.list_count = 1;
  request.in_place = 0;
  request.ending = &ending;
  CHECK_OK(kiln_service_compile_permutation(service, &request, "sm_90", &compiled, &error));
  kiln_artifact_free(compiled);
  ending.expression = "value * nothing";
  CHECK_FAILS(kiln_service_compile_permutation(service, &request, "sm_90", &compiled, &error), KILN_COMPILE_FAILED,
              "permute_rows");
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

static int ahead_of_time(void) {
  char plan[4096];
  char pack[4096];
  const char* targets[] = {"sm_80", "sm_90"};
  snprintf(plan, sizeof plan, "%s", path_in_folder("plan.json"));
  snprintf(pack, sizeof pack, "%s", path_in_folder("scale.kilnpack"));
  FILE* file = fopen(path_in_folder("scale.cu"), "w");
  fputs(k_scale, file);
  fclose(file);
  file = fopen(plan, "w");
  fputs("{\"kiln_plan\": 1, \"kernels\": [{\"template\": \"scale.cu\", \"values\": {\"n\": 100, \"factor\": 2.5}}]}",
        file);
  fclose(file);

  kiln_precompile_options job = {0};
  job.size = sizeof job;
  job.plan = plan;
  job.output = pack;
  job.targets = targets;
  job.target_count = 2;
  kiln_precompile_result result = {0};
  result.size = sizeof result;
  CHECK_OK(kiln_precompile(&job, &result, &error));
  CHECK(result.total == 2 && result.compiled == 2 && result.failed == 0);
  CHECK_OK(kiln_precompile(&job, &result, &error));
  CHECK(result.total == 2 && result.compiled == 0 && result.present == 2);

  kiln_options* options = make_options(NULL);
  CHECK_OK(kiln_options_add_pack(options, pack, &error));
  CHECK_OK(kiln_options_set_strict(options, 1, &error));
  kiln_service* service = make_service(options);
  CHECK(outcome_of_scale(service) == KILN_OUTCOME_PACK);
  kiln_service_free(service);
  kiln_options_free(options);
  return 0;
}

int main(int argc, char** argv) {
  static const test_case cases[] = {
      {"artifact", artifact},       {"outcomes", outcomes},           {"compile_failure", compile_failure},
      {"permutation", permutation}, {"ahead_of_time", ahead_of_time},
  };
  if (argc == 3) {
    folder = argv[--argc];
  }
  return run_case(cases, folder == NULL ? 0 : sizeof cases / sizeof cases[0], argc, argv);
}
