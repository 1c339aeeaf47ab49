import { base64OfText } from '../../../lib/bytes.ts';
import { ERROR_MARK } from '../../adapt/result-mark.ts';
import { embedEncryptedReasoning } from '../../encrypted-reasoning/embed.ts';
import { urlOfSource } from '../../files/data-url.ts';
import type { JsonObject } from '../../json/values.ts';
import type {
  FilePart,
  ImagePart,
  Message,
  Part,
  ReasoningPart,
  TextPart,
  ToolResultPart,
} from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import { itemOfSearch } from '../search.ts';

export function systemItem(parts: readonly TextPart[], { systemRole }: Dialect): JsonObject {
  return {
    type: 'message',
    role: systemRole,
    content: parts.map(({ text }) => ({ type: 'input_text', text })),
  };
}

/** A message as items: its text, and every reasoning, call and result as a separate item, in order. */
export function items({ parts, role }: Message, dialect: Dialect): JsonObject[] {
  if (role === 'system')
    return [
      systemItem(
        parts.filter((part) => part.type === 'text'),
        dialect,
      ),
    ];
  const result: JsonObject[] = [];
  let contentParts: JsonObject[] = [];
  const flush = () => {
    if (contentParts.length > 0) result.push({ type: 'message', role, content: contentParts });
    contentParts = [];
  };
  for (const part of parts) {
    const item = itemOf(part);
    if (item !== null) {
      flush();
      result.push(item);
      continue;
    }
    const content = contentOf(part, role);
    if (content !== null) contentParts.push(content);
  }
  flush();
  if (role === 'user' && parts.length === 0)
    result.push({ type: 'message', role, content: [{ type: 'input_text', text: '' }] });
  return result;
}

function itemOf(part: Part): JsonObject | null {
  switch (part.type) {
    case 'reasoning':
      return reasoningItem(part);
    case 'tool-call':
      return {
        type: part.kind === 'custom' ? 'custom_tool_call' : 'function_call',
        call_id: part.id,
        ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
        name: part.name,
        ...(part.kind === 'custom'
          ? { input: part.input }
          : { arguments: part.input === '' ? '{}' : part.input }),
      };
    case 'tool-result':
      return {
        type: part.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
        call_id: part.callId,
        output: outputOf(part),
      };
    case 'search':
      return itemOfSearch(part);
    case 'native':
      return part.format === 'openai-responses' ? part.value : null;
    default:
      return null;
  }
}

/** Readable reasoning alone means nothing to the vendor: only what it encrypted itself can be given back. */
function reasoningItem({ encrypted, summary, text }: ReasoningPart): JsonObject | null {
  if (encrypted === null) return null;
  const own = encrypted.format === 'openai-responses';
  return {
    type: 'reasoning',
    ...(own && encrypted.id !== undefined ? { id: encrypted.id } : {}),
    summary: text !== '' && (summary || own) ? [{ type: 'summary_text', text }] : [],
    encrypted_content: own ? encrypted.value : embedEncryptedReasoning(encrypted),
  };
}

/** A result of one text is a string; an error is marked in the text, because the format has no field for it. */
function outputOf({ isError, parts }: ToolResultPart): string | JsonObject[] {
  const [first] = parts;
  const prefix = isError ? ERROR_MARK : '';
  if (first === undefined) return prefix;
  if (parts.length === 1 && first.type === 'text') return `${prefix}${first.text}`;
  const content = parts.map((part) => contentOf(part, 'user')).filter((part) => part !== null);
  return isError ? [{ type: 'input_text', text: prefix }, ...content] : content;
}

function contentOf(part: Part, role: 'user' | 'assistant'): JsonObject | null {
  switch (part.type) {
    case 'text':
      return role === 'assistant'
        ? { type: 'output_text', text: part.text, annotations: [] }
        : { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.text };
    case 'image':
      return imageOf(part);
    case 'file':
      return fileOf(part);
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.base64, format: part.format } };
    default:
      return null;
  }
}

function imageOf({ detail, source }: ImagePart): JsonObject {
  const url = urlOfSource(source);
  return {
    type: 'input_image',
    ...(url === null ? { file_id: source.kind === 'file' ? source.id : '' } : { image_url: url }),
    detail: detail ?? 'auto',
  };
}

function fileOf({ name, source }: FilePart): JsonObject {
  const filename = name === undefined ? {} : { filename: name };
  switch (source.kind) {
    case 'text': {
      const base64 = base64OfText(source.text);
      return {
        type: 'input_file',
        filename: name ?? 'document.txt',
        file_data: `data:text/plain;base64,${base64}`,
      };
    }
    case 'file':
      return { type: 'input_file', file_id: source.id };
    case 'url':
      return { type: 'input_file', ...filename, file_url: source.url };
    case 'data': {
      const file_data = `data:${source.mediaType};base64,${source.base64}`;
      return { type: 'input_file', filename: name ?? 'document.pdf', file_data };
    }
  }
}
