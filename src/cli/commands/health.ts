import { z } from 'zod';
import { conditionRow } from '../../health/schema.ts';
import type { Command } from '../command.ts';
import { collection } from '../gateway/api.ts';
import type { Io } from '../terminal/io.ts';
import { localTime } from '../terminal/text.ts';

const connection = z.object({
  id: z.string(),
  name: z.string(),
  provider: z.string(),
  active: z.boolean(),
  status: z.string(),
  condition: conditionRow,
  model_conditions: z.array(conditionRow.extend({ model: z.string() })),
});

const service = z.object({
  id: z.string(),
  state: z.string(),
  critical: z.boolean(),
  health: z.object({ status: z.string() }),
  state_reason: z.unknown(),
});

type Connection = z.infer<typeof connection>;
type Service = z.infer<typeof service>;

export const healthCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'server',
  about:
    'Shows how requests fared at each account, and the parts of the gateway. An account that cools down or is exhausted is tried again automatically; one that needs attention waits for another credential.',
  examples: [{ command: 'gateway health --json', does: '{"status","connections":[…],"services":[…]}' }],
  run: async (_, context) => {
    const gateway = await context.gateway();
    const connections = z.array(connection).parse(await collection(gateway, 'connections'));
    const services = z.array(service).parse(await collection(gateway, 'services'));
    const failing = services.some(({ critical, health }) => critical && health.status === 'fail');
    const hasTrouble = connections.some(
      (one) => one.active && (troubled(one) || one.status === 'needs-re-entry'),
    );
    const document = { status: failing ? 'fail' : hasTrouble ? 'warn' : 'ok', connections, services };
    context.io.result(
      document,
      () => `${accountTable(connections, context.io)}\n\n${partTable(services, context.io)}`,
    );
    return 0;
  },
};

function accountTable(connections: readonly Connection[], io: Io): string {
  return io.table<Connection>(
    [
      { title: 'CONNECTION', cell: ({ name }) => name },
      { title: 'PROVIDER', cell: ({ provider }) => provider },
      { title: 'ACTIVE', cell: ({ active }) => (active ? 'yes' : 'no') },
      { title: 'CONDITION', cell: conditionsOf, style: (one) => (troubled(one) ? 'yellow' : 'green') },
    ],
    connections,
  );
}

function partTable(services: readonly Service[], io: Io): string {
  return io.table<Service>(
    [
      { title: 'SERVICE', cell: ({ id }) => id },
      { title: 'STATE', cell: ({ state }) => state },
      {
        title: 'HEALTH',
        cell: ({ health }) => health.status,
        style: ({ health }) => (health.status === 'fail' ? 'red' : null),
      },
    ],
    services.filter(({ id }) => !id.startsWith('connection-')),
  );
}

function troubled({ condition, model_conditions }: Connection): boolean {
  return condition.state !== 'ready' || model_conditions.length > 0;
}

/** `cooling until 12:00:03 (rate limit); m-1: exhausted …`. */
function conditionsOf({ condition, model_conditions }: Connection): string {
  const conditionText = ({ reason, state, until }: z.infer<typeof conditionRow>) =>
    `${state}${until === null ? '' : ` until ${localTime(Date.parse(until))}`}${reason === null ? '' : ` (${reason})`}`;
  const models = model_conditions.map((one) => `${one.model}: ${conditionText(one)}`);
  return [conditionText(condition), ...models].join('; ');
}
