import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyOf, refused, resultsOf, setUp } from '../../../test/support/management/things.ts';

describe('actions', () => {
  it('answer with their result', async () => {
    const { ask } = setUp('mcp', 'stuck');
    const answer = await ask('POST', 'mcp', { action: 'start' });
    const expected = { success: true, message: 'Starting', href: '/api/things/mcp', task_id: 'task 1' };
    const more = { task_href: '/api/tasks/task%201', result: { forced: false } };
    assert.deepEqual([answer.status, answer.body], [200, { ...expected, ...more }]);
    for (const body of [{ force: true }, { resource: { force: true } }])
      assert.deepEqual(bodyOf(await ask('POST', 'mcp', { action: 'start', ...body }))['result'], {
        forced: true,
      });
    const failed = await ask('POST', 'stuck', { action: 'start' });
    const href = '/api/things/stuck';
    assert.deepEqual(
      [failed.status, failed.body],
      [400, { success: false, message: 'It does not start', href }],
    );
  });

  it('are refused with unknown input', async () => {
    const { ask } = setUp('mcp');
    await refused(ask('POST', 'mcp', { action: 'start', force: 'yes' }), 400, 'force');
    await refused(ask('POST', 'mcp', { action: 'start', hard: true }), 400, 'hard');
    await refused(ask('POST', 'mcp', { force: true }), 400, 'action');
    await refused(ask('POST', 'mcp', { action: 'delete', now: true }), 400, 'now');
    await refused(ask('POST', 'mcp', undefined), 400, 'body');
  });

  it('are recorded with their input, whose secrets are masked', async () => {
    const { ask, changes } = setUp('mcp', 'stuck');
    await ask('POST', 'mcp', { action: 'start', password: 'hush', force: true });
    assert.deepEqual(changes[0]?.input, { password: '[redacted]', force: true });
    await ask('POST', 'stuck', { action: 'start' });
    assert.deepEqual([changes[1]?.outcome, changes[1]?.reason], ['failure', 'It does not start']);
  });

  it('on several objects have a result each', async () => {
    const { ask, changes, reports } = setUp('mcp', 'stuck', 'broken');
    const resources = [{ id: 'mcp', force: true }, { id: 'nope' }, { id: 'stuck' }, { id: 'broken' }];
    const answer = await ask('POST', '', { action: 'start', resources });
    assert.equal(answer.status, 200);
    assert.deepEqual(
      resultsOf(answer).map(({ code, href, success }) => [success, code, href]),
      [
        [true, undefined, '/api/things/mcp'],
        [false, 'not_found', '/api/things/nope'],
        [false, undefined, '/api/things/stuck'],
        [false, 'internal_error', '/api/things/broken'],
      ],
    );
    assert.equal(reports.length, 1);
    assert.doesNotMatch(JSON.stringify(answer.body), /fault of our own/);
    assert.deepEqual(
      changes.map(({ outcome }) => outcome),
      ['success', 'failure', 'failure'],
    );
  });

  it('change and remove several, too', async () => {
    const { ask, rows } = setUp('mcp', 'store', 'built-in');
    const edits = [
      { id: 'mcp', name: 'new' },
      { href: '/api/things/store', colour: 'red' },
    ];
    const edited = resultsOf(await ask('POST', '', { action: 'edit', resources: edits }));
    assert.deepEqual(
      edited.map(({ name, param, success }) => [success, name, param]),
      [
        [true, 'new', undefined],
        [false, undefined, 'resources[1].colour'],
      ],
    );
    const deletion = { action: 'delete', resources: [{ id: 'mcp' }, { id: 'built-in' }] };
    assert.deepEqual(
      resultsOf(await ask('POST', '', deletion)).map(({ success }) => success),
      [true, false],
    );
    assert.deepEqual([...rows.keys()], ['store', 'built-in']);
    const conditional = { headers: { 'if-match': '*' } };
    await refused(ask('POST', '', deletion, conditional), 400, 'if-match');
  });

  it('that imply an object apply to it when none is named', async () => {
    const { ask, changes, resource } = setUp('a', 'b');
    const start = resource.actions?.['start'];
    assert.ok(start);
    const implying = { resource: { ...resource, actions: { start: { ...start, implied: () => 'b' } } } };
    const answer = await ask('POST', '', { action: 'start', force: true }, implying);
    assert.equal(answer.status, 200);
    assert.equal(bodyOf(answer)['href'], '/api/things/b');
    assert.equal(changes.at(-1)?.target, 'b');
    const named = await ask('POST', '', { action: 'start', resources: [{ id: 'a' }] }, implying);
    assert.equal(resultsOf(named)[0]?.['href'], '/api/things/a');
    await refused(ask('POST', '', { action: 'start' }), 400, 'resources');
  });
});
