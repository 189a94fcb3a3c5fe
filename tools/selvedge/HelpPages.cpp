// The manual page and completion, from the tables of the parser.
// SPDX-License-Identifier: MIT
#include "compiler/Driver/Compiler.h"
#include "tools/selvedge/Help.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace selvedge::cli {

/// What roff would take for a command or an escape.
static std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '-')
      out += '\\';
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += "\\&";
    out += c;
  }
  return out;
}

static constexpr std::pair<const char *, const char *> statuses[] = {
    {"0", "done, and everything that was printed has been written"},
    {"1", "the kernel failed, a comparison failed, or the compiler has a "
          "defect"},
    {"2", "bad input, or something that this machine lacks"},
};

static constexpr std::pair<const char *, const char *> variables[] = {
    {"SELVEDGE_PTXAS", "path of ptxas, the only place that is looked at"},
    {"PATH, CUDA_HOME, VIRTUAL_ENV", "where ptxas is looked for otherwise"},
    {"SELVEDGE_TEMPLATES", "folder of templates before the shipped ones"},
    {"SELVEDGE_STRICT", "1: a verifier that refuses warp roles is an error"},
    {"XDG_CACHE_HOME, HOME", "where the cache is"},
    {"NO_COLOR, CLICOLOR_FORCE", "no colours, or colours everywhere"},
};

static void addOptions(const CLI::App &command, std::string &text) {
  for (const CLI::Option *option : command.get_options()) {
    std::string name = option->get_name(false, true);
    if (option->get_expected_min() > 0 && !option->get_positional())
      name += " VALUE";
    text += fmt::format(".TP\n.B {}\n{}\n", roff(name),
                        roff(option->get_description()));
  }
}

std::string manualPage(const CLI::App &app) {
  std::string text = fmt::format(
      ".TH SELVEDGE 1 \"\" \"selvedge {}\"\n.SH NAME\nselvedge \\- {}\n"
      ".SH SYNOPSIS\n.B selvedge\nCOMMAND [OPTION]...\n.SH COMMANDS\n",
      compilerVersion(), "attention kernels from a tile language");
  for (const CLI::App *command : app.get_subcommands({})) {
    text += fmt::format(".SS selvedge {}\n{}.\n", roff(command->get_name()),
                        roff(command->get_description()));
    addOptions(*command, text);
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command->get_footer()));
  }
  text += ".SH EXIT STATUS\n";
  for (auto [status, meaning] : statuses)
    text += fmt::format(".TP\n.B {}\n{}\n", status, roff(meaning));
  text += ".SH ENVIRONMENT\n";
  for (auto [name, meaning] : variables)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(meaning));
  return text;
}

nlohmann::ordered_json describeCommands(const CLI::App &app,
                                        std::string_view command) {
  using Json = nlohmann::ordered_json;
  Json commands = Json::array();
  for (const CLI::App *one : app.get_subcommands({})) {
    if (!command.empty() && one->get_name() != command)
      continue;
    Json options = Json::array();
    for (const CLI::Option *option : one->get_options()) {
      Json names = Json::array();
      for (const std::string &name : option->get_snames())
        names.push_back("-" + name);
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
      if (option->get_positional())
        names.push_back(option->get_name(true));
      options.push_back({{"names", names},
                         {"has_value", option->get_expected_min() > 0},
                         {"required", option->get_required()},
                         {"description", option->get_description()},
                         {"values", Json::array()}});
      for (const std::string &name : option->get_lnames())
        for (const std::string &value : valuesOf("--" + name))
          options.back()["values"].push_back(value);
    }
    commands.push_back({{"command", one->get_name()},
                        {"description", one->get_description()},
                        {"options", options},
                        {"examples", examplesOf(one->get_name())}});
  }
  return {{"version", 1}, {"commands", commands}};
}

static std::string joined(const std::vector<std::string> &words) {
  return fmt::format("{}", fmt::join(words, " "));
}

static std::string bashScript(const CLI::App &app) {
  std::string values, commands;
  for (const CLI::App *command : app.get_subcommands({})) {
    std::vector<std::string> names = optionNames(*command);
    commands += fmt::format("    {}) words='{}' ;;\n", command->get_name(),
                            joined(names));
    for (const std::string &name : names)
      if (!valuesOf(name).empty() && values.find(name + ")") == values.npos)
        values += fmt::format("    {}) words='{}' ;;\n", name,
                              joined(valuesOf(name)));
  }
  return fmt::format(R"(# bash completion of selvedge
_selvedge() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  case $before in
{}  esac
  if [ -z "$words" ] && [[ $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  if [ "${{COMP_WORDS[1]}}" = help ]; then words='{}'; fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _selvedge selvedge
)",
                     joined(commandNames(app)), values, commands,
                     joined(commandNames(app)));
}

/// A word and what it means, for zsh's _describe.
static std::string described(const std::string &word, std::string_view text) {
  std::string out = "'" + word + ":";
  for (char c : text)
    out += c == '\'' ? "'\\''" : c == ':' ? "\\:" : std::string(1, c);
  return out + "'";
}

static std::string zshScript(const CLI::App &app) {
  std::string commands, options;
  for (const CLI::App *command : app.get_subcommands({})) {
    commands += "    " +
                described(command->get_name(), command->get_description()) +
                "\n";
    options += fmt::format("    {}) options=(\n", command->get_name());
    for (const CLI::Option *option : command->get_options())
      for (const std::string &name : option->get_lnames())
        options +=
            "      " + described("--" + name, option->get_description()) + "\n";
    options += "    ) ;;\n";
  }
  return fmt::format(R"(#compdef selvedge
_selvedge() {{
  local -a commands options
  commands=(
{})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
{}  esac
  if [[ $PREFIX == -* ]]; then _describe option options; else _files; fi
}}
_selvedge "$@"
)",
                     commands, options);
}

std::string completionScript(const CLI::App &app, std::string_view shell) {
  if (shell == "bash")
    return bashScript(app);
  return shell == "zsh" ? zshScript(app) : "";
}

} // namespace selvedge::cli
