import { createKeyedMutex } from '../../../lib/keyed-mutex.ts';
import { describe } from '../../../lib/log.ts';
import type { EventConfig } from '../../config/config.ts';
import type { EventProcessor } from '../../processors/processor.ts';
import { channelKey } from '../channel-pool.ts';
import { createRouteSelector } from '../sources/route-selector.ts';
import { sourcesOfChannel } from '../sources/source-identity.ts';
import {
  definitionOf,
  openConsumer,
  openReplayConsumer,
  openTrigger,
  REPLAYS,
  type RunningConsumer,
  type RunningTrigger,
  routesByChannel,
  sameDefinition,
  startConsumer,
  type TriggerInput,
} from './running-trigger.ts';

type Triggers = ReadonlyMap<string, RunningTrigger>;

/** The running triggers, which change as a whole. */
export interface TriggerSet {
  /**
   * Opens what another configuration needs beyond what is running. Nothing changes until it is committed.
   * @throws Error when a processor or a channel cannot be opened
   */
  prepare(config: EventConfig): TriggerChange;
  current(): Triggers;
  /** Takes no more events, and waits for those that are with their processors. */
  close(): Promise<void>;
}

export interface TriggerChange {
  /** The consumers that will start. */
  readonly starting: readonly { readonly triggerId: string; readonly consumer: RunningConsumer }[];
  /**
   * From now on the other triggers run: what is the same goes on with its state, and what is not drains in the background before
   * that which takes its place starts.
   */
  commit(): void;
  discard(): Promise<void>;
}

export function createTriggerSet(parts: Omit<TriggerInput, 'claims' | 'closed'>): TriggerSet {
  const closed = new AbortController();
  const input: TriggerInput = { ...parts, claims: createKeyedMutex(), closed: closed.signal };
  let current: Triggers = new Map();
  /** What is left to do for triggers that changed, one thing after the other for each. */
  const mutex = createKeyedMutex();
  const handovers = new Set<Promise<void>>();

  const change = (next: Triggers) => {
    const before = current;
    current = next;
    for (const id of new Set([...before.keys(), ...next.keys()])) {
      // At once: the next event is for the next configuration.
      const stopped = stopOld(before.get(id), next.get(id));
      // Its failure is told below, when its turn has come.
      stopped.catch(() => {});
      const handOver = async () => {
        await stopped;
        await startNew(id, before.get(id), next.get(id));
      };
      const done = mutex
        .runExclusive(id, handOver)
        .catch((error: unknown) =>
          input.log.error({ trigger: id, error: describe(error) }, 'a trigger did not end'),
        )
        .finally(() => handovers.delete(done));
      handovers.add(done);
    }
  };
  const startNew = async (id: string, before?: RunningTrigger, next?: RunningTrigger) => {
    const fresh = [...(next?.consumers ?? [])].filter(([key, one]) => before?.consumers.get(key) !== one);
    const starts = fresh.map(([key, one]) =>
      startConsumer(
        id,
        one,
        channelsOf(next).filter((other) => other !== key),
        () => current.get(id)?.consumers.get(key) === one,
        input.log,
      ),
    );
    await Promise.all(starts);
  };

  return {
    current: () => current,
    prepare(config) {
      const opened: EventProcessor[] = [];
      const discard = async () => {
        await Promise.all(opened.map((processor) => processor.close()));
      };
      try {
        const next = new Map<string, RunningTrigger>();
        const rerouted: (() => void)[] = [];
        const starting: TriggerChange['starting'][number][] = [];
        for (const [id, trigger] of config.triggers) {
          const definition = definitionOf(trigger, config);
          const before = current.get(id);
          const same = before !== undefined && sameDefinition(before.definition, definition) ? before : null;
          const running: RunningTrigger =
            same === null ? openTrigger(definition, input) : { ...same, consumers: new Map() };
          if (same === null) opened.push(running.processor);
          next.set(id, running);
          for (const [key, routes] of routesByChannel(id, config)) {
            const existing = same?.consumers.get(key);
            const sourceOf = sourcesOfChannel(config, key);
            if (existing !== undefined) {
              const selects = createRouteSelector(routes);
              rerouted.push(() => {
                existing.selects = selects;
                existing.sourceOf = sourceOf;
              });
            }
            const consumer = existing ?? newConsumer(running, key, routes, config, input);
            if (existing === undefined) starting.push({ triggerId: id, consumer });
            running.consumers.set(key, consumer);
          }
          const replays = same?.consumers.get(REPLAYS) ?? openReplayConsumer(running);
          if (replays === null) continue;
          if (same === null) starting.push({ triggerId: id, consumer: replays });
          running.consumers.set(REPLAYS, replays);
        }
        return {
          starting,
          discard,
          commit() {
            for (const reroute of rerouted) reroute();
            change(next);
          },
        };
      } catch (error) {
        void discard();
        throw error;
      }
    },
    async close() {
      change(new Map());
      await Promise.all(handovers);
      closed.abort();
    },
  };
}

/** The channels, by key, that a trigger receives from. */
const channelsOf = (trigger?: RunningTrigger): string[] =>
  [...(trigger?.consumers.keys() ?? [])].filter((key) => key !== REPLAYS);

function newConsumer(
  running: RunningTrigger,
  key: string,
  routes: Parameters<typeof openConsumer>[2],
  config: EventConfig,
  input: TriggerInput,
): RunningConsumer {
  const channel = [...config.channels.values()].find((one) => channelKey(one) === key);
  if (channel === undefined) throw new Error(`There is no channel ${key}`);
  return openConsumer(running, channel, routes, sourcesOfChannel(config, key), input);
}

/** Stops what the next version of a trigger does not have, and lets go of its processor. */
async function stopOld(before?: RunningTrigger, next?: RunningTrigger): Promise<void> {
  if (before === undefined) return;
  const old = [...before.consumers].filter(([key, one]) => next?.consumers.get(key) !== one);
  await Promise.all(old.map(([, { consumer }]) => consumer.stop()));
  if (before.processor !== next?.processor) await before.processor.close();
}
