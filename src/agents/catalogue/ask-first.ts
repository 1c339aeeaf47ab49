/**
 * Rules of OpenCode and its descendants by which they ask before everything. Without them they run commands and write
 * files without asking (seen with opencode 1.18.33 and kilo 7.7.7). A user's rule for one of these names is replaced,
 * so each is named.
 */
export const askFirst = JSON.stringify({
  '*': 'ask',
  read: 'ask',
  edit: 'ask',
  glob: 'ask',
  grep: 'ask',
  list: 'ask',
  bash: 'ask',
  task: 'ask',
  skill: 'ask',
  lsp: 'ask',
  webfetch: 'ask',
  websearch: 'ask',
  codesearch: 'ask',
  external_directory: 'ask',
});
