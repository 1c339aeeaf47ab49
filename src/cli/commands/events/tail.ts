import { FrameBuffer } from '../../../lib/streams/frame-buffer.ts';
import { type Frame, splitFrames } from '../../../lib/streams/sse.ts';
import type { Command } from '../../command.ts';
import { refusalOf } from '../../events/events-api.ts';
import { localTime, printable } from '../../terminal/text.ts';

export const eventsTailCommand: Command = {
  arguments: [],
  flags: [
    { name: 'cesql', value: 'EXPRESSION', summary: 'only events that match it' },
    { name: 'limit', short: 'n', value: 'N', kind: 'count', summary: 'stop after this many events' },
  ],
  needs: 'server',
  about:
    'Shows what sources publish from now on, until you interrupt it. With --json, one document per line with the whole event in the JSON format of CloudEvents.',
  examples: [
    {
      command: `gateway events tail --cesql "type LIKE '%.failed.v1'"`,
      does: 'failed requests as they happen',
    },
    { command: 'gateway events tail --json -n 1', does: '{"source_id","result","event":{…}}' },
  ],
  run: async (options, context) => {
    const cesql = options.text('cesql');
    const limit = options.count('limit') ?? Number.POSITIVE_INFINITY;
    const gateway = await context.gateway();
    const query = cesql === undefined ? '' : `?cesql=${encodeURIComponent(cesql)}`;
    const answer = await gateway.send(`/api/events/tail${query}`, { method: 'GET', timeoutMs: null });
    if (answer.status !== 200) throw await refusalOf(answer);
    if (!context.io.json) context.io.note('Waiting for events. End with Ctrl+C.');
    let shown = 0;
    for await (const { data, event } of framesOf(answer.body)) {
      if (event === 'missed') context.io.note(`${Object(JSON.parse(data)).events} events were left out.`);
      if (event !== 'event') continue;
      const record = Object(JSON.parse(data));
      context.io.record(record, () => lineOf(record));
      shown += 1;
      if (shown >= limit) break;
    }
    return 0;
  },
};

function lineOf({ event, result, source_id: source }: Record<string, unknown>): string {
  const { id, subject, time, type } = Object(event);
  const at = typeof time === 'string' ? localTime(Date.parse(time)) : '-';
  return [at, String(type), String(subject ?? id), `${source} → ${result}`].map(printable).join('  ');
}

async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const buffer = new FrameBuffer<Uint8Array>(splitFrames);
  for await (const bytes of body) yield* buffer.push(bytes);
}
