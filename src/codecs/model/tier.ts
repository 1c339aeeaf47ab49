import { table, textOf } from '../json/values.ts';

/** How the vendors call the tiers that OpenAI has a word for. */
const openaiWords = table<string>({ standard: 'default', on_demand: 'default' });
const anthropicWords = table<string>({ default: 'standard', priority: 'priority', batch: 'batch' });

/** The tier that an answer says it was served in, in OpenAI's word where there is one (U-09). The first that is said counts. */
export function servedTier(...said: unknown[]): { tier?: string } {
  const word = said
    .map(textOf)
    .find((text) => text !== '')
    ?.toLowerCase();
  return word === undefined ? {} : { tier: openaiWords[word] ?? word };
}

/** The same in Anthropic's word, where it has one. */
export function anthropicTier(tier: string): { service_tier?: string } {
  const word = anthropicWords[tier];
  return word === undefined ? {} : { service_tier: word };
}
