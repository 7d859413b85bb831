#include "cli/entry.hpp"

#include "cli/human.hpp"

namespace kiln::cli {

namespace {

/// As much of a key as tells any two apart in practice, and as `show` takes.
constexpr std::size_t k_short_key = 12;

}  // namespace

const char* name_of(ImageKind kind) noexcept { return kind == ImageKind::cubin ? "cubin" : "ptx"; }

Json to_json(const Entry& entry) {
  return {{"layer", entry.layer},
          {"key", entry.key.text()},
          {"template", entry.template_name},
          {"target", entry.target.text()},
          {"kind", name_of(entry.kind)},
          {"compiler", entry.compiler.text()},
          {"entry_names", entry.entry_names},
          {"image_bytes", entry.image_bytes},
          {"compile_ms", entry.compile_ms},
          {"registers", entry.registers},
          {"spill_bytes", entry.spill_bytes},
          {"created", entry.created},
          {"last_used", entry.last_used}};
}

EntryPrinter::EntryPrinter(Output& out, bool json)
    : out_(out),
      json_(json),
      table_(out, {{"KEY"},
                   {"TEMPLATE"},
                   {"TARGET"},
                   {"KIND"},
                   {"SIZE", true},
                   {"COMPILE", true},
                   {"REGS", true},
                   {"SPILL", true},
                   {"COMPILER"},
                   {"LAYER"},
                   {"LAST USED"}}) {}

void EntryPrinter::add(const Entry& entry) {
  ++count_;
  if (json_) {
    out_.line(to_text(to_json(entry)));
    return;
  }
  table_.add({entry.key.text().substr(0, k_short_key), entry.template_name, entry.target.text(), name_of(entry.kind),
              human_bytes(entry.image_bytes), human_ms(entry.compile_ms), std::to_string(entry.registers),
              std::to_string(entry.spill_bytes), entry.compiler.text(), entry.layer, human_date(entry.last_used)});
}

void EntryPrinter::finish() { table_.finish(); }

}  // namespace kiln::cli
