import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeMember } from './change.ts';
import type { RequestOptions } from './client.ts';
import { ApiError } from './error.ts';

interface Row {
  name: string;
  rpm: number | null;
  used: number;
}

const fieldsOf = ({ name, rpm }: Row) => ({ name, rpm });
const seen: Row = { name: 'ci', rpm: 10, used: 0 };

/** An API whose member goes through these states, one each time it is read, and is written as long as it is the last. */
function member(states: readonly Row[], tag = (version: number) => `"${version}.x"`) {
  let version = -1;
  const sent: { body: object; ifMatch: string | undefined }[] = [];
  return {
    sent,
    reads: () => version + 1,
    open: async () => {
      version += 1;
      return Response.json(states[version], { headers: { etag: tag(version) } });
    },
    patch: async <T>(_path: string, body: object, options: RequestOptions = {}): Promise<T> => {
      sent.push({ body, ifMatch: options.headers?.['if-match'] });
      if (version < states.length - 1)
        throw new ApiError('It was changed since', { status: 412, code: 'precondition_failed' });
      return { ...states[version], ...body } as T;
    },
  };
}

describe('a change of an object that other users change too', () => {
  it('is sent with the version that it was compared with', async () => {
    const api = member([seen], (version) => `W/"${version}.x"`);
    const result = await changeMember(api, 'keys/1', { seen, change: { rpm: 20 }, fieldsOf });
    assert.deepEqual(result, { stale: null, member: { ...seen, rpm: 20 } });
    assert.deepEqual(api.sent, [{ body: { rpm: 20 }, ifMatch: '"0.x"' }]);
  });

  it('is not sent where somebody else has changed what the form shows', async () => {
    const theirs = { ...seen, name: 'build', rpm: null };
    const api = member([theirs]);
    const result = await changeMember(api, 'keys/1', { seen, change: { rpm: 20 }, fieldsOf });
    const differences = [
      { field: 'name', mine: undefined, theirs: 'build' },
      { field: 'rpm', mine: 20, theirs: null },
    ];
    assert.deepEqual(result, { stale: { theirs, differences } });
    assert.deepEqual(api.sent, []);
  });

  it('is compared again when somebody else wrote between our read and our write', async () => {
    const theirs = { ...seen, rpm: 15 };
    const api = member([seen, theirs]);
    const result = await changeMember(api, 'keys/1', { seen, change: { rpm: 20 }, fieldsOf });
    assert.deepEqual(result.stale?.differences, [{ field: 'rpm', mine: 20, theirs: 15 }]);
  });

  it('is repeated when others changed only fields outside the form, or made the same change', async () => {
    const used = member([seen, { ...seen, used: 1 }]);
    const change = { rpm: 20 };
    assert.equal((await changeMember(used, 'keys/1', { seen, change, fieldsOf })).stale, null);
    const alike = member([{ ...seen, rpm: 20 }]);
    assert.equal((await changeMember(alike, 'keys/1', { seen, change, fieldsOf })).stale, null);
  });

  it('is given up when the version changes at every attempt', async () => {
    const api = member([0, 1, 2, 3].map((used) => ({ ...seen, used })));
    await assert.rejects(changeMember(api, 'keys/1', { seen, change: { rpm: 20 }, fieldsOf }), {
      status: 412,
    });
    assert.equal(api.reads(), 3);
  });

  it('sends no request when nothing was changed', async () => {
    const api = member([seen]);
    assert.deepEqual(await changeMember(api, 'keys/1', { seen, change: {}, fieldsOf }), {
      stale: null,
      member: seen,
    });
    assert.equal(api.reads(), 0);
  });
});
