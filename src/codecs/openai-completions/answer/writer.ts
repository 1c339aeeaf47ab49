import type { Frame } from '../../../lib/streams/sse.ts';
import type { AnswerContext, EndReason, PartWriter, StreamPart } from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { doneFrame, ValueFrame } from '../../stream/frames.ts';
import { promptCounts } from '../../usage/token-counts.ts';

const reasons: Readonly<Record<EndReason, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  // The format has no tools.
  'tool-calls': 'stop',
  'context-full': 'length',
  policy: 'content_filter',
  paused: 'stop',
  other: 'stop',
};

/**
 * Writes an answer as a completions stream. The format has only text, which includes refusals and calls written as text;
 * reasoning and citations are left out.
 */
export function writer(context: AnswerContext): PartWriter {
  const { answerId, id, includeUsage, model, startedAt } = context;
  const base = {
    id: answerId ?? `cmpl-${id.replace(/^[a-z]+_/, '')}`,
    object: 'text_completion',
    created: Math.floor(startedAt / 1000),
    model,
  };
  const chunk = (text: string, finish_reason: string | null = null): Frame =>
    new ValueFrame('', { ...base, choices: [{ text, index: 0, logprobs: null, finish_reason }] });
  const ending = ({ reason, usage }: Extract<StreamPart, { type: 'message-end' }>): Frame[] => {
    const shown = includeUsage && usage !== null;
    const report = shown ? [new ValueFrame('', { ...base, choices: [], usage: promptCounts(usage) })] : [];
    return [chunk('', reasons[reason]), ...report, doneFrame()];
  };
  const calls = new Map<number, { name: string; input: string }>();
  const target: PartWriter = {
    push(part) {
      switch (part.type) {
        case 'tool-call-start':
          calls.set(part.block, { name: part.name, input: '' });
          return [];
        case 'tool-call-delta': {
          const call = calls.get(part.block);
          if (call !== undefined) call.input += part.text;
          return [];
        }
        case 'tool-call-end': {
          const call = calls.get(part.block);
          return call === undefined ? [] : [chunk(wordsOf(call))];
        }
        case 'text-delta':
        case 'refusal-delta':
          return [chunk(part.text)];
        case 'message-end':
          return ending(part);
        default:
          return [];
      }
    },
  };
  return withTextFallback(target, { format: 'openai-completions', images: 'none' });
}

/** A client of this format offers no tools, and must not miss that the model called one. */
function wordsOf({ input, name }: { name: string; input: string }): string {
  const what = input.trim() === '' ? name : `${name} with ${input}`;
  return `\n[The model called the tool ${what}, which this API has no place for]\n`;
}
