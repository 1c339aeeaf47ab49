import { GatewayError } from '../lib/error.ts';
import { tagFault } from '../lib/tags.ts';
import { type BudgetScope, newBudgetInput } from './schema.ts';
import type { NewBudget } from './store.ts';
import type { FindSubject } from './subjects.ts';

const SOFT_PERCENT = 80;

/** A new budget as it is stored. @throws GatewayError `invalid_request` that names the member */
export async function checkedBudget(
  input: Record<string, unknown>,
  findSubject: FindSubject,
): Promise<NewBudget> {
  const {
    limit,
    metric,
    scope,
    soft_percent: soft,
    unpriced = 'refuse',
    ...rest
  } = newBudgetInput.parse(input);
  const { period = null, subject: givenSubject = null } = rest;
  if ((metric === 'concurrency') !== (period === null)) {
    const message =
      period === null
        ? `a budget of ${metric} needs a period: minute, hour, day, week or month`
        : 'concurrency has no period: it is counted at every moment';
    throw new GatewayError('invalid_request', message, { param: 'period' });
  }
  if (metric !== 'usd' && (!Number.isInteger(limit) || limit < 1))
    throw new GatewayError('invalid_request', `a limit of ${metric} is a whole number`, { param: 'limit' });
  return {
    scope,
    subject: await subjectOf(scope, givenSubject, findSubject),
    metric,
    limit,
    period,
    unpriced,
    softPercent: soft === undefined ? SOFT_PERCENT : soft,
  };
}

async function subjectOf(
  scope: BudgetScope,
  idOrName: string | null,
  findSubject: FindSubject,
): Promise<string | null> {
  if (scope === 'global') {
    if (idOrName === null) return null;
    throw new GatewayError('invalid_request', 'a global budget has no subject: leave it out', {
      param: 'subject',
    });
  }
  if (idOrName === null)
    throw new GatewayError('invalid_request', `name the ${scope} as subject`, { param: 'subject' });
  const fault = scope === 'tag' ? tagFault(idOrName) : null;
  if (fault !== null) throw new GatewayError('invalid_request', fault, { param: 'subject' });
  const subject = await findSubject(scope, idOrName);
  if (subject !== null) return subject.id;
  throw new GatewayError('invalid_request', `There is no ${scope} "${idOrName}"`, { param: 'subject' });
}
