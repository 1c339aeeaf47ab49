/** The tools with a command of their own, `gateway setup-ID`, by their names. */
export const setupTools: readonly { id: string; name: string }[] = [
  { id: 'claude', name: 'Claude Code' },
  { id: 'codex', name: 'Codex' },
  { id: 'opencode', name: 'OpenCode' },
  { id: 'cline', name: 'Cline' },
  { id: 'kilo', name: 'Kilo Code' },
  { id: 'continue', name: 'Continue' },
  { id: 'cursor', name: 'Cursor' },
  { id: 'roo', name: 'Roo Code' },
  { id: 'crush', name: 'Crush' },
  { id: 'goose', name: 'Goose' },
  { id: 'qwen', name: 'Qwen Code' },
  { id: 'aider', name: 'Aider' },
];
