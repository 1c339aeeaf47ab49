import { GatewayError } from '../../../lib/error.ts';
import { participantText } from '../../adapt/in-text.ts';
import { withoutErrorMark } from '../../adapt/result-mark.ts';
import { sourceOfUrl } from '../../files/data-url.ts';
import { isObject, objectOf, textOf } from '../../json/values.ts';
import { listAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type {
  FilePart,
  ImagePart,
  Message,
  Part,
  ReasoningPart,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../model/conversation.ts';
import { type ContentPart, readContentList } from '../../openai-shared/content-list.ts';
import { carriedIn } from '../carried-details.ts';
import { encryptedReasoningIn } from '../reasoning-details.ts';
import { reasoningIn, thinkingText } from '../text.ts';
import { inputIn, kindOf, signatureOfCall } from '../tool-calls.ts';
import type {
  CacheControl,
  Called,
  ChatMessage,
  ImageUrl,
  InputAudio,
  InputFile,
  Markable,
  MessagePart,
  ToolCall,
} from '../wire.ts';

interface Read {
  system: TextPart[];
  messages: Message[];
}

/** What a later message refers to. */
interface Calls {
  /** Ids of calls of custom tools: their results are of that kind too. */
  custom: Set<string>;
  /** The last function call from before tools; it had no id. */
  legacy: string | null;
}

/** The messages of a request; instructions before the first turn stand apart. */
export function readMessages(messages: readonly unknown[]): Read {
  const result: Read = { system: [], messages: [] };
  const calls: Calls = { custom: new Set(), legacy: null };
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw wrong(`messages[${index}]`, 'an object');
    readMessage(result, calls, message, `messages[${index}]`);
  }
  return result;
}

function readMessage({ messages, system }: Read, calls: Calls, message: ChatMessage, path: string): void {
  switch (message.role) {
    case 'system':
    case 'developer': {
      const texts = textsOnly(contentIn(message, path), path);
      const name = nameOf(message, path);
      if (messages.length > 0) messages.push({ role: 'system', parts: texts, ...name });
      // These are one text, which names the speakers itself.
      else system.push(...(name.name === undefined ? [] : [participantText(name.name)]), ...texts);
      return;
    }
    case 'user':
      addUser(messages, contentIn(message, path), nameOf(message, path));
      return;
    case 'assistant':
      messages.push({
        role: 'assistant',
        parts: assistantParts(message, calls, path),
        ...nameOf(message, path),
      });
      return;
    case 'tool':
    case 'function':
      addUser(messages, [resultOf(message, calls, path)]);
      return;
    default:
      throw wrong(`${path}.role`, '"system", "developer", "user", "assistant" or "tool"');
  }
}

type Named = Pick<Message, 'name'>;

function nameOf(message: ChatMessage, path: string): Named {
  const name = textAt(message, 'name', `${path}.name`) ?? '';
  return name === '' ? {} : { name };
}

function textsOnly(parts: readonly ContentPart[], path: string): TextPart[] {
  return parts.map((part) => {
    if (part.type !== 'text') throw wrong(`${path}.content`, 'text');
    return part;
  });
}

/** The results of one turn are adjacent, and the text of the user after them belongs to it. */
function addUser(messages: Message[], parts: Part[], name: Named = {}): void {
  const last = messages.at(-1);
  const behindResult = last?.role === 'user' && last.parts.at(-1)?.type === 'tool-result';
  if (behindResult && name.name === undefined) last.parts.push(...parts);
  else messages.push({ role: 'user', parts, ...name });
}

function contentIn(message: ChatMessage, path: string): ContentPart[] {
  return marked(message, readContent(message.content, `${path}.content`));
}

/** The parts of a message. A mark on the message itself, as OpenRouter and LiteLLM read it, is one on its last part. */
function marked<T extends Part>(message: ChatMessage, parts: T[]): T[] {
  const { cache } = cacheOf(message);
  const last: Part | undefined = parts.at(-1);
  if (cache !== undefined && (last?.type === 'text' || last?.type === 'image' || last?.type === 'file'))
    last.cache ??= cache;
  return parts;
}

function readContent(content: unknown, path: string): ContentPart[] {
  return readContentList(content, path, readPart);
}

function readPart(part: MessagePart, path: string): ContentPart {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: textAt(part, 'text', `${path}.text`) ?? '', ...cacheOf(part) };
    case 'refusal':
      return { type: 'refusal', text: textAt(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'image_url':
      return { ...imagePart(part, `${path}.image_url`), ...cacheOf(part) };
    case 'file':
      return { ...filePart(objectAt(part, 'file', `${path}.file`) ?? {}, `${path}.file`), ...cacheOf(part) };
    case 'input_audio': {
      const audio: InputAudio = objectAt(part, 'input_audio', `${path}.input_audio`) ?? {};
      return { type: 'audio', format: textOf(audio.format), base64: textOf(audio.data) };
    }
    default:
      throw wrong(`${path}.type`, '"text", "image_url", "file", "input_audio" or "refusal"');
  }
}

/** The content of an answer. Mistral has its thoughts among the texts ("Reasoning", `thinking` chunks). */
function readAnswer(content: unknown, path: string): (ContentPart | ReasoningPart)[] {
  const parts = readContentList<ContentPart | ReasoningPart>(content, path, (part: MessagePart, at) =>
    part.type === 'thinking'
      ? { type: 'reasoning', text: thinkingText(part.thinking), summary: false, encrypted: null }
      : readPart(part, at),
  );
  return parts.filter((part) => part.type !== 'reasoning' || part.text !== '');
}

/** OpenAI's own mark, or Anthropic's, which several gateways let chat clients set. */
export function cacheOf(part: Markable): Pick<TextPart, 'cache'> {
  const control = part.cache_control;
  if (isObject(control))
    return { cache: { ttl: objectOf<CacheControl>(control).ttl === '1h' ? 3600 : null } };
  return isObject(part.prompt_cache_breakpoint) ? { cache: { ttl: null } } : {};
}

function imagePart(part: Pick<MessagePart, 'image_url'>, path: string): ImagePart {
  const image = part.image_url;
  const imageUrl = objectOf<ImageUrl>(image);
  const url = typeof image === 'string' ? image : textAt(imageUrl, 'url', `${path}.url`);
  if (url === null) throw wrong(`${path}.url`, 'a string');
  const detail = textOf(imageUrl.detail);
  return { type: 'image', source: sourceOfUrl(url), ...(detail === '' ? {} : { detail }) };
}

function filePart(file: InputFile, path: string): FilePart {
  const name = textAt(file, 'filename', `${path}.filename`);
  const data = textAt(file, 'file_data', `${path}.file_data`);
  const id = textAt(file, 'file_id', `${path}.file_id`);
  if (data === null && id === null) throw wrong(path, 'an object with "file_data" or "file_id"');
  const source: Source =
    data === null ? { kind: 'file', id: id ?? '', format: 'openai-chat' } : sourceOfFile(data);
  return { type: 'file', source, ...(name === null ? {} : { name }) };
}

/** Bytes of a file that came without their media type are what this format is mostly sent. */
function sourceOfFile(data: string): Source {
  return /^(?:data|https?):/i.test(data)
    ? sourceOfUrl(data)
    : { kind: 'data', mediaType: 'application/pdf', base64: data };
}

function assistantParts(message: ChatMessage, calls: Calls, path: string): Part[] {
  if (isObject(message.audio))
    throw new GatewayError(
      'not_translatable',
      `"${path}.audio" refers to an answer that the model's provider does not keep: send its transcript instead`,
      { param: `${path}.audio` },
    );
  const parts: Part[] = [];
  const called = listAt(message, 'tool_calls', `${path}.tool_calls`);
  const carried = carriedIn(message, new Set(called.map((call) => textOf(objectOf<ToolCall>(call).id))));
  parts.push(...(carried.get(null) ?? ownReasoning(message)), ...reasoningBefore(message));
  parts.push(...marked(message, readAnswer(message.content, `${path}.content`)));
  for (const [index, image] of listAt(message, 'images', `${path}.images`).entries())
    parts.push(imagePart(objectOf(image), `${path}.images[${index}].image_url`));
  const refusal = textAt(message, 'refusal', `${path}.refusal`) ?? '';
  if (refusal !== '') parts.push({ type: 'refusal', text: refusal });
  for (const [index, call] of called.entries()) {
    const part = callOf(call, `${path}.tool_calls[${index}]`);
    if (part.kind === 'custom') calls.custom.add(part.id);
    parts.push(...(carried.get(part.id) ?? []), ...reasoningBefore(call), part);
    // Another call of the same id has none.
    carried.delete(part.id);
  }
  const legacy = message.function_call;
  if (isObject(legacy)) {
    // The place in the conversation makes the id: the same in every later request, and no other call has it.
    calls.legacy = `call_${path.replace(/\D/g, '')}`;
    parts.push(callOf({ id: calls.legacy, function: legacy }, `${path}.function_call`));
  }
  return parts;
}

function ownReasoning(message: ChatMessage): ReasoningPart[] {
  const text = reasoningIn(message);
  const encrypted = encryptedReasoningIn(message.reasoning_details);
  return text === '' && encrypted === null ? [] : [{ type: 'reasoning', text, summary: false, encrypted }];
}

function reasoningBefore(call: unknown): ReasoningPart[] {
  const encrypted = signatureOfCall(objectOf(call));
  return encrypted === null ? [] : [{ type: 'reasoning', text: '', summary: false, encrypted }];
}

function callOf(call: unknown, path: string): ToolCallPart {
  if (!isObject(call)) throw wrong(path, 'an object');
  const kind = kindOf(call);
  const wire: ToolCall = call;
  const callObject = objectOf<Called>(wire[kind]);
  const name = textAt(callObject, 'name', `${path}.${kind}.name`);
  const id = textAt(wire, 'id', `${path}.id`);
  if (name === null) throw wrong(`${path}.${kind}.name`, 'a string');
  if (id === null) throw wrong(`${path}.id`, 'a string');
  return { type: 'tool-call', id, name, input: inputIn(call), kind };
}

function resultOf(message: ChatMessage, calls: Calls, path: string): ToolResultPart {
  const legacy = message.role === 'function' ? calls.legacy : null;
  const callId = legacy ?? textAt(message, 'tool_call_id', `${path}.tool_call_id`);
  if (callId === null) throw wrong(`${path}.tool_call_id`, 'a string');
  const { isError, parts } = withoutErrorMark(contentIn(message, path));
  const shown = parts.filter((part) => part.type === 'text' || part.type === 'image' || part.type === 'file');
  const cache = shown.findLast((part) => part.cache !== undefined)?.cache;
  return {
    type: 'tool-result',
    callId,
    isError,
    kind: calls.custom.has(callId) ? 'custom' : 'function',
    // Anthropic takes a mark on a result, and none inside it.
    parts: cache === undefined ? shown : shown.map(({ cache: _, ...part }) => part),
    ...(cache === undefined ? {} : { cache }),
  };
}
