import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { TunnelKind } from './kind.ts';
import { newTunnel, type TunnelId, tunnelKindId, tunnelRow } from './schema.ts';
import type { CreatedTunnel, Tunnels } from './tunnels.ts';

/** The ways to reach the gateway from the internet, one of each kind. */
export function tunnelsResource(tunnels: Tunnels): Resource {
  const rowOf = async (kind: TunnelKind): Promise<Row> => {
    const created = tunnels.created().find(({ id }) => id === kind.id) ?? null;
    return row(kind, await tunnels.program(kind), created);
  };
  const find = async (id: string): Promise<Row | null> => {
    const kind = tunnels.kinds.find((one) => one.id === id);
    return kind === undefined ? null : rowOf(kind);
  };
  const idOf = ({ id }: Row): TunnelId => tunnelKindId.parse(id);
  return {
    name: 'tunnels',
    title: 'Tunnels',
    summary: 'Tunnels through which the gateway can be reached from the internet, one of each kind.',
    record: tunnelRow,
    read: 'tunnels:read',
    list: () => Promise.all(tunnels.kinds.map(rowOf)),
    find,
    create: {
      permission: 'tunnels:operate',
      perMinute: 12,
      input: newTunnel,
      async run(body) {
        const { domain = null, kind } = newTunnel.parse(body);
        await tunnels.create(kind, domain);
        const made = await find(kind);
        if (made === null) throw new GatewayError('not_found', `There is no kind of tunnel "${kind}"`);
        return { row: made };
      },
    },
    remove: {
      permission: 'tunnels:operate',
      possible: ({ state }) => state !== 'absent',
      async run(one) {
        if (!(await tunnels.remove(idOf(one))))
          throw new GatewayError('conflict', `The tunnel "${one.id}" was never created`);
      },
    },
    actions: {
      start: {
        summary: 'Starts its program, and starts it again whenever it ends.',
        permission: 'tunnels:operate',
        perMinute: 12,
        possible: ({ state }) => state === 'stopped',
        preview: async ({ id }) => ({ success: true, message: `The tunnel "${id}" would be started` }),
        async run(one) {
          await tunnels.start(idOf(one));
          return { success: true, message: `The tunnel "${one.id}" is starting` };
        },
      },
      stop: {
        summary: 'Ends its program. The tunnel stays stopped until you start it.',
        permission: 'tunnels:operate',
        possible: ({ state }) => state !== 'absent' && state !== 'stopped',
        preview: async ({ id }) => ({ success: true, message: `The tunnel "${id}" would be stopped` }),
        async run(one) {
          await tunnels.stop(idOf(one));
          return { success: true, message: `The tunnel "${one.id}" is stopped` };
        },
      },
    },
    // How it is doing is no change of it.
    revisionOf: ({ created_at, desired_state, domain, id }) =>
      JSON.stringify([id, created_at, desired_state, domain]),
  };
}

function row({ id, name }: TunnelKind, program: string | null, created: CreatedTunnel | null): Row {
  return {
    id,
    name,
    installed: program !== null,
    program,
    state: created?.state ?? 'absent',
    desired_state: created?.desired ?? null,
    url: created?.url ?? null,
    domain: created?.domain ?? null,
    created_at: iso(created?.createdAt),
    started_at: iso(created?.startedAt),
    failures: created?.failures ?? 0,
    last_error:
      created?.error == null
        ? null
        : { message: created.error.message, at: new Date(created.error.at).toISOString() },
  };
}

function iso(ms: number | null | undefined): string | null {
  return ms == null ? null : new Date(ms).toISOString();
}
