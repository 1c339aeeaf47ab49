import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectionAt, routesOf } from '../../../test/support/routing/routing.ts';
import type { GatewayError } from '../../lib/error.ts';
import { createResolver } from './resolver.ts';

const groq = { connections: [connectionAt('work', 'groq')] };

describe('a resolver', () => {
  it('resolves a name once', () => {
    const resolve = createResolver();
    const routes = routesOf(groq);
    assert.equal(resolve('work/llama', routes), resolve('work/llama', routes));
  });

  it('resolves it again for other routes', () => {
    const resolve = createResolver();
    assert.equal(resolve('work/llama', routesOf(groq)).pool.candidates[0]?.provider.id, 'groq');
    const moved = routesOf({ connections: [connectionAt('work', 'mistral')] });
    assert.equal(resolve('work/llama', moved).pool.candidates[0]?.provider.id, 'mistral');
    const isUnknown = ({ code }: GatewayError) => code === 'model_not_found';
    assert.throws(() => resolve('work/llama', routesOf({ connections: [] })), isUnknown);
  });

  it('keeps a bounded number of names, and no long ones', () => {
    const resolve = createResolver();
    const routes = routesOf(groq);
    const first = resolve('work/first', routes);
    for (let index = 0; index < 4_096; index += 1) resolve(`work/model-${index}`, routes);
    assert.notEqual(resolve('work/first', routes), first);
    const long = `work/${'x'.repeat(300)}`;
    assert.notEqual(resolve(long, routes), resolve(long, routes));
  });
});
