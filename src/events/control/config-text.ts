import { type DescMessage, type JsonObject, type JsonValue, ScalarType, toJson } from '@bufbuild/protobuf';
import { type Document, isMap, isNode, isScalar, isSeq, parseDocument, stringify, visit } from 'yaml';
import { type Event, EventSchema } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';

export interface ConfigText {
  readonly text: string;
  /** How many comments of the earlier text it does not have any more. */
  readonly lostComments: number;
}

/**
 * A configuration as YAML for people.
 * @param earlier the text whose comments, order and spelling of names are kept, as far as its entries are still there
 */
export function configText(message: Event, earlier: string): ConfigText {
  const document = parseDocument(earlier, { intAsBigInt: true });
  const usable = document.errors.length === 0 && isMap(document.contents) && !hasAliases(document);
  if (!usable) {
    const text = stringify(jsonOf(message, false), { lineWidth: 0 });
    return { text, lostComments: countComments(document) };
  }
  const before = countComments(document);
  merged(document, document.contents, jsonOf(message, usesJsonNames(document)));
  return {
    text: document.toString({ lineWidth: 0, flowCollectionPadding: !/[{[]\S/.test(earlier) }),
    lostComments: Math.max(0, before - countComments(document)),
  };
}

/** In proto3's JSON, but with whole numbers as numbers. */
function jsonOf(message: Event, jsonNames: boolean): JsonObject {
  const json = toJson(EventSchema, message, { useProtoFieldName: !jsonNames });
  return withNumbers(EventSchema, json as JsonObject);
}

function withNumbers(type: DescMessage, json: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const field = type.fields.find((one) => one.name === name || one.jsonName === name);
      const isInt64 = field?.fieldKind === 'scalar' && field.scalar === ScalarType.INT64;
      if (isInt64) return [name, Number.isSafeInteger(Number(value)) ? Number(value) : value];
      const inner = field?.message;
      if (inner === undefined) return [name, value];
      const convert = (one: JsonValue) => withNumbers(inner, one as JsonObject);
      return [name, Array.isArray(value) ? value.map(convert) : convert(value)];
    }),
  );
}

/** What stands at a place of the document afterwards: the node that is there, as far as it says the same. */
function merged(document: Document, node: unknown, value: JsonValue): unknown {
  if (isMap(node) && isObject(value)) {
    for (const pair of [...node.items]) {
      const name = keyOf(pair.key);
      // A default that is written out says the same as none.
      if (!Object.hasOwn(value, name) && !isDefault(pair.value)) node.delete(pair.key);
    }
    for (const [name, inner] of Object.entries(value)) {
      const pair = node.items.find(({ key }) => keyOf(key) === name);
      if (pair === undefined) node.set(name, document.createNode(inner));
      else pair.value = merged(document, pair.value, inner);
    }
    return node;
  }
  if (isSeq(node) && Array.isArray(value)) {
    const earlier = [...node.items];
    node.items = value.map((item) => {
      const identity = identityOf(item);
      const index = earlier.findIndex((one) => isNode(one) && identityOf(one.toJS(document)) === identity);
      return index === -1 ? document.createNode(item) : merged(document, earlier.splice(index, 1)[0], item);
    });
    return node;
  }
  if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
    if (String(node.value) !== String(value)) node.value = value;
    return node;
  }
  return document.createNode(value);
}

/** By what an item of a list is known, so that its comments go with it. */
function identityOf(item: unknown): string {
  const fields = Object(item);
  for (const names of identities) {
    const values = names.map((name) => fieldOf(fields, name) ?? fieldOf(Object(fields.ref), name));
    if (values.some((value) => value !== undefined)) return JSON.stringify(values);
  }
  return '';
}

const identities = [
  ['unique_id'],
  ['event_source_id'],
  ['event_trigger_id'],
  ['source_id', 'trigger_id', 'channel_id'],
  ['target_resource_name'],
  ['kind', 'name'],
];

function fieldOf(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  return fields[name] ?? fields[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}

function isDefault(value: unknown): boolean {
  if (value === null) return true;
  return isScalar(value) && ['', '0', 'false', 'null'].includes(String(value.value));
}

function usesJsonNames(document: Document): boolean {
  let found = false;
  visit(document, {
    Pair(_, { key }) {
      if (/[a-z][A-Z]/.test(keyOf(key))) found = true;
    },
  });
  return found;
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias() {
      found = true;
    },
  });
  return found;
}

function countComments(document: Document): number {
  const lines = (text: string | null | undefined) => (text ? text.split('\n').length : 0);
  let count = lines(document.commentBefore) + lines(document.comment);
  visit(document, {
    Node(_, node) {
      count += lines(node.commentBefore) + lines(node.comment);
    },
  });
  return count;
}

const keyOf = (key: unknown): string => String(isScalar(key) ? key.value : key);

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
