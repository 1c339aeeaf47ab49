import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../support/machine/properties.ts';
import { challenged, firstResult, type Managed, managed } from '../support/management/management.ts';

/** The defaults of `api` in the configuration, seconds (CONTRACT, 3). */
const lifetime = 600;
const longestLifetime = 43_200;

/** Seconds around an expiry in which either answer is right: the request takes time of its own. */
const slack = 5;

interface Token {
  readonly text: string;
  /** When its password was given, seconds on the gateway's clock; a token that another one asked for inherits it. */
  readonly started: number;
  readonly expires: number;
  ended: boolean;
}

/** One user's tokens, as a table that knows nothing of hashes, caches or databases. */
class Life {
  private readonly at: Managed;
  private readonly id: string;
  private readonly name: string;
  private password: string;
  private enabled = true;
  private offset = 0;
  private readonly tokens: Token[] = [];

  constructor(at: Managed, { id, name, password }: { id: string; name: string; password: string }) {
    this.at = at;
    this.id = id;
    this.name = name;
    this.password = password;
  }

  private now(): number {
    return Date.now() / 1000 + this.offset;
  }

  /** Remembers a token that was given out just now. */
  private keep(text: string, started: number): void {
    assert.ok(!this.tokens.some((token) => token.text === text), 'no token is given out twice');
    const expires = Math.min(this.now() + lifetime, started + longestLifetime);
    this.tokens.push({ text, started, expires, ended: false });
  }

  private endAll(): void {
    for (const token of this.tokens) token.ended = true;
  }

  /** What a token is worth now; undefined close to its end. */
  private isGood(token: Token): boolean | undefined {
    if (token.ended) return false;
    return Math.abs(token.expires - this.now()) < slack ? undefined : token.expires > this.now();
  }

  private act(action: string, resource?: object) {
    const body = { action, resource };
    return this.at.call('POST', `/api/users/${this.id}`, { token: this.at.ownerKey(), body });
  }

  async login(): Promise<void> {
    const reply = await this.at.call('GET', '/api/auth', { basic: [this.name, this.password] });
    if (!this.enabled) {
      // An answer of 429 says as little of whether the password was right.
      assert.ok(reply.status === 401 || reply.status === 429, reply.text);
      return;
    }
    assert.equal(reply.status, 200, reply.text);
    this.keep(String(reply.json()['auth_token']), this.now());
  }

  async renew(which: number): Promise<void> {
    const token = this.tokens[which % this.tokens.length];
    if (token === undefined) return;
    const good = this.isGood(token);
    const reply = await this.at.call('GET', '/api/auth', { token: token.text });
    if (reply.status === 200) {
      assert.notEqual(good, false, 'a token that has ended makes no other');
      this.keep(String(reply.json()['auth_token']), token.started);
    } else {
      assert.notEqual(good, true, reply.text);
      challenged(reply);
    }
  }

  async logout(which: number): Promise<void> {
    const token = this.tokens[which % this.tokens.length];
    if (token === undefined) return;
    const good = this.isGood(token);
    const reply = await this.at.call('DELETE', '/api/auth', { token: token.text });
    if (good !== undefined) assert.equal(reply.status, good ? 204 : 401, reply.text);
    token.ended = true;
  }

  async changePassword(): Promise<void> {
    this.password = `${this.password}+`;
    const reply = await this.act('set_password', { password: this.password });
    assert.equal(reply.status, 200, reply.text);
    this.endAll();
  }

  async switchTo(enabled: boolean): Promise<void> {
    const reply = await this.act(enabled ? 'enable' : 'disable');
    assert.equal(reply.status, 200, reply.text);
    this.enabled = enabled;
    if (!enabled) this.endAll();
  }

  async revokeAll(): Promise<void> {
    const reply = await this.act('revoke_sessions');
    assert.equal(reply.status, 200, reply.text);
    this.endAll();
  }

  async advance(seconds: number): Promise<void> {
    this.at.advance(seconds);
    this.offset += seconds;
  }

  async restart(): Promise<void> {
    await this.at.gateway.kill();
    await this.at.gateway.restart();
  }

  /** Every token of the table, shown to the gateway. */
  async compare(): Promise<void> {
    for (const [index, token] of this.tokens.entries()) {
      const good = this.isGood(token);
      const reply = await this.at.call('GET', '/api', { token: token.text });
      if (good === true) assert.equal(reply.status, 200, `token ${index}: ${reply.text}`);
      if (good === false) challenged(reply);
    }
  }
}

type Step = readonly [what: string, take: (life: Life) => Promise<void>];

const which = fc.nat({ max: 7 });

/** What happens to tokens, the common more often than the rare. */
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step>(['login', (life) => life.login()]) },
  { weight: 4, arbitrary: which.map<Step>((n) => [`renew ${n}`, (life) => life.renew(n)]) },
  { weight: 3, arbitrary: which.map<Step>((n) => [`logout ${n}`, (life) => life.logout(n)]) },
  {
    weight: 3,
    arbitrary: fc
      .integer({ min: 1, max: 700 })
      .map<Step>((seconds) => [`advance ${seconds} s`, (life) => life.advance(seconds)]),
  },
  { weight: 1, arbitrary: fc.constant<Step>(['change password', (life) => life.changePassword()]) },
  { weight: 1, arbitrary: fc.constant<Step>(['revoke all', (life) => life.revokeAll()]) },
  { weight: 1, arbitrary: fc.constant<Step>(['disable', (life) => life.switchTo(false)]) },
  { weight: 2, arbitrary: fc.constant<Step>(['enable', (life) => life.switchTo(true)]) },
  { weight: 1, arbitrary: fc.constant<Step>(['restart', (life) => life.restart()]) },
);

describe('the life of tokens', () => {
  const at = managed();

  it('SC-67 follows a simple table, whatever happens in whatever order', async () => {
    let users = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const name = `life-${users++}`;
      const body = { name, role: 'viewer', password: `a long secret of ${name}` };
      const made = await at.call('POST', '/api/users', { token: at.ownerKey(), body });
      assert.equal(made.status, 200, made.text);
      const life = new Life(at, { id: String(firstResult(made)['id']), name, password: body.password });
      const taken: string[] = [];
      for (const [what, take] of steps) {
        taken.push(what);
        try {
          await take(life);
          await life.compare();
        } catch (error) {
          throw new Error(`after ${taken.join(', ')}`, { cause: error });
        }
      }
    });
    await fc.assert(property, { numRuns: 15 });
  });
});
