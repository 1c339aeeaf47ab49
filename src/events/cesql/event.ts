import type { Value } from './value.ts';

/**
 * The attributes of an event, by their names in lower case. Nothing is copied: a CloudEvent of any library will do, or a
 * function that looks one up.
 *
 * Booleans, 32-bit integers and strings are what they are. Other numbers, dates, URLs and bytes are their texts, as in
 * CloudEvents' own text form. `undefined`, `null` and anything else is no attribute.
 */
export type CesqlEvent = Readonly<Record<string, unknown>> | AttributeReader;

/** Looks up an attribute of one event. It should not throw; what it throws, the evaluation throws. */
export type AttributeReader = (name: string) => unknown;

const required: ReadonlySet<string> = new Set(['id', 'source', 'specversion', 'type']);

/** The context attributes of CloudEvents 1.0. */
export const contextAttributes: readonly string[] = [
  ...required,
  'datacontenttype',
  'dataschema',
  'subject',
  'time',
];

/** The data of an event is no attribute, whatever it is called in the event's JSON. */
export const DATA = 'data';

/** @returns undefined when the event has no such attribute */
export function readAttribute(event: CesqlEvent, name: string): Value | undefined {
  const raw = typeof event === 'function' ? event(name) : event[name];
  if (typeof raw === 'string') return name === DATA ? undefined : raw;
  return raw === undefined || raw === null || name === DATA ? undefined : fromRaw(raw);
}

/** What EXISTS tells: the required attributes are always there, because the event is valid. */
export function hasAttribute(event: CesqlEvent, name: string): boolean {
  return required.has(name) || readAttribute(event, name) !== undefined;
}

export const isRequired = (name: string): boolean => required.has(name);

function fromRaw(raw: unknown): Value | undefined {
  if (typeof raw === 'boolean') return raw;
  if (typeof raw === 'number') return (raw | 0) === raw ? raw | 0 : String(raw);
  if (typeof raw === 'bigint') return String(raw);
  if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? undefined : raw.toISOString();
  if (raw instanceof URL) return raw.href;
  if (raw instanceof Uint8Array) return base64(raw);
  return undefined;
}

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
