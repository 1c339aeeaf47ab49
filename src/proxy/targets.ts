import { allowsModel, type Principal } from '../access/authenticate.ts';
import type { WireFormat } from '../codecs/model.ts';
import { resolveTargets, type Target } from '../combos/resolve.ts';
import { GatewayError } from '../lib/error.ts';
import type { Snapshot } from '../snapshot.ts';

/**
 * The targets of a requested model that the principal may use, best first.
 * @throws GatewayError `model_not_allowed`, and those of `resolveTargets`
 */
export function allowedTargets(
  requested: string,
  format: WireFormat,
  { routes }: Snapshot,
  principal: Principal,
): [Target, ...Target[]] {
  const [first, ...others] = resolveTargets(requested, format, routes).filter(
    ({ connection, provider, model: id }) =>
      allowsModel(principal, requested, [`${provider.id}/${id}`, `${connection.name}/${id}`]),
  );
  if (first !== undefined) return [first, ...others];
  throw new GatewayError(
    'model_not_allowed',
    `The key "${principal.name}" may not use the model "${requested}"`,
    { param: 'model' },
  );
}
