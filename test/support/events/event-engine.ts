import assert from 'node:assert/strict';
import { decodeConfig } from '../../../src/events/config/decode.ts';
import { createEngine, type Engine, type EngineInput } from '../../../src/events/engine/engine.ts';
import { createLog } from '../../../src/lib/log.ts';

/** The engine alone, without a gateway around it, running a configuration in YAML. */
export async function startEngine(
  dataDir: string,
  yaml: string,
  input: Partial<EngineInput> = {},
): Promise<Engine> {
  const decoded = decodeConfig({ format: 'text', text: yaml });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  const engine = createEngine({
    dataDir,
    listening: () => null,
    log: createLog({ level: 'silent', write: () => {}, pretty: false }),
    now: Date.now,
    random: Math.random,
    redis: null,
    variable: () => undefined,
    ...input,
  });
  await engine.apply(decoded.config);
  return engine;
}
