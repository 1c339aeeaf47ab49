import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { loadConfig } from '../src/config.ts';
import { compile } from '../src/events/cesql/cesql.ts';
import { defaultLimits } from '../src/events/cloudevents/event.ts';
import { decodeJsonEvent } from '../src/events/cloudevents/json-format.ts';
import { decodeConfig } from '../src/events/config/decode.ts';
import { reportUnsupported } from '../src/events/engine/supported.ts';
import { EventConfigService } from '../src/events/gen/modelgate/events/v1/event_config_service_pb.ts';
import { serviceNamed } from '../src/events/processors/services.ts';
import { temporaryFolder } from './support/machine/folder.ts';

/** Every example in the documentation of events is what the product itself takes. */

interface Example {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const examples: readonly Example[] = globSync(['docs/events.md', 'docs/events/*.md'], { cwd: root })
  .sort()
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(
      ([, language = '', text = '']) => ({ page, language, text }),
    ),
  );
const of = (language: string) => examples.filter((example) => example.language === language);
const where = ({ page, text }: Example): string => `${page}: ${text.slice(0, 60)}…`;
/** Actions that an example of `config.json` sets, which others name. */
const actionsOf = ({ text }: Example): string[] =>
  Object.keys(JSON.parse(text).events?.fallback_actions ?? {});

type Part = Readonly<Record<string, unknown>>;
const channel = { unique_id: 'main', url: 'memory:', mq_topic_name: 'main' };
const source = { ref: { unique_id: 'shop', kind: 'http' } };
const trigger = { ref: { unique_id: 'hook', kind: 'log' } };
const around = (components: Part, rest: Part = {}) => ({
  components: { channels: [channel], sources: [source], triggers: [trigger], ...components },
  router_rules: { routers: [{ source_id: 'shop', trigger_id: 'hook', channel_id: 'main' }] },
  ...rest,
});

/** An example that is a part of a configuration, within a whole one; null for a file of services. */
function wholeOf(example: Example): unknown {
  const part: unknown = parse(example.text);
  if (Array.isArray(part)) return around({ channels: part });
  assert.ok(typeof part === 'object' && part !== null, where(example));
  if ('components' in part) return part;
  if ('strategy' in part) return around({}, part);
  if ('triggers' in part) return around(part);
  if ('runtime_strategy' in part)
    return around({}, { strategy: { source_strategies: [{ event_source_id: 'shop', ...part }] } });
  return null;
}

describe('the examples of docs/events', () => {
  it('in YAML are configurations that the engine runs, and files of services that can be read', (t) => {
    const fallbacks = of('json').flatMap(actionsOf);
    const kinds = { configurations: 0, services: 0 };
    for (const example of of('yaml')) {
      const whole = wholeOf(example);
      if (whole === null) {
        kinds.services += 1;
        const folder = temporaryFolder(t);
        writeFileSync(join(folder, 'event-services.yaml'), example.text);
        for (const name of Object.keys(parse(example.text))) serviceNamed(name, folder);
        continue;
      }
      kinds.configurations += 1;
      const places = { redis: true, distributedStorage: true, fallbacks, sharedDatabase: true };
      const decoded = decodeConfig(
        { format: 'text', text: JSON.stringify(whole) },
        { alsoCheck: (config, report) => reportUnsupported(config, report, places) },
      );
      const errors = decoded.ok ? [] : decoded.problems.filter(({ severity }) => severity === 'error');
      assert.deepEqual(errors, [], where(example));
    }
    assert.ok(kinds.configurations >= 10 && kinds.services >= 1, JSON.stringify(kinds));
  });

  it('in JSON are settings that the gateway takes', () => {
    assert.ok(of('json').length > 0);
    for (const { text } of of('json')) loadConfig({ env: { DATA_DIR: root }, file: JSON.parse(text) });
  });

  it('in commands have events, expressions and methods that there are', () => {
    const text = of('sh')
      .map((example) => example.text)
      .join('\n');
    const events = [...text.matchAll(/-d '(\{"specversion"[\s\S]*?\})'/g)];
    assert.ok(events.length > 0);
    for (const [, event = ''] of events) {
      const decoded = decodeJsonEvent(Buffer.from(event), defaultLimits);
      assert.ok(decoded.ok, event);
    }
    for (const [, expression = ''] of text.matchAll(/--cesql "([^"]+)"/g)) {
      const compiled = compile(expression);
      assert.ok(compiled.ok, expression);
    }
    const methods = EventConfigService.methods.map(({ name }) => name);
    const called = [...text.matchAll(/modelgate\.events\.v1\.EventConfigService\/(\w+)/g)];
    assert.ok(called.length > 0);
    for (const [, method = ''] of called) assert.ok(methods.includes(method), method);
  });
});
