import type { Log } from '../../lib/log.ts';
import type { EventProcessor } from './processor.ts';

/** Writes the attributes of each event into the log, not its data. */
export function createLogProcessor(trigger: string, log: Log): EventProcessor {
  return {
    async process({ attributes }) {
      log.info({ trigger, event: attributes }, 'an event');
      return { kind: 'done' };
    },
    async close() {},
  };
}
