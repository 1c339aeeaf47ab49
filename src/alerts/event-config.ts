import { compile } from '../events/cesql/cesql.ts';
import type { Channel, EventConfig, Route, Source, Trigger } from '../events/config/config.ts';
import type { AlertRecord } from './schema.ts';
import { filterOf } from './selection.ts';

/** The source by which the gateway's own events come to the alerts. */
export const ALERT_SOURCE = 'modelgate:alerts';
const ALERT_CHANNEL = 'modelgate:alert-events';
const TRIGGER_PREFIX = 'modelgate:alert:';
/** Names the processor of an alert. */
const PROCESSOR_PREFIX = 'alert:';

const noLimits = {
  retry: null,
  rateLimit: null,
  circuitBreaker: null,
  concurrency: null,
  faultTolerance: null,
};

const channel: Channel = { id: ALERT_CHANNEL, scheme: 'sqlite', url: 'sqlite:', topic: 'modelgate.alerts' };
const source: Source = {
  id: ALERT_SOURCE,
  processor: { kind: 'gateway', name: '' },
  asyncSend: false,
  storage: null,
  runtime: noLimits,
};

/** Twelve retries, from five seconds to an hour apart: about three and a half hours. */
const retry = { max: 12, delayMs: 5_000, growth: 'exponential' } as const;

/**
 * A configuration with the alerts in it: each is a trigger with retries, and an own channel leads there. Ids that begin with
 * `modelgate:` are the gateway's own, so none collides with one from a configuration.
 */
export function withAlerts(config: EventConfig, alerts: readonly AlertRecord[]): EventConfig {
  const active = alerts.filter(({ paused }) => !paused);
  if (active.length === 0) return config;
  return {
    message: config.message,
    channels: new Map([...config.channels, [channel.id, channel]]),
    sources: new Map([...config.sources, [source.id, source]]),
    triggers: new Map([
      ...config.triggers,
      ...active.map((alert) => [triggerId(alert), triggerOf(alert)] as const),
    ]),
    routes: [...config.routes, ...active.map(routeOf)],
  };
}

function triggerId({ id }: AlertRecord): string {
  return `${TRIGGER_PREFIX}${id}`;
}

/** The version is in its name, so that the trigger begins anew when the alert has changed. */
function triggerOf(alert: AlertRecord): Trigger {
  return {
    id: triggerId(alert),
    processor: { kind: 'gateway', name: `${PROCESSOR_PREFIX}${alert.id}@${alert.updatedAt}` },
    bufferSize: 256,
    idempotent: true,
    runtime: { ...noLimits, retry },
    deadLetters: {
      afterRetries: retry.max,
      store: { kind: 'storage', storage: { type: 'local', bytes: 1_073_741_824, whenFull: 'block' } },
    },
  };
}

function routeOf(alert: AlertRecord): Route {
  const compiled = compile(filterOf(alert));
  if (!compiled.ok) throw new Error(`The condition of the alert ${alert.name} is wrong`);
  return {
    sourceId: ALERT_SOURCE,
    triggerId: triggerId(alert),
    channelId: ALERT_CHANNEL,
    filter: compiled.expression,
  };
}

/** The alert that a processor of this name is for; null when it is for none. */
export function alertIdOf(processorName: string): string | null {
  if (!processorName.startsWith(PROCESSOR_PREFIX)) return null;
  return processorName.slice(PROCESSOR_PREFIX.length).split('@')[0] ?? null;
}
