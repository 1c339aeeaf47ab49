import { textOfBase64 } from '../../../lib/bytes.ts';
import { argumentsOf } from '../../adapt/call-arguments.ts';
import { imageTypeOf } from '../../files/image-type.ts';
import { isTextFile } from '../../files/text-file.ts';
import type { JsonObject } from '../../json/values.ts';
import type {
  FilePart,
  ImagePart,
  Part,
  Source,
  TextPart,
  ToolResultPart,
} from '../../model/conversation.ts';
import { cacheControl } from '../../prompt-cache/cache-control.ts';
import type { MessageBlock } from '../wire.ts';

/** The blocks of a message. What the format cannot say, and empty text, which the vendor refuses, has none. */
export function blocksOf(parts: readonly Part[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const part of parts) blocks.push(...blockOf(part));
  return blocks;
}

function blockOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [textBlock(part)];
    case 'refusal':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'image':
      return [imageBlock(part)];
    case 'file':
      return [documentBlock(part)];
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: part.id,
          name: part.name,
          input: argumentsOf(part.input),
          ...cacheControl(part),
        },
      ];
    case 'tool-result':
      return [resultBlock(part)];
    case 'reasoning':
      return thinkingBlock(part);
    case 'native':
      return part.format === 'anthropic-messages' ? [part.value] : [];
    case 'search':
      return part.native.format === 'anthropic-messages' ? part.native.values : [];
    case 'audio':
      return [];
  }
}

export function textBlock({ cache, text }: TextPart): JsonObject {
  return { type: 'text', text, ...cacheControl({ cache }) };
}

/** The vendor takes back only what it signed itself; a signature is never made up. */
function thinkingBlock({ encrypted, text }: Extract<Part, { type: 'reasoning' }>): JsonObject[] {
  if (encrypted?.format !== 'anthropic-messages') return [];
  return encrypted.kind === 'redacted'
    ? [{ type: 'redacted_thinking', data: encrypted.value }]
    : [{ type: 'thinking', thinking: text, signature: encrypted.value }];
}

function resultBlock(part: ToolResultPart): JsonObject {
  const content: MessageBlock[] = blocksOf(part.parts);
  const [first] = content;
  // One plain text may stand as it is, which every server of this format takes.
  const plain = content.length === 1 && first?.type === 'text' && first.cache_control === undefined;
  return {
    type: 'tool_result',
    tool_use_id: part.callId,
    ...(content.length === 0 ? {} : { content: plain ? first.text : content }),
    ...(part.isError ? { is_error: true } : {}),
    ...cacheControl(part),
  };
}

function imageBlock(part: ImagePart): JsonObject {
  return { type: 'image', source: sourceOf(part.source), ...cacheControl(part) };
}

function documentBlock({ cache, citations, name, source }: FilePart): JsonObject {
  return {
    type: 'document',
    source: source.kind === 'text' ? plainText(source.text) : documentSource(source),
    ...(name === undefined ? {} : { title: name }),
    ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    ...cacheControl({ cache }),
  };
}

/** Text that came as bytes goes as text; of bytes the vendor takes PDF alone. */
function documentSource(source: Source): JsonObject {
  if (source.kind !== 'data' || !isTextFile({ source })) return sourceOf(source);
  return plainText(textOfBase64(source.base64));
}

function plainText(data: string): JsonObject {
  return { type: 'text', media_type: 'text/plain', data };
}

function sourceOf(source: Source): JsonObject {
  switch (source.kind) {
    case 'data':
      return {
        type: 'base64',
        media_type: imageTypeOf(source.base64) ?? source.mediaType,
        data: source.base64,
      };
    case 'url':
      return { type: 'url', url: source.url };
    case 'file':
      return { type: 'file', file_id: source.id };
  }
}
