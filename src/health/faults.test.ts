import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultExamples } from '../../test/support/upstream/faults.ts';
import { nativeQuirks } from '../../test/support/upstream/native-quirks.ts';
import { providerQuirks } from '../../test/support/upstream/provider-quirks.ts';
import { findProvider, ownProviders } from '../providers/index.ts';
import { faults, kindOf, rowOf, usualFaults } from './faults.ts';

const errorTextOf = ({ message, type }: { message: string; type: string }) => `${type} ${message}`;

describe('the classification of failures', () => {
  for (const example of faultExamples) {
    const { kind, message, provider: id, status } = example;
    // What the headers say besides is the account's business.
    const expected = kind === 'quota' && id === 'anthropic' ? 'rate-limit' : kind;
    it(`is "${expected}" for ${status} "${message}" of ${id}`, () => {
      const provider = findProvider(id);
      assert.ok(provider);
      assert.equal(
        kindOf({ code: 'upstream_error', status, errorText: errorTextOf(example) }, provider),
        expected,
      );
    });
  }

  it('has an example for every row', () => {
    const rows = [...usualFaults, ...ownProviders.flatMap(({ faults: own = [] }) => own)];
    // provider-pairs.test.ts sends the documented errors through the gateway.
    const documented = [...providerQuirks, ...nativeQuirks].flatMap(({ errors, provider }) =>
      errors.map(({ body, status }) => ({ provider, status, errorText: JSON.stringify(body) })),
    );
    const examples = [
      ...faultExamples.map((example) => ({ ...example, errorText: errorTextOf(example) })),
      ...documented,
    ];
    const shown = new Set(
      examples.map(({ provider: id, errorText, status }) => {
        const provider = findProvider(id);
        return provider && rowOf({ status, errorText }, provider);
      }),
    );
    assert.deepEqual(
      rows.filter((row) => !shown.has(row)),
      [],
    );
  });

  it('never blames an account for a fault of the request, nor a request for a fault of the account', () => {
    for (const [kind, { effect, next }] of Object.entries(faults))
      if (next === 'stop') assert.equal(effect.to, 'none', kind);
  });

  it('distinguishes failures without an answer', () => {
    const none = { status: null, errorText: '' };
    assert.equal(kindOf({ ...none, code: 'upstream_unreachable' }, {}), 'unreachable');
    assert.equal(kindOf({ ...none, code: 'upstream_timeout' }, {}), 'timeout');
    assert.equal(kindOf({ ...none, code: 'shutting_down' }, {}), 'request');
    assert.equal(kindOf({ ...none, code: 'invalid_request' }, {}), 'request');
  });
});
