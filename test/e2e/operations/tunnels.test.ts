import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor } from '../../support/gateway/gateway.ts';
import { installStandIn, printed } from '../../support/machine/tunnel-programs.ts';
import { managed, refused } from '../../support/management/management.ts';

const first = 'blue-sky-two.trycloudflare.com';
const second = 'red-sea-one.trycloudflare.com';

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('tunnels', () => {
  const at = managed({ ownPrograms: true });
  const standIn = (name: string) => installStandIn(join(at.gateway.home, 'bin'), name);
  const tunnel = async (id: string) =>
    (await at.call('GET', `/api/tunnels/${id}`, { token: at.admin.token })).json();
  const stateOf = async (id: string) => (await tunnel(id))['state'];
  const create = (body: object, token = at.admin.token) =>
    at.call('POST', '/api/tunnels', { token, body: { action: 'create', ...body } });
  const act = (id: string, action: string, token = at.admin.token) =>
    at.call('POST', `/api/tunnels/${id}`, { token, body: { action } });
  const under = (host: string) =>
    at.call('POST', '/api/tunnels/cloudflared?dry_run=true', {
      token: at.admin.token,
      host,
      headers: { origin: `https://${host}` },
      body: { action: 'stop' },
    });

  /** Ends the gateway as a service manager does, and starts it again. */
  const again = async () => {
    const { pid } = at.gateway;
    process.kill(pid, 'SIGTERM');
    await waitFor('the gateway has ended', () => !alive(pid));
    await at.gateway.restart();
  };

  it('open the gateway under their address, and only under that', async () => {
    const program = standIn('cloudflared');
    program.plays({ prints: printed.cloudflared(first), on: 'stderr' });
    refused(await under(first), 403);
    const row = await at.gateway.cliJson('tunnel', 'create', 'cloudflared');
    assert.deepEqual([row['state'], row['url'], row['installed']], ['running', `https://${first}`, true]);
    assert.equal((await under(first)).status, 200);
    refused(await under('evil.example'), 403);
    const [run] = program.runs();
    assert.ok(run);
    assert.deepEqual(run.args, ['tunnel', '--no-autoupdate', '--url', `http://127.0.0.1:${at.gateway.port}`]);
    assert.deepEqual(
      Object.keys(run.environment).filter((name) => !/^(PATH|HOME|USERPROFILE|__CF)/.test(name)),
      [],
    );
    assert.notEqual(run.environment['HOME'], at.gateway.home, 'it finds no configuration of its owner');
    const { code, stdout } = await at.gateway.cli('tunnel', 'list');
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`cloudflared .*running .*https://${first}`));
  });

  it('are services, for those who may see them', async () => {
    const path = '/api/services/tunnel-cloudflared';
    const service = (await at.call('GET', path, { token: at.admin.token })).json();
    assert.deepEqual([service['kind'], service['state']], ['tunnel', 'running']);
    const [endpoint] = service['endpoints'] as Record<string, unknown>[];
    assert.deepEqual(
      [endpoint?.['host'], endpoint?.['visibility'], endpoint?.['tls']],
      [first, 'public', true],
    );
    const [viewer, operator] = [await at.person('vic', 'viewer'), await at.person('op', 'operator')];
    refused(await at.call('GET', path, { token: viewer.token }), 404);
    refused(await at.call('GET', '/api/tunnels', { token: viewer.token }), 403);
    assert.equal((await at.call('GET', path, { token: operator.token })).status, 200);
    const stop = { token: operator.token, body: { action: 'stop' } };
    refused(await at.call('POST', path, stop), 403);
    refused(await act('cloudflared', 'stop', operator.token), 403);
    refused(await create({ kind: 'ngrok' }, operator.token), 403);
  });

  it('mark a request that they pass on as one from outside', async () => {
    const who = (headers: Record<string, string>) =>
      at.call('GET', '/api', { token: at.ownerKey(), headers });
    assert.equal((await who({})).status, 200);
    refused(await who({ 'x-forwarded-for': '203.0.113.9' }), 401);
    refused(await who({ 'x-forwarded-for': '127.0.0.1, 203.0.113.9' }), 401);
  });

  it('are started again when their program ends, and the allowed names follow', async () => {
    const program = standIn('cloudflared');
    program.plays({ prints: printed.cloudflared(second), on: 'stderr' });
    const pid = program.runs().at(-1)?.pid;
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    await waitFor('the tunnel has its second address', async () => {
      const { state, url } = await tunnel('cloudflared');
      return state === 'running' && url === `https://${second}`;
    });
    refused(await under(first), 403);
    assert.equal((await under(second)).status, 200);
    assert.equal((await tunnel('cloudflared'))['failures'], 1);
  });

  it('come back with the gateway, unless they were stopped; and nothing outlives it', async () => {
    const program = standIn('cloudflared');
    program.plays({ prints: printed.cloudflared(first), on: 'stderr', stubborn: true });
    const before = program.runs().length;
    const last = program.runs().at(-1)?.pid ?? 0;
    await again();
    assert.ok(!alive(last), 'the program ended with the gateway');
    await waitFor('the tunnel is back', async () => (await stateOf('cloudflared')) === 'running');
    assert.equal(program.runs().length, before + 1);
    assert.equal((await act('cloudflared', 'stop')).json()['success'], true);
    assert.ok(!alive(program.runs().at(-1)?.pid ?? 0), 'also one that takes no notice of SIGTERM');
    refused(await under(first), 403);
    await again();
    assert.equal(await stateOf('cloudflared'), 'stopped');
    assert.equal(program.runs().length, before + 1);
    const removed = await at.gateway.cliJson('tunnel', 'stop', 'cloudflared', '--remove');
    assert.deepEqual([removed['stopped'], removed['removed']], [true, true]);
    assert.equal(await stateOf('cloudflared'), 'absent');
    const gone = await at.gateway.cli('tunnel', 'stop', 'cloudflared');
    assert.equal(gone.code, 1);
  });

  it('keep the secrets of their programs', async () => {
    const program = standIn('ngrok');
    program.plays({ prints: printed.ngrokRefuses, exits: 1 });
    const { code, stderr } = await at.gateway.cli('tunnel', 'create', 'ngrok', '--domain', 'g.ngrok.app');
    assert.equal(code, 1);
    assert.match(stderr, /ngrok refuses: ERR_NGROK_105/);
    assert.deepEqual(program.runs()[0]?.args.slice(-2), ['--url', 'https://g.ngrok.app']);
    assert.equal(program.runs()[0]?.environment['HOME'], at.gateway.home, 'its login is in the home folder');
    const shown = JSON.stringify([await tunnel('ngrok'), at.gateway.output(), stderr]);
    assert.doesNotMatch(shown, /secretTOKEN/);
    program.plays({ prints: printed.ngrok('g.ngrok.app') });
    await waitFor('ngrok is let in', async () => (await stateOf('ngrok')) === 'running');
    refused(await create({ kind: 'ngrok' }), 409);
    assert.equal((await act('ngrok', 'stop')).json()['success'], true);
  });

  it('say what a person has to do first', async () => {
    standIn('tailscale').plays({ prints: printed.tailscaleAsks, exits: 0 });
    const { code, stderr } = await at.gateway.cli('tunnel', 'create', 'tailscale');
    assert.equal(code, 1);
    assert.match(stderr, /visit https:\/\/login\.tailscale\.com\/f\/funnel/);
    const stopped = await at.call('DELETE', '/api/tunnels/tailscale', { token: at.admin.token });
    assert.equal(stopped.status, 204, stopped.text);
  });

  it('are refused with what is wrong', async () => {
    refused(await create({ kind: 'other' }), 400);
    refused(await create({ kind: 'cloudflared', domain: 'a.example' }), 400);
    refused(await create({ kind: 'ngrok', domain: '--config=/etc/passwd' }), 400);
    refused(await act('cloudflared', 'start'), 404);
    const audit = await at.call('GET', '/api/audit?expand=resources', { token: at.admin.token });
    for (const action of ['tunnels.create', 'tunnels.stop', 'tunnels.delete'])
      assert.ok(audit.text.includes(`"${action}"`), action);
  });
});

describe('a gateway without an admin', () => {
  const at = managed({ noAdmin: true, ownPrograms: true });

  it('has no tunnel, because the first visitor could become the admin', async () => {
    const program = installStandIn(join(at.gateway.home, 'bin'), 'cloudflared');
    const { code, stderr } = await at.gateway.cli('tunnel', 'create', 'cloudflared');
    assert.equal(code, 1);
    assert.match(stderr, /needs an admin password first: run `gateway setup`/);
    assert.deepEqual(program.runs(), []);
  });
});
