import { argumentsOf } from '../../adapt/call-arguments.ts';
import { asParagraphs, asWritten, isEmpty } from '../../adapt/joined-texts.ts';
import { ERROR_MARK } from '../../adapt/result-mark.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from '../../model/conversation.ts';
import { runsOf, type ToolCallGroup } from '../../model/tool-call-groups.ts';
import { choiceWords } from './tools-encode.ts';

/** The conversation's messages as the format has them: instructions first, every result a message of its own. */
export function messageList(conversation: Conversation): JsonObject[] {
  const { messages, system } = conversation;
  return [
    ...instructions([...texts(system), ...choiceWords(conversation)]),
    ...runsOf(messages).flatMap(messagesOfRun),
  ];
}

/**
 * Every answer with the results of its calls directly behind it, in the order of the calls, because the format
 * identifies results by order alone; then the images in them, then the rest. Results without a call become text of the user.
 */
function messagesOfRun({ answers, rest }: ToolCallGroup): JsonObject[] {
  const results = rest.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  const waiting = new Map<string, ToolResultPart[]>();
  for (const result of [...results].reverse()) {
    const same = waiting.get(result.callId);
    if (same === undefined) waiting.set(result.callId, [result]);
    else same.push(result);
  }
  const list: JsonObject[] = [];
  const answered = new Map<Part, ToolCallPart>();
  for (const { parts } of answers) {
    list.push(...answerMessage(parts));
    for (const call of parts.filter((part) => part.type === 'tool-call')) {
      const result = waiting.get(call.id)?.pop();
      if (result !== undefined) answered.set(result, call);
      list.push({ role: 'tool', content: textOfResult(result), tool_name: call.name, tool_call_id: call.id });
    }
  }
  const shown = results.flatMap((result) => attachments(result, answered.get(result)));
  return [...list, ...restMessages(rest, shown, answered)];
}

/** What is not the result of a call, with the images of results before the first of it that the user says. */
function restMessages(
  rest: readonly Message[],
  shown: readonly Part[],
  answered: ReadonlyMap<Part, unknown>,
) {
  const list: JsonObject[] = [];
  let before = shown;
  for (const { parts, role } of rest) {
    if (role === 'system') list.push(...instructions(texts(parts)));
    else {
      const own = parts.flatMap((part) => {
        if (part.type !== 'tool-result') return [part];
        return answered.has(part) ? [] : part.parts;
      });
      const silent = isEmpty({ parts }) && before.length === 0;
      list.push(...(silent ? [{ role: 'user', content: '' }] : userMessage([...before, ...own])));
      before = [];
    }
  }
  return list;
}

function instructions(texts: readonly string[]): JsonObject[] {
  const content = asParagraphs(texts);
  return content === '' ? [] : [{ role: 'system', content }];
}

function userMessage(parts: readonly Part[]): JsonObject[] {
  const content = asParagraphs(texts(parts));
  const images = parts.flatMap(imageData);
  if (content === '' && images.length === 0) return [];
  return [{ role: 'user', content, ...(images.length === 0 ? {} : { images }) }];
}

function answerMessage(parts: readonly Part[]): JsonObject[] {
  const content = asWritten(texts(parts));
  const thinking = asParagraphs(parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])));
  const calls = parts.filter((part) => part.type === 'tool-call').map(callOf);
  const images = parts.flatMap(imageData);
  if (content === '' && thinking === '' && calls.length === 0 && images.length === 0) return [];
  return [
    {
      role: 'assistant',
      content,
      ...(thinking === '' ? {} : { thinking }),
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function callOf({ id, input, name }: ToolCallPart): JsonObject {
  return { id, function: { name, arguments: argumentsOf(input) } };
}

function textOfResult(result: ToolResultPart | undefined): string {
  if (result === undefined) return `${ERROR_MARK}No result was given.`;
  const text = asWritten(texts(result.parts));
  const whole = text === '' && result.parts.length > 0 ? '[see the attachment]' : text;
  return result.isError ? `${ERROR_MARK}${whole}` : whole;
}

/** The images of a result that has its call: the text before them says whose they are. */
function attachments({ parts }: ToolResultPart, call: ToolCallPart | undefined): Part[] {
  const images = parts.filter(({ type }) => type === 'image');
  if (call === undefined || images.length === 0) return [];
  return [{ type: 'text', text: `Attachment of the result of ${call.name} (${call.id}):` }, ...images];
}

function texts(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []));
}

/** The vendor takes the bytes alone. */
function imageData(part: Part): string[] {
  return part.type === 'image' && part.source.kind === 'data' ? [part.source.base64] : [];
}
