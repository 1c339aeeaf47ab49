import { join } from 'node:path';
import type { MediaCodec } from '../../codecs/passthrough/media.ts';
import type { Config } from '../../config.ts';
import { readBody } from '../../http/body/body.ts';
import { contentTypeOf } from '../../http/body/multipart-head.ts';
import type { HttpExchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import { safePath } from '../inbound/routes.ts';
import type { Upload } from '../request/upload.ts';
import { readUpload } from './upload.ts';

/** Where large uploads are put by, below the data directory. */
const UPLOADS = 'uploads';

/**
 * Reads a request of a media format: JSON like any other, a form as far as its model.
 * @throws GatewayError `unsupported_content_type`, and those of `readBody` and `readUpload`
 */
export async function readMedia(
  { dataDir, limits }: Pick<Config, 'dataDir' | 'limits'>,
  exchange: HttpExchange,
  media: MediaCodec,
): Promise<{ kind: 'body'; pieces: readonly Buffer[] } | { kind: 'form'; upload: Upload }> {
  const limitBytes = limits.bodyBytes;
  const boundary = boundaryOf(exchange, media);
  if (boundary === null) return { kind: 'body', pieces: await readBody(exchange.request, { limitBytes }) };
  const folder = join(dataDir, UPLOADS);
  return { kind: 'form', upload: await readUpload(exchange, { boundary, limitBytes, folder }) };
}

/**
 * The boundary of a form; null for JSON.
 * @throws GatewayError `unsupported_content_type`, `invalid_request`
 */
function boundaryOf({ path, request }: HttpExchange, { bodies }: MediaCodec): string | null {
  const type = contentTypeOf(request.headers['content-type']);
  if (type.kind === 'form' && bodies.includes('form')) return type.boundary;
  if (type.kind === 'json' && bodies.includes('json')) return null;
  const received = type.kind === 'other' ? type.text.replace(/[^\x20-\x7e]/g, '?') : names[type.kind];
  const accepted = bodies.map((body) => names[body]).join(' or ');
  throw new GatewayError(
    'unsupported_content_type',
    `${safePath(path)} takes ${accepted}, and was sent ${received}`,
    {
      param: 'content-type',
    },
  );
}

const names = {
  form: 'a form (content-type: multipart/form-data; boundary=…)',
  json: 'JSON (content-type: application/json)',
} as const;
