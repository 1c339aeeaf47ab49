import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, listOf, objectOf, table, textOf } from '../json/values.ts';

/** An error that a vendor sends in place of an answer, in fields of its own, with HTTP 200. */
export interface ErrorInAnswer {
  message: string;
  /** The vendor's own, as text; '' where it has none. */
  code: string;
  /** The HTTP status that fits it; null if the code does not determine one. */
  status: number | null;
}

interface Shape {
  /** The field in whose place the error stands. */
  field: string;
  read(value: unknown, body: JsonObject): Omit<ErrorInAnswer, 'status'> | null;
  /** What the vendor's codes mean. */
  statuses: Readonly<Record<string, number>>;
}

/** https://platform.minimax.io/docs/api-reference/errorcode */
const miniMaxStatuses = table<number>({
  1000: 500,
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1013: 500,
  1024: 500,
  1026: 400,
  1027: 400,
  1033: 500,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2045: 429,
  2049: 401,
  2056: 429,
  2061: 403,
});

/** https://www.xfyun.cn/doc/spark/HTTP调用文档.html */
const sparkStatuses = table<number>({
  10013: 400,
  10014: 400,
  10019: 400,
  10163: 400,
  10907: 400,
  11200: 401,
  11201: 429,
  11202: 429,
  11203: 429,
});

/** https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh */
const qianfanStatuses = table<number>({
  2: 503,
  4: 429,
  6: 403,
  17: 429,
  18: 429,
  19: 429,
  110: 401,
  111: 401,
  336003: 400,
  336100: 503,
  336501: 429,
  336502: 429,
});

const noStatuses = table<number>({});

/** The first that fits counts. What has no answer beside it is an error; what has one is not. */
const shapes: readonly Shape[] = [
  {
    // MiniMax, beside every answer: 0 there is success.
    field: 'base_resp',
    read: (value) => {
      const { status_code, status_msg } = objectOf(value);
      return isSuccess(status_code) ? null : { code: codeOf(status_code), message: textOf(status_msg) };
    },
    statuses: miniMaxStatuses,
  },
  {
    field: 'error_code',
    read: (value, body) =>
      isSuccess(value) ? null : { code: codeOf(value), message: textOf(body['error_msg']) },
    statuses: qianfanStatuses,
  },
  {
    // Z.ai `{"code","msg","success":false}`, vLLM `{"object":"error","message","code"}`, Spark `{"code","message","sid"}`.
    field: 'code',
    read: (value, body) => {
      const message = textOf(body['message']) || textOf(body['msg']);
      return isSuccess(value) || message === '' ? null : { code: codeOf(value), message };
    },
    statuses: sparkStatuses,
  },
  {
    // Tencent Cloud.
    field: 'Response',
    read: (value) => {
      const { Code, Message } = objectOf(objectOf(value)['Error']);
      return textOf(Code) === '' ? null : { code: textOf(Code), message: textOf(Message) };
    },
    statuses: noStatuses,
  },
  {
    // Cloudflare.
    field: 'errors',
    read: (value) => {
      const first = objectOf(listOf(value)[0]);
      const message = textOf(first['message']);
      return message === '' ? null : { code: codeOf(first['code']), message };
    },
    statuses: noStatuses,
  },
];

/** Fields that contain the requested output, in any format. */
const answers = [
  'choices',
  'output',
  'content',
  'candidates',
  'message',
  'response',
  'data',
  'results',
  'embeddings',
  'embedding',
  'text',
] as const;

/** The error that `body`, an answer or an event with HTTP 200, is; null for any other. */
export function errorInAnswer(body: JsonObject): ErrorInAnswer | null {
  for (const { field, read, statuses } of shapes) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const error = read(value, body);
    if (error !== null && !hasAnswer(body)) return { ...error, status: statusOf(error.code, statuses) };
  }
  return null;
}

/** Whether a body has an answer. A text in place of a list or an object is none, except in the field `text`. */
function hasAnswer(body: JsonObject): boolean {
  return answers.some((name) => {
    const value = body[name];
    if (Array.isArray(value)) return value.length > 0;
    return isObject(value) || (name === 'text' && typeof value === 'string');
  });
}

function isSuccess(code: unknown): boolean {
  const number = numberOf(code) ?? (typeof code === 'string' && code !== '' ? Number(code) : Number.NaN);
  return code === undefined || code === null || code === '' || number === 0 || number === 200;
}

function codeOf(code: unknown): string {
  return typeof code === 'string' ? code : String(numberOf(code) ?? '');
}

function statusOf(code: string, statuses: Readonly<Record<string, number>>): number | null {
  const number = Number(code);
  return statuses[code] ?? (Number.isInteger(number) && number >= 400 && number <= 599 ? number : null);
}
