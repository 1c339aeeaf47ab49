import { checkAccept } from '../guard/origin.ts';
import { failures, json } from '../openapi/fixed.ts';
import { schemaOf } from '../openapi/paths.ts';
import type { EventsRoute } from './route.ts';
import { statusOf } from './status.ts';
import { statusRecord } from './status-schema.ts';

export const statusRoutes: readonly EventsRoute[] = [
  {
    method: 'GET',
    path: '/status',
    permission: 'events:read',
    parameters: [],
    operation: () => ({
      operationId: 'get_event_status',
      summary: 'The status of the event engine: its sources, channels and triggers, and their problems',
      responses: {
        200: {
          description: 'Counters start when a source, channel or trigger is opened',
          content: json(schemaOf(statusRecord, 'output')),
        },
        ...failures,
      },
    }),
    async run({ events, exchange }) {
      checkAccept(exchange.request);
      return { status: 200, body: await statusOf(events.opened()), headers: {} };
    },
  },
];
