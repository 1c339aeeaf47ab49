import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { equals } from '@bufbuild/protobuf';
import { decodeConfig } from '../config/decode.ts';
import { type Event, EventSchema } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { configText } from './config-text.ts';

function messageOf(text: string): Event {
  const decoded = decodeConfig({ format: 'text', text });
  assert.ok(decoded.ok, decoded.ok ? '' : JSON.stringify(decoded.problems));
  return decoded.config.message;
}

const earlier = `# Owned by the platform team.
components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main} # the durable one
    - {unique_id: old, url: "memory:", mq_topic_name: old} # to be removed
  sources:
    # What the gateway tells.
    - ref: {unique_id: gw, kind: gateway}
  triggers:
    - ref: {unique_id: a, kind: log}
strategy:
  trigger_strategies:
    - event_trigger_id: a
      enable_idempotence: false # not yet
      receive_buffer_size: 16 # enough
router_rules:
  routers:
    # Everything
    - {source_id: gw, trigger_id: a, channel_id: main}
`;

describe('the text of a configuration', () => {
  it('keeps comments, order and spelling of an earlier one, and what it says', () => {
    const message = messageOf(earlier);
    assert.deepEqual(configText(message, earlier), { text: earlier, lostComments: 0 });
  });

  it('changes only what differs, and reports comments that were removed with it', () => {
    const wanted = earlier
      .replace(/\n.*# to be removed/, '')
      .replace('receive_buffer_size: 16 ', 'receive_buffer_size: 32 ')
      .replace('kind: log}', 'kind: log}\n    - ref: {unique_id: b, kind: log}');
    const { lostComments, text } = configText(messageOf(wanted.replace(/#.*/g, '')), earlier);
    assert.equal(lostComments, 1);
    assert.ok(equals(EventSchema, messageOf(text), messageOf(wanted)));
    for (const kept of [
      '# Owned by',
      '# the durable one',
      '# What the gateway',
      '32 # enough',
      '# Everything',
    ])
      assert.ok(text.includes(kept), text);
  });

  it('is plain YAML if there was no file, with the names of the schema', () => {
    const message = messageOf(earlier);
    for (const before of ['', 'a: [', '- a list', 'a: &x {}\nb: *x\n']) {
      const { text } = configText(message, before);
      assert.ok(equals(EventSchema, messageOf(text), message));
      assert.match(text, /receive_buffer_size: 16\n/);
    }
  });

  it('keeps the names of the JSON form if the file uses them', () => {
    const json = earlier.replace(/([a-z])_([a-z])/g, (_, a, b) => a + b.toUpperCase());
    const { text } = configText(messageOf(earlier.replace('16', '17')), json);
    assert.equal(text, json.replace('16', '17'));
  });
});
