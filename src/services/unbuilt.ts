import type { Part } from './part.ts';

/** Services that the API names and this version does not have. They are shown as what they are: not there. */
const rows = [
  { id: 'dashboard', kind: 'dashboard', name: 'Dashboard', what: 'The pages of the dashboard' },
] as const;

/** @param built ids of those that exist after all */
export function unbuiltParts(built: ReadonlySet<string> = new Set()): Part[] {
  return rows
    .filter(({ id }) => !built.has(id))
    .map(({ id, kind, name, what }) => ({
      key: id,
      id,
      kind,
      name,
      critical: false,
      dependsOn: [],
      version: null,
      description: `${what}. Not part of this version.`,
      status: () => ({
        desired: 'stopped',
        state: 'disabled',
        changedAt: null,
        startedAt: null,
        error: null,
        reason: { code: 'not_built', message: 'This version of the gateway does not have it' },
      }),
      checks: () => [],
      endpoints: () => [],
    }));
}
