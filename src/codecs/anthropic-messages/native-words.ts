import { textOf } from '../json/values.ts';
import type { MessageBlock } from './wire.ts';

/** The text for a block that only this vendor has; null if text cannot express it. */
export function wordsOf(type: string, block: MessageBlock): string | null {
  switch (type) {
    case 'document':
    case 'container_upload':
      return null;
    case 'compaction':
      return typeof block.content === 'string' ? block.content : null;
    case 'tool_reference':
      return `[tool] ${textOf(block.tool_name)}`;
    default:
      return `[${type}] ${JSON.stringify(block, readable)}`;
  }
}

/** Fields that only the vendor can read, or that are not content. */
const unreadable: ReadonlySet<string> = new Set(['type', 'id', 'tool_use_id', 'cache_control', 'caller']);

function readable(key: string, value: unknown): unknown {
  return unreadable.has(key) || key.startsWith('encrypted_') ? undefined : value;
}
