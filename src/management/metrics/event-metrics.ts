import type { MetricFamily, ScalarPoint } from '../../telemetry/metrics/family.ts';
import type { StatusRecord } from '../events/status-schema.ts';

type Source = StatusRecord['sources'][number];
type Channel = StatusRecord['channels'][number];
type Trigger = StatusRecord['triggers'][number];

/** The event engine. Its counters begin again when a source or a trigger is changed. */
export function eventMetrics({
  channels,
  config,
  own_events,
  problems,
  running,
  sources,
  triggers,
}: StatusRecord): MetricFamily[] {
  const counter = (name: string, help: string, points: ScalarPoint[]): MetricFamily => ({
    name: `modelgate_events_${name}`,
    type: 'counter',
    help,
    points,
  });
  const gauge = (name: string, help: string, points: ScalarPoint[]): MetricFamily => ({
    name: `modelgate_events_${name}`,
    type: 'gauge',
    help,
    points,
  });
  const one = (value: number): ScalarPoint[] => [{ labels: {}, value }];
  const ofSources = (value: (source: Source) => number) =>
    sources.map((source) => ({ labels: { source: source.id }, value: value(source) }));
  const ofChannels = (value: (channel: Channel) => number | null) =>
    channels.flatMap((channel) => {
      const number = value(channel);
      return number === null ? [] : [{ labels: { channel: channel.id }, value: number }];
    });
  const ofTriggers = (value: (trigger: Trigger) => number | null) =>
    triggers.flatMap((trigger) => {
      const number = value(trigger);
      return number === null ? [] : [{ labels: { trigger: trigger.id }, value: number }];
    });
  return [
    gauge('running', 'Whether the event engine runs', one(Number(running))),
    gauge('config_version', 'The version of the configuration that is in force', one(config.version)),
    gauge('config_rejected', 'Whether events.yaml is wrong', one(Number(config.rejected !== null))),
    gauge('problems', 'Things that an operator should look at', one(problems.length)),
    counter('own_emitted', 'Events of the gateway itself', one(own_events.emitted)),
    counter('own_dropped', 'Events of the gateway itself that were lost', one(own_events.dropped)),
    counter(
      'accepted',
      'Events that a source accepted',
      ofSources(({ accepted }) => accepted),
    ),
    counter(
      'spooled',
      'Events that went into the storage of a source',
      ofSources(({ spooled }) => spooled),
    ),
    counter(
      'dropped',
      'Events that a full storage threw away',
      ofSources(({ dropped }) => dropped),
    ),
    counter(
      'rejected',
      'Events that a source did not accept, by reason',
      sources.flatMap(({ id, rejected }) =>
        Object.entries(rejected).map(([reason, value]) => ({ labels: { source: id, reason }, value })),
      ),
    ),
    counter(
      'unrouted',
      'Events that no router leads anywhere',
      ofSources(({ unrouted }) => unrouted),
    ),
    gauge(
      'stored',
      'Events in the storage of a source',
      ofSources(({ storage }) => storage?.events ?? 0),
    ),
    counter(
      'published',
      'Events that were published into a channel',
      ofChannels(({ published }) => published),
    ),
    counter(
      'publish_failures',
      'Publishings that failed',
      ofChannels(({ failed }) => failed),
    ),
    gauge(
      'channel_waiting',
      'Events in a channel that were not received yet',
      ofChannels(({ waiting }) => waiting),
    ),
    gauge(
      'channel_degraded',
      'Whether something fails that a channel does in the background',
      ofChannels(({ degraded }) => Number(degraded.length > 0)),
    ),
    counter(
      'delivered',
      'Events that a trigger delivered',
      ofTriggers(({ delivered }) => delivered),
    ),
    counter(
      'attempt_failures',
      'Attempts that failed',
      ofTriggers(({ failed }) => failed),
    ),
    counter(
      'retries',
      'Retries',
      ofTriggers(({ retried }) => retried),
    ),
    counter(
      'dead_lettered',
      'Events that became dead letters',
      ofTriggers(({ dead_lettered }) => dead_lettered),
    ),
    counter(
      'discarded',
      'Events that failed and were not kept',
      ofTriggers(({ discarded }) => discarded),
    ),
    counter(
      'duplicates',
      'Events that came again after they were handled',
      ofTriggers(({ duplicates }) => duplicates),
    ),
    counter(
      'filtered',
      'Events that no router leads to the trigger',
      ofTriggers(({ filtered }) => filtered),
    ),
    gauge(
      'dead_letters',
      'Dead letters that are kept',
      ofTriggers(({ dead_letters }) => dead_letters),
    ),
    gauge(
      'trigger_waiting',
      'Events that a trigger did not receive yet',
      ofTriggers(({ waiting }) => waiting),
    ),
    gauge(
      'buffered',
      'Events that wait in the memory of a trigger',
      ofTriggers(({ buffered }) => buffered),
    ),
    gauge(
      'in_flight',
      'Events that are with the processor of a trigger',
      ofTriggers(({ in_flight }) => in_flight),
    ),
    gauge(
      'paused',
      'Whether a trigger is paused',
      ofTriggers(({ paused }) => Number(paused !== null)),
    ),
    gauge(
      'breaker_open',
      'Whether the circuit breaker of a trigger is open (1) or tries again (0.5)',
      ofTriggers(({ breaker }) =>
        breaker === null ? null : { closed: 0, 'half-open': 0.5, open: 1 }[breaker],
      ),
    ),
  ];
}
