import { indexOfNeedle } from '../../codecs/json/byte-search.ts';
import { fieldNeedle } from '../../codecs/json/needle.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import { joined } from '../json/joined.ts';
import { topLevel } from '../json/splice.ts';
import type { NamedInPath } from '../request/facts.ts';

const HEAD_WINDOW = 1024;
const TAIL_WINDOW = 2048;
const key = fieldNeedle('stream');

/** A request and how its format asks for a stream. */
export interface StreamQuestion {
  readonly body: readonly Buffer[];
  readonly codec: Pick<Codec, 'stream'>;
  readonly named: NamedInPath | null;
}

/** Whether the request asks for a stream, by its path or by a strict scan of the whole body. */
export function streamFlag({ body, codec, named }: StreamQuestion): boolean {
  if (named !== null) return named.stream;
  const scan = topLevel(joined(body));
  if (codec.stream?.byDefault === true) return scan.ok && scan.stream?.text !== 'false';
  return scan.ok && scan.stream?.text === 'true';
}

/** The same for an upstream that did stream: a `"stream": true` near either end is believed without the scan. */
export function asksForStream(question: StreamQuestion): boolean {
  return nearEnds(question.body) || streamFlag(question);
}

/**
 * The same for an upstream that did not stream. Only a flag near either end, where every known client writes
 * it, is worth the scan; one in the middle of a long body is not seen.
 */
export function streamFlagNearEnds(question: StreamQuestion): boolean {
  const canDefault = question.named !== null || question.codec.stream?.byDefault === true;
  return (canDefault || nearEnds(question.body)) && streamFlag(question);
}

function nearEnds(body: readonly Buffer[]): boolean {
  const first = body[0];
  const last = body.at(-1);
  if (first === undefined || last === undefined) return false;
  if (first === last && first.length <= HEAD_WINDOW + TAIL_WINDOW) return isTrueIn(first);
  return (
    isTrueIn(first.subarray(0, HEAD_WINDOW)) ||
    isTrueIn(last.subarray(Math.max(0, last.length - TAIL_WINDOW)))
  );
}

function isTrueIn(window: Buffer): boolean {
  const at = indexOfNeedle(window, key);
  if (at === -1) return false;
  const end = at + key.bytes.length;
  return /^\s*:\s*true/.test(window.toString('latin1', end, end + 32));
}
