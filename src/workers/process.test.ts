import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WorkerStart } from './message.ts';
import { startWorker, type WorkerProcess } from './process.ts';

const none = async (): Promise<never> => assert.fail('nobody asks');

interface Begun {
  worker: WorkerProcess;
  reasons: string[];
  /** How often it said that it runs something else than it should. */
  outdated: { count: number };
  ended: Promise<void>;
}

/** Starts a worker that never gets as far as to read what it is given. */
function begin(build: string | null = null): Begun {
  const reasons: string[] = [];
  const outdated = { count: 0 };
  const over = Promise.withResolvers<void>();
  const worker = startWorker({
    start: {} as WorkerStart,
    hear() {},
    answers: {
      join: none,
      listening: none,
      cannotListen: none,
      reserve: none,
      reserveAhead: none,
      response: none,
      place: none,
      token: none,
      agentModels: none,
      flushed: none,
      written: none,
      writtenWithJournal: none,
    },
    onError: (error) => assert.fail(String(error)),
    build,
    onOutdated() {
      outdated.count += 1;
    },
    onEnd(reason) {
      reasons.push(reason);
      over.resolve();
    },
  });
  return { worker, reasons, outdated, ended: over.promise };
}

async function endsOnce(reason: RegExp): Promise<void> {
  const { ended, reasons, worker } = begin();
  assert.deepEqual(reasons, [], 'not before who began it has it');
  const asked = assert.rejects(worker.ask('flush', null), { code: 'shutting_down' });
  worker.kill();
  await ended;
  await asked;
  await new Promise(setImmediate);
  assert.equal(worker.pid, null);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0] ?? '', reason);
}

describe('a worker for which there is no process', () => {
  it('fails when the system reports that later', async () => {
    const { execPath } = process;
    process.execPath = '/nothing/node';
    try {
      await endsOnce(/ENOENT/);
    } finally {
      process.execPath = execPath;
    }
  });

  it('fails when the system reports that at once', async () => {
    // Nothing that starts takes an argument with a null, which stands for what fails before the system is asked.
    process.execArgv.push('--title=a\0b');
    try {
      await endsOnce(/null bytes/);
    } finally {
      process.execArgv.pop();
    }
  });
});

describe('a worker of another build than the gateway', () => {
  it('receives no settings, and is ended', async () => {
    const { ended, outdated, reasons } = begin('another');
    await ended;
    assert.equal(outdated.count, 1);
    assert.deepEqual(reasons, ['it runs another build than the gateway']);
  });
});
