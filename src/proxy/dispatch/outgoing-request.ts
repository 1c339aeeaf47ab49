import { relayedHistory } from '../../codecs/history/relayed.ts';
import { codecOf } from '../../codecs/index.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { streamFlag } from '../inbound/wants-stream.ts';
import { type NamedBody, spliceModel } from '../json/splice.ts';
import { rememberedOutputCap } from '../quirks/output-caps.ts';
import type { UpstreamQuirks } from '../quirks/upstream-quirks.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { type TranslatedRequest, translateRequest } from '../translate/request.ts';
import { modelInPath } from '../upstream/model-in-path.ts';
import { modelSegments } from '../upstream/request.ts';

/** The client's own bytes, and the model that they name by now. */
export interface RequestBody extends NamedBody {
  readonly model: string;
}

/**
 * The bytes with the name that a target has for the model, where they go to it as they are. Those that were passed in are used
 * up (`spliceModel`): a body that names another model is not copied for that.
 */
export function namingModel(
  facts: RequestFacts,
  body: RequestBody,
  { partial, target }: Pick<OutgoingRequest, 'partial' | 'target'>,
): RequestBody {
  const { format, model, provider } = target;
  const isInBody =
    facts.named === null && facts.upload === null && provider.modelInPath?.[format] === undefined;
  if (!isInBody || model === body.model || !isRelayed(facts, { partial, target })) return body;
  return { ...spliceModel(body, model), model };
}

function isRelayed(
  { format, responseState }: RequestFacts,
  { partial, target }: Pick<OutgoingRequest, 'partial' | 'target'>,
): boolean {
  return target.format === format && responseState?.compacts !== true && partial === null;
}

/** What differs from one attempt to the next. */
export type AttemptInput = Pick<
  OutgoingRequest,
  'target' | 'attempt' | 'clientBody' | 'partial' | 'priorUsage' | 'outputCap'
>;

/**
 * A request for one target: in its format, with its name for the model, and without what it does not take.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function outgoingRequest(
  quirks: UpstreamQuirks,
  facts: RequestFacts,
  input: AttemptInput,
): OutgoingRequest {
  const { clientBody, attempt, outputCap, partial, priorUsage, target } = input;
  const encode = isRelayed(facts, input) ? relayed : translated;
  const { body, dropped, translation } = encode(quirks, facts, input);
  return inPath(facts, {
    target,
    attempt,
    clientBody,
    body,
    pathEnd: '',
    dropped,
    translation,
    partial,
    priorUsage,
    outputCap,
    reasoningStripped: false,
  });
}

type EncodedRequest = Pick<OutgoingRequest, 'body' | 'dropped' | 'translation'>;

function translated(
  { fitSchema, outputCaps, refusedFields, settled }: UpstreamQuirks,
  { format, named, plan, responseState }: RequestFacts,
  { clientBody, outputCap, partial, target }: AttemptInput,
): EncodedRequest {
  const { body, ...translation }: TranslatedRequest = translateRequest(
    { body: clientBody, named, target, responseState },
    format,
    {
      fit: fitSchema,
      settled,
      refusedFields: refusedFields.of(target),
      outputCap: outputCap ?? rememberedOutputCap(outputCaps, target),
      prefix: partial?.prefix.text ?? '',
      cacheMarks: target.format !== format && plan.options.cacheMarks && target.connection.cacheMarks,
    },
  );
  return { body, dropped: translation.dropped, translation };
}

/** The client's own bytes, with a history that the target takes. */
function relayed(
  { refusedFields }: UpstreamQuirks,
  facts: RequestFacts,
  { clientBody, target }: AttemptInput,
): EncodedRequest {
  if (facts.upload !== null) return { body: clientBody, dropped: [], translation: null };
  const { body, dropped } = relayedHistory(clientBody, {
    format: target.format,
    model: target.model,
    dialect: providerDialect(target.provider),
    refused: refusedFields.of(target),
  });
  return { body, dropped: dropped.length === 0 ? dropped : [...new Set(dropped)], translation: null };
}

/** With the model and the wish for a stream in the path, where the target's provider or format has them there. */
function inPath(facts: RequestFacts, request: OutgoingRequest): OutgoingRequest {
  const { codec, exchange, named, responseState, upload } = facts;
  const { clientBody, body, dropped, target, translation } = request;
  const rule = upload === null ? target.provider.modelInPath?.[target.format] : undefined;
  if (rule !== undefined) {
    const stream = translation?.stream ?? streamFlag({ body: clientBody, codec, named });
    const isTranslated = translation !== null;
    const pathRequest = modelInPath({ exchange, target, body, stream, isTranslated }, rule);
    return {
      ...request,
      body: pathRequest.body,
      dropped: [...new Set([...dropped, ...pathRequest.dropped])],
      pathEnd: pathRequest.end,
    };
  }
  if (responseState?.compaction === 'endpoint' && translation === null)
    return { ...request, pathEnd: '/compact' };
  const { pathOf } = codecOf(target.format);
  if (pathOf === null) return request;
  const stream = translation?.stream ?? named?.stream ?? false;
  return { ...request, pathEnd: pathOf(modelSegments(target.model), stream) };
}
