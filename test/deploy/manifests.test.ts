import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Container, PodSpec, PodTemplateSpec, Service } from 'kubernetes-types/core/v1.js';
import { variables } from '../../src/cli/variables.ts';
import { configFile } from '../../src/config.ts';
import { startGateway } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import {
  complaintsAbout,
  isKustomization,
  kubernetesFolder,
  type Manifest,
  manifests,
  root,
} from './manifests.ts';

interface Workload {
  metadata: { name: string };
  spec: {
    replicas?: number;
    serviceName?: string;
    selector?: { matchLabels: Record<string, string> };
    template: PodTemplateSpec;
  };
}

const all = manifests();
const resources = all.filter((one) => !isKustomization(one));
const ofKind = (kind: string): Manifest[] => resources.filter((one) => one.kind === kind);
const only = <T>(kind: string): T => {
  const [found, ...more] = ofKind(kind);
  assert.ok(found !== undefined && more.length === 0, kind);
  return found.body as T;
};
const gateway = only<Workload>('StatefulSet');
const setup = only<Workload>('Job');
const pod = gateway.spec.template.spec as PodSpec;
const container = pod.containers[0] as Container;
const podSpecs: PodSpec[] = [pod, setup.spec.template.spec as PodSpec];
const containers = podSpecs.flatMap((spec) => [...(spec.initContainers ?? []), ...spec.containers]);
const variable = ({ env = [] }: Container, name: string) => env.find((one) => one.name === name)?.value;

describe('the manifests of Kubernetes', () => {
  it('are what its API takes', () => {
    assert.equal(complaintsAbout(resources), '');
    assert.deepEqual(
      [...new Set(resources.map(({ kind }) => kind))].sort(),
      [
        ...['ConfigMap', 'HorizontalPodAutoscaler', 'Job', 'NetworkPolicy', 'PodDisruptionBudget'],
        ...['Secret', 'Service', 'ServiceAccount', 'StatefulSet'],
      ].sort(),
    );
  });

  it('are refused with a field that is misspelled, missing or of another type', () => {
    const change = (edit: (spec: Record<string, unknown>) => void): string => {
      const [budget] = ofKind('PodDisruptionBudget');
      const body = structuredClone(budget?.body) as { spec: Record<string, unknown> };
      edit(body.spec);
      return complaintsAbout([{ ...(budget as Manifest), body }]);
    };
    assert.equal(
      change(() => {}),
      '',
    );
    assert.match(
      change((spec) => {
        spec['maxUnavailible'] = 1;
      }),
      /maxUnavailible/,
    );
    assert.match(
      change((spec) => {
        spec['selector'] = 'modelgate';
      }),
      /LabelSelector/,
    );
  });

  it('are all in a kustomization, and nothing else is, apart from the example of secrets', () => {
    const listed = new Set<string>();
    for (const { body, file } of all.filter(isKustomization)) {
      const { components = [], resources: files = [] } = body as Record<string, string[]>;
      for (const name of [...files, ...components]) {
        const path = join(dirname(file), name);
        listed.add(path);
        assert.ok(existsSync(join(kubernetesFolder, path)), `${file}: ${name}`);
        if (statSync(join(kubernetesFolder, path)).isDirectory())
          assert.ok(existsSync(join(kubernetesFolder, path, 'kustomization.yaml')), path);
      }
      const { images = [] } = body as { images?: { name: string }[] };
      for (const { name } of images)
        assert.ok(
          containers.some(({ image }) => image === name),
          name,
        );
    }
    const unlisted = resources.map(({ file }) => file).filter((file) => !listed.has(file));
    assert.deepEqual([...new Set(unlisted)], ['secret.example.yaml']);
  });

  it('run without rights, and without a way into the Kubernetes API', () => {
    for (const spec of podSpecs) {
      const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
      assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile?.type], [true, 1000, 'RuntimeDefault']);
      assert.equal(spec.automountServiceAccountToken, false);
      assert.equal(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC, undefined);
    }
    for (const { name, resources: sizes, securityContext } of containers) {
      const { allowPrivilegeEscalation, capabilities, privileged, readOnlyRootFilesystem } =
        securityContext ?? {};
      assert.deepEqual(
        [allowPrivilegeEscalation, readOnlyRootFilesystem, privileged],
        [false, true, undefined],
        name,
      );
      assert.deepEqual(capabilities, { drop: ['ALL'] }, name);
      assert.ok(sizes?.limits?.['memory'] !== undefined && sizes.requests?.['cpu'] !== undefined, name);
    }
    // The user of the image is 1000.
    assert.match(readFileSync(join(root, 'Dockerfile'), 'utf8'), /^FROM node:[\s\S]*^USER node$/m);
  });

  it('have no secret, and read what is one from a secret', () => {
    for (const { env = [] } of containers)
      for (const { name, value } of env) {
        const known = variables.find((one) => one.name === name);
        assert.ok(known !== undefined || name === 'POD_IP', name);
        assert.ok(known?.secret !== true || value === undefined, name);
      }
    for (const { body } of ofKind('Secret')) {
      const { metadata, stringData } = body as {
        metadata: { name: string };
        stringData: Record<string, string>;
      };
      for (const [name, value] of Object.entries(stringData)) {
        assert.match(value, /REPLACE|PASSWORD|^redis:\/\/[a-z.:0-9]+$/, name);
        if (metadata.name === 'modelgate')
          assert.equal(variables.find((one) => one.name === name)?.secret, true, name);
      }
    }
  });

  it('fit together: labels, names, ports, times', () => {
    const labels = gateway.spec.template.metadata?.labels ?? {};
    const matches = (wanted: Record<string, string> = {}) =>
      Object.entries(wanted).every(([name, value]) => labels[name] === value);
    assert.ok(matches(gateway.spec.selector?.matchLabels));
    const port = container.ports?.find(({ name }) => name === 'http')?.containerPort;
    assert.equal(String(port), variable(container, 'GATEWAY_PORT'));
    const services = ofKind('Service').map(({ body }) => body as Service);
    assert.ok(services.some(({ metadata }) => metadata?.name === gateway.spec.serviceName));
    for (const { spec } of services) {
      assert.ok(matches(spec?.selector));
      assert.deepEqual(
        spec?.ports?.map(({ targetPort }) => targetPort),
        ['http'],
      );
    }
    const budget = only<{ spec: { selector: { matchLabels: Record<string, string> } } }>(
      'PodDisruptionBudget',
    );
    assert.ok(matches(budget.spec.selector.matchLabels));
    const policy = only<{ spec: { ingress: { ports: { port: number }[] }[] } }>('NetworkPolicy');
    assert.deepEqual(
      policy.spec.ingress.flatMap(({ ports }) => ports.map((one) => one.port)),
      [port],
    );
    const scaler = only<{ spec: { scaleTargetRef: { kind: string; name: string } } }>(
      'HorizontalPodAutoscaler',
    );
    assert.deepEqual(
      [scaler.spec.scaleTargetRef.kind, scaler.spec.scaleTargetRef.name],
      ['StatefulSet', gateway.metadata.name],
    );
    const volumes = new Set(['data', ...(pod.volumes ?? []).map(({ name }) => name)]);
    for (const { volumeMounts = [] } of [...(pod.initContainers ?? []), container])
      for (const { name } of volumeMounts) assert.ok(volumes.has(name), name);
    const [, pause] =
      /^sleep (\d+)$/.exec(container.lifecycle?.preStop?.exec?.command?.join(' ') ?? '') ?? [];
    const { drain_ms: drain = 0 } = configFile.parse(JSON.parse(writtenConfig('10.1.2.3')));
    // A few seconds are left for the last records.
    assert.ok((pod.terminationGracePeriodSeconds ?? 0) >= Number(pause) + drain / 1_000 + 10);
  });

  it('write a configuration that the gateway takes', (test) => {
    const { allowed_hosts: hosts } = configFile.parse(
      JSON.parse(writtenConfig('10.1.2.3', temporaryFolder(test))),
    );
    assert.ok(hosts?.includes('10.1.2.3'));
  });

  it('probe paths that answer under the address of a pod, without a key', async () => {
    const { livenessProbe, readinessProbe, startupProbe } = container;
    const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => {
      assert.equal(probe?.httpGet?.port, 'http');
      return probe.httpGet.path ?? '';
    });
    const running = await startGateway({ config: { allowed_hosts: ['10.1.2.3'] } });
    try {
      for (const path of paths) {
        const reply = await running.send({ method: 'GET', path, headers: { host: '10.1.2.3:20128' } });
        assert.equal(reply.status, 200, `${path}: ${reply.text}`);
      }
      // Prometheus asks a pod by its address, and gets in with a token only.
      const elsewhere = { host: '10.1.2.3:20128', 'x-forwarded-for': '10.9.9.9' };
      const refused = await running.send({ method: 'GET', path: '/metrics', headers: elsewhere });
      assert.equal(refused.status, 401, refused.text);
      const password = 'a long enough passphrase';
      const { code, stderr } = await running.cli('setup', '--non-interactive', '--password', password);
      assert.equal(code, 0, stderr);
      const made = await running.send({
        path: '/api/tokens',
        headers: {
          host: `127.0.0.1:${running.port}`,
          authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'prometheus', scopes: ['metrics:read'] }),
      });
      assert.equal(made.status, 200, made.text);
      const { results } = made.json() as { results: { token: string }[] };
      const token = results[0]?.token ?? '';
      const scraped = await running.send({
        method: 'GET',
        path: '/metrics',
        headers: { ...elsewhere, 'x-auth-token': token },
      });
      assert.equal(scraped.status, 200, `${made.text} ${scraped.text.slice(0, 300)}`);
    } finally {
      await running.stop();
    }
  });
});

/** `config.json` as the init container writes it for a pod, by its own command. */
function writtenConfig(podIp: string, folder?: string): string {
  const [init] = pod.initContainers ?? [];
  const { data } = only<{ data: Record<string, string> }>('ConfigMap');
  const text = data['config.json'];
  if (folder === undefined) return (text ?? '').replaceAll('POD_IP', podIp);
  const source = join(folder, 'config.json');
  execFileSync('sh', ['-c', `cat > ${source}`], { input: text });
  const [shell, flag] = init?.command ?? [];
  assert.deepEqual([shell, flag], ['sh', '-c']);
  const command = String(init?.args?.[0]).replaceAll('/config/config.json', source);
  const target = join(folder, basename(variable(container, 'DATA_DIR') ?? ''));
  execFileSync('sh', ['-c', command], {
    env: { PATH: process.env['PATH'], DATA_DIR: target, POD_IP: podIp },
  });
  return readFileSync(join(target, 'config.json'), 'utf8');
}
