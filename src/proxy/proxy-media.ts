import { join } from 'node:path';
import type { Principal } from '../access/authenticate.ts';
import type { MediaCodec } from '../codecs/passthrough/media.ts';
import type { WireFormat } from '../codecs/wire-format.ts';
import { contentTypeOf } from '../http/body/multipart-head.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ProxyContext } from './context.ts';
import { runCall } from './dispatch/run.ts';
import { admit } from './inbound/admit.ts';
import { newFacts } from './metering/entry.ts';
import { refuseLoop } from './inbound/loop.ts';
import { safePath } from './inbound/routes.ts';
import { requestTags } from './inbound/tags.ts';
import { proxyRequest, recordingRefusals } from './proxy.ts';
import { readUpload } from './upload/upload.ts';

/** Where large uploads are put by, below the data directory. */
const UPLOADS = 'uploads';

/**
 * Serves one request of a media format: JSON like any other request, a form as a stream.
 * @throws GatewayError
 */
export async function proxyMedia(
  context: ProxyContext,
  exchange: Exchange,
  { format, media }: { format: WireFormat; media: MediaCodec },
  principal: Principal,
): Promise<void> {
  const facts = newFacts({ exchange, format, principal });
  const boundary = await recordingRefusals(context, facts, () => boundaryOf(exchange, media));
  if (boundary === null) return proxyRequest(context, exchange, { format }, principal);
  await recordingRefusals(context, facts, async () => {
    refuseLoop(exchange, context.instance);
    const { dataDir, limits } = context.config;
    const input = { boundary, limitBytes: limits.bodyBytes, folder: join(dataDir, UPLOADS) };
    const upload = await readUpload(exchange, input);
    facts.requestedModel = upload.model;
    facts.tags = requestTags(context.config, { exchange, principal, requestedModel: upload.model });
    const snapshot = context.snapshot();
    const plan = context.routing.plan(snapshot.routes, {
      requested: upload.model,
      format,
      principal,
      headers: exchange.request.headers,
      body: [],
    });
    facts.comboId = plan.comboId;
    facts.trace = plan.trace;
    const admitted = await admit(context, {
      facts,
      body: [],
      targets: plan.targets,
      trace: plan.trace,
      snapshot,
    });
    runCall(context, {
      facts,
      body: [],
      requested: upload.model,
      span: { start: 0, end: 0 },
      named: null,
      turn: null,
      upload,
      ...admitted,
      plan,
      snapshot,
    });
  });
}

/**
 * The boundary of a form; null for JSON.
 * @throws GatewayError `unsupported_content_type`, `invalid_request`
 */
function boundaryOf({ path, request }: Exchange, { bodies }: MediaCodec): string | null {
  const type = contentTypeOf(request.headers['content-type']);
  if (type.kind === 'form' && bodies.includes('form')) return type.boundary;
  if (type.kind === 'json' && bodies.includes('json')) return null;
  const sent = type.kind === 'other' ? type.text.replace(/[^\x20-\x7e]/g, '?') : names[type.kind];
  const wanted = bodies.map((body) => names[body]).join(' or ');
  throw new GatewayError(
    'unsupported_content_type',
    `${safePath(path)} takes ${wanted}, and was sent ${sent}`,
    {
      param: 'content-type',
    },
  );
}

const names = {
  form: 'a form (content-type: multipart/form-data; boundary=…)',
  json: 'JSON (content-type: application/json)',
} as const;
