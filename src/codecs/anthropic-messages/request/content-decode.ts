import { setOff } from '../../adapt/joined-texts.ts';
import {
  embeddedReasoning,
  extractEncryptedReasoning,
  extractWithThought,
} from '../../encrypted-reasoning/embed.ts';
import { isObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type {
  CacheMark,
  EncryptedReasoning,
  ImagePart,
  Message,
  NativePart,
  Part,
  ReasoningPart,
  Source,
  ToolResultPart,
} from '../../model/conversation.ts';
import { wordsOf } from '../native-words.ts';
import { withSearches } from '../search.ts';
import type { BlockSource, CacheControl, CitationsOption, MessageBlock, MessageParam } from '../wire.ts';

/** The `messages` of a request. A `system` message may stand among them. */
export function readMessages(messages: readonly unknown[]): Message[] {
  return messages.map((message, index) => {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw wrong(path, 'an object');
    const { content, role }: MessageParam = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw wrong(`${path}.role`, '"user", "assistant" or "system"');
    const parts = readContent(content, `${path}.content`);
    return { role, parts: role === 'assistant' ? withSearches(parts) : parts };
  });
}

/** A text, or a list of blocks. Empty texts are nothing. */
export function readContent(content: unknown, path: string): Part[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw wrong(path, 'a string or a list of blocks');
  return content.flatMap((block, index) => readBlock(block, `${path}[${index}]`));
}

function readBlock(value: unknown, path: string): Part | Part[] {
  if (typeof value === 'string') return { type: 'text', text: value };
  if (!isObject(value)) throw wrong(path, 'an object');
  const block: MessageBlock = value;
  const type = textAt(block, 'type', `${path}.type`);
  switch (type) {
    case null:
      throw wrong(`${path}.type`, 'a string');
    case 'text':
      return { type, text: textAt(block, 'text', `${path}.text`) ?? '', ...cacheOf(block) };
    case 'image':
      return imageBlock(block, path);
    case 'document':
      return documentBlock(block, path);
    case 'tool_use':
      return callBlock(block, path);
    case 'tool_result':
      return resultBlock(block, path);
    case 'thinking':
      return thinkingPart(block, path);
    case 'redacted_thinking':
      return {
        type: 'reasoning',
        text: '',
        summary: false,
        encrypted: encryptedReasoningOf(textOf(block.data), 'redacted'),
      };
    default:
      return nativeBlock(type, block);
  }
}

function thinkingPart(block: MessageBlock, path: string): ReasoningPart {
  const text = textAt(block, 'thinking', `${path}.thinking`) ?? '';
  const signature = textOf(block.signature);
  const carried = extractWithThought(signature);
  const encrypted =
    carried === null ? encryptedReasoningOf(signature, 'signature') : embeddedReasoning(carried.encrypted);
  return {
    type: 'reasoning',
    text: text === '' ? (carried?.thought ?? '') : text,
    summary: false,
    encrypted,
  };
}

function nativeBlock(name: string, value: MessageBlock): NativePart {
  return { type: 'native', format: 'anthropic-messages', name, value, text: wordsOf(name, value) };
}

/** The encrypted reasoning that stands in a block: its maker's, perhaps another format's that was carried here. */
function encryptedReasoningOf(value: string, kind: 'signature' | 'redacted'): EncryptedReasoning | null {
  if (value === '') return null;
  return extractEncryptedReasoning(value) ?? { format: 'anthropic-messages', kind, value };
}

export function cacheOf(block: MessageBlock): { cache?: CacheMark } {
  const control = block.cache_control;
  if (!isObject(control)) return {};
  const { ttl }: CacheControl = control;
  return { cache: { ttl: ttl === '1h' ? 3600 : ttl === '5m' ? 300 : null } };
}

function imageBlock(block: MessageBlock, path: string): ImagePart {
  const source = readSource(objectAt(block, 'source', `${path}.source`), path);
  if (source.kind === 'text') throw wrong(`${path}.source.type`, '"base64", "url" or "file"');
  return { type: 'image', source, ...cacheOf(block) };
}

/** A document. Its title and context become a text before it; other formats have no documents with images. */
function documentBlock(block: MessageBlock, path: string): Part[] {
  const sourceObject: BlockSource | null = objectAt(block, 'source', `${path}.source`);
  if (sourceObject?.type === 'content' && !isAllText(sourceObject.content))
    return [nativeBlock('document', block)];
  const source = readSource(sourceObject, path);
  const name = textAt(block, 'title', `${path}.title`);
  const context = textAt(block, 'context', `${path}.context`);
  const citations = objectOf<CitationsOption>(block.citations).enabled;
  return [
    ...(context === null ? [] : [{ type: 'text' as const, text: context }]),
    {
      type: 'file',
      source,
      ...(name === null ? {} : { name }),
      ...(typeof citations === 'boolean' ? { citations } : {}),
      ...cacheOf(block),
    },
  ];
}

/** The content of a document that consists of texts and images. */
function partsOfDocument(block: MessageBlock, path: string): Part[] {
  const source = objectOf<BlockSource>(block.source);
  const captions = [block.title, block.context].map(textOf).filter((text) => text !== '');
  return [
    ...captions.map((text) => ({ type: 'text' as const, text: `${text}\n\n` })),
    ...readContent(source.content, `${path}.content.source.content`),
  ];
}

function isAllText(content: unknown): boolean {
  return (
    typeof content === 'string' ||
    listOf(content).every((block) => objectOf<MessageBlock>(block).type === 'text')
  );
}

function readSource(source: BlockSource | null, path: string): Source | { kind: 'text'; text: string } {
  const sourceField = (name: keyof BlockSource) =>
    textAt(objectOf<BlockSource>(source), name, `${path}.source.${name}`) ?? '';
  switch (source?.type) {
    case 'base64':
      return { kind: 'data', mediaType: sourceField('media_type'), base64: sourceField('data') };
    case 'url':
      return { kind: 'url', url: sourceField('url') };
    case 'file':
      return { kind: 'file', id: sourceField('file_id'), format: 'anthropic-messages' };
    case 'text':
      return { kind: 'text', text: sourceField('data') };
    case 'content':
      return { kind: 'text', text: textsIn(source.content) };
    default:
      throw wrong(`${path}.source.type`, '"base64", "url", "file", "text" or "content"');
  }
}

function textsIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => textOf(objectOf<MessageBlock>(block).text))
    .join('\n');
}

function callBlock(block: MessageBlock, path: string): Part {
  const name = textAt(block, 'name', `${path}.name`);
  const id = textAt(block, 'id', `${path}.id`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  if (id === null) throw wrong(`${path}.id`, 'a string');
  const input = block.input;
  return {
    type: 'tool-call',
    id,
    name,
    kind: 'function',
    input:
      input === undefined || input === null ? '' : typeof input === 'string' ? input : JSON.stringify(input),
    ...cacheOf(block),
  };
}

/** What a result shows, with text in place of what only this format has. */
function withNativeText(content: readonly Part[], path: string): readonly Part[] {
  if (!content.some(({ type }) => type === 'native')) return content;
  const worded = new Set<Part>();
  const parts = content.flatMap((part): Part[] => {
    if (part.type !== 'native') return [part];
    if (part.name === 'document') return partsOfDocument(part.value, path);
    const words: Part = { type: 'text', text: part.text ?? `[${part.name}]` };
    worded.add(words);
    return [words];
  });
  return setOff(parts, (part) => worded.has(part));
}

function resultBlock(block: MessageBlock, path: string): ToolResultPart {
  const callId = textAt(block, 'tool_use_id', `${path}.tool_use_id`);
  if (callId === null) throw wrong(`${path}.tool_use_id`, 'a string');
  const parts = withNativeText(readContent(block.content, `${path}.content`), path);
  return {
    type: 'tool-result',
    callId,
    kind: 'function',
    parts: parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file'),
    isError: block.is_error === true,
    ...cacheOf(block),
  };
}
