import { isDeepStrictEqual } from 'node:util';
import type { EventConfig, Route } from '../config/config.ts';

/** What differs between two configurations, by ids. */
export interface ConfigChanges {
  readonly channels: MemberChanges;
  readonly sources: MemberChanges;
  readonly triggers: MemberChanges;
  /** How many routers only one of them has. */
  readonly routers: { readonly added: number; readonly removed: number };
}

export interface MemberChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export function configChanges(before: EventConfig, after: EventConfig): ConfigChanges {
  const routersBefore = new Set(before.routes.map(routeKey));
  const routersAfter = new Set(after.routes.map(routeKey));
  return {
    channels: memberChanges(before.channels, after.channels),
    sources: memberChanges(before.sources, after.sources),
    triggers: memberChanges(before.triggers, after.triggers),
    routers: {
      added: countMissing(routersAfter, routersBefore),
      removed: countMissing(routersBefore, routersAfter),
    },
  };
}

function memberChanges(
  before: ReadonlyMap<string, object>,
  after: ReadonlyMap<string, object>,
): MemberChanges {
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    changed: [...after].flatMap(([id, member]) => {
      const earlier = before.get(id);
      return earlier !== undefined && !isDeepStrictEqual(earlier, member) ? [id] : [];
    }),
    removed: [...before.keys()].filter((id) => !after.has(id)),
  };
}

function routeKey({ channelId, filter, sourceId, triggerId }: Route): string {
  return JSON.stringify([sourceId, triggerId, channelId, filter?.text ?? '']);
}

/** How many of `keys` the others do not have. */
function countMissing(keys: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...keys].filter((key) => !others.has(key)).length;
}
