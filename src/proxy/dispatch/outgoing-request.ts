import { relayedHistory } from '../../codecs/history/relayed.ts';
import { codecOf } from '../../codecs/index.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { streamFlag } from '../inbound/wants-stream.ts';
import { type NamedBody, spliceModel } from '../json/splice.ts';
import type { Learned } from '../quirks/learned.ts';
import { knownCap } from '../quirks/output-caps.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { type TranslatedRequest, translateRequest } from '../translate/request.ts';
import { modelInPath } from '../upstream/model-in-path.ts';
import { modelSegments } from '../upstream/request.ts';

/** The caller's own bytes, and the model that they name by now. */
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
export type Attempting = Pick<
  OutgoingRequest,
  'target' | 'attempt' | 'asked' | 'partial' | 'priorUsage' | 'most'
>;

/**
 * A request for one target: in its format, with its name for the model, and without what it does not take.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function outgoingRequest(
  learned: Learned,
  facts: RequestFacts,
  attempting: Attempting,
): OutgoingRequest {
  const { asked, attempt, most, partial, priorUsage, target } = attempting;
  const make = isRelayed(facts, attempting) ? relayed : translated;
  const { body, dropped, translation } = make(learned, facts, attempting);
  return inPath(facts, {
    target,
    attempt,
    asked,
    body,
    pathEnd: '',
    dropped,
    translation,
    partial,
    priorUsage,
    most,
    unsealed: false,
  });
}

type Made = Pick<OutgoingRequest, 'body' | 'dropped' | 'translation'>;

function translated(
  { fitSchema, outputCaps, refused, settled }: Learned,
  { format, named, plan, responseState }: RequestFacts,
  { asked, most, partial, target }: Attempting,
): Made {
  const { body, ...translation }: TranslatedRequest = translateRequest(
    { body: asked, named, target, responseState },
    format,
    {
      fit: fitSchema,
      settled,
      refused: refused.of(target),
      most: most ?? knownCap(outputCaps, target),
      begun: partial?.begun.text ?? '',
      cacheMarks: target.format !== format && plan.options.cacheMarks && target.connection.cacheMarks,
    },
  );
  return { body, dropped: translation.dropped, translation };
}

/** The caller's own bytes, with a history that the target takes. */
function relayed({ refused }: Learned, facts: RequestFacts, { asked, target }: Attempting): Made {
  if (facts.upload !== null) return { body: asked, dropped: [], translation: null };
  const { body, left } = relayedHistory(asked, {
    format: target.format,
    model: target.model,
    dialect: providerDialect(target.provider),
    refused: refused.of(target),
  });
  return { body, dropped: left.length === 0 ? left : [...new Set(left)], translation: null };
}

/** With the model and the wish for a stream in the path, where the target's provider or format has them there. */
function inPath(facts: RequestFacts, request: OutgoingRequest): OutgoingRequest {
  const { codec, exchange, named, responseState, upload } = facts;
  const { asked, body, dropped, target, translation } = request;
  const rule = upload === null ? target.provider.modelInPath?.[target.format] : undefined;
  if (rule !== undefined) {
    const stream = translation?.stream ?? streamFlag({ body: asked, codec, named });
    const isTranslated = translation !== null;
    const found = modelInPath({ exchange, target, body, stream, isTranslated }, rule);
    return {
      ...request,
      body: found.body,
      dropped: [...new Set([...dropped, ...found.dropped])],
      pathEnd: found.end,
    };
  }
  if (responseState?.compaction === 'endpoint' && translation === null)
    return { ...request, pathEnd: '/compact' };
  const { pathOf } = codecOf(target.format);
  if (pathOf === null) return request;
  const stream = translation?.stream ?? named?.stream ?? false;
  return { ...request, pathEnd: pathOf(modelSegments(target.model), stream) };
}
