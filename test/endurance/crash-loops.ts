import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../support/gateway/gateway.ts';
import type { CrashingEngine } from './crashing-engine.ts';

export interface CrashLoopReport {
  /** Processes that ended with the event. */
  readonly crashes: number;
  /** Attempts at the event that ends the process. */
  readonly attempts: number;
  readonly deadLetters: readonly string[];
  /** Other events that nobody handled. */
  readonly lost: number;
}

const EVENTS = 40;
const POISON = '7';
/** So many crashes show that there is no end of them. */
const MOST_CRASHES = 8;

const yaml = (url: string) => `components:
  channels:
    - {unique_id: main, url: "${url}", mq_topic_name: crashes}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: handler, kind: gateway, name: audit-log}
strategy:
  trigger_strategies:
    - event_trigger_id: handler
      dead_letter_strategy: {enable: true}
router_rules:
  routers:
    - {source_id: s, trigger_id: handler, channel_id: main}
`;

/**
 * Starts an engine again each time that an event has ended it, until the event is a dead letter.
 * @param url of the message queue
 */
export async function runCrashLoop(dataDir: string, url: string): Promise<CrashLoopReport> {
  const lines: string[] = [];
  let crashes = 0;
  for (let events = EVENTS; ; events = 0) {
    const input: CrashingEngine = { dataDir, yaml: yaml(url), events, poison: POISON };
    const program = new URL('./crashing-engine.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [program, JSON.stringify(input)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let gone = false;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const all = `${rest}${text}`.split('\n');
      rest = all.pop() ?? '';
      lines.push(...all);
    });
    const closed = once(child, 'close').finally(() => {
      gone = true;
    });
    const missing = () =>
      Array.from({ length: EVENTS }, (_, index) => String(index)).filter(
        (id) => id !== POISON && !lines.includes(`handled ${id}`),
      );
    const dead = () => lines.filter((line) => line.startsWith('dead '));
    await waitFor('an end', () => gone || (dead().length > 0 && missing().length === 0));
    const crashed = gone;
    if (crashed) crashes += 1;
    else child.kill('SIGTERM');
    await closed;
    if (!crashed || crashes >= MOST_CRASHES)
      return {
        crashes,
        attempts: lines.filter((line) => line === `begun ${POISON}`).length,
        deadLetters: dead(),
        lost: missing().length,
      };
  }
}
