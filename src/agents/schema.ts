/** What a coding agent asks to be allowed, in the words of the Agent Client Protocol (`ToolKind`). */
export const toolKinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const;
export type ToolKind = (typeof toolKinds)[number];
