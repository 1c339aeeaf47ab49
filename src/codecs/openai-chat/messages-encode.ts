import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  Part,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import type { JsonObject } from '../values.ts';

/** The conversation's messages as the format has them: instructions first, every result a message of its own. */
export function messageList({ messages, system }: Conversation, dialect: Dialect): JsonObject[] {
  const text = joined(system);
  return [
    ...(text === '' ? [] : [{ role: dialect.systemRole, content: text }]),
    ...messages.flatMap((message) => messageOf(message, dialect)),
  ];
}

/** Instructions are one text: many servers' templates take no list here. */
function joined(parts: readonly TextPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n\n');
}

function messageOf({ parts, role }: Message, dialect: Dialect): JsonObject[] {
  switch (role) {
    case 'system': {
      const content = joined(parts.filter((part) => part.type === 'text'));
      return content === '' ? [] : [{ role: dialect.systemRole, content }];
    }
    case 'user':
      return userMessages(parts);
    case 'assistant':
      return assistantMessage(parts, dialect);
  }
}

/** Results go first, next to the calls that they answer; what they show besides text follows as the user's (M-10). */
function userMessages(parts: readonly Part[]): JsonObject[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const shown = results.flatMap((result) => attachments(result));
  const said = [...shown, ...parts.flatMap(contentOf)];
  const only = said[0];
  const content = said.length === 1 && only?.['type'] === 'text' ? only['text'] : said;
  return [...results.map(resultMessage), ...(said.length === 0 ? [] : [{ role: 'user', content }])];
}

function resultMessage(result: ToolResultPart): JsonObject {
  const text = joined(result.parts.filter((part) => part.type === 'text'));
  const others = result.parts.length > 0 && text === '' ? '[see the attachment]' : text;
  // The format has no mark for a failed call, so its text says so (M-09).
  const content = result.isError ? `Error: ${others}` : others;
  return { role: 'tool', tool_call_id: result.callId, content };
}

function attachments({ callId, parts }: ToolResultPart): JsonObject[] {
  const shown = parts.filter((part) => part.type !== 'text').flatMap(contentOf);
  return shown.length === 0
    ? []
    : [{ type: 'text', text: `Attachment of the result of ${callId}:` }, ...shown];
}

function assistantMessage(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const text = parts
    .flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : []))
    .join('\n\n');
  const calls = parts.filter((part) => part.type === 'tool-call').map(callOf);
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('\n\n');
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('\n\n');
  if (text === '' && calls.length === 0 && refusal === '') return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(refusal === '' ? {} : { refusal }),
      ...(reasoning === '' || dialect.reasoningField === null ? {} : { [dialect.reasoningField]: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function callOf({ id, input, kind, name }: ToolCallPart): JsonObject {
  return kind === 'custom'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input === '' ? '{}' : input } };
}

function contentOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'image':
      return [imageOf(part)];
    case 'file':
      return [fileOf(part)];
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.base64, format: part.format } }];
    default:
      return [];
  }
}

function urlOf(source: Source): string {
  switch (source.kind) {
    case 'url':
      return source.url;
    case 'data':
      return `data:${source.mediaType};base64,${source.base64}`;
    case 'file':
      return '';
  }
}

function imageOf({ detail, source }: ImagePart): JsonObject {
  return {
    type: 'image_url',
    image_url: { url: urlOf(source), ...(detail === undefined ? {} : { detail }) },
  };
}

/** Plain text goes as text: few servers read files, all read text. */
function fileOf({ name, source }: FilePart): JsonObject {
  if (source.kind === 'text')
    return { type: 'text', text: name === undefined ? source.text : `${name}:\n\n${source.text}` };
  const file =
    source.kind === 'file'
      ? { file_id: source.id }
      : { filename: name ?? 'document.pdf', file_data: urlOf(source) };
  return { type: 'file', file };
}
