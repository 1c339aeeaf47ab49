import { setTimeout as delay } from 'node:timers/promises';
import { type StatusRecord, statusRecord } from '../../../management/events/status-schema.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { requestEvents } from '../../events/events-api.ts';
import type { Io } from '../../terminal/io.ts';
import { count, printable } from '../../terminal/text.ts';

const WATCH_MS = 2_000;

export const eventsStatusCommand: Command = {
  arguments: [],
  flags: [{ name: 'watch', short: 'w', summary: 'show it again every two seconds until interrupted' }],
  needs: 'server',
  about:
    'WAITING counts the events that a trigger has not received yet; a question mark means that the channel cannot count them. Exit 1 while something is wrong.',
  examples: [
    { command: 'gateway events status --watch', does: 'what happens, as it happens' },
    { command: 'gateway events status --json', does: '{"running","config","problems",…}' },
  ],
  run: async (options, context) => {
    if (!options.on('watch')) {
      const status = await ask(context);
      context.io.result(status, () => textOf(status, context.io));
      return isWell(status) ? 0 : 1;
    }
    for (;;) {
      const status = await ask(context);
      context.io.record(status, () => `${textOf(status, context.io)}\n`);
      await delay(WATCH_MS);
    }
  },
};

async function ask(context: Context): Promise<StatusRecord> {
  return statusRecord.parse((await requestEvents(context, '/status', { method: 'GET' })).body);
}

const isWell = ({ config, problems }: StatusRecord): boolean =>
  problems.length === 0 && config.rejected === null;

function textOf(status: StatusRecord, io: Io): string {
  if (!status.running)
    return 'No event has come yet. `gateway events show` prints the configuration that is in force.';
  const { channels, config, problems, requests, sources, triggers } = status;
  const tables = [
    io.table<StatusRecord['sources'][number]>(
      [
        { title: 'SOURCE', cell: ({ id }) => printable(id) },
        { title: 'ACCEPTED', cell: ({ accepted }) => String(accepted) },
        { title: 'SPOOLED', cell: ({ spooled }) => String(spooled) },
        { title: 'DROPPED', cell: ({ dropped }) => String(dropped) },
        { title: 'REJECTED', cell: ({ rejected }) => String(sum(Object.values(rejected))) },
        { title: 'WAITING', cell: ({ storage }) => String(storage?.events ?? 0) },
      ],
      sources,
    ),
    io.table<StatusRecord['channels'][number]>(
      [
        { title: 'CHANNEL', cell: ({ id }) => printable(id) },
        { title: 'KIND', cell: ({ scheme }) => scheme },
        { title: 'PUBLISHED', cell: ({ published }) => String(published) },
        { title: 'FAILED', cell: ({ failed }) => String(failed) },
        { title: 'WAITING', cell: ({ waiting }) => depth(waiting) },
      ],
      channels,
    ),
    io.table<StatusRecord['triggers'][number]>(
      [
        { title: 'TRIGGER', cell: ({ id }) => printable(id) },
        { title: 'STATE', cell: stateOf, style: (one) => (stateOf(one) === 'running' ? 'green' : 'red') },
        { title: 'WAITING', cell: ({ waiting }) => depth(waiting) },
        { title: 'BUFFERED', cell: ({ buffered }) => String(buffered) },
        { title: 'IN FLIGHT', cell: ({ in_flight }) => String(in_flight) },
        { title: 'DELIVERED', cell: ({ delivered }) => String(delivered) },
        { title: 'FAILED', cell: ({ failed }) => String(failed) },
        { title: 'RETRIES', cell: ({ retried }) => String(retried) },
        { title: 'DEAD LETTERS', cell: ({ dead_letters }) => String(dead_letters) },
        { title: 'LAST ERROR', cell: ({ last_error }) => printable(last_error?.message ?? '-') },
      ],
      triggers,
    ),
  ];
  if (requests.limits.length > 0)
    tables.push(
      io.table<StatusRecord['requests']['limits'][number]>(
        [
          { title: `LIMIT OF ${requests.resource}`, cell: ({ kind, name }) => printable(name || kind) },
          { title: 'ALLOWED', cell: allowed },
          { title: 'REMAINING', cell: remaining },
          { title: 'REFUSED', cell: ({ refused }) => String(refused) },
        ],
        requests.limits,
      ),
    );
  const rejected =
    config.rejected === null
      ? []
      : [`events.yaml has ${count(config.rejected.errors, 'error')}: ${config.rejected.first}`];
  return [
    `Version ${config.version} of the configuration is in force (${printable(config.author)}, ${config.via}).`,
    ...tables,
    ...channels.flatMap(({ id, warnings }) =>
      warnings.map((text) => io.paint('yellow', printable(`Channel ${id}: ${text}`))),
    ),
    ...[...rejected, ...problems].map((problem) => io.paint('red', printable(problem))),
  ].join('\n\n');
}

function stateOf({ breaker, paused }: StatusRecord['triggers'][number]): string {
  if (paused !== null) return `paused: ${paused.reason}`;
  return breaker === null || breaker === 'closed' ? 'running' : `breaker ${breaker}`;
}

type LimitRecord = StatusRecord['requests']['limits'][number];

function allowed(limit: LimitRecord): string {
  switch (limit.kind) {
    case 'rate-limit':
      return `${limit.threshold} in ${limit.period_ms / 1_000} s`;
    case 'concurrency-limit':
      return `${limit.max} at a time`;
    case 'circuit-breaker':
      return '-';
  }
}

const remaining = (limit: LimitRecord): string =>
  limit.kind === 'circuit-breaker' ? limit.state : String(limit.remaining);

const depth = (waiting: number | null): string => (waiting === null ? '?' : String(waiting));
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
