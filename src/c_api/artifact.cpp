#include <string>

#include "c_api/handles.hpp"

using kiln::c_api::guarded;
using kiln::c_api::required;
using kiln::c_api::write_struct;

static_assert(static_cast<int>(kiln::Outcome::compiled) == KILN_OUTCOME_COMPILED);
static_assert(static_cast<int>(kiln::Outcome::memory) == KILN_OUTCOME_MEMORY);
static_assert(static_cast<int>(kiln::Outcome::disk) == KILN_OUTCOME_DISK);
static_assert(static_cast<int>(kiln::Outcome::pack) == KILN_OUTCOME_PACK);
static_assert(static_cast<int>(kiln::ImageKind::cubin) == KILN_IMAGE_CUBIN);
static_assert(static_cast<int>(kiln::ImageKind::ptx) == KILN_IMAGE_PTX);

kiln_status kiln_artifact_describe(const kiln_artifact* artifact, kiln_artifact_info* info, kiln_error** error) {
  return guarded(error, [&] {
    const kiln_artifact& handle = required(artifact, "artifact");
    const kiln::Artifact& value = *handle.lookup.artifact;
    kiln_artifact_info given{};
    given.key = handle.key.c_str();
    given.template_name = value.template_name.c_str();
    given.target = handle.target.c_str();
    given.compiler = handle.compiler.c_str();
    given.spec = value.spec.c_str();
    given.ptx = value.ptx.c_str();
    given.log = value.log.c_str();
    given.image = value.image.data();
    given.image_bytes = value.image.size();
    given.entry_count = value.entries.size();
    given.compile_ms = value.compile_ms;
    given.lookup_us = handle.lookup.lookup_us;
    given.kind = static_cast<kiln_image_kind>(value.kind);
    given.outcome = static_cast<kiln_outcome>(handle.lookup.outcome);
    write_struct(info, given, "info");
  });
}

kiln_status kiln_artifact_entry(const kiln_artifact* artifact, size_t index, kiln_entry_info* info,
                                kiln_error** error) {
  return guarded(error, [&] {
    const auto& entries = required(artifact, "artifact").lookup.artifact->entries;
    if (index >= entries.size()) {
      throw kiln::Error(kiln::ErrorCode::invalid_argument, "entry " + std::to_string(index) +
                                                               " asked of an artifact with entry_count " +
                                                               std::to_string(entries.size()));
    }
    const kiln::EntryPoint& entry = entries[index];
    kiln_entry_info given{};
    given.expression = entry.expression.c_str();
    given.lowered = entry.lowered.c_str();
    given.spill_bytes = entry.spill_bytes;
    given.shared_bytes = entry.shared_bytes;
    given.local_bytes = entry.local_bytes;
    given.registers = entry.registers;
    write_struct(info, given, "info");
  });
}

void kiln_artifact_free(kiln_artifact* artifact) { delete artifact; }
