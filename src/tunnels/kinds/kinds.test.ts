import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printed } from '../../../test/support/machine/tunnel-programs.ts';
import type { TunnelEvent, TunnelKind } from '../kind.ts';
import { cloudflared } from './cloudflared.ts';
import { ngrok } from './ngrok.ts';
import { tailscale } from './tailscale.ts';

function newsOf(kind: TunnelKind, lines: readonly string[]): TunnelEvent[] {
  const read = kind.reader();
  return lines.flatMap((line) => read(line) ?? []);
}

const urls = (news: readonly TunnelEvent[]) => news.flatMap((one) => (one.kind === 'url' ? [one.url] : []));
const problems = (news: readonly TunnelEvent[]) =>
  news.flatMap((one) => (one.kind === 'problem' ? [one.message] : []));

describe('what the programs of tunnels print', () => {
  it('names the address of a Cloudflare quick tunnel, and no other address', () => {
    const news = newsOf(cloudflared, printed.cloudflared('blue-sky-two.trycloudflare.com'));
    assert.deepEqual(urls(news), ['https://blue-sky-two.trycloudflare.com']);
    assert.deepEqual(news.at(-1), { kind: 'connected', connected: true });
    const failed = newsOf(cloudflared, printed.cloudflaredFails);
    assert.deepEqual(urls(failed), []);
    assert.match(problems(failed).join(), /failed to request quick Tunnel.*no such host/);
  });

  it('names the address of Tailscale Funnel, or the page where it is enabled', () => {
    const news = newsOf(tailscale, printed.tailscale('box.tail1234.ts.net'));
    assert.deepEqual(urls(news), ['https://box.tail1234.ts.net']);
    const asks = newsOf(tailscale, printed.tailscaleAsks);
    assert.deepEqual(urls(asks), []);
    assert.match(
      problems(asks).join(),
      /visit https:\/\/login\.tailscale\.com\/f\/funnel\?node=nABC123CNTRL$/,
    );
    const within = ['Available within your tailnet:', '', 'https://box.tail1234.ts.net/'];
    assert.deepEqual(urls(newsOf(tailscale, within)), []);
    assert.match(problems(newsOf(tailscale, within)).join(), /Funnel is not on/);
  });

  it('names the address of ngrok, and never its authtoken', () => {
    const news = newsOf(ngrok, printed.ngrok('a1b2.ngrok-free.app'));
    assert.deepEqual(urls(news), ['https://a1b2.ngrok-free.app']);
    const refused = newsOf(ngrok, printed.ngrokRefuses);
    assert.deepEqual(
      new Set(problems(refused)),
      new Set(['ngrok refuses: ERR_NGROK_105, see https://ngrok.com/docs/errors/err_ngrok_105']),
    );
    assert.doesNotMatch(JSON.stringify(refused), /secretTOKEN/);
  });

  it('is read without an error, whatever it is', () => {
    const odd = ['', '{}', '{"msg":1}', 'null', '|  https://', 'https://', '\u0000', 'x'.repeat(20_000)];
    for (const kind of [cloudflared, ngrok, tailscale]) assert.deepEqual(newsOf(kind, odd), []);
  });

  it('follows from the address of the gateway and the reserved name', () => {
    const target = { url: 'http://127.0.0.1:20128', domain: null };
    assert.deepEqual(cloudflared.args(target), ['tunnel', '--no-autoupdate', '--url', target.url]);
    assert.deepEqual(tailscale.args(target), ['funnel', target.url]);
    assert.deepEqual(ngrok.args({ ...target, domain: 'g.ngrok.app' }).slice(-2), [
      '--url',
      'https://g.ngrok.app',
    ]);
  });
});
