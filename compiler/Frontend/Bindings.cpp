// Elaborator: variants, parameters and functions of an op.
// SPDX-License-Identifier: MIT
#include "compiler/Frontend/Elaborator.h"

#include "compiler/Frontend/Lexer.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace selvedge::frontend {

Type Elaborator::builtinType(StringRef name) const {
  Builder b(ctx);
  if (name == "f32")
    return b.getF32Type();
  if (name == "bf16")
    return b.getBF16Type();
  if (name == "f16")
    return b.getF16Type();
  if (name == "i32")
    return b.getI32Type();
  if (name == "i8")
    return b.getI8Type();
  if (name == "u8")
    return b.getIntegerType(8, /*isSigned=*/false);
  if (name == "e4m3")
    return Float8E4M3FNType::get(ctx);
  if (name == "e5m2")
    return Float8E5M2Type::get(ctx);
  if (name == "bool")
    return b.getI1Type();
  return {};
}

Type Elaborator::resolveType(SMLoc loc, StringRef name) {
  if (auto it = params.find(name); it != params.end()) {
    if (it->second.is(Val::Kind::Type))
      return it->second.type;
    if (!it->second.isError())
      diags.error(loc, "expects a type, but got the parameter '" + name +
                           "' = " + describe(it->second));
    return {};
  }
  if (Type type = builtinType(name))
    return type;
  for (StringRef later : {"f64", "i64"}) {
    if (name == later) {
      diags.unsupported(loc, "the type '" + name + "'",
                        "numbers are of f32 at most, integers of i32");
      return {};
    }
  }
  SmallVector<StringRef> candidates{"f32", "bf16", "f16",  "i32", "i8",
                                    "u8",  "e4m3", "e5m2", "bool"};
  for (const auto &[param, value] : params)
    if (value.is(Val::Kind::Type))
      candidates.push_back(param);
  std::string hint = didYouMean(name, candidates);
  diags.error(loc, "expects a type, but got '" + name + "'",
              hint.empty() ? "types are f32, bf16, f16, i32, i8, u8, e4m3, "
                             "e5m2, bool and the op's type parameters"
                           : hint);
  return {};
}

const OpDecl *Elaborator::findOp(SMLoc loc, StringRef name, StringRef why) {
  SmallVector<StringRef> names;
  for (const OpDecl &candidate : file.ops) {
    names.push_back(candidate.name);
    if (candidate.name == name)
      return &candidate;
  }
  diags.error(loc, "no op '" + name + "' " + why, didYouMean(name, names));
  return nullptr;
}

void Elaborator::warnOfOwnInputs(const OpDecl &forward) {
  llvm::StringSet<> known;
  for (const OpDecl *op : chain)
    for (const ArgDecl &input : op->inputs)
      known.insert(input.name);
  for (const ArgDecl &input : forward.inputs)
    if (input.isTensor && !known.contains(input.name))
      diags.warning(input.loc,
                    "the backward '" + forward.backward + "' has no input '" +
                        input.name + "' of '" + forward.name +
                        "', so that the gradient does not depend on it",
                    "declare it there, and use it in the same functions");
}

bool Elaborator::flatten(const OpDecl &op, bool isGradient) {
  const OpDecl *forward = nullptr;
  for (const OpDecl *current = &op;;) {
    if (isGradient && !current->backward.empty()) {
      // Instead of this op, and of what it extends.
      isGradient = false;
      forward = current;
      current =
          findOp(current->backwardLoc, current->backward, "to be the backward");
      if (!current)
        return false;
    }
    if (llvm::is_contained(chain, current)) {
      diags.error(current->loc, "op '" + current->name + "' extends itself");
      return false;
    }
    chain.push_back(current);
    if (current->base.empty()) {
      if (isGradient)
        diags.error(current->loc, "op '" + current->name + "' has no backward",
                    "name the op of its gradient behind the outputs: '-> "
                    "(...) backward NAME'");
      else if (forward)
        warnOfOwnInputs(*forward);
      return !isGradient;
    }
    const OpDecl *base = findOp(current->baseLoc, current->base, "to extend");
    if (!base)
      return false;
    if (!current->outputs.empty() || !current->kernels.empty()) {
      diags.error(current->loc,
                  "expects no outputs and kernels in '" + current->name +
                      "', which extends '" + base->name + "'",
                  "a variant binds functions; outputs and kernels are the "
                  "base's");
      return false;
    }
    current = base;
  }
}

/// What to say of a name that is a scalar, or near to one; empty otherwise.
static std::string hintOfScalar(ArrayRef<const OpDecl *> chain,
                                StringRef name) {
  SmallVector<StringRef> scalars;
  for (const OpDecl *op : chain)
    for (const ArgDecl &arg : op->inputs)
      if (!arg.isTensor)
        scalars.push_back(arg.name);
  if (llvm::is_contained(scalars, name))
    return ("'" + name + "' is a scalar, which each launch is given").str();
  return didYouMean(name, scalars);
}

bool Elaborator::bindParameters(const Bindings *bindings) {
  // Values that a variant fixes for its base, by parameter.
  std::map<StringRef, std::pair<const OpDecl *, Val>> fixed;
  std::set<StringRef> used;
  SmallVector<StringRef> settable;
  for (const OpDecl *op : chain) {
    std::set<StringRef> declared;
    for (const ParamDecl &param : op->params) {
      if (params.count(param.name)) {
        diags.error(param.loc,
                    "a parameter '" + param.name + "' exists already");
        continue;
      }
      declared.insert(param.name);
      const std::string *text = nullptr;
      if (bindings)
        if (auto it = bindings->find(param.name.str()); it != bindings->end())
          text = &it->second;
      Val value;
      if (auto it = fixed.find(param.name); it != fixed.end()) {
        if (text)
          diags.error({}, "parameter '" + param.name + "' is fixed by op '" +
                              it->second.first->name + "'");
        value = checkParameter(param, it->second.second, param.loc, "extends");
      } else {
        settable.push_back(param.name);
        value = bindParameter(param, text);
      }
      used.insert(param.name);
      params[param.name] = value;
      paramOrder.push_back(param.name);
    }
    for (auto &[name, origin] : fixed)
      if (!declared.count(name) && !used.count(name) && op->base.empty())
        diags.error(origin.first->loc,
                    "op '" + op->name + "' has no parameter '" + name + "'");
    for (const BindDecl &bind : op->binds)
      fixed[bind.name] = {op, eval(*bind.value)};
  }
  if (bindings) {
    for (const auto &[name, text] : *bindings) {
      if (used.count(name))
        continue;
      std::string hint = didYouMean(name, settable);
      if (hint.empty())
        hint = hintOfScalar(chain, name);
      if (hint.empty() && settable.empty())
        hint = "the op has no parameters; '--shape' gives dims";
      else if (hint.empty())
        hint = "parameters are " + llvm::join(settable, ", ") +
               "; '--shape' gives dims";
      diags.error({},
                  "op '" + chain.front()->name + "' has no parameter '" + name +
                      "'",
                  hint);
    }
  }
  return !diags.hasErrors();
}

Val Elaborator::bindParameter(const ParamDecl &param, const std::string *text) {
  if (text)
    return parseBinding(param, *text);
  if (param.defaultValue)
    return checkParameter(param, eval(*param.defaultValue),
                          param.defaultValue->loc, "the default");
  if (param.types.size() == 1)
    return Val::ofType(resolveType(param.loc, param.types.front()));
  diags.error(param.loc, "parameter '" + param.name + "' has no value",
              "give one with '--set " + param.name + "=VALUE'");
  return Val::error();
}

Val Elaborator::parseBinding(const ParamDecl &param, StringRef text) {
  Val value = Val::error();
  int64_t i;
  double f;
  if (Type type = builtinType(text))
    value = Val::ofType(type);
  else if (text == "true" || text == "false")
    value = Val::ofBool(text == "true");
  else if (!text.getAsInteger(10, i))
    value = Val::ofInt(i);
  else if (!text.empty() && !text.getAsDouble(f))
    value = Val::ofFloat(f);
  if (value.isError()) {
    diags.error({}, "'--set " + param.name + "=" + text.take_front(60) +
                        "' is neither a type, a number, true nor false");
    return value;
  }
  return checkParameter(param, value, {}, "'--set'");
}

Val Elaborator::checkParameter(const ParamDecl &param, Val value, SMLoc loc,
                               StringRef origin) {
  if (value.isError())
    return value;
  auto wrong = [&](const Twine &wanted) {
    diags.error(loc, "expects " + wanted + " for parameter '" + param.name +
                         "', but got " + describe(value) + " from " + origin);
    return Val::error();
  };
  constexpr int64_t kLargest = int64_t(1) << 30;
  bool anyKind = param.kind.empty();
  if (param.kind == "type" || (anyKind && value.is(Val::Kind::Type))) {
    if (!value.is(Val::Kind::Type))
      return wrong("a type");
    for (StringRef allowed : param.types)
      if (resolveType(param.loc, allowed) == value.type)
        return value;
    if (!param.types.empty())
      return wrong("one of {" + llvm::join(param.types, ", ") + "}");
  } else if (param.kind == "int" || (anyKind && value.is(Val::Kind::Int))) {
    if (!value.is(Val::Kind::Int))
      return wrong("an integer");
    if (std::abs(value.intValue) > kLargest)
      return wrong("an integer of at most 2^30");
  } else if (param.kind == "bool" || (anyKind && value.is(Val::Kind::Bool))) {
    if (!value.is(Val::Kind::Bool))
      return wrong("true or false");
  } else if (param.kind == "float" || (anyKind && value.isNumber())) {
    if (!value.isNumber())
      return wrong("a number");
    return Val::ofFloat(value.number());
  } else {
    return wrong("a compile-time value");
  }
  return value;
}

void Elaborator::collectFunctions() {
  for (const OpDecl *op : chain) {
    std::set<StringRef> own;
    for (const FnDecl &fn : op->fns) {
      if (!own.insert(fn.name).second) {
        diags.error(fn.loc, "function '" + fn.name + "' is defined twice");
        continue;
      }
      auto &definitions = functions[fn.name];
      if (!definitions.empty() && definitions.back()->isView != fn.isView) {
        diags.error(definitions.back()->loc, "expects a " + fn.word() +
                                                 ", as what it overrides is, "
                                                 "but got a " +
                                                 definitions.back()->word());
        diags.note(fn.loc, "the " + fn.word() + " that it overrides");
      }
      if (!definitions.empty() &&
          definitions.back()->params.size() != fn.params.size()) {
        diags.error(definitions.back()->loc,
                    "expects " + Twine(fn.params.size()) + " parameters of '" +
                        fn.name + "', but got " +
                        Twine(definitions.back()->params.size()));
        diags.note(fn.loc, "the function that it overrides");
      }
      definitions.push_back(&fn);
    }
  }
  // A hook of a variant that overrides nothing is a misspelling.
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    for (const FnDecl &fn : chain[i]->fns) {
      if (!fn.isHook || functions[fn.name].back() != &fn)
        continue;
      SmallVector<StringRef> names;
      std::string hooks;
      for (const FnDecl &baseFn : chain.back()->fns) {
        names.push_back(baseFn.name);
        if (baseFn.isHook && baseFn.isView == fn.isView)
          hooks += (hooks.empty() ? "'" : ", '") + baseFn.name.str() + "'";
      }
      std::string hint = didYouMean(fn.name, names);
      if (hint.empty() && !hooks.empty())
        hint = "it has " + hooks +
               (fn.isView ? ""
                          : "; a function of its own, which nobody else calls, "
                            "begins with 'fn'");
      diags.error(fn.loc,
                  "op '" + chain[i + 1]->name + "' has no " + fn.word() + " '" +
                      fn.name + "' to override",
                  !hint.empty() || fn.isView
                      ? hint
                      : "write 'fn' before a function of its own");
    }
  }
  std::map<StringRef, SMLoc> atFile;
  for (const FnDecl &fn : file.fns) {
    auto [first, isNew] = atFile.try_emplace(fn.name, fn.loc);
    if (!isNew) {
      diags.error(fn.loc, "function '" + fn.name + "' is defined twice");
      diags.note(first->second, "the first one is here");
    }
    if (auto &definitions = functions[fn.name]; definitions.empty())
      definitions.push_back(&fn);
  }
}

} // namespace selvedge::frontend
