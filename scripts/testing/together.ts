import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

export interface Together {
  root: string;
  files: readonly string[];
  /** What a file has opened is closed within this time after its last test, in milliseconds. */
  closingMs: number;
}

/** One file of several may take this long, in milliseconds: longer than a test waits for what does not come. */
const FILE_LIMIT_MS = 600_000;

/** What keeps a process from ending, and is nobody's but the file's that has opened it. */
const HELD: readonly string[] = ['TCPServerWrap', 'PipeServerWrap', 'ProcessWrap'];

/** Runs test files in this process, one after the other, each as a suite of its name: its hooks are its own. */
export function runTogether({ closingMs, files, root }: Together): void {
  for (const file of files)
    suite(file, { timeout: FILE_LIMIT_MS }, async () => {
      let atFirst: readonly string[] = [];
      before(() => {
        atFirst = held();
      });
      await import(pathToFileURL(join(root, file)).href);
      after(async () => {
        const deadline = performance.now() + closingMs;
        while (held().length > atFirst.length && performance.now() < deadline) await delay(20);
        const left = held();
        assert.ok(left.length <= atFirst.length, `${file} leaves open: ${left.join(', ')}`);
      });
    });
}

function held(): readonly string[] {
  return process.getActiveResourcesInfo().filter((resource) => HELD.includes(resource));
}
