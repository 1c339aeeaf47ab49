import { GatewayError } from '../../../lib/error.ts';
import { type CallIds, callIds } from '../../adapt/call-ids.ts';
import { withoutErrorMark } from '../../adapt/result-mark.ts';
import { extractEncryptedReasoning } from '../../encrypted-reasoning/embed.ts';
import { sourceOfUrl } from '../../files/data-url.ts';
import { isObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { textAt, wrong } from '../../json/wire-check.ts';
import type {
  FilePart,
  ImagePart,
  Message,
  Part,
  ReasoningPart,
  Source,
  TextPart,
  Tool,
  ToolResultPart,
} from '../../model/conversation.ts';
import { type ContentPart, readContentList } from '../../openai-shared/content-list.ts';
import { IMAGE_CALL, imageIn } from '../image-call.ts';
import { SEARCH_CALL, searchOf } from '../search.ts';
import type { InputAudio, ItemPart, ResponsesItem } from '../wire.ts';
import { summaryIn, summaryMessage } from './compaction.ts';
import { namespacesIn, readTools } from './tools-decode.ts';

export interface Input {
  /** Instructions before everything else. */
  system: TextPart[];
  messages: Message[];
  /** Tools of items, which Codex sends to its newest models. */
  tools: Tool[];
  /** The descriptions of their namespaces, by name. */
  namespaces: Record<string, string>;
}

/** The input so far. */
interface Reading extends Input {
  /** Ids for calls that came without: the vendor asks for none on its own tools. */
  ids: CallIds;
  /** Those that wait for a result without one, by the type of their tool. */
  waiting: Map<string, string[]>;
}

/** The `input` of a request: a text, or a list of items. Neighbouring items of one role become one message. */
export function readInput(input: unknown): Input {
  const result: Reading = {
    system: [],
    messages: [],
    tools: [],
    namespaces: {},
    ids: callIds(),
    waiting: new Map(),
  };
  if (input === undefined || input === null) return result;
  if (typeof input === 'string') {
    result.messages.push({ role: 'user', parts: [{ type: 'text', text: input }] });
    return result;
  }
  if (!Array.isArray(input)) throw wrong('input', 'a string or a list of items');
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) throw wrong(`input[${index}]`, 'an object');
    readItem(result, item, `input[${index}]`);
  }
  return result;
}

function readItem(result: Reading, item: ResponsesItem, path: string): void {
  switch (item.type ?? 'message') {
    case 'message':
      readMessage(result, item, path);
      return;
    case 'additional_tools':
      addTools(result, listOf(item.tools), path);
      return;
    case 'reasoning':
      add(result.messages, 'assistant', reasoningParts(item));
      return;
    case 'function_call':
    case 'custom_tool_call':
      add(result.messages, 'assistant', [callPart(item, path)]);
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      add(result.messages, 'user', [resultPart(item, path)]);
      return;
    case 'compaction': {
      const summary = summaryIn(item);
      if (summary === null) add(result.messages, 'assistant', [nativePart(item, path)]);
      else readMessage(result, summaryMessage(summary), path);
      return;
    }
    case IMAGE_CALL: {
      const source = imageIn(item);
      const part: Part = source === null ? nativePart(item, path) : { type: 'image', source };
      add(result.messages, 'assistant', [part]);
      return;
    }
    case SEARCH_CALL:
      add(result.messages, 'assistant', [{ type: 'search', ...searchOf(item) }]);
      return;
    case 'tool_search_output':
      // What the search found may be called from here on.
      addTools(result, listOf(item.tools), path);
      add(result.messages, 'user', [ownResult(item, result)]);
      return;
    default: {
      const type = textOf(item.type);
      if (ownCalls.has(type)) add(result.messages, 'assistant', [ownCall(item, result)]);
      else if (ownResults.has(type)) add(result.messages, 'user', [ownResult(item, result)]);
      else add(result.messages, roleOfNative(type), [nativePart(item, path)]);
    }
  }
}

function addTools({ namespaces, tools }: Input, listed: readonly unknown[], path: string): void {
  tools.push(...readTools(listed, `${path}.tools`));
  for (const [name, description] of Object.entries(namespacesIn(listed))) namespaces[name] = description;
}

function add(messages: Message[], role: Message['role'], parts: Part[]): void {
  const last = messages.at(-1);
  if (last?.role === role) last.parts.push(...parts);
  else if (parts.length > 0 || role === 'user') messages.push({ role, parts });
}

function readMessage({ messages, system }: Input, item: ResponsesItem, path: string): void {
  const role = item.role;
  const parts = readContentList(item.content, `${path}.content`, contentPart);
  switch (role) {
    case 'system':
    case 'developer': {
      const texts = parts.filter((part) => part.type === 'text');
      if (messages.length === 0) system.push(...texts);
      else messages.push({ role: 'system', parts: texts });
      return;
    }
    case 'assistant':
    case 'user':
      add(messages, role, parts);
      return;
    default:
      throw wrong(`${path}.role`, '"user", "assistant", "system" or "developer"');
  }
}

function contentPart(part: ItemPart, path: string): ContentPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: textAt(part, 'text', `${path}.text`) ?? '', ...cacheOf(part) };
    case 'refusal':
      return { type: 'refusal', text: textAt(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'input_image':
      return imagePart(part, path);
    case 'input_file':
      return filePart(part, path);
    case 'input_audio': {
      const audio = part.input_audio;
      if (!isObject(audio)) throw wrong(`${path}.input_audio`, 'an object');
      const source: InputAudio = audio;
      return { type: 'audio', format: textOf(source.format), base64: textOf(source.data) };
    }
    default:
      throw wrong(`${path}.type`, '"input_text", "output_text", "input_image", "input_file" or "refusal"');
  }
}

/** A mark of what to keep in the prompt cache. */
function cacheOf(part: ItemPart): Pick<TextPart, 'cache'> {
  return isObject(part.prompt_cache_breakpoint) ? { cache: { ttl: null } } : {};
}

function imagePart(part: ItemPart, path: string): ImagePart {
  const detail = textAt(part, 'detail', `${path}.detail`);
  const source = sourceOf(part, path, 'image_url');
  return { type: 'image', source, ...(detail === null ? {} : { detail }), ...cacheOf(part) };
}

function filePart(part: ItemPart, path: string): FilePart {
  const name = textAt(part, 'filename', `${path}.filename`);
  const field = typeof part.file_data === 'string' ? 'file_data' : 'file_url';
  const source = sourceOf(part, path, field);
  return { type: 'file', source, ...(name === null ? {} : { name }), ...cacheOf(part) };
}

function sourceOf(part: ItemPart, path: string, field: 'image_url' | 'file_data' | 'file_url'): Source {
  const url = textAt(part, field, `${path}.${field}`);
  if (url !== null) return sourceOfUrl(url);
  const id = textAt(part, 'file_id', `${path}.file_id`);
  if (id === null) throw wrong(path, `a part with "${field}" or "file_id"`);
  return { kind: 'file', id, format: 'openai-responses' };
}

function reasoningParts(item: ResponsesItem): Part[] {
  const texts = (list: unknown) => listOf(list).map((part) => textOf(objectOf<ItemPart>(part).text));
  const content = texts(item.content).join('');
  const summary = texts(item.summary).join('\n\n');
  const encryptedContent = textOf(item.encrypted_content);
  const carried = extractEncryptedReasoning(encryptedContent);
  const id = typeof item.id === 'string' ? { id: item.id } : {};
  const encrypted: ReasoningPart['encrypted'] =
    carried ??
    (encryptedContent === ''
      ? null
      : { format: 'openai-responses', kind: 'encrypted', value: encryptedContent, ...id });
  const text = content === '' ? summary : content;
  if (text === '' && encrypted === null) return [];
  return [{ type: 'reasoning', text, summary: content === '' && carried === null && text !== '', encrypted }];
}

function callPart(item: ResponsesItem, path: string): Part {
  const custom = item.type === 'custom_tool_call';
  const name = textAt(item, 'name', `${path}.name`);
  const id = textAt(item, 'call_id', `${path}.call_id`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  if (id === null) throw wrong(`${path}.call_id`, 'a string');
  const value = item[custom ? 'input' : 'arguments'];
  const input =
    typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  const namespace = textAt(item, 'namespace', `${path}.namespace`);
  return {
    type: 'tool-call',
    id,
    name,
    input,
    kind: custom ? 'custom' : 'function',
    ...(namespace === null ? {} : { namespace }),
  };
}

function resultPart(item: ResponsesItem, path: string): ToolResultPart {
  const callId = textAt(item, 'call_id', `${path}.call_id`);
  if (callId === null) throw wrong(`${path}.call_id`, 'a string');
  const contentList = readContentList(item.output, `${path}.output`, contentPart);
  const { isError, parts } = withoutErrorMark(contentList);
  return {
    type: 'tool-result',
    callId,
    parts: parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file'),
    isError,
    kind: item.type === 'custom_tool_call_output' ? 'custom' : 'function',
  };
}

/** Calls of tools that have a type of their own in the format; the client runs them as it runs functions. */
const ownCalls: ReadonlySet<string> = new Set([
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'tool_search_call',
]);
const ownResults: ReadonlySet<string> = new Set([
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
]);

/** Such a call as the call of a function: models would imitate text instead of calling. */
function ownCall(item: ResponsesItem, { ids, waiting }: Reading): Part {
  const { arguments: args, call_id: _, execution: __, id, status: ___, type, ...fields } = item;
  const name = toolOf(type);
  const own = textOf(item.call_id);
  const callId = own || textOf(id) || ids.next(name);
  if (own === '') waiting.set(name, [...(waiting.get(name) ?? []), callId]);
  const input = typeof args === 'string' ? args : JSON.stringify(isObject(args) ? args : fields);
  return { type: 'tool-call', id: callId, name, input, kind: 'function' };
}

function ownResult(item: ResponsesItem, { ids, waiting }: Reading): ToolResultPart {
  const { call_id: _, execution: __, id, output, status, type, ...fields } = item;
  const name = toolOf(type);
  const callId = textOf(item.call_id) || answered(waiting.get(name), textOf(id)) || ids.next(name);
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? fields);
  const parts: TextPart[] = text === '' ? [] : [{ type: 'text', text }];
  return { type: 'tool-result', callId, parts, isError: status === 'failed', kind: 'function' };
}

/** The call that a result without its id answers: the one with the result's own id, else the first that waits. */
function answered(waiting: string[] | undefined, id: string): string {
  const at = Math.max(0, waiting?.indexOf(id) ?? 0);
  return waiting?.splice(at, 1)[0] ?? id;
}

function toolOf(type: unknown): string {
  return textOf(type).replace(/_call(_output)?$|_output$/, '');
}

/** Items that stand for something that only the provider of this format has. */
const referring: ReadonlySet<string> = new Set(['item_reference', 'compaction', 'compaction_trigger']);

function roleOfNative(type: string): 'user' | 'assistant' {
  return type.endsWith('_output') || type.endsWith('_response') ? 'user' : 'assistant';
}

function nativePart(item: ResponsesItem, path: string): Part {
  const name = textOf(item.type);
  if (name === '') throw wrong(`${path}.type`, 'a string');
  if (name === 'item_reference')
    throw new GatewayError(
      'not_translatable',
      `"${path}" refers to an item that the model's provider does not keep: send the item itself`,
      { param: path },
    );
  const { id: _, status: __, type: ___, ...fields } = item;
  const text = referring.has(name) ? null : `[${name}] ${JSON.stringify(fields)}`;
  return { type: 'native', format: 'openai-responses', name, value: item, text };
}
