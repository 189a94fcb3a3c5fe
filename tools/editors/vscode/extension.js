// Starts the language server for .tile files.
// SPDX-License-Identifier: MIT
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("selvedge").get("server");
  client = new LanguageClient("selvedge", "Selvedge", { command }, { documentSelector: [{ language: "tile" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
