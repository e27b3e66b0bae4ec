// Starts `kashi lsp` for HLO texts.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const command = workspace.getConfiguration('kashi').get('path');
  client = new LanguageClient('kashi', 'Kashi', { command, args: ['lsp'] }, { documentSelector: [{ language: 'hlo' }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
