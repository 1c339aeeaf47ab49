import { splitFrames } from '../../lib/streams/sse.ts';
import type { ToolApi } from '../tool.ts';
import { type Finding, fail, ok, unchecked, warn } from './check.ts';
import { type HttpAnswer, refusalIn } from './route.ts';

/** What the answer to the tool's request says. */
export interface AnswerFindings {
  answer: Finding;
  streaming: Finding;
  toolCalls: Finding;
}

/** How a stream of each API says that it is whole, and that a tool is called. */
const signs: Readonly<Record<ToolApi, { end: string; call: string }>> = {
  'openai-chat': { end: '[DONE]', call: '"tool_calls"' },
  'openai-responses': { end: '"response.completed"', call: '"function_call"' },
  'anthropic-messages': { end: '"message_stop"', call: '"tool_use"' },
  gemini: { end: '"finishReason"', call: '"functionCall"' },
};

/** @param called the tool that the model was asked to call */
export function answerFrom(
  api: ToolApi,
  { headers, status, text }: HttpAnswer,
  called: string,
): AnswerFindings {
  if (status !== 200) {
    const later = unchecked('it needs an answer first');
    return { answer: fail(`${status}: ${refusalIn(text).message}`), streaming: later, toolCalls: later };
  }
  const id = headers['x-request-id'];
  const from = `${headers['x-gateway-connection'] ?? 'a cached answer'}/${headers['x-gateway-model'] ?? '-'}`;
  const answer = ok(`${from} answered${id === undefined ? '' : `: \`gateway explain ${id}\` tells of it`}`);
  const { call, end } = signs[api];
  const type = headers['content-type'] ?? '';
  if (!type.startsWith('text/event-stream'))
    return {
      answer,
      streaming: fail(`a stream was asked for, and ${type === '' ? 'something else' : type} came`),
      toolCalls: unchecked('it needs a stream first'),
    };
  const { frames } = splitFrames(Buffer.from(text));
  const holds = (sign: string) => frames.some(({ data }) => data.includes(sign));
  return {
    answer,
    streaming: holds(end)
      ? ok(`${frames.length} events, and the last of them says that it is whole`)
      : fail(`it broke off after ${frames.length} events`),
    toolCalls: holds(call)
      ? ok(`the model called a tool when it was asked to call "${called}"`)
      : warn(
          `the model answered in words when it was asked to call "${called}": agents need one that calls tools`,
        ),
  };
}
