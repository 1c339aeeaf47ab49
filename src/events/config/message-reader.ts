import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from '@bufbuild/protobuf';
import { likelyName } from '../cesql/names.ts';
import type { FieldPath, Report } from './problem.ts';
import type { Key } from './source-text.ts';

/**
 * Reads a message of the schema from values as a person writes them, and reports all that is wrong with them at once. Names of
 * fields may be written as in the schema (`unique_id`) or as in its JSON (`uniqueId`).
 */
export interface ReadMessage {
  /** In the schema's canonical JSON, without what was wrong. */
  readonly json: JsonObject;
  /** How the fields that are there are written. */
  readonly written: ReadonlyMap<FieldPath, readonly Key[]>;
}

interface Reading {
  readonly report: Report;
  readonly written: Map<FieldPath, readonly Key[]>;
}

/** Where a value stands: by the schema's names, and as it is written. */
interface At {
  readonly path: FieldPath;
  readonly keys: readonly Key[];
}

export function readMessage(type: DescMessage, value: unknown, report: Report): ReadMessage {
  const reading: Reading = { report, written: new Map() };
  return { json: messageOf(type, value, { path: '', keys: [] }, reading) ?? {}, written: reading.written };
}

function messageOf(type: DescMessage, value: unknown, at: At, reading: Reading): JsonObject | undefined {
  if (!isRecord(value))
    return wrong(reading, at, `must have fields: ${listOf(type.fields.map(({ name }) => name))}`);
  const json: JsonObject = {};
  const chosen = new Map<string, string>();
  for (const [key, inner] of Object.entries(value)) {
    const field = type.fields.find(({ jsonName, name }) => key === name || key === jsonName);
    const place = { path: joined(at.path, field?.name ?? key), keys: [...at.keys, key] };
    const repeated = reading.written.has(place.path);
    reading.written.set(place.path, place.keys);
    if (field === undefined) unknownField(type, key, place, reading);
    else if (repeated) wrong(reading, place, 'is given twice, in both spellings of its name');
    else if (inner !== null && inner !== undefined) {
      const other = field.oneof === undefined ? undefined : chosen.get(field.oneof.name);
      if (other !== undefined) {
        wrong(reading, place, `cannot be given beside ${other}: at most one of them`);
        continue;
      }
      if (field.oneof !== undefined) chosen.set(field.oneof.name, field.name);
      const read = fieldOf(field, inner, place, reading);
      if (read !== undefined) json[field.jsonName] = read;
    }
  }
  return json;
}

function unknownField(type: DescMessage, key: string, at: At, { report }: Reading): void {
  const names = type.fields.flatMap(({ jsonName, name }) => [name, jsonName]);
  const meant = likelyName(key, names);
  const advice =
    meant === undefined
      ? `Its fields are ${listOf(type.fields.map(({ name }) => name))}`
      : `Did you mean ${meant}?`;
  report.error(at.path, `There is no such field. ${advice}`);
}

function fieldOf(field: DescField, value: unknown, at: At, reading: Reading): JsonValue | undefined {
  switch (field.fieldKind) {
    case 'message':
      return messageOf(field.message, value, at, reading);
    case 'enum':
      return enumOf(field.enum, value, at, reading);
    case 'scalar':
      return scalarOf(field.scalar, value, at, reading);
    case 'list':
      return listFieldOf(field, value, at, reading);
    case 'map':
      throw new Error(`The schema has no maps, and ${field.name} is one`);
  }
}

function listFieldOf(
  field: DescField & { fieldKind: 'list' },
  value: unknown,
  at: At,
  reading: Reading,
): JsonValue | undefined {
  const { message: type } = field;
  if (type === undefined)
    throw new Error(`The schema has only lists of messages, and ${field.name} is another`);
  if (!Array.isArray(value)) return wrong(reading, at, 'must be a list');
  return value.map((item: unknown, index) => {
    const place = { path: `${at.path}[${index}]`, keys: [...at.keys, index] };
    reading.written.set(place.path, place.keys);
    // An empty message keeps the places of those behind it.
    return messageOf(type, item, place, reading) ?? {};
  });
}

function enumOf(type: DescEnum, value: unknown, at: At, reading: Reading): JsonValue | undefined {
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  const found = type.values.find(({ name, number }) =>
    isNumber ? number === Number(value) : name === value,
  );
  if (found !== undefined) return found.name;
  const names = type.values.map(({ name }) => name);
  const upper = String(value).toUpperCase();
  const meant =
    names.find((name) => name === upper || name.endsWith(`_${upper}`)) ?? likelyName(upper, names);
  const question = meant === undefined ? '' : `. Did you mean ${meant}?`;
  return wrong(reading, at, `must be one of ${listOf(names)}${question}`);
}

function scalarOf(type: ScalarType, value: unknown, at: At, reading: Reading): JsonValue | undefined {
  switch (type) {
    case ScalarType.STRING:
      if (typeof value !== 'string') return wrong(reading, at, 'must be text: put it into quotes');
      return value.isWellFormed() ? value : wrong(reading, at, 'has half of a surrogate pair');
    case ScalarType.BOOL:
      return typeof value === 'boolean' ? value : wrong(reading, at, 'must be true or false');
    case ScalarType.INT32:
      return integerOf(value, 32n, at, reading);
    case ScalarType.INT64:
      return integerOf(value, 64n, at, reading);
    case ScalarType.DOUBLE: {
      const number = typeof value === 'boolean' || value === '' ? Number.NaN : Number(value);
      return Number.isFinite(number) ? number : wrong(reading, at, 'must be a number');
    }
    default:
      throw new Error(`The schema has no fields of the scalar type ${type}`);
  }
}

/** As text, as the schema's JSON writes integers of 64 bits. */
function integerOf(value: unknown, bits: bigint, at: At, reading: Reading): JsonValue | undefined {
  const integer = bigintOf(value);
  if (integer === null) return wrong(reading, at, 'must be a whole number');
  const limit = 2n ** (bits - 1n);
  return integer >= -limit && integer < limit
    ? String(integer)
    : wrong(reading, at, `must be a number of ${bits} bits`);
}

function bigintOf(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : null;
}

function wrong({ report }: Reading, { path }: At, rest: string): undefined {
  report.error(path, `${path === '' ? 'The configuration' : 'It'} ${rest}`);
}

const joined = (path: FieldPath, name: string): FieldPath => (path === '' ? name : `${path}.${name}`);

const listOf = (names: readonly string[]): string => names.join(', ');

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
