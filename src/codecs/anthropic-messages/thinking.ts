import type { Conversation, Reasoning } from '../conversation.ts';
import { type JsonObject, listOf, objectOf } from '../values.ts';

export interface Thinking {
  /** The request's `thinking`; undefined where nothing is said of it. */
  member: JsonObject | undefined;
  on: boolean;
  /** Tokens of it; null when the model decides. */
  budget: number | null;
}

/** The smallest budget that the vendor takes. */
const LEAST_BUDGET = 1_024;

/**
 * How much the model shall think: as many tokens as the caller counted, else as the model sees fit. Not at
 * all where the vendor would refuse it: with a tool that must be called, or without thoughts to go on from
 * ("Extended thinking with tool use").
 */
export function thinkingOf(
  { reasoning, toolChoice }: Conversation,
  messages: readonly JsonObject[],
): Thinking {
  if (reasoning === null) return { member: undefined, on: false, budget: null };
  const forced =
    toolChoice?.kind === 'required' ||
    toolChoice?.kind === 'tool' ||
    (toolChoice?.kind === 'allowed' && toolChoice.required);
  const budget = budgetOf(reasoning);
  if (reasoning.mode === 'off' || forced || (budget !== null && inUnthoughtLoop(messages)))
    return { member: { type: 'disabled' }, on: false, budget: null };
  const display = displays[reasoning.display ?? ''];
  const shown = display === undefined ? {} : { display };
  const member =
    budget === null ? { type: 'adaptive', ...shown } : { type: 'enabled', budget_tokens: budget, ...shown };
  return { member, on: true, budget };
}

const displays: Readonly<Record<string, string>> = {
  ...{ summarized: 'summarized', omitted: 'omitted' },
  ...{ auto: 'summarized', concise: 'summarized', detailed: 'summarized' },
};

function budgetOf({ budgetTokens, mode }: Reasoning): number | null {
  if (mode !== 'on' || budgetTokens === null) return null;
  return Math.max(LEAST_BUDGET, Math.floor(budgetTokens));
}

/**
 * Whether the answer goes on after a call that another model made: its turn has no thinking that the vendor signed,
 * without which the vendor refuses to think to a budget on ("Adaptive thinking" knows no such rule).
 */
function inUnthoughtLoop(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const content = listOf(last?.['content']).map(objectOf);
  if (!content.some(({ type }) => type === 'tool_use')) return false;
  return content[0]?.['type'] !== 'thinking' && content[0]?.['type'] !== 'redacted_thinking';
}

const efforts: Readonly<Record<string, string>> = {
  ...{ minimal: 'low', low: 'low', medium: 'medium' },
  ...{ high: 'high', xhigh: 'xhigh', max: 'max' },
};

/** The vendor's word for an effort; undefined for one that it does not know. */
export function effortOf(reasoning: Reasoning | null): string | undefined {
  return efforts[reasoning?.effort ?? ''];
}
