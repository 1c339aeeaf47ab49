import type { IncomingHttpHeaders } from 'node:http';
import { tierWord } from '../../codecs/model/tier.ts';

/** Headers in which upstreams name the tier (Gemini API, "Priority inference"; Amazon Bedrock, "Service tiers"). */
const tierHeaders = ['x-gemini-service-tier', 'x-amzn-bedrock-service-tier'] as const;

/** The service tier that the head of an answer names, as `tierWord` has it; null where it names none. */
export function headerTier(headers: IncomingHttpHeaders): string | null {
  for (const name of tierHeaders) {
    const tier = tierWord(headers[name]);
    if (tier !== null) return tier;
  }
  return null;
}
