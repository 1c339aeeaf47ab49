/** What an expression computes with: the three primitive types of CESQL 1.0, section 3.1. */
export type Value = boolean | number | string;

export type ValueType = 'Boolean' | 'Integer' | 'String';

export const zeroValues: Readonly<Record<ValueType, Value>> = { Boolean: false, Integer: 0, String: '' };

/** Integers are 32-bit, two's complement. */
export const minimumInteger = -2_147_483_648;
export const maximumInteger = 2_147_483_647;

const ZERO = 48;
const NINE = 57;
const PLUS = 43;
const MINUS = 45;

export function typeOf(value: Value): ValueType {
  switch (typeof value) {
    case 'boolean':
      return 'Boolean';
    case 'number':
      return 'Integer';
    case 'string':
      return 'String';
  }
}

/** True when `value` is of the type, integers in their range. */
export function isOfType(value: unknown, type: ValueType): value is Value {
  switch (type) {
    case 'Boolean':
      return typeof value === 'boolean';
    case 'Integer':
      return typeof value === 'number' && (value | 0) === value;
    case 'String':
      return typeof value === 'string';
  }
}

/** The cast to String, which always succeeds. */
export function toText(value: Value): string {
  return typeof value === 'string' ? value : String(value);
}

/** The cast to Integer, or undefined when the text is not a 32-bit integer in base 10. */
export function toInteger(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return integerOfText(value);
}

/** The cast to Boolean, or undefined when the text is neither `true` nor `false` in any case. */
export function toBoolean(value: Value): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value.length === 4 && value.toLowerCase() === 'true') return true;
  if (value.length === 5 && value.toLowerCase() === 'false') return false;
  return undefined;
}

/** The cast to any type, or undefined when there is none for this value. */
export function castTo(value: Value, type: ValueType): Value | undefined {
  switch (type) {
    case 'Boolean':
      return toBoolean(value);
    case 'Integer':
      return toInteger(value);
    case 'String':
      return toText(value);
  }
}

/** Reads an optional sign and decimal digits. @returns undefined for anything else, or outside of 32 bits */
export function integerOfText(text: string): number | undefined {
  const sign = text.charCodeAt(0);
  const first = sign === MINUS || sign === PLUS ? 1 : 0;
  if (first === text.length) return undefined;
  // Summed below zero, because there is one more negative integer than positive ones.
  let sum = 0;
  for (let index = first; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < ZERO || code > NINE) return undefined;
    sum = sum * 10 - (code - ZERO);
    if (sum < minimumInteger) return undefined;
  }
  if (sign === MINUS) return sum === 0 ? 0 : sum;
  return sum < -maximumInteger ? undefined : 0 - sum;
}
