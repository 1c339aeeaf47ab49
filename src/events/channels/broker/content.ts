import type { CloudEvent } from '../../cloudevents/event.ts';
import type { DecodeResult } from '../../cloudevents/problem.ts';
import type { Content } from '../channel.ts';

/** What a message holds, by what came of decoding it. */
export function contentOf(bytes: Uint8Array, decoded: DecodeResult<CloudEvent>): Content {
  if (decoded.ok) return { ok: true, event: decoded.value };
  const problems = decoded.problems.map(({ message, path }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return { ok: false, bytes, problem: problems.join('; ') };
}

/**
 * What names a message that its broker does not number: the event in it, whose source and id are its own. Null for a message
 * that holds no event.
 */
export function eventPosition(content: Content): string | null {
  if (!content.ok) return null;
  const { id, source } = content.event.attributes;
  return JSON.stringify([source, id]);
}
