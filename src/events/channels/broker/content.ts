import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Decoded } from '../../cloudevents/problem.ts';
import type { Content } from '../channel.ts';

/** What a message holds, by what came of decoding it. */
export function contentOf(bytes: Uint8Array, decoded: Decoded<CloudEvent>): Content {
  if (decoded.ok) return { ok: true, event: decoded.value };
  const problems = decoded.problems.map(({ message, path }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return { ok: false, bytes, problem: problems.join('; ') };
}
