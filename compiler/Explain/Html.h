// Pieces of the page of an explanation.
// SPDX-License-Identifier: MIT
#ifndef SELVEDGE_COMPILER_EXPLAIN_HTML_H
#define SELVEDGE_COMPILER_EXPLAIN_HTML_H

#include "compiler/Explain/Explanation.h"

#include "llvm/Support/raw_ostream.h"

namespace selvedge::explain {

/// `text` with the characters that XML reserves escaped.
std::string escapeXml(const std::string &text);

/// Escaped, with tooltips at terms of the field.
std::string withTerms(const std::string &text);

/// Begins a section of the page: its id, and its heading.
void beginSection(llvm::raw_ostream &os, llvm::StringRef id,
                  llvm::StringRef title);

/// The terms that tooltips explain, as a list of definitions.
void writeTerms(llvm::raw_ostream &os);

/// A file without its folders.
std::string baseName(const std::string &file);

/// Of a line of the source: `line-22`, `flash_fwd.tile-22` in an imported file.
std::string lineAnchor(const std::string &file, unsigned line);

/// A link to the line of `place`.
std::string lineLink(const Place &place);

/// A link to the card of a record.
std::string recordLink(const std::string &id);

/// The id of a tensor's pictures.
std::string tensorAnchor(const std::string &tensor);

/// The id of a kernel's schedule in one variant: variants may share a kernel.
std::string scheduleAnchor(const std::string &variant,
                           const std::string &kernel);

/// Whether the page has pictures of the tensor, or of the kernel.
bool hasTensorPictures(const Explanation &explanation,
                       const std::string &tensor);
bool hasKernelPictures(const Explanation &explanation,
                       const std::string &kernel);

/// In numbers and words: all that a reader in a hurry needs.
void writeSummary(llvm::raw_ostream &os, const Explanation &explanation);

/// The program, with links from its lines.
void writeSource(llvm::raw_ostream &os, const Explanation &explanation);

/// The pictures of kernels and tensors, and what their colours mean.
void writePictures(llvm::raw_ostream &os, const Explanation &explanation);

/// A card per operation, by kernel and kind.
void writeOperations(llvm::raw_ostream &os, const Explanation &explanation);

/// How outputs become total, and products see zeros.
void writeOutputs(llvm::raw_ostream &os, const Explanation &explanation);
void writeProducts(llvm::raw_ostream &os, const Explanation &explanation);

/// How kernels run.
void writeSchedules(llvm::raw_ostream &os,
                    const std::vector<Schedule> &schedules);

} // namespace selvedge::explain

#endif // SELVEDGE_COMPILER_EXPLAIN_HTML_H
