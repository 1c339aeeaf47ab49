import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkChannelUrl } from '../../src/events/config/channel-url.ts';
import { guarantees, guaranteeTable } from '../support/events/channel-guarantees.ts';

describe('the page on channels', () => {
  it('has the table of what each of them promises', () => {
    const page = readFileSync(new URL('../../docs/events/channels.md', import.meta.url), 'utf8');
    assert.ok(page.includes(`\n${guaranteeTable()}\n`), `the table should be\n${guaranteeTable()}`);
  });

  it('has addresses that lead to the channels they stand for', () => {
    for (const [scheme, { addresses }] of Object.entries(guarantees))
      for (const address of addresses) {
        const checked = checkChannelUrl(`${address}//host`);
        assert.deepEqual(checked, { ok: true, scheme });
      }
  });
});
