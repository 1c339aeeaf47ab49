import { DONE, encodeFrame } from '../frames.ts';
import { inWords } from '../in-words.ts';
import type { AnswerContext, EndReason, PartWriter, StreamPart } from '../stream-part.ts';
import { promptCounts } from '../token-counts.ts';

const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  // Nobody can offer a tool in this format.
  'tool-calls': 'stop',
  'context-full': 'length',
  policy: 'content_filter',
  paused: 'stop',
  other: 'stop',
};

/**
 * Writes an answer as a completions stream. The format has room for text, in which a refusal is put too: reasoning,
 * citations and calls have no place in it.
 */
export function writer(context: AnswerContext): PartWriter {
  const { answerId, encode = encodeFrame, id, includeUsage, model, startedAt } = context;
  const base = {
    id: answerId ?? `cmpl-${id.replace(/^[a-z]+_/, '')}`,
    object: 'text_completion',
    created: Math.floor(startedAt / 1000),
    model,
  };
  const chunk = (text: string, finish_reason: string | null = null) =>
    encode('', { ...base, choices: [{ text, index: 0, logprobs: null, finish_reason }] });
  const ending = ({ reason, usage }: Extract<StreamPart, { type: 'message-end' }>) => {
    const report =
      includeUsage && usage !== null ? encode('', { ...base, choices: [], usage: promptCounts(usage) }) : '';
    return chunk('', reasons[reason]) + report + encode('', DONE);
  };
  const target: PartWriter = {
    push(part) {
      switch (part.type) {
        case 'text-delta':
        case 'refusal-delta':
          return chunk(part.text);
        case 'message-end':
          return ending(part);
        default:
          return '';
      }
    },
  };
  return inWords(target, { format: 'openai-completions', images: 'none' });
}
