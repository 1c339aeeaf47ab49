import type { HistoryCodec, Stripping } from '../../history/history.ts';
import { elementsOf, rewriteElements, rewriteField } from '../../json/fields.ts';
import { listOf, objectOf, parseObject, textOf } from '../../json/values.ts';
import { searchText } from '../search.ts';
import type { MessageBlock, MessageParam } from '../wire.ts';
import { thinkingAfter } from './thinking.ts';

export const history: HistoryCodec = {
  carried: { names: ['signature'], begins: ['mg1.', 'bWcxL'], strip: withoutThinking },
  refusals: [
    {
      refused: /signature|thinking.{0,20} block|redacted_thinking|block_binding/i,
      name: 'reasoning',
      strip: withoutThinking,
    },
    { refused: /encrypted_(content|index)/i, name: 'web_search_tool_result', strip: withoutFoundPages },
  ],
  // A thought without a signature is another vendor's where the vendor signs all of them.
  signsThoughts: ({ signedThinking }) => signedThinking,
};

/**
 * The request without thoughts that its vendor did not make, or refuses. If the current turn then has no thoughts before
 * its calls, thinking is configured in a way that the vendor accepts there.
 */
function withoutThinking(request: Buffer, { model, strips }: Stripping): Buffer {
  let messages: Buffer | null = null;
  const stripped = rewriteField(request, 'messages', (list) => {
    messages = rewriteElements(list, (message) => withoutThoughts(message, strips));
    return messages;
  });
  if (stripped === request || messages === null) return request;
  const last = lastAnswer(messages);
  return rewriteField(stripped, 'thinking', (value) => {
    const thinking = parseObject(value.toString('utf8'));
    const after = thinking === null ? null : thinkingAfter(model, thinking, last);
    return after === thinking ? value : Buffer.from(JSON.stringify(after));
  });
}

const THINKING = 'thinking';

function withoutThoughts(message: Buffer, strips: Stripping['strips']): Buffer | null {
  if (!message.includes(THINKING)) return message;
  let remaining = 0;
  const stripped = rewriteField(message, 'content', (content) =>
    rewriteElements(content, (block) => {
      const isStripped = isStrippedBlock(block, strips);
      if (!isStripped) remaining += 1;
      return isStripped ? null : block;
    }),
  );
  return stripped !== message && remaining === 0 ? null : stripped;
}

function isStrippedBlock(block: Buffer, strips: Stripping['strips']): boolean {
  if (!block.includes(THINKING)) return false;
  const { data, signature, type }: MessageBlock = parseObject(block.toString('utf8')) ?? {};
  if (type === 'thinking') return strips(textOf(signature));
  return type === 'redacted_thinking' && strips(textOf(data));
}

/** The blocks of the last message of the assistant. */
function lastAnswer(messages: Buffer): MessageBlock[] {
  let last: MessageParam = {};
  for (const { end, start } of elementsOf(messages)) {
    const message = messages.subarray(start, end);
    const parsed: MessageParam | null = message.includes('"assistant"')
      ? parseObject(message.toString('utf8'))
      : null;
    if (parsed?.role === 'assistant') last = parsed;
  }
  return listOf(last.content).map(objectOf);
}

/** The request with searches as text, and without citations: the pages that were found are encrypted for one vendor. */
function withoutFoundPages(request: Buffer): Buffer {
  return rewriteField(request, 'messages', (list) =>
    rewriteElements(list, (message) => rewriteField(message, 'content', withoutPages)),
  );
}

function withoutPages(content: Buffer): Buffer {
  return rewriteElements(content, (block) => {
    const parsed: MessageBlock | null = parseObject(block.toString('utf8'));
    if (parsed === null) return block;
    const text = searchText(parsed);
    if (text !== null) return Buffer.from(JSON.stringify({ type: 'text', text }));
    if (parsed.type !== 'text' || !Array.isArray(parsed.citations)) return block;
    return rewriteField(block, 'citations', () => null);
  });
}
