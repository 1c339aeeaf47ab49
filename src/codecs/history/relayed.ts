import { extractEncryptedReasoning, extractWithThought } from '../encrypted-reasoning/embed.ts';
import { codecOf } from '../index.ts';
import { anywhere, containNeedle, indexOfNeedle } from '../json/byte-search.ts';
import { keptFieldNeedle, keptNeedle, type Needle } from '../json/needle.ts';
import type { WireFormat } from '../wire-format.ts';
import type { HistoryRules } from './history.ts';

/** How the earlier turns of a request in the upstream's own format must look there. */
export interface RelayedHistoryRules extends HistoryRules {
  format: WireFormat;
  /** The model's name at the target. */
  model: string;
}

/**
 * A request in the upstream's own format with earlier turns as the upstream takes them: other vendors made some of them,
 * and what those encrypted or added would be refused. Every other byte stays as it is.
 * @returns the same buffer, and nothing left out, where nothing has to change
 * @throws GatewayError `invalid_json`
 */
export function relayedHistory(
  pieces: readonly Buffer[],
  rules: RelayedHistoryRules,
): { body: readonly Buffer[]; dropped: string[] } {
  const { history } = codecOf(rules.format);
  if (history === undefined) return { body: pieces, dropped: [] };
  const { carried } = history;
  const isSigning = history.signsThoughts?.(rules.dialect) === true;
  const begins = [...carried.begins, ...(isSigning ? ['"'] : [])];
  // Embedded encrypted reasoning is rarer than the names of its fields, and found faster.
  const mayBeEncrypted = begins.some((begin) => containNeedle(pieces, keptNeedle(begin)));
  const strips = mayBeEncrypted && carried.names.some((name) => holds(pieces, name, begins));
  const own = history.own?.(rules);
  const rewrites = own?.names.some((name) => holds(pieces, name, null)) === true;
  if (!strips && !rewrites) return { body: pieces, dropped: [] };
  const body = Buffer.concat(pieces);
  const stripped = strips
    ? carried.strip(body, {
        model: rules.model,
        strips: (text) => (text === '' ? isSigning : isCarried(text)),
      })
    : body;
  const rewritten = rewrites ? own?.rewrite(stripped) : undefined;
  const dropped = (rewritten?.dropped ?? []).map((name) => `messages.${name}`);
  const request = rewritten?.request ?? stripped;
  return {
    body: request === body ? pieces : [request],
    dropped: [...(stripped === body ? [] : ['reasoning']), ...dropped],
  };
}

/** Whether encrypted reasoning is not the vendor's own: another format's that was carried there. */
function isCarried(text: string): boolean {
  return extractEncryptedReasoning(text) !== null || extractWithThought(text) !== null;
}

/** Longer than a field's name, its colon and the beginning of encrypted reasoning, in bytes. */
const SEAM = 64;

/**
 * Whether a field of this name stands anywhere in the pieces, with a text that begins in one of these ways. What is
 * written with escapes is not found: no client writes these names so.
 */
function holds(pieces: readonly Buffer[], name: string, begins: readonly string[] | null): boolean {
  const needle = keptFieldNeedle(name);
  return anywhere(pieces, SEAM, (bytes) => occursAsField(bytes, needle, begins));
}

const afterName = /^\s{0,8}:\s{0,8}/;

function occursAsField(bytes: Buffer, needle: Needle, begins: readonly string[] | null): boolean {
  for (let at = indexOfNeedle(bytes, needle); at !== -1; at = indexOfNeedle(bytes, needle, at + 1)) {
    const end = at + needle.bytes.length;
    const behind = bytes.toString('latin1', end, end + SEAM - needle.bytes.length);
    const value = behind.replace(afterName, '');
    // A text of that name is no field.
    if (value === behind) continue;
    if (begins === null || begins.some((begin) => value.startsWith(`"${begin}`))) return true;
  }
  return false;
}
