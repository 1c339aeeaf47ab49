import { randomUUID } from 'node:crypto';
import type { CloudEvent, EventAttributes } from '../../../events/cloudevents/event.ts';
import { encodeJsonBatch } from '../../../events/cloudevents/json-format.ts';
import { batchedType } from '../../../events/cloudevents/media-type.ts';
import type { Command, Options } from '../../command.ts';
import { eventsInFile } from '../../events/events-in-file.ts';
import type { RunningGateway } from '../../gateway/client.ts';
import { failure, usageError } from '../../terminal/failure.ts';
import type { Io } from '../../terminal/io.ts';
import { count } from '../../terminal/text.ts';

/** Longer than the gateway waits for its channels. */
const TIMEOUT_MS = 60_000;
/** Events of one request. */
const MOST_AT_ONCE = 500;

const attributeFlags = ['type', 'source', 'subject', 'id', 'data', 'content-type'] as const;

export const eventsSendCommand: Command = {
  arguments: [
    {
      name: 'file',
      summary: 'events in the JSON format of CloudEvents: one, a list, or one on each line; - is stdin',
      required: false,
    },
  ],
  flags: [
    { name: 'as', value: 'ID', summary: 'the source of the configuration that they are sent for' },
    { name: 'type', value: 'TYPE', summary: 'send one event of this type, without a file' },
    { name: 'source', value: 'URI', summary: 'its source (default: what --as names, else /cli)' },
    { name: 'subject', value: 'TEXT', summary: 'its subject' },
    { name: 'id', value: 'ID', summary: 'its id (default: a new one)' },
    { name: 'data', value: 'DATA', summary: 'its data: JSON, or any text' },
    {
      name: 'content-type',
      value: 'TYPE',
      summary: 'of its data (default: JSON where it is JSON, else text)',
    },
  ],
  needs: 'server',
  about:
    'Sends events to the running gateway, as `POST /api/events` accepts them, and prints the outcome of each. Without --as, the source in the event chooses the source of the configuration, or the only one is used. Exit 1 when one is not accepted; sending it again with the same id is safe.',
  examples: [
    {
      command: 'gateway events send --type com.example.order.paid --as shop --data \'{"order": 7}\'',
      does: 'one event',
    },
    { command: 'gateway events send events.jsonl --as shop', does: 'one event for each line of a file' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const events = await eventsOf(options, io);
    const gateway = await context.gateway();
    const sent: SendResult[] = [];
    for (let from = 0; from < events.length; from += MOST_AT_ONCE)
      sent.push(...(await send(gateway, events.slice(from, from + MOST_AT_ONCE), options.text('as'))));
    const accepted = sent.filter(isAccepted).length;
    io.result({ accepted, events: sent }, () =>
      [
        io.table<SendResult>(
          [
            { title: 'ID', cell: ({ id }) => id },
            { title: 'SOURCE', cell: ({ source }) => source },
            { title: 'OUTCOME', cell: ({ outcome }) => outcome },
          ],
          sent,
        ),
        `${accepted} of ${count(sent.length, 'event')} accepted.`,
      ].join('\n'),
    );
    return accepted === sent.length ? 0 : 1;
  },
};

interface SendResult {
  id: string;
  /** The source of the configuration. */
  source: string;
  outcome: string;
}

const isAccepted = ({ outcome }: SendResult): boolean => outcome === 'accepted' || outcome === 'spooled';

async function eventsOf(options: Options, io: Io): Promise<readonly CloudEvent[]> {
  const file = options.argument('file');
  const used = attributeFlags.filter((name) => options.text(name) !== undefined);
  if (file === undefined) return [eventOf(options)];
  if (used.length > 0) throw usageError(`--${used[0]} is for an event without a file`);
  return eventsInFile(file, io);
}

function eventOf(options: Options): CloudEvent {
  const type = options.text('type');
  if (type === undefined) throw usageError('Name a file of events, or the --type of one');
  const [data, subject] = [options.text('data'), options.text('subject')];
  const attributes: EventAttributes = {
    specversion: '1.0',
    id: options.text('id') ?? randomUUID(),
    source: options.text('source') ?? options.text('as') ?? '/cli',
    type,
    time: new Date().toISOString(),
    ...(subject === undefined ? {} : { subject }),
    ...(data === undefined ? {} : { datacontenttype: options.text('content-type') ?? typeOfData(data) }),
  };
  return { attributes, data: data === undefined ? null : Buffer.from(data) };
}

function typeOfData(data: string): string {
  try {
    JSON.parse(data);
    return 'application/json';
  } catch {
    return 'text/plain';
  }
}

/** @throws Failure for what the gateway refuses whole */
async function send(
  gateway: RunningGateway,
  events: readonly CloudEvent[],
  as: string | undefined,
): Promise<SendResult[]> {
  const query = as === undefined ? '' : `?source=${encodeURIComponent(as)}`;
  const answer = await gateway.send(`/api/events${query}`, {
    method: 'POST',
    content: { type: batchedType, bytes: encodeJsonBatch(events) },
    timeoutMs: TIMEOUT_MS,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  if (Array.isArray(body.events)) return body.events;
  throw failure(
    1,
    String(body.code ?? 'upstream_error'),
    String(body.detail ?? `The gateway answered ${answer.status}`),
  );
}
