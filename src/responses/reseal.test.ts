import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { deriveKeys } from '../connections/credentials/seal.ts';
import { openStore } from '../store/database.ts';
import { resealResponses } from './reseal.ts';
import { columns, contentOf, createResponseEncryption } from './row.ts';

const before = deriveKeys('first').responses;
const after = deriveKeys('second').responses;

describe('encrypting kept responses anew', () => {
  it('keeps each as it is, also those of two keys with one id, and leaves those of other keys', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keep = (id: string, keyId: string, key = before) => {
      const content = contentOf({
        id,
        createdAt: 1,
        keyId,
        connectionId: 'c',
        model: 'm',
        previousId: null,
        input: [`asked by ${keyId}`],
        response: {},
      });
      const row = createResponseEncryption(key).seal(content);
      store.insertMany('responses', columns, [columns.map((column) => row[column])]);
    };
    for (let number = 0; number < 50; number += 1)
      for (const keyId of ['one', 'two']) keep(`resp_${number}`, keyId);
    keep('strange', 'one', deriveKeys('third').responses);
    await store.db
      .updateTable('responses')
      .set({ sealed: new Uint8Array(40) })
      .where('id', '=', 'resp_7')
      .where('key_id', '=', 'one')
      .execute();

    assert.equal(await resealResponses(store.db, before, after), 99);
    const rows = await store.db.selectFrom('responses').selectAll().execute();
    const opened = rows.map((row) => createResponseEncryption(after).open(row));
    assert.equal(rows.length, 100, 'the damaged one is gone, and no other');
    assert.deepEqual(
      opened.flatMap((content) =>
        content === null || content.json.includes(content.keyId) ? [] : [content],
      ),
      [],
    );
    assert.equal(opened.filter((content) => content === null).length, 1, 'that of another key');
  });
});
