import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formats } from '../../support/formats/formats.ts';
import { bearer, rowsOf } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chunk, end, open } from '../../support/upstream/steps.ts';

const at = setting();

interface OwnUsage {
  object: string;
  key: { id: string; name: string };
  from: string;
  to: string;
  requests: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
  models: { provider: string; model: string; requests: number; output_tokens: number }[];
  limits: { metric: string; limit: number; period: string; spent: number; remaining: number }[];
}

const usage = async (key: string, query = '') => {
  const answer = await fetch(`${at.gateway.url}/v1/usage${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: answer.status, body: (await answer.json()) as OwnUsage };
};

describe('GET /v1/usage', () => {
  it('shows the holder of a key its usage, and what is left of its limits', async () => {
    const [format] = formats;
    const mine = String((await at.gateway.cliJson('keys', 'add', 'mine', '--rpm', '50', '--json'))['key']);
    at.upstream.always(open(), chunk(format.stream({ text: ['hello'] }).text), end());
    const replies = [];
    for (const key of [mine, mine, at.gateway.key])
      replies.push(await at.gateway.ask(format.path, format.request({ stream: true }), bearer(key)));
    await rowsOf(at.gateway, replies);
    const { body, status } = await usage(mine);
    assert.equal(status, 200);
    assert.deepEqual([body.object, body.key.name, body.requests], ['usage', 'mine', 2]);
    assert.deepEqual(
      body.models.map(({ requests }) => requests),
      [2],
    );
    assert.equal(body.output_tokens, body.models[0]?.output_tokens);
    const [limit] = body.limits;
    assert.deepEqual([limit?.metric, limit?.limit, limit?.spent, limit?.remaining], ['requests', 50, 2, 48]);
  });

  it('shows it by day, model and tag', async () => {
    const [format] = formats;
    const mine = String((await at.gateway.cliJson('keys', 'add', 'tagged', '--label', 'app=x'))['key']);
    at.upstream.always(open(), chunk(format.stream({ text: ['hello'] }).text), end());
    const headers = { ...bearer(mine), 'x-gateway-tags': 'batch' };
    await rowsOf(at.gateway, [await at.gateway.ask(format.path, format.request({ stream: true }), headers)]);
    const groups = async (query: string) => {
      const { body, status } = await usage(mine, query);
      assert.equal(status, 200);
      return (body as OwnUsage & { groups: Record<string, unknown>[] }).groups;
    };
    const [day] = await groups('?by=day,label:app&time_zone=Asia/Kolkata');
    assert.match(String(day?.['day']), /^\d{4}-\d\d-\d\d$/);
    assert.deepEqual([day?.['label:app'], day?.['requests']], ['x', 1]);
    assert.deepEqual(
      (await groups('?by=tag,model')).map(({ model, tag }) => [tag, model]),
      [
        ['app=x', 'm-1'],
        ['batch', 'm-1'],
      ],
    );
    for (const query of ['?by=moon', '?by=day,hour', '?time_zone=Mars'])
      assert.equal((await usage(mine, query)).status, 400, query);
  });

  it('accepts a number of days, and refuses other values', async () => {
    const { body } = await usage(at.gateway.key, '?days=1');
    assert.equal(Date.parse(body.to) - Date.parse(body.from), 86_400_000);
    for (const days of ['0', 'many', '1.5', '400'])
      assert.equal((await usage(at.gateway.key, `?days=${days}`)).status, 400, days);
  });

  it('requires a key', async () => {
    assert.equal((await usage('sk-unknown')).status, 401);
  });
});
