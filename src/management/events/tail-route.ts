import { encodeJsonEvent } from '../../events/cloudevents/json-format.ts';
import type { TailedEvent } from '../../events/engine/publishing/tail.ts';
import { failures, text } from '../openapi/fixed.ts';
import { filterOf } from './dead-letter-routes.ts';
import type { EventsCall, EventsRoute } from './route.ts';

const permission = 'events:inspect';

export const tailRoute: EventsRoute = {
  method: 'GET',
  path: '/tail',
  permission,
  parameters: [{ name: 'cesql', description: 'Only events that match this CESQL expression' }],
  operation: () => ({
    operationId: 'tail_events',
    summary:
      'The events that sources publish from now on, as server-sent events: `event` in the JSON of CloudEvents, `source_id` and `result`',
    responses: {
      200: { description: 'Events', content: { 'text/event-stream': { schema: text } } },
      ...failures,
    },
  }),
  run: tail,
};

/** Ends with the caller's login. A message reports events that were left out because the caller did not read. */
async function tail({ caller, context, events, exchange, params }: EventsCall): Promise<null> {
  const cesql = params.get('cesql');
  const filter = cesql === null ? null : filterOf(cesql);
  const { engine } = await events.control();
  const { auth, streams } = context;
  const send = streams.open(exchange, {
    userId: caller.userId,
    until: auth.endOf(caller),
    lasts: () => auth.lasts(caller, [permission]),
  });
  const stop = engine.tail.listen((tailed) => {
    const shown = withSource(tailed);
    if (filter === null || filter.matches(shown.attributes))
      send({ event: 'event', data: recordText(tailed, shown) });
  });
  exchange.response.on('close', stop);
  return null;
}

/** As the channels get it. */
function withSource({ event, sourceId }: TailedEvent): TailedEvent['event'] {
  return { attributes: { ...event.attributes, eventsourceid: sourceId }, data: event.data };
}

function recordText({ result, sourceId }: TailedEvent, event: TailedEvent['event']): string {
  const json = Buffer.from(encodeJsonEvent(event)).toString();
  return `{"source_id":${JSON.stringify(sourceId)},"result":"${result}","event":${json}}`;
}
