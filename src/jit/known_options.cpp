#include "jit/known_options.hpp"

#include <algorithm>
#include <array>

namespace kiln::jit {

namespace {

constexpr std::string_view k_target = "give the target with the request";
constexpr std::string_view k_dirs = "give folders in TemplateOptions::include_dirs (kiln: -I DIR)";
constexpr std::string_view k_directive = "write the #include into the template";
constexpr std::string_view k_whole = "Kiln loads whole programs; put all code into one template";
constexpr std::string_view k_kind = "Kiln makes cubins and PTX only; ask for sm_NN or compute_NN";
constexpr std::string_view k_disk = "it reads or writes files, which no key can cover; leave it out";
constexpr std::string_view k_own = "Kiln decides about it; leave it out";

constexpr auto k_options = std::to_array<KnownOption>({
    // Reserved.
    {"--gpu-architecture", "-arch", true, k_target},
    {"--include-path", "-I", true, k_dirs},
    {"--pre-include", "-include", true, k_directive},
    {"--device-c", "-dc", false, k_whole},
    {"--device-w", "-dw", false, k_whole},
    {"--relocatable-device-code", "-rdc", true, k_whole},
    {"--extensible-whole-program", "-ewp", false, k_whole},
    {"--dlink-time-opt", "-dlto", false, k_kind},
    {"--gen-opt-lto", "", false, k_kind},
    {"--ltoir", "-ltoir", false, k_kind},
    {"--optix-ir", "-optix-ir", false, k_kind},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", false, k_kind},
    {"--pch", "-pch", false, k_disk},
    {"--create-pch", "-create-pch", true, k_disk},
    {"--use-pch", "-use-pch", true, k_disk},
    {"--pch-dir", "-pch-dir", true, k_disk},
    {"--pch-verbose", "-pch-verbose", true, k_disk},
    {"--pch-messages", "-pch-messages", true, k_disk},
    {"--instantiate-templates-in-pch", "-instantiate-templates-in-pch", true, k_disk},
    {"--time", "-time", true, k_disk},
    {"--fdevice-time-trace", "-fdevice-time-trace", true, k_disk},
    {"--use-bundled-headers", "", false, k_disk},
    {"--keep", "-keep", false, k_disk},
    {"--keep-dir", "-keep-dir", true, k_disk},
    {"--output-file", "-o", true, k_disk},
    {"--options-file", "-optf", true, k_disk},
    {"--no-source-include", "-no-source-include", false, k_own},
    {"--no-cache", "-no-cache", false, k_own},
    // Passed on.
    {"--device-debug", "-G", false, {}},
    {"--generate-line-info", "-lineinfo", false, {}},
    {"--dopt", "-dopt", true, {}},
    {"--Ofast-compile", "-Ofc", true, {}},
    {"--ptxas-options", "-Xptxas", true, {}},
    {"--maxrregcount", "-maxrregcount", true, {}},
    {"--ftz", "-ftz", true, {}},
    {"--prec-sqrt", "-prec-sqrt", true, {}},
    {"--prec-div", "-prec-div", true, {}},
    {"--fmad", "-fmad", true, {}},
    {"--use_fast_math", "-use_fast_math", false, {}},
    {"--extra-device-vectorization", "-extra-device-vectorization", false, {}},
    {"--modify-stack-limit", "-modify-stack-limit", true, {}},
    {"--jump-table-density", "-jtd", true, {}},
    {"--device-stack-protector", "-device-stack-protector", true, {}},
    {"--frandom-seed", "-frandom-seed", true, {}},
    {"--define-macro", "-D", true, {}},
    {"--undefine-macro", "-U", true, {}},
    {"--std", "-std", true, {}},
    {"--builtin-move-forward", "-builtin-move-forward", true, {}},
    {"--builtin-initializer-list", "-builtin-initializer-list", true, {}},
    {"--disable-warnings", "-w", false, {}},
    {"--restrict", "-restrict", false, {}},
    {"--device-as-default-execution-space", "-default-device", false, {}},
    {"--device-int128", "-device-int128", false, {}},
    {"--device-float128", "-device-float128", false, {}},
    {"--optimization-info", "-opt-info", true, {}},
    {"--display-error-number", "-err-no", false, {}},
    {"--no-display-error-number", "-no-err-no", false, {}},
    {"--diag-error", "-diag-error", true, {}},
    {"--diag-suppress", "-diag-suppress", true, {}},
    {"--diag-warn", "-diag-warn", true, {}},
    {"--brief-diagnostics", "-brief-diag", true, {}},
    {"--version-ident", "-dQ", true, {}},
    {"--split-compile", "-split-compile", true, {}},
    {"--minimal", "-minimal", false, {}},
    {"--extended-lambda", "-extended-lambda", false, {}},
});

}  // namespace

const KnownOption* find_option(std::string_view name) noexcept {
  auto is_it = [&](const KnownOption& option) {
    return name == option.name || (!option.alias.empty() && name == option.alias) ||
           (name.starts_with("--") && name.substr(1) == option.alias && option.alias.size() > 2) ||
           (!name.starts_with("--") && name.size() > 2 && name == option.name.substr(1));
  };
  auto found = std::find_if(k_options.begin(), k_options.end(), is_it);
  return found == k_options.end() ? nullptr : &*found;
}

}  // namespace kiln::jit
