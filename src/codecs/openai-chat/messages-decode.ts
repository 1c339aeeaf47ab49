import type {
  FilePart,
  ImagePart,
  Message,
  Part,
  Source,
  TextPart,
  ToolResultPart,
} from '../conversation.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../values.ts';
import { objectAt, textAt, wrong } from '../wire-check.ts';

interface Read {
  system: TextPart[];
  messages: Message[];
}

/** The messages of a request; instructions before the first turn stand apart. */
export function readMessages(messages: readonly unknown[]): Read {
  const result: Read = { system: [], messages: [] };
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw wrong(`messages[${index}]`, 'an object');
    readMessage(result, message, `messages[${index}]`);
  }
  return result;
}

function readMessage({ messages, system }: Read, message: JsonObject, path: string): void {
  const content = () => readContent(message['content'], `${path}.content`);
  switch (message['role']) {
    case 'system':
    case 'developer': {
      const texts = content().filter((part) => part.type === 'text');
      if (messages.length === 0) system.push(...texts);
      else messages.push({ role: 'system', parts: texts });
      return;
    }
    case 'user':
      messages.push({ role: 'user', parts: content() });
      return;
    case 'assistant':
      messages.push({ role: 'assistant', parts: assistantParts(message, path) });
      return;
    case 'tool':
    case 'function':
      addResult(messages, resultOf(message, path));
      return;
    default:
      throw wrong(`${path}.role`, '"system", "developer", "user", "assistant" or "tool"');
  }
}

/** Results of one turn stand together. */
function addResult(messages: Message[], result: ToolResultPart): void {
  const last = messages.at(-1);
  if (last?.role === 'user' && last.parts.every(({ type }) => type === 'tool-result'))
    last.parts.push(result);
  else messages.push({ role: 'user', parts: [result] });
}

type ContentPart = Exclude<Part, { type: 'tool-call' | 'tool-result' | 'reasoning' | 'native' }>;

function readContent(content: unknown, path: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw wrong(path, 'a string or a list of parts');
  return content.map((part, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: unknown, path: string): ContentPart {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isObject(part)) throw wrong(path, 'an object');
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: textAt(part, 'text', `${path}.text`) ?? '', ...cacheOf(part) };
    case 'refusal':
      return { type: 'refusal', text: textAt(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'image_url':
      return imagePart(part, `${path}.image_url`);
    case 'file':
      return filePart(objectAt(part, 'file', `${path}.file`) ?? {}, `${path}.file`);
    case 'input_audio': {
      const audio = objectAt(part, 'input_audio', `${path}.input_audio`) ?? {};
      return { type: 'audio', format: textOf(audio['format']), base64: textOf(audio['data']) };
    }
    default:
      throw wrong(`${path}.type`, '"text", "image_url", "file", "input_audio" or "refusal"');
  }
}

/** Several gateways let chat clients mark what Anthropic's cache shall keep. */
function cacheOf(part: JsonObject): Pick<TextPart, 'cache'> {
  const control = part['cache_control'];
  return isObject(control) ? { cache: { ttl: control['ttl'] === '1h' ? 3600 : null } } : {};
}

function imagePart(part: JsonObject, path: string): ImagePart {
  const image = part['image_url'];
  const url = typeof image === 'string' ? image : textAt(objectOf(image), 'url', `${path}.url`);
  if (url === null) throw wrong(`${path}.url`, 'a string');
  const detail = textOf(objectOf(image)['detail']);
  return { type: 'image', source: sourceOfUrl(url), ...(detail === '' ? {} : { detail }) };
}

function filePart(file: JsonObject, path: string): FilePart {
  const name = textAt(file, 'filename', `${path}.filename`);
  const data = textAt(file, 'file_data', `${path}.file_data`);
  const id = textAt(file, 'file_id', `${path}.file_id`);
  if (data === null && id === null) throw wrong(path, 'an object with "file_data" or "file_id"');
  const source: Source =
    data === null ? { kind: 'file', id: id ?? '', format: 'openai-chat' } : sourceOfUrl(data);
  return { type: 'file', source, ...(name === null ? {} : { name }) };
}

/** A data URL (RFC 2397) as its bytes, any other as it is. */
function sourceOfUrl(url: string): Source {
  const data = /^data:([^;,]*)(?:;[^,]*)?;base64,/.exec(url);
  if (data === null) return { kind: 'url', url };
  return { kind: 'data', mediaType: data[1] ?? '', base64: url.slice(data[0].length) };
}

function assistantParts(message: JsonObject, path: string): Part[] {
  const parts: Part[] = [];
  const reasoning = textOf(message['reasoning_content']) || textOf(message['reasoning']);
  if (reasoning !== '') parts.push({ type: 'reasoning', text: reasoning, summary: false, sealed: null });
  parts.push(...readContent(message['content'], `${path}.content`));
  const refusal = textOf(message['refusal']);
  if (refusal !== '') parts.push({ type: 'refusal', text: refusal });
  for (const [index, call] of listOf(message['tool_calls']).entries()) {
    parts.push(callOf(call, `${path}.tool_calls[${index}]`));
  }
  const legacy = message['function_call'];
  if (isObject(legacy))
    parts.push(callOf({ id: textOf(legacy['name']), function: legacy }, `${path}.function_call`));
  return parts;
}

function callOf(call: unknown, path: string): Part {
  if (!isObject(call)) throw wrong(path, 'an object');
  const custom = isObject(call['custom']);
  const said = objectOf(custom ? call['custom'] : call['function']);
  const name = textAt(said, 'name', `${path}.function.name`);
  const id = textAt(call, 'id', `${path}.id`);
  if (name === null) throw wrong(`${path}.function.name`, 'a string');
  if (id === null) throw wrong(`${path}.id`, 'a string');
  const value = said[custom ? 'input' : 'arguments'];
  const input =
    typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  return { type: 'tool-call', id, name, input, kind: custom ? 'custom' : 'function' };
}

function resultOf(message: JsonObject, path: string): ToolResultPart {
  const callId =
    textAt(message, 'tool_call_id', `${path}.tool_call_id`) ?? textAt(message, 'name', `${path}.name`);
  if (callId === null) throw wrong(`${path}.tool_call_id`, 'a string');
  const parts = readContent(message['content'], `${path}.content`);
  return {
    ...{ type: 'tool-result', callId, isError: false, kind: 'function' },
    parts: parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file'),
  };
}
