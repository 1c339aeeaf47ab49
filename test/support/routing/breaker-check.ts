import assert from 'node:assert/strict';
import type { CircuitBreaker } from '../../../src/events/config/config.ts';
import { createCircuitBreaker } from '../../../src/events/strategies/circuit-breaker.ts';
import type { Permit } from '../../../src/events/strategies/limit.ts';
import { createFakeClock } from '../machine/fake-clock.ts';
import { fc } from '../machine/properties.ts';
import { createBreakerModel } from './breaker-model.ts';

type Command =
  | { readonly kind: 'ask' }
  | { readonly kind: 'pass'; readonly tenths: number }
  | {
      readonly kind: 'end';
      readonly which: number;
      readonly outcome: 'ok' | 'error' | 'ignored' | 'cancel';
      readonly ms: number;
    };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Command>({ kind: 'ask' }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), tenths: fc.nat(25) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      which: fc.nat(9),
      outcome: fc.constantFrom('ok', 'error', 'error', 'ignored', 'cancel'),
      ms: fc.constantFrom(1, 50, 51, Number.POSITIVE_INFINITY),
    }),
  },
);

const breaker: fc.Arbitrary<CircuitBreaker> = fc.record({
  name: fc.constant(''),
  trips: fc.constantFrom({ on: 'errors' as const }, { on: 'slowness' as const, maxMs: 50 }),
  ratio: fc.constantFrom(0, 0.07, 0.3, 0.5, 1),
  windowMs: fc.constant(1_000),
  recoveryMs: fc.constantFrom(300, 1_000, 1_700),
  minRequests: fc.integer({ min: 1, max: 6 }),
});

/** Lets a breaker and the model of one live through the same sequences of calls, and fails at the first difference. */
export function checkBreaker(sequences: number): void {
  fc.assert(
    fc.property(breaker, fc.array(command, { maxLength: 120, size: 'max' }), (settings, commands) => {
      const clock = createFakeClock();
      const real = createCircuitBreaker({ breaker: settings, now: clock.now, onChange() {}, onRoom() {} });
      const model = createBreakerModel(settings);
      const calls: { permit: Permit; end: NonNullable<ReturnType<typeof model.ask>> }[] = [];
      for (const one of commands) {
        switch (one.kind) {
          case 'pass':
            clock.pass(one.tenths * 100);
            break;
          case 'ask': {
            const answer = real.ask();
            assert.ok(!(answer instanceof Promise));
            const end = model.ask(clock.now());
            assert.equal(answer.kind === 'permit', end !== null);
            if (answer.kind === 'permit' && end !== null) calls.push({ permit: answer.permit, end });
            break;
          }
          case 'end': {
            const [call] = calls.splice(one.which % Math.max(1, calls.length), 1);
            if (call === undefined) break;
            call.end(one.outcome, one.ms, clock.now());
            if (one.outcome === 'cancel') call.permit.cancel();
            else call.permit.done(one.outcome, one.ms);
            break;
          }
        }
        const status = real.status();
        assert.ok(status.kind === 'circuit-breaker');
        assert.equal(status.state, model.state());
      }
      // Never stuck: whatever happened, a call passes once the recovery time is over and all calls have ended.
      for (const { end, permit } of calls) {
        permit.cancel();
        end('cancel', 0, clock.now());
      }
      clock.pass(settings.recoveryMs);
      const last = real.ask();
      assert.ok(!(last instanceof Promise) && last.kind === 'permit');
    }),
    { numRuns: sequences },
  );
}
