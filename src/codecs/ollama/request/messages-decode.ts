import { argumentText, isArguments } from '../../adapt/call-arguments.ts';
import { ERROR_MARK } from '../../adapt/result-mark.ts';
import { isObject } from '../../json/values.ts';
import { listAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type { ImagePart, Message, Part, TextPart } from '../../model/conversation.ts';
import { sourceOf } from '../images.ts';
import type { Called, OllamaMessage, ToolCall } from '../wire.ts';
import { type CallPairing, callPairing } from './call-pairing.ts';

interface Read {
  system: TextPart[];
  messages: Message[];
}

/** The messages of a request; instructions before the first turn stand apart. */
export function readMessages(messages: readonly unknown[]): Read {
  const result: Read = { system: [], messages: [] };
  const pairing = callPairing();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) throw wrong(path, 'an object');
    readMessage(result, pairing, message, path);
  }
  return result;
}

function readMessage(
  { messages, system }: Read,
  pairing: CallPairing,
  message: OllamaMessage,
  path: string,
): void {
  const role = textAt(message, 'role', `${path}.role`)?.toLowerCase();
  const text = textIn(message, path);
  switch (role) {
    case 'system':
      refuseIn(message, ['images', 'tool_calls'], path, 'instructions');
      if (messages.length === 0) system.push(...text);
      else messages.push({ role: 'system', parts: text });
      return;
    case 'user':
      refuseIn(message, ['tool_calls'], path, 'a message of the user');
      // The vendor puts images before the text of their message.
      addUser(messages, [...imagesIn(message, path), ...text]);
      return;
    case 'assistant':
      if (messages.at(-1)?.role !== 'assistant') pairing.forget();
      messages.push({ role: 'assistant', parts: answerParts(message, text, pairing, path) });
      return;
    case 'tool':
      refuseIn(message, ['tool_calls'], path, 'a result');
      addUser(messages, [resultOf(message, text, pairing, path)]);
      return;
    default:
      throw wrong(`${path}.role`, '"system", "user", "assistant" or "tool"');
  }
}

function textIn(message: OllamaMessage, path: string): TextPart[] {
  const text = textAt(message, 'content', `${path}.content`) ?? '';
  return text === '' ? [] : [{ type: 'text', text }];
}

/** What would be left out in silence, where it stands in a message that cannot have it. */
function refuseIn(
  message: OllamaMessage,
  names: readonly (keyof OllamaMessage)[],
  path: string,
  where: string,
): void {
  for (const name of names)
    if (listAt(message, name, `${path}.${name}`).length > 0)
      throw wrong(`${path}.${name}`, `absent in ${where}`);
}

/** Results of one turn stand together, and what the user says behind them belongs to it. */
function addUser(messages: Message[], parts: Part[]): void {
  const last = messages.at(-1);
  if (last?.role === 'user' && last.parts.at(-1)?.type === 'tool-result') last.parts.push(...parts);
  else messages.push({ role: 'user', parts });
}

function imagesIn(message: OllamaMessage, path: string): ImagePart[] {
  return listAt(message, 'images', `${path}.images`).map((image, index) => {
    if (typeof image !== 'string' || image === '')
      throw wrong(`${path}.images[${index}]`, 'an image in base64');
    return { type: 'image', source: sourceOf(image) };
  });
}

function answerParts(message: OllamaMessage, text: TextPart[], pairing: CallPairing, path: string): Part[] {
  const parts: Part[] = [];
  const thinking = textAt(message, 'thinking', `${path}.thinking`) ?? '';
  if (thinking !== '') parts.push({ type: 'reasoning', text: thinking, summary: false, encrypted: null });
  parts.push(...text);
  parts.push(...imagesIn(message, path));
  for (const [index, call] of listAt(message, 'tool_calls', `${path}.tool_calls`).entries())
    parts.push(callOf(call, pairing, `${path}.tool_calls[${index}]`));
  return parts;
}

function callOf(call: unknown, pairing: CallPairing, path: string): Part {
  if (!isObject(call)) throw wrong(path, 'an object');
  const wire: ToolCall = call;
  const called: Called = objectAt(wire, 'function', `${path}.function`) ?? {};
  const name = textAt(called, 'name', `${path}.function.name`) ?? '';
  if (name === '') throw wrong(`${path}.function.name`, 'the name of a tool');
  const { arguments: args } = called;
  const input = isArguments(args) ? argumentText(args) : null;
  if (input === null) throw wrong(`${path}.function.arguments`, 'an object, and not nested too deeply');
  const id = pairing.called(name, textAt(wire, 'id', `${path}.id`) ?? '');
  return { type: 'tool-call', id, name, input, kind: 'function' };
}

function resultOf(message: OllamaMessage, text: TextPart[], pairing: CallPairing, path: string): Part {
  const name = textAt(message, 'tool_name', `${path}.tool_name`) ?? '';
  const id = textAt(message, 'tool_call_id', `${path}.tool_call_id`) ?? '';
  const [first] = text;
  const isError = first?.text.startsWith(ERROR_MARK) ?? false;
  const resultText = isError ? withoutMark(text) : text;
  return {
    type: 'tool-result',
    callId: pairing.answered(name, id),
    kind: 'function',
    isError,
    parts: [...imagesIn(message, path), ...resultText],
  };
}

function withoutMark(text: readonly TextPart[]): TextPart[] {
  return text
    .map((part) => ({ ...part, text: part.text.slice(ERROR_MARK.length) }))
    .filter((part) => part.text !== '');
}
