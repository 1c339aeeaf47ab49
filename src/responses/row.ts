import type { Selectable } from 'kysely';
import { listOf, objectOf, parseObject } from '../codecs/json/values.ts';
import { type NamedKey, openBytes, sealBytes } from '../connections/credentials/seal.ts';
import type { ResponseTable } from '../store/tables.ts';
import type { SizedResponse, StoredResponse } from './stored.ts';

export type Row = Selectable<ResponseTable>;

/** One array, for the writer batches rows by it. */
export const columns: readonly (keyof Row)[] = [
  'id',
  'created_at',
  'key_id',
  'connection_id',
  'model',
  'previous_id',
  'bytes',
  'input',
  'response',
  'sealed',
  'sealed_with',
];

/** A stored response as memory has it. */
export interface Content extends Omit<StoredResponse, 'input' | 'response'> {
  /** `input` and `response` as one JSON object. */
  json: string;
  /** Characters of both. */
  length: number;
}

export function contentOf({ input, response, ...rest }: StoredResponse): Content {
  const [inputJson, responseJson] = [JSON.stringify(input), JSON.stringify(response)];
  return { ...rest, json: joined(inputJson, responseJson), length: inputJson.length + responseJson.length };
}

export function responseFromContent({ json, ...rest }: Content): SizedResponse {
  const { input, response } = parseObject(json) ?? {};
  return { ...rest, input: listOf(input), response: objectOf(response) };
}

function joined(input: string, response: string): string {
  return `{"input":${input},"response":${response}}`;
}

/** Between rows and what they say. */
export interface ResponseEncryption {
  seal(content: Content): Row;
  /** Null for a row that was encrypted with another key, or that is damaged. */
  open(row: Row): Content | null;
}

/** Rows encrypted with `key`, each bound to its id and to the gateway key that may read it. */
export function createResponseEncryption({ key, name }: NamedKey): ResponseEncryption {
  const boundTo = (id: string, keyId: string) => `responses ${keyId} ${id}`;
  return {
    seal: ({ connectionId, createdAt, id, json, keyId, length, model, previousId }) => ({
      id,
      created_at: createdAt,
      key_id: keyId,
      connection_id: connectionId,
      model,
      previous_id: previousId,
      bytes: length,
      input: '',
      response: '',
      sealed: sealBytes(key, json, boundTo(id, keyId)),
      sealed_with: name,
    }),
    open(row) {
      const json =
        row.sealed === null
          ? joined(row.input, row.response)
          : openBytes(key, row.sealed, boundTo(row.id, row.key_id));
      if (json === null) return null;
      return {
        id: row.id,
        createdAt: row.created_at,
        keyId: row.key_id,
        connectionId: row.connection_id,
        model: row.model,
        previousId: row.previous_id,
        json,
        length: row.bytes,
      };
    },
  };
}
