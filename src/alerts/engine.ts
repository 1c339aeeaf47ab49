import type { Events } from '../events/open.ts';
import { ALERT_SOURCE } from './event-config.ts';
import type { AlertEngine } from './open.ts';

/** The event engine as the alerts use it. It is opened for the first of them. */
export function alertEngine({ control, opened }: Pick<Events, 'control' | 'opened'>): AlertEngine {
  return {
    async changed() {
      const running = opened();
      if (running === null) await control();
      else await running.config.extendAgain();
    },
    async publish(event) {
      const { engine } = await control();
      const result = await engine.publish(ALERT_SOURCE, event);
      if (result?.kind !== 'accepted' && result?.kind !== 'spooled')
        throw new Error(`The event was not stored: ${result?.kind ?? 'no alert is active'}`);
    },
  };
}
