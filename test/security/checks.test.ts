import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

/** Where a security check is run, and what of it is not, and why. */
interface Row {
  in: readonly string[];
  not?: string;
}

const here = (...names: string[]): Row => ({ in: names.map((name) => `test/security/${name}.test.ts`) });

/** The checks SC-01 to SC-70, in order. */
const checks: readonly Row[] = [
  here('inventory'),
  here('inventory'),
  here('roles'),
  here('audit', 'services', 'tokens', 'users'),
  here('tokens'),
  here('auth'),
  here('audit', 'tokens'),
  here('tokens'),
  { ...here('tokens'), not: 'on several workers: one process serves the data directory' },
  here('users'),
  here('services', 'users'),
  here('tokens'),
  here('auth'),
  {
    in: ['test/security/throttle.test.ts', 'scripts/attack.ts'],
    not: 'hydra runs by hand: it takes a minute',
  },
  here('throttle', 'proxies'),
  here('throttle', 'proxies'),
  here('throttle'),
  here('users'),
  here('throttle'),
  here('auth'),
  here('browser', 'chromium'),
  here('browser', 'chromium'),
  here('browser', 'chromium'),
  here('negotiation', 'chromium'),
  here('browser', 'chromium'),
  here('browser', 'chromium'),
  here('browser', 'chromium'),
  here('negotiation'),
  here('negotiation'),
  here('negotiation'),
  here('negotiation'),
  here('auth'),
  here('collections', 'services', 'users'),
  here('roles', 'services'),
  here('collections'),
  here('odd-input'),
  here('odd-input'),
  here('negotiation'),
  here('collections', 'odd-input'),
  here('collections'),
  { ...here('odd-input'), not: 'sqlmap: the texts that it tries are among those of the property' },
  here('audit'),
  here('negotiation', 'faults'),
  here('faults'),
  here('faults'),
  here('audit'),
  here('faults'),
  { in: ['test/security/slow.test.ts', 'scripts/attack.ts'], not: 'slowhttptest runs by hand' },
  here('negotiation', 'slow'),
  here('collections', 'services', 'users'),
  here('repeats'),
  { ...here('outbound'), not: 'webhooks and tunnels: there are none yet' },
  here('outbound'),
  here('repeats'),
  {
    ...here('negotiation', 'chromium'),
    not: 'HSTS: the gateway speaks HTTP, and a proxy before it ends TLS',
  },
  here('browser', 'chromium'),
  here('negotiation'),
  { in: [], not: 'the gateway speaks HTTP alone: TLS is ended by a proxy before it (SECURITY.md)' },
  here('setup'),
  here('audit'),
  { in: ['test/security/negotiation.test.ts', 'scripts/attack.ts'], not: 'ffuf runs by hand' },
  here('negotiation'),
  here('auth'),
  here('roles', 'tokens', 'proxies'),
  here('tokens', 'users'),
  { ...here('chromium'), not: 'logging out of the dashboard, which does not exist yet' },
  here('token-life'),
  { in: ['test/support/management/management.ts', 'test/security/inventory.test.ts'] },
  {
    in: ['test/package.test.ts', 'test/dependencies.test.ts'],
    not: 'npm audit: it asks a registry, and the tests ask none',
  },
  { in: [], not: 'mutation tests run by hand: they take hours, and bring a tool of their own' },
];

describe('the security checks', () => {
  it('are seventy, and each is run somewhere or says why not', () => {
    assert.equal(checks.length, 70);
    for (const [index, row] of checks.entries()) {
      const id = `SC-${String(index + 1).padStart(2, '0')}`;
      assert.ok(row.in.length > 0 || row.not !== undefined, id);
      for (const name of row.in) {
        const text = readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
        assert.ok(name.startsWith('scripts/') || text.includes(id), `${name} does not name ${id}`);
      }
    }
  });
});
