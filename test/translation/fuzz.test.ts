import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerFuzz, type Fuzz, formats, requestFuzz } from '../support/formats/fuzz.ts';

/** Damaged requests and answers, the same ones every time. `node scripts/fuzz.ts` tries others, and more of them. */
const REQUESTS = 10_000;
const ANSWERS = 2_000;

function hold({ input, run }: Fuzz, runs: number): Set<string> {
  const results = new Set<string>();
  for (let seed = 0; seed < runs; seed += 1) {
    try {
      results.add(run(seed));
    } catch (error) {
      assert.fail(`seed ${seed}: ${(error as Error).stack}\n${input(seed).slice(0, 2_000)}`);
    }
  }
  return results;
}

for (const format of formats) {
  describe(`damaged ${format}`, () => {
    it(`as ${REQUESTS} requests is translated, or refused with the reason`, () => {
      const results = hold(requestFuzz(format), REQUESTS);
      for (const result of ['translated', 'invalid_request', 'not_translatable']) {
        assert.ok(results.has(result), `${result} did not occur: the damage is of the wrong kind`);
      }
    });

    it(`as ${ANSWERS} answers ends once, and is complete for the client exactly if it was for the gateway`, () => {
      const results = hold(answerFuzz(format), ANSWERS);
      for (const result of ['message-end', 'error']) {
        assert.ok(results.has(result), `${result} did not occur: the damage is of the wrong kind`);
      }
    });
  });
}
