import { codecOf } from '../index.ts';
import type { JsonObject } from '../json/values.ts';
import { hasCacheControl } from '../prompt-cache/cache-control.ts';
import { CACHE_CONTROL } from '../request-fields.ts';
import type { WireFormat } from '../wire-format.ts';
import { hasField } from './optional-fields.ts';

/** What a field is also called in an error. */
const aliases: Readonly<Record<string, RegExp>> = {
  'generationConfig.thinkingConfig': /thinking[ _]?(config|budget|level)?/i,
  'generationConfig.frequencyPenalty': /(frequency[ _]?)?penalty/i,
  'generationConfig.presencePenalty': /(presence[ _]?)?penalty/i,
  include: /include|encrypted[ _]content/i,
  think: /think/i,
  [CACHE_CONTROL]: /cache_control|prompt caching/i,
};

/** How servers' errors say that a field is unknown or not accepted, as opposed to a bad value of it. */
const refusal =
  /not support|unsupported|unrecognized|unknown|not permitted|not allowed|unexpected|extra (input|field|param)|not enabled|not available|is not valid for|deprecated/i;

/** How servers say that a message of theirs is a text: one with a mark is a list. */
const noLists = /content\b.{0,60}\b(must|should|expected)\b.{0,20}\bstring|should be a valid string/i;

/**
 * The field of `request` that an upstream's `message` says it does not take; null when it says something else.
 * The longest name that fits is meant.
 * @param among which fields may be meant
 */
export function refusedField(
  format: WireFormat,
  request: JsonObject,
  message: string,
  among: (path: string) => boolean = () => true,
): string | null {
  const isList = format === 'openai-chat' && among(CACHE_CONTROL) && hasCacheControl(request);
  if (isList && noLists.test(message)) return CACHE_CONTROL;
  if (!refusal.test(message)) return null;
  const named = (codecOf(format).requestFields.optional ?? []).filter(
    (path) => among(path) && hasField(request, path) && saysName(message, path),
  );
  return named.sort((a, b) => b.length - a.length)[0] ?? null;
}

function saysName(message: string, path: string): boolean {
  const alias = aliases[path];
  if (alias !== undefined) return alias.test(message);
  const name = path.slice(path.lastIndexOf('.') + 1);
  return new RegExp(`(^|[^a-z_])${name}($|[^a-z_])`, 'i').test(message);
}
