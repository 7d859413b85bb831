#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "kiln/dtype.hpp"
#include "kiln/permuter.hpp"
#include "kiln/plan.hpp"
#include "kiln/quote.hpp"
#include "kiln/source.hpp"
#include "kiln/text_file.hpp"
#include "kiln/value_text.hpp"
#include "plan/field.hpp"
#include "plan/json_node.hpp"
#include "plan/template_field.hpp"
#include "plan/value_field.hpp"

namespace kiln {

namespace {

using plan::Field;

constexpr std::uint64_t k_format = 1;
constexpr std::size_t k_longest_origin = 250;

/// Reads one plan; what its entries have in common is held here.
class Reader {
 public:
  Reader(const Field& root, std::filesystem::path folder, std::vector<Target> targets)
      : root_(root), folder_(std::move(folder)), given_targets_(std::move(targets)) {}

  Plan read() {
    root_.allow({"kiln_plan", "targets", "templates", "kernels"});
    if (Field format = root_.need("kiln_plan"); format.count(1) != k_format) {
      format.fail("this Kiln reads plans of format " + std::to_string(k_format));
    }
    if (auto targets = root_.find("targets")) {
      std::vector<Target> own = read_targets(*targets);  // looked at even when others are given
      given_targets_ = given_targets_.empty() ? own : given_targets_;
    }
    if (auto templates = root_.find("templates")) {
      for (const auto& [name, field] : templates->members()) {
        templates_.emplace(name, plan::read_template(field, folder_));
      }
    }
    for (const Field& kernel : root_.need("kernels").filled_list("kernel")) {
      if (kernel.find("permutation")) {
        read_permutation(kernel);
      } else {
        read_kernel(kernel);
      }
    }
    return std::move(plan_);
  }

 private:
  static std::vector<Target> read_targets(const Field& field) {
    std::vector<Target> targets;
    for (const Field& one : field.one_or_more("target")) {
      targets.push_back(plan::at(one, [&] { return Target::parse(one.text()); }));
      if (targets.back().is_native()) {
        one.fail("a plan is compiled without a GPU: name the architecture, for example sm_90");
      }
    }
    return targets;
  }

  /// The kernel's own targets, else the plan's.
  std::vector<Target> targets_of(const Field& kernel) const {
    auto own = kernel.find("targets");
    return own ? read_targets(*own) : given_targets_;
  }

  Template template_of(const Field& field) const {
    if (field.is_text()) {
      if (auto named = templates_.find(field.text()); named != templates_.end()) {
        return named->second;
      }
    }
    return plan::read_template(field, folder_);
  }

  void read_kernel(const Field& kernel) {
    kernel.allow({"label", "template", "values", "targets"});
    Template tmpl = template_of(kernel.need("template"));
    auto label = kernel.find("label");
    std::string text = label ? label->text() : tmpl.name() + " (" + kernel.path();
    std::vector<Target> targets = targets_of(kernel);
    auto values = kernel.find("values");
    if (!values) {
      check(kernel, tmpl, {});
      plan_.items.push_back({label ? text : text + ")", tmpl, {}, targets});
      return;
    }
    std::size_t number = 0;
    for (const Field& one : values->one_or_more("set of values")) {
      std::string which = values->is_list() ? "[" + std::to_string(number++) + "]" : "";
      std::string name = label ? text + which : text + (which.empty() ? "" : ".values" + which) + ")";
      plan_.items.push_back({name, tmpl, read_values(one, tmpl), targets});
    }
  }

  static Values read_values(const Field& field, const Template& tmpl) {
    Values values;
    for (const auto& [name, value] : field.members()) {
      auto declared = std::ranges::find(tmpl.parameters(), name, &Parameter::name);
      if (declared == tmpl.parameters().end()) {
        value.fail("template " + tmpl.name() + " has no such parameter" + parameter_names(tmpl));
      }
      values.set(name, plan::read_value(value, *declared));
    }
    check(field, tmpl, values);
    return values;
  }

  static std::string parameter_names(const Template& tmpl) {
    std::string names;
    for (const Parameter& parameter : tmpl.parameters()) {
      names += (names.empty() ? "; it has " : ", ") + parameter.name;
    }
    return names;
  }

  /// What does not fit is found now, while its line is known.
  static void check(const Field& field, const Template& tmpl, const Values& values) {
    try {
      instantiate(tmpl, values);
    } catch (const TemplateError& error) {
      auto culprit = values.find(error.parameter()) != nullptr ? field.find(error.parameter()) : std::nullopt;
      culprit.value_or(field).fail(error.what(), error.code());
    }
  }

  void read_permutation(const Field& kernel) {
    kernel.allow({"label", "permutation", "source_size", "dtype", "inner", "rows", "row_stride_in", "row_stride_out",
                  "in_place", "to_dtype", "ending", "lists", "strategy", "targets"});
    Field indices = kernel.need("permutation");
    auto source_size = kernel.find("source_size");
    IndexMap map = plan::at(indices, [&] { return read_map(indices, source_size ? source_size->count(1) : 0); });
    PermuteShape shape = read_shape(kernel);
    std::vector<Target> targets = targets_of(kernel);
    if (targets.empty()) {
      kernel.fail("a permutation's kernel depends on the target: give --target, or \"targets\" in the plan");
    }
    auto label = kernel.find("label");
    std::string name = label               ? label->text()
                       : indices.is_text() ? "permutation " + indices.text()
                                           : "permutation (" + kernel.path() + ")";
    auto dtype = kernel.find("dtype");
    for (const auto& [element, bytes] : read_dtypes(dtype)) {
      shape.element_bytes = bytes;
      shape.ending = read_ending(kernel, element);
      for (const Target& target : targets) {
        PermuteRequest request = plan::at(kernel, [&] { return plan_permute(map, shape, target); });
        plan_.items.push_back({name + " " + element, request.tmpl, request.values, {target}});
      }
    }
  }

  /// But for the element type.
  static PermuteShape read_shape(const Field& kernel) {
    const auto count = [&](const char* name, std::uint64_t least, std::uint64_t otherwise) {
      auto field = kernel.find(name);
      return field ? field->count(least) : otherwise;
    };
    PermuteShape shape;
    shape.inner = count("inner", 1, 1);
    shape.typical_rows = count("rows", 0, 0);
    shape.row_stride_in = count("row_stride_in", 0, 0);
    shape.row_stride_out = count("row_stride_out", 0, 0);
    if (auto strategy = kernel.find("strategy")) {
      shape.strategy = plan::at(*strategy, [&] { return parse_strategy(strategy->text()); });
    }
    auto in_place = kernel.find("in_place");
    shape.in_place = in_place && in_place->truth();
    return shape;
  }

  /// Of elements of type `from`.
  static std::optional<PermuteEnding> read_ending(const Field& kernel, const std::string& from) {
    auto to = kernel.find("to_dtype");
    auto expression = kernel.find("ending");
    auto lists = kernel.find("lists");
    if (!expression && !lists && (!to || to->text() == from)) {
      return std::nullopt;
    }
    PermuteEnding ending{.from = from, .to = to ? to->text() : from};
    if (expression) {
      ending.expression = expression->text();
    }
    if (lists) {
      Parameter numbers;
      numbers.type = ParameterType::f32;
      numbers.is_list = true;
      for (const auto& [name, field] : lists->members()) {
        const Value value = plan::read_value(field, numbers);
        const auto& list = std::get<std::vector<double>>(value.storage());
        plan::at(field,
                 [&] { std::transform(list.begin(), list.end(), std::back_inserter(ending.lists[name]), to_f32); });
      }
    }
    return ending;
  }

  IndexMap read_map(const Field& field, std::uint64_t source_size) const {
    if (field.is_text()) {
      return IndexMap::read(folder_ / field.text(), source_size);
    }
    std::vector<std::int64_t> sources;
    std::uint64_t largest = 0;
    for (const Field& element : field.list()) {
      const auto* source = std::get_if<std::int64_t>(&element.node().value);
      if (source == nullptr) {
        element.fail("an index is wanted, not " + plan::describe(element.node()));
      }
      sources.push_back(*source);
      largest = std::max(largest, static_cast<std::uint64_t>(std::max(*source, std::int64_t{0})));
    }
    return {sources, source_size != 0 ? source_size : largest + 1};
  }

  static std::vector<std::pair<std::string, unsigned>> read_dtypes(const std::optional<Field>& field) {
    if (!field) {
      return {{"f32", dtype_bytes("f32")}};
    }
    std::vector<std::pair<std::string, unsigned>> elements;
    for (const Field& one : field->one_or_more("element type")) {
      elements.emplace_back(one.text(), plan::at(one, [&] { return dtype_bytes(one.text()); }));
    }
    return elements;
  }

  Field root_;
  std::filesystem::path folder_;
  std::vector<Target> given_targets_;
  std::map<std::string, Template> templates_;
  Plan plan_;
};

}  // namespace

Plan Plan::read(const std::filesystem::path& file, const std::vector<Target>& targets) {
  std::string text = read_text_file(file, "plan");
  std::string origin = one_line(file.native(), k_longest_origin);
  plan::JsonNode root = plan::parse_json(text, origin);
  return Reader(Field(root, origin), file.parent_path(), targets).read();
}

}  // namespace kiln
