import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe } from '../lib/log.ts';
import type { CloudEvent } from './cloudevents/event.ts';
import type { Engine, EngineInput } from './engine/engine.ts';

export interface Events {
  /** Whether any router leads the gateway's own events anywhere. */
  wanted(): boolean;
  /** Publishes an event of the gateway itself. Returns at once, and never throws. */
  emit(event: CloudEvent): void;
  close(): Promise<void>;
}

/**
 * Runs the configuration in `events.yaml` of the data directory. Without one, or when it is wrong, no events are emitted: the
 * log says why, and requests are served all the same.
 */
export async function openEvents(input: EngineInput): Promise<Events> {
  const engine = await engineOf(input);
  return {
    wanted: () => engine?.wantsOwnEvents() === true,
    emit: (event) => engine?.emit(event),
    close: async () => engine?.close(),
  };
}

async function engineOf(input: EngineInput): Promise<Engine | null> {
  const { dataDir, log } = input;
  const file = join(dataDir, 'events.yaml');
  const text = await textOf(file);
  if (text === null) return null;
  // Most gateways have no such file, and need none of these.
  const { decodeConfig } = await import('./config/decode.ts');
  const { reportUnsupported } = await import('./engine/supported.ts');
  const { createEngine } = await import('./engine/engine.ts');
  const redis = input.redis !== null;
  const decoded = decodeConfig(
    { format: 'text', text },
    { alsoCheck: (config, report) => reportUnsupported(config, report, { redis }) },
  );
  for (const { line, message, path, severity } of decoded.ok ? decoded.warnings : decoded.problems)
    log[severity === 'error' ? 'error' : 'warn']({ file, line, path }, message);
  if (!decoded.ok) {
    log.error({ file }, 'events.yaml is not valid: no events are emitted');
    return null;
  }
  const engine = createEngine(input);
  try {
    await engine.apply(decoded.config);
    return engine;
  } catch (error) {
    await engine.close();
    log.error({ file, error: describe(error) }, 'the event engine does not start: no events are emitted');
    return null;
  }
}

/** @returns null when there is no such file */
async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
