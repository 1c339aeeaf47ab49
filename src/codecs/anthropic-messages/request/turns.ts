import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { Message } from '../../model/conversation.ts';
import type { MessageBlock, MessageParam, MessagesRequest } from '../wire.ts';
import { blocksOf, textBlock } from './content-encode.ts';

interface Turn {
  role: 'user' | 'assistant';
  content: MessageBlock[];
}

/** A call that waits for its result. The id on the wire differs when an earlier call already had it. */
interface OpenCall {
  id: unknown;
  wireId: string;
  answered: boolean;
}

/** The text of a user turn that the vendor requires and the client did not send. */
const OPENING: MessageBlock = { type: 'text', text: 'Go on.' };

/** Whether the messages of an encoded request hold a turn that the client did not write. */
export function addsTurn({ messages }: MessagesRequest): boolean {
  return listOf(messages).some((message) =>
    listOf(objectOf<MessageParam>(message).content).includes(OPENING),
  );
}

/**
 * Messages as the vendor requires them: neighbours of one role are one turn, results stand first in it and answer the
 * turn before, ids of calls are used once, and the first turn is the user's.
 */
export function messageList(messages: readonly Message[]): JsonObject[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const content = message.role === 'system' ? remindersOf(message) : blocksOf(message.parts);
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    // An empty turn of the user is kept: without it the vendor would continue its own turn.
    if (content.length === 0 && !(message.role === 'user' && isTextual(message))) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [OPENING] });
  return trimmed(paired(turns)).map((turn) => ({ ...turn }));
}

const isTextual = ({ parts }: Message): boolean => parts.every(({ type }) => type === 'text');

/**
 * Instructions in the middle of a conversation, as text of the user's turn. The vendor has a role for them, which its
 * models before Claude Opus 4.8, and Sonnet 5, refuse ("What's new in Claude Opus 4.8").
 */
function remindersOf({ parts }: Message): MessageBlock[] {
  return parts
    .filter((part) => part.type === 'text' && part.text.trim() !== '')
    .map((part) =>
      part.type === 'text'
        ? textBlock({ ...part, text: `<system-reminder>\n${part.text}\n</system-reminder>` })
        : {},
    );
}

/** Puts a result after every call, and turns a result without a call into text. */
function paired(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = [];
  const used: UsedIds = { ids: new Set(), suffixes: new Map() };
  let open: OpenCall[] = [];
  for (const { content, role } of turns) {
    if (role === 'user') {
      result.push({ role, content: answering(content, open) });
      open = [];
      continue;
    }
    const calls: OpenCall[] = [];
    result.push({ role, content: content.map((block) => calledOnce(block, used, calls)) });
    open = calls;
  }
  if (open.length > 0) result.push({ role: 'user', content: answering([], open) });
  return result;
}

interface UsedIds {
  ids: Set<string>;
  /** The number to try next for an id that is taken: trying all of them anew would take its time with many calls. */
  suffixes: Map<string, number>;
}

function calledOnce(block: MessageBlock, { ids, suffixes }: UsedIds, calls: OpenCall[]): MessageBlock {
  if (block.type !== 'tool_use') return block;
  const id = String(block.id);
  let wireId = id;
  for (let suffix = suffixes.get(id) ?? 2; ids.has(wireId); suffix += 1) {
    wireId = `${id}_${suffix}`;
    suffixes.set(id, suffix + 1);
  }
  ids.add(wireId);
  calls.push({ id: block.id, wireId, answered: false });
  return wireId === id ? block : { ...block, id: wireId };
}

function answering(content: readonly MessageBlock[], open: readonly OpenCall[]): MessageBlock[] {
  const results: MessageBlock[] = [];
  const words: MessageBlock[] = [];
  // Last first, so that the first one to wait is at hand.
  const waiting = Map.groupBy(open.toReversed(), ({ id }) => id);
  for (const block of content) {
    if (block.type !== 'tool_result') {
      words.push(block);
      continue;
    }
    const call = waiting.get(block.tool_use_id)?.pop();
    if (call === undefined) {
      words.push(...resultText(block.content));
      continue;
    }
    call.answered = true;
    results.push({ ...block, tool_use_id: call.wireId });
  }
  const missing = open
    .filter(({ answered }) => !answered)
    .map(({ wireId }) => ({
      type: 'tool_result',
      tool_use_id: wireId,
      content: 'No result was given.',
      is_error: true,
    }));
  const all = [...results, ...missing, ...words];
  return all.length === 0 ? [OPENING] : all;
}

function resultText(content: unknown): MessageBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf);
}

/** The vendor refuses white space at the end of an answer that it is to continue. */
function trimmed(turns: Turn[]): Turn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (last?.role === 'assistant' && block?.type === 'text')
    last.content = [...last.content.slice(0, -1), { ...block, text: String(block.text).trimEnd() }];
  return turns;
}
