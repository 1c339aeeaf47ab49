import { createHash } from 'node:crypto';
import type { Principal } from '../../access/authenticate.ts';
import { objectOf, parseObject, textOf } from '../../codecs/json/values.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Snapshot } from '../../snapshot.ts';
import { type ListedModel, listModels } from './models.ts';

/** Editors request it and refuse an older Ollama; this is the version whose chat format is served here. */
export const ollamaVersion = { version: '0.13.0' };

/** What an editor assumes for a model whose context size is unknown. */
const UNKNOWN_CONTEXT = 128_000;

/** The body of `GET /api/tags`: the models in the way that Ollama lists those it has pulled. */
export function ollamaTags(snapshot: Snapshot, principal: Principal): object {
  return {
    models: listModels(snapshot, principal).map((model) => ({
      name: model.id,
      model: model.id,
      modified_at: model.created_at,
      size: 0,
      digest: createHash('sha256').update(model.id).digest('hex'),
      details: detailsOf(model),
    })),
  };
}

/**
 * The body of `POST api/show`: editors read `capabilities` and the context length from it.
 * @param body `{"model"}`, or `{"name"}` as before Ollama 0.1.30
 * @throws GatewayError `invalid_json`, `missing_model`, `model_not_found`
 */
export function ollamaShow(snapshot: Snapshot, principal: Principal, body: Buffer): object {
  const fields = parseObject(body.toString('utf8'));
  if (fields === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  const id = textOf(objectOf(fields)['model']) || textOf(objectOf(fields)['name']);
  if (id === '') throw new GatewayError('missing_model', 'The request names no "model"', { param: 'model' });
  const model = listModels(snapshot, principal).find((one) => one.id === id || `${one.id}:latest` === id);
  if (model === undefined)
    throw new GatewayError(
      'model_not_found',
      `No connection offers the model "${id.slice(0, 200)}": GET /api/tags lists what there is`,
      { param: 'model' },
    );
  return {
    license: '',
    modelfile: '',
    parameters: '',
    template: '',
    details: detailsOf(model),
    model_info: {
      'general.architecture': model.owned_by,
      'general.basename': model.display_name,
      [`${model.owned_by}.context_length`]: model.context_window ?? UNKNOWN_CONTEXT,
    },
    capabilities: ['completion', 'tools', 'vision'],
    modified_at: model.created_at,
  };
}

function detailsOf({ owned_by }: ListedModel): object {
  return {
    parent_model: '',
    format: 'remote',
    family: owned_by,
    families: [owned_by],
    parameter_size: '',
    quantization_level: '',
  };
}
