import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runPoison } from '../endurance/poison.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('events that their receiver cannot take, among others', () => {
  it('are dead letters after exactly as many attempts as they have, and no other event is', async (t) => {
    const run = { dataDir: temporaryFolder(t), channel: 'sqlite:', events: 250, hangs: false };
    assert.deepEqual(await runPoison(run), { delivered: 240, deadLetters: 10 });
  });
});
