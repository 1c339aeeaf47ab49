import type { Conversation, Part } from './conversation.ts';

/**
 * What the turns of a conversation have beside texts, found in one walk: most steps of a translation look for
 * something that most conversations do not have.
 */
export interface Content {
  /** Calls of tools, and their results. */
  calls: boolean;
  /** Images, documents, sound. */
  media: boolean;
  /** Marks of what to keep in the prompt cache, also those of instructions and tools. */
  marks: boolean;
  /** Names of those who speak. */
  names: boolean;
  /** Parts that may be for one vendor alone: its own kinds, searches, encrypted reasoning. */
  owned: boolean;
}

export function contentOf({ messages, system, tools }: Conversation): Content {
  const content: Content = { calls: false, media: false, marks: false, names: false, owned: false };
  for (const { name, parts } of messages) {
    if (name !== undefined) content.names = true;
    for (const part of parts) {
      notePart(content, part);
      if (part.type === 'tool-result') for (const inner of part.parts) notePart(content, inner);
    }
  }
  for (const part of system) notePart(content, part);
  for (const tool of tools) if ('cache' in tool && tool.cache !== undefined) content.marks = true;
  return content;
}

function notePart(content: Content, part: Part): void {
  switch (part.type) {
    case 'image':
    case 'file':
    case 'audio':
      content.media = true;
      break;
    case 'tool-call':
    case 'tool-result':
      content.calls = true;
      break;
    case 'native':
    case 'search':
      content.owned = true;
      break;
    case 'reasoning':
      if (part.encrypted !== null) content.owned = true;
  }
  if ('cache' in part && part.cache !== undefined) content.marks = true;
}
