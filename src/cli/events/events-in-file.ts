import { readFile } from 'node:fs/promises';
import { type CloudEvent, defaultLimits, type EventLimits } from '../../events/cloudevents/event.ts';
import { decodeJsonBatch, decodeJsonEvent } from '../../events/cloudevents/json-format.ts';
import type { DecodeResult } from '../../events/cloudevents/problem.ts';
import { failure } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { printable } from '../terminal/text.ts';

const limits: EventLimits = { ...defaultLimits, maxBatchEvents: Number.MAX_SAFE_INTEGER };

/**
 * The events in a file, or on stdin for `-`: one in the JSON format of CloudEvents, a list of them, or one on each line.
 * @throws Failure for a file that cannot be read, and for what is no event
 */
export async function eventsInFile(file: string, io: Pick<Io, 'readStdin'>): Promise<readonly CloudEvent[]> {
  const body = await contentOf(file, io);
  const decoded = decodeEvents(body);
  if (decoded.ok) return decoded.value;
  const [problem] = decoded.problems;
  const place = problem === undefined || problem.path === '' ? '' : ` (${problem.path})`;
  throw failure(1, 'invalid_event', `${nameOf(file)}${place}: ${problem?.message}.`);
}

const nameOf = (file: string): string => (file === '-' ? 'stdin' : `the file "${printable(file)}"`);

async function contentOf(file: string, io: Pick<Io, 'readStdin'>): Promise<Buffer> {
  if (file === '-') return Buffer.from(await io.readStdin());
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error instanceof Error && 'code' in error ? error : { code: 'unreadable' };
    throw failure(1, 'unreadable_file', `Cannot read ${nameOf(file)}: ${code}.`);
  }
}

/** One event, a list of them, or one on each line; a place in a list counts from 0. */
function decodeEvents(body: Buffer): DecodeResult<CloudEvent[]> {
  const text = body.toString().trim();
  if (text.startsWith('[')) return decodeJsonBatch(body, limits);
  const one = decodeJsonEvent(body, limits);
  if (one.ok) return { ok: true, value: [one.value] };
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2 || one.problems[0]?.code !== 'invalid_json') return one;
  return decodeJsonBatch(Buffer.from(`[${lines.join(',')}]`), limits);
}
