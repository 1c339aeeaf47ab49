import type { RuntimeStrategy, Trigger } from '../../../src/events/config/config.ts';
import { openGates } from '../../../src/events/strategies/open.ts';
import { noStrategy } from './event-trigger.ts';

/** A gateway's part of a global limit, in a process that can be killed: it passes again and again, and writes a line each time. */
export interface LimitedProcess {
  readonly url: string;
  readonly runtime: Partial<RuntimeStrategy>;
  readonly permitMs: number;
  /** How many calls wait to pass at a time. */
  readonly callers: number;
  /** How long each call takes; null: until the process ends. */
  readonly callMs: number | null;
}

const { callers, callMs, permitMs, runtime, url }: LimitedProcess = JSON.parse(process.argv[2] ?? '{}');
const trigger: Trigger = {
  id: 't',
  processor: { kind: 'log', name: '' },
  bufferSize: 256,
  idempotent: false,
  runtime: { ...noStrategy, ...runtime },
  deadLetters: null,
};
const gates = openGates({
  redis: { url, timeoutMs: 10_000 },
  log: { info() {}, warn: (facts: unknown) => void process.stderr.write(`${JSON.stringify(facts)}\n`) },
  permitMs,
  onBreaker() {},
});
gates.apply({ sources: new Map(), triggers: new Map([[trigger.id, trigger]]) });
const gate = gates.of('trigger:t');
const { signal } = new AbortController();
const call = async () => {
  for (;;) {
    const admitted = await gate.wait(signal);
    process.stdout.write('passed\n');
    await new Promise((resolve) => callMs !== null && setTimeout(resolve, callMs));
    admitted?.done('ok', callMs ?? 0);
  }
};
for (let caller = 0; caller < callers; caller += 1) void call();
