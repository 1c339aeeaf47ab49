import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import { noAnswerUsage } from '../request/answer-usage.ts';
import type { AttemptOutcome } from '../request/outcome.ts';
import type { OutgoingRequest, PartialAnswer } from '../request/outgoing.ts';
import { type AttemptState, type Step, step } from './step.ts';

const error = new GatewayError('upstream_cut', 'cut');
const answerUsage = noAnswerUsage;
const failed = (safeToRetry: boolean): AttemptOutcome => ({
  kind: 'failed',
  failure: { error, safeToRetry },
});
const interrupted = (partial: PartialAnswer | null): AttemptOutcome => ({
  kind: 'interrupted',
  failure: { error, safeToRetry: false },
  status: 200,
  streamed: true,
  answerUsage,
  partial,
  ending: null,
});
// The step passes both on and looks into neither.
const begun = { ending: null } as PartialAnswer;
const variant = { attempt: 1 } as OutgoingRequest;

const outcomes = {
  completed: {
    kind: 'completed',
    status: 200,
    streamed: true,
    answerUsage,
    finishReason: null,
    error: null,
    response: null,
  },
  'client-gone': { kind: 'client-gone', streamed: true, answerUsage },
  'retry-variant': { kind: 'retry-variant', error, variant },
  'failed, a new socket may help': failed(true),
  failed: failed(false),
  'interrupted, others can go on': interrupted(begun),
  interrupted: interrupted(null),
} satisfies Record<string, AttemptOutcome>;

const first: AttemptState = { freshSocket: false, continues: false, bodyConsumed: false, clientGone: false };
const phases = {
  first,
  freshSocket: { ...first, freshSocket: true },
  'goes on': { ...first, continues: true },
  once: { ...first, bodyConsumed: true },
  left: { ...first, clientGone: true },
} satisfies Record<string, AttemptState>;

type Row = Record<keyof typeof phases, Step['do']>;

/** What is done after each outcome in each phase, where another target might do better. */
const elsewhere: Record<keyof typeof outcomes, Row> = {
  completed: all('finish'),
  'client-gone': all('finish'),
  'retry-variant': { ...all('send'), left: 'leave' },
  'failed, a new socket may help': {
    first: 'send-again',
    freshSocket: 'ask-another',
    'goes on': 'send-again',
    once: 'give-up',
    left: 'leave',
  },
  failed: { ...all('ask-another'), once: 'give-up', left: 'leave' },
  'interrupted, others can go on': { ...all('ask-another'), left: 'leave' },
  interrupted: all('finish'),
};

function all(what: Step['do']): Row {
  return { first: what, freshSocket: what, 'goes on': what, once: what, left: what };
}

describe('the step after an attempt', () => {
  for (const [name, row] of Object.entries(elsewhere))
    it(`is decided by the phase: ${name}`, () => {
      const outcome = outcomes[name as keyof typeof outcomes];
      const done = Object.entries(phases).map(([phase, state]) => [phase, step(state, outcome, false).do]);
      assert.deepEqual(Object.fromEntries(done), row);
    });

  it('does not try another target after a failure of the request itself, unless an answer is to be continued', () => {
    const done = Object.entries(phases).map(([phase, state]) => [
      phase,
      step(state, outcomes.failed, true).do,
    ]);
    const expected = { ...all('give-up'), 'goes on': 'ask-another', left: 'leave' };
    assert.deepEqual(Object.fromEntries(done), expected);
  });

  it('passes on what to send and what to continue', () => {
    assert.deepEqual(step(first, outcomes['retry-variant'], false), { do: 'send', request: variant });
    assert.deepEqual(step(first, outcomes['interrupted, others can go on'], false), {
      do: 'ask-another',
      partial: begun,
    });
    assert.deepEqual(step(first, outcomes.failed, false), { do: 'ask-another', partial: null });
  });
});
