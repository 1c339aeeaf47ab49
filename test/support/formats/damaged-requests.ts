import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/codecs/json/values.ts';
import type { Conversation } from '../../../src/codecs/model/conversation.ts';
import { GatewayError } from '../../../src/lib/error.ts';
import { fc } from '../machine/properties.ts';

/** `target` with another value somewhere inside. */
export function replaced(target: JsonObject, path: readonly number[], value: unknown): JsonObject {
  const result = structuredClone(target);
  let place: JsonObject | unknown[] = result;
  for (const [depth, step] of path.entries()) {
    const keys = Object.keys(place);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) break;
    const next = (place as JsonObject)[key];
    if (depth === path.length - 1 || typeof next !== 'object' || next === null) {
      (place as JsonObject)[key] = value;
      break;
    }
    place = next as JsonObject;
  }
  return result;
}

/**
 * Requests with a wrong value in them, and objects that are none, are read, or refused with the path of what is wrong.
 * @param wire a conversation as a request
 * @param taken reads a request and writes it again
 */
export function assertRefusedByPath(
  conversations: fc.Arbitrary<Conversation>,
  {
    numRuns,
    roundTrip: taken,
    wire,
  }: {
    numRuns: number;
    roundTrip(body: JsonObject): void;
    wire(conversation: Conversation): JsonObject;
  },
): void {
  const path = fc.array(fc.nat(40), { minLength: 1, maxLength: 7 });
  const mutated = fc
    .tuple(conversations, path, fc.jsonValue({ maxDepth: 2 }))
    .map(([conversation, place, value]) => replaced(wire(conversation), place, value));
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: mutated }, fc.object({ maxDepth: 3 })), (body) => {
      try {
        taken(body as JsonObject);
      } catch (error) {
        assert.ok(error instanceof GatewayError, String(error));
        assert.equal(error.status, 400);
        assert.ok(error.param !== null);
      }
    }),
    { numRuns },
  );
}
