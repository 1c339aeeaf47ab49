import { configRoutes } from './config-routes.ts';
import { deadLetterRoutes } from './dead-letter-routes.ts';
import { ingestRoutes } from './ingest.ts';
import type { EventsRoute } from './route.ts';
import { schemaRoutes } from './schemas.ts';
import { statusRoutes } from './status-routes.ts';
import { tailRoute } from './tail-route.ts';

/** Everything that is served below `/api/events`. */
export const eventsRoutes: readonly EventsRoute[] = [
  ...configRoutes,
  ...ingestRoutes,
  ...statusRoutes,
  ...deadLetterRoutes,
  tailRoute,
  ...schemaRoutes,
];
