import type { Log } from '../../lib/log.ts';
import { eventTypes, nameOfType } from '../types/catalogue.ts';
import type { EventProcessor } from './processor.ts';

/** Writes into the gateway's log, in words, what somebody should look at. */
export function createNotifier(log: Log): EventProcessor {
  return {
    async process({ attributes: { subject, type }, data }) {
      const name = nameOfType(type);
      // Only the gateway's own events are known to have nothing secret in them.
      const facts: unknown = name === null || data === null ? null : JSON.parse(Buffer.from(data).toString());
      log.warn({ event: name ?? type, subject, data: facts }, name === null ? type : eventTypes[name].when);
      return { kind: 'done' };
    },
    async close() {},
  };
}
