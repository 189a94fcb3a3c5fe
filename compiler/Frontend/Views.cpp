// Elaborator: views, which are expanded where they are indexed.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace selvedge::tile;

namespace selvedge::frontend {

const FnDecl *Elaborator::findView(StringRef name) const {
  if (name == "super") {
    const FnDecl *next = overridden();
    return next && next->isView ? next : nullptr;
  }
  auto it = functions.find(name);
  bool isView = it != functions.end() && !it->second.empty() &&
                it->second.front()->isView;
  return isView ? it->second.front() : nullptr;
}

void Elaborator::checkViews() {
  for (const auto &[name, definitions] : functions)
    if (findView(name) && lookupSignature(name))
      diags.error(definitions.front()->loc, "the name '" + name + "' is taken",
                  "a view is indexed as a tensor is: choose another name");
}

Val Elaborator::evalView(const Expr &e, const FnDecl &view) {
  ArrayRef<ExprPtr> indices = ArrayRef(e.args).drop_front();
  for (const ExprPtr &index : indices)
    if (index->kind == Expr::Kind::Full) {
      diags.error(index->loc,
                  "expects an index of the view '" + view.name +
                      "', but got ':'",
                  "a view has no dimensions: write ':' where it indexes a "
                  "tensor");
      return Val::error();
    }
  if (!bindCall(e, view, indices))
    return Val::error();
  Val condition = view.valid ? evalCondition(*view.valid, "'valid'", "valid")
                             : Val::ofBool(true);
  llvm::SaveAndRestore scope(viewTerms);
  viewTerms.add(condition.preds);
  for (Value term : termsOf(e.loc, condition))
    viewTerms.add(term);
  Val result = eval(*view.body);
  frames.pop_back();
  return applyWhere(e.loc, result, condition);
}

void Elaborator::addViewTerms(Access &access) const {
  for (Value term : viewTerms)
    if (tb->unionOf(access.axes, axesOf(term.getType())) == access.axes)
      access.preds.add(term);
}

} // namespace selvedge::frontend
