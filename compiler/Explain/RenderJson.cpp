// Explanations as JSON.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Render.h"
#include "compiler/Explain/Summary.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace selvedge::explain {

namespace {

class JsonWriter {
public:
  explicit JsonWriter(llvm::raw_ostream &os) : json(os, 2) {}

  void write(const Explanation &e) {
    json.object([&] {
      json.attribute("version", 1);
      json.attribute("file", e.file);
      json.attribute("op", e.op);
      json.attribute("arch", e.arch);
      records("operations", e, true);
      records("unnecessary", e, false);
      list("products", e.proofs, [&](const Proof &p) { write(p); });
      list("outputs", e.outputs, [&](const Output &o) { write(o); });
      list("schedules", e.schedules, [&](const Schedule &s) { write(s); });
      list("pictures", e.pictures, [&](const Picture &p) { write(p); });
      list("kernels", e.kernelPictures, [&](const KernelPictures &k) {
        json.attribute("kernel", k.kernel);
        list("pictures", k.pictures, [&](const Picture &p) {
          write(p);
          steps(p);
        });
      });
      json.attributeObject("summary", [&] { write(summarise(e)); });
    });
  }

private:
  template <typename T, typename Fn>
  void list(const char *key, const std::vector<T> &values, Fn write) {
    json.attributeArray(key, [&] {
      for (const T &value : values)
        json.object([&] { write(value); });
    });
  }

  void records(const char *key, const Explanation &e, bool inserted) {
    json.attributeArray(key, [&] {
      for (const Record &record : e.records)
        if ((record.status == "inserted") == inserted)
          json.object([&] { write(record); });
    });
  }

  void write(const char *key, const Place &place) {
    if (!place.line)
      return;
    json.attributeObject(key, [&] {
      if (!place.file.empty())
        json.attribute("file", place.file);
      json.attribute("line", place.line);
      json.attribute("column", place.column);
      json.attribute("text", place.text);
    });
  }

  void write(const Record &r) {
    json.attribute("id", r.id);
    json.attribute("kind", r.kind);
    json.attribute("status", r.status);
    json.attribute("kernel", r.kernel);
    json.attribute("subject", r.subject);
    json.attribute("tile", r.tile);
    json.attribute("absent", r.fill);
    json.attribute("reason", r.reason);
    write("place", r.place);
    write("consumer", r.consumer);
    list("predicates", r.predicates, [&](const Predicate &p) {
      json.attribute("text", p.text);
      json.attribute("origin", p.origin);
      json.attribute("proved", p.proved);
      json.attribute("untested", p.untested);
      json.attribute("partial_only", p.partialOnly);
      if (p.proved)
        json.attribute("why", p.why);
      write("place", p.place);
    });
    list("writers", r.writers, [&](const Writer &w) {
      json.attribute("kernel", w.kernel);
      json.attribute("id", w.id);
      write("place", w.place);
    });
    list("instances", r.instances, [&](const Instance &i) {
      json.attribute("kernel", i.kernel);
      json.attribute("operation", i.op);
      json.attribute("mechanism", i.mechanism);
      json.attribute("instructions_per_thread", i.instructions);
      json.attribute("frequency", i.frequency);
      if (i.loop >= 0)
        json.attribute("loop", i.loop);
      json.attributeArray("proved", [&] {
        for (int64_t position : i.proved)
          json.value(position);
      });
      json.attributeArray("by_extent", [&] {
        for (int64_t position : i.byExtent)
          json.value(position);
      });
    });
  }

  void write(const Proof &p) {
    json.attribute("kernel", p.kernel);
    json.attribute("subject", p.subject);
    json.attribute("claim", p.claim);
    json.attribute("why", p.why);
    write("place", p.place);
  }

  void write(const Output &o) {
    json.attribute("name", o.name);
    json.attribute("shape", o.shape);
    json.attribute("init", o.init);
    json.attribute("by", o.by);
    json.attribute("why", o.why);
  }

  void write(const Picture &p) {
    json.attribute("id", p.id);
    json.attribute("title", p.title);
    json.attribute("row_axis", p.rowAxis);
    json.attribute("column_axis", p.colAxis);
    json.attribute("rows", p.rows);
    json.attribute("columns", p.cols);
    json.attribute("tile_rows", p.tileRows);
    json.attribute("tile_columns", p.tileCols);
    json.attribute("fill", p.fill);
    json.attribute("absent", p.absent);
    json.attribute("sample", p.sample);
    list("cells", p.cells, [&](const Cell &c) { writeArea(c); });
  }

  void steps(const Picture &p) {
    json.attribute("step_axis", p.stepAxis);
    list("steps", p.steps, [&](const Step &s) { writeArea(s); });
  }

  /// A cell or a step: where it lies, and what is so there.
  template <typename Area>
  void writeArea(const Area &a) {
    json.attribute("x", a.x);
    json.attribute("y", a.y);
    json.attribute("width", a.width);
    json.attribute("height", a.height);
    json.attribute("state", a.state);
  }

  void write(const Summary &s) {
    list("kernels", s.kernels, [&](const KernelCounts &k) {
      json.attribute("kernel", k.kernel);
      json.attribute("loads", k.loads);
      json.attribute("fills", k.fills);
      json.attribute("masks", k.masks);
      json.attribute("guards", k.guards);
      json.attribute("stores", k.stores);
      json.attribute("initialisations", k.inits);
    });
    json.attribute("conditions_proved", s.proved);
    json.attribute("conditions_untested", s.untested);
    json.attribute("conditions_partial_only", s.partialOnly);
    json.attribute("conditions_tested", s.tested);
    list("costs", s.costs, [&](const KernelCost &c) {
      json.attribute("variant", c.variant);
      json.attribute("kernel", c.kernel);
      json.attribute("per_step", c.step);
      json.attribute("per_whole_step", c.whole);
      json.attribute("per_partial_step", c.partial);
      json.attribute("per_tile", c.perTile);
    });
  }

  void write(const Schedule &s) {
    json.attribute("variant", s.variant);
    json.attribute("kernel", s.kernel);
    list("choices", s.choices, [&](const Choice &c) {
      json.attribute("what", c.what);
      json.attribute("choice", c.choice);
      json.attribute("why", c.why);
    });
  }

  llvm::json::OStream json;
};

} // namespace

std::string renderJson(const Explanation &explanation) {
  std::string text;
  llvm::raw_string_ostream os(text);
  JsonWriter(os).write(explanation);
  return text + "\n";
}

} // namespace selvedge::explain
