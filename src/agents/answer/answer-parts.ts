import type { StreamPart } from '../../codecs/model/stream-part.ts';
import { noUsage, type Usage } from '../../codecs/wire-format.ts';
import type { AgentEvent, TurnEnd } from '../session/event.ts';
import type { AgentSetup } from '../setup.ts';

/** Makes the parts of an answer from what an agent does. */
export interface AnswerParts {
  start(id: string, model: string): StreamPart[];
  event(event: AgentEvent): StreamPart[];
  end(end: TurnEnd): StreamPart[];
  /** The text of the answer so far, without reasoning. */
  text(): string;
}

type Kind = 'text' | 'reasoning';

/** @param showTools whether tools and plans are shown; a refusal is shown in any case */
export function createAnswerParts(showTools: AgentSetup['showTools']): AnswerParts {
  let block = -1;
  let open: Kind | null = null;
  let text = '';
  const close = (): StreamPart[] => {
    const was = open;
    open = null;
    if (was === null) return [];
    return [was === 'text' ? { type: 'text-end', block } : { type: 'reasoning-end', block, encrypted: null }];
  };
  const say = (kind: Kind, words: string): StreamPart[] => {
    if (words === '') return [];
    const parts: StreamPart[] = [];
    if (open !== kind) {
      parts.push(...close());
      block += 1;
      open = kind;
      parts.push(
        kind === 'text' ? { type: 'text-start', block } : { type: 'reasoning-start', block, summary: false },
      );
    }
    if (kind === 'text') text += words;
    parts.push({ type: kind === 'text' ? 'text-delta' : 'reasoning-delta', block, text: words });
    return parts;
  };
  /** A line of its own, behind what was said before. */
  const note = (kind: Kind, line: string): StreamPart[] =>
    say(kind, open === kind ? `\n${line}\n` : `${line}\n`);
  return {
    text: () => text,
    start: (id, model) => [{ type: 'message-start', id, model, usage: null }],
    event(event) {
      switch (event.type) {
        case 'text':
          return say('text', event.text);
        case 'thought':
          return say('reasoning', event.text);
        case 'refused':
          return note(showTools === 'text' ? 'text' : 'reasoning', lineOf(event));
        case 'tool':
        case 'plan':
          return showTools === 'none' ? [] : note(showTools, lineOf(event));
      }
    },
    end: ({ reason, usage }) => [
      ...close(),
      {
        type: 'message-end',
        reason: endReasons[reason],
        rawFinishReason: reason,
        stopSequence: null,
        usage: usage === null ? null : usageOf(usage),
      },
    ],
  };
}

const endReasons = {
  end_turn: 'stop',
  max_tokens: 'length',
  max_turn_requests: 'length',
  refusal: 'policy',
  cancelled: 'other',
} as const satisfies Record<TurnEnd['reason'], string>;

const marks: Readonly<Record<string, string>> = { completed: 'x', in_progress: '~' };

function lineOf(event: Exclude<AgentEvent, { type: 'text' | 'thought' }>): string {
  switch (event.type) {
    case 'tool': {
      const state = { begun: '', done: ' (done)', failed: ' (failed)' }[event.state];
      return `[${event.kind}] ${event.title}${state}`;
    }
    case 'plan':
      return event.entries.map(({ content, status }) => `[${marks[status] ?? ' '}] ${content}`).join('\n');
    case 'refused':
      return `[refused: ${event.kind}] ${event.title}`;
  }
}

/** Agents count all input and all output; here the parts of a whole stand apart. */
function usageOf({ cacheRead, cacheWrite, input, output, reasoning }: NonNullable<TurnEnd['usage']>): Usage {
  return {
    ...noUsage,
    input,
    cacheRead,
    cacheWrite5m: cacheWrite,
    output: Math.max(0, output - reasoning),
    reasoning: Math.min(output, reasoning),
  };
}
