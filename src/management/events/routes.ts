import { configRoutes } from './config-routes.ts';
import { ingestRoutes } from './ingest.ts';
import type { EventsRoute } from './route.ts';
import { schemaRoutes } from './schemas.ts';

/** Everything that is served below `/api/events`. */
export const eventsRoutes: readonly EventsRoute[] = [...configRoutes, ...ingestRoutes, ...schemaRoutes];
