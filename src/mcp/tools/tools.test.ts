import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Api, type ApiBody, onlyReads } from '../api.ts';
import { gatewayTools } from './index.ts';

interface Asked {
  method: 'GET' | 'POST';
  path: string;
  params: URLSearchParams;
  body?: ApiBody;
}

/** A management API that answers with `answers` by path, and keeps what it was asked. */
function api(answers: Readonly<Record<string, ApiBody>> = {}): { api: Api; requests: Asked[] } {
  const requests: Asked[] = [];
  const answer = (path: string) => answers[path] ?? { count: 0, resources: [] };
  return {
    requests,
    api: {
      can: () => true,
      get: async (path, params = new URLSearchParams()) => {
        requests.push({ method: 'GET', path, params });
        return answer(path);
      },
      watchEvents: async () => [],
      post: async (path, body) => {
        requests.push({ method: 'POST', path, params: new URLSearchParams(), body });
        return { results: [{ id: 'new', href: '/api/x/new', ...body }] };
      },
    },
  };
}

function run(name: string, args: ApiBody, to: Api): Promise<ApiBody> {
  const tool = gatewayTools.find((one) => one.name === name);
  assert.ok(tool, name);
  return tool.run(tool.input.parse(args), to);
}

describe('the tools of the MCP server', () => {
  it('are all on the page about them, with their permissions', () => {
    const page = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \| .* \| `([\w:]+)` \|$/gm)].map(([, ...row]) => row);
    assert.deepEqual(rows.sort(), gatewayTools.map(({ name, permission }) => [name, permission]).sort());
  });

  it('are marked read-only exactly if they need only read permissions', () => {
    for (const { effect, name, permission } of gatewayTools)
      assert.equal(effect === 'reads', onlyReads(permission), name);
  });

  it('quote the assistant’s arguments, so that each stays one value', async () => {
    const { api: to, requests } = api();
    await run('recent_requests', { model: "x' or outcome='ok" }, to);
    assert.deepEqual(requests[0]?.params.getAll('filter[]'), ["model=='x'' or outcome=''ok'"]);
    await run('switch_combo', { combo: '../keys?x' }, to);
    assert.equal(requests[1]?.path, '/combos/..%2Fkeys%3Fx');
  });

  it('show no links', async () => {
    const row = { id: 'smart', name: 'smart', href: '/api/combos/smart', actions: [] };
    const { api: to } = api({ '/combos': { count: 1, resources: [row] } });
    assert.deepEqual(await run('list_combos', {}, to), {
      total: 1,
      combos: [{ id: 'smart', name: 'smart' }],
    });
  });

  it('summarize what they cut off', async () => {
    const resources = [
      { id: 'model:a', model: 'a', by: 'model', requests: 2, cost_usd: 1.5, unpriced: 0, key_id: null },
      { id: 'model:b', model: 'b', by: 'model', requests: 3, cost_usd: null, unpriced: 3, key_id: null },
    ];
    const { api: to, requests } = api({ '/usage': { count: 2, resources } });
    const { rows, sum, total } = await run('costs', { by: ['model', 'key'], limit: 1 }, to);
    assert.deepEqual(requests[0]?.params.getAll('filter[]'), ["by='model,key'"]);
    assert.deepEqual(rows, [{ id: 'model:a', model: 'a', requests: 2, cost_usd: 1.5, unpriced: 0 }]);
    assert.deepEqual(
      [total, (sum as ApiBody)['requests'], (sum as ApiBody)['cost_usd'], (sum as ApiBody)['unpriced']],
      [2, 5, 1.5, 3],
    );
  });

  it('replace a budget of the same kind, and add another', async () => {
    const budget = {
      id: 'b1',
      scope: 'key',
      subject: 'key_1',
      subject_name: 'ci',
      metric: 'usd',
      period: 'day',
    };
    const { api: to, requests } = api({ '/budgets': { count: 1, resources: [budget] } });
    await run('set_budget', { scope: 'key', subject: 'ci', limit: 3, period: 'day' }, to);
    await run('set_budget', { scope: 'key', subject: 'ci', limit: 3, period: 'week' }, to);
    await run('set_budget', { limit: 3, period: 'day' }, to);
    const posted = requests.filter(({ method }) => method === 'POST');
    assert.deepEqual(
      posted.map(({ body, path }) => [path, body?.['action'] ?? 'create']),
      [
        ['/budgets/b1', 'edit'],
        ['/budgets', 'create'],
        ['/budgets', 'create'],
      ],
    );
  });
});
