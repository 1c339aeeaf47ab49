import type { IncomingMessage } from 'node:http';
import { refuseDeclaredLength, tooLarge } from '../../http/body/body.ts';
import { discardRest } from '../../http/server/discard.ts';
import type { HttpExchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Upload } from '../request/upload.ts';
import { type FormContent, FormContents } from './form-content.ts';
import { Spool } from './spool.ts';

export interface UploadInput {
  boundary: string;
  /** Bytes that the whole form may have. */
  limitBytes: number;
  /** Where what stands before the model is put by when it is large: a file that is sent before the fields. */
  folder: string;
}

/**
 * Reads a form as far as its model. What comes before is put by, in memory or on disk, never held in memory whole; SDKs
 * send the fields in the order in which a program names them, and many name the file first.
 * @throws GatewayError `request_too_large`, `unsupported_encoding`, `client_closed`, and those of `FormContents`
 */
export async function readUpload(
  { request, response }: Pick<HttpExchange, 'request' | 'response'>,
  { boundary, folder, limitBytes }: UploadInput,
): Promise<Upload> {
  refuseEncoding(request);
  refuseDeclaredLength(request, limitBytes);
  const form = new FormReader(request, boundary, limitBytes);
  const spool = new Spool(folder);
  response.once('close', () => void spool.close());
  for (;;) {
    const content = await form.next();
    if (content === null)
      throw new GatewayError('internal_error', 'The form ended, and its field "model" was not read');
    if (content.kind === 'model') return uploadOf(request, form, spool, content);
    await spool.write(content.bytes);
  }
}

function uploadOf(
  request: IncomingMessage,
  form: FormReader,
  spool: Spool,
  field: FormContent & { kind: 'model' },
): Upload {
  let isConsumed = false;
  return {
    model: field.value,
    get isConsumed() {
      return isConsumed;
    },
    length: (model) =>
      form.declared === null ? null : form.declared - field.length + Buffer.byteLength(model),
    async *body(model) {
      isConsumed = true;
      try {
        yield* spool.contents();
        yield Buffer.from(model);
        for (let content = await form.next(); content !== null; content = await form.next())
          if (content.kind === 'bytes') yield content.bytes;
      } finally {
        await spool.close();
        // Its sender gets to see the answer.
        discardRest(request);
      }
    },
  };
}

/** A request's form, piece by piece. */
class FormReader {
  /** Its length as its sender announced it. */
  readonly declared: number | null;
  readonly #request: IncomingMessage;
  readonly #contents: FormContents;
  readonly #limitBytes: number;
  #ready: FormContent[] = [];
  #bytes = 0;

  constructor(request: IncomingMessage, boundary: string, limitBytes: number) {
    const length = request.headers['content-length'];
    this.declared = length === undefined ? null : Number(length);
    this.#request = request;
    this.#contents = new FormContents(boundary);
    this.#limitBytes = limitBytes;
  }

  async next(): Promise<FormContent | null> {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      const chunk = await this.#read();
      if (chunk === null) {
        this.#contents.end();
        return null;
      }
      this.#bytes += chunk.length;
      if (this.#bytes > this.#limitBytes) throw tooLarge(this.#limitBytes, null);
      this.#ready = this.#contents.push(chunk);
    }
  }

  /** The next chunk; null at the end. Nothing listens between two calls, so that another may read what is left. */
  async #read(): Promise<Buffer | null> {
    const request = this.#request;
    for (;;) {
      const chunk: Buffer | null = request.read();
      if (chunk !== null) return chunk;
      if (request.readableEnded) return null;
      if (request.destroyed) throw clientGoneError(request);
      await nextEvent(request);
    }
  }
}

function nextEvent(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'error', 'close'];
    const listener = () => {
      for (const event of events) request.off(event, listener);
      resolve();
    };
    for (const event of events) request.on(event, listener);
  });
}

/** Why a request ended early: the gateway's own reason where it had one. */
function clientGoneError({ errored }: IncomingMessage): GatewayError {
  if (errored instanceof GatewayError) return errored;
  const message = 'the client closed the connection before its request was complete';
  return new GatewayError('client_closed', message, { cause: errored });
}

/** A form that passes through is read as it is. */
function refuseEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new GatewayError(
    'unsupported_encoding',
    'A form cannot be sent with a content-encoding: send it plain',
    {
      param: 'content-encoding',
    },
  );
}
