import { writeSync } from 'node:fs';
import { startEngine } from '../support/events/event-engine.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';

/**
 * An engine in a process of its own, whose processor ends the process at one event. It writes a line for each event that it
 * begins to handle, has handled, or makes a dead letter of. SIGTERM ends it.
 */

export interface CrashingEngine {
  readonly dataDir: string;
  readonly yaml: string;
  /** How many events it publishes first. */
  readonly events: number;
  /** The id of the event that ends the process. */
  readonly poison: string;
}

const { dataDir, events, poison, yaml }: CrashingEngine = JSON.parse(process.argv[2] ?? '{}');
// The line is out before the process ends.
const say = (line: string) => writeSync(1, `${line}\n`);
const published = Promise.withResolvers<void>();
const engine = await startEngine(dataDir, yaml, {
  builtIn: () => ({
    async process({ attributes: { id } }) {
      await published.promise;
      say(`begun ${id}`);
      if (id === poison) {
        process.kill(process.pid, 'SIGKILL');
        await new Promise(() => {});
      }
      say(`handled ${id}`);
      return { kind: 'done' };
    },
    async close() {},
  }),
  emitter: {
    wants: () => true,
    emit(name, { data }) {
      if (name === 'event.deadlettered' && 'event_id' in data && 'reason' in data)
        say(`dead ${data.event_id} ${data.reason}`);
    },
  },
});
process.on('SIGTERM', async () => {
  await engine.close();
  process.exit(0);
});
for (let index = 0; index < events; index += 1) await engine.publish('s', numberedEvent(String(index)));
published.resolve();
