import type { Concept } from '../../model/concept.ts';

/** The thinking levels, from least to most (`ThinkingLevel`, in small letters). */
export const levels = ['minimal', 'low', 'medium', 'high'] as const;
export type Level = (typeof levels)[number];

/** How a model's thinking is configured. */
export type ThinkingStyle =
  | { by: 'level'; levels: readonly Level[] }
  /** Tokens. `off`: whether 0 is taken. */
  | { by: 'budget'; least: number; most: number; off: boolean }
  /** It does not think, and refuses a thinking configuration. */
  | { by: 'none' };

interface Family {
  name: RegExp;
  thinking: ThinkingStyle;
}

const high = 24_576;

/** The first that fits decides (Gemini API, "Gemini thinking": levels and budgets; model pages of 3.1, 3.5 and 3.8). */
const families: readonly Family[] = [
  { name: /gemini-3(\.0)?-pro/, thinking: { by: 'level', levels: ['low', 'high'] } },
  { name: /gemini-3(\.[015])?-flash/, thinking: { by: 'level', levels } },
  { name: /gemini-2\.5-pro/, thinking: { by: 'budget', least: 128, most: 32_768, off: false } },
  { name: /gemini-2\.5-flash-lite/, thinking: { by: 'budget', least: 512, most: high, off: true } },
  { name: /gemini-2\.5/, thinking: { by: 'budget', least: 1, most: high, off: true } },
  { name: /gemini-(1|2)([.-]|$)|gemma-[123]|learnlm/, thinking: { by: 'none' } },
];

/** What models that came later take, as far as is known. */
const newest: ThinkingStyle = { by: 'level', levels: ['low', 'medium', 'high'] };

/** How the thinking of `model`, by its name at the vendor, is configured. */
export function thinkingStyleOf(model: string): ThinkingStyle {
  return families.find(({ name }) => name.test(model))?.thinking ?? newest;
}

/** What models of this name refuse: those that do not think refuse a thinking configuration. */
export function unsupportedBy(model: string): readonly Concept[] {
  return thinkingStyleOf(model).by === 'none' ? ['reasoning'] : [];
}

/**
 * Whether `model` is of the third generation or later: these refuse calls of the current turn without a signature
 * ("Thought signatures"), and see images in the results of functions ("Multimodal function responses").
 */
export function isThirdGeneration(model: string): boolean {
  return /gemini-([3-9]|\d\d|(pro|flash|flash-lite)-latest)/.test(model);
}
