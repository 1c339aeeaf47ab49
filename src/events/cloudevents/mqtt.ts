import { isAttributeName } from './attribute-syntax.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { attributeTexts, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { decodeJsonEvent, encodeJsonEvent } from './json-format.ts';
import { structuredType } from './media-type.ts';
import { decodeMessage, type MessageMode, payloadOf } from './payload.ts';
import type { DecodeResult } from './problem.ts';

/** The MQTT protocol binding of CloudEvents 1.0. */

/** The properties of PUBLISH that events use, named as MQTT's clients for Node.js name them; null in MQTT 3.1.1. */
export interface MqttMessage {
  readonly properties: MqttProperties | null;
  readonly payload: Uint8Array;
}

export interface MqttProperties {
  readonly contentType?: string | undefined;
  readonly userProperties?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** For MQTT 5. A message of MQTT 3.1.1 is the payload of the structured mode without its properties. */
export function encodeMqtt(
  event: CloudEvent,
  mode: MessageMode,
): { properties: { contentType?: string; userProperties: Record<string, string> }; payload: Uint8Array } {
  if (mode === 'structured')
    return {
      properties: { contentType: structuredType, userProperties: {} },
      payload: encodeJsonEvent(event),
    };
  const { datacontenttype, ...others } = event.attributes;
  return {
    properties: {
      ...(datacontenttype === undefined ? {} : { contentType: datacontenttype }),
      userProperties: Object.fromEntries(attributeTexts(others)),
    },
    payload: event.data ?? new Uint8Array(),
  };
}

/** User properties whose names no attribute can have belong to others, and are passed over. */
export function decodeMqtt(
  message: MqttMessage,
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  const { payload, properties } = message;
  if (properties === null) return decodeJsonEvent(payload, limits);
  return decodeMessage(properties.contentType, payload, limits, () => {
    const raw: RawAttribute[] = [['datacontenttype', properties.contentType]];
    for (const [name, value] of Object.entries(properties.userProperties ?? {})) {
      // The specification's own example has it in both places.
      const repeated = name === 'datacontenttype' && value === properties.contentType;
      if (isAttributeName(name) && !repeated) for (const text of [value].flat()) raw.push([name, text]);
    }
    return checkedEvent(raw, payloadOf(payload), limits);
  });
}
