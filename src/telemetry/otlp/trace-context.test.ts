import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outgoingTraceparent, parentOf, traceContext } from './trace-context.ts';

const always = { parentBased: true, ratio: 1 };
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${traceId}-b7ad6b7169203331-01`;

describe('trace contexts', () => {
  it('reads what W3C Trace Context allows, and nothing else', () => {
    assert.deepEqual(parentOf(parent), { traceId, spanId: 'b7ad6b7169203331', sampled: true });
    assert.equal(parentOf(parent.replace(/01$/, '00'))?.sampled, false);
    // A later version may say more behind.
    assert.equal(parentOf(`${parent.replace(/^00/, '01')}-more`)?.traceId, traceId);
    for (const wrong of [
      null,
      '',
      `${parent}-more`,
      parent.replace(/^00/, 'ff'),
      parent.toUpperCase(),
      parent.slice(0, -1),
      parent.replace(traceId, '0'.repeat(32)),
      parent.replace('b7ad6b7169203331', '0'.repeat(16)),
    ])
      assert.equal(parentOf(wrong), null, String(wrong));
  });

  it('gives the same ids for the same request, and others for another', () => {
    const one = traceContext('req_1', null, 'salt', always);
    assert.match(one.traceId, /^[0-9a-f]{32}$/);
    assert.match(one.spanId, /^[0-9a-f]{16}$/);
    const again = traceContext('req_1', null, 'salt', always);
    assert.deepEqual(
      [again.traceId, again.spanId, again.attemptSpanId(2)],
      [one.traceId, one.spanId, one.attemptSpanId(2)],
    );
    for (const other of [
      traceContext('req_2', null, 'salt', always),
      traceContext('req_1', null, 'pepper', always),
    ])
      assert.notEqual(other.traceId, one.traceId);
    const spanIds = [one.spanId, ...Array.from({ length: 300 }, (_, index) => one.attemptSpanId(index + 1))];
    assert.equal(new Set(spanIds).size, 301);
  });

  it('names the span of the attempt in what goes upstream', () => {
    const context = traceContext('req_1', parent, 'salt', always);
    assert.equal(outgoingTraceparent(context, 3), `00-${traceId}-${context.attemptSpanId(3)}-01`);
    assert.equal(context.parentSpanId, 'b7ad6b7169203331');
  });

  it('samples what the client samples, or a share', () => {
    const sampledOf = (traceparent: string | null, sampler: typeof always) =>
      Array.from(
        { length: 1000 },
        (_, index) => traceContext(`req_${index}`, traceparent, 's', sampler).sampled,
      ).filter(Boolean).length;
    assert.equal(sampledOf(parent.replace(/01$/, '00'), always), 0);
    assert.equal(sampledOf(parent, { parentBased: true, ratio: 0 }), 1000);
    assert.equal(sampledOf(parent, { parentBased: false, ratio: 0 }), 0);
    assert.equal(sampledOf(null, { parentBased: true, ratio: 0 }), 0);
    const quarter = sampledOf(null, { parentBased: true, ratio: 0.25 });
    assert.ok(quarter > 180 && quarter < 320, `${quarter} of 1000`);
  });
});
