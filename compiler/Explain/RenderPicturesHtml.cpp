// The pictures of the page, and what their colours mean.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Html.h"
#include "compiler/Explain/HtmlStyle.h"
#include "compiler/Explain/Render.h"
#include "compiler/Explain/TensorPictures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace selvedge::explain {

namespace {

/// The states of the pictures and what they mean.
constexpr std::pair<const char *, const char *> states[] = {
    {"present", "present: data that counts"},
    {"shape", "outside the tensor's shape"},
    {"range", "outside the range of the loop"},
    {"valid", "inside the shape, but not valid"},
    {"where", "removed by a mask"},
    {"optional", "of a tensor that is not given"},
    {"untested", "absent, and not tested: removed later"},
    {"unknown", "present or absent: depends on data"},
    {"unstored", "of a row that is not stored"},
    {"init", "written by an initialisation"}};

constexpr std::pair<const char *, const char *> fills[] = {
    {"fill-zero", "filled with 0"}, {"fill-infinity", "replaced by -inf"}};

class PictureWriter {
public:
  PictureWriter(llvm::raw_ostream &os, const Explanation &e)
      : os(os), e(e), tensors(mergePictures(e)) {}

  void write() {
    if (tensors.empty() && e.kernelPictures.empty())
      return;
    beginSection(os, "pictures", "Pictures");
    os << "<p>Sizes are samples, named under each picture, and chosen so that "
          "tiles end inside of one; real ones come with a launch. Thin lines "
          "are the tiles, of the op's first plan; other variants may have "
          "other tiles. Point at an area to read its state.</p>\n"
       << patterns;
    legend();
    kernels();
    tensorFigures();
    os << "</section>\n";
  }

private:
  std::set<std::string> usedStates() {
    std::set<std::string> used;
    auto add = [&](const Picture &picture) {
      for (const Cell &cell : picture.cells)
        used.insert(cell.state);
      for (const Step &step : picture.steps)
        used.insert(step.state);
      if (!picture.fill.empty())
        used.insert(picture.fill == "-inf" ? "fill-infinity" : "fill-zero");
    };
    for (const TensorPictures &tensor : tensors)
      for (const TensorPanel &panel : tensor.panels)
        add(panel.picture);
    for (const KernelPictures &kernel : e.kernelPictures)
      llvm::for_each(kernel.pictures, add);
    return used;
  }

  void legend() {
    std::set<std::string> used = usedStates();
    os << "<ul class=\"legend\" aria-label=\"colours\">";
    for (auto [state, meaning] : states)
      if (used.contains(state))
        os << "<li><i class=\"" << state << "\"></i>" << meaning << "</li>";
    for (auto [fill, meaning] : fills)
      if (used.contains(fill))
        os << "<li><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 14 "
              "14\" aria-hidden=\"true\"><path class=\""
           << fill << "\" d=\"M0,0 H14 V14 H0 Z\"/></svg>" << meaning
           << "</li>";
    os << "<li><i class=\"partial\"></i>outlined: a partial tile, or a partial "
          "step of a loop</li>";
    if (used.contains("skipped"))
      os << "<li><i class=\"skipped\"></i>faint: a step that is left out</li>";
    os << "</ul>\n";
  }

  void kernels() {
    if (llvm::any_of(e.kernelPictures, hasPictures))
      os << "<h3>Kernels</h3>\n<p>A thread block computes one tile of results "
            "in the steps of a loop. Each picture has a row, or a column, of "
            "tiles per thread block, and a tile per step.</p>\n";
    std::vector<std::string> others;
    for (const KernelPictures &kernel : e.kernelPictures)
      if (hasPictures(kernel))
        kernelFigure(kernel);
      else
        others.push_back("<a href=\"#operations-" + escapeXml(kernel.kernel) +
                         "\">" + escapeXml(kernel.kernel) + "</a>");
    if (!others.empty())
      os << "<p>Without masks, and without a loop over tiles: "
         << llvm::join(others, ", ") << ".</p>\n";
  }

  static bool hasPictures(const KernelPictures &kernel) {
    return !kernel.pictures.empty();
  }

  void kernelFigure(const KernelPictures &kernel) {
    std::string partners;
    for (const Picture &picture : kernel.pictures)
      for (const std::string &id : picture.records)
        partners += (partners.empty() ? "" : " ") + id;
    os << "<article class=\"pictures\" id=\"kernel-" << escapeXml(kernel.kernel)
       << "\" data-with=\"" << escapeXml(partners) << "\"><h4>Kernel <code>"
       << escapeXml(kernel.kernel) << "</code></h4>\n<div class=\"panels\">\n";
    for (const Picture &picture : kernel.pictures) {
      os << "<figure>" << renderSvg(picture) << "<figcaption>";
      steps(picture);
      for (const std::string &id : picture.records)
        os << "<br/>Lanes: " << recordLink(id);
      sample(picture);
      os << "</figcaption></figure>\n";
    }
    os << "</div></article>\n";
  }

  void steps(const Picture &picture) {
    int64_t whole = 0, partial = 0, skipped = 0;
    for (const Step &step : picture.steps)
      ++(step.state == "whole"     ? whole
         : step.state == "partial" ? partial
                                   : skipped);
    if (picture.stepAxis.empty())
      os << "No loop: the tile is computed at once.";
    else if (picture.steps.empty())
      os << "Which steps over " << escapeXml(picture.stepAxis)
         << " the loop takes depends on data.";
    else
      os << "Steps over " << escapeXml(picture.stepAxis) << ": " << whole
         << " whole, " << partial << " partial, " << skipped << " skipped.";
  }

  void sample(const Picture &picture) {
    if (!picture.sample.empty())
      os << "<br/><span class=\"dim\">drawn for " << escapeXml(picture.sample)
         << "</span>";
  }

  void tensorFigures() {
    if (tensors.empty())
      return;
    os << "<h3>Tensors</h3>\n<p>Of each tensor the two axes that tiles have, "
          "for one choice of the others.</p>\n<div class=\"panels\">\n";
    for (const TensorPictures &pictures : tensors)
      tensorFigure(pictures);
    os << "</div>\n";
  }

  void tensorFigure(const TensorPictures &pictures) {
    std::vector<std::string> ids;
    for (const TensorPanel &panel : pictures.panels)
      for (const Record *record : panel.records)
        ids.push_back(record->id);
    os << "<article class=\"pictures\" id=\""
       << tensorAnchor(pictures.tensor->name) << "\" data-with=\""
       << escapeXml(llvm::join(ids, " ")) << "\"><h4>Tensor <code>"
       << escapeXml(pictures.tensor->name + pictures.tensor->shape)
       << "</code></h4>\n<div class=\"panels\">\n";
    for (const TensorPanel &panel : pictures.panels)
      tensorPanel(panel);
    os << "</div></article>\n";
  }

  void tensorPanel(const TensorPanel &panel) {
    os << "<figure>" << renderSvg(panel.picture) << "<figcaption>";
    for (auto [record, absent] : llvm::zip_equal(panel.records, panel.absent))
      os << "<p>" << recordLink(record->id)
         << ". Absent lanes: " << escapeXml(absent) << ".</p>";
    if (!panel.picture.sample.empty())
      os << "<span class=\"dim\">drawn for " << escapeXml(panel.picture.sample)
         << "</span>";
    os << "</figcaption></figure>\n";
  }

  llvm::raw_ostream &os;
  const Explanation &e;
  std::vector<TensorPictures> tensors;
};

} // namespace

void writePictures(llvm::raw_ostream &os, const Explanation &explanation) {
  PictureWriter(os, explanation).write();
}

} // namespace selvedge::explain
