import type { IncomingHttpHeaders } from 'node:http';
import { codecOf } from '../../codecs/index.ts';
import { containNeedle } from '../../codecs/json/byte-search.ts';
import { fieldsOf } from '../../codecs/json/fields.ts';
import { keptFieldNeedle } from '../../codecs/json/needle.ts';
import { tierWord } from '../../codecs/model/tier.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { joined } from '../json/joined.ts';

/** How Google's cloud and Amazon's take it (Vertex AI, "Priority pay-as-you-go"; Amazon Bedrock, "Service tiers"). */
const headerNames = ['x-vertex-ai-llm-shared-request-type', 'x-amzn-bedrock-service-tier'] as const;

/**
 * The service tier that a request asks for, as `tierWord` has it; null where it names none. The body is read only where
 * it has a field of such a name somewhere. One that is no JSON is for others to refuse.
 */
export function requestedTier(
  format: WireFormat,
  body: readonly Buffer[],
  headers: IncomingHttpHeaders,
): string | null {
  for (const name of headerNames) {
    const tier = tierWord(headers[name]);
    if (tier !== null) return tier;
  }
  const names = codecOf(format).requestFields.tier ?? [];
  if (!names.some((name) => containNeedle(body, keptFieldNeedle(name)))) return null;
  const tiers = tiersIn(joined(body), names);
  return names.map((name) => tiers.get(name)).find((tier) => tier !== undefined) ?? null;
}

function tiersIn(body: Buffer, names: readonly string[]): Map<string, string> {
  const tiers = new Map<string, string>();
  try {
    for (const { end, name, value } of fieldsOf(body)) {
      if (!names.includes(name)) continue;
      const tier = tierOf(name, body.toString('utf8', value, end));
      if (tier !== null) tiers.set(name, tier);
    }
  } catch {
    return new Map();
  }
  return tiers;
}

/** A literal of JSON as a tier. An ordinary speed is none. */
function tierOf(name: string, literal: string): string | null {
  if (!literal.startsWith('"')) return null;
  const tier = tierWord(literal.slice(1, -1));
  return name === 'speed' && tier !== 'fast' ? null : tier;
}
