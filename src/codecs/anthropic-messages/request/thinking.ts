import { listOf, objectOf, table } from '../../json/values.ts';
import type { Conversation, Reasoning } from '../../model/conversation.ts';
import { effortOfBudget } from '../../model/effort.ts';
import type { MessageBlock, MessageParam, ThinkingOption } from '../wire.ts';
import { type ModelTraits, takesAdaptive, traitsOf } from './models.ts';

export interface Thinking {
  /** The request's `thinking`; undefined if the conversation does not specify it. */
  field: ThinkingOption | undefined;
  on: boolean;
  /** Tokens of it; null when the model decides. */
  budget: number | null;
}

/** The smallest budget that the vendor takes. */
const LEAST_BUDGET = 1_024;

/**
 * How much the model shall think: as many tokens as the client counted, else as the model sees fit. Not at
 * all where the vendor would refuse it: with a tool that must be called, or without thoughts to go on from
 * ("Extended thinking with tool use").
 */
export function thinkingOf(
  { model, reasoning, toolChoice }: Conversation,
  messages: readonly MessageParam[],
): Thinking {
  if (reasoning === null) return { field: undefined, on: false, budget: null };
  const forced =
    toolChoice?.kind === 'required' ||
    toolChoice?.kind === 'tool' ||
    (toolChoice?.kind === 'allowed' && toolChoice.required);
  const traits = traitsOf(model);
  const requestedBudget = budgetOf(reasoning, traits);
  const unthought = requestedBudget !== null && isUnthought(lastAnswer(messages));
  const budget = unthought && takesAdaptive(model) ? null : requestedBudget;
  if (reasoning.mode === 'off' || forced || (unthought && budget !== null))
    return { field: traits.needsExplicitOff ? { type: 'disabled' } : undefined, on: false, budget: null };
  const display = displays[reasoning.display ?? ''];
  const shown = display === undefined ? {} : { display };
  const field =
    budget === null ? { type: 'adaptive', ...shown } : { type: 'enabled', budget_tokens: budget, ...shown };
  return { field, on: true, budget };
}

const displays: Readonly<Record<string, string>> = table({
  summarized: 'summarized',
  omitted: 'omitted',
  auto: 'summarized',
  concise: 'summarized',
  detailed: 'summarized',
});

/** Tokens for an effort, for models that support no other measure: the steps that `effortOfBudget` reads. */
const budgetOfEffort: Readonly<Record<string, number>> = table({
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
});

function budgetOf({ budgetTokens, effort, mode }: Reasoning, { thinking }: ModelTraits): number | null {
  if (thinking === 'adaptive') return null;
  const explicitBudget = mode === 'on' ? budgetTokens : null;
  const tokens = explicitBudget ?? (thinking === 'budget' ? (budgetOfEffort[effort ?? ''] ?? 8_192) : null);
  return tokens === null ? null : Math.max(LEAST_BUDGET, Math.floor(tokens));
}

/**
 * A request's own `thinking` where its last answer has lost its thoughts: as the model sees fit if it can do that, else
 * none. The same object where nothing has to change.
 */
export function thinkingAfter(
  model: string,
  thinking: ThinkingOption,
  last: readonly MessageBlock[],
): ThinkingOption {
  if (thinking.type !== 'enabled' || !isUnthought(last)) return thinking;
  const { display } = thinking;
  if (!takesAdaptive(model)) return { type: 'disabled' };
  return { type: 'adaptive', ...(display === undefined ? {} : { display }) };
}

function lastAnswer(messages: readonly MessageParam[]): MessageBlock[] {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return listOf(last?.content).map(objectOf);
}

/**
 * Whether the current turn has calls without thoughts that the vendor signed. Without these it refuses thinking with a
 * budget: "a final assistant message must start with a thinking block (preceding the lastmost set of tool_use and
 * tool_result blocks)". Earlier turns may have none, and adaptive thinking has no such rule ("Adaptive thinking",
 * validation changes).
 */
function isUnthought(content: readonly MessageBlock[]): boolean {
  if (!content.some(({ type }) => type === 'tool_use')) return false;
  return content[0]?.type !== 'thinking' && content[0]?.type !== 'redacted_thinking';
}

const efforts: Readonly<Record<string, string>> = table({
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
});

/** The vendor's word for an effort, the next lesser one that the model takes; undefined for an unknown one. */
export function effortOf(reasoning: Reasoning | null, model: string): string | undefined {
  if (reasoning === null) return undefined;
  const traits = traitsOf(model);
  const { budgetTokens, effort } = reasoning;
  // For a model that takes no budget, it is sent as an effort.
  const counted = traits.thinking === 'adaptive' && effort === null && budgetTokens !== null;
  const word = efforts[counted ? effortOfBudget(budgetTokens) : (effort ?? '')];
  if (word === undefined || traits.efforts.includes(word)) return word;
  return traits.efforts.findLast((accepted) => ranks.indexOf(accepted) <= ranks.indexOf(word));
}

const ranks = ['low', 'medium', 'high', 'xhigh', 'max'];
