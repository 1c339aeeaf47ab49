import { countIn, isObject, objectOf } from '../../json/values.ts';
import type { MessagesRequest, ThinkingOption } from '../wire.ts';

/** The least thinking budget that Anthropic accepts, and the tokens that it must leave for the answer. */
const LEAST_BUDGET = 1024;

/** Thinking to a budget counts towards the bound and must stay below it. */
export function fitOutputCap(request: MessagesRequest, most: number): MessagesRequest {
  const { thinking } = request;
  const requestedBudget = isObject(thinking)
    ? countIn(objectOf<ThinkingOption>(thinking).budget_tokens)
    : null;
  if (!isObject(thinking) || requestedBudget === null || requestedBudget < most) return request;
  const budget = Math.max(LEAST_BUDGET, most - LEAST_BUDGET);
  if (budget < most) return { ...request, thinking: { ...thinking, budget_tokens: budget } };
  const { thinking: _, ...rest } = request;
  return rest;
}
