" SPDX-License-Identifier: MIT
setlocal commentstring=//\ %s comments=:// shiftwidth=2 expandtab
let &l:formatprg = "selvedge fmt -"
if executable("selvedge-lsp") && has("nvim-0.8")
  lua vim.lsp.start({ name = "selvedge", cmd = { "selvedge-lsp" } })
endif
if has("nvim-0.9")
  " Colours by tree-sitter, if its parser for .tile files is installed.
  lua pcall(vim.treesitter.start, 0, "tile")
endif
