" SPDX-License-Identifier: MIT
setlocal commentstring=//\ %s comments=:// shiftwidth=2 expandtab
let &l:formatprg = "selvedge fmt -"
if executable("selvedge-lsp") && has("nvim-0.8")
  lua vim.lsp.start({ name = "selvedge", cmd = { "selvedge-lsp" } })
endif
