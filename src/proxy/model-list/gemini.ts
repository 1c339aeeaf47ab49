import type { Principal } from '../../access/authenticate.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Snapshot } from '../../snapshot.ts';
import { type ListedModel, listModels } from './models.ts';

const MAX_PAGE = 1000;
const DEFAULT_PAGE = 50;

/** The body of `GET /v1beta/models` (Gemini API, `models.list`): `pageSize` up to 1000, and `pageToken` to go on. */
export function geminiModels(snapshot: Snapshot, principal: Principal, query: string): object {
  const models = listModels(snapshot, principal);
  const parameters = new URLSearchParams(query);
  const size = Number(parameters.get('pageSize'));
  const from = Number(parameters.get('pageToken') ?? 0);
  if (!Number.isInteger(from) || from < 0)
    throw new GatewayError(
      'invalid_request',
      '"pageToken" was not made by this gateway: send "nextPageToken" of the page before',
      { param: 'pageToken' },
    );
  const to = from + (Number.isInteger(size) && size > 0 ? Math.min(size, MAX_PAGE) : DEFAULT_PAGE);
  return {
    models: models.slice(from, to).map(describe),
    ...(to < models.length ? { nextPageToken: String(to) } : {}),
  };
}

/** The body of `GET /v1beta/models/{id}`. @throws GatewayError `model_not_found` */
export function geminiModel(snapshot: Snapshot, principal: Principal, id: string): object {
  const entry = listModels(snapshot, principal).find((model) => model.id === id);
  if (entry !== undefined) return describe(entry);
  throw new GatewayError(
    'model_not_found',
    `No connection offers the model "${id.slice(0, 200)}": GET /v1beta/models lists what there is`,
    { param: 'model' },
  );
}

function describe({ context_window, display_name, id }: ListedModel): object {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: '1',
    displayName: display_name,
    description: '',
    ...(context_window === null ? {} : { inputTokenLimit: context_window }),
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
}
