import type {
  CacheMark,
  FilePart,
  ImagePart,
  Message,
  Part,
  Source,
  TextPart,
  ToolResultPart,
} from '../conversation.ts';
import { type JsonObject, listOf, objectOf, parseObject } from '../values.ts';

type Turn = { role: Message['role']; content: JsonObject[] };

/**
 * Messages as the vendor wants them: neighbours of one role are one turn, results stand first in it and answer the
 * turn before, and the first turn is the user's (M-02, M-09, M-11).
 */
export function messageList(messages: readonly Message[]): JsonObject[] {
  const turns: Turn[] = [];
  for (const { parts, role } of messages) {
    const content = parts.flatMap(blockOf);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', content: [{ type: 'text', text: 'Go on.' }] });
  return paired(turns).map((turn) => ({ ...turn }));
}

/** Puts a result behind every call, and makes words of a result that answers none. */
function paired(turns: readonly Turn[]): Turn[] {
  const result: Turn[] = [];
  let open: string[] = [];
  for (const turn of turns) {
    if (turn.role === 'user') {
      result.push({ role: 'user', content: answering(turn.content, open) });
      open = [];
      continue;
    }
    if (open.length > 0 && turn.role === 'assistant')
      result.push({ role: 'user', content: answering([], open) });
    if (turn.role === 'assistant') open = callsIn(turn.content);
    result.push(turn);
  }
  return result;
}

function callsIn(content: readonly JsonObject[]): string[] {
  return content.flatMap((block) => (block['type'] === 'tool_use' ? [String(block['id'])] : []));
}

function answering(content: readonly JsonObject[], open: readonly string[]): JsonObject[] {
  const results = content.filter((block) => block['type'] === 'tool_result');
  const answered = new Set<unknown>();
  const kept = results.filter((block) => {
    const id = block['tool_use_id'];
    const fits = open.includes(String(id)) && !answered.has(id);
    if (fits) answered.add(id);
    return fits;
  });
  const missing = open
    .filter((id) => !answered.has(id))
    .map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'No result was given.', is_error: true }));
  const stray = results.filter((block) => !kept.includes(block)).flatMap(wordsOfResult);
  return [...kept, ...missing, ...stray, ...content.filter((block) => block['type'] !== 'tool_result')];
}

function wordsOfResult(block: JsonObject): JsonObject[] {
  const content = block['content'];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOf(content).map(objectOf);
}

function blockOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [textBlock(part)];
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'image':
      return [imageBlock(part)];
    case 'file':
      return [documentBlock(part)];
    case 'tool-call':
      return [
        { type: 'tool_use', id: part.id, name: part.name, input: inputOf(part.input), ...cacheOf(part) },
      ];
    case 'tool-result':
      return [resultBlock(part)];
    case 'reasoning':
      return thinkingBlock(part);
    case 'native':
      return part.format === 'anthropic-messages' ? [part.value] : [];
    case 'audio':
      return [];
  }
}

export function textBlock({ cache, text }: TextPart): JsonObject {
  return { type: 'text', text, ...cacheOf({ cache }) };
}

export function cacheOf({ cache }: { cache?: CacheMark | undefined }): JsonObject {
  if (cache === undefined) return {};
  const ttl = cache.ttl === null ? {} : { ttl: cache.ttl > 300 ? '1h' : '5m' };
  return { cache_control: { type: 'ephemeral', ...ttl } };
}

/** The vendor takes back only what it signed itself; a signature is never made up. */
function thinkingBlock({ sealed, text }: Extract<Part, { type: 'reasoning' }>): JsonObject[] {
  if (sealed?.format !== 'anthropic-messages') return [];
  return sealed.kind === 'redacted'
    ? [{ type: 'redacted_thinking', data: sealed.value }]
    : [{ type: 'thinking', thinking: text, signature: sealed.value }];
}

/** Arguments as an object. What is none is kept as text, for the model to see what it wrote (M-08). */
function inputOf(text: string): JsonObject {
  if (text.trim() === '') return {};
  return parseObject(text) ?? { raw_arguments: text };
}

function resultBlock(part: ToolResultPart): JsonObject {
  const [first] = part.parts;
  const plain = part.parts.length === 1 && first?.type === 'text' && first.cache === undefined;
  return {
    type: 'tool_result',
    tool_use_id: part.callId,
    content: plain ? first.text : part.parts.flatMap(blockOf),
    ...(part.isError ? { is_error: true } : {}),
    ...cacheOf(part),
  };
}

function imageBlock(part: ImagePart): JsonObject {
  return { type: 'image', source: sourceOf(part.source), ...cacheOf(part) };
}

function documentBlock({ cache, citations, name, source }: FilePart): JsonObject {
  return {
    type: 'document',
    source: source.kind === 'text' ? plainText(source.text) : documentSource(source),
    ...(name === undefined ? {} : { title: name }),
    ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    ...cacheOf({ cache }),
  };
}

/** Text that came as bytes goes as text; of bytes the vendor takes PDF alone. */
function documentSource(source: Source): JsonObject {
  if (source.kind !== 'data' || !source.mediaType.startsWith('text/')) return sourceOf(source);
  return plainText(Buffer.from(source.base64, 'base64').toString('utf8'));
}

function plainText(data: string): JsonObject {
  return { type: 'text', media_type: 'text/plain', data };
}

function sourceOf(source: Source): JsonObject {
  switch (source.kind) {
    case 'data':
      return { type: 'base64', media_type: source.mediaType, data: source.base64 };
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.id };
  }
}
