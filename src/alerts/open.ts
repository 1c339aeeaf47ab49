import type { CloudEvent } from '../events/cloudevents/event.ts';
import type { EventConfig } from '../events/config/config.ts';
import type { EventProcessor } from '../events/processors/processor.ts';
import type { EventName } from '../events/types/catalogue.ts';
import { describe, type Log } from '../lib/log.ts';
import type { Store } from '../store/database.ts';
import { digestStore } from './digest-store.ts';
import { alertIdOf, withAlerts } from './event-config.ts';
import type { AlertsInput } from './resource.ts';
import { createRunningAlert } from './running-alert.ts';
import type { OpenAlert } from './schema.ts';
import { namesOf } from './selection.ts';
import { openSender, type SenderInput } from './senders/open.ts';
import { alertStore } from './store.ts';
import { testAlert } from './test-alert.ts';

export interface OpenAlertsInput extends SenderInput {
  store: Pick<Store, 'db'>;
  sealingKey: Buffer;
  commandsByApi: boolean;
  /** Names this gateway in the `source` of its events. */
  instance: string;
  log: Log;
}

/** The alerts, as the event engine runs them. */
export interface Alerts {
  /** What the collection of alerts is made of. */
  resourceParts: AlertsInput;
  /** Adds the alerts to a configuration. */
  extend(config: EventConfig): EventConfig;
  /** What hands events to the alert that a processor is named after; null when it is named after none. */
  processor(name: string): EventProcessor | null;
  /** Whether some alert is for events of the name. */
  wants(name: EventName): boolean;
  any(): boolean;
  /** Takes over what is stored, and publishes it when it has changed. */
  reload(): Promise<void>;
  /** Called when the alerts have changed, resolves when they run; and publishes their summaries. */
  attach(engine: AlertEngine): void;
}

export interface AlertEngine {
  changed(): Promise<void>;
  /** @throws when the event is not stored */
  publish(event: CloudEvent): Promise<void>;
}

export async function openAlerts(input: OpenAlertsInput): Promise<Alerts> {
  const { commandsByApi, instance, log, now, sealingKey, store } = input;
  const stored = alertStore(store, sealingKey, now);
  const digests = digestStore(store);
  let engine: AlertEngine | null = null;
  let current: readonly OpenAlert[] = await stored.list();
  let wantedNames = namesWanted(current);
  const reload = async () => {
    const next = await stored.list();
    if (JSON.stringify(next) === JSON.stringify(current)) return;
    current = next;
    wantedNames = namesWanted(current);
    await engine
      ?.changed()
      .catch((error: unknown) =>
        log.error({ error: describe(error) }, 'the changed alerts could not be started'),
      );
  };
  const publish = async (event: CloudEvent) => {
    if (engine === null) throw new Error('The event engine does not run');
    await engine.publish(event);
  };
  return {
    extend: (config) => withAlerts(config, current),
    processor(name) {
      const id = alertIdOf(name);
      const alert = id === null ? undefined : current.find((one) => one.id === id);
      if (alert === undefined) return null;
      const sender = openSender(alert, input);
      return createRunningAlert({ alert, sender, digests, publish, instance, log, now });
    },
    wants: (name) => wantedNames.has(name),
    any: () => current.some(({ paused }) => !paused),
    reload,
    attach(next) {
      engine = next;
    },
    resourceParts: {
      alerts: stored,
      commandsByApi,
      reload,
      test: (alert) => testAlert(alert, input),
    },
  };
}

function namesWanted(alerts: readonly OpenAlert[]): ReadonlySet<EventName> {
  return new Set(alerts.filter(({ paused }) => !paused).flatMap(({ on }) => namesOf(on)));
}
