import { numberOf } from '../../json/lossless.ts';
import { type JsonObject, table } from '../../json/values.ts';
import { wrong } from '../../json/wire-check.ts';
import type { Reasoning } from '../../model/conversation.ts';
import { effortOfBudget } from '../../model/effort.ts';
import type { ThinkingConfig } from '../wire.ts';
import { type Level, levels, type ThinkingStyle, thinkingStyleOf } from './models.ts';

const PATH = 'generationConfig.thinkingConfig';
/** The budget of a model that decides itself. */
const DYNAMIC = -1;

/** `thinkingConfig` as reasoning. Thoughts are shown only on request. */
export function readThinking(config: ThinkingConfig | null): Reasoning | null {
  if (config === null) return null;
  const { includeThoughts, thinkingBudget, thinkingLevel: level } = config;
  if (!isAbsent(includeThoughts) && typeof includeThoughts !== 'boolean')
    throw wrong(`${PATH}.includeThoughts`, 'true or false');
  const budget = numberOf(thinkingBudget);
  if (!isAbsent(thinkingBudget) && !Number.isFinite(budget))
    throw wrong(`${PATH}.thinkingBudget`, 'a number');
  if (!isAbsent(level) && typeof level !== 'string') throw wrong(`${PATH}.thinkingLevel`, 'a string');
  const effort = typeof level === 'string' && !level.endsWith('UNSPECIFIED') ? level.toLowerCase() : null;
  const display = includeThoughts === true ? 'summarized' : 'omitted';
  if (budget === 0) return { mode: 'off', effort, budgetTokens: null, display };
  const budgetTokens = budget !== null && budget > 0 ? budget : null;
  const isExplicit = effort !== null || budgetTokens !== null;
  return { mode: isExplicit ? 'on' : 'adaptive', effort, budgetTokens, display };
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/**
 * Reasoning as the `thinkingConfig` that `model` takes: a level for Gemini 3 and later, a budget for 2.5,
 * undefined for those that do not think. A model that cannot do without thinking thinks as little as it can.
 */
export function thinkingOf(reasoning: Reasoning | null, model: string): JsonObject | undefined {
  const style = thinkingStyleOf(model);
  if (reasoning === null || style.by === 'none') return undefined;
  const amount = style.by === 'level' ? levelOf(reasoning, style.levels) : budgetOf(reasoning, style);
  const shown = !isOff(reasoning) && reasoning.display !== 'omitted';
  const config = { ...amount, ...(shown ? { includeThoughts: true } : {}) };
  return Object.keys(config).length === 0 ? undefined : config;
}

function isOff({ effort, mode }: Reasoning): boolean {
  return mode === 'off' || effort === 'none';
}

const levelOfEffort: Readonly<Record<string, Level>> = table({
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
});

/** The requested level, otherwise the next higher one that the model has. */
function levelOf(reasoning: Reasoning, offered: readonly Level[]): JsonObject {
  const { budgetTokens, effort } = reasoning;
  const word = effort ?? (budgetTokens === null ? '' : effortOfBudget(budgetTokens));
  const requestedLevel = isOff(reasoning) ? 'minimal' : levelOfEffort[word];
  if (requestedLevel === undefined) return {};
  const level = offered.find((one) => levels.indexOf(one) >= levels.indexOf(requestedLevel)) ?? 'high';
  return { thinkingLevel: level.toUpperCase() };
}

/** Tokens for an effort, as the vendor's own OpenAI surface takes it ("OpenAI compatibility", thinking); more is all. */
const budgetOfEffort: Readonly<Record<string, number>> = table({
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
});

function budgetOf(
  reasoning: Reasoning,
  { least, most, off }: Extract<ThinkingStyle, { by: 'budget' }>,
): JsonObject {
  if (isOff(reasoning)) return { thinkingBudget: off ? 0 : least };
  const tokens = reasoning.budgetTokens ?? budgetOfEffort[reasoning.effort ?? ''];
  if (tokens === undefined) return { thinkingBudget: DYNAMIC };
  return { thinkingBudget: Math.min(most, Math.max(least, Math.floor(tokens))) };
}
