import {
  isAttributeName,
  isAttributeText,
  isInteger,
  isMediaType,
  isTimestamp,
  isUri,
  isUriReference,
} from './attribute-syntax.ts';
import {
  type AttributeValue,
  type CloudEvent,
  type EventAttributes,
  type EventLimits,
  eventSize,
  requiredAttributes,
} from './event.ts';
import { type DecodeResult, decoded, type EventProblem, refused } from './problem.ts';

/** An attribute as a message has it: the name not checked yet, the value of any type. */
export type RawAttribute = readonly [name: string, value: unknown];

interface TextRule {
  readonly isValid: (text: string) => boolean;
  readonly sentence: string;
}

const notEmpty: TextRule = { isValid: (text) => text !== '', sentence: 'must not be empty' };

/** The context attributes of the specification, all of them texts. */
const textRules: Readonly<Record<string, TextRule>> = {
  id: notEmpty,
  type: notEmpty,
  subject: notEmpty,
  specversion: notEmpty,
  source: { isValid: isUriReference, sentence: 'must be a URI reference (RFC 3986) and not empty' },
  dataschema: { isValid: isUri, sentence: 'must be an absolute URI (RFC 3986)' },
  time: { isValid: isTimestamp, sentence: 'must be a timestamp of RFC 3339, such as 2025-01-31T08:00:00Z' },
  datacontenttype: {
    isValid: isMediaType,
    sentence: 'must be a media type (RFC 2046), such as application/json',
  },
};

/**
 * Makes an event of what a message carries. Null and undefined attributes are no attributes.
 * @returns all problems when there are any: names, values, missing and repeated attributes, the version, the size
 */
export function checkedEvent(
  raw: Iterable<RawAttribute>,
  data: Uint8Array | null,
  limits: EventLimits,
): DecodeResult<CloudEvent> {
  const problems: EventProblem[] = [];
  const values: Record<string, AttributeValue> = {};
  const names = new Set<string>();
  for (const [name, value] of raw) {
    if (value === null || value === undefined) continue;
    const problem = names.has(name) ? repeated : problemOf(name, value);
    if (problem !== null) problems.push({ ...problem, path: name });
    else if (isAttributeValue(value)) values[name] = value === 0 ? 0 : value;
    names.add(name);
  }
  for (const name of requiredAttributes)
    if (!names.has(name))
      problems.push({ code: 'missing_attribute', path: name, message: `The event has no attribute ${name}` });
  if (problems.length > 0 || !isComplete(values)) return { ok: false, problems };
  const event: CloudEvent = { attributes: values, data };
  return eventSize(event) > limits.maxEventBytes ? tooLarge(limits) : decoded(event);
}

type Complaint = Omit<EventProblem, 'path'>;

const repeated: Complaint = { code: 'duplicate_attribute', message: 'The attribute is given more than once' };

const isAttributeValue = (value: unknown): value is AttributeValue =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function isComplete(values: Readonly<Record<string, AttributeValue | undefined>>): values is EventAttributes {
  const { id, source, specversion, type } = values;
  return specversion === '1.0' && [id, source, type].every((value) => typeof value === 'string');
}

function tooLarge({ maxEventBytes }: EventLimits): DecodeResult<never> {
  return refused('too_large', '', `The event is larger than ${maxEventBytes} bytes`);
}

function problemOf(name: string, value: unknown): Complaint | null {
  if (!isAttributeName(name)) {
    const message =
      name === 'data'
        ? 'The data is no attribute'
        : 'Names of attributes consist of lower-case letters and digits';
    return { code: 'invalid_name', message };
  }
  const invalid = (sentence: string): Complaint => ({
    code: 'invalid_value',
    message: `The attribute ${sentence}`,
  });
  const rule = Object.hasOwn(textRules, name) ? textRules[name] : undefined;
  switch (typeof value) {
    case 'string':
      if (!isAttributeText(value))
        return invalid('must have no control characters and no code points that are no characters');
      if (rule !== undefined && !rule.isValid(value)) return invalid(rule.sentence);
      if (name === 'specversion' && value !== '1.0')
        return { code: 'unsupported_version', message: 'Only version 1.0 of CloudEvents is understood' };
      return null;
    case 'number':
      if (rule !== undefined) return invalid('must be a string');
      return isInteger(value) ? null : invalid('must be an integer of 32 bits, or a string');
    case 'boolean':
      return rule === undefined ? null : invalid('must be a string');
    default:
      return invalid('must be a string, an integer or a boolean');
  }
}
