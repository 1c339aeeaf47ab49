import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { openBrowser } from './open-browser.ts';

const folder = temporaryFolder({ after });

describe('opening the browser', { skip: process.platform !== 'linux' }, () => {
  const withPrograms = (run: () => void) => {
    const { PATH } = process.env;
    process.env['PATH'] = `${folder}:${PATH}`;
    try {
      run();
    } finally {
      process.env['PATH'] = PATH;
    }
  };

  it('passes the address to the system, and reports a failure', async () => {
    const opened = join(folder, 'opened');
    const program = join(folder, 'xdg-open');
    writeFileSync(program, `#!/bin/sh\necho "$1" > '${opened}'\nexit 3\n`);
    chmodSync(program, 0o755);
    let failed = 0;
    withPrograms(() =>
      openBrowser('http://127.0.0.1:1/dashboard', {
        platform: 'linux',
        variable: (name) => (name === 'DISPLAY' ? ':0' : undefined),
        onFailure: () => (failed += 1),
      }),
    );
    await waitFor('the failure', () => failed === 1);
    assert.equal(readFileSync(opened, 'utf8'), 'http://127.0.0.1:1/dashboard\n');
  });

  it('opens nothing without a display, or on an unknown system', () => {
    const never = join(folder, 'never');
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\ntouch '${never}'\n`);
    for (const platform of ['linux', 'aix'] as const)
      withPrograms(() =>
        openBrowser('http://127.0.0.1:1/', {
          platform,
          variable: () => undefined,
          onFailure: () => assert.fail('nothing was tried'),
        }),
      );
    assert.equal(existsSync(never), false);
  });
});
