/** A value of an attribute, as OTLP writes it in JSON. */
export interface OtlpAttribute {
  key: string;
  value: { stringValue: string } | { boolValue: boolean } | { intValue: string } | { doubleValue: number };
}

type AttributeValue = string | number | boolean | null | undefined;

/** Attributes in OTLP's JSON; what is null or undefined is left out. Whole numbers are written as integers. */
export function attributesOf(values: Readonly<Record<string, AttributeValue>>): OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: valueOfType(value) }],
  );
}

function valueOfType(value: string | number | boolean): OtlpAttribute['value'] {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** A time in nanoseconds since the epoch, as OTLP's JSON has 64-bit numbers: in text. */
export function nanoseconds(milliseconds: number): string {
  return `${BigInt(Math.round(milliseconds * 1000)) * 1000n}`;
}
