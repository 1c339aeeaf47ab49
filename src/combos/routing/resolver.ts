import { type ResolvedModel, type Routes, resolve } from './resolve.ts';

/** Names that are kept; a client of a connection may make up any number. */
const MOST_NAMES = 4_096;
const LONGEST_NAME = 256;

/**
 * `resolve`, which keeps what the names mean that were asked for, and what their pools are for each format, until there
 * are other routes.
 */
export function createResolver(): typeof resolve {
  let cache = new Map<string, ResolvedModel>();
  let knownRoutes: Routes | null = null;
  return (requested, routes) => {
    if (routes !== knownRoutes) {
      cache = new Map();
      knownRoutes = routes;
    }
    const existing = cache.get(requested);
    if (existing !== undefined) return existing;
    const { pool, via } = resolve(requested, routes);
    const resolved = { pool: { ...pool, byFormat: pool.byFormat ?? new Map() }, via };
    if (cache.size >= MOST_NAMES) cache.clear();
    if (requested.length <= LONGEST_NAME) cache.set(requested, resolved);
    return resolved;
  };
}
