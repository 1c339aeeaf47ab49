import assert from 'node:assert/strict';

/** What the yardstick takes on the machine that bounds are given for, in milliseconds: a desktop of 2022. */
const REFERENCE_MS = 20;
const TRIES = 3;

function cpuMsOf<T>(work: () => T): { result: T; cpuMs: number } {
  const begun = process.cpuUsage();
  const result = work();
  const { system, user } = process.cpuUsage(begun);
  return { result, cpuMs: (system + user) / 1000 };
}

function yardstick(): number {
  const text = `${'a'.repeat(1_000)}b`;
  let sum = 0;
  for (let round = 0; round < 6_000; round += 1)
    for (let index = 0; index < text.length; index += 1) sum = (sum * 31 + text.charCodeAt(index)) | 0;
  return sum;
}

/**
 * Does `work`, and fails where it takes more than `limitMs` milliseconds of CPU on the reference machine. What is
 * counted is this process's own CPU, in units of a fixed piece of work: how slow the machine is, and what else runs on
 * it, make no difference. Work that was over the limit is measured again before it is judged.
 */
export function withinCpu<T>(limitMs: number, what: string, work: () => T): T {
  for (let tries = 1; ; tries += 1) {
    const { result, cpuMs } = cpuMsOf(work);
    const unit = Math.max(1, cpuMsOf(yardstick).cpuMs / REFERENCE_MS);
    if (cpuMs <= limitMs * unit) return result;
    assert.ok(tries < TRIES, `${what} took ${Math.round(cpuMs / unit)} ms of CPU, more than ${limitMs}`);
  }
}
