import { table, textOf } from '../json/values.ts';

/** How the vendors call the tiers that OpenAI has a word for. */
const openaiWords = table<string>({
  standard: 'default',
  standard_only: 'default',
  on_demand: 'default',
  on_demand_flex: 'flex',
  on_demand_priority: 'priority',
});
const anthropicWords = table<string>({ default: 'standard', priority: 'priority', batch: 'batch' });

/** Words that leave the choice to the vendor, and say nothing of what it was. */
const undecided = /^auto$|unspecified$/;
/** Any word that a vendor may come up with, and nothing that is none. */
const TIER = /^[a-z0-9][a-z0-9_.-]{0,39}$/;

/** A service tier in OpenAI's word where there is one; null for what names none (`auto`, Google's `…_UNSPECIFIED`). */
export function tierWord(values: unknown): string | null {
  const word = textOf(values).toLowerCase();
  if (!TIER.test(word) || undecided.test(word)) return null;
  return openaiWords[word] ?? word;
}

/** The tier that an answer says it was served in, as `tierWord` has it. The first that is said counts. */
export function servedTier(...values: unknown[]): { tier?: string } {
  const tier = values.map(tierWord).find((word) => word !== null) ?? null;
  return tier === null ? {} : { tier };
}

/** The same in Anthropic's word, where it has one. */
export function anthropicTier(tier: string): { service_tier?: string } {
  const word = anthropicWords[tier];
  return word === undefined ? {} : { service_tier: word };
}
