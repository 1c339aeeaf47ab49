import { base64UrlOfText, textOfBase64 } from '../../../lib/bytes.ts';
import { textOf } from '../../json/values.ts';
import type { ResponsesItem } from '../wire.ts';

/** Begins what the gateway writes where the vendor puts an encrypted summary. */
export const SUMMARY_PREFIX = 'mgc1.';

/**
 * The item that stands for a summed-up conversation. Its content is opaque but not secret: clients send it back as it
 * is, and it can be written as text in any format.
 */
export function compactionItem(id: string, summary: string): ResponsesItem {
  const encrypted_content = SUMMARY_PREFIX + base64UrlOfText(summary);
  return { id, type: 'compaction', encrypted_content };
}

/** The summary in an item that `compactionItem` made; null for any other item. */
export function summaryIn(item: ResponsesItem): string | null {
  const content = textOf(item.encrypted_content);
  if (item.type !== 'compaction' || !content.startsWith(SUMMARY_PREFIX)) return null;
  return textOfBase64(content.slice(SUMMARY_PREFIX.length));
}

/** A summary as the message that a model is shown. */
export function summaryMessage(summary: string): ResponsesItem {
  const text = `Summary of the earlier conversation, which is no longer shown. Continue from here.\n\n${summary}`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
