import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpSurface } from '../telemetry/metrics/http-metrics.ts';
import { isProbe, surfaceOf } from './surfaces.ts';

const surfaces: Readonly<Record<string, HttpSurface>> = {
  '/v1/chat/completions': 'models',
  '/v1/models': 'models',
  '/api/hello': 'probes',
  '/healthz': 'probes',
  '/readyz': 'probes',
  '/metrics': 'probes',
  '/api/keys': 'management',
  '/mcp': 'mcp',
  '/a2a': 'a2a',
  '/dashboard': 'other',
  '/': 'other',
  '/nothing': 'other',
};

describe('the surface of a path', () => {
  for (const [path, surface] of Object.entries(surfaces))
    it(`of ${path} is ${surface}`, () => assert.equal(surfaceOf(path), surface));

  it('is a probe where it is answered beyond the limit of connections, which a scrape is not', () => {
    assert.deepEqual(['/healthz', '/readyz', '/metrics'].map(isProbe), [true, true, false]);
  });
});
