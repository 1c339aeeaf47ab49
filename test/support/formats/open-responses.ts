import assert from 'node:assert/strict';
import { type JsonObject, listOf, objectOf, textOf } from '../../../src/codecs/json/values.ts';

/** What Open Responses requires of a response and of its stream (gateways' 5.10). */

/** `ResponseResource`: all members, and the types that each may have. */
const members: Readonly<Record<string, readonly string[]>> = {
  id: ['string'],
  object: ['string'],
  created_at: ['number'],
  completed_at: ['number', 'null'],
  status: ['string'],
  incomplete_details: ['object', 'null'],
  model: ['string'],
  previous_response_id: ['string', 'null'],
  instructions: ['string', 'null'],
  output: ['list'],
  error: ['object', 'null'],
  tools: ['list'],
  tool_choice: ['string', 'object'],
  truncation: ['string'],
  parallel_tool_calls: ['boolean'],
  text: ['object'],
  top_p: ['number'],
  presence_penalty: ['number'],
  frequency_penalty: ['number'],
  top_logprobs: ['number'],
  temperature: ['number'],
  reasoning: ['object', 'null'],
  usage: ['object', 'null'],
  max_output_tokens: ['number', 'null'],
  max_tool_calls: ['number', 'null'],
  store: ['boolean'],
  background: ['boolean'],
  service_tier: ['string'],
  metadata: ['object'],
  safety_identifier: ['string', 'null'],
  prompt_cache_key: ['string', 'null'],
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** The response has every member. */
export function assertResource(response: JsonObject): void {
  for (const [name, kinds] of Object.entries(members))
    assert.ok(kinds.includes(kindOf(response[name])), `${name} is ${kindOf(response[name])}`);
  assert.equal(response['object'], 'response');
  for (const tool of listOf(response['tools']).map(objectOf))
    for (const name of ['name', 'description', 'parameters', 'strict'])
      assert.ok(tool['type'] !== 'function' || tool[name] !== undefined, `a tool without ${name}`);
  assert.ok(Number.isInteger(response['created_at']));
}

/** Items begin with `added`, whole in their members, and end with `done`; what streams is in brackets. */
export function assertItems(events: readonly JsonObject[]): void {
  const open = new Map<unknown, string[]>();
  for (const event of events) {
    const [, ...words] = textOf(event['type']).split('.');
    const type = words.join('.');
    const index = event['output_index'];
    if (type === 'output_item.added') {
      const item = objectOf(event['item']);
      assert.ok(textOf(item['id']) !== '' && textOf(item['type']) !== '');
      assert.equal(open.has(index), false);
      open.set(index, []);
    } else if (index !== undefined) {
      assert.ok(open.has(index), `${type} before its item`);
      open.get(index)?.push(type);
    }
  }
  for (const kinds of open.values()) {
    assert.equal(kinds.at(-1), 'output_item.done');
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    assert.equal(count('content_part.added'), count('content_part.done'));
    const called = count('function_call_arguments.done');
    if (kinds.some((kind) => kind.startsWith('function_call_arguments'))) {
      assert.equal(called, 1);
      const grown = kinds.indexOf('function_call_arguments.delta');
      assert.ok(grown !== -1 && grown < kinds.indexOf('function_call_arguments.done'));
    }
  }
}

/** Every item has its id and its status, and an incomplete one is the last. */
export function assertOutput(response: JsonObject): void {
  const items = listOf(response['output']).map(objectOf);
  for (const [index, { id, status, type }] of items.entries()) {
    assert.ok(typeof id === 'string' && typeof type === 'string');
    assert.ok(['completed', 'incomplete'].includes(textOf(status)), textOf(type));
    if (status === 'incomplete') {
      assert.equal(index, items.length - 1, 'an incomplete item is the last one');
      assert.equal(response['status'], 'incomplete');
    }
  }
  assert.equal(new Set(items.map(({ id }) => id)).size, items.length);
}
