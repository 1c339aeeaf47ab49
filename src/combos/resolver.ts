import { type ResolvedModel, type Routes, resolve } from './resolve.ts';

/** Names that are kept; a client of a connection may make up any number. */
const MOST_NAMES = 4_096;
const LONGEST_NAME = 256;

/**
 * `resolve`, which keeps what the names mean that were asked for, and what their pools are for each format, until there
 * are other routes.
 */
export function createResolver(): typeof resolve {
  let known = new Map<string, ResolvedModel>();
  let knownRoutes: Routes | null = null;
  return (requested, routes) => {
    if (routes !== knownRoutes) {
      known = new Map();
      knownRoutes = routes;
    }
    const found = known.get(requested);
    if (found !== undefined) return found;
    const { pool, via } = resolve(requested, routes);
    const resolved = { pool: { ...pool, byFormat: pool.byFormat ?? new Map() }, via };
    if (known.size >= MOST_NAMES) known.clear();
    if (requested.length <= LONGEST_NAME) known.set(requested, resolved);
    return resolved;
  };
}
