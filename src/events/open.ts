import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FallbackAction } from '../config.ts';
import { describe } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import { builtInConfig, isRouted } from './built-in.ts';
import type { CloudEvent } from './cloudevents/event.ts';
import type { EventConfig, ProcessorKind } from './config/config.ts';
import type { ConfigControl } from './control/config-control.ts';
import { configFile } from './control/config-file.ts';
import type { Engine, EngineInput } from './engine/engine.ts';
import type { Ingest } from './ingest/ingest.ts';
import type { EventName } from './types/catalogue.ts';
import { type Emitter, silentEmitter } from './types/emitter.ts';

/** How often `events.yaml` is looked at. */
const LOOK_MS = 1_000;
/** Problems of a configuration that an event names. */
const MOST_PROBLEMS = 10;
/** Events that wait for an engine that is opening, beyond which new ones are dropped. */
const MOST_WAITING = 1_000;

export interface EventsInput extends EngineInput {
  store: Pick<Store, 'db'>;
  schedule: Schedule;
  /** What is added to every configuration. */
  additions: ConfigAdditions;
  /** What events that a limit refuses are answered with, by the name in a fault tolerance rule. */
  fallbacks: Readonly<Record<string, FallbackAction>>;
}

/** What the gateway adds to whatever configuration runs. */
export interface ConfigAdditions {
  extend(config: EventConfig): EventConfig;
  /** Whether there is anything to add. */
  any(): boolean;
  /** Whether what is added leads events of the name anywhere. */
  wants(name: EventName): boolean;
}

/** The engine, and the configuration that it runs. */
export interface EventControl {
  readonly engine: Engine;
  readonly config: ConfigControl;
}

export interface Events {
  /** Whether some router may lead own events of the name anywhere. */
  accepts(name: EventName): boolean;
  /** Publishes an event of the gateway itself. Returns at once, and never throws. */
  emit(event: CloudEvent): void;
  /** Takes events that are sent to the gateway. */
  readonly ingest: Ingest;
  /** Opens the engine where nothing needed it yet. @throws Error when it cannot be opened */
  control(): Promise<EventControl>;
  /** What `control` returned, when the engine is open. */
  opened(): EventControl | null;
  close(): Promise<void>;
}

/**
 * Runs the configuration in `events.yaml` of the data directory, also when it changes, or the built-in one. A wrong one changes
 * nothing: the log says why, and requests are served all the same. Most gateways have nothing to tell of for a long time: the
 * engine and its database are opened when there is a file or an alert, and else with the first event.
 */
export async function openEvents(input: EventsInput): Promise<Events> {
  const { additions, dataDir, log, schedule } = input;
  const file = configFile(dataDir);
  const database = join(dataDir, 'events.db');
  let opening: Promise<EventControl> | null = null;
  let opened: EventControl | null = null;
  const control = (): Promise<EventControl> => {
    opening ??= openControl(input).then(
      (value) => (opened = value),
      (error: unknown) => {
        opening = null;
        throw error;
      },
    );
    return opening;
  };
  const look = async () => {
    if (opened !== null) await opened.config.lookAtFile();
    else if (existsSync(file.path)) await control();
  };
  const lookOrBegin = async () => {
    await look();
    // What an earlier gateway has left to do is in its database.
    if (opened === null && (additions.any() || existsSync(database))) await control();
  };
  const failed = (error: unknown) =>
    log.error({ file: file.path, error: describe(error) }, 'the event engine does not start');
  await look().catch(failed);
  const stopLooking = schedule.every({
    name: 'events.yaml',
    everyMs: LOOK_MS,
    run: lookOrBegin,
    onError: failed,
  });
  let waiting: CloudEvent[] = [];
  /** Emits an event when the engine is open. */
  const emitLater = (event: CloudEvent) => {
    if (waiting.length < MOST_WAITING) waiting.push(event);
    if (waiting.length > 1) return;
    control()
      .then(({ engine }) => {
        for (const one of waiting) engine.emit(one);
      })
      .catch(failed)
      .finally(() => {
        waiting = [];
      });
  };
  return {
    ingest: ingestOf(() => opened?.engine ?? null, input.fallbacks),
    accepts(name) {
      if (opened === null) return isRouted(name) || additions.wants(name);
      const builtIn = opened.config.inForce().version.via === 'built-in';
      if (builtIn && !isRouted(name) && !additions.wants(name)) return false;
      return opened.engine.wantsOwnEvents();
    },
    emit(event) {
      if (opened === null) emitLater(event);
      else opened.engine.emit(event);
    },
    control,
    opened: () => opened,
    async close() {
      stopLooking();
      await opening?.catch(() => {});
      await opened?.engine.close();
    },
  };
}

/** Loaded with the first event that is sent: most gateways are sent none. */
function ingestOf(engine: () => Engine | null, fallbacks: EventsInput['fallbacks']): Ingest {
  let opened: Promise<Ingest> | null = null;
  const open = async () => {
    const { createIngest } = await import('./ingest/ingest.ts');
    return createIngest({
      sources: () => (engine()?.sources() ?? []).filter(({ processor }) => isReceived(processor.kind)),
      publish: (sourceId, event, waitMs) => engine()?.publish(sourceId, event, waitMs) ?? null,
      admit: () => engine()?.admitRequest() ?? { kind: 'admitted', done() {}, cancel() {} },
      fallbacks,
    });
  };
  return {
    async receive(message, sourceId, maySend) {
      opened ??= open();
      return (await opened).receive(message, sourceId, maySend);
    },
  };
}

const isReceived = (kind: ProcessorKind): boolean => kind === 'http' || kind === 'service';

async function openControl(input: EventsInput): Promise<EventControl> {
  const { createEngine } = await import('./engine/engine.ts');
  const { openConfigControl } = await import('./control/config-control.ts');
  const { reportUnsupported } = await import('./engine/supported.ts');
  const { configVersions } = await import('./control/config-versions.ts');
  const engine = createEngine(input);
  try {
    const config = await openConfigControl({
      file: configFile(input.dataDir),
      versions: configVersions(input.store),
      engine,
      log: input.log,
      now: input.now,
      builtIn: builtInConfig,
      alsoCheck: (config, report) =>
        reportUnsupported(config, report, {
          redis: input.redis !== null,
          fallbacks: Object.keys(input.fallbacks),
          sharedDatabase: typeof input.sharedDatabase === 'string',
          distributedStorage: typeof input.eventStorage?.distributedUrl === 'string',
        }),
      extend: (written, via) =>
        input.additions.extend(via === 'api' || via === 'rollback' ? ofApi(written) : written),
    });
    config.onChange(() => tellConfig(config, input.emitter ?? silentEmitter));
    return { engine, config };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function tellConfig(config: ConfigControl, emitter: Emitter): void {
  const rejected = config.rejected();
  const { number, via } = config.inForce().version;
  emitter.emit(rejected === null ? 'config.applied' : 'config.rejected', {
    subject: null,
    data: {
      origin: rejected === null ? via : 'file',
      version: String(number),
      problems: (rejected?.problems ?? [])
        .filter(({ severity }) => severity === 'error')
        .slice(0, MOST_PROBLEMS)
        .map(({ message, path }) => `${path}: ${message}`),
    },
  });
}

/** Who set up its triggers may have been on another machine. */
function ofApi(config: EventConfig): EventConfig {
  const marked = [...config.triggers].map(([id, trigger]) => [id, { ...trigger, byApi: true }] as const);
  return { ...config, triggers: new Map(marked) };
}
