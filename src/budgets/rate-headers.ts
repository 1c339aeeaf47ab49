import { type Counter, levelAt, limitOf, resetsAt, usageElsewhereAt } from './counter.ts';
import type { BudgetMetric } from './schema.ts';

/** The conventions in which clients read how much is left. */
export type RateDialect = 'openai' | 'anthropic';

/** How much is left of one limit. */
export interface RemainingLimit {
  metric: BudgetMetric;
  limit: number;
  remaining: number;
  /** Milliseconds since the epoch. */
  resetsAt: number;
}

/** Of the limits of requests, and of those of tokens, the one with the least left. */
export function remainingLimits(counters: readonly Counter[], at: number): RemainingLimit[] {
  return (['requests', 'tokens'] as const).flatMap((metric) => leastLeft(counters, metric, at) ?? []);
}

/**
 * What is left of requests and of tokens, as headers in the client's convention, flat. Names: OpenAI API reference, "Rate
 * limits in headers"; Anthropic API reference, "Response headers".
 */
export function rateHeaders(rates: readonly RemainingLimit[], dialect: RateDialect, at: number): string[] {
  const headers: string[] = [];
  for (const { limit, metric, remaining, resetsAt: end } of rates) {
    if (dialect === 'anthropic') {
      const prefix = `anthropic-ratelimit-${metric}`;
      headers.push(`${prefix}-limit`, String(limit), `${prefix}-remaining`, String(remaining));
      headers.push(`${prefix}-reset`, new Date(end).toISOString().replace(/\.\d+Z$/, 'Z'));
    } else {
      headers.push(`x-ratelimit-limit-${metric}`, String(limit));
      headers.push(`x-ratelimit-remaining-${metric}`, String(remaining));
      headers.push(`x-ratelimit-reset-${metric}`, duration(end - at));
    }
  }
  return headers;
}

function leastLeft(counters: readonly Counter[], metric: BudgetMetric, at: number): RemainingLimit | null {
  let least: RemainingLimit | null = null;
  for (const counter of counters) {
    if (counter.budget.metric !== metric) continue;
    const limit = limitOf(counter);
    const { held, spent } = levelAt(counter, at);
    const remaining = Math.max(0, limit - spent - held - usageElsewhereAt(counter, at));
    if (least !== null && least.remaining <= remaining) continue;
    least = { metric, limit, remaining, resetsAt: resetsAt(counter, at) ?? at };
  }
  return least;
}

/** As OpenAI writes it: `1s`, `6m0s`, `2h3m0s`. */
function duration(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
