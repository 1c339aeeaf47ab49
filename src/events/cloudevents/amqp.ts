import { base64Of } from './base64.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { type AttributeValue, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { encodeJsonEvent } from './json-format.ts';
import { structuredType } from './media-type.ts';
import { decodeMessage, type MessageMode, payloadOf } from './payload.ts';
import type { DecodeResult } from './problem.ts';

/**
 * The AMQP protocol binding of CloudEvents 1.0. AMQP 0-9-1 has no binding of its own: there the application properties are the
 * headers, which is what RabbitMQ makes of them for readers of AMQP 1.0.
 */

/** Written; the other is read as well. */
const prefix = 'cloudEvents_';
const otherPrefix = 'cloudEvents:';

export interface AmqpMessage {
  readonly contentType?: string | undefined;
  readonly applicationProperties: Readonly<Record<string, unknown>>;
  readonly body: Uint8Array;
}

/** Properties of a message of AMQP 0-9-1, named as its clients for Node.js name them. */
export interface Amqp091Properties {
  readonly contentType?: string | undefined;
  readonly messageId: string;
  readonly deliveryMode: 2;
  readonly headers: Readonly<Record<string, AttributeValue>>;
}

/** Integers and booleans stay what they are; timestamps are texts, so that their precision and offset stay. */
export function encodeAmqp(
  event: CloudEvent,
  mode: MessageMode,
): AmqpMessage & { applicationProperties: Record<string, AttributeValue> } {
  if (mode === 'structured')
    return { contentType: structuredType, applicationProperties: {}, body: encodeJsonEvent(event) };
  const { datacontenttype, ...others } = event.attributes;
  const properties: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(others))
    if (value !== undefined) properties[`${prefix}${name}`] = value;
  return {
    contentType: datacontenttype,
    applicationProperties: properties,
    body: event.data ?? new Uint8Array(),
  };
}

/** For RabbitMQ: persistent, with the event's id as the message's. */
export function encodeAmqp091(
  event: CloudEvent,
  mode: MessageMode,
): { properties: Amqp091Properties; body: Uint8Array } {
  const { applicationProperties: headers, body, contentType } = encodeAmqp(event, mode);
  return { properties: { contentType, messageId: event.attributes.id, deliveryMode: 2, headers }, body };
}

export function decodeAmqp(
  message: AmqpMessage,
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  return decodeMessage(message.contentType, message.body, limits, () => {
    const raw: RawAttribute[] = [['datacontenttype', message.contentType]];
    for (const [property, value] of Object.entries(message.applicationProperties))
      if (property.startsWith(prefix) || property.startsWith(otherPrefix))
        raw.push([property.slice(prefix.length), attributeOf(value)]);
    return checkedEvent(raw, payloadOf(message.body), limits);
  });
}

/** @param message a message of AMQP 0-9-1; `contentType` and `headers` are absent when it has none */
export function decodeAmqp091(
  message: {
    readonly properties: {
      readonly contentType?: string | undefined;
      readonly headers?: Readonly<Record<string, unknown>> | undefined;
    };
    readonly body: Uint8Array;
  },
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  const { contentType, headers: applicationProperties = {} } = message.properties;
  return decodeAmqp({ contentType, applicationProperties, body: message.body }, limits);
}

/** A value of an AMQP type as the attribute that it stands for. */
function attributeOf(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  if (value instanceof Uint8Array) return base64Of(value);
  return typeof value === 'bigint' ? Number(value) : value;
}
