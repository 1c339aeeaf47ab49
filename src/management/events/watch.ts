import { encodeJsonEvent } from '../../events/cloudevents/json-format.ts';
import type { Caller } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { ManagementContext } from '../context.ts';
import { filterOf } from './dead-letter-routes.ts';

export interface EventsWatch {
  /** Only events that match this CESQL expression; null for all. */
  cesql: string | null;
  /** It ends with so many events, or after so many milliseconds. */
  limit: number;
  ms: number;
}

/**
 * The events that sources publish from now on, for a while, in the JSON of CloudEvents: what `GET /api/events/tail` shows,
 * for callers within the process.
 * @throws GatewayError
 */
export async function watchEvents(
  { events }: Pick<ManagementContext, 'events'>,
  caller: Caller,
  { cesql, limit, ms }: EventsWatch,
): Promise<unknown[]> {
  if (!caller.can('events:inspect'))
    throw new GatewayError('forbidden', 'This needs the permission events:inspect');
  const filter = cesql === null ? null : filterOf(cesql);
  const { engine } = await events.control();
  const seen: unknown[] = [];
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop();
      resolve(seen);
    };
    const timer = setTimeout(end, ms);
    const stop = engine.tail.listen(({ event, sourceId }) => {
      const shown = { attributes: { ...event.attributes, eventsourceid: sourceId }, data: event.data };
      if (filter !== null && !filter.matches(shown.attributes)) return;
      seen.push(JSON.parse(Buffer.from(encodeJsonEvent(shown)).toString()));
      if (seen.length >= limit) end();
    });
  });
}
