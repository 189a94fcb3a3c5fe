// The tiles over a tensor as SVG.
// SPDX-License-Identifier: MIT
#include "compiler/Explain/Cells.h"
#include "compiler/Explain/Html.h"
#include "compiler/Explain/Render.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <map>

namespace selvedge::explain {

namespace {

/// Room for the axes' names and the tiles' first indices.
constexpr int64_t left = 64, top = 38, right = 14, bottom = 12;
/// The drawing's longest side, and the height of a tile without rows.
constexpr int64_t span = 300, strip = 36;
/// Labels nearer than this would touch; steps smaller than that have none.
constexpr int64_t labelGapX = 30, labelGapY = 13, stepWidth = 48,
                  stateWidth = 68, stepHeight = 18;

class Drawing {
public:
  explicit Drawing(const Picture &p) : p(p), os(text) {
    bool flat = p.rowAxis.empty();
    double longest = static_cast<double>(std::max(p.cols, flat ? 1 : p.rows));
    scaleX = span / longest;
    scaleY = flat ? strip : scaleX;
    // Tensors that are much longer than wide stay readable.
    if (!flat && p.cols * scaleX < 90)
      scaleX = 90.0 / static_cast<double>(p.cols);
    if (!flat && p.rows * scaleY < 90)
      scaleY = 90.0 / static_cast<double>(p.rows);
  }

  std::string draw() {
    double width = p.cols * scaleX, height = p.rows * scaleY;
    os << "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
          "aria-label=\""
       << escapeXml(words()) << "\" width=\"" << number(left + width + right)
       << "\" height=\"" << number(top + height + bottom) << "\" viewBox=\"0 0 "
       << number(left + width + right) << " " << number(top + height + bottom)
       << "\">\n";
    for (const Cell &cell : p.cells)
      rectangle(cell);
    for (const Cell *cell : fills) {
      area(p.fill == "-inf" ? "fill-infinity" : "fill-zero", *cell);
      os << "/>\n";
    }
    grid(width, height);
    if (p.steps.empty()) {
      partialTiles();
      nameStates();
    }
    for (const Step &step : p.steps)
      drawStep(step);
    labels(width, height);
    os << "</svg>\n";
    return text;
  }

private:
  static std::string number(double value) {
    std::string s;
    llvm::raw_string_ostream(s) << llvm::format("%.1f", value);
    return s;
  }

  /// In the largest cell of each state, if it has room.
  void nameStates() {
    constexpr std::pair<const char *, const char *> names[] = {
        {"present", "present"},     {"shape", "outside"},
        {"range", "out of range"},  {"valid", "not valid"},
        {"where", "masked"},        {"optional", "not given"},
        {"untested", "not tested"}, {"unknown", "data decides"},
        {"init", "initialised"}};
    for (auto [state, name] : names) {
      const Cell *largest = nullptr;
      for (const Cell &cell : p.cells)
        if (cell.state == state &&
            (!largest ||
             cell.width * cell.height > largest->width * largest->height))
          largest = &cell;
      if (largest && largest->width * scaleX >= stateWidth &&
          largest->height * scaleY >= stepHeight)
        label("name", left + (largest->x + largest->width / 2.0) * scaleX,
              top + (largest->y + largest->height / 2.0) * scaleY + 4, name);
    }
  }

  /// What the picture shows, for those who do not see it.
  std::string words() {
    std::map<std::string, int64_t> shares;
    for (const Cell &cell : p.cells)
      shares[cell.state] += cell.width * cell.height;
    std::string text = "tiles of " + p.title + ": ";
    if (!p.rowAxis.empty())
      text += std::to_string(p.rows) + " rows of " + p.rowAxis + ", ";
    text += std::to_string(p.cols) + " columns of " + p.colAxis;
    for (const auto &[state, share] : shares)
      text +=
          ", " + std::to_string(100 * share / (p.rows * p.cols)) + "% " + state;
    return text;
  }

  void drawStep(const Step &step) {
    Cell box{step.x, step.y, step.width, step.height, ""};
    area("step " + step.state, box);
    os << "><title>" << step.state << " step: " << escapeXml(p.colAxis) << " "
       << step.x << ".." << step.x + step.width - 1;
    if (!p.rowAxis.empty())
      os << ", " << escapeXml(p.rowAxis) << " " << step.y << ".."
         << step.y + step.height - 1;
    os << "</title></rect>\n";
    double width = step.width * scaleX, height = step.height * scaleY;
    if (width >= stepWidth && height >= stepHeight)
      label("name", left + step.x * scaleX + width / 2,
            top + step.y * scaleY + height / 2 + 4, step.state);
  }

  void area(const std::string &style, const Cell &cell) {
    os << "<rect class=\"" << style << "\" x=\""
       << number(left + cell.x * scaleX) << "\" y=\""
       << number(top + cell.y * scaleY) << "\" width=\""
       << number(cell.width * scaleX) << "\" height=\""
       << number(cell.height * scaleY) << "\"";
  }

  void rectangle(const Cell &cell) {
    bool isFilled = cell.state != "present" && cell.state != "init" &&
                    cell.state != "untested" && cell.state != "unknown" &&
                    cell.state != "unstored";
    if (!p.fill.empty() && isFilled)
      fills.push_back(&cell);
    area(cell.state, cell);
    os << "><title>" << escapeXml(cell.state) << ": " << escapeXml(p.colAxis)
       << " " << cell.x << ".." << cell.x + cell.width - 1;
    if (!p.rowAxis.empty())
      os << ", " << escapeXml(p.rowAxis) << " " << cell.y << ".."
         << cell.y + cell.height - 1;
    os << "</title></rect>\n";
  }

  void line(double x1, double y1, double x2, double y2) {
    os << "<line class=\"edge\" x1=\"" << number(x1) << "\" y1=\"" << number(y1)
       << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2) << "\"/>\n";
  }

  void grid(double width, double height) {
    for (int64_t c = 0; c <= p.cols; c += p.tileCols)
      line(left + c * scaleX, top, left + c * scaleX, top + height);
    for (int64_t r = 0; r <= p.rows; r += p.tileRows)
      line(left, top + r * scaleY, left + width, top + r * scaleY);
  }

  /// Whether a cell in the tile at (x, y) is present, or absent.
  bool hasCell(int64_t x, int64_t y, bool wanted) {
    return llvm::any_of(p.cells, [&](const Cell &cell) {
      return cell.state != "unknown" && isPresent(cell.state) == wanted &&
             cell.x < x + p.tileCols && x < cell.x + cell.width &&
             cell.y < y + p.tileRows && y < cell.y + cell.height;
    });
  }

  void partialTiles() {
    for (int64_t y = 0; y < p.rows; y += p.tileRows)
      for (int64_t x = 0; x < p.cols; x += p.tileCols)
        if (hasCell(x, y, true) && hasCell(x, y, false)) {
          area("partial", {x, y, p.tileCols, p.tileRows, ""});
          os << "/>\n";
        }
  }

  void label(const char *style, double x, double y, const std::string &what) {
    os << "<text class=\"" << style << "\" x=\"" << number(x) << "\" y=\""
       << number(y) << "\">" << escapeXml(what) << "</text>\n";
  }

  /// First indices of tiles, as many as fit.
  void labels(double width, double height) {
    label("axis", left + width / 2, 13, p.colAxis);
    double next = 0;
    for (int64_t c = 0; c <= p.cols; c += p.tileCols) {
      double x = left + c * scaleX;
      if (x < next || (c < p.cols && left + width - x < labelGapX))
        continue;
      label("tick", x, top - 6, std::to_string(c));
      next = x + labelGapX;
    }
    if (p.rowAxis.empty())
      return;
    label("axis", 12, top + height / 2, p.rowAxis);
    next = 0;
    for (int64_t r = 0; r <= p.rows; r += p.tileRows) {
      double y = top + r * scaleY;
      if (y < next || (r < p.rows && top + height - y < labelGapY))
        continue;
      label("tick row", left - 5, y + 4, std::to_string(r));
      next = y + labelGapY;
    }
  }

  const Picture &p;
  std::string text;
  llvm::raw_string_ostream os;
  double scaleX = 1, scaleY = 1;
  /// Absent lanes that get a constant, hatched over their colour.
  std::vector<const Cell *> fills;
};

} // namespace

std::string renderSvg(const Picture &picture) {
  return Drawing(picture).draw();
}

} // namespace selvedge::explain
