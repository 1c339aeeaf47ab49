import { existsSync } from 'node:fs';
import { describe } from '../lib/log.ts';
import type { Schedule } from '../lib/schedule.ts';
import type { Store } from '../store/database.ts';
import type { CloudEvent } from './cloudevents/event.ts';
import type { ProcessorKind } from './config/config.ts';
import type { ConfigControl } from './control/config-control.ts';
import { configFile } from './control/config-file.ts';
import type { Engine, EngineInput } from './engine/engine.ts';
import type { Ingest } from './ingest/ingest.ts';

/** How often `events.yaml` is looked at. */
const LOOK_MS = 1_000;
/** What runs while there is no `events.yaml`: nothing. */
const BUILT_IN = '';

export interface EventsInput extends EngineInput {
  store: Pick<Store, 'db'>;
  schedule: Schedule;
}

/** The engine, and the configuration that it runs. */
export interface EventControl {
  readonly engine: Engine;
  readonly config: ConfigControl;
}

export interface Events {
  /** Whether any router leads the gateway's own events anywhere. */
  wanted(): boolean;
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
 * Runs the configuration in `events.yaml` of the data directory, also when it changes. A wrong one changes nothing: the log says
 * why, and requests are served all the same.
 */
export async function openEvents(input: EventsInput): Promise<Events> {
  const { dataDir, log, schedule } = input;
  const file = configFile(dataDir);
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
    // Most gateways have no such file, and need none of all this.
    else if (existsSync(file.path)) await control();
  };
  const failed = (error: unknown) =>
    log.error({ file: file.path, error: describe(error) }, 'the event engine does not start');
  await look().catch(failed);
  const stopLooking = schedule.every({ name: 'events.yaml', everyMs: LOOK_MS, run: look, onError: failed });
  return {
    wanted: () => opened?.engine.wantsOwnEvents() === true,
    emit: (event) => opened?.engine.emit(event),
    ingest: ingestOf(() => opened?.engine ?? null),
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
function ingestOf(engine: () => Engine | null): Ingest {
  let opened: Promise<Ingest> | null = null;
  const open = async () => {
    const { createIngest } = await import('./ingest/ingest.ts');
    return createIngest({
      sources: () => (engine()?.sources() ?? []).filter(({ processor }) => isReceived(processor.kind)),
      publish: (sourceId, event, waitMs) => engine()?.publish(sourceId, event, waitMs) ?? null,
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
      builtIn: BUILT_IN,
      alsoCheck: (config, report) =>
        reportUnsupported(config, report, {
          redis: input.redis !== null,
          distributedStorage: typeof input.eventStorage?.distributedUrl === 'string',
        }),
      extend: (written) => written,
    });
    return { engine, config };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
