import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import {
  formatAsked,
  pairs,
  speakerOf,
  streamIn,
  streamRequest,
  streamType,
} from '../../support/formats/formats-matrix.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { bearer, rowsOf } from '../../support/gateway/gateway.ts';
import { chunk, fin, hang, open, type Step } from '../../support/upstream/steps.ts';

/** What was written before the break, and the last word that a client waits for. */
const said = ['One ', 'word '.repeat(500), 'more '.repeat(300), 'last'];
/** Four bytes a token, as everywhere. */
const leastTokens = said.join('').length / 4;

describe('a stream that is not finished', () => {
  const at = fleet(1);
  before(async () => {
    for (const provider of Object.values(speakerOf)) await at.connectAll(provider);
  });
  beforeEach(() => at.gateway.forgive());

  /** @param last what the upstream does after its words, the first of which come in the frames of a long preamble */
  function answering(last: Step): void {
    at.upstreams[0]?.respond(({ path }) => {
      const format = formatAsked(path);
      const { content, preamble } = streamIn(format, { text: [...said, 'never sent'] });
      return [open(streamType(format)), chunk(preamble + content.slice(0, said.length).join('')), last];
    });
  }

  async function ask({ client: caller, upstream }: (typeof pairs)[number], key = at.gateway.key) {
    const client = await at.gateway.client();
    client.socket.on('error', () => {});
    const { body, path } = streamRequest(caller, `${speakerOf[upstream]}-0/m-1`, key);
    const headers = { 'content-type': 'application/json', ...bearer(key) };
    await client.send({ path, headers, body: JSON.stringify(body) });
    const reply = await client.open();
    // The end of a broken answer is what a test brings about.
    reply.whole.catch(() => {});
    return { client, reply };
  }

  const outcomes = { 'its upstream breaks off': 'failed', 'its client leaves': 'aborted' } as const;
  for (const [what, outcome] of Object.entries(outcomes)) {
    it(`because ${what} costs what was delivered, in all pairs of formats`, async () => {
      answering(outcome === 'failed' ? fin() : hang());
      const asked = await Promise.all(
        pairs.map(async (pair) => {
          const { client, reply } = await ask(pair);
          if (outcome === 'aborted') {
            await reply.until('last');
            client.destroy();
          } else await reply.whole;
          return reply;
        }),
      );
      for (const [index, { estimated, outcome: ended, usage }] of (
        await rowsOf(at.gateway, asked)
      ).entries()) {
        const about = `${pairs[index]?.client} from ${pairs[index]?.upstream}: ${JSON.stringify(usage)}`;
        assert.deepEqual([ended, estimated], [outcome, true], about);
        const output = usage?.['output'] ?? 0;
        assert.ok(output >= leastTokens && output < leastTokens * 1.5, about);
        assert.ok((usage?.['input'] ?? 0) > 0, about);
      }
    });
  }

  it('takes what was delivered from the limits of its key', async () => {
    const { key } = await at.gateway.cliJson('keys', 'add', 'limited', '--tpm', '1000000');
    answering(hang());
    const pair = { client: 'openai-chat', upstream: 'anthropic-messages' } as const;
    const left = async (): Promise<number> => {
      const { client, reply } = await ask(pair, String(key));
      await reply.until('last');
      client.destroy();
      await rowsOf(at.gateway, [reply]);
      return Number(reply.header('x-ratelimit-remaining-tokens'));
    };
    const before = await left();
    const after = await left();
    assert.ok(before - after >= leastTokens, `${before}, then ${after}`);
  });
});
